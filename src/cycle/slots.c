/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slots that a stage of the core does not use, each charged to what that stage sees. */
#include "accountings.h"

static void charge(struct watcher *watcher, enum hp_cycle_part part, unsigned used, uint64_t count)
{
	const struct slots *slots = (const struct slots *)watcher;

	if (used < slots->width)
		watcher->spent[part] +=
			(double)(slots->width - used) / slots->width * (double)count;
}

static void dispatch_cycles(struct watcher *watcher, const struct view *view, uint64_t count)
{
	enum hp_cycle_part part = view->code_lacks;

	if (view->is_full)
		part = view->full_waits;
	else if (view->is_strayed || view->is_recovering)
		part = HP_CYCLE_BRANCH;
	charge(watcher, part, view->dispatched, count);
}

static void commit_cycles(struct watcher *watcher, const struct view *view, uint64_t count)
{
	charge(watcher, view->is_empty ? view->last_event : view->head_waits, view->retired, count);
}

void dispatch_slots_create(struct slots *slots, unsigned width)
{
	*slots = (struct slots){ .watcher = { .cycles = dispatch_cycles }, .width = width };
}

void commit_slots_create(struct slots *slots, unsigned width)
{
	*slots = (struct slots){ .watcher = { .cycles = commit_cycles }, .width = width };
}
