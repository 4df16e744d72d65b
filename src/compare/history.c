/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "history.h"

#include "costs.h"
#include "lineage.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <math.h>
#include <string.h>

struct learning {
	const struct sides *sides;
	struct lineage lineage;
	struct hp_arena *arena;		    /* of the groups' data */
	HP_VECTOR(struct counts) counts[2]; /* as in history->dispersion, over all groups */
	double run_squares;
	double run_freedom;
	size_t epochs;
};

/* --- what a group says ----------------------------------------------------------------------- */

HP_ORDER_VALUES(compare_doubles, double);

/* Sorts the values. Returns the middle one, or the upper of the two. */
static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[count / 2];
}

/* The logarithm of each replicate's mean cost of a run. */
static bool list_levels(const struct sides *sides, double *levels)
{
	size_t count = sides->at[HP_BASE].replicates.count;
	struct run_costs runs;
	size_t *epochs;
	double *seen = hp_arena_array(sides->arena, count, sizeof(*seen));

	if (!seen || !costs_list(sides, HP_BASE, &runs, &epochs))
		return false;
	for (size_t i = 0; i < runs.count; i++) {
		levels[epochs[i]] += runs.costs[i];
		seen[epochs[i]]++;
	}
	for (size_t i = 0; i < count; i++)
		levels[i] = log(levels[i] / seen[i]);
	return true;
}

/* The replicate whose cost differs so much from the others that something else must have run beside
 * it; `count` if there is none. */
static size_t out_of_line(const double *levels, size_t count)
{
	double sorted[MOST_HISTORY_EPOCHS];
	double middle;
	size_t farthest = 0;

	if (count < FEWEST_TO_DOUBT)
		return count;
	memcpy(sorted, levels, count * sizeof(*sorted));
	middle = median(sorted, count);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = fabs(levels[i] - middle);
		if (fabs(levels[i] - middle) > fabs(levels[farthest] - middle))
			farthest = i;
	}
	return fabs(levels[farthest] - middle) > out_of_line_deviations * median(sorted, count)
		       ? farthest
		       : count;
}

static void add_runs(struct learning *learning, const double *levels, size_t count, size_t left_out)
{
	double kept = (double)(count - (left_out < count));
	double mean = 0;

	for (size_t i = 0; i < count; i++)
		mean += i == left_out ? 0 : levels[i] / kept;
	for (size_t i = 0; i < count; i++)
		learning->run_squares += i == left_out ? 0
						       : (levels[i] - mean) * (levels[i] - mean);
	learning->run_freedom += kept - 1;
	learning->epochs += (size_t)kept;
}

/* Exposures of the replicates for one way of counting, without the one that is left out. */
static double *list_exposures(const struct sides *sides, bool relative, size_t left_out)
{
	const struct side *side = &sides->at[HP_BASE];
	double *exposures =
		hp_arena_array(sides->arena, side->replicates.count, sizeof(*exposures));
	size_t kept = 0;

	for (size_t i = 0; exposures && i < side->replicates.count; i++)
		if (i != left_out)
			exposures[kept++] = replicate_exposure(&side->replicates.at[i], relative);
	return exposures;
}

static struct hp_error *add_counts(struct learning *learning, struct sides *sides, size_t left_out)
{
	size_t count = sides->at[HP_BASE].replicates.count;
	size_t kept = count - (left_out < count);

	for (int relative = 0; relative < 2; relative++) {
		const double *exposures = list_exposures(sides, relative, left_out);

		for (size_t i = 0; i < sides->units.count; i++) {
			struct unit *unit = &sides->units.at[i];
			struct counts counts = {
				.counts = unit->counts,
				.exposures = exposures,
				.replicates = { kept, 0 },
				.share = (double)unit->samples[HP_BASE] /
					 (double)sides->at[HP_BASE].samples,
			};

			if (left_out < count && !relative)
				memmove(&unit->counts[left_out], &unit->counts[left_out + 1],
					(kept - left_out) * sizeof(*unit->counts));
			if (!exposures || !hp_vector_push(&learning->counts[relative], counts))
				return hp_error_create_no_memory();
		}
	}
	return NULL;
}

static struct hp_error *add_gathered(struct learning *learning, struct sides *sides)
{
	size_t count = sides->at[HP_BASE].replicates.count;
	double levels[MOST_HISTORY_EPOCHS] = { 0 };
	size_t left_out;

	if (!list_levels(sides, levels))
		return hp_error_create_no_memory();
	left_out = out_of_line(levels, count);
	add_runs(learning, levels, count, left_out);
	return add_counts(learning, sides, left_out);
}

/* The user did not ask for these epochs, so after an error nothing is learned from them. */
static struct hp_error *add_group(struct learning *learning, size_t group)
{
	const struct hp_compare_options options = { .event = learning->sides->event };
	/* Names suffice to distinguish procedures, and opening large files takes time. */
	struct sides sides = { .arena = learning->arena, .options = &options, .by_names = true };
	char *stamps[MOST_HISTORY_EPOCHS];
	struct hp_compare_epochs epochs[HP_SIDES] = { { .stamps = stamps } };
	struct hp_error *error;

	for (size_t i = 0; i < learning->lineage.found.count; i++)
		if (learning->lineage.found.at[i].group == group) {
			epochs[HP_BASE].db = learning->lineage.found.at[i].db;
			stamps[epochs[HP_BASE].count++] = hp_arena_strdup(
				learning->arena,
				hp_epoch_stamp(learning->lineage.found.at[i].epoch));
		}
	if (epochs[HP_BASE].count < 2)
		return NULL;
	for (size_t i = 0; i < epochs[HP_BASE].count; i++)
		if (!stamps[i])
			return hp_error_create_no_memory();
	error = sides_open(&sides, epochs);
	if (!error)
		error = sides_gather(&sides);
	if (!error)
		error = sides_match(&sides);
	if (error) {
		hp_error_destroy(error);
		error = NULL;
	} else {
		error = add_gathered(learning, &sides);
	}
	sides_clear(&sides);
	return error;
}

/* --- all together ---------------------------------------------------------------------------- */

/* Combines what was learned with what is assumed, by their degrees of freedom. */
static double draw(double learned, double freedom, double assumed, double worth)
{
	return (learned * freedom + assumed * worth) / (freedom + worth);
}

static struct hp_error *conclude_counts(const struct learning *learning, bool relative,
					const struct history *history,
					struct dispersion *dispersion)
{
	const struct dispersion assumed = {
		.even = COMPARE_DISPERSION,
		.deviation = relative ? 0 : history->run_deviation,
		.freedom = INFINITY,
		.common = relative ? INFINITY : history->run_freedom,
	};
	const struct counts *counts = learning->counts[relative].at;
	size_t count = learning->counts[relative].count;
	struct hp_error *error = learn_dispersion(counts, count, &assumed, dispersion);
	double freedom;
	double even;

	if (error)
		return error;
	/* With few procedures, only what runs have in common can be learned. */
	even = pooled_dispersion(counts, count, dispersion->deviation, &freedom);
	if (!(freedom > 0))
		return NULL;
	dispersion->even = draw(even, freedom, COMPARE_DISPERSION, assumed_dispersion_freedom);
	dispersion->freedom = fmin(dispersion->freedom, freedom + assumed_dispersion_freedom);
	/* Runs differ at least as much as the costs of the whole program. */
	dispersion->deviation = fmax(dispersion->deviation, assumed.deviation);
	dispersion->common = history->run_freedom;
	return NULL;
}

/* For people: the variance of a procedure's share, averaged over procedures. */
static double overall_variance(const struct learning *learning)
{
	double freedom;
	double pooled = pooled_dispersion(learning->counts[true].at, learning->counts[true].count,
					  0, &freedom);

	return freedom > 0 ? draw(pooled, freedom, COMPARE_DISPERSION, assumed_dispersion_freedom)
			   : COMPARE_DISPERSION;
}

static struct hp_error *conclude(const struct learning *learning, struct history *history)
{
	struct hp_error *error = NULL;

	if (!(learning->run_freedom > 0))
		return NULL;
	history->run_deviation =
		sqrt(draw(learning->run_squares / learning->run_freedom, learning->run_freedom,
			  COMPARE_RUN_DEVIATION * COMPARE_RUN_DEVIATION, assumed_run_freedom));
	history->run_freedom = learning->run_freedom + assumed_run_freedom;
	for (int relative = 0; relative < 2 && !error; relative++)
		error = conclude_counts(learning, relative, history,
					&history->dispersion[relative]);
	history->variance = overall_variance(learning);
	history->epochs = learning->epochs;
	return error;
}

static struct hp_error *learn(struct learning *learning, const struct hp_compare_epochs *compared,
			      struct history *history)
{
	struct lineage *lineage = &learning->lineage;
	struct hp_error *error =
		lineage_find(learning->sides, compared, MOST_HISTORY_EPOCHS, lineage);

	if (error || !lineage->found.count)
		return error;
	for (size_t i = 0; i < lineage->group_count && !error; i++)
		error = add_group(learning, i);
	return error ? error : conclude(learning, history);
}

struct hp_error *history_learn(const struct sides *sides,
			       const struct hp_compare_epochs compared[HP_SIDES],
			       struct history *history)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct learning learning = { .sides = sides, .arena = arena };
	struct hp_error *error;

	*history = (struct history){ 0 };
	if (!arena)
		return hp_error_create_no_memory();
	if (compared[HP_BASE].count > 1 || compared[HP_CANDIDATE].count > 1)
		return NULL;
	error = learn(&learning, compared, history);
	lineage_clear(&learning.lineage);
	for (int relative = 0; relative < 2; relative++)
		hp_vector_free(&learning.counts[relative]);
	return error;
}
