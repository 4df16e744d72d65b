/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	sides, opened and gathered
 * provides	what the whole program costs, run by run, and how that changed
 *
 * Of time, runs are measured by the CPU time that the kernel counted for them: it has none of the
 * chance that samples have. Of other events it is samples, epoch by epoch.
 */
#include "distribution.h"
#include "judge.h"

#include <math.h>
#include <string.h>

static double cpu_of(const struct hp_run *run)
{
	return (double)run->user_ns + (double)run->system_ns;
}

static bool has_cpu_times(const struct sides *sides)
{
	if (sides->unit != HP_UNIT_NS)
		return false;
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++) {
			const struct hp_epoch_meta *meta = sides->at[side].replicates.at[i].meta;

			for (size_t j = 0; j < meta->run_count; j++)
				if (!(cpu_of(&meta->runs[j]) > 0))
					return false;
			if (!meta->run_count)
				return false;
		}
	return true;
}

static double work_of(const struct replicate *replicate, const struct hp_run *run)
{
	if (!replicate->has_work)
		return 1;
	return replicate->given_work > 0 ? replicate->given_work : run->work;
}

static size_t count_runs(const struct side *side)
{
	size_t count = 0;

	for (size_t i = 0; i < side->replicates.count; i++) {
		size_t runs = side->replicates.at[i].meta->run_count;

		count += runs ? runs : 1;
	}
	return count;
}

static bool list_costs(struct judging *judging, size_t at, bool by_cpu)
{
	const struct side *side = &judging->sides->at[at];
	size_t room = count_runs(side);
	double *costs = hp_arena_array(judging->sides->arena, room, sizeof(*costs));
	size_t count = 0;

	if (!costs)
		return false;
	for (size_t i = 0; i < side->replicates.count; i++) {
		const struct replicate *replicate = &side->replicates.at[i];

		if (!by_cpu)
			costs[count++] = replicate->cost / replicate->exposure;
		for (size_t j = 0; by_cpu && j < replicate->meta->run_count; j++)
			costs[count++] = cpu_of(&replicate->meta->runs[j]) /
					 work_of(replicate, &replicate->meta->runs[j]);
	}
	judging->runs[at] = (struct run_costs){ costs, count };
	for (size_t i = 0; i < count; i++)
		judging->mean_cost[at] += costs[i] / (double)count;
	return true;
}

/* --- how they were recorded ------------------------------------------------------------------ */

struct turn {
	uint64_t start_ns;
	enum hp_side side;
};

static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left;
	const struct turn *b = right;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Whether each two that follow each other are one of each side: A B B A, or A B A B. Then what
 * drifts, drifts for both. */
static bool take_turns(const struct turn *turns, size_t count)
{
	if (count < 4 || count % 2)
		return false;
	for (size_t i = 0; i < count; i += 2)
		if (turns[i].side == turns[i + 1].side)
			return false;
	return true;
}

static bool settle_turns(struct judging *judging)
{
	const struct sides *sides = judging->sides;
	size_t room =
		sides->at[HP_BASE].replicates.count + sides->at[HP_CANDIDATE].replicates.count;
	struct turn *turns = hp_arena_array(sides->arena, room, sizeof(*turns));
	size_t count = 0;

	if (!turns)
		return false;
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++)
			turns[count++] =
				(struct turn){ sides->at[side].replicates.at[i].meta->start_ns,
					       (enum hp_side)side };
	qsort(turns, count, sizeof(*turns), compare_turns);
	judging->comparison->is_interleaved = take_turns(turns, count);
	return true;
}

/* When each run was, as far as is known: all runs of an epoch at once. NULL when memory is short. */
static double *list_times(const struct judging *judging, size_t at)
{
	const struct side *side = &judging->sides->at[at];
	size_t runs = judging->runs[at].count;
	double *times = hp_arena_array(judging->sides->arena, runs, sizeof(*times));
	bool by_run = runs > side->replicates.count;
	size_t count = 0;

	for (size_t i = 0; times && i < side->replicates.count; i++) {
		const struct replicate *replicate = &side->replicates.at[i];

		for (size_t j = 0; j < (by_run ? replicate->meta->run_count : 1); j++)
			times[count++] = judging_time(judging, replicate);
	}
	return times;
}

static bool take_trend(struct judging *judging, size_t at, const double *times)
{
	struct run_costs *runs = &judging->runs[at];
	double *costs = hp_arena_array(judging->sides->arena, runs->count, sizeof(*costs));

	for (size_t i = 0; costs && i < runs->count; i++)
		costs[i] = runs->costs[i] / trend_at(&judging->prior.trend, times[i]);
	runs->costs = costs;
	return costs;
}

/* Where the sides took turns, what drifted evenly is taken from the costs. */
static bool settle_trend(struct judging *judging)
{
	double *times[HP_SIDES];

	judging->prior.trend.inflation = 1;
	if (!judging->comparison->is_interleaved)
		return true;
	for (size_t at = 0; at < HP_SIDES; at++) {
		times[at] = list_times(judging, at);
		if (!times[at])
			return false;
	}
	judging->prior.trend = fit_trend(judging->runs, times);
	return take_trend(judging, HP_BASE, times[HP_BASE]) &&
	       take_trend(judging, HP_CANDIDATE, times[HP_CANDIDATE]);
}

static bool settle_prior(struct judging *judging)
{
	struct sides *sides = judging->sides;
	bool single = judging->runs[HP_BASE].count < 2 && judging->runs[HP_CANDIDATE].count < 2;

	judging->prior.deviation = COMPARE_RUN_DEVIATION;
	judging->prior.freedom = INFINITY;
	judging->prior.drift = judging->comparison->is_interleaved ? 0 : COMPARE_DRIFT;
	if (sides->options->is_relative)
		judging->prior.drift = 0;
	else if (single && !sides_note(sides,
				       "one run a side: that runs alike differ by %.0f %% is "
				       "assumed, not known",
				       COMPARE_RUN_DEVIATION * 100))
		return false;
	return judging->comparison->is_interleaved || sides->options->is_relative ||
	       sides_note(sides,
			  "the sides did not take turns: that the machine drifted by %.1f %% "
			  "between them is allowed for",
			  COMPARE_DRIFT * 100);
}

/* --- what it comes to ------------------------------------------------------------------------ */

static struct hp_measured mean_of(double mean, size_t runs, double deviation)
{
	double count = (double)runs;
	double away =
		student_quantile(0.05, count > 1 ? count - 1 : INFINITY) * deviation / sqrt(count);

	return (struct hp_measured){ mean, mean * exp(-away), mean * exp(away) };
}

static void show(struct judging *judging, struct hp_compared *program)
{
	struct log_ratio *ratio = &judging->program;
	double known = pooled_deviation(judging->runs, &judging->prior.trend);
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
	/* The same interval, from where the mean of the base is. */
	program->lost = (struct hp_measured){ cost[HP_BASE]->value * program->change.value,
					      cost[HP_BASE]->value * program->change.low,
					      cost[HP_BASE]->value * program->change.high };
	program->p = program->q = ratio->p;
	program->smallest_change = runs_smallest(ratio, COMPARE_FALSE_ALARMS / 2);
}

/* Shares of the whole: the whole itself is always the same. */
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
	bool by_cpu = has_cpu_times(sides);

	if (!program)
		return hp_error_create_no_memory();
	program->scope = HP_SCOPE_PROGRAM;
	program->name = name_of(sides);
	judging->comparison->program = program;
	for (size_t side = 0; side < HP_SIDES; side++) {
		if (!list_costs(judging, side, by_cpu))
			return hp_error_create_no_memory();
		for (size_t i = 0; i < sides->at[side].replicates.count; i++)
			judging->exposure[side] += sides->at[side].replicates.at[i].exposure;
		judging->divisor[side] = sides->options->is_relative ? sides->at[side].cost
								     : judging->exposure[side];
		judging->sampled[side] = sides->at[side].cost / judging->exposure[side];
	}
	if (!program->name || !settle_turns(judging) || !settle_trend(judging) ||
	    !settle_prior(judging))
		return hp_error_create_no_memory();
	judging->program = compare_runs(judging->runs, &judging->prior);
	if (sides->options->is_relative)
		show_whole(judging, program);
	else
		show(judging, program);
	if (by_cpu && !sides->options->is_relative &&
	    !sides_note(sides, "the program's cost is the CPU time, user and system, of its runs; "
			       "what parts of it cost is from samples"))
		return hp_error_create_no_memory();
	return NULL;
}
