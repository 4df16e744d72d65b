/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ahead.h"

#include "../tuning.h"
#include "reading.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <poll.h>
#include <stdlib.h>
#include <string.h>

void ahead_begin(struct ahead *ahead)
{
	runs_begin(&ahead->runs);
	ahead->due_bytes = 0;
}

void ahead_clear(struct ahead *ahead)
{
	runs_clear(&ahead->runs);
	free(ahead->is_due);
	*ahead = (struct ahead){ 0 };
}

/* --- before the stop -------------------------------------------------------------------------- */

static bool is_told_to_stop(int stop_fd, int timeout_ms)
{
	struct pollfd poll_stop = { .fd = stop_fd, .events = POLLIN };

	return poll(&poll_stop, 1, timeout_ms) > 0;
}

/* False: told to stop. */
static bool read_first(const struct ahead *ahead, pid_t pid, uint8_t *buffer, int stop_fd)
{
	size_t done = 0;

	while (done < ahead->runs.count && !is_told_to_stop(stop_fd, 0))
		done = read_some_runs(pid, &ahead->runs, done, ahead->runs.count, buffer);
	return done == ahead->runs.count;
}

/* Takes what is new of a run, and notes which pages that are. What cannot be read any more is due, if it
 * is there again by then. */
static void read_again(struct ahead *ahead, pid_t pid, const struct run *run, uint8_t *buffer,
		       uint8_t *scratch)
{
	struct iovec local = { scratch, run->bytes };
	struct iovec remote = { (void *)(uintptr_t)run->address, run->bytes };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	for (uint64_t at = 0; at < run->bytes; at += RUN_PAGE_BYTES) {
		uint8_t *page = buffer + run->offset + at;

		if (got >= (ssize_t)(at + RUN_PAGE_BYTES) &&
		    memcmp(page, scratch + at, RUN_PAGE_BYTES) == 0)
			continue;
		memcpy(page, scratch + at, RUN_PAGE_BYTES);
		ahead->is_due[(run->offset + at) / RUN_PAGE_BYTES] = true;
	}
}

static bool read_second(struct ahead *ahead, pid_t pid, uint8_t *buffer, uint8_t *scratch,
			int stop_fd)
{
	size_t done = 0;

	while (done < ahead->runs.count && !is_told_to_stop(stop_fd, 0))
		read_again(ahead, pid, &ahead->runs.at[done++], buffer, scratch);
	return done == ahead->runs.count;
}

/* A program goes on beside what it has written. */
static void add_neighbours(struct ahead *ahead)
{
	size_t count = ahead->runs.bytes / RUN_PAGE_BYTES;
	bool was_due = false;

	for (size_t i = 0; i < count; i++) {
		bool is_due = ahead->is_due[i];

		if (is_due && i)
			ahead->is_due[i - 1] = true;
		ahead->is_due[i] |= was_due;
		was_due = is_due;
	}
	ahead->due_bytes = 0;
	for (size_t i = 0; i < count; i++)
		ahead->due_bytes += ahead->is_due[i] ? RUN_PAGE_BYTES : 0;
}

static bool take_over(struct ahead *ahead, const struct runs *found)
{
	runs_begin(&ahead->runs);
	for (size_t i = 0; i < found->count; i++) {
		const struct run *run = &found->at[i];

		if (!runs_add(&ahead->runs, run->address, run->bytes, run->offset))
			return false;
	}
	return true;
}

struct hp_error *ahead_read(struct ahead *ahead, pid_t pid, const struct runs *found,
			    uint8_t *buffer, uint8_t *scratch, int stop_fd)
{
	uint64_t start_ns = hp_clock_monotonic_ns();
	uint64_t passed_ns;
	bool is_read;

	if (!take_over(ahead, found) ||
	    !hp_grow((void **)&ahead->is_due, &ahead->capacity, found->bytes / RUN_PAGE_BYTES + 1,
		     sizeof(*ahead->is_due)))
		return hp_error_create_no_memory();
	memset(ahead->is_due, 0, found->bytes / RUN_PAGE_BYTES);
	is_read = read_first(ahead, pid, buffer, stop_fd);
	passed_ns = hp_clock_monotonic_ns() - start_ns;
	if (is_read && passed_ns < AHEAD_INTERVAL_NS)
		is_read =
			!is_told_to_stop(stop_fd, (int)((AHEAD_INTERVAL_NS - passed_ns) / 1000000));
	if (!is_read || !read_second(ahead, pid, buffer, scratch, stop_fd)) {
		ahead_begin(ahead);
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the recording ends");
	}
	add_neighbours(ahead);
	return NULL;
}

/* --- in the stop ------------------------------------------------------------------------------ */

/* The run that was read ahead and ends behind `address`, at or behind `next`; NULL: none. */
static const struct run *find_next(const struct ahead *ahead, uint64_t address, size_t *next)
{
	const struct runs *runs = &ahead->runs;

	while (*next < runs->count && runs->at[*next].address + runs->at[*next].bytes <= address)
		(*next)++;
	return *next < runs->count ? &runs->at[*next] : NULL;
}

/* Adds pages that were read ahead, and to what is due those that may have changed since. */
static bool add_known(const struct ahead *ahead, uint64_t address, uint64_t bytes, uint64_t offset,
		      struct runs *all, struct runs *due)
{
	bool has_room = runs_add(all, address, bytes, offset);

	for (uint64_t at = 0; has_room && at < bytes; at += RUN_PAGE_BYTES) {
		if (ahead->is_due[(offset + at) / RUN_PAGE_BYTES])
			has_room = runs_add(due, address + at, RUN_PAGE_BYTES, offset + at);
	}
	return has_room;
}

bool ahead_merge(const struct ahead *ahead, const struct runs *found, struct runs *all,
		 struct runs *due, uint64_t *end)
{
	bool has_room = true;
	size_t next = 0;

	runs_begin(all);
	runs_begin(due);
	*end = ahead->runs.bytes;
	for (size_t i = 0; has_room && i < found->count; i++) {
		uint64_t address = found->at[i].address;
		uint64_t left = found->at[i].bytes;
		uint64_t bytes;

		for (; has_room && left; address += bytes, left -= bytes) {
			const struct run *run = find_next(ahead, address, &next);
			bool is_known = run && run->address <= address;
			uint64_t border = !run	     ? UINT64_MAX
					  : is_known ? run->address + run->bytes
						     : run->address;

			bytes = border - address < left ? border - address : left;
			if (is_known) {
				has_room = add_known(ahead, address, bytes,
						     run->offset + (address - run->address), all,
						     due);
				continue;
			}
			has_room = runs_add(all, address, bytes, *end) &&
				   runs_add(due, address, bytes, *end);
			*end += bytes;
		}
	}
	return has_room;
}
