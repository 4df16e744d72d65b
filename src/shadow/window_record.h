/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the windows in which the original's system calls are recorded. */
#ifndef SHADOW_WINDOW_RECORD_H
#define SHADOW_WINDOW_RECORD_H

#include "window.h"

typedef bool window_copier(struct window_maker *maker, const struct window_order *order,
			   struct window_result *result);

/* Calls it in a thread of its own, which traces the target until the window's end, and is ended
 * where the target waits for too long, or nobody wants the window any more. True: there is a copy. */
bool window_copy_apart(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result, window_copier *copy);
/* The thread is held and copied: records it, and lets it go. Only within window_copy_apart. */
void window_record(struct window_maker *maker, const struct window_order *order);
/* Behind it: the times of the calls, and what they have cost. False: too few calls to count between. */
bool window_end_record(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result);
/* As many samples as there would have been in its time, instead of calls. */
void window_count_log(const struct call_log *log, struct window_result *result);
/* How a window ends whose replay has come to the end of the log. */
void window_judge_log(const struct call_log *log, struct window_result *result);

#endif
