/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tries groups of events on this machine's counters, with hpcprof itself as the load, and keeps
 * the results for later runs.
 *
 * The cache has one bit for each set of events that was tried, under a key made of their
 * encodings; and the number of counters that were free. It is discarded if that number has changed
 * (another program took a counter, the watchdog was disabled), if the kernel or CPU differs, or if
 * the file is damaged.
 */
#ifndef HPCPROF_PMU_TRIAL_H
#define HPCPROF_PMU_TRIAL_H

#include <hpcprof/pmu/groups.h>

struct hp_trial_memory;

struct hp_error *hp_trial_memory_create(const struct hp_machine *machine,
					struct hp_trial_memory **memory);
/* Writes what is new to the cache, and frees it. */
void hp_trial_memory_destroy(struct hp_trial_memory *memory);
HP_DEFINE_CLEANUP(struct hp_trial_memory, hp_trial_memory_destroy);

/* Tries, and remembers. */
struct hp_counter_trial hp_trial_of(struct hp_trial_memory *memory);
/* From now on everything is tried again: a group that was remembered did not run. */
void hp_trial_forget(struct hp_trial_memory *memory);
/* Tries without looking at what is remembered. */
bool hp_trial_run(const struct hp_event *const *events, size_t count,
		  const struct hp_rotation_set *rotation_set);

#endif
