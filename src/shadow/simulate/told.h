/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ran and what happened to it in the stretches of a window that were followed, apart for each stretch.
 * Starts no threads.
 */
#ifndef SHADOW_SIMULATE_TOLD_H
#define SHADOW_SIMULATE_TOLD_H

#include <hpcprof/base/vector.h>
#include <hpcprof/model/window.h>

struct followed;

struct told {
	/* By numbers of stretches. Not distinct. Owned. */
	HP_VECTOR(struct hp_window_block) blocks;
	HP_VECTOR(struct hp_window_event) events;
	size_t stretch;
	size_t begins[HP_WINDOW_PARTS]; /* by stretch: the sample of the window that it begins at */
	bool is_short;			/* memory was short: nothing is handed over */
};

/* Begins a window, with its stretch 0. A struct of zeros may be begun and cleared. */
void told_begin(struct told *told);
/* `number`: below HP_WINDOW_PARTS, and above that of the previous one. */
void told_begin_stretch(struct told *told, size_t number, size_t sample);
void told_clear(struct told *told);

void told_add_event(struct told *told, uint64_t address, enum hp_event_kind kind, uint64_t count,
		    int64_t value);
/* Adds what has happened to the block since it was last added. */
void told_add_block(struct told *told, struct followed *followed);

/* Sets `simulated` and `events` of the window, distinct, by its parts: a stretch is of the one that it begins
 * in. `cuts`: the samples at which the parts begin; with none, all is of the first part. False: memory was
 * short. */
bool told_hand_over(struct told *told, const size_t *cuts, size_t part_count,
		    struct hp_window *window);

#endif
