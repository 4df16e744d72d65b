/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "breakdown.h"
#include "load.h"

#include <hpcprof/base/search.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char fewer_advice[] = "hpcprof epochs verify looks for damage";

size_t load_find_event(const struct hp_profiles *profiles, const char *name)
{
	size_t i = 0;

	while (i < profiles->events.count && strcmp(profiles->events.at[i].info->name, name) != 0)
		i++;
	return i;
}

/* A pattern may leave out modifiers: `cycles` selects cycles:uppp. */
static bool event_selected(const struct hp_profiles *profiles, const char *name)
{
	const char *colon = strrchr(name, ':');
	_cleanup_free_ char *bare = colon ? strndup(name, (size_t)(colon - name)) : NULL;

	if (!profiles->options->event)
		return profiles->options->stalls || !hp_event_is_of_stalls(name);
	return hp_profiles_matches(profiles->options->event, name) ||
	       (bare && hp_profiles_matches(profiles->options->event, bare));
}

static struct hp_error *add_event(struct hp_profiles *profiles, const struct hp_epoch_meta *meta,
				  const struct hp_event_totals *totals)
{
	size_t at = load_find_event(profiles, totals->info.name);
	struct hp_loaded_event *event;
	double cpu_ns;
	double system_ns;

	if (!event_selected(profiles, totals->info.name))
		return NULL;
	if (at == profiles->events.count) {
		struct hp_loaded_event added = {
			.info = &totals->info,
			.least_period = UINT64_MAX,
			.frequency_hz = totals->frequency_hz,
		};

		if (!hp_vector_push(&profiles->events, added))
			return hp_error_create_no_memory();
	}
	event = &profiles->events.at[at];
	hp_epoch_cpu_times(meta, &cpu_ns, &system_ns);
	/* A substitution in any epoch must be reported. */
	if (totals->info.instead_of && !event->info->instead_of)
		event->info = &totals->info;
	event->lost += totals->lost;
	event->throttled += totals->throttled;
	event->enabled_ns += totals->enabled_ns;
	event->running_ns += totals->running_ns;
	event->cpu_ns += cpu_ns;
	event->system_ns += system_ns;
	event->processes += hp_epoch_processes(meta);
	return NULL;
}

static struct hp_error *load_epoch(struct hp_profiles *profiles, const char *stamp,
				   const struct hp_epoch_meta *meta, struct hp_epoch *epoch)
{
	struct hp_loaded_epoch added = { .stamp = stamp, .meta = meta, .epoch = epoch };
	struct hp_error *error;

	if (epoch) {
		added.recording = hp_epoch_is_recording(epoch);
		added.owner = hp_epoch_owner(epoch);
	}
	if (!hp_vector_push(&profiles->epochs, added)) {
		if (epoch)
			hp_epoch_close(epoch);
		return hp_error_create_no_memory();
	}
	error = breakdown_check(profiles, stamp, meta);
	for (size_t i = 0; i < meta->event_count && !error; i++)
		error = add_event(profiles, meta, &meta->events[i]);
	return error;
}

static struct hp_error *find_image(struct hp_profiles *profiles, const struct hp_image_id *id,
				   struct hp_loaded_image **image)
{
	char build_id[2 * HP_IDENTITY_MAX_BYTES + 1] = "";

	for (size_t i = 0; i < profiles->images.count; i++) {
		*image = profiles->images.at[i];
		if (hp_image_id_compare(&(*image)->id, id) == 0)
			return NULL;
	}
	*image = hp_arena_alloc(profiles->arena, sizeof(**image));
	if (!*image || !hp_vector_push(&profiles->images, *image))
		return hp_error_create_no_memory();
	(*image)->index = profiles->images.count - 1;
	(*image)->id = *id;
	(*image)->id.path = hp_arena_strdup(profiles->arena, id->path);
	(*image)->tallies = hp_profiles_tallies(profiles);
	(*image)->nameless = hp_profiles_tallies(profiles);
	(*image)->uncovered = hp_profiles_tallies(profiles);
	if (id->identity.kind == HP_IDENTITY_BUILD_ID) {
		hp_identity_format(&id->identity, build_id);
		(*image)->build_id = hp_profiles_intern(profiles, build_id);
	}
	if (!(*image)->id.path || !(*image)->tallies || !(*image)->nameless || !(*image)->uncovered)
		return hp_error_create_no_memory();
	(*image)->short_name = hp_image_basename((*image)->id.path);
	return NULL;
}

static struct hp_error *find_part(struct hp_profiles *profiles, size_t epoch, size_t image_index,
				  struct hp_loaded_image *image, struct hp_loaded_part **part)
{
	struct hp_epoch *from = profiles->epochs.at[epoch].epoch;

	for (size_t i = profiles->parts.count; i-- > 0;) {
		*part = profiles->parts.at[i];
		if ((*part)->image == image &&
		    (image->id.kind == HP_IMAGE_FILE ||
		     ((*part)->epoch == from && (*part)->epoch_image == image_index)))
			return NULL;
	}
	*part = hp_arena_alloc(profiles->arena, sizeof(**part));
	if (!*part || !hp_vector_push(&profiles->parts, *part))
		return hp_error_create_no_memory();
	(*part)->image = image;
	(*part)->epoch = from;
	(*part)->epoch_image = image_index;
	return NULL;
}

struct hp_error *load_part(struct hp_profiles *profiles, size_t epoch, size_t image_index,
			   const struct hp_image_id *id, struct hp_loaded_part **part)
{
	struct hp_loaded_image *image;
	struct hp_error *error = find_image(profiles, id, &image);

	return error ? error : find_part(profiles, epoch, image_index, image, part);
}

bool load_passes(const struct hp_profiles_options *options, const char *command, uint32_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, pid);
	return hp_profiles_matches(options->comm, command) &&
	       hp_profiles_matches(options->pid, text);
}

struct load_scale load_scale_of(const struct hp_epoch_meta *meta, const struct hp_event_info *info)
{
	struct load_scale scale = { 1, hp_epoch_cycles_per_unit(meta, info->unit) };

	for (size_t i = 0; i < meta->event_count; i++)
		if (strcmp(meta->events[i].info.name, info->name) == 0)
			scale.units = hp_event_units_for_one(&meta->events[i]);
	return scale;
}

static struct hp_tally tally_of(uint64_t samples, const struct hp_stratum *stratum,
				const struct load_scale *scale)
{
	double weight = (double)samples * (double)stratum->period * scale->units;

	return (struct hp_tally){ samples, weight, weight * scale->cycles };
}

static struct hp_error *add_hits(struct hp_profiles *profiles, struct hp_loaded_part *part,
				 const struct hp_stratum *stratum, size_t event,
				 const struct load_scale *scale)
{
	uint32_t group;
	struct hp_error *error = breakdown_group(profiles, stratum, &group);

	if (error)
		return error;
	if (profiles->options->rows != HP_ROWS_OF_GROUPS)
		group = 0;
	if (!hp_vector_reserve(&part->hits, part->hits.count + stratum->count_count))
		return hp_error_create_no_memory();
	for (size_t i = 0; i < stratum->count_count; i++) {
		const struct hp_count *count = &stratum->counts[i];
		struct hp_hit hit = {
			.offset = count->offset.value,
			.group = group,
			.tally = tally_of(count->samples, stratum, scale),
			.event = event,
		};

		part->hits.at[part->hits.count++] = hit;
		hp_tally_add(&part->image->tallies[event], &hit.tally);
	}
	return NULL;
}

static bool image_passes(const struct hp_profiles_options *options, const struct hp_image_id *id)
{
	return hp_profiles_matches(options->image, id->path) ||
	       hp_profiles_matches(options->image, hp_image_basename(id->path));
}

static void count_all(struct hp_loaded_event *event, const struct hp_image_id *id,
		      const struct hp_stratum *stratum, const struct load_scale *scale)
{
	uint64_t samples = hp_stratum_samples(stratum);
	struct hp_tally tally = tally_of(samples, stratum, scale);

	hp_tally_add(&event->all, &tally);
	event->units += (double)samples * (double)stratum->period;
	event->lacks_clock = event->lacks_clock || (samples && !(scale->cycles > 0));
	if (id->kind == HP_IMAGE_UNKNOWN)
		event->unattributed += samples;
	if (stratum->period < event->least_period)
		event->least_period = stratum->period;
	if (stratum->period > event->greatest_period)
		event->greatest_period = stratum->period;
}

/* Counts all that a command executed, whether it passes filters or not. */
static struct hp_error *count_command(struct hp_profiles *profiles, size_t at, size_t event,
				      const struct hp_stratum *stratum)
{
	struct hp_loaded_epoch *epoch = &profiles->epochs.at[at];
	const struct hp_epoch_meta *meta = epoch->meta;
	size_t cells = meta->command_count * profiles->events.count;
	size_t command = hp_bisect(i, meta->command_count,
				   strcmp(meta->commands[i].command, stratum->command) < 0);

	if (command == meta->command_count ||
	    strcmp(meta->commands[command].command, stratum->command) != 0)
		return NULL;
	if (!epoch->command_samples) {
		epoch->command_samples =
			hp_arena_array(profiles->arena, cells, sizeof(*epoch->command_samples));
		if (!epoch->command_samples)
			return hp_error_create_no_memory();
		memset(epoch->command_samples, 0, cells * sizeof(*epoch->command_samples));
	}
	epoch->command_samples[command * profiles->events.count + event] +=
		hp_stratum_samples(stratum);
	return NULL;
}

/* Whether the command had windows in this epoch. */
static bool had_windows(const struct hp_profiles *profiles, size_t epoch, const char *command)
{
	for (size_t i = 0; i < profiles->covered.count; i++)
		if (profiles->covered.at[i].epoch == epoch &&
		    strcmp(profiles->covered.at[i].command, command) == 0)
			return true;
	return false;
}

static void count_covered(struct hp_profiles *profiles, size_t event, const struct hp_image_id *id,
			  const struct hp_stratum *stratum)
{
	if (profiles->events.at[event].info->unit == HP_UNIT_NS && id->kind != HP_IMAGE_KERNEL &&
	    id->kind != HP_IMAGE_MODULE)
		profiles->covered_ns +=
			(double)hp_stratum_samples(stratum) * (double)stratum->period;
}

static void count_uncovered(struct hp_loaded_image *image, const struct hp_stratum *stratum,
			    size_t event, const struct load_scale *scale)
{
	struct hp_tally tally = tally_of(hp_stratum_samples(stratum), stratum, scale);

	hp_tally_add(&image->uncovered[event], &tally);
}

/* The strata of a profile, or its shares, and their scale. */
struct loaded {
	const struct hp_stratum *strata;
	size_t count;
	size_t event;
	struct load_scale scale;
};

/* Adds the strata that pass the filters to their image. */
static struct hp_error *add_strata(struct hp_profiles *profiles, size_t epoch, size_t image_index,
				   const struct hp_image_id *id, const struct loaded *loaded)
{
	struct hp_loaded_image *image = NULL;
	struct hp_loaded_part *part = NULL;
	struct hp_error *error = NULL;

	if (!image_passes(profiles->options, id))
		return NULL;
	for (size_t i = 0; i < loaded->count && !error; i++) {
		const struct hp_stratum *stratum = &loaded->strata[i];

		if (!load_passes(profiles->options, stratum->command, stratum->pid))
			continue;
		if (!part)
			error = find_image(profiles, id, &image);
		if (!error && !part)
			error = find_part(profiles, epoch, image_index, image, &part);
		if (!error)
			error = add_hits(profiles, part, stratum, loaded->event, &loaded->scale);
		if (!error && !had_windows(profiles, epoch, stratum->command))
			count_uncovered(image, stratum, loaded->event, &loaded->scale);
	}
	return error;
}

static void warn_of_shares(const struct hp_profiles *profiles, size_t epoch,
			   const struct hp_image_id *id)
{
	hp_profiles_warn(profiles, fewer_advice,
			 "epoch %s: threads and CPUs of the samples in %s were damaged",
			 profiles->epochs.at[epoch].stamp, hp_image_basename(id->path));
}

static struct hp_error *load_profile(struct hp_profiles *profiles, size_t epoch, size_t image_index,
				     const struct hp_image_id *id, const struct hp_profile *profile)
{
	size_t event = profile->stratum_count ? load_find_event(profiles, profile->event) : 0;
	struct loaded loaded = { .event = event };

	if (!profile->stratum_count || event == profiles->events.count)
		return NULL;
	loaded.scale =
		load_scale_of(profiles->epochs.at[epoch].meta, profiles->events.at[event].info);
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const struct hp_stratum *stratum = &profile->strata[i];
		struct hp_error *error;

		count_all(&profiles->events.at[event], id, stratum, &loaded.scale);
		error = count_command(profiles, epoch, event, stratum);
		if (error)
			return error;
		if (had_windows(profiles, epoch, stratum->command))
			count_covered(profiles, event, id, stratum);
	}
	loaded.strata = profile->strata;
	loaded.count = profile->stratum_count;
	if (breakdown_needs_shares(profiles) && profile->has_lost_shares)
		warn_of_shares(profiles, epoch, id);
	if (breakdown_needs_shares(profiles) && profile->share_count) {
		loaded.strata = profile->shares;
		loaded.count = profile->share_count;
	}
	return add_strata(profiles, epoch, image_index, id, &loaded);
}

HP_ORDER_BY_TWO(compare_hits, struct hp_hit, offset, group);

/* Adds up hits of the same offset, group and event in one tally. */
static struct hp_error *fold_hits(struct hp_profiles *profiles, struct hp_loaded_part *part)
{
	size_t count = part->hits.count;
	size_t events = profiles->events.count;
	bool sorted = true;

	if (part->offsets)
		return NULL;
	for (size_t i = 1; i < count && sorted; i++)
		sorted = compare_hits(&part->hits.at[i - 1], &part->hits.at[i]) <= 0;
	if (!sorted)
		qsort(part->hits.at, count, sizeof(*part->hits.at), compare_hits);
	part->offsets = calloc(count ? count : 1, sizeof(*part->offsets));
	part->groups = calloc(count ? count : 1, sizeof(*part->groups));
	part->tallies = calloc(count ? count : 1, events * sizeof(*part->tallies));
	if (!part->offsets || !part->groups || !part->tallies)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct hp_hit *hit = &part->hits.at[i];
		struct hp_tally *tally;

		if (!part->count || part->offsets[part->count - 1] != hit->offset ||
		    part->groups[part->count - 1] != hit->group) {
			part->offsets[part->count] = hit->offset;
			part->groups[part->count++] = hit->group;
		}
		tally = &part->tallies[(part->count - 1) * events + hit->event];
		hp_tally_add(tally, &hit->tally);
	}
	hp_vector_free(&part->hits);
	return NULL;
}

/* Images with the same short name are shown with their path; if that is the same, too, with their
 * identity. */
static struct hp_error *name_image_apart(struct hp_profiles *profiles,
					 struct hp_loaded_image *image)
{
	bool path_shared = false;
	bool name_shared = false;

	for (size_t i = 0; i < profiles->images.count; i++) {
		const struct hp_loaded_image *other = profiles->images.at[i];

		if (other == image)
			continue;
		name_shared |= strcmp(hp_image_basename(other->id.path),
				      hp_image_basename(image->id.path)) == 0;
		path_shared |= strcmp(other->id.path, image->id.path) == 0;
	}
	if (path_shared && image->build_id)
		image->short_name = hp_profiles_format(profiles, "%s (build-id %.8s)",
						       image->id.path, image->build_id);
	else if (name_shared)
		image->short_name = image->id.path;
	return image->short_name ? NULL : hp_error_create_no_memory();
}

struct hp_error *load_finish(struct hp_profiles *profiles)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < profiles->parts.count && !error; i++)
		error = fold_hits(profiles, profiles->parts.at[i]);
	for (size_t i = 0; i < profiles->images.count && !error; i++)
		error = name_image_apart(profiles, profiles->images.at[i]);
	return error;
}

static struct hp_error *load_image(struct hp_profiles *profiles, size_t at, size_t index)
{
	const struct hp_loaded_epoch *epoch = &profiles->epochs.at[at];
	const struct hp_image_id *id = hp_epoch_image(epoch->epoch, index);
	struct hp_error *error = NULL;

	for (size_t i = 0; i < epoch->meta->event_count && !error; i++) {
		struct hp_profile profile = { 0 };

		if (load_find_event(profiles, epoch->meta->events[i].info.name) ==
		    profiles->events.count)
			continue;
		error = hp_epoch_read_profile(epoch->epoch, index, i, &profile);
		if (error)
			break;
		error = load_profile(profiles, at, index, id, &profile);
		hp_profile_clear(&profile);
	}
	return error;
}

/* If a recorder was killed, profiles may have more than the epoch's totals, but never less. */
static void check_totals(const struct hp_profiles *profiles)
{
	for (size_t i = 0; i < profiles->events.count; i++) {
		const struct hp_loaded_event *event = &profiles->events.at[i];
		uint64_t claimed = 0;

		for (size_t j = 0; j < profiles->epochs.count; j++) {
			const struct hp_epoch_meta *meta = profiles->epochs.at[j].meta;

			for (size_t k = 0; k < meta->event_count; k++)
				if (strcmp(meta->events[k].info.name, event->info->name) == 0)
					claimed += meta->events[k].samples;
		}
		if (event->all.samples < claimed)
			hp_profiles_warn(profiles, fewer_advice,
					 "%s: %" PRIu64 " samples were recorded, the profiles hold "
					 "%" PRIu64,
					 event->info->name, claimed, event->all.samples);
	}
}

static struct hp_error *no_such_event(const struct hp_profiles *profiles)
{
	_cleanup_free_ char *names = NULL;
	size_t size = 0;
	FILE *list = open_memstream(&names, &size);

	if (!list)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < profiles->epochs.count; i++) {
		const struct hp_epoch_meta *meta = profiles->epochs.at[i].meta;

		for (size_t j = 0; j < meta->event_count; j++)
			fprintf(list, "%s%s", i + j ? ", " : "", meta->events[j].info.name);
	}
	if (fclose(list) != 0)
		return hp_error_create_no_memory();
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
					       "no recorded event matches --event=%s",
					       profiles->options->event),
			       "the recorded events are: %s", names);
}

static struct hp_error *open_epochs(struct hp_profiles *profiles, struct hp_db *db, char **stamps,
				    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct hp_epoch *epoch = NULL;
		struct hp_error *error = hp_epoch_open(db, stamps[i], &epoch);

		if (!error)
			error = load_epoch(profiles, hp_epoch_stamp(epoch), hp_epoch_meta(epoch),
					   epoch);
		if (error)
			return error;
	}
	if (!profiles->events.count && profiles->options->event)
		return no_such_event(profiles);
	return NULL;
}

/* The user may ask for code without samples. */
static struct hp_error *load_others(struct hp_profiles *profiles, const struct hp_image_id *others,
				    size_t count)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < count && !error; i++) {
		struct hp_loaded_image *image;
		struct hp_loaded_part *part;

		if (others[i].kind != HP_IMAGE_FILE || !image_passes(profiles->options, &others[i]))
			continue;
		error = find_image(profiles, &others[i], &image);
		if (!error)
			error = find_part(profiles, 0, 0, image, &part);
	}
	return error;
}

struct hp_error *hp_profiles_open(struct hp_profiles *profiles, struct hp_db *db,
				  char *const *arguments, size_t argument_count)
{
	char **stamps = NULL;
	size_t count = 0;
	struct hp_error *error =
		hp_db_resolve_apart(db, arguments, argument_count, &stamps, &count);

	if (error)
		return error;
	error = open_epochs(profiles, db, stamps, count);
	hp_db_free_stamps(stamps, count);
	return error;
}

struct hp_error *hp_profiles_load(struct hp_profiles *profiles, const struct hp_image_id *others,
				  size_t other_count)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < profiles->epochs.count && !error; i++) {
		size_t images = hp_epoch_image_count(profiles->epochs.at[i].epoch);

		for (size_t j = 0; j < images && !error; j++)
			error = load_image(profiles, i, j);
	}
	if (!error)
		error = load_others(profiles, others, other_count);
	if (!error)
		error = load_finish(profiles);
	if (!error)
		check_totals(profiles);
	return error;
}
