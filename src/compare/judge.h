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
	struct log_ratio absolute; /* what it costs */
	struct log_ratio relative; /* its share of the program */
};

struct judging {
	struct sides *sides;
	const struct hp_compare_epochs *compared; /* NULL: nothing earlier is there to learn from */
	struct hp_comparison *comparison;
	struct run_costs runs[HP_SIDES]; /* of the whole program, without the pace; in the arena */
	double mean_cost[HP_SIDES];	 /* of a run, as they were recorded */
	size_t *epochs[HP_SIDES];	 /* which replicate each run is of */
	struct history history;		 /* nothing where the sides speak for themselves */
	struct run_prior prior;
	struct drift drift;	/* nothing where the sides took turns */
	double *pace[HP_SIDES]; /* [replicate]: of its runs; in the arena */
	const size_t *beside;	/* [base's replicate]: the candidate's that ran at the same time;
				   NULL: none did; in the arena */
	struct log_ratio program;
	double exposure[HP_SIDES]; /* runs, or units of work, of all epochs */
	double divisor[HP_SIDES]; /* costs of parts are for one of: the same, or the whole's cost */
	double sampled[HP_SIDES]; /* cost of the program for one of them, by samples */
	struct tested *units;	  /* one of each unit; in the arena */
	/* Of what is shown, absolute or relative: how samples vary, and what each replicate's count
	 * is in proportion to. */
	struct dispersion dispersion;
	const double *exposed; /* [replicate]: base's, then the candidate's; in the arena */
};

/* When it was recorded, in seconds from the first of the base. */
static inline double judging_time(const struct judging *judging, const struct replicate *replicate)
{
	const struct replicate *first = &judging->sides->at[HP_BASE].replicates.at[0];

	return ((double)replicate->meta->start_ns - (double)first->meta->start_ns) / 1e9;
}

/* How many times as much the candidate's runs cost as they would have beside the base's, as far as
 * the reference says: what changes are given without. */
static inline double judging_slowed(const struct judging *judging)
{
	bool is_used = judging->drift.by_reference && !judging->sides->options->is_relative;

	return is_used ? exp(DRIFT_SLOPE * judging->drift.moved) : 1;
}

/* The whole program: judging->runs, prior, program and comparison->program. */
struct hp_error *judge_program(struct judging *judging);
/* Each image and procedure. Needs the program's. */
struct hp_error *judge_parts(struct judging *judging);
/* The test of anything else, once the parts are judged: `counts` as a unit has them. */
struct log_ratio judge_counts(const struct judging *judging, const double *counts,
			      const uint64_t samples[HP_SIDES]);
/* Of something whose samples and costs on both sides are set, all that its test says; p stays NAN
 * where it is too little to be a finding. */
void judge_show(const struct judging *judging, const struct log_ratio *ratio,
		struct hp_compared *shown);
/* A change of so much can be a finding. */
bool judge_is_large(const struct judging *judging, const struct hp_compared *item);
/* What of that is found, in order, and what follows. */
struct hp_error *judge_verdict(struct judging *judging);
/* Of findings that are procedures, whose calls changed. */
struct hp_error *judge_callers(const struct judging *judging);
/* Lines of what was tested, and the code of findings. */
struct hp_error *judge_details(const struct judging *judging);

#endif
