/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All files of an epoch together, and the rules that hold between them. */
#include "contents.h"

#include "directory.h"
#include "names.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- meta and index ----------------------------------------------------------------------- */

static struct hp_error *read_meta(int directory, struct hp_contents *contents)
{
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool has_unknown = false;

	error = hp_contents_read_file(directory, HP_META_NAME, &bytes, &size, NULL);
	if (error)
		return error;
	error = hp_meta_decode(bytes, size, &contents->meta, &contents->files, &has_unknown);
	contents->has_unknown = contents->has_unknown || has_unknown;
	return hp_error_wrap(error, HP_META_NAME);
}

static struct hp_error *read_index(int directory, struct hp_contents *contents)
{
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool has_unknown = false;
	bool found;

	/* There is no index until the first flush. */
	error = hp_contents_read_file(directory, HP_INDEX_NAME, &bytes, &size,
				      contents->meta.complete ? NULL : &found);
	if (error || (!contents->meta.complete && !found))
		return error;
	error = hp_index_decode(bytes, size, &contents->index, &has_unknown);
	contents->has_unknown = contents->has_unknown || has_unknown;
	return hp_error_wrap(error, HP_INDEX_NAME);
}

struct hp_error *hp_contents_read_heads(int directory, struct hp_contents *contents)
{
	struct hp_error *error;

	*contents = (struct hp_contents){ 0 };
	error = read_meta(directory, contents);
	if (!error)
		error = read_index(directory, contents);
	if (error)
		hp_contents_clear(contents);
	return error;
}

void hp_contents_clear(struct hp_contents *contents)
{
	hp_epoch_meta_clear(&contents->meta);
	hp_index_clear(&contents->index);
	free(contents->sums);
	hp_file_sums_clear(&contents->files);
	hp_contradictions_clear(&contents->contradictions);
	*contents = (struct hp_contents){ 0 };
}

/* --- all profiles ------------------------------------------------------------------------- */

struct scan {
	int directory;
	hp_problem_sink *sink;
	void *context;
	struct hp_contents *contents;
};

static struct hp_error *report(const struct scan *scan, struct hp_error *problem)
{
	return problem && scan->sink ? scan->sink(problem, scan->context) : problem;
}

static size_t find_event(const struct hp_epoch_meta *meta, const char *name)
{
	for (size_t i = 0; i < meta->event_count; i++) {
		if (strcmp(meta->events[i].info.name, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* A profile that meta or the index does not know: normal in an unfinished epoch, otherwise a stray
 * file. */
static struct hp_error *stray(const struct scan *scan, const char *name, const char *missing_in)
{
	if (!scan->contents->meta.complete || !scan->sink)
		return NULL;
	return hp_error_create(HP_ERROR_DAMAGED, "%s: offset 0x%x: %s does not list this profile",
			       name, HP_CONTAINER_HEADER_BYTES, missing_in);
}

static struct hp_error *add_to_sum(const struct scan *scan, const char *name,
				   const struct hp_profile *profile)
{
	struct hp_contents *contents = scan->contents;
	size_t event = find_event(&contents->meta, profile->event);
	struct hp_event_sum *sum;
	uint64_t samples;
	uint64_t weight;

	if (event == SIZE_MAX)
		return stray(scan, name, HP_META_NAME);
	if (hp_index_find(&contents->index, &profile->image) == SIZE_MAX) {
		struct hp_error *error = stray(scan, name, HP_INDEX_NAME);
		size_t at;

		if (error || contents->meta.complete)
			return error;
		error = hp_index_add(&contents->index, &profile->image, &at);
		if (error)
			return error;
	}
	sum = &contents->sums[event];
	if (!hp_contents_totals(profile, &samples, &weight) ||
	    __builtin_add_overflow(sum->samples, samples, &sum->samples) ||
	    __builtin_add_overflow(sum->weight, weight, &sum->weight))
		return hp_error_create(HP_ERROR_DAMAGED,
				       "%s: its samples add up to more than 64 bits", name);
	if (profile->image.kind == HP_IMAGE_UNKNOWN)
		sum->unattributed += samples;
	return NULL;
}

static struct hp_error *scan_profile(const struct scan *scan, const char *name)
{
	_cleanup_free_ char *right_name = NULL;
	struct hp_profile profile;
	struct hp_error *lost = NULL;
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;

	error = hp_contents_read_file(scan->directory, name, &bytes, &size, NULL);
	if (error)
		return error;
	error = hp_error_wrap(hp_profile_decode(bytes, size, &profile, NULL, &lost), "%s", name);
	/* The samples can be used without it. */
	if (lost && scan->sink)
		error = scan->sink(hp_error_wrap(hp_steal(lost), "%s", name), scan->context);
	hp_error_destroy(lost);
	if (error) {
		hp_profile_clear(&profile);
		return error;
	}
	right_name = hp_profile_name(&profile.image, profile.event);
	if (!right_name)
		error = hp_error_create_no_memory();
	else if (strcmp(right_name, name) != 0)
		error = hp_contents_wrong_key(name);
	else
		error = add_to_sum(scan, name, &profile);
	hp_profile_clear(&profile);
	return error;
}

static struct hp_error *scan_profiles(const struct scan *scan)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(scan->directory, &names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		if (!hp_file_is_temporary(names[i]) && hp_name_has_suffix(names[i], ".prof"))
			error = report(scan, scan_profile(scan, names[i]));
	}
	hp_directory_free_list(names, count);
	return error;
}

/* --- the rules between them --------------------------------------------------------------- */

static struct hp_error *check_event(const struct hp_event_totals *event,
				    const struct hp_event_sum *sum, bool complete)
{
	if (sum->samples < event->samples || (complete && sum->samples > event->samples))
		return hp_error_create(HP_ERROR_DAMAGED,
				       HP_META_NAME ": offset 0x%x: event %s: %" PRIu64
						    " samples listed, %" PRIu64 " in the profiles",
				       HP_CONTAINER_HEADER_BYTES, event->info.name, event->samples,
				       sum->samples);
	if (sum->unattributed < event->unattributed ||
	    (complete && sum->unattributed > event->unattributed))
		return hp_error_create(HP_ERROR_DAMAGED,
				       HP_META_NAME ": offset 0x%x: event %s: %" PRIu64
						    " unattributed samples listed, %" PRIu64
						    " in the profiles",
				       HP_CONTAINER_HEADER_BYTES, event->info.name,
				       event->unattributed, sum->unattributed);
	return NULL;
}

static bool totals_hold(const struct hp_contents *contents)
{
	for (size_t i = 0; i < contents->meta.event_count; i++) {
		struct hp_error *problem = check_event(&contents->meta.events[i],
						       &contents->sums[i], contents->meta.complete);

		hp_error_destroy(problem);
		if (problem)
			return false;
	}
	return true;
}

static struct hp_error *check_totals(const struct scan *scan)
{
	struct hp_epoch_meta *meta = &scan->contents->meta;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < meta->event_count && !error; i++) {
		const struct hp_event_sum *sum = &scan->contents->sums[i];

		error = report(scan, check_event(&meta->events[i], sum, meta->complete));
		if (error || meta->complete)
			continue;
		meta->events[i].samples = sum->samples;
		meta->events[i].period_total = sum->weight;
		meta->events[i].unattributed = sum->unattributed;
	}
	return error;
}

/*
 * The kernel may have set a period that differs by up to 1/16 octave, and lost samples may be in
 * meta alone, so the comparison is not exact.
 */
static struct hp_error *check_weight(const struct hp_event_totals *event, uint64_t weight)
{
	uint64_t room = weight / 8;

	if (event->period_total >= weight - room &&
	    (event->lost || event->period_total - weight <= room || event->period_total <= weight))
		return NULL;
	return hp_error_create(HP_ERROR_DAMAGED,
			       HP_META_NAME ": offset 0x%x: event %s: a period total of %" PRIu64
					    " listed, %" PRIu64 " in the profiles",
			       HP_CONTAINER_HEADER_BYTES, event->info.name, event->period_total,
			       weight);
}

/* Compares what the index knows of meta. Either each knows of the other, or neither does. */
static struct hp_error *compare_parts(struct hp_contents *contents)
{
	const struct hp_meta_parts *known = &contents->index.meta;
	const struct hp_meta_parts *found = &contents->files.parts;
	struct hp_error *error = NULL;

	if (known->are_known != (contents->files.count > 0))
		return hp_contradictions_add(
			&contents->contradictions,
			hp_error_create(HP_ERROR_DAMAGED,
					"%s: offset 0x%x: it does not list %s, which lists it",
					known->are_known ? HP_META_NAME : HP_INDEX_NAME,
					HP_CONTAINER_HEADER_BYTES,
					known->are_known ? HP_INDEX_NAME : HP_META_NAME));
	for (size_t i = 0; i < HP_META_PARTS && known->are_known && !error; i++) {
		if (found->digests[i] == known->digests[i])
			continue;
		error = hp_contradictions_add(
			&contents->contradictions,
			hp_error_create(HP_ERROR_DAMAGED,
					HP_META_NAME
					": offset 0x%x: its %s is not the one that " HP_INDEX_NAME
					" lists: XXH3 %016" PRIx64 ", not %016" PRIx64,
					HP_CONTAINER_HEADER_BYTES, hp_meta_part_name(i),
					found->digests[i], known->digests[i]));
	}
	return error;
}

/* Only for finished epochs: an unfinished one promises nothing else. */
static struct hp_error *contradict(const struct scan *scan)
{
	struct hp_contents *contents = scan->contents;
	const struct hp_epoch_meta *meta = &contents->meta;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < meta->event_count && meta->complete && !error; i++) {
		struct hp_error *problem = check_weight(&meta->events[i], contents->sums[i].weight);

		if (problem)
			error = hp_contradictions_add(&contents->contradictions, problem);
	}
	if (!error && meta->complete)
		error = compare_parts(contents);
	if (!error && meta->complete && contents->files.count)
		error = hp_file_sums_check(scan->directory, &contents->files, scan->sink,
					   &contents->contradictions);
	return error;
}

static struct hp_error *report_contradictions(const struct scan *scan)
{
	struct hp_contradictions *contradictions = &scan->contents->contradictions;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < contradictions->found.count && scan->sink && !error; i++)
		error = report(scan, hp_steal(contradictions->found.at[i]));
	return error;
}

/* A contradiction between files explains more than totals that do not add up. */
static struct hp_error *explain(struct hp_contents *contents, struct hp_error *error)
{
	struct hp_contradictions *contradictions = &contents->contradictions;

	if (!error || error->class != HP_ERROR_DAMAGED || !contradictions->found.count)
		return error;
	hp_error_destroy(error);
	return hp_steal(contradictions->found.at[0]);
}

struct hp_error *hp_contents_warn(struct hp_contents *contents, const char *stamp)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < contents->contradictions.found.count && !error; i++) {
		const struct hp_error *problem = contents->contradictions.found.at[i];
		_cleanup_free_ char *text = NULL;
		char *warnings[2] = { NULL };
		const struct hp_epoch_meta more = { .cpu = contents->meta.cpu,
						    .warnings = warnings };

		if (asprintf(&text,
			     "epoch %s was changed after the recording: %s (hpcprof epochs verify)",
			     stamp, problem->message) < 0) {
			text = NULL;
			return hp_error_create_no_memory();
		}
		warnings[0] = text;
		error = hp_epoch_meta_add(&contents->meta, &more);
	}
	return error;
}

/* Whether another process has rewritten meta since `bytes` were read. */
static bool meta_has_changed(int directory, const uint8_t *bytes, size_t size)
{
	_cleanup_free_ uint8_t *now = NULL;
	size_t now_size;
	struct hp_error *error =
		hp_contents_read_file(directory, HP_META_NAME, &now, &now_size, NULL);

	hp_error_destroy(error);
	return !error && (now_size != size || memcmp(now, bytes, size) != 0);
}

static struct hp_error *read_once(const struct scan *scan)
{
	struct hp_contents *contents = scan->contents;
	struct hp_error *error = read_meta(scan->directory, contents);

	if (!error)
		error = read_index(scan->directory, contents);
	if (error)
		return error;
	contents->sums = calloc(contents->meta.event_count + 1, sizeof(*contents->sums));
	if (!contents->sums)
		return hp_error_create_no_memory();
	error = scan_profiles(scan);
	return error ? error : contradict(scan);
}

static bool is_consistent(const struct hp_contents *contents)
{
	return totals_hold(contents) && !contents->contradictions.found.count;
}

struct hp_error *hp_contents_read(int directory, hp_problem_sink *sink, void *context,
				  struct hp_contents *contents)
{
	struct scan scan = { directory, sink, context, contents };

	/* A writer that appends to a finished epoch changes meta first. If that happened,
	 * everything is read again. */
	for (int attempt = 0;; attempt++) {
		_cleanup_free_ uint8_t *before = NULL;
		struct hp_error *error;
		size_t size = 0;

		*contents = (struct hp_contents){ 0 };
		error = hp_contents_read_file(directory, HP_META_NAME, &before, &size, NULL);
		if (!error)
			error = read_once(&scan);
		if (!error && attempt < 8 && !is_consistent(contents) &&
		    meta_has_changed(directory, before, size)) {
			hp_contents_clear(contents);
			continue;
		}
		if (!error)
			error = report_contradictions(&scan);
		if (!error)
			error = explain(contents, check_totals(&scan));
		if (error)
			hp_contents_clear(contents);
		return error;
	}
}
