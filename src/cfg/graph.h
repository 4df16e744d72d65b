/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The passes over a graph; each is in a file of its own. All allocate from `arena` and return false
 * if memory is short. None recurses, because graphs come from files.
 */
#ifndef HPCPROF_CFG_GRAPH_H
#define HPCPROF_CFG_GRAPH_H

#include "code.h"

/* Blocks and edges from discovered code, not indexed. More than MOST_BLOCKS are left out, and the
 * graph then misses edges. */
bool graph_make_blocks(const struct code *code, struct hp_cfg *cfg);

/* Sorts edges, drops duplicates, and makes every node reachable and able to reach exit. */
bool graph_connect(struct hp_cfg *cfg, struct hp_arena *arena);
bool graph_order(struct hp_cfg *cfg, struct hp_arena *arena);
bool graph_dominators(struct hp_cfg *cfg);
bool graph_post_dominators(struct hp_cfg *cfg);
bool graph_loops(struct hp_cfg *cfg, struct hp_arena *arena);
bool graph_equivalence(struct hp_cfg *cfg);

#endif
