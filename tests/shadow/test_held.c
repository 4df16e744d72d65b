/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows whose memory is read while the thread is held, as its copy uses it. */
#include "../support.h"
#include "copied.h"

#include "../../src/shadow/tuning.h"
#include "../../src/shadow/window_held.h"

#include <hpcprof/base/number.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, TRIES = 60, MANY_PAGES = 65536, FEW_PAGES = 64 };

/* What a target walks through, and what its other thread changes. */
struct walked {
	uint8_t *memory;
	uint64_t pages; /* a power of two */
	volatile uint64_t *flag;
};

/* Where it counts an odd and an even flag. */
extern const char walked_odd[], walked_even[];

/*
 * r12 counts rounds, r13 those with an odd flag, r14 the others: so the registers at two moments say
 * what ran between them. Each round writes to another page.
 */
static _Noreturn void walk(const struct walked *walked)
{
	__asm__ volatile("xor %%r12d, %%r12d\n\t"
			 "xor %%r13d, %%r13d\n\t"
			 "xor %%r14d, %%r14d\n"
			 "1:\tinc %%r12\n\t"
			 "imul $7, %%r12, %%rax\n\t"
			 "and %[mask], %%rax\n\t"
			 "shl $12, %%rax\n\t"
			 "incq (%[memory], %%rax)\n\t"
			 "testq $1, (%[flag])\n\t"
			 "jz 2f\n"
			 ".globl walked_odd\nwalked_odd:\n\t"
			 "inc %%r13\n\t"
			 "jmp 1b\n"
			 "2:\n"
			 ".globl walked_even\nwalked_even:\n\t"
			 "inc %%r14\n\t"
			 "jmp 1b"
			 :
			 : [memory] "r"(walked->memory), [mask] "r"(walked->pages - 1),
			   [flag] "r"(walked->flag)
			 : "rax", "r12", "r13", "r14", "memory");
	__builtin_unreachable();
}

static void *change(void *context)
{
	volatile uint64_t *flag = context;

	for (;;) {
		(*flag)++;
		for (volatile unsigned i = 0; i < 200000; i++)
			;
	}
	return NULL;
}

static struct walked make_walked(uint64_t pages)
{
	uint8_t *memory = mmap(NULL, (pages + 1) * PAGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return (struct walked){ memory + PAGE, pages, (volatile uint64_t *)memory };
}

static pid_t start_walking(const struct walked *walked, bool is_changed)
{
	pid_t pid = fork();
	pthread_t thread;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		for (uint64_t i = 0; i < walked->pages; i++)
			walked->memory[i * PAGE] = 1;
		if (is_changed &&
		    pthread_create(&thread, NULL, change, (void *)(uintptr_t)walked->flag) != 0)
			_exit(1);
		walk(walked);
	}
	return pid;
}

static void end_target(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* --- making windows --------------------------------------------------------------------------- */

static struct making {
	struct replayer replayer;
	struct ledger ledger;
	struct window_maker maker; /* large */
	int stop_fd;
} making;

static void begin_making(void)
{
	making.stop_fd = eventfd(0, EFD_CLOEXEC);
	ledger_init(&making.ledger, 100, 0);
	hp_assert_ok(replayer_create(&making.replayer, &(struct simulation_options){ 0 }));
	window_maker_init(&making.maker, &making.replayer, &making.ledger, making.stop_fd);
}

static void end_making(void)
{
	window_maker_clear(&making.maker);
	replayer_clear(&making.replayer);
	close(making.stop_fd);
}

/* One window; the result's is to be cleared. False: not at this moment. */
static bool make_one(pid_t pid, uint64_t threads, struct window_result *result)
{
	struct window_order order = {
		.pid = pid,
		.tid = pid,
		.slot_end_ns = UINT64_MAX / 2,
		.threads = threads,
		.room = ROOM_SHARED,
	};
	struct hp_error *error;
	bool is_made;

	*result = (struct window_result){ 0 };
	ck_assert_int_eq(sched_getaffinity(0, sizeof(order.cpus), &order.cpus), 0);
	error = rights_read(&making.maker.own, getpid(), gettid());
	hp_assert_ok(error);
	hp_assert_ok(rights_read(&making.maker.rights, pid, pid));
	is_made = window_held(&making.maker, &order, result);
	hp_assert_ok(result->error);
	return is_made;
}

/* Where there is no userfaultfd for us, or no copy at all. */
static bool can_hold(void)
{
	const int user_mode_only = 1;
	long fd = can_copy() ? syscall(SYS_userfaultfd, user_mode_only) : -1;

	if (fd >= 0)
		close((int)fd);
	return fd >= 0;
}

static uint64_t counted_at(const struct hp_window *window, const char *at)
{
	uint64_t address = (uint64_t)(uintptr_t)at;
	uint64_t count = 0;

	for (size_t i = 0; i < window->block_count; i++) {
		const struct hp_window_block *block = &window->blocks[i];

		if (address >= block->address.value &&
		    address - block->address.value < block->size_bytes)
			count += hp_window_count(block->counts);
	}
	return count;
}

/* The round that a moment is in may be counted or not. */
static void assert_near(uint64_t counted, uint64_t ran)
{
	ck_assert_uint_le(counted > ran ? counted - ran : ran - counted, 1);
}

/* What the target has really done between the two moments. */
static void check_counts(const struct hp_window *window)
{
	const struct window_maker *maker = &making.maker;
	const struct user_regs_struct *from = &maker->state.registers;
	const struct user_regs_struct *to = &maker->end.memory->held.registers;

	if (window->time_ns == maker->begin.time_ns)
		from = &maker->begin.memory->held.registers;
	assert_near(counted_at(window, walked_odd), to->r13 - from->r13);
	assert_near(counted_at(window, walked_even), to->r14 - from->r14);
}

/* Makes windows until a few were counted. Returns how many were. */
static unsigned count_some(pid_t pid, uint64_t threads, unsigned wanted, unsigned tries)
{
	struct window_result result;
	unsigned counted = 0;

	for (unsigned i = 0; counted < wanted && i < tries; i++) {
		usleep(1000);
		if (make_one(pid, threads, &result) && result.window.part_count) {
			check_counts(&result.window);
			ck_assert_uint_gt(hp_window_duration_ns(&result.window), 0);
			ck_assert_uint_lt(result.copied_bytes, HELD_BYTES);
			counted++;
		}
		hp_window_clear(&result.window);
	}
	return counted;
}

/* --- tests ------------------------------------------------------------------------------------ */

TEST_WHERE(can_hold(), what_ran_between_two_stops_is_counted_exactly)
{
	const struct walked walked = make_walked(FEW_PAGES);
	pid_t pid = start_walking(&walked, false);

	begin_making();
	ck_assert_uint_eq(count_some(pid, 1, 3, TRIES), 3);
	end_making();
	end_target(pid);
}

TEST_WHERE(can_hold(), what_another_thread_changes_is_never_counted_wrongly)
{
	const struct walked walked = make_walked(FEW_PAGES);
	pid_t pid = start_walking(&walked, true);

	begin_making();
	count_some(pid, 2, 3, 15);
	end_making();
	end_target(pid);
}

TEST_WHERE(can_hold(), the_thread_is_released_in_time_whatever_its_copy_needs)
{
	const struct walked walked = make_walked(MANY_PAGES);
	pid_t pid = start_walking(&walked, false);
	/* A watchdog has to get a CPU, too. */
	const uint64_t most_ns = HELD_LONGEST_NS + 200000000;
	struct window_result result;

	begin_making();
	for (unsigned i = 0; i < 5; i++) {
		make_one(pid, 1, &result);
		ck_assert_uint_lt(result.recording_ns, most_ns);
		ck_assert_int_eq(hold_tracer(pid), 0);
		if (result.window.part_count)
			check_counts(&result.window);
		hp_window_clear(&result.window);
	}
	end_making();
	end_target(pid);
}

/* Its counter, in memory that both see. */
static uint64_t rounds_of(const struct walked *walked)
{
	return __atomic_load_n((const uint64_t *)(uintptr_t)walked->memory, __ATOMIC_RELAXED);
}

TEST_WHERE(can_hold(), whoever_holds_a_thread_may_be_killed)
{
	struct walked walked = make_walked(MANY_PAGES);
	struct window_result result;
	uint64_t rounds;
	pid_t pid, holder;

	walked.memory = mmap(NULL, walked.pages * PAGE, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(walked.memory, MAP_FAILED);
	pid = start_walking(&walked, false);
	for (unsigned i = 1; i <= 5; i++) {
		holder = fork();
		ck_assert_int_ge(holder, 0);
		if (holder == 0) {
			begin_making();
			for (;;)
				make_one(pid, 1, &result);
		}
		usleep(i * 11000);
		end_target(holder);
		for (unsigned tries = 0; hold_tracer(pid) && tries < 1000; tries++)
			usleep(1000);
		ck_assert_int_eq(hold_tracer(pid), 0);
		rounds = rounds_of(&walked);
		for (unsigned tries = 0; rounds_of(&walked) == rounds && tries < 1000; tries++)
			usleep(1000);
		ck_assert_uint_ne(rounds_of(&walked), rounds);
	}
	end_target(pid);
}

TEST(a_stop_costs_what_other_threads_did_not_run_meanwhile)
{
	const struct price_terms two = { .threads = 2, .room = ROOM_NONE };
	struct ledger ledger;

	ck_assert_uint_eq(held_loss_ns(&two, 10000000, 0), 20000000);
	ck_assert_uint_eq(held_loss_ns(&two, 10000000, 4000000), 16000000);
	ck_assert_uint_eq(held_loss_ns(&two, 10000000, 30000000), 10000000);
	ledger_init(&ledger, 1, 0);
	ledger_held(&ledger, 10000000, 4000000, &two);
	ck_assert_uint_eq(ledger.lost_ns, 16000000);
	ck_assert_uint_eq(ledger.longest_stop_ns, 10000000);
}

static bool may_hold(double price_ns, bool is_recorded)
{
	struct window_result result = { .outcome = WINDOW_REFUSED,
					.refusal = HP_SHADOW_BUDGET,
					.price_ns = (uint64_t)price_ns };
	struct window_order order = { .slot_end_ns = UINT64_MAX / 2,
				      .begin_ns = UINT64_MAX / 4,
				      .threads = 1,
				      .is_recorded = is_recorded };

	return window_may_hold(&making.maker, &order, &result);
}

TEST(threads_are_held_for_programs_whose_memory_costs_much_and_not_often)
{
	begin_making();
	ledger_init(&making.ledger, 1, 0);
	ck_assert(may_hold(0.015 * (double)held_least_ns, false));
	ck_assert(!may_hold(0.015 * (double)held_least_ns / 4, false));
	ck_assert(!may_hold(0.015 * (double)held_least_ns, true));
	making.replayer.held = making.replayer.held_counted = HELD_COUNTED;
	ck_assert(!may_hold(0.015 * (double)held_least_ns, false));
	end_making();
}

HP_TEST_MAIN("shadow/held")
