/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The front-end miss event table: Eyerman, Eeckhout, Karkhanis, Smith 2006, section 4.1. Each
 * branch in flight has a row: the cycles for which fetch waited for code before it, and the cycles
 * that it has been in the reorder buffer. When the branch retires, the row is added to the stack,
 * the cycles in the buffer only if it was mispredicted. Rows of wrong paths are never added.
 *
 * The cycles in the buffer are differences of a clock that all rows share.
 */
#include "accountings.h"

static struct fmt_row *row_of(struct fmt *fmt, uint64_t number)
{
	return &fmt->rows[number % FMT_ROWS];
}

static void cycles(struct watcher *watcher, const struct view *view, uint64_t count)
{
	struct fmt *fmt = (struct fmt *)watcher;
	bool waits = view->code_waits != HP_CYCLE_BASE &&
		     !(view->is_fed && fmt->by.starts_when_drained);

	if (charge_full(watcher, view, count, fmt->by.dependents_follow, &fmt->behind))
		return;
	fmt->clock += count;
	if (waits)
		row_of(fmt, view->row)->misses[view->code_waits] += count;
	/* As the paper prints it, the branch's row may still count. */
	if (view->is_recovering && !fmt->has_branch && !(waits && fmt->by.misses_come_first))
		watcher->spent[HP_CYCLE_BRANCH] += (double)count;
}

static void clear_row(struct fmt *fmt, uint64_t number)
{
	*row_of(fmt, number) = (struct fmt_row){ 0 };
}

/* From here on, what fetch waits for is before the next branch. */
static void fetched_branch(struct watcher *watcher, const struct flight *flight)
{
	clear_row((struct fmt *)watcher, flight->row + 1);
}

static void dispatched_branch(struct watcher *watcher, const struct flight *flight)
{
	struct fmt *fmt = (struct fmt *)watcher;

	row_of(fmt, flight->row)->since = fmt->clock;
}

static void resolved(struct watcher *watcher, const struct flight *flight, const struct view *view)
{
	struct fmt *fmt = (struct fmt *)watcher;
	struct fmt_row *row = row_of(fmt, flight->row);

	(void)view;
	row->penalty = fmt->clock - row->since;
	fmt->has_branch = !fmt->by.stops_at_resolution;
	clear_row(fmt, flight->row + 1);
}

static void retired(struct watcher *watcher, const struct flight *flight, const struct view *view)
{
	struct fmt *fmt = (struct fmt *)watcher;
	const struct fmt_row *row = row_of(fmt, flight->row);

	(void)view;
	if (!flight->insn->is_branch)
		return;
	for (unsigned part = HP_CYCLE_L1I; part <= HP_CYCLE_ITLB; part++)
		watcher->spent[part] += (double)row->misses[part];
	if (flight->is_mispredicted) {
		fmt->has_branch = false;
		watcher->spent[HP_CYCLE_BRANCH] += (double)(fmt->by.stops_at_resolution
								    ? row->penalty
								    : fmt->clock - row->since);
	}
}

void fmt_create(struct fmt *fmt, struct fmt_corrections by)
{
	*fmt = (struct fmt){
		.watcher = { .cycles = cycles,
			     .fetched_branch = fetched_branch,
			     .dispatched_branch = dispatched_branch,
			     .resolved = resolved,
			     .retired = retired },
		.by = by,
	};
}
