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
	struct hp_tally total; /* each path once, however often the procedure is on it */
	size_t first_edge;     /* of the edges, those of the procedure: heaviest first */
	size_t edge_count;
};

/* One calls the other: paths on which it does so, each once. */
struct call_edge {
	const struct hp_called *caller;
	const struct hp_called *callee;
	struct hp_tally tally;
};

enum call_edges { EDGES_NONE, EDGES_OF_CALLEES, EDGES_OF_CALLERS };

struct call_table {
	HP_VECTOR(struct called_cost) costs; /* greatest total first */
	HP_VECTOR(struct call_edge) edges;   /* by the procedure whose edges they are */
};

/* EDGES_OF_CALLEES: with each procedure who calls it; EDGES_OF_CALLERS: whom it calls.
 * Of that group's paths alone, unless `group` is NULL. */
struct hp_error *call_table_make(const struct report *report, enum call_edges edges,
				 const struct hp_called *group, struct call_table *table);
void call_table_clear(struct call_table *table);

/*
 * The procedure that `wanted` means: as with --annotate NAME, GLOB, PART of the name, 0xADDRESS, or
 * any of these after IMAGE:. Of several the one with the greatest total, and the notices name
 * another. INSUFFICIENT if there is none on any path.
 */
struct hp_error *call_table_find(const struct report *report, const struct call_table *table,
				 const char *wanted, const struct hp_called **found);

#endif
