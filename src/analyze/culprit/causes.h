/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The causes: DCPI section 6.3, "guilty until proven innocent".
 *
 * Each cause is a function that looks at one stalled instruction, the first of `path`. It either
 * clears itself, or adds suspects to `found`. It reads no more than its arguments, and knows no
 * other cause.
 *
 * An out-of-order core waits for its oldest unfinished instruction. That is the stalled instruction
 * itself, or one before it that retired in the same cycle. An earlier instruction can be the reason
 * for the wait only if no instruction after it depends on it.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_CAUSES_H
#define HPCPROF_ANALYZE_CULPRIT_CAUSES_H

#include "path.h"
#include "suspects.h"

typedef void cause_function(const struct facts *facts, const struct path *path,
			    struct suspects *found);

/* memory.c */
cause_function suspect_dcache;
cause_function suspect_dtlb;
/* store.c */
cause_function suspect_store_buffer;
cause_function suspect_store_forward;
/* units.c: divider, multiplier, FP latency, dependency */
cause_function suspect_units;
cause_function suspect_sync;
/* mispredict.c */
cause_function suspect_mispredict;
/* fetch.c */
cause_function suspect_icache;
cause_function suspect_itlb;
cause_function suspect_fetch;

/* Each finds out what its causes need to know of all blocks. Requires the facts that stand before
 * its own (facts.h). */
struct hp_error *mispredict_prepare(struct facts *facts, struct hp_arena *arena);
struct hp_error *fetch_prepare(struct facts *facts, struct hp_arena *arena);

#endif
