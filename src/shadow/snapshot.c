/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	RUNS_AT_ONCE = 256,
	/* No run is longer, so that several can read. */
	RUN_BYTES = 1 << 20,
	/* So much is worth a thread. */
	READER_BYTES = 8 << 20,
	MOST_READERS = 4,
	/* Pages that are looked at in one go. */
	SCAN_PAGES = 65536,
	/* Room for what comes until the stop: so much more, and an eighth. */
	SPARE_BYTES = 1 << 20,
};

/* Of more address space the looking alone takes too long: 64 GiB. */
#define SCAN_LIMIT_PAGES (UINT64_C(16) << 20)

/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGE_IN_MEMORY (UINT64_C(1) << 63)
#define PAGE_SWAPPED   (UINT64_C(1) << 62)
#define PAGE_OF_FILE   (UINT64_C(1) << 61)

void snapshot_init(struct snapshot *snapshot)
{
	*snapshot = (struct snapshot){ .pagemap_fd = -1 };
}

void snapshot_clear(struct snapshot *snapshot)
{
	areas_clear(&snapshot->areas);
	free(snapshot->runs);
	free(snapshot->pagemap);
	if (snapshot->buffer)
		munmap(snapshot->buffer, snapshot->buffer_bytes);
	if (snapshot->pagemap_fd >= 0)
		close(snapshot->pagemap_fd);
	snapshot_init(snapshot);
}

/* The kernel's own answer, without touching anything: at address 0 there is nothing to be read. */
struct hp_error *snapshot_permitted(pid_t pid)
{
	uint8_t byte;
	struct iovec local = { &byte, 1 };
	struct iovec remote = { NULL, 1 };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 || errno != EPERM)
		return NULL;
	return hp_error_advise(
		hp_error_create(HP_ERROR_NOT_PERMITTED, "the memory of process %d may not be read",
				(int)pid),
		"programs with more rights than you (setuid, another user's) cannot be copied, nor "
		"those that kernel.yama.ptrace_scope keeps from you");
}

/* Which of its pages are to be read: any that is in memory, or those that no file holds. */
enum reading { READ_NONE, READ_WRITTEN, READ_ALL };

static enum reading reading_of(const struct area *area)
{
	if (!area->protection || area->kind == AREA_DEVICE || area->kind == AREA_VVAR ||
	    area->kind == AREA_VSYSCALL)
		return READ_NONE;
	if (area->kind == AREA_VDSO || area->kind == AREA_UNNAMED)
		return READ_ALL;
	if (area->is_shared)
		return area->protection & PROT_WRITE ? READ_ALL : READ_NONE;
	return area->kind == AREA_FILE ? READ_WRITTEN : READ_ALL;
}

static bool is_wanted(uint64_t page, enum reading reading)
{
	if (!(page & (PAGE_IN_MEMORY | PAGE_SWAPPED)))
		return false;
	return reading == READ_ALL || !(page & PAGE_OF_FILE);
}

/* --- which pages ------------------------------------------------------------------------------ */

static bool add_page(struct snapshot *snapshot, uint64_t address)
{
	struct run *last = snapshot->run_count ? &snapshot->runs[snapshot->run_count - 1] : NULL;
	struct run run = { .address = address, .bytes = PAGE_BYTES };

	if (last && address == last->address + last->bytes && last->bytes < RUN_BYTES) {
		last->bytes += PAGE_BYTES;
		return true;
	}
	if (!hp_grow((void **)&snapshot->runs, &snapshot->run_capacity, snapshot->run_count + 1,
		     sizeof(run)))
		return false;
	snapshot->runs[snapshot->run_count++] = run;
	return true;
}

static struct hp_error *scan_area(struct snapshot *snapshot, const struct area *area)
{
	enum reading reading = reading_of(area);
	uint64_t pages;

	for (uint64_t at = area->start; reading != READ_NONE && at < area->end;
	     at += pages * PAGE_BYTES) {
		ssize_t got;

		pages = (area->end - at) / PAGE_BYTES;
		if (pages > SCAN_PAGES)
			pages = SCAN_PAGES;
		got = pread(snapshot->pagemap_fd, snapshot->pagemap, pages * sizeof(uint64_t),
			    (off_t)(at / PAGE_BYTES * sizeof(uint64_t)));
		if (got < (ssize_t)sizeof(uint64_t))
			return hp_error_create_errno(got < 0 ? errno : ESRCH,
						     "looking at its pages");
		pages = (uint64_t)got / sizeof(uint64_t);
		for (uint64_t i = 0; i < pages; i++) {
			if (is_wanted(snapshot->pagemap[i], reading) &&
			    !add_page(snapshot, at + i * PAGE_BYTES))
				return hp_error_create_no_memory();
		}
	}
	return NULL;
}

/* Lays the runs out in the buffer, one behind the other. */
static void arrange(struct snapshot *snapshot)
{
	uint64_t offset = 0;

	for (size_t i = 0; i < snapshot->run_count; i++) {
		snapshot->runs[i].offset = offset;
		offset += snapshot->runs[i].bytes;
	}
	snapshot->used_bytes = offset;
}

static struct hp_error *scan(struct snapshot *snapshot)
{
	struct hp_error *error = areas_read(&snapshot->areas, snapshot->pid);
	uint64_t pages = 0;

	snapshot->run_count = 0;
	for (size_t i = 0; !error && i < snapshot->areas.count; i++) {
		const struct area *area = &snapshot->areas.at[i];

		if (reading_of(area) != READ_NONE)
			pages += (area->end - area->start) / PAGE_BYTES;
		if (pages > SCAN_LIMIT_PAGES)
			return hp_error_create(
				HP_ERROR_INSUFFICIENT,
				"it has more than %u GiB of address space to look at",
				(unsigned)(SCAN_LIMIT_PAGES >> 18));
		error = scan_area(snapshot, area);
	}
	arrange(snapshot);
	return error;
}

/* --- the buffer ------------------------------------------------------------------------------- */

static struct hp_error *open_pagemap(struct snapshot *snapshot, pid_t pid)
{
	char path[64];

	if (!hp_grow((void **)&snapshot->pagemap, &snapshot->pagemap_capacity, SCAN_PAGES,
		     sizeof(*snapshot->pagemap)))
		return hp_error_create_no_memory();
	if (snapshot->pagemap_fd >= 0)
		close(snapshot->pagemap_fd);
	snapshot->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	snapshot->pagemap_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (snapshot->pagemap_fd < 0)
		return hp_error_create_errno(errno, "opening %s", path);
	return NULL;
}

static struct hp_error *make_room(struct snapshot *snapshot, uint64_t bytes)
{
	uint64_t wanted = bytes + bytes / 8 + SPARE_BYTES;
	void *buffer;

	if (snapshot->buffer_bytes >= bytes + SPARE_BYTES / 2 &&
	    snapshot->buffer_bytes / 4 <= wanted)
		return NULL;
	if (snapshot->buffer)
		munmap(snapshot->buffer, snapshot->buffer_bytes);
	snapshot->buffer = NULL;
	snapshot->buffer_bytes = 0;
	wanted = (wanted + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	buffer = mmap(NULL, wanted, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buffer == MAP_FAILED)
		return hp_error_create_no_memory();
	snapshot->buffer = buffer;
	snapshot->buffer_bytes = wanted;
	return NULL;
}

struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes)
{
	struct hp_error *error = open_pagemap(snapshot, pid);

	if (!error)
		error = scan(snapshot);
	*bytes = snapshot->used_bytes;
	return error;
}

struct hp_error *snapshot_reserve(struct snapshot *snapshot)
{
	return make_room(snapshot, snapshot->used_bytes);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Reads runs from `first` to `end`, as many as one call takes; returns the next to begin with. A
 * page that cannot be read any more is zero. */
static size_t read_runs(struct snapshot *snapshot, size_t first, size_t end)
{
	struct iovec remote[RUNS_AT_ONCE] = { 0 };
	struct iovec local = { .iov_base = snapshot->buffer + snapshot->runs[first].offset };
	size_t count = 0;
	uint64_t got_bytes;
	ssize_t got;

	while (first + count < end && count < RUNS_AT_ONCE) {
		const struct run *run = &snapshot->runs[first + count];

		remote[count++] = (struct iovec){ (void *)(uintptr_t)run->address, run->bytes };
		local.iov_len += run->bytes;
	}
	got = process_vm_readv(snapshot->pid, &local, 1, remote, count, 0);
	got_bytes = got > 0 ? (uint64_t)got : 0;
	for (size_t i = first; i < first + count; i++) {
		struct run *run = &snapshot->runs[i];
		uint64_t done = got_bytes < run->bytes ? got_bytes : run->bytes;

		got_bytes -= done;
		if (done == run->bytes)
			continue;
		memset(snapshot->buffer + run->offset + done, 0, run->bytes - done);
		return i + 1;
	}
	return first + count;
}

struct part {
	struct snapshot *snapshot;
	size_t first, end; /* runs */
	pthread_t thread;
	bool is_running;
};

static void *read_part(void *context)
{
	struct part *part = context;

	for (size_t at = part->first; at < part->end;)
		at = read_runs(part->snapshot, at, part->end);
	return NULL;
}

/* So many readers, each with about as many bytes. */
static void divide(struct snapshot *snapshot, struct part *parts, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t end_bytes = snapshot->used_bytes / count * (i + 1);

		parts[i] = (struct part){ .snapshot = snapshot, .first = at };
		while (at < snapshot->run_count &&
		       (i + 1 == count || snapshot->runs[at].offset < end_bytes))
			at++;
		parts[i].end = at;
	}
}

/* While the thread is held its CPU has nothing to do, either. */
static void read_all(struct snapshot *snapshot)
{
	struct part parts[MOST_READERS];
	size_t count = snapshot->used_bytes / READER_BYTES + 1;
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (count > cpus)
		count = cpus ? cpus : 1;
	if (count > MOST_READERS)
		count = MOST_READERS;
	divide(snapshot, parts, count);
	for (size_t i = 1; i < count; i++)
		parts[i].is_running =
			pthread_create(&parts[i].thread, NULL, read_part, &parts[i]) == 0;
	read_part(&parts[0]);
	for (size_t i = 1; i < count; i++) {
		if (parts[i].is_running)
			pthread_join(parts[i].thread, NULL);
		else
			read_part(&parts[i]);
	}
}

struct hp_error *snapshot_take(struct snapshot *snapshot)
{
	struct hp_error *error = scan(snapshot);

	if (error)
		return error;
	if (snapshot->used_bytes > snapshot->buffer_bytes)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "its memory has grown meanwhile");
	read_all(snapshot);
	return NULL;
}
