/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the group that counts in the next slice.
 *
 *	hp_mux_scheduler_create(plan, &options, &scheduler)
 *	loop: group = hp_mux_scheduler_next(scheduler); count it;
 *	      hp_mux_scheduler_observe(scheduler, &slice)
 *
 * A scheduler is deterministic: the same seed and the same slices give the same choices. It owns
 * what it needs of the plan, allocates nothing after its creation, and is not thread safe. `next`
 * may be called without `observe` (a slice that failed): the turn has then passed.
 *
 *	rr         declaration order. A group with share n has n turns per round, spread evenly
 *	rr-random  Azimi section 3: the order is drawn anew in each round
 *	roc        Lim section 3: the largest cost first, see below
 *	adaptive   regular turns, closer together the more a group varies, see below
 *
 * No scheduler starves a group. rr and rr-random give every group its turns in each round. roc
 * chooses a group that has waited HP_MUX_ROC_PATIENCE times as many slices as there are turns in a
 * round. No period of adaptive is longer than HP_MUX_ADAPTIVE_PATIENCE rounds.
 *
 * roc. Of the last three observations A, B, C of an event, with x the time that it was counted for
 * so far and y its count so far (Lim 3.1, 3.2):
 *
 *	delta_y = (Cy - Ay) * (Bx - Ax) / (Cx - Ax)	(0 where Cx = Ax)
 *	cost    = |By - Ay - delta_y| / 2 * waited
 *
 * in integers. `waited` is the time since the end of the group's last slice, in us. y is in periods
 * of the event. A period is chosen so that one passes per ms on average so far (Lim's table 1 and
 * equation 8); otherwise the most frequent event would have all the slices. The paper's code
 * divides first, which gives 0 for an event rarer than one per tick; this code multiplies first
 * (128 bits). The cost of a group is the sum over its events, times its share. A group with fewer
 * than three observations comes before those that have them. With the formula alone a group with a
 * constant rate (cost 0) would never count again, although the paper says "starvation prevented".
 * Hence the patience, and 1 added to the area.
 *
 * adaptive. For a fixed number of slices the sum of the events' relative variances is smallest when
 * the numbers of slices are proportional to the square roots of the groups' variances (Neyman
 * allocation). A group's variance is the sum over its events, estimated from the differences of
 * successive rates per unit of the reference event. Even spacing matters more: rates have memory,
 * so slices at regular distances determine the rate of a group better than as many slices at
 * random. So each group has a period (the sum of all weights divided by its own) and is due when
 * the period has passed.
 *
 * Weights are drawn toward each other, more strongly while little is known, and stay within a
 * factor of two of the average, because treating a varying event as steady costs more than treating
 * it correctly gains. Periods vary randomly by a tenth, so that they do not synchronise with the
 * program. If an event happened in a few slices only, its variance is regarded as chance, and it
 * has no weight.
 */
#ifndef HPCPROF_MUX_SCHEDULER_H
#define HPCPROF_MUX_SCHEDULER_H

#include <hpcprof/mux/plan.h>
#include <hpcprof/base/cleanup.h>

#include <stdbool.h>

enum hp_mux_policy {
	HP_MUX_RR,
	HP_MUX_RR_RANDOM,
	HP_MUX_ROC,
	HP_MUX_ADAPTIVE,
	HP_MUX_POLICY_COUNT,
};
const char *hp_mux_policy_name(enum hp_mux_policy policy); /* "rr", "rr-random", … */
/* Whether it gives turns by the last rates (roc), so that the slices are no fair sample: estimators
 * must know (struct hp_mux_plan). adaptive does so only in the long run. */
bool hp_mux_policy_follows_rates(enum hp_mux_policy policy);
/* Parses a policy's name. False if there is none. */
bool hp_mux_policy_parse(const char *name, enum hp_mux_policy *policy);

#define HP_MUX_ROC_PATIENCE	 2
#define HP_MUX_ADAPTIVE_PATIENCE 4

struct hp_mux_scheduler_options {
	enum hp_mux_policy policy;
	uint64_t seed; /* of the random numbers */
};

struct hp_mux_scheduler;

/* The plan is copied. Fails as hp_mux_plan_check does, or for want of memory. */
struct hp_error *hp_mux_scheduler_create(const struct hp_mux_plan *plan,
					 const struct hp_mux_scheduler_options *options,
					 struct hp_mux_scheduler **created);
void hp_mux_scheduler_destroy(struct hp_mux_scheduler *scheduler);
HP_DEFINE_CLEANUP(struct hp_mux_scheduler, hp_mux_scheduler_destroy);

uint32_t hp_mux_scheduler_next(struct hp_mux_scheduler *scheduler);
/* The result of a slice. An unsound slice is ignored. */
void hp_mux_scheduler_observe(struct hp_mux_scheduler *scheduler, const struct hp_mux_slice *slice);

#endif
