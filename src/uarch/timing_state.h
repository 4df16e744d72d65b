/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the timing, in all lanes at once: timing_core.c creates it, timing.c goes through
 * the path. */
#ifndef HPCPROF_SRC_UARCH_TIMING_STATE_H
#define HPCPROF_SRC_UARCH_TIMING_STATE_H

#include "forwards.h"

#include <hpcprof/isa/duty.h>
#include <hpcprof/uarch/timing.h>

#define TICKS ((int32_t)HP_TIMING_TICKS)

enum {
	REGISTERS = HP_REGISTER_COUNT + HP_TIMED_FLAGS,
	/* Powers of two, at least as large as any core's queue. */
	SLOTS = 1024,
	STORES = FORWARD_STORES,
	MISSES = 256,
	WALKS = 16,
	AHEAD = 64,
	LINES = 16,
	FILLS = 256,
};

/* Properties of a lane. */
enum part {
	MISPREDICT,
	ICACHE,
	ITLB,
	FETCH,
	DCACHE,
	FAR_DATA,
	DTLB,
	STORE_BUFFER,
	STORE_FORWARD,
	DIVIDER,
	MULTIPLIER,
	FP,
	SYNC,
	PORT,
	DEPENDENCY,
	/* For accesses of unknown place, whether it assumes: */
	MEMORY, /* memory, not the third level */
	NEAR,	/* the other way round */
	PARTS,
};

/* Where a line is that the first level lacks, … */
enum level { SECOND, LIKELY_SECOND, THIRD, LIKELY_THIRD, LIKELY_MEMORY, IN_MEMORY, LEVELS };
/* … and how it was requested. */
enum coming { COMES_ASKED, COMES_LATE, COMES_IN_TIME, COMINGS };

struct fill {
	uint64_t line;
	uint64_t when; /* in instructions */
};

struct hp_timing {
	/* The state. Times when … */
	struct hp_lanes foreseen;	      /* … the newest line of code was requested, */
	struct hp_lanes fetched;	      /* the newest instruction was fetched, */
	struct hp_lanes turned;		      /* the last taken branch was fetched, */
	struct hp_lanes dispatched;	      /* the newest instruction was dispatched, */
	struct hp_lanes done;		      /* is done, */
	struct hp_lanes retired;	      /* and retires; */
	struct hp_lanes fenced;		      /* loads may begin again after a fence; */
	struct hp_lanes drained;	      /* the newest store left the store buffer. */
	struct hp_lanes registers[REGISTERS]; /* the value is available */
	struct hp_lanes units[HP_CORE_UNITS]; /* the unit has finished its work */
	struct hp_lanes slots[SLOTS];	      /* by number of the slot: when it is free again */
	/* by number of the instruction: when it was dispatched */
	struct hp_lanes ahead[AHEAD];
	struct hp_lanes lines[LINES]; /* by number of the line: when its code arrived */
	/* by number of the store: when its data are available, */
	struct hp_lanes stored[STORES];
	struct hp_lanes drains[STORES]; /* and when it has left */
	/* by number of the miss: when its buffer is free again */
	struct hp_lanes misses[MISSES];
	/* by number of the walk: when its walker is free again */
	struct hp_lanes walks[WALKS];
	struct hp_lanes filled[FILLS]; /* by line: when it has arrived */
	struct fill fills[FILLS];
	uint64_t instruction, slot, line, store, miss, walk;
	/* By register: number of the chained operation whose result it is, and one more; 0: of none. */
	uint64_t chains[REGISTERS];
	unsigned strayed; /* cycles of fetch beside the path after the last mispredicted branch */
	/* slots fetched in the cycle that began at `turned`, for lanes that request late */
	unsigned in_cycle;
	bool is_call;	  /* the last instruction was a call or a return, … */
	bool is_indirect; /* … or an indirect jump */
	bool is_decoded;  /* code comes from the cache of decoded instructions */

	/* Of the core. */
	const struct hp_core *core;
	uint32_t reorder_slots, store_entries, miss_buffers, walkers;
	bool has_third;		    /* events tell whether the third level has a line */
	struct hp_lanes has[PARTS]; /* all bits set in lanes with that property */
	struct hp_lanes issue, retire;
	struct hp_lanes fetch[2]; /* time per slot: for decoded code, and for other code */
	int32_t drain;		  /* time per store that leaves the store buffer */
	struct hp_lanes loads[LEVELS][COMINGS];
	struct hp_lanes stores[LEVELS];

	struct uarch_forwards forwards; /* a state, too */
};

#endif
