/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	sides, opened and gathered
 * provides	cost of the whole program, per run, and its change
 */
#include "costs.h"
#include "distribution.h"
#include "judge.h"
#include "tuning.h"

#include <hpcprof/base/search.h>

#include <math.h>
#include <string.h>

/* --- how they were recorded ------------------------------------------------------------------ */

struct turn {
	uint64_t start_ns;
	enum hp_side side;
	size_t replicate; /* index of the replicate */
};

HP_ORDER_BY(compare_turns, struct turn, start_ns);

/* Whether each two consecutive runs are one of each side: A B B A, or A B A B. Then drift affects
 * both alike. */
static bool take_turns(const struct turn *turns, size_t count)
{
	if (count < 4 || count % 2)
		return false;
	for (size_t i = 0; i < count; i += 2)
		if (turns[i].side == turns[i + 1].side)
			return false;
	return true;
}

static const struct hp_epoch_meta *meta_of(const struct sides *sides, const struct turn *turn)
{
	return sides->at[turn->side].replicates.at[turn->replicate].meta;
}

/* Whether they ran at the same time for most of the shorter one's run. */
static bool ran_together(const struct hp_run *a, const struct hp_run *b)
{
	double start = fmax((double)a->start_ns, (double)b->start_ns);
	double end = fmin((double)a->start_ns + (double)a->elapsed_ns,
			  (double)b->start_ns + (double)b->elapsed_ns);
	double shorter = fmin((double)a->elapsed_ns, (double)b->elapsed_ns);

	return a->start_ns && b->start_ns && end - start > shorter / 2;
}

/* Whether each run has exactly one of the other side that ran at the same time. */
static bool are_beside(const struct sides *sides, const struct turn *turns, size_t count)
{
	if (!count || count % 2)
		return false;
	for (size_t i = 0; i < count; i++)
		if (meta_of(sides, &turns[i])->run_count != 1)
			return false;
	for (size_t i = 0; i < count; i++) {
		bool is_first = i % 2 == 0;
		bool together = i + 1 < count &&
				ran_together(&meta_of(sides, &turns[i])->runs[0],
					     &meta_of(sides, &turns[i + 1])->runs[0]);

		if (together != is_first || (is_first && turns[i].side == turns[i + 1].side))
			return false;
	}
	return true;
}

/* In order of time. NULL: out of memory. */
static struct turn *list_turns(const struct sides *sides, size_t *count)
{
	size_t room =
		sides->at[HP_BASE].replicates.count + sides->at[HP_CANDIDATE].replicates.count;
	struct turn *turns = hp_arena_array(sides->arena, room, sizeof(*turns));

	*count = 0;
	if (!turns)
		return NULL;
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++)
			turns[(*count)++] = (struct turn){
				.start_ns = sides->at[side].replicates.at[i].meta->start_ns,
				.side = (enum hp_side)side,
				.replicate = i,
			};
	qsort(turns, *count, sizeof(*turns), compare_turns);
	return turns;
}

/* --- what they have in common ---------------------------------------------------------------- */

/* The time of each run; all runs of an epoch have the same. NULL: out of memory. */
static double *list_times(const struct judging *judging, size_t at)
{
	const struct side *side = &judging->sides->at[at];
	size_t runs = judging->runs[at].count;
	double *times = hp_arena_array(judging->sides->arena, runs, sizeof(*times));

	for (size_t i = 0; times && i < runs; i++)
		times[i] = judging_time(judging, &side->replicates.at[judging->epochs[at][i]]);
	return times;
}

static bool fit_trend(struct judging *judging)
{
	double *times[HP_SIDES];

	for (size_t at = 0; at < HP_SIDES; at++) {
		times[at] = list_times(judging, at);
		if (!times[at])
			return false;
	}
	pace_fit_trend(judging->runs, times, &judging->prior.pace);
	return true;
}

/* Each epoch is one run, and the sides took turns, so both have the same number. */
static bool are_pairs(const struct judging *judging)
{
	for (size_t at = 0; at < HP_SIDES; at++)
		if (judging->runs[at].count != judging->sides->at[at].replicates.count)
			return false;
	return true;
}

/* NULL: out of memory. */
static size_t *list_partners(const struct judging *judging, const struct turn *turns, size_t count)
{
	size_t *partners =
		hp_arena_array(judging->sides->arena, count / HP_SIDES, sizeof(*partners));

	for (size_t i = 0; partners && i < count; i += 2) {
		bool base_first = turns[i].side == HP_BASE;

		partners[turns[base_first ? i : i + 1].replicate] =
			turns[base_first ? i + 1 : i].replicate;
	}
	return partners;
}

static bool take_beside(struct judging *judging, const size_t *partners)
{
	judging->beside = partners;
	judging->comparison->is_side_by_side = true;
	pace_take_pairs(judging->runs, partners, &judging->prior.pace);
	return sides_note(
		judging->sides,
		"each run, and each procedure in it, is compared with the run at the same time");
}

static bool fit_pace(struct judging *judging, const struct turn *turns, size_t count, bool beside)
{
	size_t *partners = list_partners(judging, turns, count);

	if (!partners)
		return false;
	if (beside && are_pairs(judging))
		return take_beside(judging, partners);
	if (!fit_trend(judging))
		return false;
	if (!are_pairs(judging))
		return true;
	return !pace_fit_pairs(judging->runs, partners, &judging->prior.pace) ||
	       sides_note(judging->sides,
			  "the sides took turns: each run is compared with its neighbour, because "
			  "neighbours are more alike than others");
}

static bool take_pace(struct judging *judging, size_t at)
{
	const struct pace *pace = &judging->prior.pace;
	struct run_costs *runs = &judging->runs[at];
	double *costs = hp_arena_array(judging->sides->arena, runs->count, sizeof(*costs));

	for (size_t i = 0; costs && i < runs->count; i++) {
		judging->pace[at][judging->epochs[at][i]] = pace->of[at][i];
		costs[i] = runs->costs[i] / pace->of[at][i];
	}
	runs->costs = costs;
	return costs;
}

static double reference_of(const struct judging *judging, size_t at, size_t run)
{
	return drift_reference(judging->sides->at[at].replicates.at[judging->epochs[at][run]].meta);
}

/* Sets by how much the reference says that runs were slowed, relative to the mean of all. */
static void follow_reference(struct judging *judging)
{
	double middle = 0;
	double runs = (double)(judging->runs[HP_BASE].count + judging->runs[HP_CANDIDATE].count);

	for (size_t at = 0; at < HP_SIDES; at++)
		for (size_t i = 0; i < judging->runs[at].count; i++)
			middle += reference_of(judging, at, i) / runs;
	for (size_t at = 0; at < HP_SIDES; at++)
		for (size_t i = 0; i < judging->runs[at].count; i++)
			judging->prior.pace.of[at][i] =
				exp(DRIFT_SLOPE * (reference_of(judging, at, i) - middle));
}

static bool take_paces(struct judging *judging)
{
	return take_pace(judging, HP_BASE) && take_pace(judging, HP_CANDIDATE);
}

/* If the sides took turns, what they have in common is removed from the costs. */
static bool settle_pace(struct judging *judging)
{
	struct sides *sides = judging->sides;
	size_t count;
	struct turn *turns = list_turns(sides, &count);
	bool beside;

	judging->prior.pace = pace_none();
	if (!turns)
		return false;
	for (size_t at = 0; at < HP_SIDES; at++) {
		size_t replicates = sides->at[at].replicates.count;

		judging->pace[at] =
			hp_arena_array(sides->arena, replicates, sizeof(*judging->pace[at]));
		judging->prior.pace.of[at] =
			hp_arena_array(sides->arena, judging->runs[at].count, sizeof(double));
		if (!judging->pace[at] || !judging->prior.pace.of[at])
			return false;
		for (size_t i = 0; i < replicates; i++)
			judging->pace[at][i] = 1;
	}
	beside = are_beside(sides, turns, count);
	judging->comparison->is_interleaved = beside || take_turns(turns, count);
	if (!judging->comparison->is_interleaved)
		return true;
	return fit_pace(judging, turns, count, beside) && take_paces(judging);
}

/* If they did not, they may have drifted apart. */
static struct hp_error *settle_drift(struct judging *judging)
{
	struct hp_error *error;

	if (judging->comparison->is_interleaved)
		return NULL;
	error = drift_learn(judging->sides, judging->compared, &judging->drift);
	if (error || judging->sides->options->is_relative || !judging->drift.by_reference)
		return error;
	follow_reference(judging);
	return take_paces(judging) ? NULL : hp_error_create_no_memory();
}

static bool note_prior(const struct judging *judging)
{
	const struct run_prior *prior = &judging->prior;
	size_t epochs = judging->history.epochs;

	if (judging->runs[HP_BASE].count > 1 || judging->runs[HP_CANDIDATE].count > 1)
		return true;
	if (!epochs)
		return sides_note(
			judging->sides,
			"one run per side: runs of the same build are assumed to differ by %.0f %%",
			prior->deviation * 100);
	return sides_note(judging->sides,
			  "one run per side: runs of the same build differ by %.2g %%, as in %zu "
			  "earlier epochs",
			  prior->deviation * 100, epochs);
}

static bool note_drift(const struct judging *judging)
{
	const struct drift *drift = &judging->drift;
	struct sides *sides = judging->sides;
	double apart = 100 * drift->deviation;
	double moved;
	bool is_noted;

	if (drift->occasions)
		is_noted = sides_note(
			sides,
			"the sides were recorded at different times: the intervals allow for a "
			"difference of %.2g %% by the machine, as on %zu occasions",
			apart, drift->occasions);
	else
		is_noted = sides_note(
			sides,
			"the sides were recorded at different times: the intervals allow for a "
			"difference of %.2g %% by the machine, an assumption",
			apart);
	if (!is_noted || isnan(drift->moved))
		return is_noted;
	moved = 100 * expm1(drift->moved);
	if (!drift->by_reference)
		return sides_note(sides,
				  "the reference loop took %.1f %% %s time with the candidate; the "
				  "costs did not follow it on earlier occasions",
				  fabs(moved), moved < 0 ? "less" : "more");
	return sides_note(sides,
			  "the reference loop took %.1f %% %s time with the candidate; costs of "
			  "the candidate "
			  "and changes are without its effect, about %+.1f %%",
			  fabs(moved), moved < 0 ? "less" : "more",
			  100 * expm1(DRIFT_SLOPE * drift->moved));
}

static bool settle_prior(struct judging *judging)
{
	struct sides *sides = judging->sides;
	bool is_relative = sides->options->is_relative;

	judging->prior.deviation = COMPARE_RUN_DEVIATION;
	judging->prior.freedom = INFINITY;
	if (judging->history.epochs) {
		judging->prior.deviation = judging->history.run_deviation;
		judging->prior.freedom = judging->history.run_freedom;
	}
	judging->prior.drift = is_relative ? 0 : judging->drift.deviation;
	judging->prior.drift_freedom = judging->drift.freedom;
	judging->comparison->learned_epochs = judging->history.epochs;
	if (!is_relative && !note_prior(judging))
		return false;
	return judging->comparison->is_interleaved || is_relative || note_drift(judging);
}

/* --- what it comes to ------------------------------------------------------------------------ */

static struct hp_measured mean_of(double mean, size_t runs, double deviation)
{
	double count = (double)runs;
	double away = student_quantile(interval_misses, count > 1 ? count - 1 : INFINITY) *
		      deviation / sqrt(count);

	return (struct hp_measured){ mean, mean * exp(-away), mean * exp(away) };
}

static void show(struct judging *judging, struct hp_compared *program)
{
	struct log_ratio *ratio = &judging->program;
	double known = pooled_deviation(judging->runs, &judging->prior.pace);
	double deviation = isnan(known) ? judging->prior.deviation : known;
	struct hp_measured *cost[HP_SIDES];

	for (size_t side = 0; side < HP_SIDES; side++) {
		cost[side] = &program->side[side].cost;
		*cost[side] =
			mean_of(judging->mean_cost[side], judging->runs[side].count, deviation);
		program->side[side].samples = judging->sides->at[side].samples;
	}
	judging->comparison->run_deviation = deviation;
	program->change = log_ratio_change(ratio);
	/* The same interval, relative to the mean of the base. */
	program->lost = (struct hp_measured){ cost[HP_BASE]->value * program->change.value,
					      cost[HP_BASE]->value * program->change.low,
					      cost[HP_BASE]->value * program->change.high };
	program->p = program->q = ratio->p;
	program->smallest_change =
		runs_smallest(judging->runs, &judging->prior, ratio, COMPARE_FALSE_ALARMS / 2);
}

/* As a share, the whole is always the same. */
static void show_whole(const struct judging *judging, struct hp_compared *program)
{
	for (size_t side = 0; side < HP_SIDES; side++) {
		program->side[side].cost = (struct hp_measured){ 1, 1, 1 };
		program->side[side].samples = judging->sides->at[side].samples;
	}
	program->p = program->q = NAN;
	program->smallest_change = NAN;
	judging->comparison->run_deviation = NAN;
}

static const char *name_of(const struct sides *sides)
{
	const struct hp_epoch_meta *meta = sides->at[HP_CANDIDATE].replicates.at[0].meta;

	if (meta->command_line && meta->command_line[0])
		return hp_arena_strdup(sides->arena, meta->command_line[0]);
	return meta->target ? hp_arena_strdup(sides->arena, meta->target) : "everything";
}

struct hp_error *judge_program(struct judging *judging)
{
	struct sides *sides = judging->sides;
	struct hp_compared *program = hp_arena_alloc(sides->arena, sizeof(*program));
	bool by_cpu = costs_are_cpu_times(sides);
	struct hp_error *error;

	if (!program)
		return hp_error_create_no_memory();
	program->scope = HP_SCOPE_PROGRAM;
	program->name = name_of(sides);
	judging->comparison->program = program;
	for (size_t side = 0; side < HP_SIDES; side++) {
		if (!costs_list(sides, side, &judging->runs[side], &judging->epochs[side]))
			return hp_error_create_no_memory();
		for (size_t i = 0; i < judging->runs[side].count; i++)
			judging->mean_cost[side] +=
				judging->runs[side].costs[i] / (double)judging->runs[side].count;
		for (size_t i = 0; i < sides->at[side].replicates.count; i++)
			judging->exposure[side] += sides->at[side].replicates.at[i].exposure;
		judging->divisor[side] = sides->options->is_relative ? sides->at[side].cost
								     : judging->exposure[side];
		judging->sampled[side] = sides->at[side].cost / judging->exposure[side];
	}
	if (!program->name || !settle_pace(judging))
		return hp_error_create_no_memory();
	error = settle_drift(judging);
	if (error)
		return error;
	if (!settle_prior(judging))
		return hp_error_create_no_memory();
	judging->program = compare_runs(judging->runs, &judging->prior);
	if (sides->options->is_relative)
		show_whole(judging, program);
	else
		show(judging, program);
	if (by_cpu && !sides->options->is_relative &&
	    !sides_note(sides, "the cost of the program is the CPU time of its runs (user and "
			       "system); the costs of its parts come from samples"))
		return hp_error_create_no_memory();
	return NULL;
}
