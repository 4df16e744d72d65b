/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "snapshot.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/base/vector.h>

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE_BYTES = 4096,
	/* enough for two readers, and more than first-level caches hold */
	PROBE_BYTES = 2 * COPY_BYTES_AT_ONCE,
};

void snapshot_init(struct snapshot *snapshot)
{
	*snapshot = (struct snapshot){ 0 };
	pages_init(&snapshot->pages);
}

void snapshot_clear(struct snapshot *snapshot)
{
	areas_clear(&snapshot->areas);
	free(snapshot->runs);
	free(snapshot->early);
	free(snapshot->reads);
	pages_clear(&snapshot->pages);
	secrets_clear(&snapshot->secrets);
	buffer_release(&snapshot->buffer);
	snapshot_init(snapshot);
}

/* Which pages of an area are to be read: those in memory, or only those that no file holds. */
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

/* Adds a run. Runs that are contiguous in both memories are merged, up to a limit. */
static bool add_run(struct run **runs, size_t *count, size_t *capacity, struct run run)
{
	struct run *last = *count ? &(*runs)[*count - 1] : NULL;

	if (last && run.address == last->address + last->bytes &&
	    run.offset == last->offset + last->bytes && last->bytes + run.bytes <= RUN_BYTES) {
		last->bytes += run.bytes;
		return true;
	}
	if (!hp_grow((void **)runs, capacity, *count + 1, sizeof(run)))
		return false;
	(*runs)[(*count)++] = run;
	return true;
}

/* Their contents follow each other in the buffer. */
static bool add_pages(void *context, uint64_t start, uint64_t end)
{
	struct snapshot *snapshot = context;

	for (uint64_t at = start; at < end;) {
		uint64_t bytes = end - at < RUN_BYTES ? end - at : RUN_BYTES;

		if (!add_run(&snapshot->runs, &snapshot->run_count, &snapshot->run_capacity,
			     (struct run){ at, bytes, snapshot->used_bytes }))
			return false;
		snapshot->used_bytes += bytes;
		at += bytes;
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
	snapshot->used_bytes = 0;
	pages_begin(&snapshot->pages);
	if (!error)
		mark_secrets(snapshot);
	for (size_t i = 0; !error && i < snapshot->areas.count; i++)
		error = scan_area(snapshot, &snapshot->areas.at[i]);
	return error;
}

/* --- room ------------------------------------------------------------------------------------- */

static bool has_room(const struct snapshot *snapshot)
{
	return snapshot->buffer.bytes >= snapshot->used_bytes + SPARE_BYTES / 2;
}

static uint64_t bytes_wanted(const struct snapshot *snapshot)
{
	uint64_t bytes = snapshot->used_bytes + snapshot->used_bytes / SPARE_PART + SPARE_BYTES;

	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static uint64_t bytes_after(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;
	uint64_t kib = 0;

	if (!at)
		return 0;
	at += strlen(name);
	at += strspn(at, " \t");
	return hp_scan_u64(&at, &kib) && kib < UINT64_MAX >> 10 ? kib << 10 : 0;
}

/* A part of the resident anonymous memory: the kernel's count lags behind, and some pages are
 * secret. */
uint64_t snapshot_expect(pid_t pid, uint64_t *resident_bytes)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)pid);
	uint64_t anonymous_bytes = bytes_after(text, "\nRssAnon:");

	*resident_bytes = bytes_after(text, "\nVmRSS:");
	return anonymous_bytes / 4 * EXPECTED_QUARTERS;
}

bool snapshot_has_locked(pid_t pid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/status", (int)pid);

	return !text || !strstr(text, "\nVmLck:") || bytes_after(text, "\nVmLck:");
}

struct hp_error *snapshot_prepare(struct snapshot *snapshot, pid_t pid, uint64_t *bytes)
{
	struct hp_error *error = pages_open(&snapshot->pages, pid);
	bool is_new = snapshot->pid != pid;

	snapshot->pid = pid;
	snapshot->has_looked = false;
	if (!error && is_new)
		error = secrets_read(&snapshot->secrets, pid);
	if (!error)
		error = scan(snapshot);
	*bytes = snapshot->used_bytes;
	return error;
}

struct hp_error *snapshot_find_huge(struct snapshot *snapshot,
				    bool (*each)(void *context, uint64_t start, uint64_t end),
				    void *context)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; !error && i < snapshot->areas.count; i++) {
		const struct area *area = &snapshot->areas.at[i];

		/* Before AREA_VDSO stand the kinds that have memory of their own or of a file. */
		if (area->end - area->start >= HUGE_PAGE_BYTES && area->kind < AREA_VDSO)
			error = pages_find_huge(&snapshot->pages, area->start, area->end, each,
						context);
	}
	return error;
}

uint64_t snapshot_missing_bytes(const struct snapshot *snapshot)
{
	uint64_t wanted = bytes_wanted(snapshot);

	return wanted > snapshot->buffer.bytes ? wanted - snapshot->buffer.bytes : 0;
}

struct hp_error *snapshot_reserve(struct snapshot *snapshot, enum filling_time time,
				  uint64_t most_ns, int stop_fd)
{
	struct hp_error *error = NULL;

	snapshot->filled_ns = 0;
	snapshot->filled_bytes = 0;
	if (snapshot->buffer.bytes / BUFFER_EXCESS > bytes_wanted(snapshot))
		buffer_release(&snapshot->buffer);
	/* Making room takes so long that the target may have grown meanwhile. */
	for (unsigned i = 0; i < ROOM_TRIES && !error && !has_room(snapshot); i++) {
		uint64_t rest_ns = most_ns > snapshot->filled_ns ? most_ns - snapshot->filled_ns
								 : 0;

		error = buffer_enlarge(&snapshot->buffer, bytes_wanted(snapshot), time, rest_ns,
				       stop_fd);
		snapshot->filled_ns += snapshot->buffer.filled_ns;
		snapshot->filled_bytes += snapshot->buffer.filled_bytes;
		if (!error)
			error = scan(snapshot);
	}
	return error;
}

/* --- ahead of a stop -------------------------------------------------------------------------- */

/* Adds a page that was read ahead. */
static bool add_early(struct snapshot *snapshot, struct run run, enum page_kind kind)
{
	struct early *last = snapshot->early_count ? &snapshot->early[snapshot->early_count - 1]
						   : NULL;

	snapshot->hot_bytes += kind == PAGE_HOT ? run.bytes : 0;
	snapshot->new_bytes += kind == PAGE_NEW ? run.bytes : 0;
	if (last && last->is_calm == (kind == PAGE_CALM) &&
	    run.address == last->run.address + last->run.bytes) {
		last->run.bytes += run.bytes;
		return true;
	}
	if (!hp_grow((void **)&snapshot->early, &snapshot->early_capacity,
		     snapshot->early_count + 1, sizeof(*last)))
		return false;
	snapshot->early[snapshot->early_count++] =
		(struct early){ .run = run, .is_calm = kind == PAGE_CALM };
	return true;
}

/* Records the contents of the pages, and decides which of them the stop need not read. */
static bool judge(struct snapshot *snapshot, struct history *history)
{
	bool ok = true;

	snapshot->early_count = 0;
	snapshot->hot_bytes = 0;
	snapshot->new_bytes = 0;
	history_look(history, hp_clock_monotonic_ns());
	for (size_t i = 0; ok && i < snapshot->run_count; i++) {
		const struct run *run = &snapshot->runs[i];

		for (uint64_t at = 0; ok && at < run->bytes; at += PAGE_BYTES) {
			const struct run page = { run->address + at, PAGE_BYTES, run->offset + at };

			ok = add_early(snapshot, page,
				       history_page(history, page.address,
						    snapshot->buffer.at + page.offset));
		}
	}
	history_looked(history);
	return ok;
}

/* Number of runs to be read at once. */
static size_t some_runs(const struct snapshot *snapshot, size_t first)
{
	uint64_t bytes = 0;
	size_t count = 0;

	while (first + count < snapshot->run_count && bytes < COPY_BYTES_AT_ONCE)
		bytes += snapshot->runs[first + count++].bytes;
	return count;
}

static bool is_readable(int fd)
{
	struct pollfd polled = { .fd = fd, .events = POLLIN };

	return poll(&polled, 1, 0) > 0;
}

static uint64_t end_of(const struct run *run)
{
	return run->address + run->bytes;
}

void snapshot_set_reach(struct snapshot *snapshot, unsigned pages)
{
	const uint64_t reach = (uint64_t)pages * PAGE_BYTES;
	uint64_t before = 0;	      /* addresses below are near a page that may change */
	uint64_t behind = UINT64_MAX; /* addresses from here on are, too */

	snapshot->near_bytes = 0;
	for (size_t i = 0; i < snapshot->early_count; i++) {
		struct early *early = &snapshot->early[i];

		if (!early->is_calm)
			before = end_of(&early->run) + reach;
		early->kept = before > early->run.address ? before : early->run.address;
	}
	for (size_t i = snapshot->early_count; i-- > 0;) {
		struct early *early = &snapshot->early[i];
		uint64_t end = end_of(&early->run);

		if (!early->is_calm)
			behind = early->run.address > reach ? early->run.address - reach : 0;
		early->limit = early->is_calm && behind > end ? end : behind;
		if (early->limit <= early->kept)
			early->kept = early->limit = end;
		if (early->is_calm)
			snapshot->near_bytes += early->run.bytes - (early->limit - early->kept);
	}
}

/* A reading ahead, in a thread of its own. */
struct look {
	struct snapshot *snapshot;
	struct history *history;
	int stop_fd;
	struct hp_error *error;
};

/* A look that takes too long finds pages that have changed since. */
static struct hp_error *read_ahead(const struct look *look)
{
	const struct snapshot *snapshot = look->snapshot;
	uint64_t end_ns = hp_clock_monotonic_ns() + LOOK_PATIENCE_NS;
	size_t count;

	for (size_t at = 0; at < snapshot->run_count; at += count) {
		if (is_readable(look->stop_fd))
			return hp_error_create(HP_ERROR_INSUFFICIENT, "the recording has ended");
		if (hp_clock_monotonic_ns() > end_ns)
			return hp_error_create(HP_ERROR_INSUFFICIENT,
					       "no CPU has time to read its memory");
		count = some_runs(snapshot, at);
		readers_read(snapshot->pid, snapshot->runs + at, count, snapshot->buffer.at,
			     UINT64_MAX);
	}
	return NULL;
}

static void *look_aside(void *context)
{
	struct look *look = context;

	hp_thread_give_way();
	look->error = read_ahead(look);
	if (!look->error && !judge(look->snapshot, look->history))
		look->error = hp_error_create_no_memory();
	return NULL;
}

struct hp_error *snapshot_look(struct snapshot *snapshot, struct history *history, int stop_fd)
{
	struct look look = { snapshot, history, stop_fd, scan(snapshot) };
	pthread_t thread;

	if (!look.error && snapshot->used_bytes > snapshot->buffer.bytes)
		look.error = hp_error_create(HP_ERROR_INSUFFICIENT, "its memory grew");
	if (!look.error && hp_thread_start(&thread, look_aside, &look) != 0)
		look.error = hp_error_create_no_memory();
	else if (!look.error)
		pthread_join(thread, NULL);
	if (look.error)
		return look.error;
	snapshot->early_bytes = snapshot->used_bytes;
	snapshot->has_looked = true;
	snapshot_set_reach(snapshot, 0);
	return NULL;
}

uint64_t snapshot_to_read(const struct snapshot *snapshot)
{
	return snapshot->has_looked
		       ? snapshot->hot_bytes + snapshot->new_bytes + snapshot->near_bytes
		       : snapshot->used_bytes;
}

/* --- in a stop -------------------------------------------------------------------------------- */

/* Finds the part of `run` from `at` on that was either not read ahead, or read ahead and is kept,
 * or read ahead and is to be read again, and sets its length. Returns what was read ahead, or NULL.
 * `next`: index at which the search starts. */
static const struct early *early_at(const struct snapshot *snapshot, const struct run *run,
				    uint64_t at, size_t *next, uint64_t *bytes)
{
	uint64_t end = run->address + run->bytes;
	const struct early *early = NULL;

	while (*next < snapshot->early_count && end_of(&snapshot->early[*next].run) <= at)
		(*next)++;
	if (*next < snapshot->early_count) {
		const struct early *found = &snapshot->early[*next];
		bool holds = found->run.address <= at;
		uint64_t limit = !holds		     ? found->run.address
				 : at < found->kept  ? found->kept
				 : at < found->limit ? found->limit
						     : end_of(&found->run);

		early = holds ? found : NULL;
		end = limit < end ? limit : end;
	}
	*bytes = end - at;
	return early;
}

/* Pages that were read ahead keep their place in the buffer, and new ones get a place after them.
 * Lists the runs that the stop has to read. */
static bool place_beside_early(struct snapshot *snapshot)
{
	struct run *placed = NULL;
	size_t count = 0, capacity = 0, next = 0;
	uint64_t end = snapshot->early_bytes;
	bool ok = true;

	snapshot->read_count = 0;
	for (size_t i = 0; ok && i < snapshot->run_count; i++) {
		const struct run *run = &snapshot->runs[i];
		uint64_t bytes;

		for (uint64_t at = run->address; ok && at < run->address + run->bytes;
		     at += bytes) {
			const struct early *early = early_at(snapshot, run, at, &next, &bytes);
			struct run part = { at, bytes, end };

			if (early)
				part.offset = early->run.offset + (at - early->run.address);
			else
				end += bytes;
			ok = add_run(&placed, &count, &capacity, part) &&
			     ((early && at >= early->kept && at < early->limit) ||
			      add_run(&snapshot->reads, &snapshot->read_count,
				      &snapshot->read_capacity, part));
		}
	}
	free(snapshot->runs);
	snapshot->runs = placed;
	snapshot->run_count = count;
	snapshot->run_capacity = capacity;
	snapshot->used_bytes = end;
	return ok;
}

struct hp_error *snapshot_take(struct snapshot *snapshot, uint64_t deadline_ns)
{
	struct hp_error *error = scan(snapshot);
	const struct run *runs;
	size_t count;

	snapshot->read_bytes = 0;
	if (error)
		return error;
	if (snapshot->has_looked && !place_beside_early(snapshot))
		return hp_error_create_no_memory();
	runs = snapshot->has_looked ? snapshot->reads : snapshot->runs;
	count = snapshot->has_looked ? snapshot->read_count : snapshot->run_count;
	if (snapshot->used_bytes > snapshot->buffer.bytes)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "its memory grew during the copy");
	snapshot->read_bytes = readers_read(snapshot->pid, runs, count, snapshot->buffer.at,
					    deadline_ns ? deadline_ns : UINT64_MAX);
	if (snapshot->read_bytes < runs_bytes(runs, count))
		return hp_error_create(HP_ERROR_INSUFFICIENT,
				       "reading %.1f MiB takes longer than expected",
				       (double)runs_bytes(runs, count) / (1 << 20));
	return NULL;
}

/* Lists the pages of the piece that the copy has, at their places in the buffer. */
static size_t add_pages_of(const struct snapshot *snapshot, const struct reached_piece *piece,
			   struct run *pages, size_t count, size_t most)
{
	uint64_t end = piece->address + piece->bytes;
	uint64_t at = piece->address / PAGE_BYTES * PAGE_BYTES;

	for (; at < end && count < most; at += PAGE_BYTES) {
		size_t next = hp_bisect(i, snapshot->run_count,
					end_of(&snapshot->runs[i]) <= at);
		const struct run *run = &snapshot->runs[next];

		if (next < snapshot->run_count && run->address <= at)
			pages[count++] = (struct run){ at, PAGE_BYTES,
						       run->offset + (at - run->address) };
	}
	return count;
}

void snapshot_take_again(struct snapshot *snapshot, const struct reached *reached)
{
	struct run pages[REACHED_PIECES];
	size_t count = 0;

	if (!snapshot->has_looked)
		return;
	for (size_t i = 0; i < reached->count; i++)
		count = add_pages_of(snapshot, &reached->pieces[i], pages, count,
				     HP_ARRAY_COUNT(pages));
	snapshot->read_bytes += readers_read(snapshot->pid, pages, count, snapshot->buffer.at,
					     UINT64_MAX);
}

static void scrub_run(struct snapshot *snapshot, const struct run *run, const struct secret *secret)
{
	uint64_t start = run->address > secret->start ? run->address : secret->start;
	uint64_t end = run->address + run->bytes;

	if (end > secret->end)
		end = secret->end;
	if (start < end)
		explicit_bzero(snapshot->buffer.at + run->offset + (start - run->address),
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
	for (size_t i = 0; snapshot->has_looked && i < snapshot->early_count; i++) {
		for (size_t j = 0; j < snapshot->secrets.count; j++)
			scrub_run(snapshot, &snapshot->early[i].run, &snapshot->secrets.at[j]);
	}
	return NULL;
}

/* --- what it takes ---------------------------------------------------------------------------- */

/* Measures how long reading PROBE_BYTES of our own memory takes, from `memory` to the place after
 * it. Returns the fastest of several tries: in the others, readers may have waited for a CPU, while
 * in a stop they have that of the target. 0: it cannot be read. */
static uint64_t probe_ns(struct snapshot *snapshot, uint8_t *memory)
{
	uint64_t address = (uint64_t)(uintptr_t)memory;
	uint64_t least_ns = UINT64_MAX;
	uint64_t done_bytes = 0;

	if (!add_pages(snapshot, address, address + PROBE_BYTES))
		return 0;
	hp_thread_set_slice(0, HP_SHORTEST_SLICE_NS);
	for (size_t i = 0; i < PROBES; i++) {
		uint64_t start_ns = hp_clock_monotonic_ns();
		uint64_t took_ns;

		done_bytes = readers_read(getpid(), snapshot->runs, snapshot->run_count,
					  memory + PROBE_BYTES, UINT64_MAX);
		took_ns = hp_clock_monotonic_ns() - start_ns;
		least_ns = took_ns < least_ns ? took_ns : least_ns;
	}
	hp_thread_set_slice(0, 0);
	return done_bytes == PROBE_BYTES ? least_ns : 0;
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
	memset(memory, 0, PROBE_BYTES);
	price.fresh_ns = (double)(hp_clock_thread_ns() - start_ns) / PROBE_BYTES;
	/* What is read to are huge pages, where there are some, as in a buffer. */
	madvise(memory + PROBE_BYTES, PROBE_BYTES, MADV_HUGEPAGE);
	memset(memory + PROBE_BYTES, 0, PROBE_BYTES);
	madvise(memory, bytes, MADV_DONTDUMP);
	price.memory = memory;
	price.bytes = bytes;
	price.reading_ns = (double)probe_ns(&snapshot, memory) / PROBE_BYTES;
	free(snapshot.runs);
	return price;
}
