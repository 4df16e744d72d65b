/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/model/profile.h>

#include <string.h>

/* A profile with few distinct offsets, commands and periods, so that everything collides. */
static struct hp_profile random_profile(struct hp_random *random)
{
	struct hp_profile profile = { 0 };

	for (int i = 0; i < 12; i++) {
		char command[2] = { (char)hp_random_between(random, 'a', 'c'), 0 };
		struct hp_count count = { { hp_random_between(random, 0, 9) },
					  hp_random_between(random, 1, 5) };
		struct hp_stratum stratum = { .command = command,
					      .pid = (uint32_t)hp_random_between(random, 0, 1),
					      .period = hp_random_between(random, 1, 2),
					      .counts = &count,
					      .count_count = 1 };
		struct hp_profile one = { .strata = &stratum, .stratum_count = 1 };

		hp_assert_ok(hp_profile_add(&profile, &one));
	}
	return profile;
}

static void assert_same(const struct hp_profile *a, const struct hp_profile *b)
{
	ck_assert_uint_eq(a->stratum_count, b->stratum_count);
	for (size_t i = 0; i < a->stratum_count; i++) {
		ck_assert_int_eq(hp_stratum_compare(&a->strata[i], &b->strata[i]), 0);
		ck_assert_uint_eq(a->strata[i].count_count, b->strata[i].count_count);
		ck_assert_mem_eq(a->strata[i].counts, b->strata[i].counts,
				 a->strata[i].count_count * sizeof(struct hp_count));
	}
}

static struct hp_profile sum(const struct hp_profile *a, const struct hp_profile *b)
{
	struct hp_profile result = { 0 };

	hp_assert_ok(hp_profile_add(&result, a));
	hp_assert_ok(hp_profile_add(&result, b));
	return result;
}

START_TEST(adding_profiles_commutes_and_associates)
{
	struct hp_random random = hp_random_seeded(1997);

	for (int round = 0; round < 200; round++) {
		struct hp_profile a = random_profile(&random);
		struct hp_profile b = random_profile(&random);
		struct hp_profile c = random_profile(&random);
		struct hp_profile ab = sum(&a, &b);
		struct hp_profile ba = sum(&b, &a);
		struct hp_profile bc = sum(&b, &c);
		struct hp_profile left = sum(&ab, &c);
		struct hp_profile right = sum(&a, &bc);

		assert_same(&ab, &ba);
		assert_same(&left, &right);
		ck_assert_uint_eq(hp_profile_samples(&left), hp_profile_samples(&a) +
								     hp_profile_samples(&b) +
								     hp_profile_samples(&c));
		hp_profile_clear(&a);
		hp_profile_clear(&b);
		hp_profile_clear(&c);
		hp_profile_clear(&ab);
		hp_profile_clear(&ba);
		hp_profile_clear(&bc);
		hp_profile_clear(&left);
		hp_profile_clear(&right);
	}
}
END_TEST

START_TEST(strata_and_offsets_come_out_sorted_and_distinct)
{
	struct hp_random random = hp_random_seeded(4);
	struct hp_profile profile = random_profile(&random);

	for (size_t i = 0; i < profile.stratum_count; i++) {
		const struct hp_stratum *stratum = &profile.strata[i];

		if (i)
			ck_assert_int_lt(hp_stratum_compare(stratum - 1, stratum), 0);
		for (size_t j = 1; j < stratum->count_count; j++)
			ck_assert_uint_lt(stratum->counts[j - 1].offset.value,
					  stratum->counts[j].offset.value);
	}
	hp_profile_clear(&profile);
}
END_TEST

START_TEST(periods_are_never_added_into_one_histogram)
{
	char command[] = "xz";
	struct hp_count count = { { 16 }, 5 };
	struct hp_stratum slow = { command, 0, 4000000, &count, 1 };
	struct hp_stratum fast = { command, 0, 1000000, &count, 1 };
	struct hp_profile a = { .strata = &slow, .stratum_count = 1 };
	struct hp_profile b = { .strata = &fast, .stratum_count = 1 };
	struct hp_profile both = sum(&a, &b);

	ck_assert_uint_eq(both.stratum_count, 2);
	ck_assert_uint_eq(both.strata[0].period, 1000000);
	ck_assert_uint_eq(both.strata[1].period, 4000000);
	hp_profile_clear(&both);
}
END_TEST

START_TEST(modifiers_say_which_modes_an_event_counts_in)
{
	static const struct {
		const char *name;
		bool has_user;
		bool has_kernel;
	} cases[] = {
		{ "cpu-clock", true, true },	     { "cpu-clock:u", true, false },
		{ "cpu-clock:k", false, true },	     { "cpu-clock:uk", true, true },
		{ "cpu-clock:h", false, false },     { "cycles:P", true, true },
		{ "cycles:uppp", true, false },	     { "cpu/event=0x3c,umask=0x1/", true, true },
		{ "cpu/event=0x3c/u", true, false }, { "cpu/cycles/kP", false, true },
		{ "kmem:kfree", true, true },	     { "syscalls:sys_enter_read:u", true, false },
		{ "mem:0x1000:rw", true, true },     { "mem:0x1000/4:rw:u", true, false },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event_modes modes = hp_event_modes(cases[i].name);

		ck_assert_msg(modes.has_user == cases[i].has_user &&
				      modes.has_kernel == cases[i].has_kernel,
			      "%s", cases[i].name);
	}
}
END_TEST

HP_TEST_MAIN("model/profile", adding_profiles_commutes_and_associates,
	     strata_and_offsets_come_out_sorted_and_distinct,
	     periods_are_never_added_into_one_histogram,
	     modifiers_say_which_modes_an_event_counts_in)
