/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One shadow window: how often each block and each edge of a thread's code was executed between two
 * known moments.
 *
 * Addresses are run-time addresses of the process `pid` at `time_ns`. A block is code that was
 * executed without a branch in or out, from where control entered. Two blocks may overlap, and a
 * basic block of a procedure may be several of these blocks. The counts of all blocks that contain
 * an instruction add up.
 *
 * A window is divided into a few parts of about the same length, at known moments. A program may do
 * different things within one window, and the parts distinguish them.
 */
#ifndef HPCPROF_MODEL_WINDOW_H
#define HPCPROF_MODEL_WINDOW_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/model/address.h>
#include <hpcprof/model/lanes.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HP_WINDOW_PARTS = 4 };

/*
 * User CPU time between two samples that are matched in the copy, about 3 ms. A sample takes up to
 * 13 us of the target's time (on a VM), and each state that is compared takes some of the copy's
 * time.
 */
enum { HP_WINDOW_SAMPLE_NS = 2999999 };

struct hp_window_block {
	hp_runtime_address address;
	uint32_t size_bytes;		  /* up to the end of its last instruction */
	uint32_t instructions;		  /* in it */
	uint64_t counts[HP_WINDOW_PARTS]; /* how often it was entered, by part */
};

enum hp_window_edge_kind {
	HP_WINDOW_EDGE_FALL, /* on to the next instruction: branch not taken, or no branch at all */
	HP_WINDOW_EDGE_TAKEN, /* conditional branch (loop and jrcxz too) */
	HP_WINDOW_EDGE_JUMP,
	HP_WINDOW_EDGE_JUMP_INDIRECT,
	HP_WINDOW_EDGE_CALL,
	HP_WINDOW_EDGE_CALL_INDIRECT,
	HP_WINDOW_EDGE_RETURN,
	HP_WINDOW_EDGE_SYSTEM_CALL, /* on behind it */
	HP_WINDOW_EDGE_KINDS,
};

struct hp_window_edge {
	hp_runtime_address from; /* the block's last instruction */
	hp_runtime_address to;
	uint8_t kind; /* enum hp_window_edge_kind */
	uint64_t counts[HP_WINDOW_PARTS];
};

/* Of all parts. */
static inline uint64_t hp_window_count(const uint64_t counts[HP_WINDOW_PARTS])
{
	uint64_t sum = 0;

	for (size_t i = 0; i < HP_WINDOW_PARTS; i++)
		sum += counts[i];
	return sum;
}

/*
 * What happened to an instruction on the way that the window's first part took, by models of
 * caches, TLBs, a predictor and a store queue (uarch/path.h). Models begin cold: what they cannot
 * know yet is counted as unknown, never as a hit.
 */
enum hp_event_kind {
	HP_EVENT_L1_MISS, /* of data: loads and stores */
	HP_EVENT_L1_UNKNOWN,
	HP_EVENT_L2_MISS,
	HP_EVENT_L2_UNKNOWN,
	HP_EVENT_DTLB_MISS, /* of the first level */
	HP_EVENT_DTLB_UNKNOWN,
	HP_EVENT_TLB2_MISS, /* a page walk */
	HP_EVENT_TLB2_UNKNOWN,
	HP_EVENT_PREFETCHED, /* missed, but a prefetcher had asked for the line before */
	HP_EVENT_PREFETCHED_LATE,
	HP_EVENT_FORWARDED_YOUNG, /* a load that waits for the store before it */
	HP_EVENT_FORWARD_FAILED,  /* a load of bytes that not one store in the queue has */
	HP_EVENT_ALIAS_4K,
	HP_EVENT_LINE_SPLIT,
	HP_EVENT_PAGE_SPLIT,
	HP_EVENT_L1I_MISS, /* of the line of code that begins with this instruction */
	HP_EVENT_L1I_UNKNOWN,
	HP_EVENT_L2I_MISS,
	HP_EVENT_L2I_UNKNOWN,
	HP_EVENT_ITLB_MISS,
	HP_EVENT_ITLB_UNKNOWN,
	HP_EVENT_TLB2I_MISS,
	HP_EVENT_TLB2I_UNKNOWN,
	HP_EVENT_DECODED_MISS,
	HP_EVENT_MISPREDICTED,
	HP_EVENT_BRANCH_UNKNOWN, /* mispredicted, by a predictor that hardly knows it */
	HP_EVENT_STRIDED,	 /* as far from the access before as that from the one before it */
	HP_EVENT_WALK_MISS,	 /* a page walk whose entry was not in the second cache */
	HP_EVENT_WALK_UNKNOWN,
	HP_EVENT_STRIDE,	 /* as far from the access before as `value` says, which most are */
	HP_EVENT_ADDRESS_LOADED, /* its address was made of a value that was loaded, … */
	HP_EVENT_CHASED,	 /* … at an address that was itself made of such a value */
	HP_EVENT_LINES, /* distinct lines and pages that its accesses met in a window, … */
	HP_EVENT_PAGES,
	HP_EVENT_MET,		 /* … and windows that they were counted in */
	/* Of HP_EVENT_L2_UNKNOWN and HP_EVENT_TLB2_UNKNOWN, those expected to be misses. */
	HP_EVENT_L2_LIKELY_MISS,
	HP_EVENT_TLB2_LIKELY_MISS,
	HP_EVENT_KINDS,
};

/* "l1_miss", as in JSON; "unknown" for other numbers. */
const char *hp_event_kind_name(enum hp_event_kind kind);

struct hp_window_event {
	hp_runtime_address address; /* of the instruction */
	uint8_t kind;		    /* enum hp_event_kind */
	uint64_t counts[HP_WINDOW_PARTS]; /* by part */
	int64_t value;			  /* bytes, of HP_EVENT_STRIDE */
};

/* Core cycles that a model of the core (uarch/timing.h) spent in all runs that were simulated, on a
 * core of each lane: of a block, or of an instruction that ran often. */
struct hp_window_timed {
	hp_runtime_address address; /* of the instruction, or the first one */
	bool is_block;
	uint64_t resizes; /* on a core with other sizes (uarch/resize.h): which; 0: as it is */
	uint64_t cycles[HP_LANES];
};

/* What a load takes that the first data cache does not serve, in core cycles; measured while
 * recording. */
enum hp_latency {
	HP_LATENCY_L2,
	HP_LATENCY_L3,
	HP_LATENCY_MEMORY,
	HP_LATENCIES,
};

/* Why a window ended. All but the first end it before its last sample; counts up to the end are
 * valid. */
enum hp_window_end {
	HP_WINDOW_COMPLETE,	 /* the last sample has matched */
	HP_WINDOW_TIME,		 /* limit of the replay's time */
	HP_WINDOW_EXITS,	 /* limit of the replay's work */
	HP_WINDOW_SYSTEM_CALL,	 /* one that only the original may make, or that waits */
	HP_WINDOW_CLOCK,	 /* rdtsc, rdtscp, rdpmc: the value would differ */
	HP_WINDOW_RANDOM,	 /* rdrand, rdseed */
	HP_WINDOW_PROCESSOR,	 /* rdpid, lsl: depends on the CPU */
	HP_WINDOW_TRANSACTION,	 /* xbegin */
	HP_WINDOW_WAIT,		 /* umwait, tpause, mwaitx: waits for time or a thread */
	HP_WINDOW_INTERRUPT,	 /* int, int3, ud2, hlt: deliberate */
	HP_WINDOW_FAR,		 /* far branches, iret, 16-bit branches */
	HP_WINDOW_UNDECODABLE,	 /* bytes that are no known instruction */
	HP_WINDOW_UNREADABLE,	 /* control reached an address without code */
	HP_WINDOW_WRITABLE_CODE, /* code that can change without notice */
	HP_WINDOW_SIGNAL,	 /* a fault, or a signal from outside */
	HP_WINDOW_DIED,		 /* the copy has ended */
	HP_WINDOW_CACHE_FULL,	 /* of translated code; it is emptied before the next window */
	HP_WINDOW_NO_SAMPLES,	 /* fewer than two to match: nothing to replay */
	HP_WINDOW_FORBIDDEN,	 /* the copy left the translated code for a system call */
	HP_WINDOW_LOST,	  /* no sample's state occurred any more: the copy took another path */
	HP_WINDOW_ROUNDS, /* samples' states occur in each of several rounds, and no end tells these apart */
	HP_WINDOW_ENDS,
};

/* Why there was no window when one was due. */
enum hp_shadow_refusal {
	HP_SHADOW_BUDGET,	 /* over budget */
	HP_SHADOW_NOT_PERMITTED, /* to read its memory: setuid, other users, Yama */
	HP_SHADOW_TRACED,	 /* another process traces it: a debugger */
	HP_SHADOW_OTHER_MACHINE, /* not a 64-bit x86 program */
	HP_SHADOW_MEMORY,	 /* too little free memory for a copy */
	HP_SHADOW_MAPPINGS,	 /* some cannot be copied (of a device), or there are too many */
	HP_SHADOW_IN_KERNEL,	 /* it was in a system call */
	HP_SHADOW_FAILED,	 /* the copy could not be made */
	HP_SHADOW_REFUSALS,
};

/* Short names, "system call", "clock"; "unknown" for other numbers. */
const char *hp_window_end_name(enum hp_window_end end);
const char *hp_shadow_refusal_name(enum hp_shadow_refusal refusal);

/* A part begins where the previous one ends. */
struct hp_window_part {
	uint64_t end_ns;      /* when it matched, on the recorder's clock */
	uint64_t duration_ns; /* user CPU time: samples of the matching event, times their period */
};

struct hp_window {
	int32_t pid, tid;
	uint64_t time_ns; /* of the first match, on the recorder's clock */
	struct hp_window_part parts[HP_WINDOW_PARTS];
	size_t part_count;  /* 0: no counts */
	uint8_t end;	    /* enum hp_window_end */
	int64_t end_detail; /* number of the system call or signal */
	/* Its name and object: "futex", "number 123", "openat of a file that is gone"; "" if the
	 * window did not end by a system call. */
	char end_call[48];
	bool is_truncated; /* its end depends on what it counted: counts are relative */
	uint64_t instructions;
	struct hp_window_block *blocks; /* with a count, by address. Owned */
	size_t block_count;
	struct hp_window_edge *edges; /* with a count, by `from`, then `to`. Owned */
	size_t edge_count;
	/* Of the stretches that were simulated, by the parts that they are of: what ran, and what
	 * happened to it (distinct, in any order). Owned. */
	struct hp_window_block *simulated;
	size_t simulated_count;
	struct hp_window_event *events;
	size_t event_count;
	struct hp_window_timed *timed;
	size_t timed_count;
	uint32_t latencies
		[HP_LATENCIES]; /* that its cycles were timed with; 0: it was not simulated */
};

void hp_window_clear(struct hp_window *window);
/* The time of the last match, on the recorder's clock; the beginning if there are no parts. */
uint64_t hp_window_end_ns(const struct hp_window *window);
/* User CPU time of all parts. */
uint64_t hp_window_duration_ns(const struct hp_window *window);

#endif
