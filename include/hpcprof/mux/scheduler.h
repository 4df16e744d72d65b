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
 *	adaptive   ours: the group whose ignorance costs most first, see below
 *
 * No scheduler starves a group: rr and rr-random give every group its turns in each round, roc and
 * adaptive put a group first that has waited HP_MUX_ROC_PATIENCE or HP_MUX_ADAPTIVE_PATIENCE times
 * as many slices as there are turns in a round.
 *
 * roc. Of the last three observations A, B, C of an event, x the time it was counted for so far and
 * y its count so far (Lim 3.1, 3.2):
 *
 *	delta_y = (Cy - Ay) * (Bx - Ax) / (Cx - Ax)	(0 where Cx = Ax)
 *	cost    = |By - Ay - delta_y| / 2 * waited
 *
 * in integers, waited being the time since the group's last slice ended, in µs. The paper's snippet
 * divides first, which leaves nothing of an event rarer than one a tick; we multiply first (128
 * bits). A group costs what its events cost together, times its share. A group with fewer than
 *three observations comes before those that have them. By the formula alone a group that counts
 *evenly (cost 0) would never count again, in spite of the paper's "starvation prevented": hence the
 * patience, and 1 added to the area.
 *
 * adaptive. What a group's next slice is worth grows with its age W (ruler units since the middle
 *of its last slice). An event whose rate has independent noise of density s beside a random walk
 *(or jumps) of q a unit has, per unit of the run, the error variance c(W) = s (W - o) / o + q W^2 /
 *12 when slices of length o stand for W each. Minimising the sum over groups for a fixed number of
 * slices equalises W^2 c'(W) over the groups (Neyman allocation, when there is noise only), so the
 * group with the largest
 *
 *	share^2 * sum over its events (s W^2 / o + q W^3 / 6) / (its count so far)^2
 *
 * is next. s and q come from the differences of successive observations. How far groups differ is
 * believed by as much as there is data for, since uneven spacing costs more than a wrong turn
 *gains; each comparison is jittered so that no program's period can lock in with the rotation. An
 *event that all happened in a few slices is chance, and says nothing. A rotation costs time that
 *nobody counts: a switch has to be worth it.
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

#define HP_MUX_ROC_PATIENCE	 8
#define HP_MUX_ADAPTIVE_PATIENCE 4

struct hp_mux_scheduler_options {
	enum hp_mux_policy policy;
	uint64_t seed;	      /* of what is drawn */
	uint64_t rotation_ns; /* what one rotation takes from the slices, as measured; 0: nothing */
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
