/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that is read while its process runs, and what of it is read once more in the stop. */
#include "../support.h"
#include "copied.h"

#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE = RUN_PAGE_BYTES,
	PAGES = 4096,
	HOT_PAGES = 5,
	HOT_EVERY = 701, /* pages */
	GONE = 100,	 /* the page that is unmapped */
	NEW_PAGES = 3,
};

/* Made before the fork, so that both know where they are. */
static uint8_t *memory;
static struct {
	volatile bool is_told, is_done;
	uint8_t *added; /* the target's */
} * shared;
static pid_t target;
static struct snapshot snapshot;
static struct held_state state; /* too large for the stack */

static void *map_anew(size_t bytes, int flags)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return at;
}

/* Writes to the same few pages all the time; when it is told, has some more pages and one less. */
static void be_target(void)
{
	for (uint64_t i = 1;; i++) {
		for (uint64_t page = 0; page < HOT_PAGES; page++)
			memcpy(memory + page * HOT_EVERY * PAGE, &i, sizeof(i));
		if (!shared->is_told || shared->is_done)
			continue;
		shared->added = map_anew((size_t)NEW_PAGES * PAGE, MAP_PRIVATE);
		memset(shared->added, 'n', (size_t)NEW_PAGES * PAGE);
		munmap(memory + (size_t)GONE * PAGE, PAGE);
		shared->is_done = true;
	}
}

static void end_target(void *pid)
{
	kill(*(pid_t *)pid, SIGKILL);
	waitpid(*(pid_t *)pid, NULL, 0);
}

static void clear(void *object)
{
	snapshot_clear(object);
}

SETUP
{
	memory = map_anew((size_t)PAGES * PAGE, MAP_PRIVATE);
	for (size_t i = 0; i < PAGES; i++)
		memset(memory + i * PAGE, (int)i + 1, PAGE);
	shared = map_anew(sizeof(*shared), MAP_SHARED);
	target = fork();
	if (target == 0)
		be_target();
	ck_assert_int_gt(target, 0);
	at_end(end_target, &target);
	usleep(20000);
	snapshot_init(&snapshot);
	at_end(clear, &snapshot);
}

static void prepare(void)
{
	uint64_t bytes;

	hp_assert_ok(snapshot_prepare(&snapshot, target, &bytes));
	ck_assert_uint_ge(bytes, (uint64_t)PAGES * PAGE);
	hp_assert_ok(snapshot_reserve(&snapshot, -1));
	ck_assert_uint_eq(snapshot_due_bytes(&snapshot), bytes);
}

/* The buffer has of each page, from `start` to its last one, what the held target has. */
static void assert_exact(const uint8_t *start, size_t pages)
{
	static uint8_t now[RUN_PAGE_BYTES];
	uint64_t first = (uint64_t)(uintptr_t)start;
	size_t seen = 0;

	for (size_t i = 0; i < snapshot.runs.count; i++) {
		const struct run *run = &snapshot.runs.at[i];

		ck_assert_uint_le(run->offset + run->bytes, snapshot.used_bytes);
		for (uint64_t at = 0; at < run->bytes; at += PAGE) {
			struct iovec local = { now, PAGE };
			struct iovec remote = { (void *)(uintptr_t)(run->address + at), PAGE };

			if (run->address + at - first >= pages * PAGE)
				continue;
			ck_assert_int_eq(process_vm_readv(target, &local, 1, &remote, 1, 0), PAGE);
			ck_assert_mem_eq(snapshot.buffer + run->offset + at, now, PAGE);
			seen++;
		}
	}
	ck_assert_uint_eq(seen, pages);
}

static bool has_page(const struct runs *runs, const uint8_t *page)
{
	uint64_t address = (uint64_t)(uintptr_t)page;

	for (size_t i = 0; i < runs->count; i++) {
		if (address - runs->at[i].address < runs->at[i].bytes)
			return true;
	}
	return false;
}

TEST(without_reading_ahead_all_is_due)
{
	prepare();
	hold_running(target, &state);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	ck_assert_uint_eq(snapshot.due.bytes, snapshot.runs.bytes);
	assert_exact(memory, PAGES);
}

TEST(what_changes_all_the_time_is_read_in_the_stop_and_little_else)
{
	prepare();
	hp_assert_ok(snapshot_read_ahead(&snapshot, -1));
	ck_assert_uint_lt(snapshot_due_bytes(&snapshot), (uint64_t)PAGES * PAGE / 16);
	hold_running(target, &state);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	for (size_t i = 0; i < HOT_PAGES; i++)
		ck_assert(has_page(&snapshot.due, memory + i * HOT_EVERY * PAGE));
	/* What is beside it, too, and no more. */
	ck_assert(has_page(&snapshot.due, memory + (HOT_EVERY + 1) * PAGE));
	ck_assert(has_page(&snapshot.due, memory + (HOT_EVERY - 1) * PAGE));
	ck_assert(!has_page(&snapshot.due, memory + (HOT_EVERY + 2) * PAGE));
	ck_assert_uint_eq(snapshot.read_bytes, snapshot.due.bytes);
	ck_assert_uint_lt(snapshot.read_bytes, (uint64_t)PAGES * PAGE / 16);
	assert_exact(memory, PAGES);
}

TEST(what_has_come_and_gone_since_is_noticed_in_the_stop)
{
	prepare();
	hp_assert_ok(snapshot_read_ahead(&snapshot, -1));
	shared->is_told = true;
	while (!shared->is_done)
		usleep(1000);
	hold_running(target, &state);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	for (size_t i = 0; i < NEW_PAGES; i++)
		ck_assert(has_page(&snapshot.due, shared->added + i * PAGE));
	ck_assert(!has_page(&snapshot.runs, memory + (size_t)GONE * PAGE));
	assert_exact(shared->added, NEW_PAGES);
	assert_exact(memory, GONE);
	assert_exact(memory + (size_t)(GONE + 1) * PAGE, PAGES - GONE - 1);
}

TEST(reading_ahead_ends_when_it_is_told_to)
{
	int stop_fd = eventfd(1, EFD_CLOEXEC);

	prepare();
	hp_assert_fails(HP_ERROR_INSUFFICIENT, snapshot_read_ahead(&snapshot, stop_fd));
	close(stop_fd);
	/* All is due again. */
	hold_running(target, &state);
	hp_assert_ok(snapshot_take(&snapshot, 0));
	assert_exact(memory, PAGES);
}

HP_TEST_MAIN("shadow/ahead")
