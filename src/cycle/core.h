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
	uint64_t id;	/* of all that were ever fetched, in order */
	uint64_t row;	/* branches that were fetched before it and not thrown away */
	uint64_t ready; /* to be dispatched */
	bool is_strayed;
	bool is_mispredicted;
	bool is_behind_miss; /* fetch waited for code right before it */
	bool loads, stores;
	uint64_t load_line, store_line;
	uint64_t load_place, store_place; /* of its first bytes */
	unsigned load_events, store_events;
	/* Once it is dispatched: */
	bool is_scheduled, has_begun, is_known;
	bool is_early; /* looked at before it can begin: the wheel is too small for the wait */
	uint8_t source_count;
	uint64_t when; /* it is looked at again, if it is scheduled; it is done, if that is known */
	uint64_t loaded; /* its data have come, from memory: */
	bool is_in_memory;
	/* What its result waits for once it has begun: for DTLB until `paged`, then for this. */
	uint64_t paged;
	enum hp_cycle_part waits;
	/* Numbers of those it waits for, << 1, | needed late: what is above is 0 at first, these are not. */
	uint64_t sources[MOST_SOURCES];
};

/* What a watcher sees of a cycle. */
struct view {
	unsigned retired, dispatched, strayed; /* slots: of the path, and beside it */
	bool is_full;			       /* dispatch waits for room */
	bool is_empty;			       /* nothing is between dispatch and retirement */
	bool lacks_store;		       /* for a store */
	bool lacks_queue, lacks_buffer;	       /* for loads and stores; for anything */
	bool head_is_done, head_loads;
	unsigned begun; /* instructions that began */
	/* Loads are under way for so many cycles yet: any, and those that missed each level. */
	uint64_t loads[4];
	uint64_t divides;	       /* so is a division */
	enum hp_cycle_part head_waits; /* BASE: for nothing that has a name */
	enum hp_cycle_part full_waits; /* while it is full: the same, or STORE */
	enum hp_cycle_part code_waits; /* fetch; BASE: it does not wait */
	enum hp_cycle_part code_lacks; /* the same, as dispatch sees it */
	bool is_fed; /* the fetch buffer has as much as decode can take in this cycle */
	enum hp_cycle_part last_event; /* of the front end, on the path */
	bool is_strayed;	       /* what is fetched is not of the path */
	bool is_recovering; /* since a branch was resolved, nothing of the path was dispatched */
	uint64_t row;	    /* branches fetched */
	uint64_t dispatched_id, fetched_id; /* of the newest instruction */
};

/* NULL for what it does not care for. */
struct watcher {
	void (*cycles)(struct watcher *watcher, const struct view *view, uint64_t count);
	void (*fetched_branch)(struct watcher *watcher, const struct flight *flight);
	void (*dispatched_branch)(struct watcher *watcher, const struct flight *flight);
	void (*resolved)(struct watcher *watcher, const struct flight *flight,
			 const struct view *view);
	void (*retired)(struct watcher *watcher, const struct flight *flight,
			const struct view *view);
	double spent[HP_CYCLE_PARTS]; /* cycles; of the measured part */
};

struct core_run {
	const struct hp_trace *trace;
	const struct cycle_code *code;
	const struct hp_cycle_config *config;
	uint64_t warming, most; /* instructions */
	struct watcher *const *watchers;
	size_t watcher_count;
	struct hp_cycle_counts counts; /* what it gives */
};

struct hp_error *core_run(struct core_run *run);

#endif
