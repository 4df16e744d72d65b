/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows of programs whose memory is too much to be copied: of a fraction of a millisecond, for which
 * only the memory is copied that it uses.
 *
 *	prepare	The copy is built without memory while the target runs.
 *	hold	The thread is stopped, and the copy runs ahead of it: what it uses is read from the
 *		target at that moment (copy/on_demand.h). That is a trial, which counts nothing.
 *	release	The thread runs the same way. It is stopped twice more, for a moment, when its caches
 *		are warm again and at the end of the window (end_state.h).
 *	replay	The copy begins once more, with the memory that the trial has used, and is counted
 *		between these two states.
 *
 * Time alone chooses the window's ends, so its counts belong to its time. What other threads write
 * meanwhile may lead the thread elsewhere: then the states do not match, and nothing is counted.
 */
#ifndef SHADOW_WINDOW_HELD_H
#define SHADOW_WINDOW_HELD_H

#include "window.h"

/* Whether a window that was refused can be made so, and is paid for now. If it is only not paid for yet,
 * the result has its price. */
bool window_may_hold(const struct window_maker *maker, const struct window_order *order,
		     struct window_result *result);
/* Makes it. True: see `result`, which is complete. */
bool window_held(struct window_maker *maker, struct window_order *order,
		 struct window_result *result);

#endif
