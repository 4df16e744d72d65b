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
	STORED = 4096,			   /* places of stores */
	PLACE = 8,			   /* bytes */
	LINE = 64,			   /* bytes */
	MISS_BUFFERS = 256,
	DRAINS = 2048,	    /* stores that have retired; a power of two, more than any core has */
	MOST_PLACES = 8192, /* of instructions in flight */
};
#define NEVER UINT64_MAX

/* A line that the first level does not have, or did not have lately. */
struct fill {
	uint64_t line;
	uint64_t comes; /* NEVER: nobody has asked for it */
	unsigned events;
};

struct stored {
	uint64_t place;
	uint64_t number; /* + 1 */
};

struct pipeline {
	struct core_run *run;
	const struct hp_cycle_config *config;
	struct hp_uarch *uarch;
	struct walk walk;
	struct step step; /* to be fetched next */
	bool has_step, is_measuring;
	uint64_t now;
	uint64_t fetched_ids;

	/* Numbers: those below have retired, are dispatched, are fetched. */
	uint64_t retired, dispatched, fetched;
	uint64_t passed; /* instructions that retired */
	struct flight *ring;
	uint64_t ring_mask;
	size_t words; /* of a set of places */
	unsigned slots,
		memories; /* taken of the reorder buffer and of the queue of loads and stores */

	/* Execution. */
	uint64_t *ready;	       /* places of instructions that can begin */
	uint64_t *wheel;	       /* by cycle: places of those that then can */
	uint64_t turns[WHEEL / 64];    /* cycles that have any */
	uint16_t told[MOST_PLACES];    /* scratch: places whose waiters are to be told */
	uint64_t *waiters;	       /* by place: of those who wait for its result */
	uint64_t writers[REGISTERS];   /* number + 1 */
	uint64_t units[HP_CORE_UNITS]; /* free again then */
	uint64_t buffers[MISS_BUFFERS];
	uint64_t buffer;
	uint64_t loads_until[4]; /* as in struct view */
	uint64_t divides_until;
	struct fill *fills, *code_fills;
	struct stored *stored;
	/* Stores between dispatch and retirement; then those that have left, and all that
	 * retired. */
	unsigned stores;
	uint64_t drained, stored_count;
	uint64_t drains[DRAINS]; /* when each leaves, by its number */

	/* The front end. */
	uint64_t line, window;		 /* of the code fetched last; NEVER: none */
	uint64_t page_comes, line_comes; /* fetch waits so long, … */
	enum hp_cycle_part line_waits;	 /* … for this */
	uint64_t lacks_until;		 /* until then dispatch may lack what fetch waited for */
	uint64_t decodes;		 /* the newest instruction leaves the fetch buffer, … */
	unsigned decodes_slots;		 /* … with so many slots in that cycle */
	bool is_behind_miss;		 /* the next instruction is */
	bool is_decoded;
	uint64_t wrong;	       /* where the wrong path goes on; NEVER: no code is known there */
	uint64_t mispredicted; /* number + 1 of the branch that is to be resolved */
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
/* What an instruction of the path does to its data, as it is fetched: caches follow the path. */
void memory_follow(struct pipeline *pipeline, const struct step *step, struct flight *flight);
/* A load begins; when its data come. */
uint64_t memory_load(struct pipeline *pipeline, struct flight *flight);
/* A store retires: it leaves when its line is there, behind those before it. */
void memory_store(struct pipeline *pipeline, const struct flight *flight);
/* Stores that have an entry. */
unsigned memory_stores(struct pipeline *pipeline);
/* The line of code arrives then. */
uint64_t memory_fetch(struct pipeline *pipeline, uint64_t line, unsigned events, uint64_t asked,
		      enum hp_cycle_part *part);
void memory_count(struct pipeline *pipeline, enum hp_cycle_part part, unsigned cycles);

/* --- execution: execute.c ---------------------------------------------------------------------- */

void execute_dispatch(struct pipeline *pipeline, uint64_t number);
void execute_begin(struct pipeline *pipeline);
/* All from `number` on are thrown away. */
void execute_forget(struct pipeline *pipeline, uint64_t number);
/* The next cycle in which something can begin; NEVER. */
uint64_t execute_next(const struct pipeline *pipeline);
/* Why the oldest instruction is not done. */
enum hp_cycle_part execute_waits(const struct pipeline *pipeline, const struct flight *flight);

/* --- fetch: fetch.c ---------------------------------------------------------------------------- */

void front_fetch(struct pipeline *pipeline);
/* Before that, decode takes as much as it can of what is fetched by now. */
uint64_t front_feeds_until(const struct pipeline *pipeline);
/* The branch is resolved: fetch returns to the path. */
void front_return(struct pipeline *pipeline, const struct flight *branch);

#endif
