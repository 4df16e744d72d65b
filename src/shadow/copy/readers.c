/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "readers.h"

#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { RUNS_AT_ONCE = 256 };

/* What all readers of one reading share. Each takes the next few runs when it has read its last ones:
 * one may be on a slower CPU than another, or get a CPU later. */
struct work {
	pid_t pid;
	const struct run *runs;
	size_t count;
	uint8_t *buffer;
	uint64_t deadline_ns;
	size_t next;	     /* the first run that no reader has taken; atomic, as is … */
	uint64_t done_bytes; /* … this */
};

uint64_t runs_bytes(const struct run *runs, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += runs[i].bytes;
	return bytes;
}

/* Takes runs for one system call. Returns how many; 0: others have taken the rest. */
static size_t take_some(struct work *work, size_t *first)
{
	size_t at = __atomic_load_n(&work->next, __ATOMIC_RELAXED);
	size_t end;

	do {
		uint64_t bytes = 0;

		for (end = at; end < work->count && end - at < RUNS_AT_ONCE && bytes < RUN_BYTES;
		     end++)
			bytes += work->runs[end].bytes;
	} while (!__atomic_compare_exchange_n(&work->next, &at, end, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	*first = at;
	return end - at;
}

/* Reads runs, at most RUNS_AT_ONCE, up to one that cannot be read whole. Returns how many were handled. */
static size_t read_some(const struct work *work, const struct run *runs, size_t count)
{
	struct iovec remote[RUNS_AT_ONCE] = { 0 };
	struct iovec local[RUNS_AT_ONCE] = { 0 };
	uint64_t got_bytes;
	ssize_t got;

	for (size_t i = 0; i < count; i++) {
		remote[i] = (struct iovec){ (void *)(uintptr_t)runs[i].address, runs[i].bytes };
		local[i] = (struct iovec){ work->buffer + runs[i].offset, runs[i].bytes };
	}
	got = process_vm_readv(work->pid, local, count, remote, count, 0);
	got_bytes = got > 0 ? (uint64_t)got : 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t had = got_bytes < runs[i].bytes ? got_bytes : runs[i].bytes;

		got_bytes -= had;
		if (had == runs[i].bytes)
			continue;
		memset(work->buffer + runs[i].offset + had, 0, runs[i].bytes - had);
		return i + 1;
	}
	return count;
}

static void *read_part(void *context)
{
	struct work *work = context;
	size_t first, count;

	while (hp_clock_monotonic_ns() < work->deadline_ns && (count = take_some(work, &first))) {
		const struct run *runs = work->runs + first;

		for (size_t done = 0; done < count;)
			done += read_some(work, runs + done, count - done);
		__atomic_add_fetch(&work->done_bytes, runs_bytes(runs, count), __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Uses another CPU than this one, if there is one: the scheduler often starts a thread on the CPU
 * of its creator. */
static bool read_elsewhere(struct work *work, pthread_t *thread)
{
	pthread_attr_t attributes;
	cpu_set_t cpus;
	int here = sched_getcpu();
	bool is_running;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	if (here >= 0 && sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
		CPU_CLR((size_t)here, &cpus);
		if (CPU_COUNT(&cpus))
			pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	}
	is_running = pthread_create(thread, &attributes, read_part, work) == 0;
	pthread_attr_destroy(&attributes);
	return is_running;
}

static size_t readers_for(uint64_t bytes)
{
	size_t count = bytes / COPY_BYTES_AT_ONCE + 1;
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (count > cpus)
		count = cpus ? cpus : 1;
	return count < MOST_READERS ? count : MOST_READERS;
}

uint64_t readers_read(pid_t pid, const struct run *runs, size_t count, uint8_t *buffer,
		      uint64_t deadline_ns)
{
	struct work work = {
		.pid = pid,
		.runs = runs,
		.count = count,
		.buffer = buffer,
		.deadline_ns = deadline_ns,
	};
	size_t wanted = readers_for(runs_bytes(runs, count)) - 1;
	pthread_t others[MOST_READERS];
	size_t started = 0;

	while (started < wanted && read_elsewhere(&work, &others[started]))
		started++;
	read_part(&work);
	for (size_t i = 0; i < started; i++)
		pthread_join(others[i], NULL);
	return work.done_bytes;
}
