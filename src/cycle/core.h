/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core, cycle by cycle. In each cycle branches are resolved; then instructions retire, begin,
 * are dispatched and fetched, in this order. Cycles in which nothing can happen are skipped.
 *
 * A struct watcher is told of each cycle, to charge it to a cause.
 */
#ifndef HPCPROF_SRC_CYCLE_CORE_H
#define HPCPROF_SRC_CYCLE_CORE_H

#include "code.h"

#include <hpcprof/cycle/model.h>

enum { MOST_SOURCES = 2 * HP_TIMED_REGISTERS + 2 };

/* An instruction in flight, from fetch to retirement. */
struct flight {
	const struct insn *insn;
	uint64_t id;	/* its number among all fetched instructions */
	uint64_t row;	/* number of branches fetched before it and not discarded */
	uint64_t ready; /* when it can be dispatched */
	bool is_strayed;
	bool is_mispredicted;
	bool is_behind_miss; /* fetch waited for code directly before it */
	bool loads, stores;
	uint64_t load_line, store_line;
	uint64_t load_place, store_place; /* of the first bytes */
	unsigned load_events;
	/* After its dispatch: */
	bool is_scheduled, has_begun, is_known;
	bool is_early; /* it is examined before it can begin, since the wait exceeds the wheel */
	uint8_t source_count;
	/* when it is examined again, if it is scheduled; when it is done, if that is known */
	uint64_t when;
	uint64_t loaded; /* when its data arrived, if from memory: */
	bool is_in_memory;
	/* What its result waits for after it has begun: the DTLB until `paged`, then this. */
	uint64_t paged;
	enum hp_cycle_part waits;
	/* The instructions it waits for: number << 1 | whether it is needed late. `number` is 0 at
	 * first. */
	uint64_t sources[MOST_SOURCES];
};

/* What a watcher sees of one cycle. */
struct view {
	/* slots: retired, dispatched on the path, and dispatched beside the path */
	unsigned retired, dispatched, strayed;
	bool is_full; /* dispatch waits for room */
	/* no instruction is between dispatch and retirement */
	bool is_empty;
	bool lacks_store;		/* for a store */
	bool lacks_queue, lacks_buffer; /* for loads and stores; for anything */
	bool head_is_done, head_loads;
	unsigned begun; /* number of instructions that began */
	/* For how many more cycles loads are in flight: any, and those that missed each level. */
	uint64_t loads[4];
	uint64_t divides; /* the same for a division */
	/* what the oldest instruction waits for; BASE: nothing specific */
	enum hp_cycle_part head_waits;
	enum hp_cycle_part full_waits; /* while there is no room: the same, or STORE */
	enum hp_cycle_part code_waits; /* what fetch waits for; BASE: nothing */
	enum hp_cycle_part code_lacks; /* what dispatch lacks because of fetch */
	bool is_fed;		       /* the fetch buffer has enough for decode in this cycle */
	enum hp_cycle_part last_event; /* last event of the front end on the path */
	bool is_strayed;	       /* fetch is beside the path */
	bool is_recovering; /* nothing of the path was dispatched since a branch was resolved */
	uint64_t row;	    /* number of branches fetched */
	uint64_t dispatched_id, fetched_id; /* numbers of the newest instructions */
};

/* NULL for functions that it does not need. */
struct watcher {
	void (*cycles)(struct watcher *watcher, const struct view *view, uint64_t count);
	void (*fetched_branch)(struct watcher *watcher, const struct flight *flight);
	void (*dispatched_branch)(struct watcher *watcher, const struct flight *flight);
	void (*resolved)(struct watcher *watcher, const struct flight *flight,
			 const struct view *view);
	void (*retired)(struct watcher *watcher, const struct flight *flight,
			const struct view *view);
	double spent[HP_CYCLE_PARTS]; /* cycles, in the measured part */
};

struct core_run {
	const struct hp_trace *trace;
	const struct cycle_code *code;
	const struct hp_cycle_config *config;
	uint64_t warming, most; /* number of instructions */
	struct watcher *const *watchers;
	size_t watcher_count;
	struct hp_cycle_counts counts; /* the result */
};

struct hp_error *core_run(struct core_run *run);

#endif
