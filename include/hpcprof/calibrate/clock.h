/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures the clock frequency of the core: times a chain of dependent additions, each of which
 * takes one cycle. Needs neither a PMU nor a privilege; the TSC and the nominal frequency do not
 * give the cycles of a core.
 *
 * A clock meter measures on the CPU of the target, with its own thread, which moves to that CPU.
 * Cores may have different frequencies, and an idle core has a low one, so the CPU of the recorder
 * would give a wrong result. The thread is pinned, not the recorder, because a busy CPU
 * (SCHED_FIFO, even forever) must not keep the recorder from its rings. A measurement takes some
 * tens of microseconds of that CPU, at most four times per second. scripts/clock-accuracy prints
 * its error. It also looks whether the core is shared (sharing.h).
 */
#ifndef HPCPROF_CALIBRATE_CLOCK_H
#define HPCPROF_CALIBRATE_CLOCK_H

#include <hpcprof/base/error.h>
#include <hpcprof/calibrate/sharing.h>

#include <stdbool.h>

/* In Hz, for the CPU that this runs on; 0 on architectures without such a chain. */
double hp_clock_measure(void);

struct hp_clock_reading {
	double hz; /* 0: none */
	enum hp_sharing sharing;
};

struct hp_clock_meter;

/* NULL if no thread can be created; the other functions then do nothing. The core is borrowed, or NULL. */
struct hp_clock_meter *hp_clock_meter_create(const struct hp_core *core);
void hp_clock_meter_destroy(struct hp_clock_meter *meter);

/* Requests a measurement on that CPU; ignored while another one runs. */
void hp_clock_meter_ask(struct hp_clock_meter *meter, int cpu);
/* The requested measurement, once. */
struct hp_clock_reading hp_clock_meter_take(struct hp_clock_meter *meter);
/* The same, but waits for it for a few milliseconds. */
struct hp_clock_reading hp_clock_meter_wait(struct hp_clock_meter *meter);

#endif
