/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "namesakes.h"

#include "moved.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

/* All code with the same name in one image, on both sides; the base's comes first. */
struct group {
	struct code **codes;
	size_t counts[HP_SIDES];
	const char *files[MOST_NAMESAKES]; /* the source file of each; may be NULL */
};

static size_t group_count(const struct group *group)
{
	return group->counts[HP_BASE] + group->counts[HP_CANDIDATE];
}

/* --- which groups ---------------------------------------------------------------------------- */

static int compare_codes(const void *left, const void *right)
{
	const struct code *a = *(const struct code *const *)left;
	const struct code *b = *(const struct code *const *)right;
	int order = code_compare_keys(a, b);

	/* By address, so that the same one is first on both sides. */
	if (!order && a->procedure && b->procedure)
		order = (a->procedure->address.value > b->procedure->address.value) -
			(a->procedure->address.value < b->procedure->address.value);
	return order;
}

/* Linkers append numbers to equal names. */
static bool has_namesake(const struct code *code)
{
	return code->image->file && (hp_image_has_namesake(code->image->file, code->procedure) ||
				     strstr(code->procedure->linkage, ".lto_priv."));
}

static bool is_ambiguous(const struct sides *sides, const struct group *group)
{
	bool matters = false;
	bool found = false;

	for (size_t i = 0; i < group_count(group); i++) {
		const struct code *code = group->codes[i];

		if (!code_has_name(code))
			return false;
		matters = matters || code->cost >= least_of_program * sides->at[code->side].cost;
		found = found || has_namesake(code);
	}
	return found && matters && group_count(group) > 1 && group_count(group) <= MOST_NAMESAKES;
}

/* --- by file --------------------------------------------------------------------------------- */

static size_t start_of_last(const char *path, size_t end)
{
	while (end && path[end - 1] != '/')
		end--;
	return end;
}

/* The number of equal components at the end of two paths, since trees are built in different
 * places. */
static size_t same_parts(const char *a, const char *b)
{
	size_t a_end = strlen(a);
	size_t b_end = strlen(b);

	for (size_t parts = 0;; parts++) {
		size_t a_start = start_of_last(a, a_end);
		size_t b_start = start_of_last(b, b_end);

		if (a_end - a_start != b_end - b_start ||
		    memcmp(a + a_start, b + b_start, a_end - a_start) != 0)
			return parts;
		if (!a_start || !b_start)
			return parts + 1;
		a_end = a_start - 1;
		b_end = b_start - 1;
	}
}

static struct hp_error *find_files(struct group *group, bool *all)
{
	*all = true;
	for (size_t i = 0; i < group_count(group); i++) {
		const struct code *code = group->codes[i];
		struct hp_frames frames = { 0 };
		struct hp_error *error = hp_image_frames(
			code->image->file, &code->procedure->address, 1, false, &frames);

		if (error)
			return error;
		group->files[i] = frames.count ? frames.frames[0].file : NULL;
		*all = *all && group->files[i];
	}
	return NULL;
}

/* The candidate's file with the path most similar to that of the base's file. */
static const char *file_of_candidate(const struct group *group, const char *file)
{
	const char *best = NULL;
	size_t most = 0;

	for (size_t i = group->counts[HP_BASE]; i < group_count(group); i++) {
		size_t parts = same_parts(file, group->files[i]);

		if (parts > most) {
			most = parts;
			best = group->files[i];
		}
	}
	return best ? best : file;
}

/* If another file of the base is more similar to that one, the candidate does not have this
 * file. */
static const char *settle_file(const struct group *group, const char *file)
{
	const char *candidate = file_of_candidate(group, file);

	for (size_t i = 0; i < group->counts[HP_BASE]; i++)
		if (same_parts(group->files[i], candidate) > same_parts(file, candidate))
			return file;
	return candidate;
}

static bool name_by_file(struct sides *sides, struct code *code, const char *file)
{
	code->key = sides_format(sides->arena, "%s\n%s", code->linkage, file);
	code->name = sides_format(sides->arena, "%s (%s)", code->function,
				  strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
	return code->key && code->name;
}

static bool tell_by_file(struct sides *sides, const struct group *group)
{
	bool ok = true;

	for (size_t i = 0; i < group_count(group) && ok; i++)
		ok = name_by_file(sides, group->codes[i],
				  i < group->counts[HP_BASE] ? settle_file(group, group->files[i])
							     : group->files[i]);
	return ok;
}

/* --- by code --------------------------------------------------------------------------------- */

/* Finds the most similar unpaired codes of base and candidate, the first of equally similar ones;
 * 0: none. */
static double find_pair(const struct group *group, const struct hp_body *bodies, const bool *paired,
			size_t *base, size_t *candidate)
{
	double most = 0;

	for (size_t i = 0; i < group->counts[HP_BASE]; i++)
		for (size_t j = group->counts[HP_BASE]; j < group_count(group); j++) {
			double similarity = hp_body_similarity(&bodies[i], &bodies[j]);

			if (paired[i] || paired[j] || similarity < MOVED_LEAST_SIMILARITY ||
			    similarity <= most)
				continue;
			most = similarity;
			*base = i;
			*candidate = j;
		}
	return most;
}

/* If the codes are not similar at all, nothing distinguishes them. */
static struct hp_error *tell_by_code(struct sides *sides, const struct group *group)
{
	_cleanup_free_ struct hp_body *bodies = calloc(group_count(group), sizeof(*bodies));
	bool paired[MOST_NAMESAKES] = { false };
	size_t base = 0;
	size_t candidate = 0;
	size_t pairs = 0;

	if (!bodies)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < group_count(group); i++)
		moved_body(group->codes[i], &bodies[i]);
	for (; find_pair(group, bodies, paired, &base, &candidate) > 0; pairs++) {
		const char *key = sides_format(sides->arena, "%s\n%zu", group->codes[base]->linkage,
					       candidate);

		if (!key)
			return hp_error_create_no_memory();
		group->codes[base]->key = group->codes[candidate]->key = key;
		paired[base] = paired[candidate] = true;
	}
	for (size_t i = 0; i < group_count(group) && pairs; i++) {
		if (paired[i])
			continue;
		group->codes[i]->key =
			sides_format(sides->arena, "%s\n%zu alone", group->codes[i]->linkage, i);
		if (!group->codes[i]->key)
			return hp_error_create_no_memory();
	}
	return NULL;
}

/* If one side has several builds of an image, each name exists several times. */
static bool is_of_one_build(const struct group *group)
{
	for (size_t i = 1; i < group_count(group); i++)
		if (group->codes[i]->side == group->codes[i - 1]->side &&
		    group->codes[i]->image != group->codes[i - 1]->image)
			return false;
	return true;
}

static struct hp_error *tell_apart(struct sides *sides, struct group *group)
{
	bool all = false;
	struct hp_error *error;

	if (!is_ambiguous(sides, group))
		return NULL;
	error = find_files(group, &all);
	if (error)
		return error;
	if (all)
		return tell_by_file(sides, group) ? NULL : hp_error_create_no_memory();
	return is_of_one_build(group) ? tell_by_code(sides, group) : NULL;
}

struct hp_error *namesakes_tell_apart(struct sides *sides)
{
	size_t base = sides->at[HP_BASE].codes.count;
	size_t count = base + sides->at[HP_CANDIDATE].codes.count;
	_cleanup_free_ struct code **codes = calloc(count + 1, sizeof(struct code *));
	struct hp_error *error = NULL;
	size_t end;

	if (!codes)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		codes[i] = i < base ? sides->at[HP_BASE].codes.at[i]
				    : sides->at[HP_CANDIDATE].codes.at[i - base];
	qsort(codes, count, sizeof(struct code *), compare_codes);
	for (size_t first = 0; first < count && !error; first = end) {
		struct group group = { .codes = codes + first };

		for (end = first;
		     end < count && strcmp(codes[first]->image->key, codes[end]->image->key) == 0 &&
		     strcmp(codes[first]->key, codes[end]->key) == 0;
		     end++)
			group.counts[codes[end]->side]++;
		error = tell_apart(sides, &group);
	}
	return error;
}
