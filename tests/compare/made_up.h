/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that are made up, so that the truth about them is known: many comparisons of them, drawn
 * at random and judged like epochs that were recorded, without any being written.
 */
#ifndef HPCPROF_TESTS_COMPARE_MADE_UP_H
#define HPCPROF_TESTS_COMPARE_MADE_UP_H

#include "../support.h"

#include <hpcprof/compare/comparison.h>

enum { MADE_UP_PROCEDURES = 30, MADE_UP_RUNS = 400 };

/* The first procedure has a fifth of the samples; the others have less and less of the rest. */
struct made_up {
	size_t runs;	      /* of each side */
	double samples;	      /* of one run, on average */
	double dispersion;    /* of samples, beyond what runs differ by: variance over mean */
	double run_deviation; /* relative, of a run's cost */
	double beside;	      /* likewise, of what two runs that follow each other have in common */
	double drift;	      /* of costs from the first run to the last, relative */
	double slower;	      /* the candidate's whole program, relative */
	double first_slower;  /* the candidate's first procedure alone */
	bool in_turns;	      /* A B B A; else one side after the other */
	bool at_once;	      /* the `i`-th runs of both at the same time */
	bool unlike;	      /* procedures have more or less of what two runs have in common */
};

struct judged {
	enum hp_verdict verdict;
	double program_p;
	uint64_t more_runs;
	bool is_first_found;
};

struct judged made_up_judge(const struct made_up *program, struct hp_random *random);

double made_up_uniform(struct hp_random *random); /* in (0, 1) */
double made_up_normal(struct hp_random *random);
/* Counts with that mean, and a variance of `dispersion` (>= 1) times it. */
double made_up_count(struct hp_random *random, double mean, double dispersion);

#endif
