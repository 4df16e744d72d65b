/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reading.h"

#include "../tuning.h"
#include <hpcprof/base/number.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Worth two readers, and more than caches hold close by. */
enum { PROBE_BYTES = 2 * READER_BYTES };

size_t read_some_runs(pid_t pid, const struct runs *runs, size_t first, size_t end, uint8_t *buffer)
{
	struct iovec local[RUNS_AT_ONCE], remote[RUNS_AT_ONCE];
	size_t count = runs_vectors(runs, first, end, buffer, local, remote);
	ssize_t got = process_vm_readv(pid, local, count, remote, count, 0);
	uint64_t got_bytes = got > 0 ? (uint64_t)got : 0;

	for (size_t i = first; i < first + count; i++) {
		const struct run *run = &runs->at[i];
		uint64_t done = got_bytes < run->bytes ? got_bytes : run->bytes;

		got_bytes -= done;
		if (done == run->bytes)
			continue;
		memset(buffer + run->offset + done, 0, run->bytes - done);
		return i + 1;
	}
	return first + count;
}

struct part {
	pid_t pid;
	const struct runs *runs;
	uint8_t *buffer;
	size_t first, end; /* runs */
	uint64_t deadline_ns;
	size_t done; /* runs before it have been read */
	pthread_t thread;
	bool is_running;
};

static void *read_part(void *context)
{
	struct part *part = context;

	while (part->done < part->end && hp_clock_monotonic_ns() < part->deadline_ns)
		part->done =
			read_some_runs(part->pid, part->runs, part->done, part->end, part->buffer);
	return NULL;
}

/* So many readers, each with about as many bytes. */
static void divide(const struct part *whole, struct part *parts, size_t count)
{
	const struct runs *runs = whole->runs;
	uint64_t before = 0;
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t end_bytes = runs->bytes / count * (i + 1);

		parts[i] = *whole;
		parts[i].first = parts[i].done = at;
		while (at < runs->count && (i + 1 == count || before < end_bytes))
			before += runs->at[at++].bytes;
		parts[i].end = at;
	}
}

static uint64_t bytes_of(const struct part *part)
{
	uint64_t bytes = 0;

	for (size_t i = part->first; i < part->done; i++)
		bytes += part->runs->at[i].bytes;
	return bytes;
}

/* On another CPU than this one, where there is one: left to itself, the scheduler starts a thread on
 * the CPU of its maker as often as not. */
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

/* While the thread is held its CPU has nothing to do, either. */
uint64_t read_runs(pid_t pid, const struct runs *runs, uint8_t *buffer, uint64_t deadline_ns)
{
	const struct part whole = {
		.pid = pid, .runs = runs, .buffer = buffer, .deadline_ns = deadline_ns
	};
	struct part parts[MOST_READERS];
	size_t count = runs->bytes / READER_BYTES + 1;
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = 0;

	if (count > cpus)
		count = cpus ? cpus : 1;
	if (count > MOST_READERS)
		count = MOST_READERS;
	divide(&whole, parts, count);
	for (size_t i = 1; i < count; i++)
		read_elsewhere(&parts[i]);
	read_part(&parts[0]);
	for (size_t i = 1; i < count; i++) {
		if (parts[i].is_running)
			pthread_join(parts[i].thread, NULL);
		else
			read_part(&parts[i]);
	}
	for (size_t i = 0; i < count; i++)
		bytes += bytes_of(&parts[i]);
	return bytes;
}

/* --- what it takes ---------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a;
	uint64_t second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

/* Reads PROBE_BYTES of our own from `memory` to behind them, several times; the middle one: on a busy
 * machine readers wait, too. 0: they cannot be read. */
static uint64_t probe_ns(const struct runs *runs, uint8_t *memory)
{
	uint64_t took_ns[PROBES];
	uint64_t bytes = 0;

	for (size_t i = 0; i < PROBES; i++) {
		took_ns[i] = hp_clock_monotonic_ns();
		bytes = read_runs(getpid(), runs, memory + PROBE_BYTES, UINT64_MAX);
		took_ns[i] = hp_clock_monotonic_ns() - took_ns[i];
	}
	qsort(took_ns, PROBES, sizeof(*took_ns), by_size);
	return bytes == PROBE_BYTES ? took_ns[PROBES / 2] : 0;
}

double reading_price(void)
{
	struct runs runs = { 0 };
	uint64_t took_ns = 0;
	bool has_room = true;
	uint8_t *memory = mmap(NULL, (size_t)2 * PROBE_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED)
		return 0;
	for (uint64_t at = 0; has_room && at < PROBE_BYTES; at += RUN_BYTES)
		has_room = runs_add(&runs, (uint64_t)(uintptr_t)memory + at, RUN_BYTES, at);
	if (has_room)
		took_ns = probe_ns(&runs, memory);
	runs_clear(&runs);
	munmap(memory, (size_t)2 * PROBE_BYTES);
	return (double)took_ns / PROBE_BYTES;
}
