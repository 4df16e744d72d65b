/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Much memory: what of it is read before a stop, and how a copy has it. */
#include "../../src/shadow/copy/history.h"
#include "../../src/shadow/syscalls/answers.h"
#include "../../src/shadow/window_plan.h"
#include "../support.h"
#include "copied.h"

#include <hpcprof/base/file.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	LARGE = LENT_LEAST_BYTES + (16 << 20),
	LARGE_PAGES = LARGE / PAGE,
	HOT_PAGE = 100,	    /* of the large memory: written to all the time */
	CHANGED_PAGE = 200, /* changes once */
	NEAR_PAGE = 216,    /* changes when a look has found it calm */
};

/* --- what is known of pages ------------------------------------------------------------------- */

static enum page_kind look_at(struct history *history, uint64_t now_ns, uint64_t address,
			      uint8_t content)
{
	uint8_t page[PAGE];
	enum page_kind kind;

	memset(page, content, sizeof(page));
	history_look(history, now_ns);
	/* Others before and behind it come and go. */
	if (now_ns % 2)
		(void)history_page(history, address - PAGE, page);
	kind = history_page(history, address, page);
	if (now_ns % 3)
		(void)history_page(history, address + PAGE, page);
	history_looked(history);
	return kind;
}

TEST(a_page_is_calm_when_it_has_long_been_the_same)
{
	enum { AT = 7 * PAGE };
	struct histories histories = { 0 };
	struct history *history = histories_of(&histories, 1, 1);
	uint64_t now_ns = 1000;

	ck_assert_int_eq(look_at(history, now_ns, AT, 1), PAGE_NEW);
	ck_assert_int_eq(look_at(history, now_ns + calm_ns - 1, AT, 1), PAGE_NEW);
	ck_assert_int_eq(look_at(history, now_ns += calm_ns, AT, 1), PAGE_CALM);
	/* It changes, for the first time: then it needs longer. */
	ck_assert_int_eq(look_at(history, ++now_ns, AT, 2), PAGE_HOT);
	ck_assert_int_eq(look_at(history, now_ns + calm_ns, AT, 2), PAGE_HOT);
	ck_assert_int_eq(look_at(history, now_ns + calm_again_ns - 1, AT, 2), PAGE_HOT);
	ck_assert_int_eq(look_at(history, now_ns += calm_again_ns, AT, 2), PAGE_CALM);
	/* One that was gone is new. */
	ck_assert_int_eq(look_at(history, ++now_ns, AT + 10 * PAGE, 2), PAGE_NEW);
	ck_assert_int_eq(look_at(history, ++now_ns, AT, 2), PAGE_NEW);
	histories_clear(&histories);
}

TEST(the_process_that_was_asked_for_least_lately_is_forgotten)
{
	enum { AT = 3 * PAGE };
	struct histories histories = { 0 };

	for (pid_t pid = 1; pid <= HISTORIES; pid++)
		(void)look_at(histories_of(&histories, pid, (uint64_t)pid), 1, AT, (uint8_t)pid);
	(void)histories_of(&histories, 1, HISTORIES + 1);
	(void)look_at(histories_of(&histories, HISTORIES + 1, HISTORIES + 2), 1, AT, 1);
	ck_assert_int_eq(look_at(histories_of(&histories, 1, HISTORIES + 3), 2 * calm_ns, AT, 1),
			 PAGE_CALM);
	ck_assert_int_eq(look_at(histories_of(&histories, 2, HISTORIES + 4), 2 * calm_ns, AT, 2),
			 PAGE_NEW);
	histories_clear(&histories);
}

/* --- what is near pages that change ------------------------------------------------------------ */

static struct early run_of(unsigned first, unsigned pages, bool is_calm)
{
	return (struct early){ .run = { first * PAGE, pages * PAGE, first * PAGE },
			       .is_calm = is_calm };
}

static void check_kept(const struct early *early, unsigned first, unsigned limit)
{
	ck_assert_uint_eq(early->kept, first * PAGE);
	ck_assert_uint_eq(early->limit, limit * PAGE);
}

TEST(calm_pages_near_those_that_change_are_read_again)
{
	/* Pages 10-19, 30-39 and 41-49 are calm, 20-21 and 40 change; 22-29 do not exist. */
	struct early runs[] = { run_of(10, 10, true), run_of(20, 2, false), run_of(30, 10, true),
				run_of(40, 1, false), run_of(41, 9, true) };
	struct snapshot snapshot = { .early = runs, .early_count = 5, .has_looked = true };

	snapshot.hot_bytes = 3 * PAGE;
	snapshot_set_reach(&snapshot, 0);
	check_kept(&runs[0], 10, 20);
	check_kept(&runs[2], 30, 40);
	check_kept(&runs[4], 41, 50);
	ck_assert_uint_eq(snapshot_to_read(&snapshot), 3 * PAGE);
	snapshot_set_reach(&snapshot, 4);
	check_kept(&runs[0], 10, 16);
	check_kept(&runs[2], 30, 36);
	check_kept(&runs[4], 45, 50);
	ck_assert_uint_eq(snapshot_to_read(&snapshot), (3 + 4 + 4 + 4) * PAGE);
	/* So far that nothing is kept. */
	snapshot_set_reach(&snapshot, 16);
	for (size_t i = 0; i < snapshot.early_count; i++)
		ck_assert_uint_eq(runs[i].kept, runs[i].limit);
	ck_assert_uint_eq(snapshot_to_read(&snapshot), (3 + 10 + 10 + 9) * PAGE);
}

/* --- a target with much memory ---------------------------------------------------------------- */

/* Shared with the target. */
static struct orders {
	volatile uint32_t change, touch, grow;	   /* times that it is to … */
	volatile uint32_t changed, touched, grown; /* … and has */
} * orders;

static uint8_t *large, *grown;
static struct copied copied;
static struct held_state state;
static pid_t target;

static uint32_t content_of(size_t page)
{
	return (uint32_t)page * 2654435761U + 1;
}

static _Noreturn void be_target(void)
{
	volatile uint32_t *hot = (volatile uint32_t *)(large + HOT_PAGE * PAGE);

	for (;;) {
		++*hot;
		if (orders->changed < orders->change) {
			++*(uint32_t *)(large + CHANGED_PAGE * PAGE);
			orders->changed++;
		}
		if (orders->touched < orders->touch) {
			++*(uint32_t *)(large + NEAR_PAGE * PAGE);
			orders->touched++;
		}
		if (orders->grown < orders->grow) {
			memset(grown + orders->grown * PAGE, 7, PAGE);
			orders->grown++;
		}
	}
}

static void end(void *nothing)
{
	(void)nothing;
	copied_clear(&copied);
	kill(target, SIGKILL);
	ck_assert_int_eq(waitpid(target, NULL, 0), target);
	munmap(large, LARGE);
	munmap(grown, 64 * PAGE);
	munmap(orders, PAGE);
}

static void start(void)
{
	orders = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	large = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	grown = mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(orders != MAP_FAILED && large != MAP_FAILED && grown != MAP_FAILED);
	for (size_t i = 0; i < LARGE_PAGES; i++)
		*(uint32_t *)(large + i * PAGE) = content_of(i);
	target = fork();
	ck_assert_int_ge(target, 0);
	if (target == 0)
		be_target();
	at_end(end, NULL);
}

static void order(volatile uint32_t *wanted, const volatile uint32_t *done)
{
	++*wanted;
	while (*done < *wanted)
		usleep(1000);
}

static uint32_t word_in_copy(const uint8_t *at)
{
	uint32_t word = 0;

	ck_assert(sandbox_read(&copied.sandbox, (uint64_t)(uintptr_t)at, &word, sizeof(word)));
	return word;
}

/* --- reading ahead ---------------------------------------------------------------------------- */

/* Reads ahead; on a busy machine, where no CPU may have time for it, again. */
static void look_ahead(struct snapshot *snapshot, struct histories *histories)
{
	struct hp_error *error;

	do {
		error = snapshot_look(snapshot, histories_of(histories, target, 1), -1);
		if (!error)
			break;
		ck_assert_int_eq(error->class, HP_ERROR_INSUFFICIENT);
		hp_error_destroy(error);
	} while (true);
}

static void begin_looking(struct snapshot *snapshot, struct histories *histories)
{
	uint64_t bytes;

	start();
	snapshot_init(snapshot);
	sandbox_init(&copied.sandbox);
	hp_assert_ok(snapshot_prepare(snapshot, target, &bytes));
	reserve(snapshot);
	look_ahead(snapshot, histories);
}

static void make_sandbox(const struct snapshot *snapshot)
{
	cpu_set_t cpus;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	hp_assert_ok(sandbox_create(&copied.sandbox, &snapshot->areas, &cpus));
}

TEST_WHERE(can_copy(), a_stop_reads_what_is_new_or_changes)
{
	struct histories histories = { 0 };
	struct snapshot *snapshot = &copied.snapshot;
	uint32_t before;

	begin_looking(snapshot, &histories);
	/* Nothing is known of any page. */
	ck_assert_uint_eq(snapshot_to_read(snapshot), snapshot->used_bytes);
	order(&orders->change, &orders->changed);
	usleep((unsigned)(calm_ns / 1000));
	look_ahead(snapshot, &histories);
	ck_assert_uint_gt(snapshot->used_bytes, LARGE);
	ck_assert_uint_lt(snapshot_to_read(snapshot), LARGE / 16);
	/* NEAR_PAGE is calm, and changes after the look, near one that has changed. */
	snapshot_set_reach(snapshot, NEAR_PAGE - CHANGED_PAGE);
	ck_assert_uint_gt(snapshot->near_bytes, 0);
	order(&orders->change, &orders->changed);
	order(&orders->touch, &orders->touched);
	order(&orders->grow, &orders->grown);
	make_sandbox(snapshot);
	before = *(volatile uint32_t *)&orders->changed;
	hold_running(target, &state);
	hp_assert_ok(snapshot_take(snapshot, 0));
	ck_assert_uint_lt(snapshot->read_bytes, LARGE / 16);
	copied_rebuild(&copied, target);
	for (size_t i = 0; i < LARGE_PAGES; i++) {
		if (i != HOT_PAGE && i != CHANGED_PAGE && i != NEAR_PAGE)
			ck_assert_uint_eq(word_in_copy(large + i * PAGE), content_of(i));
	}
	ck_assert_uint_eq(word_in_copy(large + CHANGED_PAGE * PAGE),
			  content_of(CHANGED_PAGE) + before);
	ck_assert_uint_eq(word_in_copy(large + NEAR_PAGE * PAGE), content_of(NEAR_PAGE) + 1);
	ck_assert_uint_eq(word_in_copy(grown), 0x07070707);
	histories_clear(&histories);
}

TEST_WHERE(can_copy(), a_stop_reads_again_what_the_thread_can_reach)
{
	static struct reached reached;
	struct histories histories = { 0 };
	struct snapshot *snapshot = &copied.snapshot;
	uint64_t bytes;

	begin_looking(snapshot, &histories);
	usleep((unsigned)(calm_ns / 1000));
	look_ahead(snapshot, &histories);
	/* It has always been calm, and changes after the look. */
	order(&orders->touch, &orders->touched);
	make_sandbox(snapshot);
	hold_running(target, &state);
	hp_assert_ok(snapshot_take(snapshot, 0));
	bytes = snapshot->read_bytes;
	reached.pieces[0].address = (uint64_t)(uintptr_t)(large + NEAR_PAGE * PAGE) + 64;
	reached.pieces[0].bytes = 64;
	reached.pieces[1].address = 64; /* no such page */
	reached.pieces[1].bytes = 64;
	reached.count = 2;
	snapshot_take_again(snapshot, &reached);
	ck_assert_uint_eq(snapshot->read_bytes, bytes + PAGE);
	copied_rebuild(&copied, target);
	ck_assert_uint_eq(word_in_copy(large + NEAR_PAGE * PAGE), content_of(NEAR_PAGE) + 1);
	histories_clear(&histories);
}

TEST_WHERE(can_copy(), nobody_waits_for_a_look_at_the_end)
{
	struct histories histories = { 0 };
	int stop_fds[2];
	uint64_t bytes;

	start();
	ck_assert_int_eq(pipe(stop_fds), 0);
	ck_assert_int_eq(write(stop_fds[1], "", 1), 1);
	snapshot_init(&copied.snapshot);
	hp_assert_ok(snapshot_prepare(&copied.snapshot, target, &bytes));
	reserve(&copied.snapshot);
	hp_assert_fails(
		HP_ERROR_INSUFFICIENT,
		snapshot_look(&copied.snapshot, histories_of(&histories, target, 1), stop_fds[0]));
	close(stop_fds[0]);
	close(stop_fds[1]);
	histories_clear(&histories);
}

/* --- lending ---------------------------------------------------------------------------------- */

static struct shadow_calls calls;

/* A copy whose large memory is lent. */
static void start_copy(void)
{
	start();
	copied_hold(&copied, target, false, &state);
	copied_rebuild(&copied, target);
	calls = (struct shadow_calls){ .sandbox = &copied.sandbox,
				       .areas = &copied.snapshot.areas };
}

/* What is not lent. */
static uint64_t written_bytes(void)
{
	return runs_bytes(copied.snapshot.runs, copied.snapshot.run_count);
}

/* How much the copy has read by calls of its own. */
static uint64_t read_by_copy(void)
{
	char *text = hp_file_text("/proc/%d/io", (int)copied.sandbox.pid);
	unsigned long long bytes = 0;

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(sscanf(text, "rchar: %llu", &bytes), 1);
	free(text);
	return bytes;
}

/* Whether what is not lent is there, also where the copy may not write. */
static void check_written(void)
{
	for (size_t i = 0; i < copied.snapshot.run_count; i++) {
		const struct run *run = &copied.snapshot.runs[i];
		uint8_t page[PAGE];

		ck_assert(sandbox_read(&copied.sandbox, run->address + run->bytes - PAGE, page,
				       PAGE));
		ck_assert_mem_eq(page, copied.snapshot.buffer.at + run->offset + run->bytes - PAGE,
				 PAGE);
	}
}

/* Then no thread of the target waits for a CPU because of it. */
TEST_WHERE(can_copy(), what_is_not_lent_of_large_memory_is_read_by_its_copy)
{
	start_copy();
	ck_assert_uint_gt(read_by_copy(), written_bytes() / 2);
	check_written();
}

TEST_WHERE(can_copy(), large_memory_is_mapped_by_its_copy)
{
	const uint32_t other = 5;
	const uint8_t *found;
	uint64_t at;

	start_copy();
	at = (uint64_t)(uintptr_t)(large + 3 * PAGE);
	ck_assert_uint_lt(written_bytes(), LARGE / 2);
	for (size_t i = 0; i < LARGE_PAGES; i++) {
		if (i != HOT_PAGE)
			ck_assert_uint_eq(word_in_copy(large + i * PAGE), content_of(i));
	}
	/* What the copy writes is its own. */
	ck_assert(sandbox_write(&copied.sandbox, at, &other, sizeof(other)));
	ck_assert_uint_eq(word_in_copy(large + 3 * PAGE), other);
	found = memmem(copied.snapshot.buffer.at, copied.snapshot.used_bytes,
		       &(uint32_t){ content_of(3) }, sizeof(uint32_t));
	ck_assert_ptr_nonnull(found);
}

static bool advise(const uint8_t *at, uint64_t bytes, uint64_t advice)
{
	struct call call = { .number = SYS_madvise,
			     .a = { (uint64_t)(uintptr_t)at, bytes, advice } };

	return answer_madvise(&calls, &call) && call.result == 0;
}

TEST_WHERE(can_copy(), calls_do_to_lent_memory_what_they_do_to_any)
{
	struct call grow = { .number = SYS_mremap };
	const uint32_t word = 5;
	const uint8_t *first;

	start_copy();
	first = large + 50 * PAGE;
	ck_assert(advise(first, 20 * PAGE, MADV_DONTNEED));
	for (size_t i = 0; i < 20; i++)
		ck_assert_uint_eq(word_in_copy(first + i * PAGE), 0);
	ck_assert_uint_eq(word_in_copy(first - PAGE), content_of(49));
	ck_assert_uint_eq(word_in_copy(first + 20 * PAGE), content_of(70));
	ck_assert(advise(first + 30 * PAGE, PAGE, MADV_FREE));
	/* All of it, and what lies beside it. */
	ck_assert(advise(first, (LARGE_PAGES - 60) * PAGE, MADV_DONTNEED));
	ck_assert_uint_eq(word_in_copy(large + (LARGE_PAGES - 11) * PAGE), 0);
	ck_assert_uint_eq(word_in_copy(large + (LARGE_PAGES - 10) * PAGE),
			  content_of(LARGE_PAGES - 10));
	ck_assert(sandbox_write(&copied.sandbox, (uint64_t)(uintptr_t)first, &word, sizeof(word)));
	ck_assert_uint_eq(word_in_copy(first), word);
	/* What is several mappings. */
	grow.a[0] = (uint64_t)(uintptr_t)first;
	grow.a[1] = PAGE;
	grow.a[2] = 2 * PAGE;
	grow.a[3] = MREMAP_MAYMOVE;
	ck_assert(!answer_mremap(&calls, &grow));
}

/* A limit on files is one on memory that can be lent. */
TEST_WHERE(can_copy(), where_files_may_not_be_large_memory_is_written)
{
	const struct rlimit small = { LENT_LEAST_BYTES / 2, LENT_LEAST_BYTES };

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	start_copy();
	ck_assert_uint_ge(written_bytes(), LARGE);
	ck_assert_uint_lt(read_by_copy(), LARGE / 2);
	check_written();
	for (size_t i = 0; i < LARGE_PAGES; i++) {
		if (i != HOT_PAGE)
			ck_assert_uint_eq(word_in_copy(large + i * PAGE), content_of(i));
	}
}

/* --- when it was old -------------------------------------------------------------------------- */

TEST(old_memory_leads_copies_elsewhere)
{
	const enum hp_window_end elsewhere[] = { HP_WINDOW_SIGNAL, HP_WINDOW_LOST,
						 HP_WINDOW_INTERRUPT };

	for (size_t i = 0; i < HP_ARRAY_COUNT(elsewhere); i++) {
		ck_assert(window_is_misled(true, elsewhere[i], 0));
		/* Nothing was read ahead. */
		ck_assert(!window_is_misled(false, elsewhere[i], 0));
	}
	/* A trap of the program, to which samples have led. */
	ck_assert(!window_is_misled(true, HP_WINDOW_INTERRUPT, 1));
	/* These say nothing of memory. */
	ck_assert(!window_is_misled(true, HP_WINDOW_COMPLETE, 0));
	ck_assert(!window_is_misled(true, HP_WINDOW_SYSTEM_CALL, 0));
	ck_assert(!window_is_misled(true, HP_WINDOW_TIME, 0));
}

HP_TEST_MAIN("shadow/ahead")
