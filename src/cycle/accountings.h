/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to charge cycles to causes, one per file. Cycles that they charge to nothing are the base.
 * Each looks only at what its hardware can see.
 */
#ifndef HPCPROF_SRC_CYCLE_ACCOUNTINGS_H
#define HPCPROF_SRC_CYCLE_ACCOUNTINGS_H

#include "core.h"
#include "tuning.h"

/* Events times latencies, of the path or of all that was fetched: naive.c */
void naive_charge(const struct hp_cycle_counts *counts, const struct hp_cycle_config *config,
		  bool with_strayed, double spent[HP_CYCLE_PARTS]);

/* Cycles without a completion, as IBM's POWER5 counts them: power5.c */
void power5_create(struct watcher *watcher);

/* Slots lost at dispatch, and at retirement: slots.c */
struct slots {
	struct watcher watcher;
	unsigned width;
};
void dispatch_slots_create(struct slots *slots, unsigned width);
void commit_slots_create(struct slots *slots, unsigned width);

/* The front-end miss event table: fmt.c. Rows are of branches in flight. */
enum { FMT_ROWS = 8192 };
/* What the paper does not do. */
struct fmt_corrections {
	/* A branch counts until it is resolved, not until it retires. */
	bool stops_at_resolution;
	/* While code that misses is waited for behind it, that counts, not the branch. */
	bool misses_come_first;
	/* Code that misses costs nothing while the fetch buffer has enough: decode lacks nothing. */
	bool starts_when_drained;
	/* While dispatch has no room, what waited for a unit and follows it is charged to it, too. */
	bool dependents_follow;
};
struct fmt {
	struct watcher watcher;
	struct fmt_corrections by;
	uint64_t behind; /* cycles in which what follows now waited for a unit */
	uint64_t clock;	 /* cycles in which there was room to dispatch */
	bool has_branch; /* the mispredicted one is resolved and has not retired, and counts still */
	struct fmt_row {
		uint64_t misses[HP_CYCLE_PARTS];
		uint64_t since;	  /* the clock when it was dispatched */
		uint64_t penalty; /* once that is known */
	} rows[FMT_ROWS];
};
void fmt_create(struct fmt *fmt, struct fmt_corrections by);

/* The shared one: counters of misses in common, and a bit of each instruction: sfmt.c */
struct sfmt {
	struct watcher watcher;
	bool is_corrected; /* all, as above */
	uint64_t behind;
	uint64_t clock;
	bool has_branch;
	uint64_t misses[HP_CYCLE_PARTS];
	uint64_t cleared; /* the newest instruction that has lost its bit */
	struct sfmt_row {
		uint64_t since, penalty;
	} rows[FMT_ROWS];
};
void sfmt_create(struct sfmt *sfmt, bool is_corrected);

/* No accounting: what counters of cores count: counters.c */
struct counters {
	struct watcher watcher;
	unsigned width;
	uint64_t refilled; /* cycles since the last branch was resolved */
	struct hp_cycle_counters counts;
};
void counters_create(struct counters *counters, unsigned width);

/* Both charge what is behind dispatch so: cycles without room, to what the oldest instruction waits for,
 * or stores. `behind` is 0 at first. True: there is no room. */
static inline bool charge_full(struct watcher *watcher, const struct view *view, uint64_t count,
			       bool dependents_follow, uint64_t *behind)
{
	bool is_unit = view->full_waits == HP_CYCLE_UNITS;
	uint64_t late = count < *behind ? count : *behind;

	if (view->is_full && view->full_waits != HP_CYCLE_BASE)
		watcher->spent[view->full_waits] += (double)count;
	else if (view->is_full)
		watcher->spent[HP_CYCLE_UNITS] += (double)late;
	if (!view->is_full || view->full_waits != HP_CYCLE_BASE)
		*behind = view->is_full && is_unit && dependents_follow ? DEPENDENT_CYCLES : 0;
	else
		*behind -= late;
	return view->is_full;
}

#endif
