/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The steps that all kinds of windows have: starting a sandbox, holding the thread, building its copy in
 * the sandbox, and ending it.
 */
#ifndef SHADOW_WINDOW_BUILD_H
#define SHADOW_WINDOW_BUILD_H

#include "copy/on_demand.h"
#include "window.h"

/* Starts the sandbox, and opens what watches the thread. False: see `result`. */
bool window_make_ready(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result);

/* Holds the thread outside the vdso, of which the copy has one of its own. */
enum hold_result window_hold(struct window_maker *maker, pid_t tid, struct hold_times *times,
			     struct hp_error **error, enum hp_shadow_refusal *refusal);

/* Everything that needs the target or files, while the target still exists; then gives the sandbox
 * the target's rights and no more. */
struct hp_error *window_furnish(struct window_maker *maker, const struct window_order *order);
/* The same for a copy whose memory is filled as it uses it. */
struct hp_error *window_furnish_on_demand(struct window_maker *maker,
					  const struct window_order *order,
					  struct on_demand *on_demand);
/* Maps the engine, and locks the sandbox. */
struct hp_error *window_close(struct window_maker *maker);
/* Gives it the thread's state, except general registers. */
struct hp_error *window_give_state(struct window_maker *maker);
/* Fills in memory, and does what the last two do. */
struct hp_error *window_build(struct window_maker *maker);

/* Ends the copy, and takes the error. */
void window_make_end(struct window_maker *maker, struct hp_error *error,
		     struct window_result *result);

#endif
