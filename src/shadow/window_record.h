/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the windows in which the original's system calls are recorded. */
#ifndef SHADOW_WINDOW_RECORD_H
#define SHADOW_WINDOW_RECORD_H

#include "window.h"

typedef bool window_copier(struct window_maker *maker, const struct window_order *order,
			   struct window_result *result);

/* Calls `copy` in a thread of its own, which traces the target until the window's end. The thread
 * is cancelled if the target waits for too long, or the recording ends. True: there is a copy. */
bool window_copy_apart(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result, window_copier *copy);
/* Records the calls of the held and copied thread, and releases it. To be called only within
 * window_copy_apart. */
void window_record(struct window_maker *maker, const struct window_order *order);
/* After window_copy_apart: finds the undisturbed times of the calls, and charges what recording has
 * cost. False: there are too few calls, so nothing between calls can be counted. */
bool window_end_record(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result);
/* Converts matched calls into the number of samples that the same time would have had. */
void window_count_log(const struct call_log *log, struct window_result *result);
/* Sets the end of a window whose replay has reached the end of the log, by why recording ended. */
void window_judge_log(const struct call_log *log, struct window_result *result);

#endif
