/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drift: the difference between whole sides that comes from the machine, where sides did not take
 * turns. What neighbours take from a machine changes from minute to minute or from hour to hour.
 * Runs in a row share it, so the variance between them does not show it.
 *
 * An occasion is a series of runs in a row. The variance between occasions is learned from earlier
 * ones of the same command and builds, if there are two or more; otherwise it is assumed. The
 * reference loop that is timed at each run (see hp_run) explains about half of that variance. Its
 * part is subtracted from costs, unless earlier occasions show that costs do not follow it.
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
