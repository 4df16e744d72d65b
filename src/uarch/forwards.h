/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which loads have the register that a store has written at once, on cores that rename memory. Others wait
 * until addresses have been compared in the store queue.
 *
 * Golden Cove predicts from which store a load has its bytes, wherever that is in its queue and however both
 * name the place. It renames loads to general registers of 1, 4 and 8 bytes, if their address has no index and
 * they do not extend the sign. Not modelled: in loops of little else than such a pair, it often does not.
 *
 * Zen 5 knows at rename from which store a load has its bytes in two cases. Either both name the place in
 * the same way, by base, index and displacement, and no register of these has been written in between; it
 * does so only after a few such pairs since the base was written. The stack pointer is always known,
 * as the front end follows it. Or it remembers the load and the store, both by their places in the code,
 * as a pair that has met before. It remembers 20 pairs, the last ones, in each of two sets. The set is
 * told by the two low bits of the load's address, and by the page of physical memory, which is not known:
 * pages are spread over the sets at random. Loads from any store that has not left the queue are remembered,
 * too, though the store must be one of the last 16, or of the last 8 where a register other than the stack
 * pointer names it; loads that the stack pointer names are not. Not modelled: of pairs of several stores and
 * several loads in any order, some wait though there is room for them.
 *
 * Measured by scripts/machine/measure_core on both. Names, and places in the code: Tyson, Austin, "Improving
 * the accuracy and performance of memory communication through renaming"; pairs: Moshovos, Sohi, "Streamlining
 * inter-operation memory communication via data dependence prediction", both MICRO 1997.
 */
#ifndef HPCPROF_SRC_UARCH_FORWARDS_H
#define HPCPROF_SRC_UARCH_FORWARDS_H

#include "sets.h"
#include "tuning.h"

#include <hpcprof/uarch/timing.h>

enum {
	FORWARD_STORES = 256, /* as many as the timing keeps */
	FORWARD_SETS = 2,     /* by the load's place */
};

struct uarch_forwards {
	uint32_t versions[HP_REGISTER_COUNT]; /* how often each register was written, … */
	uint8_t pairs[HP_REGISTER_COUNT]; /* … and pairs that it was the base of since, at most */
	uint64_t names[FORWARD_STORES];	 /* by number of the store: what it names; 0: not renamed */
	uint32_t places[FORWARD_STORES]; /* the same: its place in the code */
	uint64_t newest;		 /* number of the last store */
	struct uarch_sets remembered;	 /* pairs of a load and a store */
	bool knows_all;			 /* of the core: it knows the store of any load */
	uint32_t span;			 /* the same: otherwise of one of so many last stores */
};

/* False: out of memory. */
bool uarch_forwards_create(struct uarch_forwards *forwards, const struct hp_core *core);
void uarch_forwards_destroy(struct uarch_forwards *forwards);
void uarch_forwards_reset(struct uarch_forwards *forwards);

/* The instruction is executed, after its loads and stores. */
void uarch_forwards_insn(struct uarch_forwards *forwards, const struct hp_timed_insn *insn);
void uarch_forwards_store(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			  uint64_t number);
/* Whether the load has its bytes at rename, if it has all of them from that store. */
bool uarch_forwards_load(struct uarch_forwards *forwards, const struct hp_timed_insn *insn,
			 uint64_t number);

#endif
