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
	/* number of earlier epochs; 0: nothing was learned, and the rest is unset */
	size_t epochs;
	/* of samples over their mean, for all procedures, without what runs differ by */
	double variance;
	double run_deviation;
	double run_freedom;
	/* Of costs, and of shares. */
	struct dispersion dispersion[2];
};

/*
 * Searches the databases of both sides for earlier epochs with the same command or label, and the
 * same event at the same rate. Unreadable epochs are left out, as is one that differs strongly from
 * its replicates. Requires sides_gather.
 */
struct hp_error *history_learn(const struct sides *sides,
			       const struct hp_compare_epochs compared[HP_SIDES],
			       struct history *history);

#endif
