/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs made from lists of edges, for testing the passes without any code. */
#ifndef HPCPROF_TESTS_CFG_GRAPHS_H
#define HPCPROF_TESTS_CFG_GRAPHS_H

#include "../../src/cfg/graph.h"
#include <hpcprof/base/number.h>

/* Entry to node 0 is there already. `edges` are pairs of nodes; EXIT stands for the exit. */
#define EXIT (UINT32_MAX - 1)
struct hp_cfg *graph_of(struct hp_arena *arena, uint32_t blocks, const uint32_t (*edges)[2],
			size_t count);

/* Anything goes: irreducible, infinite loops, unreachable nodes, self-loops. */
struct hp_cfg *random_graph(struct hp_arena *arena, struct hp_random *random, uint32_t most_blocks);

/* All passes; false when one fails. */
bool run_passes(struct hp_cfg *cfg, struct hp_arena *arena);

/* Which nodes `from` reaches over edges, forward or backward, without ever being at `without`
 * (HP_CFG_NONE for any). */
void reach_without(const struct hp_cfg *cfg, uint32_t from, bool is_backward, uint32_t without,
		   bool *reached);

#endif
