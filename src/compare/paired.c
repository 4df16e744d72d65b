/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paired.h"

#include <string.h>

double paired_cost(const struct judging *judging, const struct listed *listed, size_t side)
{
	double slowed = side == HP_CANDIDATE ? judging_slowed(judging) : 1;

	return listed ? listed->cost / judging->divisor[side] / slowed : 0;
}

/* --- pairs ----------------------------------------------------------------------------------- */

/* An instruction of the base without a partner is placed before the next one with a partner. */
static bool make_pairs(const struct listing *listings, const size_t *partners,
		       struct paired *paired)
{
	const struct listing *base = &listings[HP_BASE];
	const struct listing *candidate = &listings[HP_CANDIDATE];
	size_t next = 0;
	bool ok = true;

	for (size_t i = 0; i < candidate->count && ok; i++) {
		struct pair pair = { { NULL, &candidate->at[i] } };

		if (partners[i] != SIZE_MAX) {
			for (; next < partners[i] && ok; next++)
				ok = hp_vector_push(&paired->pairs,
						    (struct pair){ { &base->at[next], NULL } });
			pair.side[HP_BASE] = &base->at[next++];
		}
		ok = ok && hp_vector_push(&paired->pairs, pair);
	}
	for (; next < base->count && ok; next++)
		ok = hp_vector_push(&paired->pairs, (struct pair){ { &base->at[next], NULL } });
	return ok;
}

static size_t side_of(const struct pair *pair)
{
	const struct listed *candidate = pair->side[HP_CANDIDATE];
	const struct listed *base = pair->side[HP_BASE];

	return candidate && (candidate->file || !base || !base->file) ? HP_CANDIDATE : HP_BASE;
}

const struct listed *pair_place(const struct pair *pair)
{
	return pair->side[side_of(pair)];
}

/* --- lines ----------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	a = strrchr(a, '/') ? strrchr(a, '/') + 1 : a;
	b = strrchr(b, '/') ? strrchr(b, '/') + 1 : b;
	return strcmp(a, b) == 0;
}

/* Compares the candidate's line, or the base's if only the base has the instruction. */
bool pair_is_on(const struct pair *pair, const struct lined *line)
{
	size_t side = side_of(pair);
	const struct listed *place = pair->side[side];

	return place->file && place->line == line->line[side] && same_file(place->file, line->file);
}

const struct lined *paired_line(const struct paired *paired, const struct pair *pair)
{
	for (size_t i = 0; i < paired->lines.count; i++)
		if (pair_is_on(pair, &paired->lines.at[i]))
			return &paired->lines.at[i];
	return NULL;
}

/* The line of a pair that has one; NULL: out of memory. */
static struct lined *find_or_add_line(struct paired *paired, const struct pair *pair)
{
	const struct lined *line = paired_line(paired, pair);

	if (line)
		return &paired->lines.at[line - paired->lines.at];
	if (!hp_vector_push(&paired->lines, (struct lined){ .file = pair_place(pair)->file }))
		return NULL;
	return &paired->lines.at[paired->lines.count - 1];
}

static bool add_to_line(const struct judging *judging, const struct pair *pair,
			struct paired *paired)
{
	struct lined *line;

	if (!pair_place(pair)->file)
		return true;
	line = find_or_add_line(paired, pair);
	if (!line)
		return false;
	line->is_changed = line->is_changed || !pair->side[HP_BASE] || !pair->side[HP_CANDIDATE];
	for (size_t side = 0; side < HP_SIDES; side++) {
		const struct listed *listed = pair->side[side];

		if (!listed)
			continue;
		if (!line->line[side])
			line->line[side] = listed->line;
		line->cost[side] += paired_cost(judging, listed, side);
		line->samples[side] += listed->samples;
	}
	return true;
}

/* Instructions on both sides come first: they tell which lines correspond. */
static bool make_lines(const struct judging *judging, struct paired *paired)
{
	bool ok = true;

	for (int both = 1; both >= 0; both--)
		for (size_t i = 0; i < paired->pairs.count && ok; i++) {
			const struct pair *pair = &paired->pairs.at[i];

			if ((pair->side[HP_BASE] && pair->side[HP_CANDIDATE]) == (bool)both)
				ok = add_to_line(judging, pair, paired);
		}
	return ok;
}

uint32_t lined_number(const struct lined *line)
{
	return line->line[HP_CANDIDATE] ? line->line[HP_CANDIDATE] : line->line[HP_BASE];
}

bool lined_is_sampled(const struct lined *line)
{
	return line->samples[HP_BASE] || line->samples[HP_CANDIDATE];
}

double lined_lost(const struct lined *line)
{
	return line->cost[HP_CANDIDATE] - line->cost[HP_BASE];
}

static int compare_lines(const void *left, const void *right)
{
	const struct lined *a = left;
	const struct lined *b = right;
	double a_lost = fabs(lined_lost(a));
	double b_lost = fabs(lined_lost(b));
	int order = (a_lost < b_lost) - (a_lost > b_lost);

	return order ? order
		     : (a->line[HP_CANDIDATE] > b->line[HP_CANDIDATE]) -
			       (a->line[HP_CANDIDATE] < b->line[HP_CANDIDATE]);
}

struct hp_error *paired_create(const struct judging *judging, const struct listing *listings,
			       const size_t *partners, struct paired *paired)
{
	if (!make_pairs(listings, partners, paired) || !make_lines(judging, paired))
		return hp_error_create_no_memory();
	if (paired->lines.count)
		qsort(paired->lines.at, paired->lines.count, sizeof(*paired->lines.at),
		      compare_lines);
	return NULL;
}

void paired_clear(struct paired *paired)
{
	hp_vector_free(&paired->pairs);
	hp_vector_free(&paired->lines);
}
