/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the core. Instructions in flight are numbered in the order of the path; numbers of
 * discarded ones are used again. Their slots form a ring; sets of slots are bit sets, so that the
 * oldest is found first.
 */
#ifndef HPCPROF_SRC_CYCLE_PIPELINE_H
#define HPCPROF_SRC_CYCLE_PIPELINE_H

#include "core.h"

enum {
	REGISTERS = HP_REGISTER_COUNT + 2, /* the carry flag; the other flags */
	WHEEL = 1024,			   /* cycles; a power of two */
	FILLS = 4096,			   /* lines; powers of two */
	STORED = 4096,			   /* entries for places of stores */
	PLACE = 8,			   /* in bytes */
	LINE = 64,			   /* in bytes */
	MISS_BUFFERS = 256,
	/* retired stores; a power of two, larger than any core's store buffer */
	DRAINS = 2048,
	MOST_PLACES = 8192, /* for instructions in flight */
};
#define NEVER UINT64_MAX

/* A line that the first level lacks, or lacked recently. */
struct fill {
	uint64_t line;
	uint64_t comes; /* when it arrives; NEVER: it was not requested */
	unsigned events;
};

struct stored {
	uint64_t place;
	uint64_t number; /* index + 1 */
};

struct pipeline {
	struct core_run *run;
	const struct hp_cycle_config *config;
	struct hp_uarch *uarch;
	struct hp_uarch_pointers pointers;
	struct walk walk;
	struct step step; /* the next step to be fetched */
	bool has_step, is_measuring;
	uint64_t now;
	uint64_t fetched_ids;

	/* Instructions with smaller numbers have retired, are dispatched, are fetched. */
	uint64_t retired, dispatched, fetched;
	uint64_t passed; /* number of instructions that retired */
	struct flight *ring;
	uint64_t ring_mask;
	size_t words; /* of a bit map of places */
	unsigned slots,
		/* occupied entries of the reorder buffer and of the queues of loads and stores */
		memories;

	/* Execution. */
	uint64_t *ready; /* bit map of places of instructions that can begin */
	/* by cycle: bit map of places of instructions that can begin then */
	uint64_t *wheel;
	uint64_t turns[WHEEL / 64];    /* bit map of cycles with any */
	uint16_t told[MOST_PLACES];    /* buffer: places whose waiters are to be examined */
	uint64_t *waiters;	       /* by place: bit map of places that wait for its result */
	uint64_t writers[REGISTERS];   /* number of the instruction + 1 */
	uint64_t units[HP_CORE_UNITS]; /* when it is free again */
	uint64_t buffers[MISS_BUFFERS];
	uint64_t buffer;
	uint64_t loads_until[4]; /* as in struct view */
	uint64_t divides_until;
	struct fill *fills, *code_fills;
	struct stored *stored;
	/* Stores between dispatch and retirement; number of stores that have left; number of stores
	 * that retired. */
	unsigned stores;
	uint64_t drained, stored_count;
	uint64_t drains[DRAINS]; /* by number of the store: when it leaves */

	/* The front end. */
	uint64_t line, window;		 /* of the code fetched last; NEVER: none */
	uint64_t page_comes, line_comes; /* until when fetch waits … */
	enum hp_cycle_part line_waits;	 /* … and for what */
	uint64_t lacks_until;		 /* until then dispatch may lack what fetch waited for */
	uint64_t decodes;	/* when the newest instruction leaves the fetch buffer … */
	unsigned decodes_slots; /* … and the number of slots that leave in that cycle */
	bool is_behind_miss;	/* fetch waits directly before the next instruction */
	bool is_decoded;
	uint64_t wrong;	       /* where the wrong path continues; NEVER: no code is known there */
	uint64_t mispredicted; /* number + 1 of the branch to be resolved */
	bool has_moved;	       /* something has happened in this cycle */
	struct view view;
};

static inline struct flight *flight_of(struct pipeline *pipeline, uint64_t number)
{
	return &pipeline->ring[number & pipeline->ring_mask];
}
static inline void set_place(uint64_t *set, uint64_t place)
{
	set[place / 64] |= UINT64_C(1) << place % 64;
}
static inline void clear_place(uint64_t *set, uint64_t place)
{
	set[place / 64] &= ~(UINT64_C(1) << place % 64);
}
static inline bool is_perfect(const struct pipeline *pipeline, enum hp_cycle_part part)
{
	return pipeline->config->perfect >> part & 1;
}

/* --- where lines are: memory.c ----------------------------------------------------------------- */

unsigned memory_page_cycles(const struct pipeline *pipeline, unsigned events,
			    enum hp_cycle_part part);
/* Follows the data accesses of an instruction of the path when it is fetched, since caches follow
 * the path. */
void memory_follow(struct pipeline *pipeline, const struct step *step, struct flight *flight);
/* Begins a load; returns when its data arrive. */
uint64_t memory_load(struct pipeline *pipeline, struct flight *flight);
/* Retires a store. It leaves when its line has arrived, in order. */
void memory_store(struct pipeline *pipeline, const struct flight *flight);
/* Number of stores that have an entry. */
unsigned memory_stores(struct pipeline *pipeline);
/* Returns when the line of code arrives. */
uint64_t memory_fetch(struct pipeline *pipeline, uint64_t line, unsigned events, uint64_t asked,
		      enum hp_cycle_part *part);
void memory_count(struct pipeline *pipeline, enum hp_cycle_part part, unsigned cycles);

/* --- execution: execute.c ---------------------------------------------------------------------- */

void execute_dispatch(struct pipeline *pipeline, uint64_t number);
void execute_begin(struct pipeline *pipeline);
/* Discards all instructions from `number` on. */
void execute_forget(struct pipeline *pipeline, uint64_t number);
/* The next cycle in which an instruction can begin; NEVER: none. */
uint64_t execute_next(const struct pipeline *pipeline);
/* Why the oldest instruction is not done. */
enum hp_cycle_part execute_waits(const struct pipeline *pipeline, const struct flight *flight);

/* --- fetch: fetch.c ---------------------------------------------------------------------------- */

void front_fetch(struct pipeline *pipeline);
/* Until then, decode takes as much per cycle as it can of what is fetched so far. */
uint64_t front_feeds_until(const struct pipeline *pipeline);
/* The branch is resolved: fetch returns to the path. */
void front_return(struct pipeline *pipeline, const struct flight *branch);

#endif
