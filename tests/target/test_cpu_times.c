/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/target/cpu_times.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NS = 10000000 };

TEST(the_system_s_time_in_the_kernel_has_interrupts_and_no_idling)
{
	struct hp_cpu_times times;

	ck_assert(hp_cpu_times_of_system(
		"cpu  100 20 50 9000 800 7 3 60 40 5\ncpu0 1 2 3 4 5 6 7\n", TICK_NS, &times));
	ck_assert_uint_eq(times.user_ns, 120ull * TICK_NS);
	ck_assert_uint_eq(times.system_ns, 60ull * TICK_NS);
}

TEST(all_cpus_together_were_idle_for_no_longer_than_they_have_been_there)
{
	struct timespec up;
	double idle_s = (double)hp_cpu_idle_ns() / 1e9;

	ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &up), 0);
	ck_assert_double_gt(idle_s, 0);
	ck_assert_double_le(idle_s,
			    1.01 * (double)(up.tv_sec + 1) * (double)sysconf(_SC_NPROCESSORS_CONF));
}

TEST(a_process_may_be_called_anything)
{
	static const char *const names[] = { "cat", "a b", ") R 1 2 3 4 5 6 7 8 9 10 11 12 13",
					     "" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		struct hp_cpu_times times = { 0 };
		char text[200];

		snprintf(text, sizeof(text),
			 "4711 (%s) S 1 4711 4711 0 -1 4194304 11 12 13 14 250 31 77 88 20 0 1 0\n",
			 names[i]);
		ck_assert_msg(hp_cpu_times_of_process(text, TICK_NS, &times), "%s", names[i]);
		ck_assert_uint_eq(times.user_ns, 250ull * TICK_NS);
		ck_assert_uint_eq(times.system_ns, 31ull * TICK_NS);
	}
}

TEST(what_has_no_times_in_it_tells_none)
{
	static const char *const texts[] = { "",
					     "cpu",
					     "cpu 1 2 3",
					     "intr 1 2 3 4",
					     "cpu0 1 2 3 4 5 6 7",
					     "4711 (cat",
					     "4711 (cat)",
					     "4711 (cat) S 1 2",
					     "4711 (cat) S x" };
	struct hp_cpu_times times;

	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++) {
		ck_assert_msg(!hp_cpu_times_of_system(texts[i], TICK_NS, &times), "%s", texts[i]);
		ck_assert_msg(!hp_cpu_times_of_process(texts[i], TICK_NS, &times), "%s", texts[i]);
	}
}

static double used_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static double sum_s(const struct hp_cpu_times *times)
{
	return (double)(times->user_ns + times->system_ns) / 1e9;
}

TEST(a_meter_counts_from_its_beginning)
{
	const pid_t self = getpid();
	const double burnt_s = 0.3;
	const double steps_s = 0.05; /* of a few ticks, at both ends */
	struct hp_cpu_meter meters[3];
	double begun_s;

	hp_cpu_meter_create(&meters[0], false, NULL, &self, 1, NULL, 0);
	hp_cpu_meter_create(&meters[1], false, NULL, NULL, 0, &self, 1);
	hp_cpu_meter_create(&meters[2], true, NULL, NULL, 0, NULL, 0);
	for (double before_s = used_s(); used_s() - before_s < burnt_s;)
		(void)syscall(SYS_getppid);
	for (size_t i = 0; i < HP_ARRAY_COUNT(meters); i++)
		hp_cpu_meter_begin(&meters[i]);
	for (begun_s = used_s(); used_s() - begun_s < burnt_s;)
		(void)syscall(SYS_getppid);
	for (size_t i = 0; i < HP_ARRAY_COUNT(meters); i++) {
		struct hp_cpu_times times;

		hp_cpu_meter_look(&meters[i]);
		times = hp_cpu_meter_times(&meters[i]);
		ck_assert_double_ge(sum_s(&times), burnt_s - steps_s);
		/* Others may use the system, too. */
		if (meters[i].of->pid)
			ck_assert_double_le(sum_s(&times), used_s() - begun_s + steps_s);
		ck_assert_uint_gt(times.system_ns, 0);
		hp_cpu_meter_clear(&meters[i]);
	}
}

TEST(of_some_cpus_and_of_what_is_gone_nothing_is_known)
{
	const pid_t nobody = 1 << 30; /* no kernel gives that out */
	struct hp_cpu_meter meters[2];

	hp_cpu_meter_create(&meters[0], true, "0", NULL, 0, NULL, 0);
	hp_cpu_meter_create(&meters[1], false, NULL, &nobody, 1, NULL, 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(meters); i++) {
		struct hp_cpu_times times;

		hp_cpu_meter_begin(&meters[i]);
		hp_cpu_meter_look(&meters[i]);
		times = hp_cpu_meter_times(&meters[i]);
		ck_assert_uint_eq(times.user_ns + times.system_ns, 0);
		hp_cpu_meter_clear(&meters[i]);
	}
}

HP_TEST_MAIN("target/cpu_times")
