/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shared front-end miss event table: Eyerman et al. 2006, section 4.1. Cycles for which fetch
 * waits for code are counted for all branches together. They are added to the stack when an
 * instruction retires that was fetched after a miss; a bit marks it. A mispredicted branch clears
 * counters and bits, because what they counted belongs to the wrong path.
 */
#include "accountings.h"

#include <string.h>

static void cycles(struct watcher *watcher, const struct view *view, uint64_t count)
{
	struct sfmt *sfmt = (struct sfmt *)watcher;
	bool waits = view->code_waits != HP_CYCLE_BASE && !(view->is_fed && sfmt->is_corrected);

	if (charge_full(watcher, view, count, sfmt->is_corrected, &sfmt->behind))
		return;
	sfmt->clock += count;
	if (waits)
		sfmt->misses[view->code_waits] += count;
	/* As the paper prints it, the branch's row may still count. */
	if (view->is_recovering && !sfmt->has_branch && !(waits && sfmt->is_corrected))
		watcher->spent[HP_CYCLE_BRANCH] += (double)count;
}

static void dispatched_branch(struct watcher *watcher, const struct flight *flight)
{
	struct sfmt *sfmt = (struct sfmt *)watcher;

	sfmt->rows[flight->row % FMT_ROWS].since = sfmt->clock;
}

static void clear(struct sfmt *sfmt, uint64_t newest)
{
	memset(sfmt->misses, 0, sizeof(sfmt->misses));
	sfmt->cleared = newest;
}

static void resolved(struct watcher *watcher, const struct flight *flight, const struct view *view)
{
	struct sfmt *sfmt = (struct sfmt *)watcher;
	struct sfmt_row *row = &sfmt->rows[flight->row % FMT_ROWS];

	row->penalty = sfmt->clock - row->since;
	sfmt->has_branch = !sfmt->is_corrected;
	if (sfmt->is_corrected)
		clear(sfmt, view->fetched_id);
}

static void retired(struct watcher *watcher, const struct flight *flight, const struct view *view)
{
	struct sfmt *sfmt = (struct sfmt *)watcher;
	const struct sfmt_row *row = &sfmt->rows[flight->row % FMT_ROWS];

	if (flight->is_behind_miss && flight->id > sfmt->cleared) {
		for (unsigned part = HP_CYCLE_L1I; part <= HP_CYCLE_ITLB; part++)
			watcher->spent[part] += (double)sfmt->misses[part];
		clear(sfmt, view->dispatched_id);
	}
	if (!flight->is_mispredicted)
		return;
	sfmt->has_branch = false;
	watcher->spent[HP_CYCLE_BRANCH] +=
		(double)(sfmt->is_corrected ? row->penalty : sfmt->clock - row->since);
	if (!sfmt->is_corrected)
		clear(sfmt, view->fetched_id);
}

void sfmt_create(struct sfmt *sfmt, bool is_corrected)
{
	*sfmt = (struct sfmt){
		.watcher = { .cycles = cycles,
			     .dispatched_branch = dispatched_branch,
			     .resolved = resolved,
			     .retired = retired },
		.is_corrected = is_corrected,
	};
}
