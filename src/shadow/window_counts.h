/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between a window and its replay: the moments of the target that the replay is to match, and the
 * time of the target that the resulting counts belong to.
 */
#ifndef SHADOW_WINDOW_COUNTS_H
#define SHADOW_WINDOW_COUNTS_H

#include "window.h"

/* The samples that were taken, and the end, where it is known. The caller frees the array; it
 * borrows from the maker. NULL: no memory. */
size_t window_sample_count(const struct window_maker *maker);
struct hp_engine_sample *window_samples(const struct window_maker *maker);

/* Moves what was counted into the window, whose `time_ns` is that of the copy. Without a moment
 * that is known there are no counts. */
void window_take_counts(const struct window_maker *maker, const struct hp_engine_sample *samples,
			struct hp_replay *replay, struct hp_window *window);

#endif
