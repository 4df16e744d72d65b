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

/* The work of one thread. */
struct part {
	pid_t pid;
	const struct run *runs;
	size_t count;
	uint8_t *buffer;
	uint64_t deadline_ns;
	size_t done; /* number of runs that have been read */
	pthread_t thread;
	bool is_running;
};

uint64_t runs_bytes(const struct run *runs, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += runs[i].bytes;
	return bytes;
}

/* Reads as many runs as one system call takes. */
static void read_some(struct part *part)
{
	struct iovec remote[RUNS_AT_ONCE] = { 0 };
	struct iovec local[RUNS_AT_ONCE] = { 0 };
	size_t first = part->done;
	size_t count = 0;
	uint64_t bytes = 0;
	uint64_t got_bytes;
	ssize_t got;

	while (first + count < part->count && count < RUNS_AT_ONCE && bytes < COPY_BYTES_AT_ONCE) {
		const struct run *run = &part->runs[first + count];

		remote[count] = (struct iovec){ (void *)(uintptr_t)run->address, run->bytes };
		local[count++] = (struct iovec){ part->buffer + run->offset, run->bytes };
		bytes += run->bytes;
	}
	got = process_vm_readv(part->pid, local, count, remote, count, 0);
	got_bytes = got > 0 ? (uint64_t)got : 0;
	part->done = first + count;
	for (size_t i = first; i < first + count; i++) {
		const struct run *run = &part->runs[i];
		uint64_t had = got_bytes < run->bytes ? got_bytes : run->bytes;

		got_bytes -= had;
		if (had == run->bytes)
			continue;
		memset(part->buffer + run->offset + had, 0, run->bytes - had);
		part->done = i + 1;
		return;
	}
}

static void *read_part(void *context)
{
	struct part *part = context;

	while (part->done < part->count && hp_clock_monotonic_ns() < part->deadline_ns)
		read_some(part);
	return NULL;
}

/* Divides the runs among so many readers, about evenly by bytes. */
static void divide(const struct part *whole, struct part *parts, size_t count)
{
	uint64_t share = runs_bytes(whole->runs, whole->count) / count;
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t bytes = 0;

		parts[i] = *whole;
		parts[i].runs = whole->runs + at;
		for (parts[i].count = 0; at < whole->count && (i + 1 == count || bytes < share);
		     at++) {
			bytes += whole->runs[at].bytes;
			parts[i].count++;
		}
	}
}

/* Uses another CPU than this one, if there is one: the scheduler often starts a thread on the CPU
 * of its creator. */
static void read_elsewhere(struct part *part)
{
	pthread_attr_t attributes;
	cpu_set_t cpus;
	int here = sched_getcpu();

	if (pthread_attr_init(&attributes) != 0)
		return;
	if (here >= 0 && sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
		CPU_CLR((size_t)here, &cpus);
		if (CPU_COUNT(&cpus))
			pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
	}
	part->is_running = pthread_create(&part->thread, &attributes, read_part, part) == 0;
	pthread_attr_destroy(&attributes);
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
	const struct part whole = { .pid = pid,
				    .runs = runs,
				    .count = count,
				    .buffer = buffer,
				    .deadline_ns = deadline_ns };
	struct part parts[MOST_READERS];
	size_t readers = readers_for(runs_bytes(runs, count));
	uint64_t done_bytes = 0;

	divide(&whole, parts, readers);
	for (size_t i = 1; i < readers; i++)
		read_elsewhere(&parts[i]);
	read_part(&parts[0]);
	for (size_t i = 1; i < readers; i++) {
		if (parts[i].is_running)
			pthread_join(parts[i].thread, NULL);
		else
			read_part(&parts[i]);
	}
	for (size_t i = 0; i < readers; i++)
		done_bytes += runs_bytes(parts[i].runs, parts[i].done);
	return done_bytes;
}
