/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When windows begin: at one random moment in each slot of the target's CPU time. So they lie
 * evenly over the run, in step with nothing, and each unit of its time is as likely as any other to
 * be where one begins. (Stratified sampling.)
 *
 * That is only so while slots are longer than it takes to make a window. Where each begins as soon as
 * the one before is done, nothing is random any more, and a program that does the same again and again
 * can fall into step with it: every window then sees one of its phases.
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
