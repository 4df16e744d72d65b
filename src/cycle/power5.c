/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * POWER5 as Eyerman et al. 2006, section 2, describe it. In a cycle in which nothing completes,
 * either the reorder buffer is empty, and the cycle is charged to the last event of the front end;
 * or the oldest instruction waits for something, and the cycle is charged to that.
 */
#include "accountings.h"

static void cycles(struct watcher *watcher, const struct view *view, uint64_t count)
{
	if (!view->retired)
		watcher->spent[view->is_empty ? view->last_event : view->head_waits] +=
			(double)count;
}

void power5_create(struct watcher *watcher)
{
	*watcher = (struct watcher){ .cycles = cycles };
}
