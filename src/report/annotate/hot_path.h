/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hottest path through a procedure: from its entry to the block with the most cycles, once
 * around that block's loop, and on to the exit. Each stretch follows the edges that are estimated
 * to run most often (the path whose rarest edge is the most frequent).
 */
#ifndef REPORT_ANNOTATE_HOT_PATH_H
#define REPORT_ANNOTATE_HOT_PATH_H

#include <hpcprof/analyze/analysis.h>

struct hot_path {
	bool *blocks; /* by node of the graph */
	bool *edges;
};

/* Allocates in `arena`. Marks nothing when there are no cycles or frequencies. */
struct hp_error *hot_path_find(const struct hp_analysis *analysis, struct hp_arena *arena,
			       struct hot_path *path);

#endif
