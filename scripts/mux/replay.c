/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay TRACE SLICE_TICKS GROUP_EVENTS SEEDS ROTATION_PERMILLE [POLICY…]
 *
 * Runs a trace in which everything was counted all the time through the schedulers and estimators,
 * as if only GROUP_EVENTS of its events could be counted at once, and compares with the truth. Each
 * seed deals the events into groups, starts the trace somewhere else, and seeds the scheduler.
 *
 * A trace is text: "hpcprof-mux-trace/1 TICK_NS" on a line, then the names of the columns, the
 *first two of them "enabled_ns" and "ruler", then a line of counts for each tick. An event whose
 *name begins with a * has a fixed counter: every group counts it.
 *
 *	count POLICY METHOD EVENT SQUARED JUDGED COVERED INSUFFICIENT RUNNING WIDTH
 *	kl POLICY EVENT MEDIAN RATE TOTAL
 *
 * SQUARED is the mean over seeds of ((estimate - truth) / truth)^2; JUDGED how many seeds gave an
 * interval, COVERED how many of these hold the truth, WIDTH their mean relative half width. MEDIAN
 *is that of Azimi 6.2's distance, trapezoid against truth in rounds of as many slices as groups;
 *RATE is events a µs enabled, TOTAL the truth.
 */
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/scheduler.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 130

struct trace {
	uint64_t tick_ns;
	char *names[MAX_COLUMNS];
	size_t columns; /* with the first two */
	HP_VECTOR(uint64_t) cells;
	size_t ticks;
};

struct setting {
	const struct trace *trace;
	size_t slice_ticks, group_events, seed, rotation_permille;
	enum hp_mux_policy policy;
};

/* Of one event under one policy and method, over the seeds. */
struct score {
	double squared, running, width;
	unsigned judged, covered, insufficient, runs;
};

static void fail(const char *text)
{
	fprintf(stderr, "replay: %s\n", text);
	exit(1);
}

static void check(struct hp_error *error)
{
	if (error)
		fail(error->message);
}

static void read_trace(const char *path, struct trace *trace)
{
	FILE *file = fopen(path, "re");
	char line[8192], *save = NULL;

	if (!file || !fgets(line, sizeof(line), file) ||
	    sscanf(line, "hpcprof-mux-trace/1 %lu", &trace->tick_ns) != 1 ||
	    !fgets(line, sizeof(line), file))
		fail("no trace");
	for (char *name = strtok_r(line, " \n", &save); name && trace->columns < MAX_COLUMNS;
	     name = strtok_r(NULL, " \n", &save))
		trace->names[trace->columns++] = strdup(name);
	if (trace->columns < 3)
		fail("a trace without events");
	while (fgets(line, sizeof(line), file)) {
		const char *at = line;

		for (size_t i = 0; i < trace->columns; i++) {
			uint64_t value;

			if (!hp_scan_u64(&at, &value) || !hp_vector_push(&trace->cells, value))
				fail("a line with too few numbers");
		}
		trace->ticks++;
	}
	fclose(file);
}

static uint64_t cell(const struct trace *trace, size_t tick, size_t column)
{
	return trace->cells.at[tick % trace->ticks * trace->columns + column];
}

static uint64_t sum_of(const struct trace *trace, size_t from, size_t to, size_t column)
{
	uint64_t sum = 0;

	for (size_t i = from; i < to; i++)
		sum += cell(trace, i, column);
	return sum;
}

struct run {
	struct setting setting;
	struct hp_mux_group groups[MAX_COLUMNS];
	struct hp_mux_plan plan;
	size_t column_of[MAX_COLUMNS]; /* of each event of the plan */
	struct hp_mux_estimates *estimates[HP_MUX_METHOD_COUNT];
	double *intervals; /* of each round and event: estimated, then true */
	size_t interval_count, first_tick;
};

static void deal(struct run *run)
{
	const struct trace *trace = run->setting.trace;
	struct hp_random random = hp_random_seeded(run->setting.seed * 7919 + 17);
	size_t events = 0;

	for (size_t i = 2; i < trace->columns; i++) {
		size_t j = hp_random_between(&random, 0, events);

		if (trace->names[i][0] == '*')
			continue;
		run->column_of[events++] = run->column_of[j];
		run->column_of[j] = i;
	}
	run->plan = (struct hp_mux_plan){ .groups = run->groups };
	for (size_t left = events; left > 0;) {
		size_t take = left < run->setting.group_events ? left : run->setting.group_events;

		run->groups[run->plan.group_count++].event_count = (uint32_t)take;
		left -= take;
	}
	for (size_t i = 2; i < trace->columns; i++) {
		if (trace->names[i][0] == '*')
			run->column_of[events + run->plan.always_count++] = i;
	}
	run->first_tick = hp_random_between(&random, 0, trace->ticks - 1);
}

static void end_round(struct run *run, struct hp_mux_estimator *series, size_t from, size_t to)
{
	uint32_t events = hp_mux_plan_events(&run->plan);
	struct hp_mux_estimates *estimates;
	double *row = run->intervals + 2 * events * run->interval_count++;

	check(hp_mux_estimates_create(series, HP_MUX_TRAPEZOID, 0, &estimates));
	for (uint32_t i = 0; i < events; i++) {
		row[2 * i] = estimates->events[i].count;
		row[2 * i + 1] = (double)sum_of(run->setting.trace, from, to, run->column_of[i]);
	}
	hp_mux_estimates_destroy(estimates);
}

/* The whole trace, once. In each slice the rotation comes first, and is counted by nobody. */
static void replay(struct run *run)
{
	const struct setting *setting = &run->setting;
	const struct trace *trace = setting->trace;
	const struct hp_mux_scheduler_options options = {
		.policy = setting->policy,
		.seed = setting->seed + 1,
		.rotation_ns =
			trace->tick_ns * setting->slice_ticks * setting->rotation_permille / 1000,
	};
	struct hp_mux_scheduler *scheduler;
	struct hp_mux_estimator *whole, *series;
	uint64_t counts[MAX_COLUMNS];
	size_t slices = 0, round_from = 0;

	check(hp_mux_scheduler_create(&run->plan, &options, &scheduler));
	check(hp_mux_estimator_create(&run->plan, 0, &whole));
	check(hp_mux_estimator_create(&run->plan, 0, &series));
	run->intervals = calloc(trace->ticks + 1, 2 * sizeof(double) * (trace->columns));
	for (size_t at = 0; at < trace->ticks;) {
		size_t end = at + setting->slice_ticks < trace->ticks ? at + setting->slice_ticks
								      : trace->ticks;
		size_t from = at + run->first_tick, to = end + run->first_tick;
		struct hp_mux_slice slice = { .group = hp_mux_scheduler_next(scheduler) };
		uint32_t first = hp_mux_plan_first(&run->plan, slice.group);
		uint32_t always = hp_mux_plan_first(&run->plan, run->plan.group_count);
		uint32_t own = run->groups[slice.group].event_count;
		double kept = 1 - (double)setting->rotation_permille / 1000;

		slice.end_ns = end * trace->tick_ns;
		slice.begin_ns =
			slice.end_ns - (uint64_t)(kept * (double)((end - at) * trace->tick_ns));
		slice.enabled_ns = (uint64_t)(kept * (double)sum_of(trace, from, to, 0));
		slice.running_ns = slice.enabled_ns;
		slice.ruler = (uint64_t)(kept * (double)sum_of(trace, from, to, 1));
		slice.counts = counts;
		for (uint32_t i = 0; i < own + run->plan.always_count; i++) {
			size_t column = run->column_of[i < own ? first + i : always + i - own];

			counts[i] =
				(uint64_t)llround(kept * (double)sum_of(trace, from, to, column));
		}
		check(hp_mux_estimator_add(whole, &slice));
		check(hp_mux_estimator_add(series, &slice));
		hp_mux_scheduler_observe(scheduler, &slice);
		at = end;
		if (++slices % run->plan.group_count == 0) {
			end_round(run, series, round_from + run->first_tick, to);
			hp_mux_estimator_cut(series, slice.end_ns);
			round_from = at;
		}
	}
	for (int i = 0; i < HP_MUX_METHOD_COUNT; i++)
		check(hp_mux_estimates_create(whole, (enum hp_mux_method)i,
					      trace->ticks * trace->tick_ns, &run->estimates[i]));
	hp_mux_scheduler_destroy(scheduler);
	hp_mux_estimator_destroy(whole);
	hp_mux_estimator_destroy(series);
}

static void judge(const struct hp_mux_estimate *estimate, double truth, struct score *score)
{
	double count = estimate->verdict == HP_MUX_NOT_COUNTED ? 0 : estimate->count;

	score->runs++;
	score->squared += (count / truth - 1) * (count / truth - 1);
	score->running += estimate->running;
	if (estimate->verdict > HP_MUX_ESTIMATED) {
		score->insufficient++;
		return;
	}
	score->judged++;
	score->width += (estimate->high - estimate->low) / 2 / truth;
	/* Half a count is rounding, of the traces too. */
	if (estimate->low - 0.5 <= truth && truth <= estimate->high + 0.5)
		score->covered++;
}

/* Kullback and Leibler's distance of the estimated distribution over rounds from the true one. A
 * round in which nothing was estimated has half a count, lest the distance be infinite. */
static double distance_of(const struct run *run, uint32_t event)
{
	uint32_t events = hp_mux_plan_events(&run->plan);
	double estimated = 0, actual = 0, distance = 0;

	for (size_t i = 0; i < run->interval_count; i++) {
		const double *pair = run->intervals + 2 * (events * i + event);

		estimated += isnan(pair[0]) ? 0 : fmax(pair[0], 0.5);
		actual += pair[1];
	}
	for (size_t i = 0; i < run->interval_count; i++) {
		const double *pair = run->intervals + 2 * (events * i + event);
		double p = pair[1] / actual;

		if (pair[1] > 0 && !isnan(pair[0]))
			distance += p * log(p / (fmax(pair[0], 0.5) / estimated));
	}
	return distance;
}

static void one_policy(struct setting setting, size_t seeds)
{
	const struct trace *trace = setting.trace;
	static struct score scores[HP_MUX_METHOD_COUNT][MAX_COLUMNS];
	double *distances = calloc(seeds * MAX_COLUMNS, sizeof(double));
	double enabled = (double)sum_of(trace, 0, trace->ticks, 0);

	memset(scores, 0, sizeof(scores));
	for (size_t seed = 0; seed < seeds; seed++) {
		struct run run = { .setting = setting };

		run.setting.seed = seed;
		deal(&run);
		replay(&run);
		for (uint32_t i = 0; i < hp_mux_plan_events(&run.plan); i++) {
			size_t column = run.column_of[i];
			double truth = (double)sum_of(trace, 0, trace->ticks, column);

			for (int m = 0; m < HP_MUX_METHOD_COUNT && truth > 0; m++)
				judge(&run.estimates[m]->events[i], truth, &scores[m][column]);
			distances[column * seeds + seed] = truth > 0 ? distance_of(&run, i) : 0;
		}
		for (int m = 0; m < HP_MUX_METHOD_COUNT; m++)
			hp_mux_estimates_destroy(run.estimates[m]);
		free(run.intervals);
	}
	for (size_t column = 2; column < trace->columns; column++) {
		double truth = (double)sum_of(trace, 0, trace->ticks, column);

		if (trace->names[column][0] == '*')
			continue;
		for (int m = 0; m < HP_MUX_METHOD_COUNT && truth > 0; m++) {
			const struct score *score = &scores[m][column];
			double runs = score->runs;

			printf("count %s %s %s %.6g %u %u %u %.4f %.5g\n",
			       hp_mux_policy_name(setting.policy),
			       hp_mux_method_name((enum hp_mux_method)m), trace->names[column],
			       score->squared / runs, score->judged, score->covered,
			       score->insufficient, score->running / runs,
			       score->judged ? score->width / score->judged : 0);
		}
		if (truth > 0)
			printf("kl %s %s %.5f %.6g %.0f\n", hp_mux_policy_name(setting.policy),
			       trace->names[column], hp_median(distances + column * seeds, seeds),
			       truth / enabled * 1000, truth);
	}
	free(distances);
}

int main(int argc, char **argv)
{
	struct trace trace = { 0 };
	struct setting setting = { .trace = &trace };
	uint64_t seeds, numbers[4];

	if (argc < 6)
		fail("usage: replay TRACE SLICE_TICKS GROUP_EVENTS SEEDS ROTATION_PERMILLE"
		     " [POLICY...]");
	for (int i = 0; i < 4; i++) {
		if (!hp_parse_u64(argv[i + 2], &numbers[i]) || (numbers[i] == 0 && i < 3))
			fail("a number is not one");
	}
	read_trace(argv[1], &trace);
	setting.slice_ticks = numbers[0];
	setting.group_events = numbers[1];
	seeds = numbers[2];
	setting.rotation_permille = numbers[3];
	for (int i = 0; i < HP_MUX_POLICY_COUNT && argc == 6; i++) {
		setting.policy = (enum hp_mux_policy)i;
		one_policy(setting, seeds);
	}
	for (int i = 6; i < argc; i++) {
		if (!hp_mux_policy_parse(argv[i], &setting.policy))
			fail("no such policy");
		one_policy(setting, seeds);
	}
	return 0;
}
