/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which group counts in the next slice.
 *
 *	hp_mux_scheduler_create(plan, &options, &scheduler)
 *	loop: group = hp_mux_scheduler_next(scheduler); count it; hp_mux_scheduler_observe(…,
 *&slice)
 *
 * A scheduler is deterministic: the same seed and the same slices give the same choices. It owns
 * what it needs of the plan, allocates nothing after it was made, and is not thread safe. `next`
 * may be called without `observe` (a slice that failed): the turn has then passed.
 *
 *	rr         declaration order. A group with share n has n turns a round, spread evenly
 *	rr-random  Azimi section 3: the order is drawn anew in each round
 *	roc        Lim section 3: the largest cost first, see below
 *	adaptive   ours: regular turns, closer together the more a group varies, see below
 *
 * No scheduler starves a group: rr and rr-random give every group its turns in each round, roc puts
 * a group first that has waited HP_MUX_ROC_PATIENCE times as many slices as there are turns in a
 * round, and no period of adaptive's is longer than HP_MUX_ADAPTIVE_PATIENCE rounds.
 *
 * roc. Of the last three observations A, B, C of an event, x the time it was counted for so far and
 * y its count so far (Lim 3.1, 3.2):
 *
 *	delta_y = (Cy - Ay) * (Bx - Ax) / (Cx - Ax)	(0 where Cx = Ax)
 *	cost    = |By - Ay - delta_y| / 2 * waited
 *
 * in integers, waited being the time since the group's last slice ended, in µs, and y in periods of
 * the event, of which it has one a ms on the average (Lim's table 1 and equation 8; we take the
 * average so far): or else whatever is most frequent would have all the slices. The paper's snippet
 * divides first, which leaves nothing of an event rarer than one a tick; we multiply first (128
 * bits). A group costs what its events cost together, times its share. A group with fewer than
 * three observations comes before those that have them. By the formula alone a group that counts
 * evenly (cost 0) would never count again, in spite of the paper's "starvation prevented": hence the
 * patience, and 1 added to the area.
 *
 * adaptive. For a fixed number of slices the sum of the events' relative variances is least when
 * groups have slices as the square roots of theirs (Neyman allocation), a group's being the sum
 * over its events, told from the differences of successive rates a reference event unit. What is worth more
 * than that is even spacing: rates remember, so a group that is looked at regularly is known better
 * than one that is looked at as often by chance. So a group has a period (all weights over its own)
 * and is due when it has passed. Weights are drawn towards each other, by more while little is
 * known, and stay within a factor of two of the average: an event wrongly thought calm costs more
 * than one rightly thought wild gains. Periods are jittered by a tenth, so that no program's own can
 * lock in. An event that all happened in a few slices is chance, and says nothing.
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
/* False when there is none of that name. */
bool hp_mux_policy_parse(const char *name, enum hp_mux_policy *policy);

#define HP_MUX_ROC_PATIENCE	 2
#define HP_MUX_ADAPTIVE_PATIENCE 4

struct hp_mux_scheduler_options {
	enum hp_mux_policy policy;
	uint64_t seed; /* of what is drawn */
};

struct hp_mux_scheduler;

/* The plan is copied. Fails as hp_mux_plan_check does, or for want of memory. */
struct hp_error *hp_mux_scheduler_create(const struct hp_mux_plan *plan,
					 const struct hp_mux_scheduler_options *options,
					 struct hp_mux_scheduler **created);
void hp_mux_scheduler_destroy(struct hp_mux_scheduler *scheduler);
HP_DEFINE_CLEANUP(struct hp_mux_scheduler, hp_mux_scheduler_destroy);

uint32_t hp_mux_scheduler_next(struct hp_mux_scheduler *scheduler);
/* What came of a slice. An unsound slice is ignored. */
void hp_mux_scheduler_observe(struct hp_mux_scheduler *scheduler, const struct hp_mux_slice *slice);

#endif
