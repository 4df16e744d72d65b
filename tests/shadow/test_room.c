/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What CPUs and memory there are for copies, and what the target waits for them. */
#include "../../src/shadow/budget/control_groups.h"
#include "../../src/shadow/budget/cpu_load.h"
#include "../../src/shadow/budget/price.h"
#include "../../src/shadow/budget/spare_cpus.h"
#include "../../src/shadow/budget/waits.h"
#include "../../src/shadow/threads.h"
#include "../support.h"

#include <hpcprof/shadow/shadow.h>

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(the_load_is_what_was_runnable_lately)
{
	const uint64_t second = 1000000000;
	struct cpu_load load;

	cpu_load_init(&load);
	cpu_load_take(&load, second, "0.20 0.18 0.12 4/80 11206\n", 0, 0, false);
	ck_assert_double_eq(load.runnable, 3);
	/* A moment says little, a while much. */
	cpu_load_take(&load, second + second / 100, "0.20 0.18 0.12 101/200 11206\n", 0, 0, false);
	ck_assert_double_lt(load.runnable, 5);
	cpu_load_take(&load, 20 * second, "0.20 0.18 0.12 1/80 11206\n", 0, 0, false);
	ck_assert_double_lt(load.runnable, 0.1);
	/* What makes no sense changes nothing. */
	cpu_load_take(&load, 30 * second, "", 0, 0, false);
	cpu_load_take(&load, 30 * second, "/", 0, 0, false);
	cpu_load_take(&load, 30 * second, "0.20 x/80", 0, 0, false);
	ck_assert_double_lt(load.runnable, 0.1);
	ck_assert_uint_eq(load.at_ns, 20 * second);
	cpu_load_look(&load, 40 * second, 0, false);
	ck_assert_uint_eq(load.at_ns, 40 * second);
}

TEST(it_fills_the_cpus_when_none_was_idle_lately)
{
	static const char text[] = "0.20 0.18 0.12 4/80 11206\n";
	const uint64_t second = 1000000000;
	struct cpu_load load;

	cpu_load_init(&load);
	ck_assert(!cpu_load_is_full(&load));
	cpu_load_take(&load, second, text, 100 * second, 0, false);
	ck_assert(!cpu_load_is_full(&load));
	/* A second in which nothing was idle, one in which a CPU was, and a moment. */
	cpu_load_take(&load, 2 * second, text, 100 * second, 0, false);
	ck_assert(cpu_load_is_full(&load));
	cpu_load_take(&load, 3 * second, text, 101 * second, 0, false);
	ck_assert(!cpu_load_is_full(&load));
	ck_assert_double_gt(load.idle_cpus, 0.5);
	cpu_load_take(&load, 3 * second + second / 100, text, 101 * second, 0, false);
	ck_assert(!cpu_load_is_full(&load));
	/* What a copy took of idle time is nobody else's. */
	cpu_load_pause(&load);
	cpu_load_take(&load, 60 * second, text, 101 * second, 0, false);
	ck_assert(!cpu_load_is_full(&load));
}

TEST(a_copy_of_the_lowest_priority_takes_what_was_idle)
{
	static const char text[] = "0.20 0.18 0.12 2/80 11206\n";
	const uint64_t second = 1000000000;
	struct cpu_load load;

	cpu_load_init(&load);
	cpu_load_take(&load, second, text, 100 * second, second / 10, true);
	ck_assert_double_eq(load.runnable, 0);
	for (unsigned i = 2; i < 10; i++)
		cpu_load_take(&load, i * second, text, 100 * second, second / 10 + i * second,
			      true);
	ck_assert(!cpu_load_is_full(&load));
	/* It gets no more. */
	for (unsigned i = 10; i < 20; i++)
		cpu_load_take(&load, i * second, text, 100 * second, second / 10 + 9 * second,
			      true);
	ck_assert(cpu_load_is_full(&load));
}

/* As when memory for a copy is being made. */
TEST(what_hpcprof_takes_itself_keeps_no_cpu_from_its_copies)
{
	static const char text[] = "0.20 0.18 0.12 3/80 11206\n";
	const uint64_t second = 1000000000;
	struct cpu_load load;

	cpu_load_init(&load);
	for (unsigned i = 1; i < 10; i++)
		cpu_load_take(&load, i * second, text, 100 * second, i * second, false);
	ck_assert(!cpu_load_is_full(&load));
	/* The other program counts, hpcprof's thread does not. */
	ck_assert_double_eq(load.runnable, 2);
}

/* What a target waits in a second, by itself and beside copies. */
static double excess_of(uint64_t calm_ms, uint64_t busy_ms, int times)
{
	const uint64_t ms = 1000000;
	struct waits waits = { 0 };
	uint64_t now = 5;
	uint64_t waited = 77 * ms;
	double sum = 0;

	waits_begin(&waits, now, waited);
	for (int i = 0; i < times; i++) {
		now += 1000 * ms;
		waited += calm_ms * ms;
		waits_begin(&waits, now, waited);
		now += 1000 * ms;
		waited += busy_ms * ms;
		sum += waits_end(&waits, now, waited, 400 * ms);
	}
	return sum;
}

TEST(only_waiting_beyond_the_usual_is_a_copys_doing)
{
	const double ms = 1e6;

	ck_assert_double_eq_tol(excess_of(0, 0, 10), 0, 1);
	ck_assert_double_eq_tol(excess_of(300, 300, 10), 0, 1);
	ck_assert_double_eq_tol(excess_of(300, 350, 10), 500 * ms, 1000);
	/* Not more than it took. */
	ck_assert_double_eq_tol(excess_of(0, 900, 10), 4000 * ms, 1000);
	/* Less is not given back beyond what was taken. */
	ck_assert_double_eq_tol(excess_of(500, 100, 10), 0, 1);
}

TEST(noise_in_waiting_adds_up_to_little)
{
	const uint64_t ms = 1000000;
	struct hp_random random = hp_random_seeded(3);
	struct waits waits = { 0 };
	uint64_t now = 5;
	uint64_t waited = 0;
	double sum = 0;

	waits_begin(&waits, now, waited);
	for (int i = 0; i < 400; i++) {
		now += 1000 * ms;
		waited += hp_random_between(&random, 0, 600) * ms;
		waits_begin(&waits, now, waited);
		now += 1000 * ms;
		waited += hp_random_between(&random, 0, 600) * ms;
		sum += waits_end(&waits, now, waited, 400 * ms);
	}
	/* Each difference alone, those below 0 left out, would make some 30 s. */
	ck_assert(sum >= 0);
	ck_assert_double_lt(sum, 15000.0 * (double)ms);
}

TEST(before_it_is_known_what_is_usual_nothing_is_held_against_a_copy)
{
	struct waits waits = { 0 };

	waits_begin(&waits, 1000, 0);
	ck_assert_double_eq_tol(waits_end(&waits, 900000000, 500000000, 400000000), 0, 1e-9);
}

TEST(threads_that_end_take_their_waiting_with_them)
{
	struct waits waits = { 0 };

	waits_begin(&waits, 1000, 900000000);
	waits_begin(&waits, 100001000, 900000000);
	ck_assert_double_eq_tol(waits_end(&waits, 200001000, 5, 400000000), 0, 1e-9);
}

/* What the kernel says of a process with one thread. */
static uint64_t kernels_waiting_ns(pid_t pid)
{
	unsigned long long ran_ns, waited_ns;
	char path[64];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	found = fscanf(file, "%llu %llu", &ran_ns, &waited_ns);
	fclose(file);
	return found == 2 ? waited_ns : 0;
}

/* Two that want the same CPU, and are stopped when both have waited for it: where kernels tell. */
TEST(what_threads_have_waited_for_a_cpu_adds_up)
{
	enum { CHILDREN = 2, ENOUGH_MS = 2000 };
	struct target target = { 0 };
	uint64_t wanted_ns = 0;
	bool has_waited = false;
	pid_t children[CHILDREN];
	cpu_set_t cpus;
	size_t first = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	while (!CPU_ISSET(first, &cpus))
		first++;
	CPU_ZERO(&cpus);
	CPU_SET(first, &cpus);
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			sched_setaffinity(0, sizeof(cpus), &cpus);
			for (volatile uint64_t j = 0;; j++)
				;
		}
		ck_assert_int_gt(children[i], 0);
		ck_assert(target_add(&target, children[i], 0));
	}
	for (int i = 0; i < ENOUGH_MS && !has_waited; i++) {
		usleep(1000);
		has_waited = kernels_waiting_ns(children[0]) && kernels_waiting_ns(children[1]);
	}
	for (int i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGSTOP);
		ck_assert_int_eq(waitpid(children[i], NULL, WUNTRACED), children[i]);
	}
	for (int i = 0; i < CHILDREN; i++)
		wanted_ns += kernels_waiting_ns(children[i]);
	if (!HP_TEST_UNDER_TSAN)
		ck_assert_uint_eq(target_waited_ns(&target), wanted_ns);
	for (int i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		ck_assert_int_eq(waitpid(children[i], NULL, 0), children[i]);
	}
	ck_assert_uint_eq(target_waited_ns(&target), 0);
	target_clear(&target);
}

/* Of processes that run for a tenth of a second their beginnings would never be seen otherwise. */
TEST(children_are_found_before_they_have_run_for_long)
{
	enum { SOON_NS = 50000000, ROUNDS = 20 };
	bool is_found = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	/* Once is enough: somebody else may want the CPU while it looks. */
	for (int i = 0; i < ROUNDS && !is_found && access(path, R_OK) == 0; i++) {
		struct target target = { .follows = true };
		uint64_t now_ns = hp_clock_monotonic_ns();
		pid_t child;

		ck_assert(target_add(&target, getpid(), 0));
		target_cpu_ns(&target, now_ns);
		ck_assert_uint_eq(target.count, 1);
		child = fork();
		if (child == 0)
			for (;;)
				pause();
		target_cpu_ns(&target, now_ns + SOON_NS);
		is_found = target.count == 2;
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		target_clear(&target);
	}
	ck_assert(is_found || access(path, R_OK) < 0);
}

TEST(groups_are_found_by_their_controller)
{
	static const char text[] = "12:cpu,cpuacct:/jobs/7\n4:memory:/a:b\n1:name=systemd:/\n"
				   "0::/user.slice/one\n";
	char group[64];

	ck_assert(control_group_find(text, "memory", group, sizeof(group)));
	ck_assert_str_eq(group, "/a:b");
	ck_assert(control_group_find(text, "cpu", group, sizeof(group)));
	ck_assert_str_eq(group, "/jobs/7");
	ck_assert(control_group_find(text, "cpuacct", group, sizeof(group)));
	ck_assert(control_group_find(text, "", group, sizeof(group)));
	ck_assert_str_eq(group, "/user.slice/one");
	ck_assert(!control_group_find(text, "cpuset", group, sizeof(group)));
	ck_assert(!control_group_find(text, "mem", group, sizeof(group)));
	ck_assert(!control_group_find(text, "", group, 4));
	ck_assert(!control_group_find("", "", group, sizeof(group)));
	ck_assert(!control_group_find("nonsense", "memory", group, sizeof(group)));
	ck_assert(!control_group_find("4:memory", "memory", group, sizeof(group)));
}

TEST(quotas_are_whole_cpus)
{
	ck_assert_uint_eq(control_group_quota("max 100000"), UINT64_MAX);
	ck_assert_uint_eq(control_group_quota("50000 100000"), 1);
	ck_assert_uint_eq(control_group_quota("250000 100000"), 2);
	ck_assert_uint_eq(control_group_quota("250000 0"), UINT64_MAX);
	ck_assert_uint_eq(control_group_quota("250000"), UINT64_MAX);
	ck_assert_uint_eq(control_group_quota(""), UINT64_MAX);
	ck_assert_uint_ge(control_groups_cpus(), 1);
}

TEST(a_copy_runs_elsewhere_if_it_can)
{
	cpu_set_t ours, cpus;
	enum spare_cpus room = spare_cpus(getpid(), 1, cpus_to_use(), &cpus);

	ck_assert_int_eq(sched_getaffinity(0, sizeof(ours), &ours), 0);
	ck_assert_uint_ge(cpus_to_use(), 1);
	ck_assert_uint_le(cpus_to_use(), (uint64_t)CPU_COUNT(&ours));
	/* Within what we may use, and never nowhere. */
	ck_assert_int_gt(CPU_COUNT(&cpus), 0);
	CPU_OR(&cpus, &cpus, &ours);
	ck_assert(CPU_EQUAL(&cpus, &ours));
	if (CPU_COUNT(&ours) == 1)
		ck_assert_int_eq(room, ROOM_NONE);
	/* Where all are wanted there is no room, whatever CPUs there are. */
	ck_assert_int_eq(spare_cpus(getpid(), 5, 5, &cpus), ROOM_NONE);
}

TEST(a_thread_steps_beside_the_target_and_back)
{
	cpu_set_t ours, only, before, beside, after;
	int cpu = sched_getcpu();
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	for (volatile int spins = 1; child == 0 && spins;)
		; /* one that sleeps would not move at once */
	CPU_ZERO(&only);
	CPU_SET((size_t)cpu, &only);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(ours), &ours), 0);
	ck_assert_int_eq(sched_setaffinity(child, sizeof(only), &only), 0);
	hp_shadow_step_aside(child, &before);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(beside), &beside), 0);
	hp_shadow_step_back(&before);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(CPU_ISSET((size_t)cpu, &beside), CPU_COUNT(&ours) == 1);
	ck_assert(CPU_EQUAL(&before, &ours));
	ck_assert(CPU_EQUAL(&after, &ours));
}

TEST(memory_to_spare_is_what_the_kernel_says_less_a_reserve)
{
	struct rlimit limit;
	uint64_t total = 0;

	ck_assert_uint_eq(meminfo_available("MemTotal:  1000 kB\nMemFree: 5 kB\n"
					    "MemAvailable:    700 kB\n",
					    &total),
			  700 * 1024);
	ck_assert_uint_eq(total, 1000 * 1024);
	ck_assert_uint_eq(meminfo_available("", &total), 0);
	/* Nor is there any beyond a limit of our own. */
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = 1 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ck_assert_uint_eq(memory_to_spare(), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ck_assert_uint_eq(meminfo_available("MemAvailable: many kB\n", &total), 0);
	ck_assert_uint_eq(meminfo_available("MemAvailable: 99999999999999999999 kB\n", &total), 0);
}

HP_TEST_MAIN("shadow/room")
