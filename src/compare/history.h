/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The variance between runs and samples of one build, for sides of one epoch each, which cannot
 * show it themselves. It is learned from this machine's earlier epochs of the same program. Epochs
 * of the same builds are replicates of each other; differences between builds are not counted.
 */
#ifndef COMPARE_HISTORY_H
#define COMPARE_HISTORY_H

#include "sides.h"
#include "statistics.h"

struct history {
	size_t epochs;	 /* that the rest was learned from; 0: none were, and there is no rest */
	double variance; /* of samples, to their mean: of all procedures, what runs differ by left
			    out */
	double run_deviation;
	double run_freedom;
	/* Of what things cost, and of their shares. */
	struct dispersion dispersion[2];
};

/*
 * Looks through the databases of both sides for epochs before these, of the same command or label,
 * by the same event at the same rate. What cannot be read is left out, as is one epoch that is out
 * of line with its replicates. Needs sides_gather.
 */
struct hp_error *history_learn(const struct sides *sides,
			       const struct hp_compare_epochs compared[HP_SIDES],
			       struct history *history);

#endif
