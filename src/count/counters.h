/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The descriptors of one rotation set (pmu/groups.h): its groups, opened for every counted place. A
 * place is a thread (with all that it starts) or a CPU.
 *
 * A group consists of one kernel group for each PMU of the kernel in it. Software events,
 * tracepoints, breakpoints and each of the two clocks form kernel groups of their own: on Linux
 * 6.18 a sibling on another PMU than its leader's counts until its group is first disabled, and
 * hardly at all after it is enabled again (measured for each pair). Events that never take turns
 * each lead a group of their own.
 *
 * Counts only grow; take differences for a slice. The counts of a thread include those of its
 * children, running and ended.
 */
#ifndef COUNT_COUNTERS_H
#define COUNT_COUNTERS_H

#include <hpcprof/pmu/groups.h>

#include <sys/types.h>

struct counter_place {
	pid_t pid; /* -1: the whole CPU */
	int cpu;   /* -1: any CPU */
};

/* How the groups of a rotation set are opened. */
struct counter_options {
	const struct hp_event_list *events;
	const struct counter_place *places;
	size_t place_count;
	/* for a command that has not started yet: a group begins to count at its exec */
	bool enable_on_exec;
	size_t first_group; /* that group */
	uint64_t
		/* units of the reference event after which it sends SIGIO; 0: never */
		overflow_units;
};

struct counter_slot;

struct counter_group {
	struct counter_slot *slots;
	size_t slot_count;
	size_t first_fd; /* index of the place's first descriptor */
};

struct counters {
	const struct hp_rotation_set *rotation_set; /* borrowed, as the next */
	const struct hp_event_list *events;
	struct counter_place *places;
	size_t place_count;
	struct counter_group *groups;
	size_t fds_each;    /* descriptors per place */
	int *fds;	    /* [place][group, slot]; -1: the thread had ended */
	size_t value_count; /* number of values of the largest group */
};

/* Sums since the events were opened. */
struct counter_reading {
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint64_t reference; /* equal to running_ns if there is no reference event */
	uint64_t *values;   /* the group's events, followed by the rotation set's `always` */
};

struct hp_error *counters_open(struct counters *counters,
			       const struct hp_rotation_set *rotation_set,
			       const struct counter_options *options,
			       const struct hp_machine *machine);
void counters_close(struct counters *counters);

/* Enables or disables a group in some places. */
void counters_switch(const struct counters *counters, size_t group, size_t first_place,
		     size_t place_count, bool on);
/* Adds what some places have counted to `reading`, which begins with zeros. False if something is
 * missing: a child that is ending loses its events one by one, and its whole family cannot be read
 * meanwhile (ECHILD, Linux 6.18; for microseconds, or longer if the child loses its CPU). */
bool counters_read(const struct counters *counters, size_t group, size_t first_place,
		   size_t place_count, struct counter_reading *reading);

#endif
