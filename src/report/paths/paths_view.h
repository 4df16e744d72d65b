/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the writers of call paths share. */
#ifndef REPORT_PATHS_PATHS_VIEW_H
#define REPORT_PATHS_PATHS_VIEW_H

#include "call_table.h"
#include "call_tree.h"

/* Whether the view is a tree, of one procedure or of all. */
bool paths_view_is_tree(const struct report *report);
/* Makes the tree. */
struct hp_error *paths_view_tree(const struct report *report, bool joins_recursion,
				 struct call_tree *tree);
/* The groups of --by, the heaviest first; without --by, one group whose `called` is NULL. Freed by
 * the caller. */
struct path_group {
	const struct hp_called *called;
	struct hp_tally tally;
};
struct path_groups {
	HP_VECTOR(struct path_group) list;
};
struct hp_error *paths_view_groups(const struct report *report, struct path_groups *groups);
enum call_edges paths_view_edges(const struct report *report);
/* Share of all samples of the event, 0 to 1. */
double paths_view_share(const struct report *report, const struct hp_tally *tally);
/* Whether --percent-limit leaves it out. `percent`: the largest total, in percent, that was left
 * out. */
bool paths_view_is_small(const struct report *report, const struct hp_tally *tally,
			 double default_percent);

#endif
