/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events can count at the same time here: found by opening and running them, not by a table.
 * (Azimi et al. 2005, section 3: the events that are asked for are divided into groups without
 * conflicts, and each group counts cycles beside its own.)
 *
 * A rotation set is a PMU of its own with groups that take turns on its counters; rotation sets turn at the same
 * time, each by itself. The cores' PMU is one rotation set; where cores differ, each kind has one, and
 * their counts stay apart. Software events and tracepoints need no counters: their rotation set has one
 * group, unless `counters` pretends otherwise.
 *
 * Fixed counters, conflicts, the watchdog's counter and groups that open but never run show when
 * they are tried: a group counts only as one if all of it ran. What was found is kept in the user's
 * cache (base/cache.h), and the groups that are chosen are run once more each time.
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
	bool whole_cpus;    /* counts CPUs or sockets, never tasks (uncore) */
	char *cpus;	    /* only these have it, as sysfs writes lists; NULL: all. Owned */
	bool has_reference; /* else the time that a group ran is the best clock there is */
	struct hp_event reference; /* counted in every group beside its events; owned */
	struct hp_counter_group *groups;
	uint32_t group_count;
	uint32_t *always; /* events that every group had room for; owned */
	uint32_t always_count;
	int64_t reference_event; /* the event that is the reference event, one of `always`; -1 for none */
};

struct hp_rotation_sets {
	struct hp_rotation_set *at;
	size_t count;
	size_t capacity;
	char *notice; /* what the user should know of how groups were divided; NULL. Owned */
};
void hp_rotation_sets_clear(struct hp_rotation_sets *rotation_sets);

/* How events are tried; tests have hardware of their own. */
struct hp_counter_trial {
	/* 0, or the errno with which the event alone does not open. */
	int (*opens)(void *context, const struct hp_event *event,
		     const struct hp_rotation_set *rotation_set);
	/* Whether all of them, the reference event among them, get counters at once. */
	bool (*runs)(void *context, const struct hp_event *const *events, size_t count,
		     const struct hp_rotation_set *rotation_set);
	void *context;
};

struct hp_grouping_options {
	uint32_t
		counters; /* pretend that a rotation set has so many beside the reference event's; 0: as it is */
	bool system_wide;		      /* CPUs are counted, not tasks */
	enum hp_unit reference;		      /* HP_UNIT_INSTRUCTIONS: these before cycles */
	const struct hp_counter_trial *trial; /* NULL: this machine's, with the cache */
};

/* Events that cannot be counted get `absent`; it is an error (of what the first one of them met)
 * when none is left. `rotation sets` starts from zeros. */
struct hp_error *hp_rotation_sets_create(struct hp_event_list *events,
					 const struct hp_machine *machine,
					 const struct hp_grouping_options *options,
					 struct hp_rotation_sets *rotation_sets);

#endif
