/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of the schedule: a region, its costs, and its dependences. */
#ifndef HPCPROF_ANALYZE_REGION_H
#define HPCPROF_ANALYZE_REGION_H

#include <hpcprof/analyze/schedule.h>

/* The consumer can start `cycles` after the producer did; earlier than it if negative. */
struct dependence {
	uint32_t producer;
	uint32_t distance; /* iterations back: 0 or 1 */
	int32_t cycles;
};

struct region {
	const struct hp_insn *insns;
	const struct hp_schedule_options *options;
	struct hp_cost *costs;
	struct dependence *dependences; /* all of them, sorted by consumer */
	uint32_t *first;		/* index of each consumer's first one; count + 1 elements */
	uint32_t count;
	uint32_t slots;
};

/* Fills `dependences` and `first`. Requires `costs`. */
struct hp_error *region_connect(struct region *region, struct hp_arena *arena);

/* Cycles per iteration that dependences on earlier iterations require. */
struct hp_error *region_recurrence(const struct region *region, struct hp_arena *arena,
				   double *cycles);

/* The shortest assignment of micro-ops to units; only those of units within `among` count. */
struct hp_error *region_ports(const struct region *region, uint32_t among, struct hp_arena *arena,
			      double *cycles, uint32_t *units);

/* Simulates the region until it is steady, and fills `schedule->rows`, scaled to
 * `schedule->cycles`. */
struct hp_error *region_simulate(const struct region *region, bool is_carried,
				 struct hp_arena *arena, struct hp_schedule *schedule);

#endif
