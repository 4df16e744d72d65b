/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cpu_list.h>

#include <unistd.h>

TEST(a_list_comes_out_sorted_and_distinct)
{
	static const struct {
		const char *text;
		int cpus[8];
		size_t count;
	} lists[] = {
		{ "0", { 0 }, 1 },
		{ "3", { 3 }, 1 },
		{ "0-3", { 0, 1, 2, 3 }, 4 },
		{ "0-3,6", { 0, 1, 2, 3, 6 }, 5 },
		{ "6,0-3", { 0, 1, 2, 3, 6 }, 5 },
		{ "1,1,1", { 1 }, 1 },
		{ "1-3,2-4", { 1, 2, 3, 4 }, 4 },
		{ "5-5", { 5 }, 1 },
		{ "65535", { 65535 }, 1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(lists); i++) {
		size_t count;
		int *cpus;

		hp_assert_ok(hp_cpu_list_parse(lists[i].text, &cpus, &count));
		ck_assert_uint_eq(count, lists[i].count);
		for (size_t j = 0; j < count; j++)
			ck_assert_int_eq(cpus[j], lists[i].cpus[j]);
		free(cpus);
	}
}

TEST(a_bad_list_is_a_usage_error)
{
	static const char *const lists[] = {
		"",
		",",
		"0,",
		",0",
		"x",
		"0-",
		"-3",
		"0--3",
		"3-0",
		"0 1",
		"0-1-2",
		"65536",
		"-1",
		"0-65536",
		"1.5",
		"0x",
		" 0",
		"0 ",
		"99999999999999999999999",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(lists); i++) {
		size_t count;
		int *cpus;

		hp_assert_fails(HP_ERROR_USAGE, hp_cpu_list_parse(lists[i], &cpus, &count));
	}
}

TEST(without_a_list_it_is_every_online_cpu)
{
	size_t count;
	int *cpus;

	hp_assert_ok(hp_cpu_list_parse(NULL, &cpus, &count));
	ck_assert_uint_eq(count, (size_t)sysconf(_SC_NPROCESSORS_ONLN));
	free(cpus);
}

HP_TEST_MAIN("base/cpu_list")
