/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events can count at the same time here: found by opening and running them, not from a
 * table. (Azimi et al. 2005, section 3: the requested events are divided into groups without
 * conflicts, and each group counts cycles in addition to its own events.)
 *
 * A rotation set is a PMU with groups that take turns on its counters. Rotation sets turn at the
 * same time, independently. The cores' PMU is one rotation set; if cores differ, each kind has one,
 * and their counts are kept separately. Software events and tracepoints need no counters: their
 * rotation set has one group, unless `counters` limits it.
 *
 * Fixed counters, conflicts, the watchdog's counter and groups that open but never run are detected
 * by trying: a set of events is a group only if all of it ran. The result is kept in the user's
 * cache (base/cache.h), and the chosen groups are run once more each time.
 */
#ifndef HPCPROF_PMU_GROUPS_H
#define HPCPROF_PMU_GROUPS_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

#include <linux/perf_event.h>

struct hp_counter_group {
	uint32_t *events; /* indices into the list of events; owned */
	uint32_t count;
	uint32_t share; /* the largest of its events'; 0: not said */
};

struct hp_rotation_set {
	char *pmu;	    /* its name in sysfs, "cpu" where only generic events are used; owned */
	bool software;	    /* no counters are needed */
	bool whole_cpus;    /* counts CPUs or sockets, not tasks (uncore) */
	char *cpus;	    /* only these have it, as sysfs writes lists; NULL: all. Owned */
	bool has_reference; /* else the running time of a group is the best reference */
	struct hp_event reference; /* counted in every group in addition to its events; owned */
	struct hp_counter_group *groups;
	uint32_t group_count;
	uint32_t *always; /* events that every group had room for; owned */
	uint32_t always_count;
	/* the event that is the reference event, one of `always`; -1 for none */
	int64_t reference_event;
};

struct hp_rotation_sets {
	struct hp_rotation_set *at;
	size_t count;
	size_t capacity;
	char *notice; /* a notice to the user about the division into groups; NULL. Owned */
};
void hp_rotation_sets_clear(struct hp_rotation_sets *rotation_sets);

/* How events are tried; tests use simulated hardware. */
struct hp_counter_trial {
	/* 0, or the errno with which the event alone does not open. */
	int (*opens)(void *context, const struct hp_event *event,
		     const struct hp_rotation_set *rotation_set);
	/* Whether all of them, including the reference event, get counters at the same time. */
	bool (*runs)(void *context, const struct hp_event *const *events, size_t count,
		     const struct hp_rotation_set *rotation_set);
	void *context;
};

struct hp_grouping_options {
	/* pretend that a rotation set has so many beside the reference event's; 0: as it is */
	uint32_t counters;
	bool system_wide;		      /* CPUs are counted, not tasks */
	enum hp_unit reference;		      /* HP_UNIT_INSTRUCTIONS: these before cycles */
	const struct hp_counter_trial *trial; /* NULL: this machine's, with the cache */
};

/* Events that cannot be counted get `absent`. If none remains, this is an error (that of the first
 * event). `rotation_sets` must be zeroed. */
struct hp_error *hp_rotation_sets_create(struct hp_event_list *events,
					 const struct hp_machine *machine,
					 const struct hp_grouping_options *options,
					 struct hp_rotation_sets *rotation_sets);

#endif
