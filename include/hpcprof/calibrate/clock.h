/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of the core, measured: a chain of dependent additions, each of which takes one cycle,
 * against the time it takes. No PMU, no privilege; the TSC and the nominal clock say nothing about
 * the cycles a core really makes.
 *
 * clock_meter measures where the target runs, in a thread of its own that goes there. Cores may
 * each have their own clock, and one that has been idle until now has a low one: where the recorder
 * happens to wake is the wrong place. The thread is pinned, not the recorder, which a busy CPU
 * (SCHED_FIFO, even for ever) must not keep from its rings. A measurement takes 30 us of that CPU,
 * and at most four a second are asked for: 0.012 %. On the one machine tried, a VM whose CPUs have
 * one clock, it made no difference: medians of a thread on the target's CPU, on the other one and
 * left alone were within 0.02 %.
 */
#ifndef HPCPROF_CALIBRATE_CLOCK_H
#define HPCPROF_CALIBRATE_CLOCK_H

#include <hpcprof/base/error.h>

#include <stdbool.h>

/* Hz of the CPU this runs on; 0 where the architecture has no such chain here. */
double hp_clock_measure(void);

struct hp_clock_meter;

/* NULL when there can be no thread; then the others do nothing. */
struct hp_clock_meter *hp_clock_meter_create(void);
void hp_clock_meter_destroy(struct hp_clock_meter *meter);

/* Asks for a measurement on that CPU; passed over while one is under way. */
void hp_clock_meter_ask(struct hp_clock_meter *meter, int cpu);
/* The measurement that was asked for, once, in Hz; 0 while there is none. */
double hp_clock_meter_take(struct hp_clock_meter *meter);
/* The same, waiting for it a few milliseconds. */
double hp_clock_meter_wait(struct hp_clock_meter *meter);

#endif
