/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulates stretches of a window: models of a core (uarch/path.h) follow the path that the copy
 * logs, and events are counted per instruction.
 *
 * The models run in a thread of their own. It follows the copy, and stops the copy when that is too
 * far ahead. So the copy's CPU time does not include the simulation.
 *
 *	simulation_begin	a window
 *	simulation_log		what its replay is given
 *	simulation_end		waits until everything logged is simulated, and hands over the events
 *
 * These calls come from one thread at a time.
 */
#ifndef SHADOW_SIMULATE_SIMULATION_H
#define SHADOW_SIMULATE_SIMULATION_H

#include "../replay/engine.h"
#include "tracing.h"

#include <hpcprof/model/window.h>
#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/resize.h>

#include <sched.h>

struct simulation;

/* The same as in struct hp_shadow_options. */
struct simulation_options {
	const struct hp_uarch_geometry *geometry; /* NULL: nothing is simulated */
	const struct hp_core *core;
	void (*measure)(struct hp_uarch_geometry *, struct hp_core *);
	const bool *core_is_shared;
	const struct hp_resizes *resizes;
	int trace_fd;
	uint64_t trace_bytes;
};

/* Starts its thread. The options are copied; the engine and the descriptor are borrowed. */
struct hp_error *simulation_create(const struct simulation_options *options,
				   const struct hp_engine *engine, struct simulation **simulation);
void simulation_destroy(struct simulation *simulation);

/* CPU time of its thread after the preparation. */
uint64_t simulation_spent_ns(struct simulation *simulation);
/* Starts measuring and making the models in the thread, before the first window needs them. `cpus`:
 * where the thread may run. */
void simulation_prepare(struct simulation *simulation, const cpu_set_t *cpus);

/* Begins a window of this process. `cpus`: where the thread may run. `gives_way`: all other threads
 * of the machine come first. Waits for the preparation. False: it failed, or was given up. */
bool simulation_begin(struct simulation *simulation, pid_t pid, uint64_t fs_base,
		      const cpu_set_t *cpus, bool gives_way);
/* Says what of the process is in huge pages: borrowed until simulation_end. Called after
 * simulation_begin. */
void simulation_set_huge(struct simulation *simulation, const struct hp_uarch_huge *huge,
			 size_t count);
const struct hp_engine_log *simulation_log(const struct simulation *simulation);
/* Called when the recording ends, from any thread: waiting pieces are dropped, and nothing new is
 * begun. */
void simulation_give_up(struct simulation *simulation);
/* Called when the counts of the window are known: the samples at which its parts begin (struct hp_replay). */
void simulation_cut(struct simulation *simulation, const size_t *cuts, size_t part_count);
/* Called when the replay is over. Adds what was simulated to the window; NULL: it is not wanted, so
 * nothing waits. */
void simulation_end(struct simulation *simulation, struct hp_window *window);

/* Called after the last window. Ends the trace, and returns how it ended; NULL: no trace was
 * wanted. */
const struct tracing *simulation_end_trace(struct simulation *simulation);

#endif
