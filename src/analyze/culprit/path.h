/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was executed before an instruction, across blocks, along the most frequent predecessors. */
#ifndef HPCPROF_ANALYZE_CULPRIT_PATH_H
#define HPCPROF_ANALYZE_CULPRIT_PATH_H

#include "facts.h"
#include "../tuning.h"

/* The instructions executed before one, from the latest to the earliest, along the most frequent
 * way. The first is the instruction itself. */
struct path {
	uint32_t insns[LONGEST_PATH];
	uint32_t count;
	bool meets_call; /* the path ends at a call, because the callee's effects are unknown */
};

struct hp_error *path_prepare(struct facts *facts, struct hp_arena *arena);
void path_find(const struct facts *facts, uint32_t at, uint32_t longest, struct path *path);
/* The position in the path of the last write to register `number` before the instruction at
 * `position`; 0 if there is none. */
uint32_t path_writer(const struct facts *facts, const struct path *path, uint32_t position,
		     unsigned number);
/* Whether the stall seen at the head of the path may be that of the instruction at `position`: no
 * later instruction depends on it, so they may all have retired at once. */
bool path_retires_along(const struct facts *facts, const struct path *path, uint32_t position);
/* The most cycles of a wait of the instruction at `position` that show at the head of the path: all of
 * them if it retires along; if the head is the first to read its result, what passes between the two. */
double path_shows(const struct facts *facts, const struct path *path, uint32_t position);
/* The instruction that most often follows; HP_SCHEDULE_NONE if it is not known. */
uint32_t path_next(const struct facts *facts, uint32_t at);
/* What a long wait holds up retires together, and the sample of the wait is recorded behind any of it. So
 * the few samples of an instruction may belong to one before it that has many: that one, or
 * HP_SCHEDULE_NONE. */
uint32_t path_spread_from(const struct facts *facts, uint32_t at);
/* A factor that lowers the weight of an instruction at this position against the head. */
double path_doubt(uint32_t position);

#endif
