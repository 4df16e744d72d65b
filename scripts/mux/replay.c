/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay [--start] TRACE SLICE_TICKS GROUP_EVENTS SEEDS ROTATION_PERMILLE [POLICY…]
 *
 * Runs a trace in which everything was counted all the time through the schedulers and estimators,
 * as if only GROUP_EVENTS of its events could be counted at once, and compares with the truth. Each
 * seed deals the events into groups, starts the trace somewhere else, and seeds the scheduler.
 *
 * --start: each starts where the program does, and the first slices are as short as hpcprof stat's
 * are (hpcprof/mux/ramp.h), by the target's own time; SLICE_TICKS is their full length. Programs
 * begin with bursts: use ticks of 100 µs.
 *
 * A trace is text: "hpcprof-mux-trace/2 TICK_NS" on a line, then the names of the columns, the
 *first three of them "wall_ns", "enabled_ns" and "reference", then a line for each tick: what it took,
 *and counts. An event whose name begins with a * has a fixed counter: every group counts it.
 *
 *	count POLICY METHOD EVENT SQUARED JUDGED ABOVE BELOW INSUFFICIENT RUNNING WIDTH
 *	kl POLICY EVENT MEDIAN
 *	event EVENT RATE TOTAL
 *
 * SQUARED is the mean over seeds of ((estimate - truth) / truth)^2; JUDGED how many seeds gave an
 * interval, ABOVE and BELOW how many of these the truth was outside of, WIDTH their mean relative
 * half width. MEDIAN is that of Azimi 6.2's distance, best against truth in rounds of as many
 * slices as groups; RATE is events a µs enabled, TOTAL the truth.
 */
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/ramp.h>
#include <hpcprof/mux/scheduler.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLUMNS 130
#define SHORTEST_NS 250000 /* stat's */

enum { WALL, ENABLED, REFERENCE, FIRST_EVENT };
enum { ESTIMATED, ACTUAL, SERIES_COUNT };

struct trace {
	uint64_t tick_ns;
	char *names[MAX_COLUMNS];
	size_t columns;		  /* with the first three */
	HP_VECTOR(uint64_t) sums; /* of each column, up to the end of each tick */
	size_t ticks;
};

struct setting {
	const struct trace *trace;
	size_t slice_ticks, group_events, seed, rotation_permille;
	bool from_start;
	enum hp_mux_policy policy;
};

/* Of one event under one policy and method, over the seeds. */
struct score {
	double squared, running, width;
	unsigned judged, above, below, insufficient, runs;
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
	    sscanf(line, "hpcprof-mux-trace/2 %lu", &trace->tick_ns) != 1 ||
	    !fgets(line, sizeof(line), file))
		fail("no trace");
	for (char *name = strtok_r(line, " \n", &save); name && trace->columns < MAX_COLUMNS;
	     name = strtok_r(NULL, " \n", &save))
		trace->names[trace->columns++] = strdup(name);
	if (trace->columns <= FIRST_EVENT)
		fail("a trace without events");
	while (fgets(line, sizeof(line), file)) {
		const char *at = line;

		for (size_t i = 0; i < trace->columns; i++) {
			uint64_t value;

			if (!hp_scan_u64(&at, &value))
				fail("a line with too few numbers");
			if (trace->ticks > 0)
				value += trace->sums.at[(trace->ticks - 1) * trace->columns + i];
			if (!hp_vector_push(&trace->sums, value))
				fail("no memory");
		}
		trace->ticks++;
	}
	if (trace->ticks == 0)
		fail("a trace without ticks");
	fclose(file);
}

/* Of the ticks before `tick`; the trace repeats for ever. */
static uint64_t sum_before(const struct trace *trace, size_t tick, size_t column)
{
	size_t rounds = tick / trace->ticks, rest = tick % trace->ticks;
	uint64_t sum = 0;

	if (rounds > 0)
		sum += rounds * trace->sums.at[(trace->ticks - 1) * trace->columns + column];
	if (rest > 0)
		sum += trace->sums.at[(rest - 1) * trace->columns + column];
	return sum;
}

static uint64_t sum_of(const struct trace *trace, size_t from, size_t to, size_t column)
{
	return sum_before(trace, to, column) - sum_before(trace, from, column);
}

static uint64_t total_of(const struct trace *trace, size_t column)
{
	return sum_of(trace, 0, trace->ticks, column);
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

	for (size_t i = FIRST_EVENT; i < trace->columns; i++) {
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
	for (size_t i = FIRST_EVENT; i < trace->columns; i++) {
		if (trace->names[i][0] == '*')
			run->column_of[events + run->plan.always_count++] = i;
	}
	if (!run->setting.from_start)
		run->first_tick = hp_random_between(&random, 0, trace->ticks - 1);
}

static void end_round(struct run *run, struct hp_mux_estimator *series, size_t from, size_t to)
{
	uint32_t events = hp_mux_plan_events(&run->plan);
	double *row = run->intervals + SERIES_COUNT * events * run->interval_count++;
	struct hp_mux_estimates *estimates;

	check(hp_mux_estimates_create(series, HP_MUX_BEST, 0, &estimates));
	for (uint32_t i = 0; i < events; i++) {
		row[SERIES_COUNT * i + ESTIMATED] = estimates->events[i].count;
		row[SERIES_COUNT * i + ACTUAL] =
			(double)sum_of(run->setting.trace, from, to, run->column_of[i]);
	}
	hp_mux_estimates_destroy(estimates);
}

/* What is left of it when rotations take their part. Of sums, so that no rounding adds up. */
static uint64_t kept_of(const struct run *run, size_t from, size_t to, size_t column)
{
	const struct trace *trace = run->setting.trace;
	uint64_t kept = 1000 - run->setting.rotation_permille;

	return sum_before(trace, to, column) * kept / 1000 -
	       sum_before(trace, from, column) * kept / 1000;
}

/* What a group counts in the ticks from `from` up to `to`. The rotation comes first, and is counted
 * by nobody. Times are filled in up to where the trace begins elsewhere. */
static struct hp_mux_slice slice_of(const struct run *run, uint32_t group, size_t from, size_t to,
				    uint64_t counts[MAX_COLUMNS])
{
	const struct trace *trace = run->setting.trace;
	uint32_t first = hp_mux_plan_first(&run->plan, group);
	uint32_t always = hp_mux_plan_first(&run->plan, run->plan.group_count);
	uint32_t own = run->groups[group].event_count;
	uint64_t before = sum_before(trace, run->first_tick, WALL);
	struct hp_mux_slice slice = {
		.group = group,
		.end_ns = sum_before(trace, to, WALL) - before,
		.enabled_ns = kept_of(run, from, to, ENABLED),
		.reference = kept_of(run, from, to, REFERENCE),
		.counts = counts,
	};

	slice.begin_ns = slice.end_ns - kept_of(run, from, to, WALL);
	slice.running_ns = slice.enabled_ns;
	for (uint32_t i = 0; i < own + run->plan.always_count; i++) {
		size_t column = run->column_of[i < own ? first + i : always + i - own];

		counts[i] = kept_of(run, from, to, column);
	}
	return slice;
}

static size_t slice_end(const struct run *run, size_t at, size_t stop)
{
	const struct trace *trace = run->setting.trace;
	const struct hp_mux_ramp ramp = {
		.group_count = run->plan.group_count,
		.shortest_ns = SHORTEST_NS,
		.full_ns = run->setting.slice_ticks * trace->tick_ns,
	};
	uint64_t length_ns;
	size_t end = at + run->setting.slice_ticks;

	if (run->setting.from_start) {
		length_ns = hp_mux_ramp_slice_ns(&ramp, sum_before(trace, at, ENABLED));
		end = at + 1;
		while (end < stop && sum_of(trace, at, end, ENABLED) < length_ns)
			end++;
	}
	return end < stop ? end : stop;
}

/* The whole trace, once. */
static void replay(struct run *run)
{
	const struct setting *setting = &run->setting;
	const struct trace *trace = setting->trace;
	const struct hp_mux_scheduler_options options = {
		.policy = setting->policy,
		.seed = setting->seed + 1,
	};
	struct hp_mux_scheduler *scheduler;
	struct hp_mux_estimator *whole, *series;
	size_t at = run->first_tick, stop = at + trace->ticks, slices = 0, round_from = at;
	uint64_t counts[MAX_COLUMNS];

	run->plan.follows_rates = hp_mux_policy_follows_rates(setting->policy);
	check(hp_mux_scheduler_create(&run->plan, &options, &scheduler));
	check(hp_mux_estimator_create(&run->plan, 0, &whole));
	check(hp_mux_estimator_create(&run->plan, 0, &series));
	run->intervals = calloc(trace->ticks + 1, SERIES_COUNT * sizeof(double) * trace->columns);
	while (at < stop) {
		size_t end = slice_end(run, at, stop);
		struct hp_mux_slice slice =
			slice_of(run, hp_mux_scheduler_next(scheduler), at, end, counts);

		check(hp_mux_estimator_add(whole, &slice));
		check(hp_mux_estimator_add(series, &slice));
		hp_mux_scheduler_observe(scheduler, &slice);
		at = end;
		if (++slices % run->plan.group_count == 0) {
			end_round(run, series, round_from, at);
			hp_mux_estimator_cut(series, slice.end_ns);
			round_from = at;
		}
	}
	for (int i = 0; i < HP_MUX_METHOD_COUNT; i++)
		check(hp_mux_estimates_create(whole, (enum hp_mux_method)i, 0, &run->estimates[i]));
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
	score->above += truth > estimate->high + 0.5;
	score->below += truth < estimate->low - 0.5;
}

/* Kullback and Leibler's distance of the estimated distribution over rounds from the true one. A
 * round in which nothing was estimated has half a count, lest the distance be infinite. */
static double distance_of(const struct run *run, uint32_t event)
{
	uint32_t events = hp_mux_plan_events(&run->plan);
	double estimated = 0, actual = 0, distance = 0;

	for (size_t i = 0; i < run->interval_count; i++) {
		const double *row = run->intervals + SERIES_COUNT * (events * i + event);

		estimated += isnan(row[ESTIMATED]) ? 0 : fmax(row[ESTIMATED], 0.5);
		actual += row[ACTUAL];
	}
	for (size_t i = 0; i < run->interval_count; i++) {
		const double *row = run->intervals + SERIES_COUNT * (events * i + event);
		double p = row[ACTUAL] / actual;

		if (p > 0 && !isnan(row[ESTIMATED]))
			distance += p * log(p / (fmax(row[ESTIMATED], 0.5) / estimated));
	}
	return distance;
}

HP_ORDER_VALUES(by_value, double);

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void print_event(const struct setting *setting, size_t column, const struct score *scores,
			double *distances, size_t seeds)
{
	const char *policy = hp_mux_policy_name(setting->policy);
	const char *name = setting->trace->names[column];

	printf("kl %s %s %.5f\n", policy, name, median(distances, seeds));
	for (int m = 0; m < HP_MUX_METHOD_COUNT; m++) {
		const char *method = hp_mux_method_name((enum hp_mux_method)m);
		const struct score *score = &scores[m];
		double runs = score->runs;

		printf("count %s %s %s %.6g %u %u %u %u %.4f %.5g\n", policy, method, name,
		       score->squared / runs, score->judged, score->above, score->below,
		       score->insufficient, score->running / runs,
		       score->judged ? score->width / score->judged : 0);
	}
}

static void one_policy(struct setting setting, size_t seeds)
{
	const struct trace *trace = setting.trace;
	struct score(*scores)[HP_MUX_METHOD_COUNT] = calloc(trace->columns, sizeof(*scores));
	double *distances = calloc(trace->columns * seeds, sizeof(double));

	if (!scores || !distances)
		fail("no memory");
	for (size_t seed = 0; seed < seeds; seed++) {
		struct run run = { .setting = setting };

		run.setting.seed = seed;
		deal(&run);
		replay(&run);
		for (uint32_t i = 0; i < hp_mux_plan_events(&run.plan); i++) {
			size_t column = run.column_of[i];
			double truth = (double)total_of(trace, column);

			if (truth <= 0)
				continue;
			for (int m = 0; m < HP_MUX_METHOD_COUNT; m++)
				judge(&run.estimates[m]->events[i], truth, &scores[column][m]);
			distances[column * seeds + seed] = distance_of(&run, i);
		}
		for (int m = 0; m < HP_MUX_METHOD_COUNT; m++)
			hp_mux_estimates_destroy(run.estimates[m]);
		free(run.intervals);
	}
	for (size_t column = FIRST_EVENT; column < trace->columns; column++) {
		if (trace->names[column][0] != '*' && total_of(trace, column) > 0)
			print_event(&setting, column, scores[column], distances + column * seeds,
				    seeds);
	}
	free(scores);
	free(distances);
}

static void print_truth(const struct trace *trace)
{
	double enabled_us = (double)total_of(trace, ENABLED) / 1000;

	for (size_t column = FIRST_EVENT; column < trace->columns; column++)
		printf("event %s %.6g %lu\n", trace->names[column],
		       (double)total_of(trace, column) / enabled_us, total_of(trace, column));
}

int main(int argc, char **argv)
{
	struct trace trace = { 0 };
	struct setting setting = { .trace = &trace };
	uint64_t seeds, numbers[4];

	if (argc > 1 && strcmp(argv[1], "--start") == 0) {
		setting.from_start = true;
		argv++;
		argc--;
	}
	if (argc < 6)
		fail("usage: replay [--start] TRACE SLICE_TICKS GROUP_EVENTS SEEDS "
		     "ROTATION_PERMILLE"
		     " [POLICY...]");
	for (int i = 0; i < 4; i++) {
		if (!hp_parse_u64(argv[i + 2], &numbers[i]) || (numbers[i] == 0 && i < 3))
			fail("a number is not one");
	}
	read_trace(argv[1], &trace);
	print_truth(&trace);
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
