/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "contents.h"

#include "directory.h"
#include "names.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* --- single files ------------------------------------------------------------------------- */

struct hp_error *hp_contents_read_file(int directory, const char *name, uint8_t **bytes,
				       size_t *size, bool *found)
{
	struct hp_error *error;

	if (found)
		*found = true;
	if (!name)
		return hp_error_create_no_memory();
	error = hp_directory_read_file(directory, name, HP_CONTAINER_MAX_FILE_BYTES, bytes, size);
	if (!error)
		return NULL;
	if (error->errno_value != ENOENT)
		return error;
	hp_error_destroy(error);
	if (!found)
		return hp_error_create(HP_ERROR_DAMAGED, "%s is missing", name);
	*found = false;
	return NULL;
}

static struct hp_error *wrong_key(const char *name)
{
	return hp_error_create(HP_ERROR_DAMAGED,
			       "%s: offset 0x%x: it belongs to another image or event", name,
			       HP_CONTAINER_HEADER_BYTES);
}

static bool has_key(const struct hp_profile *profile, const struct hp_image_id *image,
		    const char *event)
{
	return hp_image_id_compare(&profile->image, image) == 0 &&
	       strcmp(profile->event, event) == 0;
}

static struct hp_error *empty_profile(const struct hp_image_id *image, const char *event,
				      struct hp_profile *profile)
{
	struct hp_error *error;

	*profile = (struct hp_profile){ 0 };
	profile->event = strdup(event);
	if (!profile->event)
		return hp_error_create_no_memory();
	error = hp_image_id_copy(image, &profile->image);
	if (error)
		hp_profile_clear(profile);
	return error;
}

struct hp_error *hp_contents_read_profile(int directory, const struct hp_image_id *image,
					  const char *event, struct hp_profile *profile,
					  bool *has_unknown)
{
	_cleanup_free_ char *name = hp_profile_name(image, event);
	struct hp_error *lost = NULL;
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*profile = (struct hp_profile){ 0 };
	if (has_unknown)
		*has_unknown = false;
	error = hp_contents_read_file(directory, name, &bytes, &size, &found);
	if (error)
		return error;
	if (!found)
		return empty_profile(image, event, profile);
	error = hp_error_wrap(hp_profile_decode(bytes, size, profile, has_unknown, &lost), "%s",
			      name);
	hp_error_destroy(lost);
	if (error)
		return error;
	profile->image.deleted = image->deleted;
	if (has_key(profile, image, event))
		return NULL;
	hp_profile_clear(profile);
	return wrong_key(name);
}

struct hp_error *hp_contents_read_symbols(int directory, const struct hp_image_id *image,
					  struct hp_symbol_file *symbols)
{
	_cleanup_free_ char *name = hp_symbols_name(image);
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*symbols = (struct hp_symbol_file){ 0 };
	error = hp_contents_read_file(directory, name, &bytes, &size, &found);
	if (error || !found)
		return error;
	error = hp_error_wrap(hp_symbols_decode(bytes, size, symbols), "%s", name);
	if (error)
		return error;
	symbols->lost = hp_error_wrap(symbols->lost, "%s", name);
	if (hp_image_id_compare(&symbols->image, image) == 0)
		return NULL;
	hp_symbol_file_clear(symbols);
	return wrong_key(name);
}

struct hp_error *hp_contents_read_excerpt(int directory, const struct hp_image_id *image,
					  struct hp_excerpt_file *excerpt)
{
	_cleanup_free_ char *name = hp_excerpt_name(image);
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*excerpt = (struct hp_excerpt_file){ 0 };
	error = hp_contents_read_file(directory, name, &bytes, &size, &found);
	if (error || !found)
		return error;
	error = hp_error_wrap(hp_excerpt_decode(bytes, size, excerpt), "%s", name);
	if (error)
		return error;
	excerpt->lost = hp_error_wrap(excerpt->lost, "%s", name);
	if (hp_image_id_compare(&excerpt->image, image) == 0)
		return NULL;
	hp_excerpt_file_clear(excerpt);
	return wrong_key(name);
}

struct hp_error *hp_contents_read_evidence(int directory, struct hp_window_evidence *evidence,
					   bool *has_unknown, struct hp_error **lost)
{
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;
	bool found;

	*evidence = (struct hp_window_evidence){ 0 };
	if (has_unknown)
		*has_unknown = false;
	if (lost)
		*lost = NULL;
	error = hp_contents_read_file(directory, HP_EVIDENCE_NAME, &bytes, &size, &found);
	if (error || !found)
		return error;
	error = hp_evidence_decode(bytes, size, evidence, has_unknown, lost);
	if (lost)
		*lost = hp_error_wrap(*lost, HP_EVIDENCE_NAME);
	return hp_error_wrap(error, HP_EVIDENCE_NAME);
}

struct hp_error *hp_contents_check_bytes(int directory, const struct hp_index_entry *entry)
{
	_cleanup_free_ char *name = hp_bytes_name(&entry->id);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_error *error;
	size_t size = 0;

	error = hp_contents_read_file(directory, name, &bytes, &size, NULL);
	if (error)
		return error;
	if (size != entry->bytes_size)
		return hp_error_create(HP_ERROR_DAMAGED,
				       "%s: offset 0x%zx: %zu bytes, and should have %" PRIu32,
				       name, size < entry->bytes_size ? size : entry->bytes_size,
				       size, entry->bytes_size);
	if ((uint32_t)crc32_z(0, bytes, size) != entry->bytes_crc)
		return hp_error_create(HP_ERROR_DAMAGED,
				       "%s: offset 0x0: the checksum of the kept bytes does "
				       "not fit",
				       name);
	return NULL;
}

bool hp_contents_totals(const struct hp_profile *profile, uint64_t *samples, uint64_t *weight)
{
	*samples = *weight = 0;
	for (size_t i = 0; i < profile->stratum_count; i++) {
		const struct hp_stratum *stratum = &profile->strata[i];
		uint64_t sum = 0;
		uint64_t product;

		for (size_t j = 0; j < stratum->count_count; j++) {
			if (__builtin_add_overflow(sum, stratum->counts[j].samples, &sum))
				return false;
		}
		if (__builtin_add_overflow(*samples, sum, samples) ||
		    __builtin_mul_overflow(sum, stratum->period, &product) ||
		    __builtin_add_overflow(*weight, product, weight))
			return false;
	}
	return true;
}

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

	/* Until the first flush there is none. */
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

/* A profile that meta or the index do not know of: expected while unfinished, else a stray. */
static struct hp_error *stray(const struct scan *scan, const char *name, const char *missing_in)
{
	if (!scan->contents->meta.complete || !scan->sink)
		return NULL;
	return hp_error_create(HP_ERROR_DAMAGED,
			       "%s: offset 0x%x: a profile of which %s knows "
			       "nothing",
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
				       "%s: its samples run past what 64 bits hold", name);
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
	/* Samples are there without. */
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
		error = wrong_key(name);
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
		return hp_error_create(
			HP_ERROR_DAMAGED,
			HP_META_NAME ": offset 0x%x: event %s: %" PRIu64
				     " samples promised, %" PRIu64 " in the profiles",
			HP_CONTAINER_HEADER_BYTES, event->info.name, event->samples, sum->samples);
	if (sum->unattributed < event->unattributed ||
	    (complete && sum->unattributed > event->unattributed))
		return hp_error_create(HP_ERROR_DAMAGED,
				       HP_META_NAME ": offset 0x%x: event %s: %" PRIu64
						    " unattributed samples promised, %" PRIu64
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
 * What a period stands for may be up to 1/16 octave off where the kernel set it, so this is not exact;
 * and lost samples may be in meta alone.
 */
static struct hp_error *check_weight(const struct hp_event_totals *event, uint64_t weight)
{
	uint64_t room = weight / 8;

	if (event->period_total >= weight - room &&
	    (event->lost || event->period_total - weight <= room || event->period_total <= weight))
		return NULL;
	return hp_error_create(HP_ERROR_DAMAGED,
			       HP_META_NAME ": offset 0x%x: event %s: a period total of %" PRIu64
					    " promised, %" PRIu64 " in the profiles",
			       HP_CONTAINER_HEADER_BYTES, event->info.name, event->period_total,
			       weight);
}

/* What the index knows of meta; either knows of the other, or neither does. */
static struct hp_error *compare_parts(struct hp_contents *contents)
{
	const struct hp_meta_parts *known = &contents->index.meta;
	const struct hp_meta_parts *found = &contents->files.parts;
	struct hp_error *error = NULL;

	if (known->are_known != (contents->files.count > 0))
		return hp_contradictions_add(
			&contents->contradictions,
			hp_error_create(
				HP_ERROR_DAMAGED,
				"%s: offset 0x%x: it knows nothing of %s, which knows of it",
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
					": offset 0x%x: its %s: not what " HP_INDEX_NAME
					" knows of it: XXH3 %016" PRIx64 ", and not %016" PRIx64,
					HP_CONTAINER_HEADER_BYTES, hp_meta_part_name(i),
					found->digests[i], known->digests[i]));
	}
	return error;
}

/* Of a finished epoch, as in an unfinished one nothing else is promised. */
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

/* A file that contradicts says more than totals that do not add up. */
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

/* Whether somebody has written meta anew since `bytes` were read. */
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

	/* Who appends to a finished epoch says so in meta before anything else: look again. */
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
