/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The best case of a region of code on a core: how many cycles it takes when nothing goes wrong
 * (data in the first-level cache, branches predicted, code in the micro-op cache), and which
 * instructions those cycles go to. The static half of every stall; DCPI section 6.1.3, rebuilt for
 * cores that run out of order.
 *
 * A pure function of instructions and a machine: no input or output, no state; everything made
 * lives in the arena. Cycles are core cycles.
 *
 *	best case = max(issue, retire, fetch, ports, divider, recurrence)
 *
 * Each bound alone is a lower limit; cores come close to the largest. Of a region that is no loop,
 * neighbours overlap with it, so it costs what it occupies, not the time from its first instruction
 * to its last. The same is true of a loop that runs out before it fills the reorder buffer: then
 * the next run of the loop overlaps with this one, and `recurrence` is told but does not count.
 */
#ifndef HPCPROF_ANALYZE_SCHEDULE_H
#define HPCPROF_ANALYZE_SCHEDULE_H

#include <hpcprof/base/arena.h>
#include <hpcprof/base/error.h>
#include <hpcprof/isa/machine.h>

struct hp_schedule_options {
	const struct hp_core *machine;
	const struct hp_isa *isa;
	bool is_loop;	      /* its end leads to its beginning */
	bool is_bound_enough; /* rows share the best case by width, without stalls */
	double iterations;    /* of the loop each time it is entered, as far as is known; 0: many */
};

enum hp_bound {
	HP_BOUND_ISSUE,
	HP_BOUND_RETIRE,
	HP_BOUND_FETCH,
	HP_BOUND_PORTS,
	HP_BOUND_DIVIDER,
	HP_BOUND_RECURRENCE,
	HP_BOUND_COUNT,
};

enum hp_stall {
	HP_STALL_NONE,
	HP_STALL_WIDTH,	     /* more to issue than the core is wide */
	HP_STALL_DEPENDENCY, /* waits for what `producer` makes */
	HP_STALL_PORT,	     /* waits for one of `units` */
};

#define HP_SCHEDULE_NONE UINT32_MAX

struct hp_schedule_row {
	double cycles;	     /* that retirement waits for it: M of the paper; often 0 */
	double stall_cycles; /* of those, more than its share of the width */
	uint32_t producer;   /* instruction of the region, or HP_SCHEDULE_NONE */
	uint32_t units;	     /* of HP_STALL_PORT: those that it could have used */
	uint8_t stall;	     /* enum hp_stall: what most of `stall_cycles` is */
	bool is_carried;     /* the producer ran in the iteration before */
	bool is_fused;	     /* with the instruction before */
};

struct hp_schedule {
	double cycles; /* the best case, each time the region runs */
	double bounds[HP_BOUND_COUNT];
	uint32_t port_units;	    /* the units that the bound of ports is of */
	uint32_t slots;		    /* what passes through issue and retirement */
	uint32_t guesses;	    /* instructions that the tables do not know */
	uint8_t limit;		    /* enum hp_bound: the largest that counts */
	bool is_recurrence_counted; /* the loop fills the reorder buffer */
	struct hp_schedule_row *rows;
	size_t count;
};

/* Instructions in the order in which they run. Fails with USAGE for none, or for more than 2^20. */
struct hp_error *hp_schedule_create(const struct hp_insn *insns, size_t count,
				    const struct hp_schedule_options *options,
				    struct hp_arena *arena, const struct hp_schedule **created);

const char *hp_bound_name(enum hp_bound bound);
const char *hp_stall_name(enum hp_stall stall);

#endif
