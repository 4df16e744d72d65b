/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns the counts of shadow windows, which have run-time addresses, into sums per image for the
 * epoch.
 *
 * A window arrives when its replay has ended, long after the time that it covers. By then the
 * process may have mapped other files, or be gone. So the window waits until all map changes of its
 * time have been read, and is then looked up in the address space of that time (processes_at).
 * Until then the recorder keeps its own samples of that time, which tell where time went.
 */
#ifndef COLLECT_EVIDENCE_WINDOWS_H
#define COLLECT_EVIDENCE_WINDOWS_H

#include "../samples/attribute.h"
#include "../tuning.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/model/evidence.h>
#include <hpcprof/model/window.h>

/* A sample in user code, for where time was spent. */
struct window_tick {
	uint64_t time_ns;
	uint64_t address;
	uint32_t tid;
	uint32_t count; /* number of samples that it stands for */
};

struct windows {
	struct attributor *attributor; /* borrowed */
	bool is_on;
	uint64_t recording;	/* its start (CLOCK_REALTIME) */
	unsigned next_group[2]; /* of absolute windows, and of relative ones */
	HP_VECTOR(struct hp_window) waiting;
	HP_VECTOR(double) times; /* user CPU time since the last flush, in units, by command */
	HP_VECTOR(struct window_tick) ticks; /* the latest ones; a ring once it is full */
	size_t next_tick;
	size_t many_items;
	struct hp_window_evidence counted; /* since the last flush */
};

void windows_create(struct windows *windows, struct attributor *attributor, uint64_t recording);
void windows_clear(struct windows *windows);

/* Adds user CPU time of a command (a name in processes.commands), in units. */
void windows_add_time(struct windows *windows, uint32_t command, double units);

/* Adds where such a sample was. */
void windows_add_tick(struct windows *windows, const struct window_tick *tick);

/* Takes over the window's contents. */
void windows_add(struct windows *windows, struct hp_window *window);

/* Places the windows of before `taken_ns`, and adds up their counts. Map changes and samples until
 * then have been taken (UINT64_MAX: all of them). */
void windows_place(struct windows *windows, uint64_t taken_ns);

/* Whether it is time to write. */
bool windows_are_full(const struct windows *windows);

/* Adds everything to the epoch. If that fails, it is kept for the next try. `unit_ns`: length of
 * the units of time; 0: not known yet, so times are kept. */
struct hp_error *windows_write(struct windows *windows, struct hp_epoch_writer *writer,
			       double unit_ns);

#endif
