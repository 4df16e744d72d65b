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
