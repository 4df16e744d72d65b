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
	double deviation; /* of one side relative to the other */
	double freedom;	  /* degrees of freedom of `deviation` */
	/* the same for a procedure's share of the program, always with DRIFT_SHARES_FREEDOM */
	double shares;
	bool by_reference; /* costs are corrected by the reference: by DRIFT_SLOPE of its change */
	/* logarithm of the reference's cost with the candidate over that with the base; NAN: not
	 * every run has one */
	double moved;
	size_t occasions; /* number of earlier occasions; 0: `deviation` is assumed */
};

/* Requires sides_gather. If `compared` is NULL, no earlier epochs are looked for. */
struct hp_error *drift_learn(const struct sides *sides,
			     const struct hp_compare_epochs compared[HP_SIDES],
			     struct drift *drift);

/* The mean logarithm of the reference's cost during the epoch's runs; NAN: unknown. */
double drift_reference(const struct hp_epoch_meta *meta);

#endif
