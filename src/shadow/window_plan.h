/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides, before a stop, whether a window can be made now, how long it will be, and what it will
 * cost.
 */
#ifndef HPCPROF_SHADOW_WINDOW_PLAN_H
#define HPCPROF_SHADOW_WINDOW_PLAN_H

#include "window.h"

/* The error is taken. Without a reason of its own when the thread has ended meanwhile. */
void window_refuse(struct window_result *result, enum hp_shadow_refusal refusal,
		   struct hp_error *error);
/* An end is to be made. */
bool window_is_stopping(const struct window_maker *maker);
struct price_terms window_terms(const struct window_order *order, uint64_t bytes, uint64_t samples);

/* Sets the order's length and the result's price, and has memory for what is to be read; some of it
 * may have been read. False: not now, or refused. */
bool window_plan(struct window_maker *maker, struct window_order *order,
		 struct window_result *result);

#endif
