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
	uint32_t tid;	 /* 0: threads are not told apart */
	uint32_t thread; /* its name, a number; 0 unknown */
	uint32_t cpu;	 /* plus 1; 0: CPUs are not told apart */
};

struct lane_entry;
struct lane_thread;

struct lanes {
	bool per_thread;
	bool per_cpu;
	struct names *names; /* borrowed */
	struct lane *at;     /* by number; 0 is {0} */
	size_t count;
	size_t capacity;
	struct lane_entry *by_lane;    /* hash */
	struct lane_thread *by_thread; /* hash */
	uint64_t refused;	       /* samples past the bound */
};

bool lanes_create(struct lanes *lanes, struct names *names, bool per_thread, bool per_cpu);
void lanes_clear(struct lanes *lanes);

/* A thread is called so from now on; a new one is called like the one that started it; one is gone.
 * Nothing happens where threads are not told apart. */
void lanes_name(struct lanes *lanes, uint32_t tid, const char *name);
void lanes_inherit(struct lanes *lanes, uint32_t parent_tid, uint32_t tid);
void lanes_end(struct lanes *lanes, uint32_t tid);

/* Of a sample. A thread that nothing was heard of is looked up in /proc. */
uint32_t lanes_number(struct lanes *lanes, uint32_t pid, uint32_t tid, int cpu);

#endif
