/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between a scheduler and its four kinds: each kind provides one table of functions
 * and keeps its state behind `state`.
 */
#ifndef HPCPROF_SRC_MUX_SCHEDULER_H
#define HPCPROF_SRC_MUX_SCHEDULER_H

#include <hpcprof/base/number.h>
#include <hpcprof/mux/scheduler.h>

struct scheduler_kind {
	const char *name;
	/* False: out of memory; `destroy` is called nevertheless. */
	bool (*create)(struct hp_mux_scheduler *scheduler);
	void (*destroy)(struct hp_mux_scheduler *scheduler);
	uint32_t (*next)(struct hp_mux_scheduler *scheduler);
	/* NULL if it does not use slices. The slice agrees with the plan. */
	void (*observe)(struct hp_mux_scheduler *scheduler, const struct hp_mux_slice *slice);
};

struct hp_mux_scheduler {
	const struct scheduler_kind *kind;
	struct hp_mux_plan plan; /* a copy, with its own groups */
	struct hp_mux_group *groups;
	uint64_t round; /* turns in a round: sum of all shares */
	struct hp_random random;
	uint64_t now_ns; /* end of the last slice */
	void *state;	 /* private to the kind of scheduler */
};

extern const struct scheduler_kind hp_mux_rr, hp_mux_rr_random, hp_mux_roc, hp_mux_adaptive;

#endif
