/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine makes whole sides differ by that did not take turns. What its neighbours take from
 * it changes from one minute, or hour, to the next; runs in a row share that, so that they cannot
 * say how much it is.
 *
 * An occasion is runs in a row. How much occasions differ is learned from earlier ones of the same
 * command and builds, where there are two or more, else it is assumed. The reference loop that was
 * timed at each run (see hp_run) says part of it: that part is taken away where less is left to be
 * explained then.
 */
#ifndef COMPARE_DRIFT_H
#define COMPARE_DRIFT_H

#include "sides.h"

struct drift {
	double deviation;  /* of one side from the other, relative */
	double freedom;	   /* degrees that it is known by */
	double shares;	   /* likewise, of a procedure's share of the program */
	bool by_reference; /* what the reference says is to be taken from costs: DRIFT_SLOPE of it */
	double moved; /* the reference's cost beside the candidate, over that beside the base, as
			     a logarithm; NAN: not every run has one */
	size_t occasions; /* earlier ones that it was learned from; 0: it is assumed */
};

/*
 * Constants that were measured: by `scripts/check-accuracy --only=occasions/installed`, as deviations
 * of one occasion of 5 runs from another, in logarithms, of 7 programs beside 7 kinds of neighbours.
 */

/* What programs' costs move by where the reference's moves by 1, and how much programs differ in
 * that: what uses no memory to speak of hardly moves. */
#define DRIFT_SLOPE	      0.5
#define DRIFT_SLOPE_DEVIATION 0.25

/* Needs sides_gather. Without `compared` nothing is looked for. */
struct hp_error *drift_learn(const struct sides *sides,
			     const struct hp_compare_epochs compared[HP_SIDES],
			     struct drift *drift);

/* Mean logarithm of what the reference cost beside the epoch's runs; NAN unknown. */
double drift_reference(const struct hp_epoch_meta *meta);

#endif
