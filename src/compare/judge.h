/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From matched sides to the comparison: costs, tests of whether they changed, and the verdict. */
#ifndef COMPARE_JUDGE_H
#define COMPARE_JUDGE_H

#include "drift.h"
#include "history.h"
#include "sides.h"
#include "statistics.h"

#include <math.h>

struct tested {
	struct log_ratio absolute; /* of the cost */
	struct log_ratio relative; /* of the share of the program */
};

struct judging {
	struct sides *sides;
	/* NULL: there are no earlier epochs to learn from */
	const struct hp_compare_epochs *compared;
	struct hp_comparison *comparison;
	/* of the whole program, without the common pace; in the arena */
	struct run_costs runs[HP_SIDES];
	double mean_cost[HP_SIDES]; /* mean cost of a run, as recorded */
	size_t *epochs[HP_SIDES];   /* the replicate of each run */
	struct history history;	    /* unset if the sides have enough runs of their own */
	struct run_prior prior;
	struct drift drift;	/* unset if the sides took turns */
	double *pace[HP_SIDES]; /* by replicate: the pace of its runs; in the arena */
	/* by replicate of the base: the candidate's that ran at the same time; NULL: none did; in
	 * the arena */
	const size_t *beside;
	struct log_ratio program;
	double exposure[HP_SIDES]; /* runs, or units of work, in all epochs */
	/* costs of parts are divided by this: the same, or the whole's cost */
	double divisor[HP_SIDES];
	double sampled[HP_SIDES]; /* the program's cost divided by that, by samples */
	struct tested *units;	  /* one per unit; in the arena */
	/* For what is shown, absolute or relative: the dispersion of samples, and the exposure of
	 * each replicate. */
	struct dispersion dispersion;
	/* by replicate: first the base's, then the candidate's; in the arena */
	const double *exposed;
};

/* The time of its recording, in seconds after the first one of the base. */
static inline double judging_time(const struct judging *judging, const struct replicate *replicate)
{
	const struct replicate *first = &judging->sides->at[HP_BASE].replicates.at[0];

	return ((double)replicate->meta->start_ns - (double)first->meta->start_ns) / 1e9;
}

/* By which factor the machine slowed the candidate's runs, according to the reference. Changes are
 * given without it. */
static inline double judging_slowed(const struct judging *judging)
{
	bool is_used = judging->drift.by_reference && !judging->sides->options->is_relative;

	return is_used ? exp(DRIFT_SLOPE * judging->drift.moved) : 1;
}

/* Judges the whole program: sets judging->runs, prior, program and comparison->program. */
struct hp_error *judge_program(struct judging *judging);
/* Judges each image and procedure. Requires judge_program. */
struct hp_error *judge_parts(struct judging *judging);
/* Tests anything else after judge_parts. `counts`: as in a unit. */
struct log_ratio judge_counts(const struct judging *judging, const double *counts,
			      const uint64_t samples[HP_SIDES]);
/* Adds the test's results to an item whose samples and costs are set. p stays NAN if it is too
 * small to be a finding. */
void judge_show(const struct judging *judging, const struct log_ratio *ratio,
		struct hp_compared *shown);
/* Whether a change of this size may be a finding. */
bool judge_is_large(const struct judging *judging, const struct hp_compared *item);
/* Selects and sorts the findings, and decides on the verdict. */
struct hp_error *judge_verdict(struct judging *judging);
/* Finds, for findings that are procedures, which callers changed. */
struct hp_error *judge_callers(const struct judging *judging);
/* Adds the lines of what was tested, and the code of findings. */
struct hp_error *judge_details(const struct judging *judging);

#endif
