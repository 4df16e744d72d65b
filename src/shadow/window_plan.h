/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides, before a stop, whether a window can be made now, how long it will be, and what it will
 * cost.
 */
#ifndef HPCPROF_SHADOW_WINDOW_PLAN_H
#define HPCPROF_SHADOW_WINDOW_PLAN_H

#include "window.h"

/* Sets the result to refused, with the reason and the error, which it takes. If the error says that
 * the thread has ended, the result is WINDOW_NOT_NOW instead. */
void window_refuse(struct window_result *result, enum hp_shadow_refusal refusal,
		   struct hp_error *error);
/* The same for errors in reading the process, which was permitted a moment ago: if it is no longer, the
 * process ends or is in an exec, and the result is WINDOW_NOT_NOW, too. */
void window_refuse_reading(struct window_result *result, enum hp_shadow_refusal refusal,
			   struct hp_error *error);
/* Whether hp_shadow_finish asks for an end. */
bool window_is_stopping(const struct window_maker *maker);
/* The price terms of a window that copies `bytes` and takes `samples`. */
struct price_terms window_terms(const struct window_order *order, uint64_t bytes, uint64_t samples);

/* Sets the order's length and the result's price, and makes the buffer for the target's memory. A
 * part of that memory may be read ahead. False: not now, or refused; see `result`. */
bool window_plan(struct window_maker *maker, struct window_order *order,
		 struct window_result *result);

/* Whether memory that was read ahead, and was old, has led the copy elsewhere: it crashed, lost the path, or
 * came to an instruction that no copy runs before any sample had `matched`. */
bool window_is_misled(bool is_ahead, enum hp_window_end end, uint64_t matched);

/* Learns from the stop what reading costs. What was not predicted is added to the result's price. */
void window_learn_price(struct window_maker *maker, const struct window_order *order,
			uint64_t stop_ns, struct window_result *result);

#endif
