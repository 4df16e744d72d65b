/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the passes over one procedure share. Each pass is a file of its own that opens with what it
 * requires and what it provides; analysis.c calls them in order.
 */
#ifndef HPCPROF_ANALYZE_PASSES_H
#define HPCPROF_ANALYZE_PASSES_H

#include <hpcprof/analyze/analysis.h>

#include <math.h>

/* The prior expectation of a quantity, as a logarithm. */
struct expectation {
	double log;
	double deviation; /* INFINITY: nothing is expected */
};

struct analyzer {
	const struct hp_analysis_input *input;
	const struct hp_analysis_options *options;
	const struct hp_cfg *cfg;
	struct hp_arena *arena;	  /* of the results */
	struct hp_arena *scratch; /* freed after the last pass */
	struct hp_analysis *analysis;
	double samples;	      /* in the procedure's code */
	double sample_cycles; /* that one sample stands for, on average */

	/* gather */
	double *insn_cycles; /* recorded at each of analysis->insns */
	/* skid: of each block, the samples of its own instructions, without its worst stall */
	double *own_samples;
	/* direction: of each edge, its share among the edges of its block */
	struct expectation *directions;
	/* stretch: of each block, how much longer than its best case it takes */
	struct expectation *stretches;
	/* flow: natural logarithms of frequencies, -INFINITY for what never ran; their deviations;
	 * and their deviations relative to the procedure's mean. In the order: blocks, edges, the
	 * procedure's entry. */
	double *log_frequency;
	double *deviation;
	double *relative_deviation;
	double hottest;	    /* log_frequency of the hottest block */
	bool is_last_round; /* earlier rounds only find out where samples came from */
	double *flow_start; /* unknowns of the last estimate, which the next one starts from */
	struct kept_system *kept_system; /* flow_solve.c: of the previous round */
};

static inline size_t frequency_count(const struct hp_cfg *cfg)
{
	return (size_t)cfg->block_count + cfg->edge_count + 1;
}

static inline size_t frequency_of_edge(const struct hp_cfg *cfg, uint32_t edge)
{
	return (size_t)cfg->block_count + edge;
}

struct hp_error *gather(struct analyzer *analyzer);
struct hp_error *find_best_cases(struct analyzer *analyzer);
struct hp_error *find_directions(struct analyzer *analyzer);
struct hp_error *find_stretches(struct analyzer *analyzer);
struct hp_error *move_samples(struct analyzer *analyzer);
struct hp_error *estimate_flow(struct analyzer *analyzer, bool uses_time);
struct hp_error *estimate_dcpi(struct analyzer *analyzer);
void conclude_frequencies(struct analyzer *analyzer);
void sheet_count(struct hp_analysis *analysis);	       /* the samples of the sheet */
void sheet_count_events(struct hp_analysis *analysis); /* requires its prediction */
struct hp_error *predict(struct analyzer *analyzer);
struct hp_error *find_culprits(struct analyzer *analyzer);

#endif
