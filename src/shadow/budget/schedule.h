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
	uint64_t start_ns; /* of the current slot */
	uint64_t end_ns;   /* of the current slot */
	uint64_t due_ns;   /* when the window in it is due */
};

void schedule_init(struct schedule *schedule, uint64_t seed);
/* Goes to the next slot, of length `slot_ns`, and draws a moment in it. Slots that have passed
 * completely by `now_ns` are skipped; of a slot that has begun, only the rest is used. */
void schedule_next(struct schedule *schedule, uint64_t now_ns, uint64_t slot_ns);
/* No window may begin before `earliest_ns`: if the moment is earlier, draws another one in the rest of the
 * slot from there. A slot that has no rest is lengthened by a part of its length. */
void schedule_not_before(struct schedule *schedule, uint64_t earliest_ns);
/* Draws another moment in the rest of the slot, within a small part of the slot from now: programs
 * that are in the kernel most of the time need many tries. If the slot is over, goes to the next.
 */
void schedule_again(struct schedule *schedule, uint64_t now_ns);
/* Whether `due_ns` has passed so long ago that another moment must be drawn. */
bool schedule_is_late(const struct schedule *schedule, uint64_t now_ns);
/* The moment has passed, and no window could begin: draws one in the next slot that has not begun.
 */
void schedule_skip(struct schedule *schedule, uint64_t now_ns);

#endif
