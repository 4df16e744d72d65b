/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model.h"

#include "breakdown.h"
#include "counted.h"
#include <hpcprof/base/hash.h>
#include "rows.h"
#include "ways.h"
#include "windows.h"

#include <hpcprof/base/text.h>

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct interned {
	UT_hash_handle hh;
	char text[];
};

struct hp_error *report_create(const struct hp_report_options *options,
			       const struct hp_report_notices *notices, struct report **report)
{
	struct report *created = calloc(1, sizeof(*created));

	if (!created)
		return hp_error_create_no_memory();
	created->options = options;
	created->notices = notices;
	created->arena = hp_arena_create();
	if (!created->arena) {
		free(created);
		return hp_error_create_no_memory();
	}
	*report = created;
	return NULL;
}

static void destroy_part(struct report_part *part)
{
	hp_vector_free(&part->hits);
	free(part->offsets);
	free(part->tallies);
	free(part->located);
	if (part->flow)
		hp_cfg_image_destroy(part->flow);
	if (part->file)
		hp_image_close(part->file);
	free(part->groups);
	hp_excerpt_clear(&part->excerpt);
	hp_symbols_free(part->symbols, part->symbol_count);
}

void report_destroy(struct report *report)
{
	for (size_t i = 0; i < report->parts.count; i++)
		destroy_part(report->parts.at[i]);
	for (size_t i = 0; i < report->epochs.count; i++)
		if (report->epochs.at[i].epoch)
			hp_epoch_close(report->epochs.at[i].epoch);
	for (size_t i = 0; i < report->images.count; i++) {
		hp_vector_free(&report->images.at[i]->evidence);
		counted_destroy(report->images.at[i]->counted);
		ways_destroy(report->images.at[i]->ways);
	}
	report_windows_clear(&report->windows);
	HASH_CLEAR(hh, report->strings);
	rows_forget(report);
	breakdown_forget(report);
	hp_vector_free(&report->groups);
	hp_vector_free(&report->epochs);
	hp_vector_free(&report->events);
	hp_vector_free(&report->images);
	hp_vector_free(&report->parts);
	hp_vector_free(&report->rows);
	hp_arena_destroy(report->arena);
	free(report);
}

const char *report_intern(struct report *report, const char *text)
{
	size_t length = strlen(text);
	struct interned *found;

	HASH_FIND(hh, report->strings, text, length, found);
	if (found)
		return found->text;
	found = hp_arena_alloc(report->arena, sizeof(*found) + length + 1);
	if (!found)
		return NULL;
	memcpy(found->text, text, length + 1);
	HASH_ADD_KEYPTR(hh, report->strings, found->text, length, found);
	return found->hh.tbl ? found->text : NULL;
}

const char *report_format(struct report *report, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	return text ? report_intern(report, text) : NULL;
}

struct tally *report_tallies(struct report *report)
{
	size_t count = report->events.count;

	return hp_arena_array(report->arena, count ? count : 1, sizeof(struct tally));
}

void report_warn(const struct report *report, const char *advice, const char *format, ...)
{
	_cleanup_free_ char *message = NULL;
	va_list arguments;

	if (!report->notices || !report->notices->warn)
		return;
	va_start(arguments, format);
	message = hp_text_format_list(format, arguments);
	va_end(arguments);
	report->notices->warn(message ? message : format, advice, report->notices->context);
}

double report_share(const struct report *report, size_t event, const struct tally *tally)
{
	double all = report->events.at[event].all.weight;

	return all > 0 ? tally->weight / all : 0;
}

uint64_t report_samples(const struct report *report)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < report->events.count; i++)
		samples += report->events.at[i].all.samples;
	return samples;
}

uint64_t report_command_samples(const struct report *report, const struct report_epoch *epoch,
				size_t command, size_t event)
{
	return epoch->command_samples
		       ? epoch->command_samples[command * report->events.count + event]
		       : 0;
}

uint64_t report_unattributed(const struct report *report)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < report->events.count; i++)
		samples += report->events.at[i].unattributed;
	return samples;
}

uint64_t report_period(const struct report_event *event)
{
	if (!event->all.samples)
		return 0;
	if (event->least_period == event->greatest_period)
		return event->least_period;
	return (uint64_t)llround(event->units / (double)event->all.samples);
}

double report_coverage(const struct report_event *event)
{
	return event->enabled_ns ? (double)event->running_ns / (double)event->enabled_ns : NAN;
}

bool report_is_noticed(const struct report *report, const struct report_image *image)
{
	const double least = 0.01;
	const struct hp_report_options *options = report->options;
	bool is_noticed = options->image || options->procedure || options->listed;

	for (size_t i = 0; i < report->events.count && !is_noticed; i++)
		is_noticed = report_share(report, i, &image->tallies[i]) >= least;
	return is_noticed;
}

bool report_is_kernel(const struct report_image *image)
{
	return image->id.kind == HP_IMAGE_KERNEL || image->id.kind == HP_IMAGE_MODULE;
}

bool report_is_user_only(const struct report_event *event)
{
	return event->info->unit != HP_UNIT_EVENTS && !hp_event_modes(event->info->name).has_kernel;
}

bool report_shows_counts(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_CALLS || options->view == HP_VIEW_EXECUTIONS;
}

bool report_needs_code(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_INSTRUCTIONS || options->view == HP_VIEW_ANNOTATE ||
	       options->view == HP_VIEW_STALLS || options->view == HP_VIEW_SUMMARY ||
	       report_shows_counts(options);
}

bool report_keeps_files(const struct report *report)
{
	return report_needs_code(report->options) ||
	       (report->options->view == HP_VIEW_PROCEDURES && report_windows_exist(report));
}

bool report_lists_many(const struct hp_report_options *options)
{
	return options->view == HP_VIEW_INSTRUCTIONS && options->format != HP_FORMAT_DOT;
}

bool report_matches(const char *pattern, const char *name)
{
	return !pattern || strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

const char *report_basename(const char *path)
{
	const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

const char *report_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}
