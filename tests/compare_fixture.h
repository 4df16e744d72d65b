/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Epochs of programs whose costs are known, to be compared. */
#ifndef HPCPROF_TESTS_COMPARE_FIXTURE_H
#define HPCPROF_TESTS_COMPARE_FIXTURE_H

#include "support.h"

#include <hpcprof/compare/compare.h>

enum { MOST_PROCEDURES = 8, MOST_FRAMES = 6 };

/* Samples whose path goes over these procedures, innermost first. */
struct recorded_path {
	uint64_t samples;
	const char *frames[MOST_FRAMES]; /* in `names`; "?" for callers that are not known */
};

/* One epoch of one run. What is 0 or NULL is as in every other epoch. */
struct recorded {
	const char *label; /* none */
	const char *event; /* "cpu-clock:u" */
	enum hp_unit unit; /* of other events */
	const char *cpu_model;
	uint8_t build;	  /* code made at run time; else a program's file that is gone */
	const char *path; /* of that: "/nowhere/program" */
	uint64_t start_ns;
	uint64_t cpu_ns;       /* samples times period */
	uint64_t reference_ns; /* before and after; 0 none */
	double work;
	bool is_whole_system; /* of no command's run */
	bool is_interrupted;
	uint64_t period; /* 1000000 */
	double clock_hz;
	const char *names[MOST_PROCEDURES];
	uint64_t samples[MOST_PROCEDURES];
	uint64_t kernel_samples;
	struct recorded_path paths[8]; /* none */
};

/* The epoch's stamp. Stamps and comparisons are released when the test ends. */
char *compare_record(struct hp_db *db, const struct recorded *recorded);

/* Both sides of a comparison. */
struct compare_sides {
	struct hp_db *db;
	char *stamps[HP_SIDES][16];
	size_t counts[HP_SIDES];
	struct hp_compare_options options;
	uint64_t next_start_ns;
};
void compare_add(struct compare_sides *sides, enum hp_side side, const struct recorded *recorded);
struct hp_error *compare_try(const struct compare_sides *sides, struct hp_comparison **comparison);
/* The comparison, destroyed when the test ends. */
struct hp_comparison *comparison_kept(struct hp_comparison *comparison);
/* The comparison, which must not fail. */
struct hp_comparison *compare_all(const struct compare_sides *sides);

/* What the comparison says of a procedure; fails when it has none of that name. */
const struct hp_compared *compare_find(const struct hp_comparison *comparison, const char *name);

#endif
