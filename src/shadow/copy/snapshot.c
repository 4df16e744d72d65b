/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	RUNS_AT_ONCE = 256,
	/* Worth two readers, and more than caches hold close by. */
	PROBE_BYTES = 2 * READER_BYTES,
	NS_PER_S = 1000000000,
	LEAST_PRIORITY = 19, /* nice(2) */
};

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
	free(snapshot->runs);
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

static bool add_pages(void *context, uint64_t start, uint64_t end)
{
	for (uint64_t page = start; page < end; page += PAGE_BYTES) {
		if (!add_page(context, page))
			return false;
	}
	return true;
}

static struct hp_error *scan_area(struct snapshot *snapshot, const struct area *area)
{
	enum reading reading = reading_of(area);

	if (reading == READ_NONE)
		return NULL;
	return pages_find(&snapshot->pages, area->start, area->end, reading == READ_WRITTEN,
			  add_pages, snapshot);
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

	snapshot->run_count = 0;
	pages_begin(&snapshot->pages);
	if (!error)
		mark_secrets(snapshot);
	for (size_t i = 0; !error && i < snapshot->areas.count; i++)
		error = scan_area(snapshot, &snapshot->areas.at[i]);
	arrange(snapshot);
	return error;
}

/* --- the buffer ------------------------------------------------------------------------------- */

static bool has_room(const struct snapshot *snapshot)
{
	return snapshot->buffer_bytes >= snapshot->used_bytes + SPARE_BYTES / 2;
}

/* Memory that a thread of the lowest priority fills, so that the kernel gives it. */
struct filling {
	uint8_t *at;
	uint64_t bytes;
	uint64_t done; /* atomic, as is the next */
	bool is_over;
};

static void *fill(void *context)
{
	struct filling *filling = context;
	uint64_t at = 0;

	setpriority(PRIO_PROCESS, (id_t)gettid(), LEAST_PRIORITY);
	while (at < filling->bytes && !__atomic_load_n(&filling->is_over, __ATOMIC_RELAXED)) {
		uint64_t part = filling->bytes - at;

		if (part > FILL_BYTES_AT_ONCE)
			part = FILL_BYTES_AT_ONCE;
		memset(filling->at + at, 0, part);
		at += part;
		__atomic_store_n(&filling->done, at, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* How much of it there is then. */
static uint64_t touch_aside(uint8_t *at, uint64_t bytes, int stop_fd)
{
	struct filling filling = { .at = at, .bytes = bytes };
	uint64_t end_ns = hp_clock_monotonic_ns() + FILL_PATIENCE_NS;
	struct pollfd poll_stop = { .fd = stop_fd, .events = POLLIN };
	pthread_t thread;

	if (hp_thread_start(&thread, fill, &filling) != 0)
		return 0;
	while (__atomic_load_n(&filling.done, __ATOMIC_RELAXED) < bytes &&
	       hp_clock_monotonic_ns() < end_ns && poll(&poll_stop, 1, FILL_LOOK_MS) <= 0)
		;
	__atomic_store_n(&filling.is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return filling.done;
}

/* What is in memory of it stays. */
static struct hp_error *fill_buffer(struct snapshot *snapshot, uint64_t before, int stop_fd)
{
	uint64_t wanted = snapshot->buffer_bytes - before;
	uint64_t done =
		touch_aside(snapshot->buffer + before, wanted, stop_fd) / PAGE_BYTES * PAGE_BYTES;

	if (done == wanted)
		return NULL;
	if (before + done)
		munmap(snapshot->buffer + before + done, wanted - done);
	else
		release_buffer(snapshot);
	snapshot->buffer_bytes = before + done;
	return hp_error_create(HP_ERROR_INSUFFICIENT,
			       "no CPU has time to make memory for its copy");
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
	madvise(buffer, bytes, MADV_DONTDUMP);
	return fill_buffer(snapshot, before, stop_fd);
}

void snapshot_adopt(struct snapshot *snapshot, uint8_t *memory, uint64_t bytes)
{
	release_buffer(snapshot);
	snapshot->buffer = memory;
	snapshot->buffer_bytes = bytes;
}

static uint64_t bytes_wanted(const struct snapshot *snapshot)
{
	uint64_t bytes = snapshot->used_bytes + snapshot->used_bytes / SPARE_PART + SPARE_BYTES;

	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

/* The kernel's count of its pages lags behind, and some of them are secret. */
uint64_t snapshot_expect(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	unsigned long long anonymous_kb = 0;
	const char *line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	hp_error_destroy(hp_file_read_text(path, &text));
	line = text ? strstr(text, "\nRssAnon:") : NULL;
	if (!line || sscanf(line, "\nRssAnon: %llu kB", &anonymous_kb) != 1)
		return 0;
	return anonymous_kb / 4 * 3 << 10;
}

struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes)
{
	struct hp_error *error = pages_open(&snapshot->pages, pid);

	snapshot->pid = pid;
	if (!error)
		error = secrets_read(&snapshot->secrets, pid);
	if (!error)
		error = scan(snapshot);
	*bytes = snapshot->used_bytes;
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

/* Reads runs from `first` to `end`, as many as one call takes; returns the next to begin with. A
 * page that cannot be read any more is zero. */
static size_t read_runs(struct snapshot *snapshot, size_t first, size_t end)
{
	struct iovec remote[RUNS_AT_ONCE] = { 0 };
	struct iovec local = { .iov_base = snapshot->buffer + snapshot->runs[first].offset };
	size_t count = 0;
	uint64_t got_bytes;
	ssize_t got;

	while (first + count < end && count < RUNS_AT_ONCE && local.iov_len < COPY_BYTES_AT_ONCE) {
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
	uint64_t deadline_ns;
	size_t done; /* runs before it have been read */
	pthread_t thread;
	bool is_running;
};

static void *read_part(void *context)
{
	struct part *part = context;

	while (part->done < part->end && hp_clock_monotonic_ns() < part->deadline_ns)
		part->done = read_runs(part->snapshot, part->done, part->end);
	return NULL;
}

/* So many readers, each with about as many bytes. */
static void divide(struct snapshot *snapshot, struct part *parts, size_t count,
		   uint64_t deadline_ns)
{
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t end_bytes = snapshot->used_bytes / count * (i + 1);

		parts[i] = (struct part){
			.snapshot = snapshot, .first = at, .done = at, .deadline_ns = deadline_ns
		};
		while (at < snapshot->run_count &&
		       (i + 1 == count || snapshot->runs[at].offset < end_bytes))
			at++;
		parts[i].end = at;
	}
}

static uint64_t bytes_of(const struct part *part)
{
	uint64_t bytes = 0;

	for (size_t i = part->first; i < part->done; i++)
		bytes += part->snapshot->runs[i].bytes;
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
static void read_all(struct snapshot *snapshot, uint64_t deadline_ns)
{
	struct part parts[MOST_READERS];
	size_t count = snapshot->used_bytes / READER_BYTES + 1;
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);

	if (count > cpus)
		count = cpus ? cpus : 1;
	if (count > MOST_READERS)
		count = MOST_READERS;
	divide(snapshot, parts, count, deadline_ns);
	for (size_t i = 1; i < count; i++)
		read_elsewhere(&parts[i]);
	read_part(&parts[0]);
	for (size_t i = 1; i < count; i++) {
		if (parts[i].is_running)
			pthread_join(parts[i].thread, NULL);
		else
			read_part(&parts[i]);
	}
	snapshot->read_bytes = 0;
	for (size_t i = 0; i < count; i++)
		snapshot->read_bytes += bytes_of(&parts[i]);
}

struct hp_error *snapshot_take(struct snapshot *snapshot, uint64_t deadline_ns)
{
	struct hp_error *error = scan(snapshot);

	snapshot->read_bytes = 0;

	if (error)
		return error;
	if (snapshot->used_bytes > snapshot->buffer_bytes)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "its memory grew during the copy");
	read_all(snapshot, deadline_ns ? deadline_ns : UINT64_MAX);
	if (snapshot->read_bytes < snapshot->used_bytes)
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "reading %.1f MiB takes longer than expected",
				       (double)snapshot->used_bytes / (1 << 20));
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
	for (size_t i = 0; i < snapshot->run_count; i++) {
		for (size_t j = 0; j < snapshot->secrets.count; j++)
			scrub_run(snapshot, &snapshot->runs[i], &snapshot->secrets.at[j]);
	}
	return NULL;
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
static uint64_t probe_ns(struct snapshot *snapshot, uint8_t *memory)
{
	uint64_t start = (uint64_t)(uintptr_t)memory;
	uint64_t took_ns[PROBES];

	snapshot->pid = getpid();
	snapshot->buffer = memory + PROBE_BYTES;
	if (!add_pages(snapshot, start, start + PROBE_BYTES))
		return 0;
	arrange(snapshot);
	for (size_t i = 0; i < PROBES; i++) {
		took_ns[i] = hp_clock_monotonic_ns();
		read_all(snapshot, UINT64_MAX);
		took_ns[i] = hp_clock_monotonic_ns() - took_ns[i];
	}
	qsort(took_ns, PROBES, sizeof(*took_ns), by_size);
	return snapshot->read_bytes == PROBE_BYTES ? took_ns[PROBES / 2] : 0;
}

struct snapshot_price snapshot_price(void)
{
	const size_t bytes = 2 * PROBE_BYTES;
	struct snapshot snapshot = { 0 };
	struct snapshot_price price = { 0 };
	uint64_t start_ns = hp_clock_thread_ns();
	uint8_t *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return price;
	memset(memory, 0, bytes);
	madvise(memory, bytes, MADV_DONTDUMP);
	price.memory = memory;
	price.bytes = bytes;
	price.fresh_ns = (double)(hp_clock_thread_ns() - start_ns) / (double)bytes;
	price.reading_ns = (double)probe_ns(&snapshot, memory) / PROBE_BYTES;
	free(snapshot.runs);
	return price;
}
