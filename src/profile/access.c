/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accessors of loaded profiles: strings, warnings, shares and names. */
#include "tuning.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/text.h>
#include <hpcprof/profile/profiles.h>

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

struct interned {
	UT_hash_handle hh;
	char text[];
};

const char *hp_profiles_intern(struct hp_profiles *profiles, const char *text)
{
	size_t length = strlen(text);
	struct interned *found;

	HASH_FIND(hh, profiles->strings, text, length, found);
	if (found)
		return found->text;
	found = hp_arena_alloc(profiles->arena, sizeof(*found) + length + 1);
	if (!found)
		return NULL;
	memcpy(found->text, text, length + 1);
	HASH_ADD_KEYPTR(hh, profiles->strings, found->text, length, found);
	return found->hh.tbl ? found->text : NULL;
}

const char *hp_profiles_format(struct hp_profiles *profiles, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	return text ? hp_profiles_intern(profiles, text) : NULL;
}

struct hp_tally *hp_profiles_tallies(struct hp_profiles *profiles)
{
	size_t count = profiles->events.count;

	return hp_arena_array(profiles->arena, count ? count : 1, sizeof(struct hp_tally));
}

void hp_profiles_warn(const struct hp_profiles *profiles, const char *advice, const char *format,
		      ...)
{
	_cleanup_free_ char *message = NULL;
	va_list arguments;

	if (!profiles->notices || !profiles->notices->warn)
		return;
	va_start(arguments, format);
	message = hp_text_format_list(format, arguments);
	va_end(arguments);
	profiles->notices->warn(message ? message : format, advice, profiles->notices->context);
}

double hp_profiles_share(const struct hp_profiles *profiles, size_t event,
			 const struct hp_tally *tally)
{
	double all = profiles->events.at[event].all.weight;

	return all > 0 ? tally->weight / all : 0;
}

uint64_t hp_profiles_samples(const struct hp_profiles *profiles)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < profiles->events.count; i++)
		samples += profiles->events.at[i].all.samples;
	return samples;
}

uint64_t hp_profiles_command_samples(const struct hp_profiles *profiles,
				     const struct hp_loaded_epoch *epoch, size_t command,
				     size_t event)
{
	return epoch->command_samples
		       ? epoch->command_samples[command * profiles->events.count + event]
		       : 0;
}

uint64_t hp_profiles_unattributed(const struct hp_profiles *profiles)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < profiles->events.count; i++)
		samples += profiles->events.at[i].unattributed;
	return samples;
}

uint64_t hp_profiles_period(const struct hp_loaded_event *event)
{
	if (!event->all.samples)
		return 0;
	if (event->least_period == event->greatest_period)
		return event->least_period;
	return (uint64_t)llround(event->units / (double)event->all.samples);
}

double hp_profiles_coverage(const struct hp_loaded_event *event)
{
	return event->enabled_ns ? (double)event->running_ns / (double)event->enabled_ns : NAN;
}

bool hp_profiles_is_noticed(const struct hp_profiles *profiles, const struct hp_loaded_image *image)
{
	const struct hp_profiles_options *options = profiles->options;
	bool is_noticed = options->image || options->procedure || options->listed;

	for (size_t i = 0; i < profiles->events.count && !is_noticed; i++)
		is_noticed = hp_profiles_share(profiles, i, &image->tallies[i]) >= noticed_share;
	return is_noticed;
}

bool hp_profiles_is_kernel(const struct hp_loaded_image *image)
{
	return image->id.kind == HP_IMAGE_KERNEL || image->id.kind == HP_IMAGE_MODULE;
}

bool hp_profiles_is_user_only(const struct hp_loaded_event *event)
{
	return event->info->unit != HP_UNIT_EVENTS && !hp_event_modes(event->info->name).has_kernel;
}

bool hp_profiles_matches(const char *pattern, const char *name)
{
	return !pattern || strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

const char *hp_image_basename(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

const char *hp_source_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
