/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine makes whole sides differ by that did not take turns. What its neighbours take from
 * it changes from one minute, or hour, to the next; runs in a row share that, so that they cannot
 * say how much it is.
 *
 * An occasion is runs in a row. How much occasions differ is learned from earlier ones of the same
 * command and builds, where there are two or more, else it is assumed. The reference loop that was
 * timed at each run (see hp_run) says about half of that variance: its part is taken away, unless
 * earlier occasions say that costs do not follow it.
 */
#ifndef COMPARE_DRIFT_H
#define COMPARE_DRIFT_H

#include "sides.h"
#include "tuning.h"

struct drift {
	double deviation;  /* of one side from the other, relative */
	double freedom;	   /* degrees that it is known by */
	double shares;	   /* likewise, of a procedure's share of the program: known by
			      DRIFT_SHARES_FREEDOM whatever was learned */
	bool by_reference; /* what the reference says is to be taken from costs: DRIFT_SLOPE of it */
	double moved; /* the reference's cost beside the candidate, over that beside the base, as
			     a logarithm; NAN: not every run has one */
	size_t occasions; /* earlier ones that it was learned from; 0: it is assumed */
};

/* Needs sides_gather. Without `compared` nothing is looked for. */
struct hp_error *drift_learn(const struct sides *sides,
			     const struct hp_compare_epochs compared[HP_SIDES],
			     struct drift *drift);

/* Mean logarithm of what the reference cost beside the epoch's runs; NAN unknown. */
double drift_reference(const struct hp_epoch_meta *meta);

#endif
