/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The moment at which a window ends: the thread is stopped once more, and its registers and the
 * memory that they point to are read. These distinguish one iteration of a loop from others where
 * samples, which have only registers and stack, cannot. Time alone chose this moment, so counts up
 * to it belong to the time up to it, whatever code ran. If the thread ends before that, its end is that
 * moment: its copy is there when it makes the call that ends it.
 *
 * Nothing is read from a thread whose rights differ by then from those of its copy: it may run
 * another program (set-user-ID), whose memory must not be compared with the copy's. What was read
 * is excluded from core files.
 */
#ifndef SHADOW_END_STATE_H
#define SHADOW_END_STATE_H

#include "copy/hold.h"
#include "copy/reached.h"
#include "copy/rights.h"
#include "match/sample.h"
#include "match/state_sampler.h"

/* What is read of the thread. */
struct end_memory {
	struct held_state held;
	struct reached reached;
};

struct end_state {
	bool is_known;
	bool follows_wait; /* the thread has waited between the copy and this stop */
	bool has_exited;  /* the thread has ended, so there are no registers */
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;  /* user CPU time since the copy */
	uint64_t stop_ns; /* what the thread lost */
	struct rights rights;
	struct end_memory *memory; /* mapped by the first end_state_take; NULL before. Owned */
};

void end_state_clear(struct end_state *state);

/* Holds the thread for a moment, and ends sampling. HOLD_STOPPED: it runs on, and its state is
 * known, unless its rights are not `rights` any more. HOLD_IN_KERNEL: another moment will do.
 * `areas` are the copy's. */
enum hold_result end_state_take(struct end_state *state, pid_t pid, pid_t tid,
				const struct rights *rights, struct state_sampler *sampler,
				const struct areas *areas);
/* What a held thread can reach from these registers; valid until the next call. NULL: no memory. */
const struct reached *end_state_reach(struct end_state *state, pid_t tid,
				      const struct held_state *held, const struct areas *areas);
/* For a thread that has ended. Ends sampling. */
void end_state_exit(struct end_state *state, struct state_sampler *sampler);
/* As the last sample of a replay; borrows its memory. That of an exit has nothing but its time. */
struct hp_engine_sample end_state_sample(const struct end_state *state);

#endif
