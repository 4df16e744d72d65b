/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for the threads and CPUs whose samples are kept apart. Depending on the options, a lane
 * is a thread (under one name), a CPU, or a thread on a CPU. Samples that are not kept apart, and
 * those beyond the limit of lanes, are in lane 0.
 *
 * Memory: what the limit allows, and one name per live thread.
 */
#ifndef COLLECT_MAPS_LANES_H
#define COLLECT_MAPS_LANES_H

#include "names.h"
#include "../tuning.h"

struct lane {
	uint32_t tid;	 /* 0: threads are not distinguished */
	uint32_t thread; /* number of its name; 0: unknown */
	uint32_t cpu;	 /* plus 1; 0: CPUs are not distinguished */
};

struct lane_entry;
struct lane_thread;

struct lanes {
	bool per_thread;
	bool per_cpu;
	struct names *names; /* borrowed */
	struct lane *at;     /* by number; element 0 is {0} */
	size_t count;
	size_t capacity;
	struct lane_entry *by_lane;    /* hash table */
	struct lane_thread *by_thread; /* hash table */
	uint64_t refused;	       /* number of samples beyond the limit */
};

bool lanes_create(struct lanes *lanes, struct names *names, bool per_thread, bool per_cpu);
void lanes_clear(struct lanes *lanes);

/* A thread gets this name; a new one gets that of the thread that created it; a thread has ended.
 * Without effect if threads are not distinguished. */
void lanes_name(struct lanes *lanes, uint32_t tid, const char *name);
void lanes_inherit(struct lanes *lanes, uint32_t parent_tid, uint32_t tid);
void lanes_end(struct lanes *lanes, uint32_t tid);

/* The lane of a sample. An unknown thread is looked up in /proc. */
uint32_t lanes_number(struct lanes *lanes, uint32_t pid, uint32_t tid, int cpu);

#endif
