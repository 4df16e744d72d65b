/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	units, judged
 * provides	the lines of each tested procedure, with their costs on both sides; for findings
 *		also the place with the largest change, the blocks that changed, and their code side
 *		by side
 */
#include "inside.h"
#include "paired.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <hpcprof/model/procedure_name.h>
#include <math.h>
#include <string.h>

struct detailing {
	const struct judging *judging;
	const struct unit *unit;
	struct listing listings[HP_SIDES];
	struct inside inside;
	size_t *partners;     /* from listing_align; owned */
	struct paired paired; /* owned */
};

/* The code with the highest cost, if a unit has several procedures (clones, for example). */
static const struct code *costliest(const struct unit *unit, enum hp_side side)
{
	for (size_t i = 0; i < unit->codes.count; i++)
		if (unit->codes.at[i]->side == side && !unit_has_absorbed(unit, unit->codes.at[i]))
			return unit->codes.at[i];
	return NULL;
}

/* Paths point into images, which are closed before the comparison is used. */
static bool keep_files(struct detailing *detailing)
{
	const char *from = NULL;
	const char *kept = NULL;

	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < detailing->listings[side].count; i++) {
			struct listed *listed = &detailing->listings[side].at[i];

			if (!listed->file)
				continue;
			if (!from || strcmp(from, listed->file) != 0) {
				from = listed->file;
				kept = hp_arena_strdup(detailing->judging->sides->arena, from);
			}
			if (!kept)
				return false;
			listed->file = kept;
		}
	return true;
}

static struct hp_error *list_both(struct detailing *detailing)
{
	struct hp_arena *arena = detailing->judging->sides->arena;
	struct inside *inside = &detailing->inside;
	struct hp_error *error = NULL;

	inside->judging = detailing->judging;
	/* Code that came from another procedure has no partner here, and would look like a loss. */
	inside->is_chosen = detailing->unit->shown->is_finding && !detailing->unit->absorbed.count;
	for (size_t side = 0; side < HP_SIDES && !error; side++) {
		inside->codes[side] = costliest(detailing->unit, (enum hp_side)side);
		inside->listings[side] = &detailing->listings[side];
		error = listing_create(arena, inside->codes[side], &detailing->listings[side]);
	}
	if (!error && !keep_files(detailing))
		error = hp_error_create_no_memory();
	if (!error)
		error = listing_align(&detailing->listings[HP_BASE],
				      &detailing->listings[HP_CANDIDATE], &detailing->partners);
	if (!error)
		error = paired_create(detailing->judging, detailing->listings, detailing->partners,
				      &detailing->paired);
	return error;
}

/* --- lines ----------------------------------------------------------------------------------- */

/* A part of the procedure, without its costs; NULL: out of memory. */
static struct hp_compared *add_part(const struct detailing *detailing, enum hp_scope scope,
				    const char *file, uint32_t line)
{
	struct hp_compared *shown =
		hp_arena_alloc(detailing->judging->sides->arena, sizeof(*shown));

	if (shown)
		*shown = (struct hp_compared){
			.scope = scope,
			.name = detailing->unit->shown->name,
			.image = detailing->unit->shown->image,
			.file = file,
			.line = line,
		};
	return shown;
}

/* Finds the sampled line of each instruction. */
static struct hp_error *partition_lines(const struct detailing *detailing,
					struct partition *partition)
{
	const struct paired *paired = &detailing->paired;
	struct hp_error *error = partition_create(&detailing->inside, partition);
	_cleanup_free_ size_t *numbers =
		calloc(detailing->paired.lines.count + 1, sizeof(*numbers));

	if (!error && !numbers)
		error = hp_error_create_no_memory();
	if (error)
		return error;
	for (size_t i = 0; i < detailing->paired.lines.count; i++)
		numbers[i] = lined_is_sampled(&detailing->paired.lines.at[i]) ? partition->count++
									      : SIZE_MAX;
	for (size_t i = 0; i < detailing->paired.pairs.count; i++) {
		const struct pair *pair = &detailing->paired.pairs.at[i];
		const struct lined *line = paired_line(paired, pair);

		for (size_t side = 0; side < HP_SIDES && line; side++)
			if (pair->side[side])
				partition->of[side]
					     [pair->side[side] - detailing->listings[side].at] =
					numbers[line - paired->lines.at];
	}
	return NULL;
}

static struct hp_error *show_lines(struct detailing *detailing)
{
	struct hp_compared *shown = detailing->unit->shown;
	struct hp_compared **parts = hp_arena_array(detailing->judging->sides->arena,
						    detailing->paired.lines.count + 1,
						    sizeof(*parts));
	_cleanup_(partition_clear) struct partition partition = { 0 };
	struct hp_error *error = partition_lines(detailing, &partition);
	size_t count = 0;

	if (!error && !parts)
		error = hp_error_create_no_memory();
	for (size_t i = 0; i < detailing->paired.lines.count && !error; i++) {
		const struct lined *line = &detailing->paired.lines.at[i];

		if (!lined_is_sampled(line))
			continue;
		parts[count] = add_part(detailing, HP_SCOPE_LINE, line->file, lined_number(line));
		if (!parts[count++])
			error = hp_error_create_no_memory();
	}
	if (!error)
		error = inside_judge(&detailing->inside, &partition, parts);
	shown->parts = parts;
	shown->part_count = error ? 0 : count;
	return error;
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* Sets the extents of parts on one side. A part consists of adjacent blocks of one part of the
 * procedure, as linkers see it, but an extent includes what lies between two blocks. */
static void place_blocks(const struct detailing *detailing, const struct partition *partition,
			 struct hp_compared *const *parts)
{
	for (size_t side = 0; side < HP_SIDES; side++) {
		const struct listing *listing = &detailing->listings[side];
		const struct listed *costliest_there = NULL;

		for (size_t i = 0; i < listing->count; i++) {
			const struct listed *listed = &listing->at[i];
			struct hp_compared *part = parts[partition->of[side][i]];
			struct hp_compared_extent *extent = &part->extent[side];

			if (!extent->end) {
				extent->start = listed->address;
				costliest_there = listed;
			}
			extent->end = listed->address + listed->size;
			if (listed->cost > costliest_there->cost)
				costliest_there = listed;
			/* The candidate's file, if it has one. */
			if (!costliest_there->file)
				continue;
			part->file = costliest_there->file;
			part->line = costliest_there->line;
		}
	}
}

static int compare_blocks(const void *left, const void *right)
{
	const struct hp_compared *a = *(const struct hp_compared *const *)left;
	const struct hp_compared *b = *(const struct hp_compared *const *)right;

	return (fabs(a->lost.value) < fabs(b->lost.value)) -
	       (fabs(a->lost.value) > fabs(b->lost.value));
}

/* Chooses the fewest blocks that together have most of the procedure's change. If these are many,
 * the change is everywhere in it. */
static void choose_blocks(struct hp_compared *shown, struct hp_compared **parts, size_t count)
{
	size_t chosen = 0;
	double sum = 0;

	qsort(parts, count, sizeof(*parts), compare_blocks);
	for (size_t i = 0; i < count && chosen < MOST_BLOCKS &&
			   fabs(sum) < most_of_change * fabs(shown->lost.value);
	     i++) {
		if (!parts[i]->is_finding || (parts[i]->lost.value > 0) != (shown->lost.value > 0))
			continue;
		sum += parts[i]->lost.value;
		parts[chosen++] = parts[i];
	}
	if (fabs(sum) < most_of_change * fabs(shown->lost.value))
		return;
	shown->blocks = parts;
	shown->block_count = chosen;
}

static struct hp_error *show_blocks(const struct detailing *detailing)
{
	_cleanup_(partition_clear) struct partition partition = { 0 };
	struct hp_error *error =
		partition_blocks(&detailing->inside, detailing->partners, &partition);
	struct hp_compared **parts;

	/* A single part is the whole procedure, which is described already. */
	if (error || partition.count < 2 || !detailing->listings[HP_BASE].count)
		return error;
	parts = hp_arena_array(detailing->judging->sides->arena, partition.count + 1,
			       sizeof(*parts));
	for (size_t i = 0; parts && i < partition.count; i++) {
		parts[i] = add_part(detailing, HP_SCOPE_BLOCK, NULL, 0);
		if (!parts[i])
			return hp_error_create_no_memory();
	}
	if (!parts)
		return hp_error_create_no_memory();
	place_blocks(detailing, &partition, parts);
	error = inside_judge(&detailing->inside, &partition, parts);
	if (!error)
		choose_blocks(detailing->unit->shown, parts, partition.count);
	return error;
}

/* --- where it is ----------------------------------------------------------------------------- */

/* The code of one side cannot be read, so its samples have no lines. */
static bool is_one_sided(const struct detailing *detailing)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		if (!detailing->listings[side].count &&
		    costliest(detailing->unit, (enum hp_side)side))
			return true;
	return false;
}

/* If new code has no line information, lines of the other side alone would seem to have become
 * cheaper or more expensive. */
static bool has_all_lines(const struct detailing *detailing)
{
	for (size_t side = 0; side < HP_SIDES; side++) {
		const struct listing *listing = &detailing->listings[side];
		bool found = !listing->count;

		for (size_t i = 0; i < listing->count && !found; i++)
			found = listing->at[i].file != NULL;
		if (!found)
			return false;
	}
	return true;
}

/* The place that lost most, or gained most; otherwise where the procedure begins. If only one
 * side's code can be read, the place with the highest cost. */
static void show_place(const struct detailing *detailing)
{
	struct hp_compared *shown = detailing->unit->shown;
	const struct lined *best = NULL;

	for (size_t i = 0; i < detailing->paired.lines.count; i++) {
		const struct lined *line = &detailing->paired.lines.at[i];
		double sign = shown->lost.value < 0 && !is_one_sided(detailing) ? -1 : 1;

		if (line->line[HP_CANDIDATE] &&
		    (!best || sign * lined_lost(line) > sign * lined_lost(best)))
			best = line;
	}
	if (!best && detailing->paired.lines.count)
		best = &detailing->paired.lines.at[0];
	if (!best)
		return;
	shown->file = best->file;
	shown->line = lined_number(best);
}

/* --- side by side ---------------------------------------------------------------------------- */

static struct hp_compared_code code_of_pair(const struct detailing *detailing,
					    const struct pair *pair)
{
	struct hp_compared_code code = { .file = pair_place(pair)->file };

	for (size_t side = 0; side < HP_SIDES; side++) {
		const struct listed *listed = pair->side[side];

		code.cost[side] = paired_cost(detailing->judging, pair->side[side], side);
		if (!listed)
			continue;
		code.line[side] = listed->line;
		code.address[side] = listed->address;
		code.text[side] = listed->text;
		code.samples[side] = listed->samples;
	}
	code.is_changed = !pair->side[HP_BASE] || !pair->side[HP_CANDIDATE];
	return code;
}

/* The lowest cost of an instruction that is shown: that of the line's instruction of this rank, on
 * either side. */
static double least_shown(const struct detailing *detailing, const struct lined *line)
{
	double best[MOST_INSTRUCTIONS] = { 0 };

	for (size_t i = 0; i < detailing->paired.pairs.count; i++) {
		const struct pair *pair = &detailing->paired.pairs.at[i];
		double cost;
		size_t at = MOST_INSTRUCTIONS;

		if (!pair_is_on(pair, line))
			continue;
		cost = fmax(
			paired_cost(detailing->judging, pair->side[HP_BASE], HP_BASE),
			paired_cost(detailing->judging, pair->side[HP_CANDIDATE], HP_CANDIDATE));
		for (; at > 0 && best[at - 1] < cost; at--)
			if (at < MOST_INSTRUCTIONS)
				best[at] = best[at - 1];
		if (at < MOST_INSTRUCTIONS)
			best[at] = cost;
	}
	return best[MOST_INSTRUCTIONS - 1];
}

static struct hp_compared_code *add_line(const struct detailing *detailing,
					 const struct lined *line, struct hp_compared_code *next)
{
	double least = least_shown(detailing, line);
	size_t shown = 0;

	*next++ = (struct hp_compared_code){
		.file = line->file,
		.line = { line->line[HP_BASE], line->line[HP_CANDIDATE] },
		.samples = { line->samples[HP_BASE], line->samples[HP_CANDIDATE] },
		.cost = { line->cost[HP_BASE], line->cost[HP_CANDIDATE] },
		.is_changed = line->is_changed,
	};
	for (size_t i = 0; i < detailing->paired.pairs.count && shown < MOST_INSTRUCTIONS; i++) {
		const struct pair *pair = &detailing->paired.pairs.at[i];
		double cost = fmax(
			paired_cost(detailing->judging, pair->side[HP_BASE], HP_BASE),
			paired_cost(detailing->judging, pair->side[HP_CANDIDATE], HP_CANDIDATE));

		if (!pair_is_on(pair, line) || !(cost > 0) || cost < least)
			continue;
		*next++ = code_of_pair(detailing, pair);
		shown++;
	}
	return next;
}

static struct hp_error *show_code(const struct detailing *detailing)
{
	struct hp_compared *shown = detailing->unit->shown;
	struct hp_compared_code *code = hp_arena_array(detailing->judging->sides->arena,
						       MOST_LINES * (size_t)(1 + MOST_INSTRUCTIONS),
						       sizeof(*code));
	struct hp_compared_code *next = code;

	if (!code)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < detailing->paired.lines.count && i < MOST_LINES; i++)
		if (lined_is_sampled(&detailing->paired.lines.at[i]))
			next = add_line(detailing, &detailing->paired.lines.at[i], next);
	shown->code = code;
	shown->code_count = (size_t)(next - code);
	return NULL;
}

/* --- the whole ------------------------------------------------------------------------------- */

static enum hp_name_fit fit_of(const struct judging *judging, const struct unit *unit)
{
	const char *asked = judging->sides->options->annotated;
	const char *former = unit->shown->former_name;

	if (!asked || unit->shown->scope != HP_SCOPE_PROCEDURE)
		return HP_NAME_NOT;
	return former && strcmp(asked, former) == 0 ? HP_NAME_EXACT
						    : hp_name_fit(unit->shown->name, NULL, asked);
}

/* If some procedures have exactly this name, others that only contain it are not meant. */
static enum hp_name_fit best_fit(const struct judging *judging)
{
	enum hp_name_fit best = HP_NAME_NOT;

	for (size_t i = 0; i < judging->sides->units.count; i++) {
		enum hp_name_fit fit = fit_of(judging, &judging->sides->units.at[i]);

		best = fit < best ? fit : best;
	}
	return best;
}

static bool is_asked_for(const struct judging *judging, const struct unit *unit,
			 enum hp_name_fit best)
{
	return best != HP_NAME_NOT && fit_of(judging, unit) == best;
}

static struct hp_error *detail(const struct judging *judging, const struct unit *unit,
			       bool is_wanted)
{
	struct detailing detailing = { .judging = judging, .unit = unit };
	struct hp_error *error = list_both(&detailing);

	if (!error)
		show_place(&detailing);
	if (!error && !is_one_sided(&detailing) && has_all_lines(&detailing))
		error = show_lines(&detailing);
	if (!error && !is_one_sided(&detailing) && detailing.inside.is_chosen)
		error = show_blocks(&detailing);
	if (!error && !is_one_sided(&detailing) && (unit->shown->is_finding || is_wanted))
		error = show_code(&detailing);
	free(detailing.partners);
	paired_clear(&detailing.paired);
	return error;
}

struct hp_error *judge_details(const struct judging *judging)
{
	enum hp_name_fit best = best_fit(judging);
	struct hp_error *error = NULL;

	for (size_t i = 0; i < judging->sides->units.count && !error; i++) {
		const struct unit *unit = &judging->sides->units.at[i];
		bool wanted = is_asked_for(judging, unit, best);

		/* If one side's image cannot be read, there is nothing to compare side by side. */
		if (unit->shown->scope == HP_SCOPE_PROCEDURE && (!isnan(unit->shown->p) || wanted))
			error = detail(judging, unit, wanted);
	}
	return error;
}
