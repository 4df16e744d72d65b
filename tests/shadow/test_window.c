/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows of a real process, from the stop to the counts. */
#include "../support.h"
#include "copied.h"

#include "../../src/shadow/statistics.h"
#include "../../src/shadow/window.h"
#include "../../src/shadow/window_plan.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Counts, in memory that only a register leads to: no sample tells one round from another. */
static pid_t start_counter(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		uint64_t *counter = calloc(1, sizeof(*counter));

		while (counter)
			__asm__ volatile("incq (%0)" : : "r"(counter) : "memory");
	}
	return pid;
}

/* Counts down in a register, for longer than a match is watched, and has more locals than some samples
 * have of a stack. It takes its time for each count, so that comparing states does not slow it down. */
static __attribute__((noinline)) void run_round(void)
{
	char room[1024];
	uint64_t left = 1000000;
	uint64_t product = 3;

	__asm__ volatile("1: .rept 16\n\timul %1, %1\n\t.endr\n\tdec %0\n\tjnz 1b"
			 : "+r"(left), "+r"(product)
			 : "r"(room)
			 : "cc", "memory");
}

/* Does the same in rounds, of which only its caller's frame tells the number. */
static pid_t start_rounds(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		uint64_t round = 0;

		for (;;) {
			__asm__ volatile("incq %0" : "+m"(round) : : "cc");
			run_round();
		}
	}
	return pid;
}

/* Waits for a byte, and then counts. */
static pid_t start_waiting(int fd)
{
	pid_t pid = fork();
	char byte;

	ck_assert_int_ge(pid, 0);
	if (pid == 0 && read(fd, &byte, 1) == 1)
		for (volatile uint64_t i = 0;; i++)
			;
	return pid;
}

/* Computes until it has been stopped for a moment, as its clock says, and then sleeps: after a stop no
 * sample of it comes. */
static pid_t start_target(void)
{
	enum { STOPPED_NS = 50000, SLEEP_US = 300000 };
	pid_t pid = fork();
	uint64_t last_ns, now_ns;

	ck_assert_int_ge(pid, 0);
	last_ns = hp_clock_monotonic_ns();
	while (pid == 0) {
		for (volatile unsigned i = 0; i < 1000; i++)
			;
		/* Read once: a stop between two of them would be missed. */
		now_ns = hp_clock_monotonic_ns();
		if (now_ns - last_ns > STOPPED_NS) {
			usleep(SLEEP_US);
			now_ns = hp_clock_monotonic_ns();
		}
		last_ns = now_ns;
	}
	return pid;
}

static bool has_ended(pid_t pid)
{
	siginfo_t ended = { 0 };

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
	return ended.si_pid == pid;
}

/* It may have to be asked several times: the target sleeps, too. */
static void make_one(struct window_maker *maker, pid_t pid, uint64_t window_ns,
		     struct window_result *result)
{
	struct window_order order = {
		.pid = pid,
		.tid = pid,
		.slot_end_ns = UINT64_MAX / 2,
		.window_ns = window_ns,
		.threads = 1,
		/* It does not wait for a CPU that nobody else wants. */
		.room = ROOM_SHARED,
	};

	ck_assert_int_eq(sched_getaffinity(0, sizeof(order.cpus), &order.cpus), 0);
	do {
		usleep(1000);
		if (window_copy(maker, &order, result))
			window_replay(maker, &order, result);
	} while (result->outcome == WINDOW_NOT_NOW && !has_ended(pid));
}

/* On a busy machine a target that ends may do so before it is copied, and a long window may be over budget: then
 * the result has no counts. */
static void make_alone(pid_t pid, uint64_t window_ns, struct window_result *result)
{
	static struct window_maker maker; /* large */
	struct replayer replayer;
	struct ledger ledger;
	int stop_fd = eventfd(0, EFD_CLOEXEC);
	bool is_over_budget;

	ledger_init(&ledger, 100, 0);
	hp_assert_ok(replayer_create(&replayer, &(struct simulation_options){ 0 }));
	window_maker_init(&maker, &replayer, &ledger, stop_fd);
	make_one(&maker, pid, window_ns, result);
	is_over_budget = result->outcome == WINDOW_REFUSED && result->refusal == HP_SHADOW_BUDGET;
	if (is_over_budget)
		hp_error_destroy(result->error);
	else
		hp_assert_ok(result->error);
	if (result->outcome != WINDOW_NOT_NOW && !is_over_budget) {
		ck_assert_int_eq(result->outcome, WINDOW_MADE);
		ck_assert_uint_gt(result->copied_bytes, 0);
		ck_assert_uint_gt(result->replay_ns, 0);
	}
	window_maker_clear(&maker);
	replayer_clear(&replayer);
	close(stop_fd);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* What is in rounds has counts of the whole window only: see match/matches.h. */
TEST_WHERE(can_copy(), a_frame_of_a_caller_tells_rounds_apart)
{
	enum { WINDOW_NS = 100000000 };
	struct window_result result = { .window.end = HP_WINDOW_TIME };

	/* On a busy machine a copy may be taken for lost. */
	for (int tries = 0; tries < 5 && result.window.end != HP_WINDOW_COMPLETE; tries++) {
		hp_window_clear(&result.window);
		make_alone(start_rounds(), WINDOW_NS, &result);
	}
	ck_assert_int_eq(result.window.end, HP_WINDOW_COMPLETE);
	ck_assert_uint_gt(result.window.part_count, 1);
	hp_window_clear(&result.window);
}

/* It was over before the first sample: what the copy ran is of no known time. */
TEST_WHERE(can_copy(), a_window_without_samples_has_no_counts)
{
	struct window_result result = { .samples = 1 };

	/* On a busy machine the target may come to run before it sees that it was stopped. */
	for (int tries = 0; tries < 20 && result.samples; tries++) {
		hp_window_clear(&result.window);
		make_alone(start_target(), 1, &result);
	}
	ck_assert_uint_eq(result.samples, 0);
	ck_assert_uint_eq(result.window.block_count, 0);
	ck_assert_uint_eq(result.window.part_count, 0);
	hp_window_clear(&result.window);
}

TEST_WHERE(can_copy(), a_window_goes_from_one_stop_to_the_next)
{
	const uint64_t window_ns = 10000000;
	struct window_result result = { 0 };

	/* On a busy machine the target may hardly run, or the copy. */
	for (int tries = 0; tries < 20 && !result.window.block_count; tries++)
		make_alone(start_counter(), window_ns, &result);
	ck_assert_uint_gt(result.window.block_count, 0);
	ck_assert_uint_ge(result.window.part_count, 1);
	ck_assert_uint_ge(hp_window_duration_ns(&result.window), window_ns);
	hp_window_clear(&result.window);
}

/* How many rounds of an empty loop take that long. */
static uint64_t rounds_of(uint64_t ns)
{
	enum { TRIED = 20000000 };
	uint64_t rounds = TRIED;
	struct timespec before, after;
	uint64_t taken_ns;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	__asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	taken_ns = (uint64_t)((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec -
			      before.tv_nsec);
	return ns * TRIED / (taken_ns ? taken_ns : 1);
}

enum { BETWEEN_WAITS_NS = 2000000 };

/* Waits after each so many rounds, in vain: nobody wakes it, which no copy knows. */
static pid_t start_waiter(uint64_t rounds)
{
	const struct timespec soon = { .tv_nsec = 100000 };
	static uint32_t word;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	while (pid == 0) {
		uint64_t left = rounds;

		__asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(left) : : "cc");
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon, NULL, 0);
	}
	return pid;
}

static uint64_t most_of_a_block(const struct hp_window *window)
{
	uint64_t most = 0;

	for (size_t i = 0; i < window->block_count; i++)
		if (hp_window_count(window->blocks[i].counts) > most)
			most = hp_window_count(window->blocks[i].counts);
	return most;
}

/* Its states between two waits are those between any two, so its copy, which ends at the first wait, comes
 * by states of much later samples. */
TEST_WHERE(can_copy(), what_comes_behind_a_wait_does_not_match_before_it)
{
	const uint64_t rounds = rounds_of(BETWEEN_WAITS_NS);

	for (int tries = 0; tries < 10; tries++) {
		struct window_result result = { 0 };
		double expected;

		make_alone(start_waiter(rounds), 3 * BETWEEN_WAITS_NS, &result);
		expected = (double)rounds / BETWEEN_WAITS_NS *
			   (double)hp_window_duration_ns(&result.window);
		/* One CPU may be twice as fast as another. */
		ck_assert_double_ge((double)most_of_a_block(&result.window), expected / 2);
		hp_window_clear(&result.window);
	}
}

/* How many samples of the thread follow a wait, and how many do not. `waits`: they are taken when it has waited. */
static void sample_late(pid_t pid, bool waits, size_t *behind, size_t *before)
{
	struct state_sampler sampler;
	struct hold_times times;
	struct hp_error *error = NULL;
	enum hp_shadow_refusal refusal;
	static struct held_state state; /* large */

	*behind = *before = 0;
	state_sampler_init(&sampler);
	hp_assert_ok(state_sampler_open(&sampler, pid, pid));
	ck_assert_int_eq(hold_patiently(pid, HOLD_IN_USER_MODE, &state, &times, &error, &refusal),
			 HOLD_STOPPED);
	ck_assert(state_sampler_enable(&sampler));
	hold_release(pid, &times);
	while (waits && !state_sampler_has_waited(&sampler))
		usleep(1000);
	while (!sampler.count) {
		usleep(1000);
		hp_assert_ok(state_sampler_drain(&sampler));
	}
	for (size_t i = 0; i < sampler.count; i++)
		++*(sampler.samples[i].follows_wait ? behind : before);
	state_sampler_clear(&sampler);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Whether it came before a sample or behind it is not known. */
TEST_WHERE(can_copy(), a_wait_that_is_seen_late_is_before_what_came_meanwhile)
{
	size_t behind, before;

	sample_late(start_waiter(rounds_of(BETWEEN_WAITS_NS)), true, &behind, &before);
	ck_assert_uint_gt(behind, 0);
	ck_assert_uint_eq(before, 0);
	sample_late(start_counter(), false, &behind, &before);
	ck_assert_uint_eq(behind, 0);
	ck_assert_uint_gt(before, 0);
}

static void on_trap(int signal)
{
	(void)signal;
}

/* Traps after each so many rounds, and goes on. */
static pid_t start_trapping(uint64_t rounds)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	signal(SIGTRAP, on_trap);
	for (;;) {
		uint64_t left = rounds;

		__asm__ volatile("1: decq %0\n\tjnz 1b\n\tint3" : "+r"(left) : : "cc");
	}
}

/* Windows end where the program does something, and not at a random moment. */
TEST_WHERE(can_copy(), a_trap_cuts_windows_as_a_call_does)
{
	const uint64_t rounds = rounds_of(BETWEEN_WAITS_NS);
	struct window_result result = { 0 };

	for (int tries = 0; tries < 20 && result.window.end != HP_WINDOW_INTERRUPT; tries++) {
		hp_window_clear(&result.window);
		make_alone(start_trapping(rounds), 3 * BETWEEN_WAITS_NS, &result);
	}
	ck_assert_int_eq(result.window.end, HP_WINDOW_INTERRUPT);
	ck_assert(result.is_cut);
	ck_assert(!result.is_cut_by_call);
	hp_window_clear(&result.window);
}

enum { FIRST_ROUNDS = 400000000, LAST_ROUNDS = 20000000 };

/* Computes for some tenths of a second, then does something else so often, and ends. */
static pid_t start_ending(void)
{
	pid_t pid = fork();
	uint64_t rounds = LAST_ROUNDS;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	for (volatile unsigned i = 0; i < FIRST_ROUNDS; i++)
		;
	__asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
	_exit(0);
}

static bool has_block_of(const struct hp_window *window, uint64_t count)
{
	for (size_t i = 0; i < window->block_count; i++)
		if (hp_window_count(window->blocks[i].counts) == count)
			return true;
	return false;
}

/* No sample comes behind its last instructions. The first round of the loop is of the block before it. */
TEST_WHERE(can_copy(), a_window_goes_up_to_the_end_of_its_thread)
{
	struct window_result result = { 0 };
	bool is_whole = false;

	/* On a busy machine the window may begin too late. */
	for (int tries = 0; tries < 50 && !is_whole; tries++) {
		hp_window_clear(&result.window);
		make_alone(start_ending(), 900000000, &result);
		is_whole = has_block_of(&result.window, LAST_ROUNDS - 1);
	}
	ck_assert(is_whole);
	ck_assert_int_eq(result.window.end, HP_WINDOW_COMPLETE);
	hp_window_clear(&result.window);
}

/* As an ordinary user sees a process that ends. */
TEST(a_process_that_may_no_longer_be_read_is_not_refused)
{
	static const int errors[] = { EACCES, ESRCH, EPERM };

	for (size_t i = 0; i < HP_ARRAY_COUNT(errors); i++) {
		struct window_result result = { .outcome = WINDOW_MADE };

		window_refuse_reading(&result, HP_SHADOW_FAILED,
				      hp_error_create_errno(errors[i], "reading"));
		ck_assert_int_eq(result.outcome,
				 errors[i] == EPERM ? WINDOW_REFUSED : WINDOW_NOT_NOW);
		hp_error_destroy(result.error);
	}
}

struct waker {
	int fd;
	pthread_t thread;
};

static void *wake(void *context)
{
	const struct waker *waker = context;

	usleep(1000);
	ck_assert_int_eq(write(waker->fd, "", 1), 1);
	return NULL;
}

/* What has been prepared for its copy is not thrown away. */
TEST_WHERE(can_copy(), a_thread_that_is_in_a_system_call_is_asked_again)
{
	enum hp_shadow_refusal refusal;
	struct hp_error *error = NULL;
	enum hold_result held = HOLD_IN_KERNEL;
	static struct held_state state; /* large */

	/* On a busy machine neither may come to a CPU in time. */
	for (int tries = 0; tries < 50 && held == HOLD_IN_KERNEL; tries++) {
		struct hold_times times;
		struct waker waker;
		int ends[2];
		pid_t pid;

		ck_assert_int_eq(pipe(ends), 0);
		pid = start_waiting(ends[0]);
		waker.fd = ends[1];
		usleep(2000);
		ck_assert_int_eq(pthread_create(&waker.thread, NULL, wake, &waker), 0);
		held = hold_patiently(pid, HOLD_IN_USER_MODE, &state, &times, &error, &refusal);
		hp_assert_ok(error);
		if (held == HOLD_STOPPED)
			hold_release(pid, &times);
		pthread_join(waker.thread, NULL);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		close(ends[0]);
		close(ends[1]);
	}
	ck_assert_int_eq(held, HOLD_STOPPED);
}

/* As other processes do, on the first CPU that we may use. */
static pid_t start_loop(const cpu_set_t *cpu)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	sched_setaffinity(0, sizeof(*cpu), cpu);
	for (;;)
		__asm__ volatile("");
}

/* One that is told to stop first has to come to a CPU. It waits for that anyway: nothing is lost. */
TEST_WHERE(can_copy(), waiting_for_a_cpu_is_no_part_of_a_stop)
{
	enum { LOOPS = 6, STOPS = 20 };
	static struct held_state state; /* large */
	pid_t pids[LOOPS];
	uint64_t asked_ns = 0;
	uint64_t stopped_ns = 0;
	unsigned held = 0;
	cpu_set_t cpus;
	cpu_set_t one;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	CPU_ZERO(&one);
	for (size_t cpu = 0; !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &cpus))
			CPU_SET(cpu, &one);
	for (size_t i = 0; i < LOOPS; i++)
		pids[i] = start_loop(&one);
	while (held < STOPS) {
		uint64_t start_ns = hp_clock_monotonic_ns();
		struct hp_error *error = NULL;
		enum hp_shadow_refusal refusal;
		struct hold_times times;
		enum hold_result result =
			hold(pids[0], HOLD_IN_USER_MODE, &state, &times, &error, &refusal);

		hp_assert_ok(error);
		if (result == HOLD_STOPPED) {
			asked_ns += hp_clock_monotonic_ns() - start_ns;
			hold_release(pids[0], &times);
			ck_assert_uint_ge(times.start_ns, start_ns);
			ck_assert_uint_ge(times.end_ns, times.start_ns);
			stopped_ns += times.end_ns - times.start_ns;
			held++;
		}
		usleep(2000);
	}
	for (size_t i = 0; i < LOOPS; i++) {
		ck_assert_int_eq(kill(pids[i], SIGKILL), 0);
		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
	}
	ck_assert_uint_lt(stopped_ns, asked_ns / 2);
}

/* Takes the end of a counter, whose rights were `rights` when it was copied. */
static void take_end(pid_t pid, const struct rights *rights, struct end_state *state)
{
	struct state_sampler sampler;
	struct areas areas = { 0 };
	enum hold_result held;

	state_sampler_init(&sampler);
	hp_assert_ok(areas_read(&areas, pid));
	hp_assert_ok(state_sampler_open(&sampler, pid, pid));
	ck_assert(state_sampler_enable(&sampler));
	do {
		usleep(1000);
		held = end_state_take(state, pid, pid, rights, &sampler, &areas);
	} while (held == HOLD_IN_KERNEL);
	ck_assert_int_eq(held, HOLD_STOPPED);
	state_sampler_clear(&sampler);
	areas_clear(&areas);
}

/* It may be another program by then, which its copy has nothing to know of. */
TEST_WHERE(can_copy(), nothing_is_read_at_the_end_of_a_thread_that_has_got_other_rights)
{
	struct end_state state = { 0 };
	struct rights rights = { 0 };
	pid_t pid = start_counter();

	hp_assert_ok(rights_read(&rights, pid, pid));
	take_end(pid, &rights, &state);
	ck_assert(state.is_known);
	ck_assert_uint_gt(state.memory->reached.count, 0);
	ck_assert(is_left_out_of_cores(state.memory));
	state.memory->reached.count = 0;
	rights.users[RIGHTS_EFFECTIVE]++;
	take_end(pid, &rights, &state);
	ck_assert(!state.is_known);
	ck_assert_uint_eq(state.memory->reached.count, 0);
	end_state_clear(&state);
	rights_clear(&rights);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* Code that the program has made and may write: `code` runs with a counter in rdi and a byte of its own
 * page in rsi. */
static pid_t start_made_code(const uint8_t *code, size_t size, uint64_t *page)
{
	uint8_t *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	ck_assert_ptr_ne(made, MAP_FAILED);
	*page = (uint64_t)(uintptr_t)made;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		uint64_t *counter = calloc(1, sizeof(*counter));

		memcpy(made, code, size);
		__asm__ volatile("call *%0"
				 :
				 : "r"(made), "D"(counter), "S"(made + 2048)
				 : "memory", "cc");
	}
	munmap(made, 4096);
	return pid;
}

TEST_WHERE(can_copy(), code_that_a_program_has_made_is_counted)
{
	static const uint8_t code[] = { 0x48, 0xff, 0x07, 0xeb, 0xfb }; /* inc qword [rdi]; jmp */
	struct window_result result = { 0 };
	uint64_t page = 0;

	for (int tries = 0; tries < 20 && !result.window.block_count; tries++) {
		pid_t pid = start_made_code(code, sizeof(code), &page);

		make_alone(pid, 10000000, &result);
	}
	ck_assert_uint_gt(result.window.block_count, 0);
	ck_assert_uint_eq(result.window.blocks[0].address.value, page);
	ck_assert_uint_gt(hp_window_count(result.window.blocks[0].counts), 100000);
	hp_window_clear(&result.window);
}

enum code_place { WRITABLE_MEMORY, WRITABLE_FILE, PROTECTED_MEMORY, CODE_PLACES };

/* mov eax, imm32; ret: from time to time with another number, which it had better return. Of a file as
 * Lisp systems have their code. */
static pid_t start_compiler(enum code_place place, uint64_t *page)
{
	const int writable = PROT_READ | PROT_WRITE, code = PROT_READ | PROT_EXEC;
	bool is_writable = place != PROTECTED_MEMORY;
	char path[] = "/tmp/codeXXXXXX";
	_cleanup_close_ int file = mkstemp(path);
	uint8_t *made;
	pid_t pid;

	ck_assert_int_eq(ftruncate(file, 4096) | unlink(path), 0);
	made = mmap(NULL, 4096, is_writable ? writable | code : code,
		    MAP_PRIVATE | (place == WRITABLE_FILE ? 0 : MAP_ANONYMOUS),
		    place == WRITABLE_FILE ? file : -1, 0);

	ck_assert_ptr_ne(made, MAP_FAILED);
	*page = (uint64_t)(uintptr_t)made;
	pid = fork();
	ck_assert_int_ge(pid, 0);
	for (uint32_t i = 0; pid == 0; i++) {
		if (!is_writable)
			mprotect(made, 4096, writable);
		made[0] = 0xb8;
		memcpy(made + 1, &i, sizeof(i));
		made[5] = 0xc3;
		if (!is_writable)
			mprotect(made, 4096, code);
		for (int j = 0; j < 200000; j++)
			if (((uint32_t(*)(void))(void *)made)() != i)
				__builtin_trap();
	}
	munmap(made, 4096);
	return pid;
}

static uint64_t times_run(const struct hp_window *window, uint64_t address)
{
	uint64_t count = 0;

	for (size_t i = 0; i < window->block_count; i++)
		if (window->blocks[i].address.value == address)
			count += hp_window_count(window->blocks[i].counts);
	return count;
}

/* Both as the copy may write it at any time, and where that takes a system call. */
TEST_WHERE(can_copy(), code_that_a_program_writes_in_a_window_is_run_as_written)
{
	for (int i = 0; i < CODE_PLACES; i++) {
		uint64_t count = 0;

		/* More than one of its numbers is returned as often as that. */
		for (int tries = 0; tries < 20 && count <= 200000; tries++) {
			struct window_result result = { 0 };
			uint64_t page = 0;
			pid_t pid = start_compiler((enum code_place)i, &page);

			make_alone(pid, 10000000, &result);
			ck_assert_int_ne(result.window.end, HP_WINDOW_INTERRUPT);
			ck_assert_int_ne(result.window.end, HP_WINDOW_WRITABLE_CODE);
			count = times_run(&result.window, page);
			hp_window_clear(&result.window);
		}
		ck_assert_uint_gt(count, 200000);
	}
}

/* --- what is said of them ----------------------------------------------------------------------- */

/* The reason of one kind is not given for another. */
TEST(each_kind_of_refusal_has_its_reason)
{
	struct hp_shadow_statistics statistics = { 0 };
	const struct window_order order = { 0 };
	struct window_result memory = {
		.outcome = WINDOW_REFUSED,
		.refusal = HP_SHADOW_MEMORY,
		.error =
			hp_error_advise(hp_error_create(HP_ERROR_SYSTEM, "too little"), "get more"),
	};
	struct window_result budget = {
		.outcome = WINDOW_REFUSED,
		.refusal = HP_SHADOW_BUDGET,
		.error = hp_error_create(HP_ERROR_INSUFFICIENT, "too much"),
	};

	statistics_add(&statistics, &order, &memory, 0);
	statistics_add(&statistics, &order, &budget, 0);
	statistics_add(&statistics, &order, &budget, 0);
	ck_assert_uint_eq(statistics.refusals[HP_SHADOW_MEMORY], 1);
	ck_assert_uint_eq(statistics.refusals[HP_SHADOW_BUDGET], 2);
	ck_assert_str_eq(statistics.reasons[HP_SHADOW_MEMORY], "too little; get more");
	ck_assert_str_eq(statistics.reasons[HP_SHADOW_BUDGET], "too much");
	ck_assert_str_eq(statistics.reasons[HP_SHADOW_FAILED], "");
	hp_error_destroy(memory.error);
	hp_error_destroy(budget.error);
}

/* Memory may be missing still, or the thread may have ended. */
TEST(not_each_moment_without_a_window_was_in_a_system_call)
{
	struct hp_shadow_statistics statistics = { 0 };
	const struct window_order order = { 0 };
	struct window_result result = { .outcome = WINDOW_NOT_NOW };

	statistics_add(&statistics, &order, &result, 0);
	ck_assert_uint_eq(statistics.refusals[HP_SHADOW_IN_KERNEL], 0);
	result.was_in_call = true;
	statistics_add(&statistics, &order, &result, 0);
	ck_assert_uint_eq(statistics.refusals[HP_SHADOW_IN_KERNEL], 1);
}

/* Two threads wait for a stop that reads half of it in the time for all. */
TEST(a_stop_that_is_late_raises_the_price_of_its_window)
{
	const uint64_t bytes = 64 << 20;
	const uint64_t price_ns = 50000000;
	const struct window_order order = { .threads = 2 };
	struct ledger ledger;
	static struct window_maker maker; /* large */
	struct window_result result = { .price_ns = price_ns };
	uint64_t before_ns, after_ns;

	maker.ledger = &ledger;
	maker.snapshot.used_bytes = bytes;
	maker.snapshot.read_bytes = bytes / 2;
	ledger_init(&ledger, 1, 0);
	before_ns = ledger_hold(&ledger, bytes);
	window_learn_price(&maker, &order, before_ns, &result);
	after_ns = ledger_hold(&ledger, bytes);
	ck_assert_uint_gt(after_ns, before_ns);
	ck_assert_uint_eq(result.price_ns, price_ns + 2 * (after_ns - before_ns));
	/* One that is early leaves it. */
	result.price_ns = price_ns;
	window_learn_price(&maker, &order, after_ns / 10, &result);
	ck_assert_uint_lt(ledger_hold(&ledger, bytes), after_ns);
	ck_assert_uint_eq(result.price_ns, price_ns);
}

HP_TEST_MAIN("shadow/window")
