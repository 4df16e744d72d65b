/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the timing, in all lanes at once: timing_core.c creates it, timing.c goes through
 * the path. */
#ifndef HPCPROF_SRC_UARCH_TIMING_STATE_H
#define HPCPROF_SRC_UARCH_TIMING_STATE_H

#include <hpcprof/isa/duty.h>
#include <hpcprof/uarch/timing.h>

#define TICKS ((int32_t)HP_TIMING_TICKS)

enum {
	REGISTERS = HP_REGISTER_COUNT + HP_TIMED_FLAGS,
	/* Powers of two, at least as large as any core's queue. */
	SLOTS = 1024,
	STORES = 256,
	MISSES = 256,
	WALKS = 16,
	AHEAD = 64,
	LINES = 16,
	FILLS = 256,
};

/* What a lane has. */
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
	/* Where it is not known which: */
	MEMORY, /* memory, not the third level */
	NEAR,	/* the other way round */
	PARTS,
};

/* Where a line is that the first level does not have, … */
enum level { SECOND, THIRD, LIKELY_THIRD, LIKELY_MEMORY, IN_MEMORY, LEVELS };
/* … and who has asked for it. */
enum coming { COMES_ASKED, COMES_LATE, COMES_IN_TIME, COMINGS };

struct fill {
	uint64_t line;
	uint64_t when; /* instructions */
};

struct hp_timing {
	/* State. Times are when … */
	struct hp_lanes foreseen;	      /* … the newest line of code was asked for, */
	struct hp_lanes fetched;	      /* the newest instruction has come, */
	struct hp_lanes turned;		      /* the last taken branch has, */
	struct hp_lanes dispatched;	      /* the newest instruction was dispatched, */
	struct hp_lanes done;		      /* is done */
	struct hp_lanes retired;	      /* and retires; */
	struct hp_lanes fenced;		      /* loads may begin again; */
	struct hp_lanes drained;	      /* the newest store has left the store buffer. */
	struct hp_lanes registers[REGISTERS]; /* a value is there */
	struct hp_lanes units[HP_CORE_UNITS]; /* a unit has done what it was given */
	struct hp_lanes slots[SLOTS];	      /* by number of the slot: it is free again */
	struct hp_lanes ahead[AHEAD];	      /* by number of the instruction: it was dispatched */
	struct hp_lanes lines[LINES];	      /* by number of the line: its code has come */
	struct hp_lanes stored[STORES];	      /* by number of the store: its data are there, */
	struct hp_lanes drains[STORES];	      /* it has left */
	struct hp_lanes misses[MISSES];	      /* by number of the miss: its buffer is free again */
	struct hp_lanes walks[WALKS];	      /* by number of the walk: its walker is, too */
	struct hp_lanes filled[FILLS];	      /* by line: it is there */
	struct fill fills[FILLS];
	uint64_t instruction, slot, line, store, miss, walk;
	unsigned strayed; /* cycles of code beside the path behind the last mispredicted branch */
	unsigned in_cycle; /* slots fetched in the cycle that began at `turned`, if it asks late */
	bool is_decoded; /* code comes from the cache of decoded instructions */

	/* Of the core. */
	const struct hp_core *core;
	uint32_t reorder_slots, store_entries, miss_buffers, walkers;
	bool has_third;		    /* events tell whether it has a line */
	struct hp_lanes has[PARTS]; /* all bits where a lane has the part */
	struct hp_lanes issue, retire;
	struct hp_lanes fetch[2]; /* of a slot: decoded before; not */
	struct hp_lanes loads[LEVELS][COMINGS];
	struct hp_lanes stores[LEVELS];
};

#endif
