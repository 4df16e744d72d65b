/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stall stacks from samples: the events of `record --stalls`, for the program or for any part of it
 * that samples can be told apart by (procedures, lines, CPUs).
 *
 * The samples of an event estimate its count. Their number is Poisson distributed, with a mean that
 * may be one higher than the number seen; the intervals cover only this sampling error. Samples
 * come late: an event in one procedure or line may be counted for the next one, and intervals do
 * not include that error.
 */
#ifndef HPCPROF_INFER_STALLED_H
#define HPCPROF_INFER_STALLED_H

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/profile/profiles.h>
#include <hpcprof/stack/stack.h>

struct hp_stalled {
	const struct hp_profiles *profiles; /* borrowed */
	const struct hp_stack_table *table; /* of the CPU of all epochs */
	uint32_t *events; /* for each event of the table, its index in the profiles;
			   * HP_MUX_NO_EVENT: not sampled */
};

/* Whether there are samples of stalls, for profiles that were loaded with them. */
bool hp_stalled_exists(const struct hp_profiles *profiles);
/* Whether cycles and instructions were sampled, which suffice for a stack of two levels. */
bool hp_stalled_has_cpi(const struct hp_profiles *profiles);

/* requires: profiles loaded */
struct hp_error *hp_stalled_create(const struct hp_profiles *profiles, struct hp_stalled **created);
void hp_stalled_destroy(struct hp_stalled *stalled);
HP_DEFINE_CLEANUP(struct hp_stalled, hp_stalled_destroy);

/* The stack that `tallies` give: one tally per event of the profiles. */
struct hp_error *hp_stalled_stack(const struct hp_stalled *stalled, const struct hp_tally *tallies,
				  struct hp_stack *stack);

/* For each cause, the upper limit of the cycles that it took, by the stack; INFINITY: not known. */
void hp_stalled_limits(const struct hp_stack *stack, double limits[HP_CAUSE_DYNAMIC_COUNT]);

#endif
