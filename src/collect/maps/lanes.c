/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/hash.h>
#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>

struct lane_entry {
	UT_hash_handle hh;
	struct lane lane;
	uint32_t number;
};

struct lane_thread {
	UT_hash_handle hh;
	uint32_t tid;
	uint32_t name;
};

bool lanes_create(struct lanes *lanes, struct names *names, bool per_thread, bool per_cpu)
{
	*lanes = (struct lanes){
		.per_thread = per_thread,
		.per_cpu = per_cpu,
		.names = names,
	};
	return hp_vector_push(lanes, (struct lane){ 0 });
}

void lanes_clear(struct lanes *lanes)
{
	struct lane_entry *entry, *next_entry;
	struct lane_thread *thread, *next_thread;

	HASH_ITER(hh, lanes->by_lane, entry, next_entry)
	{
		HASH_DEL(lanes->by_lane, entry);
		free(entry);
	}
	HASH_ITER(hh, lanes->by_thread, thread, next_thread)
	{
		HASH_DEL(lanes->by_thread, thread);
		free(thread);
	}
	hp_vector_free(lanes);
	*lanes = (struct lanes){ 0 };
}

/* --- threads ---------------------------------------------------------------------------------- */

static struct lane_thread *find_thread(struct lanes *lanes, uint32_t tid)
{
	struct lane_thread *thread;

	HASH_FIND(hh, lanes->by_thread, &tid, sizeof(tid), thread);
	return thread;
}

/* If memory is short, the thread gets no name. */
static void set_name(struct lanes *lanes, uint32_t tid, uint32_t name)
{
	struct lane_thread *thread = find_thread(lanes, tid);

	if (thread) {
		thread->name = name;
		return;
	}
	thread = HASH_COUNT(lanes->by_thread) < LANE_THREADS_LIMIT ? calloc(1, sizeof(*thread))
								   : NULL;
	if (!thread)
		return;
	thread->tid = tid;
	thread->name = name;
	HASH_ADD(hh, lanes->by_thread, tid, sizeof(thread->tid), thread);
	if (!thread->hh.tbl)
		free(thread);
}

void lanes_name(struct lanes *lanes, uint32_t tid, const char *name)
{
	if (lanes->per_thread)
		set_name(lanes, tid, names_number(lanes->names, name));
}

void lanes_inherit(struct lanes *lanes, uint32_t parent_tid, uint32_t tid)
{
	const struct lane_thread *parent = find_thread(lanes, parent_tid);

	if (lanes->per_thread && parent)
		set_name(lanes, tid, parent->name);
}

void lanes_end(struct lanes *lanes, uint32_t tid)
{
	struct lane_thread *thread = find_thread(lanes, tid);

	if (!thread)
		return;
	HASH_DEL(lanes->by_thread, thread);
	free(thread);
}

static uint32_t look_up(struct lanes *lanes, uint32_t pid, uint32_t tid)
{
	_cleanup_free_ char *name = hp_file_text("/proc/%u/task/%u/comm", pid, tid);
	uint32_t number = names_number(lanes->names, name ? name : "");

	set_name(lanes, tid, number);
	return number;
}

/* --- lanes ------------------------------------------------------------------------------------ */

static uint32_t add_lane(struct lanes *lanes, const struct lane *lane)
{
	struct lane_entry *entry;

	entry = lanes->count < LANES_LIMIT ? calloc(1, sizeof(*entry)) : NULL;
	if (!entry || !hp_vector_push(lanes, *lane)) {
		free(entry);
		lanes->refused++;
		return 0;
	}
	entry->lane = *lane;
	entry->number = (uint32_t)lanes->count - 1;
	HASH_ADD(hh, lanes->by_lane, lane, sizeof(entry->lane), entry);
	if (entry->hh.tbl)
		return entry->number;
	free(entry);
	lanes->count--;
	lanes->refused++;
	return 0;
}

uint32_t lanes_number(struct lanes *lanes, uint32_t pid, uint32_t tid, int cpu)
{
	struct lane lane = { 0 };
	const struct lane_thread *thread;
	struct lane_entry *entry;

	if (!lanes->per_thread && !lanes->per_cpu)
		return 0;
	if (lanes->per_thread) {
		thread = find_thread(lanes, tid);
		lane.tid = tid;
		lane.thread = thread ? thread->name : look_up(lanes, pid, tid);
	}
	if (lanes->per_cpu && cpu >= 0)
		lane.cpu = (uint32_t)cpu + 1;
	if (!lane.tid && !lane.thread && !lane.cpu)
		return 0;
	HASH_FIND(hh, lanes->by_lane, &lane, sizeof(lane), entry);
	return entry ? entry->number : add_lane(lanes, &lane);
}
