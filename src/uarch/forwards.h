/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which loads have the register that a store has written at once, on cores that rename memory. Others wait
 * until addresses have been compared in the store queue.
 *
 * A core knows at rename from which store a load has its bytes in two cases. Either both name the place in
 * the same way, by base, index and displacement, and no register of these has been written in between; the
 * core does so only after a few such pairs since the base was written. The stack pointer is always known,
 * as the front end follows it. Or the core remembers it of the load's last execution on the same path, as
 * long as such loads are few. On Zen 5 these are 20 to 40, which depends on their places in the code; how is
 * not known, so loads beyond 20 wait half of the time. The store must be one of the last 16, or of the last
 * 8 where a register other than the stack pointer names it.
 *
 * Measured by scripts/machine/measure_core on Zen 5. Names: Tyson, Austin, "Improving the accuracy and
 * performance of memory communication through renaming"; remembered loads: Moshovos, Sohi, "Streamlining
 * inter-operation memory communication via data dependence prediction", both MICRO 1997.
 */
#ifndef HPCPROF_SRC_UARCH_FORWARDS_H
#define HPCPROF_SRC_UARCH_FORWARDS_H

#include "sets.h"
#include "tuning.h"

#include <hpcprof/uarch/timing.h>

enum {
	FORWARD_STORES = 256, /* as many as the timing keeps */
	FORWARD_HALVES = 2,   /* of what a load waits that is not renamed */
};

struct uarch_forwards {
	uint32_t versions[HP_REGISTER_COUNT]; /* how often each register was written, … */
	uint8_t pairs[HP_REGISTER_COUNT]; /* … and pairs that it was the base of since, at most */
	uint64_t names[FORWARD_STORES];	  /* by number of the store: its place; 0: not renamed */
	uint64_t newest;		  /* number of the last store */
	uint64_t path;			  /* places of the last taken branches */
	uint32_t last;			  /* place of the last instruction */
	struct uarch_sets remembered;	  /* load, path and how many stores ago: surely, … */
	struct uarch_sets perhaps;	  /* … and twice as many */
	uint32_t span;			  /* of the core: among how many of the last stores */
};

/* False: out of memory. */
bool uarch_forwards_create(struct uarch_forwards *forwards, const struct hp_core *core);
void uarch_forwards_destroy(struct uarch_forwards *forwards);
void uarch_forwards_reset(struct uarch_forwards *forwards);

/* The instruction is executed, after its loads and stores. */
void uarch_forwards_insn(struct uarch_forwards *forwards, const struct hp_timed_insn *insn);
/* It was a taken branch. */
void uarch_forwards_turn(struct uarch_forwards *forwards);
void uarch_forwards_store(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			  uint64_t number);
/* How much of the comparison of addresses the load waits for, in halves, if it has all its bytes from that
 * store: 0 where it has them at rename. */
unsigned uarch_forwards_load(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			     uint64_t number);

#endif
