/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sums.h"

#include "contents.h"
#include "directory.h"
#include "names.h"

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { DIGEST_DIGITS = 16 };

void hp_contradictions_clear(struct hp_contradictions *contradictions)
{
	for (size_t i = 0; i < contradictions->found.count; i++)
		hp_error_destroy(contradictions->found.at[i]);
	hp_vector_free(&contradictions->found);
	*contradictions = (struct hp_contradictions){ 0 };
}

struct hp_error *hp_contradictions_add(struct hp_contradictions *contradictions,
				       struct hp_error *problem)
{
	if (hp_vector_push(&contradictions->found, problem))
		return NULL;
	hp_error_destroy(problem);
	return hp_error_create_no_memory();
}

/* --- one file ----------------------------------------------------------------------------- */

static bool is_summed(const char *name)
{
	return name[0] != '.' &&
	       (strcmp(name, HP_INDEX_NAME) == 0 || strcmp(name, HP_EVIDENCE_NAME) == 0 ||
		strcmp(name, HP_PATHS_NAME) == 0 || hp_name_has_suffix(name, ".prof") ||
		hp_name_has_suffix(name, ".sym") || hp_name_has_suffix(name, ".code") ||
		hp_name_has_suffix(name, ".bytes"));
}

/* What the entries of a file are; copies of images have none. */
static const char *entries_of(const char *name)
{
	if (strcmp(name, HP_INDEX_NAME) == 0)
		return "images";
	if (strcmp(name, HP_EVIDENCE_NAME) == 0)
		return "windows";
	if (strcmp(name, HP_PATHS_NAME) == 0)
		return "nodes";
	if (hp_name_has_suffix(name, ".code"))
		return "parts of procedures";
	return hp_name_has_suffix(name, ".sym") ? "names" : "offsets";
}

/* Larger integers do not exist in JSON. */
static uint64_t capped(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

/* These take over `bytes`. If the file is damaged, even in part, it is an error. */
static struct hp_error *measure_profile(uint8_t *bytes, struct hp_file_sum *sum)
{
	struct hp_profile profile;
	struct hp_error *error = hp_profile_decode(bytes, sum->bytes, &profile, NULL, NULL);

	if (error)
		return error;
	for (size_t i = 0; i < profile.stratum_count; i++)
		sum->entries += profile.strata[i].count_count;
	/* Decoding has checked that the sums fit. */
	hp_contents_totals(&profile, &sum->samples, &sum->period_total);
	sum->samples = capped(sum->samples);
	sum->period_total = capped(sum->period_total);
	hp_profile_clear(&profile);
	return NULL;
}

static struct hp_error *measure_symbols(uint8_t *bytes, struct hp_file_sum *sum)
{
	struct hp_symbol_file symbols;
	struct hp_error *error = hp_symbols_decode(bytes, sum->bytes, &symbols);

	if (!error) {
		sum->entries = symbols.count;
		error = hp_steal(symbols.lost);
	}
	hp_symbol_file_clear(&symbols);
	return error;
}

static struct hp_error *measure_excerpt(uint8_t *bytes, struct hp_file_sum *sum)
{
	struct hp_excerpt_file file;
	struct hp_error *error = hp_excerpt_decode(bytes, sum->bytes, &file);

	if (!error) {
		sum->entries = file.excerpt.parts.count;
		error = hp_steal(file.lost);
	}
	hp_excerpt_file_clear(&file);
	return error;
}

static struct hp_error *measure_index(uint8_t *bytes, struct hp_file_sum *sum)
{
	struct hp_index index;
	struct hp_error *error = hp_index_decode(bytes, sum->bytes, &index, NULL);

	sum->entries = index.count;
	hp_index_clear(&index);
	return error;
}

static struct hp_error *measure_evidence(uint8_t *bytes, struct hp_file_sum *sum)
{
	struct hp_window_evidence evidence;
	struct hp_error *error = hp_evidence_decode_windows(bytes, sum->bytes, &evidence);

	if (!error)
		sum->entries = capped(hp_window_evidence_counted(&evidence).windows +
				      hp_window_evidence_relative(&evidence).windows);
	hp_window_evidence_clear(&evidence);
	return error;
}

static struct hp_error *measure_paths(uint8_t *bytes, struct hp_file_sum *sum)
{
	struct hp_paths paths;
	struct hp_error *error = hp_paths_decode(bytes, sum->bytes, &paths, NULL);

	if (!error)
		sum->entries = paths.nodes.count;
	hp_paths_clear(&paths);
	return error;
}

static struct hp_error *measure(uint8_t *bytes, struct hp_file_sum *sum)
{
	if (strcmp(sum->name, HP_INDEX_NAME) == 0)
		return measure_index(bytes, sum);
	if (strcmp(sum->name, HP_EVIDENCE_NAME) == 0)
		return measure_evidence(bytes, sum);
	if (strcmp(sum->name, HP_PATHS_NAME) == 0)
		return measure_paths(bytes, sum);
	if (hp_name_has_suffix(sum->name, ".prof"))
		return measure_profile(bytes, sum);
	if (hp_name_has_suffix(sum->name, ".sym"))
		return measure_symbols(bytes, sum);
	if (hp_name_has_suffix(sum->name, ".code"))
		return measure_excerpt(bytes, sum);
	free(bytes);
	return NULL;
}

/* Sets name, size and digest, and returns the bytes, if there are any. */
static struct hp_error *read_file(int directory, const char *name, struct hp_file_sum *sum,
				  uint8_t **bytes, bool *found)
{
	size_t size = 0;
	struct hp_error *error = hp_contents_read_file(directory, name, bytes, &size, found);

	*sum = (struct hp_file_sum){ 0 };
	if (error || !*found)
		return error;
	sum->bytes = size;
	sum->name = strdup(name);
	if (sum->name && asprintf(&sum->digest, "%0*" PRIx64, DIGEST_DIGITS,
				  (uint64_t)XXH3_64bits(*bytes, size)) >= 0)
		return NULL;
	sum->digest = NULL;
	hp_file_sum_clear(sum);
	free(*bytes);
	return hp_error_create_no_memory();
}

/* --- all files ---------------------------------------------------------------------------- */

/* Drops errors of damage: they are reported when the file's contents are needed. */
static struct hp_error *but_damage(struct hp_error *error)
{
	if (!error || error->errno_value == ENOMEM)
		return error;
	hp_error_destroy(error);
	return NULL;
}

static struct hp_error *take_one(int directory, const char *name, struct hp_file_sums *sums)
{
	struct hp_file_sum sum;
	uint8_t *bytes = NULL;
	bool found;
	struct hp_error *error = read_file(directory, name, &sum, &bytes, &found);

	if (error || !found)
		return but_damage(error);
	sums->at[sums->count++] = sum;
	return but_damage(measure(bytes, &sums->at[sums->count - 1]));
}

struct hp_error *hp_file_sums_take(int directory, struct hp_file_sums *sums)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(directory, &names, &count);

	*sums = (struct hp_file_sums){ 0 };
	if (error)
		return error;
	sums->at = calloc(count + 1, sizeof(*sums->at));
	if (!sums->at)
		error = hp_error_create_no_memory();
	for (size_t i = 0; i < count && !error; i++) {
		if (is_summed(names[i]))
			error = take_one(directory, names[i], sums);
	}
	hp_directory_free_list(names, count);
	if (error)
		hp_file_sums_clear(sums);
	return error;
}

/* --- comparing ---------------------------------------------------------------------------- */

static struct hp_error *contradict(const char *name, const char *what, uint64_t found,
				   uint64_t known)
{
	return hp_error_create(HP_ERROR_DAMAGED,
			       "%s: offset 0x%x: %" PRIu64 " %s, and " HP_META_NAME
			       " knows of %" PRIu64,
			       name, HP_CONTAINER_HEADER_BYTES, found, what, known);
}

static struct hp_error *first_difference(const struct hp_file_sum *found,
					 const struct hp_file_sum *known)
{
	if (found->samples != known->samples)
		return contradict(known->name, "samples", found->samples, known->samples);
	if (found->period_total != known->period_total)
		return contradict(known->name, "units in its samples", found->period_total,
				  known->period_total);
	if (found->entries != known->entries)
		return contradict(known->name, entries_of(known->name), found->entries,
				  known->entries);
	if (found->bytes != known->bytes)
		return contradict(known->name, "bytes", found->bytes, known->bytes);
	return hp_error_create(HP_ERROR_DAMAGED,
			       "%s: offset 0x0: its figures are not those that " HP_META_NAME
			       " lists: XXH3 %s, not %s",
			       known->name, found->digest, known->digest);
}

static bool has_same_bytes(const struct hp_file_sum *a, const struct hp_file_sum *b)
{
	return a->bytes == b->bytes && strcmp(a->digest, b->digest) == 0;
}

static bool is_same(const struct hp_file_sum *a, const struct hp_file_sum *b)
{
	return has_same_bytes(a, b) && a->entries == b->entries && a->samples == b->samples &&
	       a->period_total == b->period_total;
}

static struct hp_error *check_one(int directory, const struct hp_file_sum *known, bool all_figures,
				  struct hp_contradictions *contradictions)
{
	struct hp_file_sum sum;
	uint8_t *bytes = NULL;
	bool found;
	struct hp_error *error = read_file(directory, known->name, &sum, &bytes, &found);

	if (error)
		return but_damage(error);
	if (!found)
		return hp_contradictions_add(contradictions,
					     hp_error_create(HP_ERROR_DAMAGED,
							     "%s: it is missing, but " HP_META_NAME
							     " lists it",
							     known->name));
	if (!all_figures && has_same_bytes(&sum, known)) {
		free(bytes);
	} else {
		error = measure(bytes, &sum);
		if (!error && !is_same(&sum, known))
			error = hp_contradictions_add(contradictions,
						      first_difference(&sum, known));
	}
	hp_file_sum_clear(&sum);
	return but_damage(error);
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(((const struct hp_file_sum *)left)->name,
		      ((const struct hp_file_sum *)right)->name);
}

static bool is_known(const struct hp_file_sums *sums, char *name)
{
	const struct hp_file_sum wanted = { .name = name };

	return bsearch(&wanted, sums->at, sums->count, sizeof(wanted), compare_names);
}

/* Files that are not hpcprof's, and copies that belong to no image, are reported elsewhere. */
static struct hp_error *check_unknown(int directory, const char *name,
				      struct hp_contradictions *contradictions)
{
	struct hp_file_sum sum;
	uint8_t *bytes = NULL;
	bool found;
	struct hp_error *error;

	if (hp_name_has_suffix(name, ".bytes"))
		return NULL;
	error = read_file(directory, name, &sum, &bytes, &found);
	if (error || !found)
		return but_damage(error);
	error = measure(bytes, &sum);
	if (!error)
		error = hp_contradictions_add(
			contradictions,
			hp_error_create(HP_ERROR_DAMAGED,
					"%s: offset 0x0: " HP_META_NAME " does not list it", name));
	hp_file_sum_clear(&sum);
	return but_damage(error);
}

struct hp_error *hp_file_sums_check(int directory, const struct hp_file_sums *sums,
				    bool all_figures, struct hp_contradictions *contradictions)
{
	char **names;
	size_t count;
	struct hp_error *error = hp_directory_list(directory, &names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < sums->count && !error; i++)
		error = check_one(directory, &sums->at[i], all_figures, contradictions);
	for (size_t i = 0; i < count && !error; i++) {
		if (is_summed(names[i]) && !is_known(sums, names[i]))
			error = check_unknown(directory, names[i], contradictions);
	}
	hp_directory_free_list(names, count);
	return error;
}
