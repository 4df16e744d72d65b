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

/* A sample of time in user code. */
struct window_tick {
	uint64_t time_ns;
	uint64_t address;
	uint32_t tid;
	uint32_t count; /* samples that it stands for */
};

struct windows {
	struct attributor *attributor; /* borrowed */
	bool is_on;
	uint64_t recording;	/* when it began: CLOCK_REALTIME */
	unsigned next_group[2]; /* of absolute windows, and of relative ones */
	HP_VECTOR(struct hp_window) waiting;
	HP_VECTOR(double) times; /* user CPU time since the last flush, in units, by command */
	HP_VECTOR(struct window_tick) ticks; /* the last ones, a ring when it is full */
	size_t next_tick;
	size_t many_items;
	struct hp_window_evidence counted; /* since the last flush */
};

void windows_create(struct windows *windows, struct attributor *attributor, uint64_t recording);
void windows_clear(struct windows *windows);

/* User CPU time of a command (a name in processes.commands) that was sampled, in units. */
void windows_add_time(struct windows *windows, uint32_t command, double units);

/* Such a sample: where it was. */
void windows_add_tick(struct windows *windows, const struct window_tick *tick);

/* Takes the window's contents over. */
void windows_add(struct windows *windows, struct hp_window *window);

/* Looks up the windows of before `taken_ns`, up to which map changes and samples have been taken in
 * (UINT64_MAX: all there will be), and adds up what they counted. */
void windows_place(struct windows *windows, uint64_t taken_ns);

/* Whether it is time to write what there is. */
bool windows_are_full(const struct windows *windows);

/* Adds what there is to the epoch; kept for the next try when that fails. `unit_ns`: of the units
 * of time; 0 when that is not known (yet), then they wait. */
struct hp_error *windows_write(struct windows *windows, struct hp_epoch_writer *writer,
			       double unit_ns);

#endif
