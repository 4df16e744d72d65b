/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * one_pass TRACE...
 *
 * How fast a path is timed in one pass on all cores of hpcprof/model/lanes.h at once, as windows
 * are: of traces (hpcprof record --trace, scripts/trace-make), millions of instructions in a second
 * of CPU time, the best of three rounds. Models of caches, TLBs and predictors follow the path; all
 * this is part of it. Target: 5, with 18 cores or more. Exit status 1 if it is missed.
 */
#include "../../src/cycle/one_pass.h"

#include <hpcprof/base/file.h>
#include <hpcprof/model/lanes.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 3, MOST = 4000000, WARMING = 100000 };
static const double target = 5; /* million instructions in a second */

static void check(struct hp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "one_pass: %s\n", error->message);
	exit(2);
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Million instructions in a second. */
static double speed_of(const struct hp_trace *trace, const struct hp_cycle_config *config)
{
	struct cycle_code code;
	struct core_run run = {
		.trace = trace, .code = &code, .config = config, .warming = WARMING, .most = MOST
	};
	double most = trace->instructions < MOST ? (double)trace->instructions : MOST, best = 0;

	check(cycle_code_create(trace, config, &code));
	for (int i = 0; i < ROUNDS; i++) {
		double cpi, begin = cpu_s(), speed;

		check(one_pass_run(&run, &cpi));
		speed = most / 1e6 / (cpu_s() - begin);
		best = speed > best ? speed : best;
	}
	cycle_code_clear(&code);
	return best;
}

int main(int count, char **paths)
{
	struct hp_cycle_config config;
	double least = 0;

	check(hp_cycle_config_named("skylake-sp", &config));
	for (int i = 1; i < count; i++) {
		struct hp_trace *trace;
		uint8_t *bytes;
		size_t size;
		double speed;

		check(hp_file_read_at(AT_FDCWD, paths[i], SIZE_MAX, &bytes, &size));
		check(hp_trace_open(bytes, size, &trace));
		speed = speed_of(trace, &config);
		printf("%-40s %6.1f\n", paths[i], speed);
		least = i == 1 || speed < least ? speed : least;
		hp_trace_close(trace);
		free(bytes);
	}
	printf("%-40s %6.1f  >= %.0f  %s\n", "least, million instructions per second", least,
	       target, least >= target ? "met" : "MISSED");
	printf("cores at once: %d\n", HP_LANES);
	return least >= target ? 0 : 1;
}
