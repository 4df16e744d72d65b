/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to charge cycles to causes, one per file. Cycles that they charge to nothing are the base.
 * Each looks only at what its hardware can see.
 */
#ifndef HPCPROF_SRC_CYCLE_ACCOUNTINGS_H
#define HPCPROF_SRC_CYCLE_ACCOUNTINGS_H

#include "core.h"
#include "tuning.h"

/* Multiplies events by latencies: events of the path, or of everything that was fetched. naive.c */
void naive_charge(const struct hp_cycle_counts *counts, const struct hp_cycle_config *config,
		  bool with_strayed, double spent[HP_CYCLE_PARTS]);

/* Cycles without a completion, as IBM's POWER5 counts them. power5.c */
void power5_create(struct watcher *watcher);

/* Slots lost at dispatch, and at retirement. slots.c */
struct slots {
	struct watcher watcher;
	unsigned width;
};
void dispatch_slots_create(struct slots *slots, unsigned width);
void commit_slots_create(struct slots *slots, unsigned width);

/* The front-end miss event table, whose rows are branches in flight. fmt.c */
enum { FMT_ROWS = 8192 };
/* Corrections that the paper does not have. */
struct fmt_corrections {
	/* A branch counts until it is resolved, not until it retires. */
	bool stops_at_resolution;
	/* While fetch waits for missing code behind a branch, the miss counts, not the branch. */
	bool misses_come_first;
	/* Missing code costs nothing while the fetch buffer has enough for decode. */
	bool starts_when_drained;
	/* While dispatch has no room, instructions that follow the oldest and had to wait for a
	 * unit count for the unit, too. */
	bool dependents_follow;
};
struct fmt {
	struct watcher watcher;
	struct fmt_corrections by;
	uint64_t behind; /* cycles in which the following instructions had to wait for a unit */
	uint64_t clock;	 /* cycles in which there was room to dispatch */
	/* the mispredicted branch is resolved, has not retired, and still counts */
	bool has_branch;
	struct fmt_row {
		uint64_t misses[HP_CYCLE_PARTS];
		uint64_t since;	  /* value of the clock when it was dispatched */
		uint64_t penalty; /* its penalty, once known */
	} rows[FMT_ROWS];
};
void fmt_create(struct fmt *fmt, struct fmt_corrections by);

/* The shared table: common counters of misses, and a bit per instruction. sfmt.c */
struct sfmt {
	struct watcher watcher;
	bool is_corrected; /* all corrections above */
	uint64_t behind;
	uint64_t clock;
	bool has_branch;
	uint64_t misses[HP_CYCLE_PARTS];
	uint64_t cleared; /* the newest instruction whose bit was cleared */
	struct sfmt_row {
		uint64_t since, penalty;
	} rows[FMT_ROWS];
};
void sfmt_create(struct sfmt *sfmt, bool is_corrected);

/* Not an accounting: what counters of cores count. counters.c */
struct counters {
	struct watcher watcher;
	unsigned width;
	uint64_t refilled; /* cycles since the last branch was resolved */
	struct hp_cycle_counters counts;
};
void counters_create(struct counters *counters, unsigned width);

/* Both tables charge what happens after dispatch in this way: cycles without room are charged to
 * what the oldest instruction waits for, or to stores. `behind` is 0 at first. True: there is no
 * room. */
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
