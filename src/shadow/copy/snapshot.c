/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot.h"

#include "../tuning.h"
#include "reading.h"

#include <poll.h>
#include <string.h>
#include <sys/mman.h>

void snapshot_init(struct snapshot *snapshot)
{
	*snapshot = (struct snapshot){ 0 };
	pages_init(&snapshot->pages);
}

static void release_buffer(struct snapshot *snapshot)
{
	if (snapshot->buffer)
		munmap(snapshot->buffer, snapshot->buffer_bytes);
	snapshot->buffer = NULL;
	snapshot->buffer_bytes = 0;
}

void snapshot_clear(struct snapshot *snapshot)
{
	areas_clear(&snapshot->areas);
	runs_clear(&snapshot->found);
	runs_clear(&snapshot->runs);
	runs_clear(&snapshot->due);
	ahead_clear(&snapshot->ahead);
	pages_clear(&snapshot->pages);
	secrets_clear(&snapshot->secrets);
	release_buffer(snapshot);
	snapshot_init(snapshot);
}

/* Which of its pages are to be read: any that is in memory, or those that no file holds. */
enum reading { READ_NONE, READ_WRITTEN, READ_ALL };

static enum reading reading_of(const struct area *area)
{
	if (!area->protection || area->is_secret || area->kind == AREA_DEVICE ||
	    area->kind == AREA_VVAR || area->kind == AREA_VSYSCALL)
		return READ_NONE;
	if (area->kind == AREA_VDSO || area->kind == AREA_UNNAMED)
		return READ_ALL;
	if (area->is_shared)
		return area->protection & PROT_WRITE ? READ_ALL : READ_NONE;
	return area->kind == AREA_FILE ? READ_WRITTEN : READ_ALL;
}

/* --- which pages ------------------------------------------------------------------------------ */

static bool add_pages(void *context, uint64_t start, uint64_t end)
{
	struct runs *found = context;

	return runs_add(found, start, end - start, found->bytes);
}

static struct hp_error *scan_area(struct snapshot *snapshot, const struct area *area)
{
	enum reading reading = reading_of(area);

	if (reading == READ_NONE)
		return NULL;
	return pages_find(&snapshot->pages, area->start, area->end, reading == READ_WRITTEN,
			  add_pages, &snapshot->found);
}

static void mark_secrets(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->areas.count; i++) {
		struct area *area = &snapshot->areas.at[i];

		area->is_secret = secrets_meet(&snapshot->secrets, area->start, area->end);
	}
}

static struct hp_error *scan(struct snapshot *snapshot)
{
	struct hp_error *error = areas_read(&snapshot->areas, snapshot->pid);

	runs_begin(&snapshot->found);
	pages_begin(&snapshot->pages);
	if (!error)
		mark_secrets(snapshot);
	for (size_t i = 0; !error && i < snapshot->areas.count; i++)
		error = scan_area(snapshot, &snapshot->areas.at[i]);
	return error;
}

/* --- the buffer ------------------------------------------------------------------------------- */

static bool has_room(const struct snapshot *snapshot)
{
	return snapshot->buffer_bytes >= snapshot->found.bytes + SPARE_BYTES / 2;
}

/* Has the kernel give us the memory now. False: told to stop. */
static bool touch(uint8_t *at, uint64_t bytes, int stop_fd)
{
	while (bytes) {
		struct pollfd poll_stop = { .fd = stop_fd, .events = POLLIN };
		uint64_t part = bytes < COPY_BYTES_AT_ONCE ? bytes : COPY_BYTES_AT_ONCE;

		if (poll(&poll_stop, 1, 0) > 0)
			return false;
		memset(at, 0, part);
		at += part;
		bytes -= part;
	}
	return true;
}

/* What there is stays in memory; only what is new takes time. */
static struct hp_error *enlarge_buffer(struct snapshot *snapshot, uint64_t bytes, int stop_fd)
{
	uint64_t before = snapshot->buffer_bytes;
	uint8_t *buffer = before ? mremap(snapshot->buffer, before, bytes, MREMAP_MAYMOVE)
				 : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer == MAP_FAILED)
		return hp_error_create_no_memory();
	snapshot->buffer = buffer;
	snapshot->buffer_bytes = bytes;
	/* A tenth faster to read into. Where there are none they are small ones. */
	madvise(buffer, bytes, MADV_HUGEPAGE);
	madvise(buffer, bytes, MADV_DONTDUMP);
	if (!touch(buffer + before, bytes - before, stop_fd))
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the recording ends");
	return NULL;
}

static uint64_t bytes_wanted(const struct snapshot *snapshot)
{
	uint64_t found = snapshot->found.bytes;
	uint64_t bytes = found + found / SPARE_PART + SPARE_BYTES;

	return (bytes + RUN_PAGE_BYTES - 1) / RUN_PAGE_BYTES * RUN_PAGE_BYTES;
}

struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes)
{
	struct hp_error *error = pages_open(&snapshot->pages, pid);

	snapshot->pid = pid;
	ahead_begin(&snapshot->ahead);
	if (!error)
		error = secrets_read(&snapshot->secrets, pid);
	if (!error)
		error = scan(snapshot);
	*bytes = snapshot->found.bytes;
	return error;
}

struct hp_error *snapshot_reserve(struct snapshot *snapshot, int stop_fd)
{
	struct hp_error *error = NULL;

	if (snapshot->buffer_bytes / BUFFER_EXCESS > bytes_wanted(snapshot))
		release_buffer(snapshot);
	/* Making room takes so long that a target may have grown by more meanwhile. */
	for (unsigned i = 0; i < ROOM_TRIES && !error && !has_room(snapshot); i++) {
		error = enlarge_buffer(snapshot, bytes_wanted(snapshot), stop_fd);
		if (!error)
			error = scan(snapshot);
	}
	return error;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct hp_error *snapshot_read_ahead(struct snapshot *snapshot, int stop_fd)
{
	return ahead_read(&snapshot->ahead, snapshot->pid, &snapshot->found, snapshot->buffer,
			  snapshot->buffer + snapshot->found.bytes, stop_fd);
}

uint64_t snapshot_due_bytes(const struct snapshot *snapshot)
{
	const struct ahead *ahead = &snapshot->ahead;

	return ahead->runs.count ? ahead->due_bytes : snapshot->found.bytes;
}

struct hp_error *snapshot_take(struct snapshot *snapshot, uint64_t deadline_ns)
{
	struct hp_error *error = scan(snapshot);

	snapshot->read_bytes = 0;
	if (error)
		return error;
	if (!ahead_merge(&snapshot->ahead, &snapshot->found, &snapshot->runs, &snapshot->due,
			 &snapshot->used_bytes))
		return hp_error_create_no_memory();
	if (snapshot->used_bytes > snapshot->buffer_bytes)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "its memory grew during the copy");
	snapshot->read_bytes = read_runs(snapshot->pid, &snapshot->due, snapshot->buffer,
					 deadline_ns ? deadline_ns : UINT64_MAX);
	if (snapshot->read_bytes < snapshot->due.bytes)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "reading %.1f MiB takes longer than expected",
				       (double)snapshot->due.bytes / (1 << 20));
	return NULL;
}

static void scrub_run(struct snapshot *snapshot, const struct run *run, const struct secret *secret)
{
	uint64_t start = run->address > secret->start ? run->address : secret->start;
	uint64_t end = run->address + run->bytes;

	if (end > secret->end)
		end = secret->end;
	if (start < end)
		explicit_bzero(snapshot->buffer + run->offset + (start - run->address),
			       end - start);
}

struct hp_error *snapshot_scrub(struct snapshot *snapshot)
{
	struct hp_error *error = secrets_read(&snapshot->secrets, snapshot->pid);

	if (error)
		return error;
	mark_secrets(snapshot);
	for (size_t i = 0; i < snapshot->runs.count; i++) {
		for (size_t j = 0; j < snapshot->secrets.count; j++)
			scrub_run(snapshot, &snapshot->runs.at[i], &snapshot->secrets.at[j]);
	}
	return NULL;
}
