/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Procedures with their own cost and that of all they call, and who calls whom. */
#ifndef REPORT_PATHS_CALL_TABLE_H
#define REPORT_PATHS_CALL_TABLE_H

#include "../common/state.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/profile/paths.h>

struct called_cost {
	const struct hp_called *procedure;
	struct hp_tally own;
	struct hp_tally total; /* each path counts once, however often the procedure is on it */
	/* index in `edges` of the procedure's first edge; the heaviest comes first */
	size_t first_edge;
	size_t edge_count;
};

/* One procedure calls the other: paths with such a call, each counted once. */
struct call_edge {
	const struct hp_called *caller;
	const struct hp_called *callee;
	struct hp_tally tally;
};

enum call_edges { EDGES_NONE, EDGES_OF_CALLEES, EDGES_OF_CALLERS };

struct call_table {
	HP_VECTOR(struct called_cost) costs; /* sorted by total, the largest first */
	HP_VECTOR(struct call_edge) edges;   /* grouped by procedure */
};

/* EDGES_OF_CALLEES: each procedure with its callers; EDGES_OF_CALLERS: with its callees. `group`:
 * only that group's paths; NULL: all. */
struct hp_error *call_table_make(const struct report *report, enum call_edges edges,
				 const struct hp_called *group, struct call_table *table);
void call_table_clear(struct call_table *table);

/*
 * The procedure that `wanted` means, as for --annotate: NAME, GLOB, PART of a name, 0xADDRESS, or
 * one of these after IMAGE:. Of several, the one with the largest total; the notices name another.
 * INSUFFICIENT if there is none on any path.
 */
struct hp_error *call_table_find(const struct report *report, const struct call_table *table,
				 const char *wanted, const struct hp_called **found);

#endif
