/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When windows begin: at one random moment in each slot of the target's CPU time (stratified
 * sampling). So windows are spread evenly over the run, are in step with nothing, and may begin at
 * each unit of its time with the same probability.
 *
 * This requires slots that are longer than making a window takes. If each window began as soon as
 * the one before was done, no moment would be random, and a program that repeats itself could fall
 * into step with the windows: each would see the same of its phases.
 */
#ifndef SHADOW_BUDGET_SCHEDULE_H
#define SHADOW_BUDGET_SCHEDULE_H

#include <hpcprof/base/number.h>

#include <stdbool.h>
#include <stdint.h>

/* All times are CPU time of the target, in ns. */
struct schedule {
	struct hp_random random;
	uint64_t start_ns; /* of the slot */
	uint64_t end_ns;
	uint64_t due_ns;
};

void schedule_init(struct schedule *schedule, uint64_t seed);
/* The slot after this one; of those that have passed meanwhile, none but the rest of the last. */
void schedule_next(struct schedule *schedule, uint64_t now_ns, uint64_t slot_ns);
/* Another moment in what is left of the slot, a small part of it from now: programs that are in the
 * kernel most of the time need many. In the next slot when nothing is left. */
void schedule_again(struct schedule *schedule, uint64_t now_ns);
/* Whether the moment has gone by so far that another one is to be drawn. */
bool schedule_is_late(const struct schedule *schedule, uint64_t now_ns);
/* It has gone by while nobody could begin: a moment in the next slot that has not begun. */
void schedule_skip(struct schedule *schedule, uint64_t now_ns);

#endif
