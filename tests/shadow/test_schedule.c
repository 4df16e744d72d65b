/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When windows are due: one in each slot that the budget pays for. */
#include "../../src/shadow/books.h"
#include "../../src/shadow/budget/price.h"
#include "../../src/shadow/budget/recordings.h"
#include "../../src/shadow/budget/schedule.h"
#include "../../src/shadow/budget/truncation.h"
#include "../../src/shadow/tuning.h"
#include "../support.h"

#include <hpcprof/base/thread.h>

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOT = 1000000, SLOTS = 4000 };

TEST(there_is_one_moment_in_each_slot)
{
	struct schedule schedule;
	uint64_t now = 0;

	schedule_init(&schedule, 1);
	for (uint64_t i = 0; i < SLOTS; i++) {
		schedule_next(&schedule, now, SLOT);
		ck_assert_uint_eq(schedule.start_ns, i * SLOT);
		ck_assert_uint_eq(schedule.end_ns, (i + 1) * SLOT);
		ck_assert_uint_ge(schedule.due_ns, schedule.start_ns);
		ck_assert_uint_lt(schedule.due_ns, schedule.end_ns);
		now = schedule.due_ns;
	}
}

TEST(moments_are_even_over_a_slot)
{
	uint64_t tenths[10] = { 0 };
	struct schedule schedule;

	schedule_init(&schedule, 7);
	for (uint64_t i = 0; i < SLOTS; i++) {
		schedule_next(&schedule, i * SLOT, SLOT);
		tenths[(schedule.due_ns - schedule.start_ns) * 10 / SLOT]++;
	}
	/* 400 expected each, with a deviation of 19. */
	for (int i = 0; i < 10; i++) {
		ck_assert_uint_gt(tenths[i], 300);
		ck_assert_uint_lt(tenths[i], 500);
	}
}

TEST(slots_that_have_passed_are_left_out)
{
	struct schedule schedule;

	schedule_init(&schedule, 3);
	schedule_next(&schedule, 0, SLOT);
	schedule_next(&schedule, 7 * SLOT + 5, SLOT);
	ck_assert_uint_eq(schedule.start_ns, 7 * SLOT);
	ck_assert_uint_ge(schedule.due_ns, 7 * SLOT + 5);
	ck_assert_uint_lt(schedule.due_ns, 8 * SLOT);
}

TEST(another_moment_is_soon_in_the_rest_of_the_slot)
{
	struct schedule schedule;

	schedule_init(&schedule, 5);
	schedule_next(&schedule, 0, SLOT);
	for (int i = 0; i < 100; i++) {
		schedule_again(&schedule, SLOT / 2);
		ck_assert_uint_ge(schedule.due_ns, SLOT / 2);
		ck_assert_uint_lt(schedule.due_ns, SLOT / 2 + SLOT / 10);
		schedule_again(&schedule, SLOT - 1);
		ck_assert_uint_eq(schedule.due_ns, SLOT - 1);
	}
	schedule_again(&schedule, 3 * SLOT);
	ck_assert_uint_ge(schedule.due_ns, 3 * SLOT);
	ck_assert_uint_lt(schedule.due_ns, 4 * SLOT);
}

TEST(a_moment_that_went_by_is_made_up_for_in_a_slot_of_its_own)
{
	const uint64_t second = 1000000000;
	struct schedule schedule;

	schedule_init(&schedule, 5);
	schedule_next(&schedule, 0, second);
	ck_assert(!schedule_is_late(&schedule, schedule.due_ns));
	ck_assert(!schedule_is_late(&schedule, schedule.due_ns + second / 20));
	ck_assert(schedule_is_late(&schedule, schedule.due_ns + second / 10));
	schedule_skip(&schedule, second - 1);
	ck_assert_uint_eq(schedule.start_ns, second);
	schedule_skip(&schedule, 4 * second + 1);
	ck_assert_uint_eq(schedule.start_ns, 5 * second);
	ck_assert_uint_eq(schedule.end_ns, 6 * second);
	ck_assert_uint_ge(schedule.due_ns, 5 * second);
	schedule_skip(&schedule, 6 * second);
	ck_assert_uint_eq(schedule.start_ns, 6 * second);
	/* Who is woken a little late takes a short slot all the same. */
	schedule_next(&schedule, 6 * second, SLOT);
	ck_assert(!schedule_is_late(&schedule, schedule.due_ns + 2 * SLOT));
	ck_assert(schedule_is_late(&schedule, schedule.due_ns + 20 * SLOT));
}

/* A program that does the same every 520 ms, and whose windows take 195 to 325 ms to replay, as phases
 * differ: half of a period in the mean. */
TEST(windows_of_a_program_that_repeats_itself_see_all_its_phases)
{
	enum { WINDOWS = 8000, PHASES = 8 };
	const double ms = 1e6;
	const double period = 520 * ms;
	const double window = 100 * ms;
	const struct price_terms terms = { .window_ns = (uint64_t)window };
	unsigned seen[PHASES] = { 0 };
	double free_at[2] = { 0 }; /* of the hands */
	double replayed_at = 0;
	struct schedule schedule;
	struct ledger ledger;

	ledger_init(&ledger, 10, 0);
	ledger_taken(&ledger, (uint64_t)(260 * ms), &terms);
	schedule_init(&schedule, 3);
	schedule_next(&schedule, 0, ledger_spacing_ns(&ledger, &terms));
	for (int made = 0; made < WINDOWS;) {
		double *hand = free_at[0] < free_at[1] ? &free_at[0] : &free_at[1];
		double at = fmax(*hand, (double)schedule.due_ns);
		double replay;

		if (schedule_is_late(&schedule, (uint64_t)at)) {
			schedule_skip(&schedule, (uint64_t)at);
			continue;
		}
		made++;
		seen[(int)(fmod(at, period) / period * PHASES)]++;
		replay = (260 + 65 * sin(2 * M_PI * at / period)) * ms;
		replayed_at = fmax(at + window, replayed_at) + replay;
		*hand = replayed_at;
		schedule_next(&schedule, (uint64_t)(at + window),
			      ledger_spacing_ns(&ledger, &terms));
	}
	/* 1000 expected each, with a deviation of 30 at most. */
	for (int i = 0; i < PHASES; i++) {
		ck_assert_uint_gt(seen[i], 880);
		ck_assert_uint_lt(seen[i], 1120);
	}
}

TEST(a_window_is_not_due_before_it_may_begin)
{
	const uint64_t slot = 8000;
	struct schedule schedule;
	bool is_spread = false;
	uint64_t first = 0;

	schedule_init(&schedule, 3);
	for (int i = 0; i < 100; i++) {
		schedule_next(&schedule, schedule.end_ns, slot);
		/* Within the slot, … */
		schedule_not_before(&schedule, schedule.start_ns + slot / 2);
		ck_assert_uint_ge(schedule.due_ns, schedule.start_ns + slot / 2);
		ck_assert_uint_lt(schedule.due_ns, schedule.start_ns + slot);
		ck_assert_uint_eq(schedule.end_ns, schedule.start_ns + slot);
		/* … or behind it. */
		schedule_not_before(&schedule, schedule.start_ns + 2 * slot);
		ck_assert_uint_ge(schedule.due_ns, schedule.start_ns + 2 * slot);
		ck_assert_uint_lt(schedule.due_ns, schedule.end_ns);
		if (i == 0)
			first = schedule.due_ns - schedule.start_ns;
		is_spread |= schedule.due_ns - schedule.start_ns != first;
	}
	ck_assert(is_spread);
}

/* Windows of any price, wherever the slots put them: never more than the share of what has run, at
 * the end of each slot. */
TEST(what_is_allowed_stays_within_the_budget)
{
	struct hp_random random = hp_random_seeded(11);
	struct schedule schedule;
	struct ledger ledger;
	uint64_t now = 0;
	uint64_t windows = 0;

	ledger_init(&ledger, 2, 5000);
	ledger.copies = LENT_WINDOWS; /* nothing is lent any more */
	schedule_init(&schedule, 13);
	schedule_next(&schedule, 0, 1000);
	for (int i = 0; i < SLOTS; i++) {
		const struct price_terms terms = {
			.bytes = hp_random_between(&random, 0, 50 << 20),
			.samples = 50,
		};
		uint64_t price = ledger_price(&ledger, &terms);
		uint64_t slot_end;

		now = schedule.due_ns;
		if (ledger_allows(&ledger, price, now, schedule.end_ns)) {
			ledger_other(&ledger, (double)price);
			windows++;
		}
		ck_assert(0.02 * (double)schedule.end_ns >= (double)ledger.lost_ns);
		slot_end = ledger_slot_end(&ledger, price, schedule.end_ns);
		schedule_next(&schedule, now, slot_end - schedule.end_ns);
	}
	ck_assert_uint_gt(windows, SLOTS / 4);
	/* And nearly all of it is spent. */
	ck_assert((double)ledger.lost_ns > 0.018 * (double)now);
}

static uint64_t own_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Looking at a target's memory takes long where there is much of it, and time that it wants. */
TEST(the_next_slot_pays_for_a_window_that_came_to_nothing)
{
	const uint64_t ms = 1000000;
	static struct books books; /* large */
	static struct job job;	   /* the same */
	uint64_t start_ns = own_ns();

	books = (struct books){ .copies = 1 };
	ledger_init(&books.ledger, 1, 0);
	schedule_init(&books.schedule, 1);
	job = (struct job){
		.order = { .tid = 1, .room = ROOM_NONE },
		.result = { .outcome = WINDOW_REFUSED, .price_ns = 10 * ms },
		.cpu_ns = start_ns,
	};
	while (own_ns() < start_ns + 20 * ms)
		;
	books_copied(&books, &job);
	ck_assert_uint_ge(books.ledger.lost_ns, 20 * ms);
	ck_assert_uint_ge(books.schedule.end_ns, ledger_slot(&books.ledger, 30 * ms));
	ck_assert_uint_eq(books.copies, 0);
}

/* The first copy tells what others take, unless it has crashed. */
TEST(a_copy_that_has_crashed_makes_no_other_cheaper)
{
	static struct books books; /* large */
	static struct job job;	   /* the same */
	const enum hp_window_end ends[] = { HP_WINDOW_COMPLETE, HP_WINDOW_SIGNAL };

	for (size_t i = 0; i < HP_ARRAY_COUNT(ends); i++) {
		double guess_per_ns;

		books = (struct books){ .copies = 1 };
		ledger_init(&books.ledger, 1, 0);
		guess_per_ns = books.ledger.taken_per_ns;
		job = (struct job){
			.order = { .tid = 1, .window_ns = 100000000, .room = ROOM_OF_ITS_OWN },
			.result = { .outcome = WINDOW_MADE,
				    .replay_ns = 1000000,
				    .window.end = ends[i] },
			.cpu_ns = own_ns(),
		};
		books_charge(&books, &job);
		ck_assert_int_eq(books.ledger.taken_per_ns < guess_per_ns,
				 ends[i] == HP_WINDOW_COMPLETE);
	}
}

static void run_on(size_t cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static pid_t spinner_on(size_t cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	run_on(cpu);
	for (;;)
		;
}

/* The first and the last CPU that this process may use. */
static void find_cpus(size_t cpus[2])
{
	cpu_set_t all;
	bool has_one = false;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		cpus[1] = cpu;
		if (!has_one)
			cpus[0] = cpu;
		has_one = true;
	}
}

static uint64_t own_delay_ns(void)
{
	struct hp_thread_times times = { 0 };

	hp_thread_times(getpid(), gettid(), &times);
	return times.delayed_ns;
}

/* A program that comes to a part with more threads, which wait for each other, as a copy is made. */
TEST(what_threads_of_the_target_wait_for_each_other_is_not_held_against_a_copy)
{
	const uint64_t ms = 1000000;
	static struct books books; /* large */
	static struct job job;	   /* the same */
	pid_t pids[2];
	size_t cpus[2] = { 0 };
	uint64_t delay_ns, start_ns;

	books = (struct books){ .copies = 1 };
	ledger_init(&books.ledger, 1, 0);
	find_cpus(cpus);
	for (size_t i = 0; i < HP_ARRAY_COUNT(pids); i++) {
		pids[i] = spinner_on(cpus[0]);
		ck_assert(target_add(&books.target, pids[i], 0));
	}
	run_on(cpus[1]);
	books_now_ns(&books);
	/* Before, it never waited. */
	books.waits = (struct waits){
		.at_ns = hp_clock_monotonic_ns(),
		.waited_ns = target_waited_ns(&books.target),
		.calm_ns = 1e9,
	};
	delay_ns = own_delay_ns();
	start_ns = own_ns();
	job = (struct job){
		.order = { .tid = 1, .room = ROOM_OF_ITS_OWN },
		.result = { .outcome = WINDOW_REFUSED },
		.cpu_ns = start_ns,
		.delayed_ns = delay_ns,
	};
	while (own_ns() < start_ns + 100 * ms)
		;
	books_charge(&books, &job);
	ck_assert_uint_gt(target_waited_ns(&books.target), 50 * ms);
	ck_assert_uint_le(books.ledger.lost_ns, own_delay_ns() - delay_ns + 2 * ms);
	target_clear(&books.target);
	for (size_t i = 0; i < HP_ARRAY_COUNT(pids); i++)
		ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
	while (wait(NULL) > 0)
		;
}

/* A copy of the lowest priority, which `copy` stands for, while other programs keep all CPUs busy. */
static void starve(struct books *books, struct job *job, pid_t copy, double percent)
{
	*books = (struct books){ .load.idle_cpus = 0 };
	ledger_init(&books->ledger, percent, 0);
	schedule_init(&books->schedule, 1);
	running_init(&books->running);
	*job = (struct job){ .order = { .tid = 1, .window_ns = 1000000, .room = ROOM_OF_ITS_OWN } };
	set_copy_priority(copy, job->order.room);
	running_begin(&books->running, job, copy);
	ck_assert_int_eq(sched_getscheduler(copy), SCHED_IDLE);
}

/* Other windows go on, whose copies wait. When there are no more makers, the budget may pay; and when the
 * target has ended nothing needs to. */
TEST(a_copy_that_starves_does_not_stop_all_windows)
{
	static struct books books; /* large */
	static struct job job;	   /* the same */
	size_t cpus[2] = { 0 };
	pid_t copy, target;

	find_cpus(cpus);
	copy = spinner_on(cpus[0]);
	target = spinner_on(cpus[1]);

	starve(&books, &job, copy, 1);
	books_look(&books);
	ck_assert(books.is_starved);
	books.waiting = MAKERS - ACTIVE_MAKERS;
	books_look(&books);
	ck_assert(books.is_starved);
	ck_assert_int_eq(job.order.room, ROOM_OF_ITS_OWN);
	running_end(&books.running);
	books_look(&books);
	ck_assert(!books.is_starved);

	starve(&books, &job, copy, 100);
	ck_assert(target_add(&books.target, target, 0));
	while (books_now_ns(&books) < 200000000)
		usleep(1000);
	books_look(&books);
	ck_assert_int_eq(job.order.room, ROOM_OF_ITS_OWN);
	books.waiting = MAKERS - ACTIVE_MAKERS;
	books_look(&books);
	ck_assert_int_eq(job.order.room, ROOM_SHARED);
	ck_assert_int_eq(sched_getscheduler(copy), SCHED_BATCH);
	ck_assert(!books.is_starved);
	ck_assert_double_gt(books.ledger.owed_ns, 0);
	target_clear(&books.target);

	starve(&books, &job, copy, 1);
	books.over_ns = 1;
	books_look(&books);
	ck_assert(!books.is_starved);
	ck_assert_int_eq(sched_getscheduler(copy), SCHED_BATCH);
	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(kill(i ? copy : target, SIGKILL), 0);
	while (wait(NULL) > 0)
		;
}

TEST(windows_that_are_cut_count_while_they_are_few)
{
	const uint64_t ms = 1000000;
	struct truncation cuts = { 0 };

	ck_assert(!truncation_is_common(&cuts));
	for (unsigned i = 0; i < 20; i++)
		truncation_note(&cuts, 100 * ms, 95 * ms, false);
	ck_assert(!truncation_is_common(&cuts));
	truncation_note(&cuts, 100 * ms, 10 * ms, true);
	ck_assert(!truncation_is_common(&cuts));
	/* One in two, which miss most. */
	for (unsigned i = 0; i < 20; i++)
		truncation_note(&cuts, 100 * ms, 10 * ms, i % 2);
	ck_assert(truncation_is_common(&cuts));
	/* One in two, which miss little. */
	for (unsigned i = 0; i < 40; i++)
		truncation_note(&cuts, 100 * ms, i % 2 ? 80 * ms : 100 * ms, i % 2);
	ck_assert(!truncation_is_common(&cuts));
}

/* Of a program that waits every 40 ms, which windows begin anywhere in. */
TEST(windows_become_so_short_that_most_are_not_cut)
{
	const uint64_t ms = 1000000, gap_ns = 40 * ms;
	struct hp_random random = hp_random_seeded(5);
	struct truncation cuts = { 0 };
	unsigned whole = 0;

	ck_assert_uint_eq(truncation_longest_ns(&cuts), UINT64_MAX);
	for (unsigned i = 0; i < 200; i++) {
		uint64_t longest_ns = truncation_longest_ns(&cuts);
		uint64_t window_ns = longest_ns < 100 * ms ? longest_ns : 100 * ms;
		uint64_t left_ns = hp_random_between(&random, 0, gap_ns);
		bool is_cut = left_ns < window_ns;

		truncation_note(&cuts, window_ns, is_cut ? left_ns : window_ns, is_cut);
		if (i < 20)
			continue;
		whole += !is_cut;
		ck_assert_uint_ge(window_ns, gap_ns / 10);
	}
	ck_assert_uint_ge(whole, 90);
	/* Cuts that are rare make none shorter. */
	cuts = (struct truncation){ 0 };
	for (unsigned i = 0; i < 20; i++)
		truncation_note(&cuts, 100 * ms, i == 10 ? 5 * ms : 100 * ms, i == 10);
	ck_assert_uint_gt(truncation_longest_ns(&cuts), 100 * ms);
}

TEST(a_copy_costs_nothing_when_the_target_has_ended)
{
	const struct price_terms terms = { .bytes = 1 << 30, .room = ROOM_SHARED, .runnable = 1 };
	struct ledger ledger;

	ck_assert_double_eq(books_share_after(100, 0, 300), 0);
	ck_assert_double_eq(books_share_after(100, 400, 300), 0);
	ck_assert_double_eq(books_share_after(100, 250, 300), 0.25);
	ck_assert_double_eq(books_share_after(100, 50, 300), 1);
	ledger_init(&ledger, 1, 0);
	ledger_wasted(&ledger, 1000000, &terms);
	ck_assert_uint_eq(ledger.lost_ns, 1000000);
	ledger_take_back(&ledger, 400000, &terms);
	ck_assert_uint_eq(ledger.lost_ns, 600000);
}

/* By the calls that this process is said to have been in. */
TEST(a_program_that_is_mostly_in_calls_on_pipes_is_recorded_from_its_first_window)
{
	struct recordings recordings = { 0 };
	pid_t pid = getpid();
	int ends[2];
	int file;

	ck_assert_int_eq(pipe(ends), 0);
	file = open("/proc/self/exe", O_RDONLY);
	ck_assert_int_ge(file, 0);
	for (int i = 0; i < 10; i++) {
		recordings_note_call(&recordings, pid, (uint64_t)file);
		recordings_note_call(&recordings, pid, UINT64_MAX);
		recordings_note_call(&recordings, pid, INT_MAX);
	}
	ck_assert(!recordings_want(&recordings, pid, pid, 1));
	for (int i = 0; i < OFTEN_IN_CALLS; i++)
		recordings_note_call(&recordings, pid, (uint64_t)ends[0]);
	ck_assert(recordings_want(&recordings, pid, pid, 1));
	/* Of several threads, each may wait for another. */
	ck_assert(!recordings_want(&recordings, pid, pid, 2));
	/* A window that went to its end without says that there is no need. */
	recordings_note(&recordings, pid, false, false, SLOT, SLOT);
	ck_assert(!recordings_want(&recordings, pid, pid, 1));
	/* And one that a call cut says that there is. */
	recordings_note(&recordings, pid, false, true, SLOT, 0);
	ck_assert(recordings_want(&recordings, pid, pid, 2));
	/* It counts nothing: windows without recording did. */
	recordings_note(&recordings, pid, true, true, SLOT, 0);
	ck_assert(!recordings_want(&recordings, pid, pid, 1));
	recordings_note(&recordings, pid, false, true, SLOT, SLOT / 4);
	ck_assert(!recordings_want(&recordings, pid, pid, 1));
	/* Where none did, it is tried some times. */
	recordings = (struct recordings){ 0 };
	recordings_note(&recordings, pid, false, true, SLOT, 0);
	for (int i = 0; i < RECORDED_IN_VAIN; i++) {
		ck_assert(recordings_want(&recordings, pid, pid, 1));
		recordings_note(&recordings, pid, true, true, SLOT, 0);
	}
	ck_assert(!recordings_want(&recordings, pid, pid, 1));
	/* Nor is what each time ends soon, as threads share memory, worth more of them; … */
	recordings = (struct recordings){ 0 };
	recordings_note(&recordings, pid, false, true, SLOT, 0);
	for (int i = 0; i < RECORDED_IN_VAIN; i++) {
		ck_assert(recordings_want(&recordings, pid, pid, 1));
		recordings_note(&recordings, pid, true, true, SLOT, SLOT / 100);
	}
	ck_assert(!recordings_want(&recordings, pid, pid, 1));
	/* … but a part of each window is. */
	recordings = (struct recordings){ 0 };
	recordings_note(&recordings, pid, false, true, SLOT, 0);
	for (int i = 0; i <= RECORDED_IN_VAIN; i++) {
		ck_assert(recordings_want(&recordings, pid, pid, 1));
		recordings_note(&recordings, pid, true, true, SLOT, SLOT / 5);
	}
	/* They may have been calls of its beginning, so it is tried without recording now and then. */
	recordings = (struct recordings){ 0 };
	for (int trial = 0; trial < 3; trial++) {
		recordings_note(&recordings, pid, false, true, SLOT, 0);
		for (int i = 0; i < RECORDED_BEFORE_TRIAL << trial; i++) {
			ck_assert(recordings_want(&recordings, pid, pid, 1));
			recordings_note(&recordings, pid, true, false, SLOT, SLOT);
		}
		ck_assert(!recordings_want(&recordings, pid, pid, 1));
	}
	recordings_note(&recordings, pid, false, false, SLOT, SLOT);
	ck_assert(!recordings_want(&recordings, pid, pid, 1));
	close(file);
	close(ends[0]);
	close(ends[1]);
}

/* A child that has read so often from a file, its only descriptor; -1: from a socket. It then waits to be
 * killed. */
static pid_t reader_of(int descriptor, unsigned times)
{
	int ends[2], done[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(done), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (descriptor < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
			_exit(1);
		for (unsigned i = 0; i < times; i++) {
			if (descriptor < 0
				    ? write(ends[1], "", 1) != 1 || read(ends[0], &byte, 1) != 1
				    : pread(descriptor, &byte, 1, 0) != 1)
				_exit(1);
		}
		if (descriptor >= 0) {
			close_range(0, (unsigned)descriptor - 1, 0);
			/* With the end that the parent waits for, which was opened later. */
			close_range((unsigned)descriptor + 1, UINT_MAX, 0);
		}
		close(done[1]);
		pause();
		_exit(1);
	}
	close(done[1]);
	/* It has closed its end. */
	ck_assert_int_eq(read(done[0], &byte, 1), 0);
	close(done[0]);
	return pid;
}

TEST(a_program_that_often_reads_from_a_socket_is_recorded_from_its_first_window)
{
	struct recordings recordings = { 0 };
	int file = open("/proc/self/exe", O_RDONLY);
	pid_t talker = reader_of(-1, 5000);
	pid_t seldom = reader_of(-1, OFTEN_LEAST / 4);
	pid_t reader = reader_of(file, 5000);

	ck_assert(recordings_want(&recordings, talker, talker, 1));
	ck_assert(!recordings_want(&recordings, talker, talker, 2));
	/* Too few calls to tell, and a file that the copy can read itself. */
	ck_assert(!recordings_want(&recordings, seldom, seldom, 1));
	ck_assert(!recordings_want(&recordings, reader, reader, 1));
	close(file);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(kill((pid_t[]){ talker, seldom, reader }[i], SIGKILL), 0);
	while (wait(NULL) > 0)
		;
}

HP_TEST_MAIN("shadow/schedule")
