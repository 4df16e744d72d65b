/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between a window and its replay: the moments of the target that the replay is to match, and the
 * time of the target that the resulting counts belong to.
 */
#ifndef SHADOW_WINDOW_COUNTS_H
#define SHADOW_WINDOW_COUNTS_H

#include "window.h"

/* The samples of the window, followed by its end state if that is known. The caller frees the
 * array, whose elements borrow from the maker. NULL: no memory. */
size_t window_sample_count(const struct window_maker *maker);
struct hp_engine_sample *window_samples(const struct window_maker *maker);

/* Moves the replay's counts into the window. In: `window->time_ns` is the time of the copy. Without
 * any sample, the window gets no counts, because the time that they belong to is unknown. */
void window_take_counts(const struct window_maker *maker, const struct hp_engine_sample *samples,
			struct hp_replay *replay, struct hp_window *window);
/* Drops the first part in which more ran than any core can execute in its time, and all after it: a
 * program that does the same again and again may have matched a moment of a much later round. */
void window_drop_impossible(struct hp_window *window);

#endif
