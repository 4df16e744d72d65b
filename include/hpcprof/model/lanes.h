/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lanes of the timing: the core that the program ran on, and cores that differ from it in one
 * respect each. A path is timed on all of them at once (uarch/timing.h); the cost of a cause is the
 * difference between two lanes. Numbers are part of the database's format: new ones go to the end.
 */
#ifndef HPCPROF_MODEL_LANES_H
#define HPCPROF_MODEL_LANES_H

enum hp_lane {
	HP_LANE_AS_IS, /* the core itself; lines of unknown place are where the models guess */
	/* The core itself, but: */
	HP_LANE_NO_MISPREDICT,	  /* each branch is predicted */
	HP_LANE_NO_ICACHE,	  /* code is in the first level */
	HP_LANE_NO_ITLB,	  /* pages of code are in the TLB */
	HP_LANE_NO_FETCH,	  /* as much code is decoded as can be issued */
	HP_LANE_NO_DCACHE,	  /* data are in the first level */
	HP_LANE_NO_FAR,		  /* data are in the second level at most */
	HP_LANE_NO_DTLB,	  /* pages of data are in the TLB */
	HP_LANE_NO_STORE_BUFFER,  /* stores are done at once */
	HP_LANE_NO_STORE_FORWARD, /* any load can be forwarded */
	HP_LANE_NO_DIVIDER,	  /* divisions take a cycle */
	HP_LANE_NO_MULTIPLIER,	  /* multiplications take a cycle */
	HP_LANE_NO_FP,		  /* operations of floating point take a cycle */
	HP_LANE_NO_SYNC, /* nothing serializes, and fences and atomic operations are plain */
	HP_LANE_NO_PORT, /* each micro-op has a unit of its own */
	HP_LANE_WIDTH,	 /* no event, and nothing waits for an operand: width and units alone */
	/* Both ends of what the models cannot know: */
	HP_LANE_MEMORY, /* lines that may be in the third level or behind it are in memory */
	HP_LANE_THIRD,	/* such lines are in the third level, or in the second if it likely has them */
	/* The opposite: a core without events, and with one kind only: */
	HP_LANE_IDEAL,
	HP_LANE_ONLY_MISPREDICT, /* mispredicted branches only */
	HP_LANE_ONLY_CODE,	 /* caches, TLBs and decoding of code */
	HP_LANE_ONLY_DCACHE,
	HP_LANE_ONLY_DTLB,
	HP_LANE_ONLY_STORE, /* the store buffer and forwarding */
	HP_LANES,
};

#endif
