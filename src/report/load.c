/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "load.h"

#include "balance.h"
#include "breakdown.h"
#include "windows.h"

#include <hpcprof/base/search.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char fewer_advice[] = "hpcprof epochs verify looks for damage";

static size_t find_event(const struct report *report, const char *name)
{
	size_t i = 0;

	while (i < report->events.count && strcmp(report->events.at[i].info->name, name) != 0)
		i++;
	return i;
}

/* A pattern need not repeat the modifiers: `cycles` selects cycles:uppp. */
static bool event_selected(const struct report *report, const char *name)
{
	const char *colon = strrchr(name, ':');
	_cleanup_free_ char *bare = colon ? strndup(name, (size_t)(colon - name)) : NULL;

	return report_matches(report->options->event, name) ||
	       (bare && report_matches(report->options->event, bare));
}

static struct hp_error *add_event(struct report *report, const struct hp_epoch_meta *meta,
				  const struct hp_event_totals *totals)
{
	size_t at = find_event(report, totals->info.name);
	struct report_event *event;
	double cpu_ns;
	double system_ns;

	if (!event_selected(report, totals->info.name))
		return NULL;
	if (at == report->events.count) {
		struct report_event added = {
			.info = &totals->info,
			.least_period = UINT64_MAX,
			.frequency_hz = totals->frequency_hz,
		};

		if (!hp_vector_push(&report->events, added))
			return hp_error_create_no_memory();
	}
	event = &report->events.at[at];
	hp_epoch_cpu_times(meta, &cpu_ns, &system_ns);
	/* A substitution in any of the epochs must be told. */
	if (totals->info.instead_of && !event->info->instead_of)
		event->info = &totals->info;
	event->lost += totals->lost;
	event->throttled += totals->throttled;
	event->enabled_ns += totals->enabled_ns;
	event->running_ns += totals->running_ns;
	event->cpu_ns += cpu_ns;
	event->system_ns += system_ns;
	return NULL;
}

struct hp_error *load_epoch(struct report *report, const char *stamp,
			    const struct hp_epoch_meta *meta, struct hp_epoch *epoch)
{
	struct report_epoch added = { .stamp = stamp, .meta = meta, .epoch = epoch };
	struct hp_error *error;

	if (epoch) {
		added.recording = hp_epoch_is_recording(epoch);
		added.owner = hp_epoch_owner(epoch);
	}
	if (!hp_vector_push(&report->epochs, added)) {
		if (epoch)
			hp_epoch_close(epoch);
		return hp_error_create_no_memory();
	}
	error = breakdown_check(report, stamp, meta);
	for (size_t i = 0; i < meta->event_count && !error; i++)
		error = add_event(report, meta, &meta->events[i]);
	return error;
}

static struct hp_error *find_image(struct report *report, const struct hp_image_id *id,
				   struct report_image **image)
{
	char build_id[2 * HP_IDENTITY_MAX_BYTES + 1] = "";

	for (size_t i = 0; i < report->images.count; i++) {
		*image = report->images.at[i];
		if (hp_image_id_compare(&(*image)->id, id) == 0)
			return NULL;
	}
	*image = hp_arena_alloc(report->arena, sizeof(**image));
	if (!*image || !hp_vector_push(&report->images, *image))
		return hp_error_create_no_memory();
	(*image)->index = report->images.count - 1;
	(*image)->id = *id;
	(*image)->id.path = hp_arena_strdup(report->arena, id->path);
	(*image)->tallies = report_tallies(report);
	(*image)->nameless = report_tallies(report);
	(*image)->uncovered = report_tallies(report);
	if (id->identity.kind == HP_IDENTITY_BUILD_ID) {
		hp_identity_format(&id->identity, build_id);
		(*image)->build_id = report_intern(report, build_id);
	}
	if (!(*image)->id.path || !(*image)->tallies || !(*image)->nameless || !(*image)->uncovered)
		return hp_error_create_no_memory();
	(*image)->short_name = report_basename((*image)->id.path);
	return NULL;
}

static struct hp_error *find_part(struct report *report, size_t epoch, size_t image_index,
				  struct report_image *image, struct report_part **part)
{
	struct hp_epoch *from = report->epochs.at[epoch].epoch;

	for (size_t i = report->parts.count; i-- > 0;) {
		*part = report->parts.at[i];
		if ((*part)->image == image &&
		    (image->id.kind == HP_IMAGE_FILE ||
		     ((*part)->epoch == from && (*part)->epoch_image == image_index)))
			return NULL;
	}
	*part = hp_arena_alloc(report->arena, sizeof(**part));
	if (!*part || !hp_vector_push(&report->parts, *part))
		return hp_error_create_no_memory();
	(*part)->image = image;
	(*part)->epoch = from;
	(*part)->epoch_image = image_index;
	return NULL;
}

static bool stratum_passes(const struct hp_report_options *options,
			   const struct hp_stratum *stratum)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%" PRIu32, stratum->pid);
	return report_matches(options->comm, stratum->command) && report_matches(options->pid, pid);
}

/* What an event's samples of one epoch stand for. */
struct scale {
	double units;  /* each unit that was sampled: more than one where the event took turns */
	double cycles; /* that a unit was; 0 unknown */
};

static struct scale scale_of(const struct hp_epoch_meta *meta, const struct hp_event_info *info)
{
	struct scale scale = { 1, hp_epoch_cycles_per_unit(meta, info->unit) };

	for (size_t i = 0; i < meta->event_count; i++)
		if (strcmp(meta->events[i].info.name, info->name) == 0)
			scale.units = hp_event_units_for_one(&meta->events[i]);
	return scale;
}

static struct tally tally_of(uint64_t samples, const struct hp_stratum *stratum,
			     const struct scale *scale)
{
	double weight = (double)samples * (double)stratum->period * scale->units;

	return (struct tally){ samples, weight, weight * scale->cycles };
}

static struct hp_error *add_hits(struct report *report, struct report_part *part,
				 const struct hp_stratum *stratum, size_t event,
				 const struct scale *scale)
{
	uint32_t group;
	struct hp_error *error = breakdown_group(report, stratum, &group);

	if (error)
		return error;
	if (!hp_vector_reserve(&part->hits, part->hits.count + stratum->count_count))
		return hp_error_create_no_memory();
	for (size_t i = 0; i < stratum->count_count; i++) {
		const struct hp_count *count = &stratum->counts[i];
		struct hit hit = {
			.offset = count->offset.value,
			.group = group,
			.tally = tally_of(count->samples, stratum, scale),
			.event = event,
		};

		part->hits.at[part->hits.count++] = hit;
		tally_add(&part->image->tallies[event], &hit.tally);
	}
	return NULL;
}

static bool image_passes(const struct hp_report_options *options, const struct hp_image_id *id)
{
	return report_matches(options->image, id->path) ||
	       report_matches(options->image, report_basename(id->path));
}

static void count_all(struct report_event *event, const struct hp_image_id *id,
		      const struct hp_stratum *stratum, const struct scale *scale)
{
	uint64_t samples = hp_stratum_samples(stratum);
	struct tally tally = tally_of(samples, stratum, scale);

	tally_add(&event->all, &tally);
	event->units += (double)samples * (double)stratum->period;
	event->lacks_clock = event->lacks_clock || (samples && !(scale->cycles > 0));
	if (id->kind == HP_IMAGE_UNKNOWN)
		event->unattributed += samples;
	if (stratum->period < event->least_period)
		event->least_period = stratum->period;
	if (stratum->period > event->greatest_period)
		event->greatest_period = stratum->period;
}

/* Of what it ran, whatever passes filters. */
static struct hp_error *count_command(struct report *report, size_t at, size_t event,
				      const struct hp_stratum *stratum)
{
	struct report_epoch *epoch = &report->epochs.at[at];
	const struct hp_epoch_meta *meta = epoch->meta;
	size_t cells = meta->command_count * report->events.count;
	size_t command = hp_bisect(i, meta->command_count,
				   strcmp(meta->commands[i].command, stratum->command) < 0);

	if (command == meta->command_count ||
	    strcmp(meta->commands[command].command, stratum->command) != 0)
		return NULL;
	if (!epoch->command_samples) {
		epoch->command_samples =
			hp_arena_array(report->arena, cells, sizeof(*epoch->command_samples));
		if (!epoch->command_samples)
			return hp_error_create_no_memory();
		memset(epoch->command_samples, 0, cells * sizeof(*epoch->command_samples));
	}
	epoch->command_samples[command * report->events.count + event] +=
		hp_stratum_samples(stratum);
	return NULL;
}

static void count_covered(struct report *report, size_t event, const struct hp_image_id *id,
			  const struct hp_stratum *stratum)
{
	if (report->events.at[event].info->unit == HP_UNIT_NS && id->kind != HP_IMAGE_KERNEL &&
	    id->kind != HP_IMAGE_MODULE)
		report->windows.sampled_ns +=
			(double)hp_stratum_samples(stratum) * (double)stratum->period;
}

static void count_uncovered(struct report_image *image, const struct hp_stratum *stratum,
			    size_t event, const struct scale *scale)
{
	struct tally tally = tally_of(hp_stratum_samples(stratum), stratum, scale);

	tally_add(&image->uncovered[event], &tally);
}

/* The strata of a profile, or its shares, and what they stand for. */
struct loaded {
	const struct hp_stratum *strata;
	size_t count;
	size_t event;
	struct scale scale;
};

/* Those that pass the filters, to their image. */
static struct hp_error *add_strata(struct report *report, size_t epoch, size_t image_index,
				   const struct hp_image_id *id, const struct loaded *loaded)
{
	struct report_image *image = NULL;
	struct report_part *part = NULL;
	struct hp_error *error = NULL;

	if (!image_passes(report->options, id))
		return NULL;
	for (size_t i = 0; i < loaded->count && !error; i++) {
		const struct hp_stratum *stratum = &loaded->strata[i];

		if (!stratum_passes(report->options, stratum))
			continue;
		if (!part)
			error = find_image(report, id, &image);
		if (!error && !part)
			error = find_part(report, epoch, image_index, image, &part);
		if (!error)
			error = add_hits(report, part, stratum, loaded->event, &loaded->scale);
		if (!error && !report_windows_cover(report, epoch, stratum->command))
			count_uncovered(image, stratum, loaded->event, &loaded->scale);
	}
	return error;
}

static void warn_of_shares(const struct report *report, size_t epoch, const struct hp_image_id *id)
{
	report_warn(report, fewer_advice,
		    "epoch %s: threads and CPUs of the samples in %s were damaged",
		    report->epochs.at[epoch].stamp, report_basename(id->path));
}

struct hp_error *load_profile(struct report *report, size_t epoch, size_t image_index,
			      const struct hp_image_id *id, const struct hp_profile *profile)
{
	size_t event = profile->stratum_count ? find_event(report, profile->event) : 0;
	struct loaded loaded = { .event = event };

	if (!profile->stratum_count || event == report->events.count)
		return NULL;
	loaded.scale = scale_of(report->epochs.at[epoch].meta, report->events.at[event].info);
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const struct hp_stratum *stratum = &profile->strata[i];
		struct hp_error *error;

		count_all(&report->events.at[event], id, stratum, &loaded.scale);
		error = count_command(report, epoch, event, stratum);
		if (error)
			return error;
		if (report_windows_cover(report, epoch, stratum->command))
			count_covered(report, event, id, stratum);
	}
	loaded.strata = profile->strata;
	loaded.count = profile->stratum_count;
	if (breakdown_needs_shares(report) && profile->has_lost_shares)
		warn_of_shares(report, epoch, id);
	if (breakdown_needs_shares(report) && profile->share_count) {
		loaded.strata = profile->shares;
		loaded.count = profile->share_count;
	}
	return add_strata(report, epoch, image_index, id, &loaded);
}

static int compare_hits(const void *left, const void *right)
{
	const struct hit *a = left;
	const struct hit *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return (a->group > b->group) - (a->group < b->group);
}

/* Hits into one tally per offset, group and event. */
static struct hp_error *fold_hits(struct report *report, struct report_part *part)
{
	size_t count = part->hits.count;
	size_t events = report->events.count;
	bool sorted = true;

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
		const struct hit *hit = &part->hits.at[i];
		struct tally *tally;

		if (!part->count || part->offsets[part->count - 1] != hit->offset ||
		    part->groups[part->count - 1] != hit->group) {
			part->offsets[part->count] = hit->offset;
			part->groups[part->count++] = hit->group;
		}
		tally = &part->tallies[(part->count - 1) * events + hit->event];
		tally_add(tally, &hit->tally);
	}
	hp_vector_free(&part->hits);
	return NULL;
}

/* Images that share their short name show their whole path, those that share even that their
 * identity. */
static struct hp_error *name_image_apart(struct report *report, struct report_image *image)
{
	bool path_shared = false;
	bool name_shared = false;

	for (size_t i = 0; i < report->images.count; i++) {
		const struct report_image *other = report->images.at[i];

		if (other == image)
			continue;
		name_shared |= strcmp(report_basename(other->id.path),
				      report_basename(image->id.path)) == 0;
		path_shared |= strcmp(other->id.path, image->id.path) == 0;
	}
	if (path_shared && image->build_id)
		image->short_name = report_format(report, "%s (build-id %.8s)", image->id.path,
						  image->build_id);
	else if (name_shared)
		image->short_name = image->id.path;
	return image->short_name ? NULL : hp_error_create_no_memory();
}

struct hp_error *load_finish(struct report *report)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < report->parts.count && !error; i++)
		error = fold_hits(report, report->parts.at[i]);
	for (size_t i = 0; i < report->images.count && !error; i++)
		error = name_image_apart(report, report->images.at[i]);
	return error;
}

static struct hp_error *load_image(struct report *report, size_t at, size_t index)
{
	const struct report_epoch *epoch = &report->epochs.at[at];
	const struct hp_image_id *id = hp_epoch_image(epoch->epoch, index);
	struct hp_error *error = NULL;

	for (size_t i = 0; i < epoch->meta->event_count && !error; i++) {
		struct hp_profile profile = { 0 };

		if (find_event(report, epoch->meta->events[i].info.name) == report->events.count)
			continue;
		error = hp_epoch_read_profile(epoch->epoch, index, i, &profile);
		if (error)
			break;
		error = load_profile(report, at, index, id, &profile);
		hp_profile_clear(&profile);
	}
	return error;
}

/* The profiles may hold more than the totals of an epoch whose recorder died, never less. */
static void check_totals(const struct report *report)
{
	for (size_t i = 0; i < report->events.count; i++) {
		const struct report_event *event = &report->events.at[i];
		uint64_t claimed = 0;

		for (size_t j = 0; j < report->epochs.count; j++) {
			const struct hp_epoch_meta *meta = report->epochs.at[j].meta;

			for (size_t k = 0; k < meta->event_count; k++)
				if (strcmp(meta->events[k].info.name, event->info->name) == 0)
					claimed += meta->events[k].samples;
		}
		if (event->all.samples < claimed)
			report_warn(report, fewer_advice,
				    "%s: %" PRIu64 " samples were recorded, the profiles hold "
				    "%" PRIu64,
				    event->info->name, claimed, event->all.samples);
	}
}

static struct hp_error *no_such_event(const struct report *report)
{
	_cleanup_free_ char *names = NULL;
	size_t size = 0;
	FILE *list = open_memstream(&names, &size);

	if (!list)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < report->epochs.count; i++) {
		const struct hp_epoch_meta *meta = report->epochs.at[i].meta;

		for (size_t j = 0; j < meta->event_count; j++)
			fprintf(list, "%s%s", i + j ? ", " : "", meta->events[j].info.name);
	}
	if (fclose(list) != 0)
		return hp_error_create_no_memory();
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
					       "no recorded event matches --event=%s",
					       report->options->event),
			       "recorded were: %s", names);
}

static struct hp_error *open_epochs(struct report *report, struct hp_db *db, char **stamps,
				    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct hp_epoch *epoch = NULL;
		struct hp_error *error = hp_epoch_open(db, stamps[i], &epoch);

		if (!error)
			error = load_epoch(report, hp_epoch_stamp(epoch), hp_epoch_meta(epoch),
					   epoch);
		if (error)
			return error;
	}
	if (!report->events.count && report->options->event)
		return no_such_event(report);
	return NULL;
}

/* Code that was counted need not have been sampled. */
static struct hp_error *load_counted_images(struct report *report)
{
	const struct hp_window_evidence *sum = &report->windows.sum;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < sum->image_count && !error; i++) {
		struct report_image *image;
		struct report_part *part;

		if (sum->images[i].kind != HP_IMAGE_FILE ||
		    !image_passes(report->options, &sum->images[i]))
			continue;
		error = find_image(report, &sum->images[i], &image);
		if (!error)
			error = find_part(report, 0, 0, image, &part);
	}
	return error;
}

struct hp_error *load_epochs(struct report *report, struct hp_db *db, char *const *arguments,
			     size_t argument_count)
{
	char **stamps = NULL;
	size_t count = 0;
	struct hp_error *error =
		hp_db_resolve_apart(db, arguments, argument_count, &stamps, &count);

	if (error)
		return error;
	error = open_epochs(report, db, stamps, count);
	hp_db_free_stamps(stamps, count);
	if (!error)
		error = report_windows_load(report);
	for (size_t i = 0; i < report->epochs.count && !error; i++) {
		size_t images = hp_epoch_image_count(report->epochs.at[i].epoch);

		for (size_t j = 0; j < images && !error; j++)
			error = load_image(report, i, j);
	}
	if (!error && report_shows_counts(report->options))
		error = load_counted_images(report);
	if (!error)
		error = load_finish(report);
	if (!error)
		error = balance_windows(report);
	if (!error)
		check_totals(report);
	return error;
}
