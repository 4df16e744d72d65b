/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the instructions that are shown: the hot ones, those that hot ones may have waited for,
 * and a few around these. The others are folded.
 */
#include "annotate.h"
#include "../tuning.h"

#include <math.h>
#include <string.h>

/* The largest share, 0 to 1, that the row has of an event's samples in the procedure or of its
 * time. */
static double heat_of(const struct annotation *annotation, size_t row)
{
	const struct hp_tally *tallies = annotation->listing->rows.at[row].tallies;
	double heat = annotation_share(annotation, row);

	for (size_t i = 0; i < annotation->report->profiles->events.count; i++) {
		uint64_t all = annotation->row->tallies[i].samples;

		if (all)
			heat = fmax(heat, (double)tallies[i].samples / (double)all);
	}
	return heat;
}

/* Culprits are shown only for victims that are shown. */
static void want_culprits(const struct annotation *annotation, size_t row, bool *wanted)
{
	const struct hp_analysis *analysis = annotation->analysis;
	const struct hp_analysed_insn *insn = annotation->insns[row];

	for (uint32_t i = 0; insn && i < insn->cause_count; i++) {
		const struct hp_cause *cause = &analysis->causes[insn->first_cause + i];
		size_t culprit = cause->has_culprit
					 ? annotation_find(annotation, cause->culprit.value)
					 : SIZE_MAX;

		if (culprit != SIZE_MAX)
			wanted[culprit] = true;
	}
}

static bool same_block(const struct hp_row *a, const struct hp_row *b)
{
	return a->has_block && b->has_block && a->block == b->block;
}

/* Shows rows of [first, end), which are one block: those around wanted rows, and the block's first
 * and last row if it has any. */
static void show_block(struct annotation *annotation, const bool *wanted, size_t first, size_t end)
{
	bool any = false;

	for (size_t i = first; i < end; i++) {
		if (!wanted[i])
			continue;
		any = true;
		for (size_t j = i >= first + CONTEXT_ROWS ? i - CONTEXT_ROWS : first;
		     j < end && j <= i + CONTEXT_ROWS; j++)
			annotation->shown[j] = true;
	}
	if (any)
		annotation->shown[first] = annotation->shown[end - 1] = true;
}

static void show_wanted(struct annotation *annotation, const bool *wanted)
{
	const struct hp_row *rows = annotation->listing->rows.at;
	size_t count = annotation->listing->rows.count;

	for (size_t first = 0, end; first < count; first = end) {
		end = first + 1;
		while (end < count && same_block(&rows[first], &rows[end]))
			end++;
		show_block(annotation, wanted, first, end);
	}
}

static void fill_small_gaps(struct annotation *annotation)
{
	size_t count = annotation->listing->rows.count;

	for (size_t i = 0; i < count;) {
		size_t end = i;

		while (end < count && !annotation->shown[end])
			end++;
		for (size_t j = i; j < end && end - i < WORTH_FOLDING; j++)
			annotation->shown[j] = true;
		i = end > i ? end : i + 1;
	}
}

struct hp_error *annotate_choose(struct annotation *annotation)
{
	size_t count = annotation->listing->rows.count;
	_cleanup_free_ bool *wanted = calloc(count + 1, sizeof(*wanted));
	double limit = annotation->report->options->percent_limit;
	double hottest = 0;

	annotation->shown = hp_arena_array(annotation->arena, count + 1, sizeof(bool));
	if (!wanted || !annotation->shown)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		hottest = fmax(hottest, heat_of(annotation, i));
	/* Something must be shown, so the limit is at most the hottest row's share. */
	limit = fmin((limit > 0 ? limit : fold_percent) / 100, hottest);
	for (size_t i = 0; i < count && hottest > 0; i++) {
		if (!(heat_of(annotation, i) >= limit))
			continue;
		wanted[i] = true;
		want_culprits(annotation, i, wanted);
	}
	if (annotation->shows_all || !(hottest > 0) || count <= SMALL_ENOUGH)
		memset(annotation->shown, true, count * sizeof(bool));
	else
		show_wanted(annotation, wanted);
	fill_small_gaps(annotation);
	return NULL;
}
