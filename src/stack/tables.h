/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables, by vendor. */
#ifndef STACK_TABLES_H
#define STACK_TABLES_H

#include <hpcprof/base/number.h>
#include <hpcprof/stack/table.h>

/* Of a row: the same formula by more than one accounting. */
#define BY(interval, multi_stage, power5, naive)                                                   \
	{                                                                                          \
		[HP_STACK_INTERVAL] = (interval), [HP_STACK_MULTI_STAGE] = (multi_stage),          \
		[HP_STACK_POWER5] = (power5), [HP_STACK_NAIVE] = (naive),                          \
	}
/*
 * IBM's POWER9 and POWER10 have no table: their formulas do not fit. The public ones (the kernel's
 * pmu-events/arch/powerpc, groups cpi_breakdown and CPI_STALL_RATIO) divide the cycles by what the next
 * instruction to complete waits for (PM_CMPLU_STALL_*, PM_ISSUE_STALL, PM_EXEC_STALL_*), and by why no
 * instruction is in flight (PM_ICT_NOSLOT_*, PM_DISP_STALL_*). That is one attribution, POWER5's. No event
 * counts slots or cycles that dispatch loses while older instructions are in flight, so neither a likely
 * value by intervals nor the other end of a range can be made, and completion is cycles in which something
 * completes, not instructions at the core's width. By this attribution alone a component is off by
 * several times the 5 % of the cycles that tables are held to: the row POWER5 of scripts/stack-accuracy
 * --reference.
 */
/*
 * Terms named `beside`: the front end loses slots on wrong paths, too, which the branch has caused.
 * It is charged for as many as are lost on the path for each slot that is dispatched; but for the share
 * of the cycles that the front end loses anyway, as a branch that comes late is resolved while the code
 * behind it is waited for. Without it mispredicts had 4 to 8 % of the cycles too little on the
 * reference core where paths stray often (unxz); without the last factor, 5 too much where most is lost
 * to code (cc1).
 */

/*
 * Terms named `held`: wrong paths are dispatched for as long as the branch waits for its operands, so what
 * delays these (data that come late, a long chain) has a part in them, and what follows the branch would have
 * waited for it, too. Of the slots of wrong paths half as large a share is the back end's as it has of the
 * cycles. Without it mispredicts had up to 4 % of the cycles too much on the reference core where paths stray
 * and the back end is what limits (gzip, xz), and data as much too little. The half was chosen on the programs
 * that scripts/stack-accuracy looks at. No event tells how much of its stalls the back end makes up for
 * while the pipeline is filled again (bc); that stays the branch's.
 */

/* Of a table. */
#define PARTS(prefix)                                                                              \
	.events = prefix##_events, .event_count = HP_ARRAY_COUNT(prefix##_events),                 \
	.terms = prefix##_terms, .term_count = HP_ARRAY_COUNT(prefix##_terms),                     \
	.rows = prefix##_rows, .row_count = HP_ARRAY_COUNT(prefix##_rows), .sums = prefix##_sums

extern const struct hp_stack_table stack_tables_intel[];
extern const size_t stack_tables_intel_count;
extern const struct hp_stack_table stack_tables_amd[];
extern const size_t stack_tables_amd_count;
extern const struct hp_stack_table stack_tables_arm[];
extern const size_t stack_tables_arm_count;
extern const struct hp_stack_table stack_table_generic;

#endif
