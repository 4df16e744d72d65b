/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The best case of a region of code on a core: how many cycles it takes when nothing goes wrong
 * (data in the first-level cache, branches predicted, code in the micro-op cache), and which
 * instructions these cycles belong to. This is the static part of all stalls; DCPI section 6.1.3,
 * redesigned for out-of-order cores.
 *
 * A pure function of instructions and a machine: no input or output; everything lives in the arena.
 * Cycles are core cycles. Schedules that are kept (struct hp_schedules) only save time.
 *
 *	best case = max(issue, retire, fetch, ports, divider, recurrence)
 *
 * Each bound is a lower limit; cores come close to the largest. Neighbouring code overlaps with a
 * region that is not a loop. Such a region costs the resources that it uses, not the time from its
 * first instruction to its last. The same holds for a loop that ends before it fills the reorder
 * buffer: its next run overlaps with this one, so `recurrence` is given but does not count.
 */
#ifndef HPCPROF_ANALYZE_SCHEDULE_H
#define HPCPROF_ANALYZE_SCHEDULE_H

#include <hpcprof/base/arena.h>
#include <hpcprof/base/error.h>
#include <hpcprof/isa/machine.h>

/* Schedules of earlier regions, for others that are alike. Bounded memory. */
struct hp_schedules;

struct hp_schedules *hp_schedules_create(void); /* NULL when memory is short */
void hp_schedules_destroy(struct hp_schedules *schedules);

struct hp_schedule_options {
	const struct hp_core *machine;
	const struct hp_isa *isa;
	bool is_loop;		   /* its end jumps to its beginning */
	bool is_bound_enough;	   /* divide the best case by width, without stalls */
	double iterations;	   /* iterations per entry of the loop, as far as known; 0: many */
	struct hp_schedules *kept; /* NULL: none are. Its machines outlive it */
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
	HP_STALL_WIDTH,	     /* the issue width is exceeded */
	HP_STALL_DEPENDENCY, /* waits for the result of `producer` */
	HP_STALL_PORT,	     /* waits for one of `units` */
};

#define HP_SCHEDULE_NONE UINT32_MAX

struct hp_schedule_row {
	double cycles;	     /* for which retirement waits for it: M of the paper; often 0 */
	double stall_cycles; /* the part beyond its share of the width */
	uint32_t producer;   /* instruction of the region, or HP_SCHEDULE_NONE */
	uint32_t units;	     /* for HP_STALL_PORT: the units that it could have used */
	uint8_t stall;	     /* enum hp_stall: the cause of most `stall_cycles` */
	bool is_carried;     /* the producer ran in the iteration before */
	bool is_fused;	     /* with the instruction before */
};

struct hp_schedule {
	double cycles; /* the best case, per execution of the region */
	double bounds[HP_BOUND_COUNT];
	uint32_t port_units;	    /* the units that the bound of ports is of */
	uint32_t slots;		    /* slots in issue and retirement */
	uint32_t guesses;	    /* instructions that are not in the tables */
	uint8_t limit;		    /* enum hp_bound: the largest that counts */
	bool is_recurrence_counted; /* the loop fills the reorder buffer */
	struct hp_schedule_row *rows;
	size_t count;
};

/* Instructions in execution order. USAGE for none, or for more than 2^20. */
struct hp_error *hp_schedule_create(const struct hp_insn *insns, size_t count,
				    const struct hp_schedule_options *options,
				    struct hp_arena *arena, const struct hp_schedule **created);

#endif
