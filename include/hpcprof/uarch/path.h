/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Models of a core that follow the exact path of a program and report the events on it.
 *
 * The caller passes what the program does, in order: code fetched, data accessed, branches. Each
 * answer is a set of the bits below. Caches and TLBs are exact (least recently used), of the demand
 * accesses alone: prefetchers do not change what misses, but a miss that one of them would have
 * avoided is marked. Only the page of a pointer that a prefetcher has followed is in the TLBs before
 * its use (hp_uarch_lead), since the prefetcher has walked it. Branch predictors and the store queue
 * are of the kinds that cores use, not copies of a particular one.
 *
 * Models begin empty, but the caches of the running program were not. If an empty model cannot know
 * the result, it reports an event of its own, ..._UNKNOWN, neither hit nor miss: the first access
 * to a line (page) is unknown if its set has not been filled since the beginning, because the line
 * may have been there before. Once a set has been filled, its contents are known.
 *
 * No system call, no clock, no randomness: the same path gives the same events. A struct hp_uarch is
 * used by one thread at a time, and its memory does not grow. All addresses and numbers are
 * accepted.
 *
 * TAGE: Seznec, Michaud, "A case for (partially) tagged geometric history length branch prediction",
 * JILP 2006; ITTAGE: Seznec, "A 64-Kbytes ITTAGE indirect branch predictor", 2011.
 */
#ifndef HPCPROF_UARCH_PATH_H
#define HPCPROF_UARCH_PATH_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/uarch/geometry.h>

/* At each level there is a hit, a miss or an unknown. A miss (unknown) of a further level is never
 * without a miss (a miss or an unknown) of the levels before it. */
enum {
	/* of hp_uarch_access */
	HP_UARCH_L1_MISS = 1 << 0,
	HP_UARCH_L1_UNKNOWN = 1 << 1,
	HP_UARCH_DTLB_MISS = 1 << 2,
	HP_UARCH_DTLB_UNKNOWN = 1 << 3,
	/* A prefetcher or a prefetch instruction fetched the line, and this is its first use.
	 * Misses beside this bit are those that would have happened without prefetching. */
	HP_UARCH_PREFETCHED = 1 << 4,
	HP_UARCH_PREFETCHED_LATE =
		1 << 5, /* beside it: prefetched so recently that the access may wait */
	HP_UARCH_FORWARDED = 1 << 6, /* a load gets all its bytes from a store in the queue */
	HP_UARCH_FORWARDED_YOUNG = 1
				   << 7, /* beside it: from a store that was executed just before */
	HP_UARCH_FORWARD_FAILED = 1 << 8, /* some bytes are in the queue, but not in one store */
	HP_UARCH_ALIAS_4K =
		1
		<< 9, /* no byte of it is in the queue, but one at the same place in another page */
	HP_UARCH_LINE_SPLIT = 1 << 10,
	HP_UARCH_PAGE_SPLIT = 1 << 11,

	/* of hp_uarch_fetch */
	HP_UARCH_L1I_MISS = 1 << 12,
	HP_UARCH_L1I_UNKNOWN = 1 << 13,
	HP_UARCH_ITLB_MISS = 1 << 14,
	HP_UARCH_ITLB_UNKNOWN = 1 << 15,
	HP_UARCH_DECODED_MISS = 1 << 16, /* not in the cache of decoded instructions */
	HP_UARCH_DECODED_UNKNOWN = 1 << 17,

	/* of both; code and data share these levels */
	HP_UARCH_L2_MISS = 1 << 18,
	HP_UARCH_L2_UNKNOWN = 1 << 19,
	HP_UARCH_L3_MISS = 1 << 20, /* where the third level is modelled */
	HP_UARCH_L3_UNKNOWN = 1 << 21,
	HP_UARCH_TLB2_MISS = 1 << 22, /* a page walk */
	HP_UARCH_TLB2_UNKNOWN = 1 << 23,

	/* of hp_uarch_branch */
	HP_UARCH_MISPREDICTED = 1 << 24,
	HP_UARCH_BRANCH_UNKNOWN = 1 << 25, /* mispredicted, by a predictor that hardly knows it */

	/* Beside HP_UARCH_TLB2_MISS or …_UNKNOWN: the page's entry of the page table is not in the
	 * second cache, a part of which holds page tables. */
	HP_UARCH_WALK_MISS = 1 << 26,
	HP_UARCH_WALK_UNKNOWN = 1 << 27,

	/* Beside HP_UARCH_L3_UNKNOWN: the third level would miss if its contents were those of the
	 * time when the path was resumed. */
	HP_UARCH_L3_LIKELY_MISS = 1 << 28,

	/* of hp_uarch_branch: the direction (or target) was predicted correctly, but only with a
	 * long history (or any history). A faster predictor with a short history (or the address
	 * alone) had already redirected fetch elsewhere. */
	HP_UARCH_BRANCH_LATE = 1 << 29,
	HP_UARCH_TARGET_LATE = 1 << 30, /* of a branch that has gone to several places, or is one of many */
	/* Of hp_uarch_branch: the branch target buffer does not have this taken branch, so fetch goes straight
	 * on until it is decoded. Shares a bit with an event that no branch has. */
	HP_UARCH_TARGET_MISS = HP_UARCH_WALK_MISS,

	/* Beside HP_UARCH_L2_UNKNOWN: the same of the second level. It is an answer for each access, as a timing needs
	 * it, and too often a miss: lines that came in meanwhile were not there. hp_uarch_l2_distance tells counts. */
	HP_UARCH_L2_LIKELY_MISS = 1u << 31,
};

enum hp_uarch_access_kind {
	HP_UARCH_LOAD,
	HP_UARCH_STORE,
	HP_UARCH_PREFETCH, /* a prefetch instruction; it does not wait for its line */
};

enum hp_uarch_branch_kind {
	HP_UARCH_CONDITIONAL,
	HP_UARCH_JUMP, /* to a place that the instruction names */
	HP_UARCH_CALL,
	HP_UARCH_JUMP_INDIRECT,
	HP_UARCH_CALL_INDIRECT,
	HP_UARCH_RETURN,
};

/* Only this many bytes of one access or fetch are modelled. */
enum { HP_UARCH_BYTES_MOST = 4096 };

struct hp_uarch;

/* Creates an empty model. NULL when memory is short or the geometry is not valid. The geometry is
 * copied. */
struct hp_uarch *hp_uarch_create(const struct hp_uarch_geometry *geometry);
void hp_uarch_destroy(struct hp_uarch *uarch);
HP_DEFINE_CLEANUP(struct hp_uarch, hp_uarch_destroy);
/* A stretch of memory in pages of 2 MiB. */
struct hp_uarch_huge {
	uint64_t start, end;
};

/* All other memory is in pages of the geometry's size. `huge`: in order of addresses, without
 * overlaps; borrowed until this is called again. At the beginning there are none. */
void hp_uarch_set_huge(struct hp_uarch *uarch, const struct hp_uarch_huge *huge, size_t count);
/* Empties the model. */
void hp_uarch_reset(struct hp_uarch *uarch);
/* Begins a later stretch of the same program. Predictors keep what they have learnt, and so do the second
 * and the third level, because a stretch may be too short to fill them: for lines that the new stretch has
 * not used their answer is a guess, as in "stitched" samples of traces (Kessler, Hill, Wood, "A
 * comparison of trace-sampling techniques for multi-megabyte caches", IEEE Transactions on
 * Computers 1994). Everything else is emptied. */
void hp_uarch_resume(struct hp_uarch *uarch);

/* The instruction at `ip` accesses data. A split access has the events of both halves. */
unsigned hp_uarch_access(struct hp_uarch *uarch, uint64_t ip, uint64_t address, uint32_t bytes,
			 enum hp_uarch_access_kind kind);

/* The next access is at what the load at `ip` has loaded, `pointer`, or a little beside it. */
void hp_uarch_lead(struct hp_uarch *uarch, uint64_t ip, uint64_t pointer);

/* How far a block was from being replaced when it was used: `later` blocks of its set had been used after it, or,
 * where that is not known, at least `known` ones, since so many have been since the path began or was resumed. */
struct hp_uarch_distance {
	uint32_t later; /* not below `known`: not known */
	uint32_t known;
	uint32_t ways; /* of the set: a block `later` than that has been replaced */
};
/* Of the second level, by the last access of data that had an event of the first one, of both of its lines or
 * pages the second. */
struct hp_uarch_distance hp_uarch_l2_distance(const struct hp_uarch *uarch);
struct hp_uarch_distance hp_uarch_tlb2_distance(const struct hp_uarch *uarch);

/* Stores have numbers, in their order: the last one's, and that of the store whose bytes the last load with
 * HP_UARCH_FORWARDED or HP_UARCH_FORWARD_FAILED asked for. */
uint64_t hp_uarch_last_store(const struct hp_uarch *uarch);
uint64_t hp_uarch_met_store(const struct hp_uarch *uarch);

/* A stretch of code is executed. */
unsigned hp_uarch_fetch(struct hp_uarch *uarch, uint64_t address, uint32_t bytes);

/* A branch at `ip` that is followed by the instruction at `next` in memory goes to `target` if it is
 * taken. Branches that are not conditional always are. */
unsigned hp_uarch_branch(struct hp_uarch *uarch, uint64_t ip, uint64_t next,
			 enum hp_uarch_branch_kind kind, bool taken, uint64_t target);

/* The predicted target of the last indirect branch or return. */
uint64_t hp_uarch_predicted(const struct hp_uarch *uarch);

/* What a core fetches behind a branch that it predicts wrongly: from hp_uarch_stray until
 * hp_uarch_rejoin, hp_uarch_guess goes on from branch to branch; nobody learns from it, and predictors
 * are then as before. Gives the address that the branch is predicted to go to. Caches of code do change
 * by what is fetched meanwhile. */
void hp_uarch_stray(struct hp_uarch *uarch);
uint64_t hp_uarch_guess(struct hp_uarch *uarch, uint64_t ip, uint64_t next,
			enum hp_uarch_branch_kind kind, uint64_t target);
void hp_uarch_rejoin(struct hp_uarch *uarch);

/* So many instructions were executed since the last call; this ages stores and prefetches. One call
 * per block suffices. */
void hp_uarch_retire(struct hp_uarch *uarch, unsigned instructions);

#endif
