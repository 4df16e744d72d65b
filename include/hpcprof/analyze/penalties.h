/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fits the penalties of a core's table to the measured times of parts of windows.
 *
 * The table of a core (hpcprof/isa/machine.h) says how long its caches, units and mispredicted
 * branches take. For a part of a simulated window two things are known: the time that it took, and
 * the cycles that the model predicts for its code, by cause. A few causes get a factor each. The
 * factors minimise the error of the predicted times of all parts together (on a logarithmic scale)
 * and stay near those of the table, which are 1.
 *
 * The fit is judged by cross-validation: each window is predicted by factors that were fitted to
 * all others, or each part, if there is only one window. If that is no better than the table, the
 * table's penalties are used.
 */
#ifndef HPCPROF_ANALYZE_PENALTIES_H
#define HPCPROF_ANALYZE_PENALTIES_H

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/analyze/cpi_stack.h>

enum hp_penalty {
	HP_PENALTY_BASE,       /* width, operands, units, and all that is not below */
	HP_PENALTY_MISPREDICT, /* mispredicted branches */
	HP_PENALTY_L2,	       /* data from the second level */
	HP_PENALTY_FAR,	       /* data from behind it */
	HP_PENALTY_DTLB,       /* pages of data that the first TLB lacks */
	HP_PENALTY_UNPLACED,   /* what lines of unknown place take more if they are in memory */
	HP_PENALTIES,
};

/* Splits the cycles of a path on the core as it is; UNPLACED comes on top of them. The cost of events
 * is the mean of both orders, as in stacks (hpcprof/analyze/cpi_stack.h). */
void hp_penalties_split(const double lanes[HP_LANES], double cycles[HP_PENALTIES]);

/* A part of a window. */
struct hp_timed_part {
	size_t window; /* its window, by any number */
	size_t fold; /* parts with the same number are left out together; set by hp_penalties_fit */
	bool is_simulated; /* by events of this window; else by those of others in the same code */
	double measured;   /* cycles, > 0 */
	double by_table; /* cycles predicted by the table, with lines where the model guesses them */
	double width;	 /* cycles that the core's width needs for all instructions of the part */
	double left_out; /* out: cycles predicted by factors fitted to other windows */
	double of
		[HP_PENALTIES]; /* cycles of each cause by the table, by the events of this window */
};

/* Errors of predicted cycles, as shares of the measured ones. */
struct hp_penalty_errors {
	double median, ninth; /* the latter: the 90th percentile */
};

struct hp_penalties {
	double factors[HP_PENALTIES];
	/* All factors with one of them at either end of its 90 % interval, and the others as they then
	 * fit best: parts that all have the same mix do not tell causes apart. */
	double ends[HP_PENALTIES][2][HP_PENALTIES];
	size_t parts, windows;
	struct hp_penalty_errors by_table, left_out;
	bool is_judged; /* something could be left out: windows, */
	bool by_parts;	/* or, as there is but one window, its parts */
	bool is_fitted; /* the factors predict what was left out better than the table does */
};

/* Fits to the parts, those of a window next to each other, and judges each window by the others, or each
 * part if there is but one window. `left_out` of the parts is set. The factors are those of the table
 * if there are too few parts: then nothing can be judged, and the errors left out are those of the table. */
struct hp_error *hp_penalties_fit(struct hp_timed_part *parts, size_t count,
				  struct hp_penalties *penalties);

/* Returns the prediction with these penalties, if they are fitted; other fields stay. */
struct hp_prediction hp_penalties_apply(const struct hp_penalties *penalties,
					const struct hp_prediction *prediction);

/* Returns the stack of a procedure, or of a part of it, with these penalties. Its ranges are as wide
 * as the error of windows that were left out of the fit. Those of L2, L3 or memory, and data TLB also
 * hold what they are with the factors at their ends: the fit may know them only together. Not settled
 * (hp_cpi_settle). */
struct hp_cpi_stack hp_penalties_stack(const struct hp_penalties *penalties,
				       const struct hp_analysis *analysis,
				       const struct hp_prediction *part);

const char *hp_penalty_name(enum hp_penalty penalty); /* "mispredict", as in JSON */
const char *hp_penalty_word(enum hp_penalty penalty); /* "mispredicted", for people */

#endif
