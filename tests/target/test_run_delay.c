/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who waits for a CPU, and who for something else. */
#include "../support.h"

#include <hpcprof/target/run_delay.h>

#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t spent_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* All of them on one CPU. */
static void use_one_cpu(void)
{
	cpu_set_t allowed;
	cpu_set_t one;
	size_t cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static pid_t burn(unsigned milliseconds)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	while (spent_ns(CLOCK_PROCESS_CPUTIME_ID) < milliseconds * 1000000ull)
		;
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct hp_run_delay_meter *begin(void)
{
	struct hp_run_delay_meter *meter = hp_run_delay_begin();

	/* Without CONFIG_SCHED_INFO or CONFIG_PROC_CHILDREN. */
	if (!meter)
		ck_assert_msg(access("/proc/self/schedstat", R_OK) != 0 ||
				      access("/proc/thread-self/children", R_OK) != 0,
			      "there is no meter");
	return meter;
}

TEST(two_on_one_cpu_wait_as_long_as_they_run)
{
	struct hp_run_delay_meter *meter;
	struct hp_thread_times delay;
	pid_t children[2];

	use_one_cpu();
	meter = begin();
	for (size_t i = 0; i < 2; i++)
		children[i] = burn(150);
	for (size_t i = 0; i < 2; i++)
		wait_for(children[i]);
	delay = hp_run_delay_end(meter);
	if (!meter)
		return;
	ck_assert_uint_gt(delay.ran_ns, 150000000);
	ck_assert_uint_lt(delay.ran_ns, 310000000);
	/* Others than these two may be there. */
	ck_assert_uint_gt(delay.delayed_ns, delay.ran_ns / 2);
}

TEST(who_sleeps_waits_for_no_cpu)
{
	struct hp_run_delay_meter *meter = begin();
	struct hp_thread_times delay;
	pid_t child = fork();

	if (!child) {
		usleep(200000);
		_exit(0);
	}
	wait_for(child);
	delay = hp_run_delay_end(meter);
	ck_assert_uint_lt(delay.ran_ns, 50000000);
	ck_assert_uint_lt(delay.delayed_ns, 150000000);
}

TEST(children_of_children_count_and_we_do_not)
{
	struct hp_run_delay_meter *meter = begin();
	struct hp_thread_times delay;
	pid_t child = fork();

	if (!child) {
		wait_for(burn(200));
		_exit(0);
	}
	while (spent_ns(CLOCK_PROCESS_CPUTIME_ID) < 100000000)
		;
	wait_for(child);
	delay = hp_run_delay_end(meter);
	if (!meter)
		return;
	ck_assert_uint_gt(delay.ran_ns, 100000000);
	ck_assert_uint_lt(delay.ran_ns, 230000000);
}

HP_TEST_MAIN("target/run_delay")
