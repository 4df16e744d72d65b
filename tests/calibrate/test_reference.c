/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reference loop: that it is of CPU time that was spent, and always there. What it is good for shows
 * scripts/check-accuracy --only=occasions. */
#include "../support.h"

#include <hpcprof/calibrate/reference.h>

#include <sys/resource.h>
#include <time.h>

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

TEST(it_is_of_time_that_was_spent)
{
	double start_ms = cpu_ms();
	uint64_t least_ns = UINT64_MAX;

	for (int i = 0; i < 10; i++) {
		uint64_t reference_ns = hp_reference_measure();

		ck_assert_uint_gt(reference_ns, 0);
		least_ns = reference_ns < least_ns ? reference_ns : least_ns;
	}
	/* Two loops five times each, and the memory for them. */
	ck_assert_double_gt(cpu_ms() - start_ms, 10 * 5 * (double)least_ns / 1e6);
}

TEST(without_memory_nothing_is_known)
{
	struct rlimit kept;
	struct rlimit none;

	ck_assert_int_eq(getrlimit(RLIMIT_AS, &kept), 0);
	none = (struct rlimit){ .rlim_cur = 1 << 20, .rlim_max = kept.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	ck_assert_uint_eq(hp_reference_measure(), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &kept), 0);
	ck_assert_uint_gt(hp_reference_measure(), 0);
}

HP_TEST_MAIN("calibrate/reference")
