/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/model/profile.h>

#include <string.h>

/* A profile with few distinct offsets, commands and periods, so that everything collides. Half of
 * them tell threads and CPUs apart. */
static struct hp_profile random_profile(struct hp_random *random)
{
	struct hp_profile profile = { 0 };
	bool is_apart = hp_random_between(random, 0, 1);

	for (int i = 0; i < 12; i++) {
		char thread[2] = { (char)hp_random_between(random, 'x', 'y'), 0 };
		char command[2] = { (char)hp_random_between(random, 'a', 'c'), 0 };
		struct hp_count count = { { hp_random_between(random, 0, 9) },
					  hp_random_between(random, 1, 5) };
		struct hp_stratum stratum = { .command = command,
					      .pid = (uint32_t)hp_random_between(random, 0, 1),
					      .period = hp_random_between(random, 1, 2),
					      .counts = &count,
					      .count_count = 1 };
		struct hp_stratum share = stratum;
		struct hp_profile one = { .strata = &stratum, .stratum_count = 1 };

		if (is_apart) {
			share.tid = (uint32_t)hp_random_between(random, 1, 3);
			share.cpu = (uint32_t)hp_random_between(random, 1, 2);
			share.thread = thread;
			one.shares = &share;
			one.share_count = 1;
		}
		hp_assert_ok(hp_profile_add(&profile, &one));
	}
	return profile;
}

static void assert_same_strata(const struct hp_stratum *a, size_t a_count,
			       const struct hp_stratum *b, size_t b_count)
{
	ck_assert_uint_eq(a_count, b_count);
	for (size_t i = 0; i < a_count; i++) {
		ck_assert_int_eq(hp_stratum_compare(&a[i], &b[i]), 0);
		ck_assert_uint_eq(a[i].count_count, b[i].count_count);
		ck_assert_mem_eq(a[i].counts, b[i].counts,
				 a[i].count_count * sizeof(struct hp_count));
	}
}

static void assert_same(const struct hp_profile *a, const struct hp_profile *b)
{
	assert_same_strata(a->strata, a->stratum_count, b->strata, b->stratum_count);
	assert_same_strata(a->shares, a->share_count, b->shares, b->share_count);
}

static void assert_adds_up(const struct hp_profile *profile)
{
	struct hp_stratum *strata;
	size_t count;

	if (!profile->share_count)
		return;
	hp_assert_ok(hp_shares_sum(profile->shares, profile->share_count, &strata, &count));
	assert_same_strata(strata, count, profile->strata, profile->stratum_count);
	hp_strata_free(strata, count);
}

static struct hp_profile sum(const struct hp_profile *a, const struct hp_profile *b)
{
	struct hp_profile result = { 0 };

	hp_assert_ok(hp_profile_add(&result, a));
	hp_assert_ok(hp_profile_add(&result, b));
	return result;
}

TEST(adding_profiles_commutes_and_associates)
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
		ck_assert_uint_eq(left.share_count > 0,
				  a.share_count + b.share_count + c.share_count > 0);
		assert_adds_up(&left);
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

TEST(strata_and_offsets_come_out_sorted_and_distinct)
{
	struct hp_random random = hp_random_seeded(4);
	_cleanup_(hp_profile_clear) struct hp_profile profile = random_profile(&random);

	for (size_t i = 0; i < profile.stratum_count; i++) {
		const struct hp_stratum *stratum = &profile.strata[i];

		if (i)
			ck_assert_int_lt(hp_stratum_compare(stratum - 1, stratum), 0);
		for (size_t j = 1; j < stratum->count_count; j++)
			ck_assert_uint_lt(stratum->counts[j - 1].offset.value,
					  stratum->counts[j].offset.value);
	}
}

TEST(what_is_not_told_apart_is_of_an_unknown_thread)
{
	char command[] = "xz";
	char name[] = "worker";
	struct hp_count count = { { 16 }, 5 };
	struct hp_stratum stratum = {
		.command = command, .period = 1, .counts = &count, .count_count = 1
	};
	struct hp_stratum share = stratum;
	struct hp_profile without = { .strata = &stratum, .stratum_count = 1 };
	struct hp_profile with = without;

	share.thread = name;
	share.tid = 7;
	with.shares = &share;
	with.share_count = 1;
	for (int first = 0; first < 2; first++) {
		struct hp_profile both = first ? sum(&with, &without) : sum(&without, &with);

		ck_assert_uint_eq(both.stratum_count, 1);
		ck_assert_uint_eq(both.strata[0].counts[0].samples, 10);
		ck_assert_uint_eq(both.share_count, 2);
		ck_assert_uint_eq(both.shares[0].tid, 0);
		ck_assert_ptr_null(both.shares[0].thread);
		ck_assert_uint_eq(both.shares[0].counts[0].samples, 5);
		ck_assert_uint_eq(both.shares[1].tid, 7);
		ck_assert_str_eq(both.shares[1].thread, "worker");
		hp_profile_clear(&both);
	}
}

TEST(periods_are_never_added_into_one_histogram)
{
	char command[] = "xz";
	struct hp_count count = { { 16 }, 5 };
	struct hp_stratum slow = {
		.command = command, .period = 4000000, .counts = &count, .count_count = 1
	};
	struct hp_stratum fast = {
		.command = command, .period = 1000000, .counts = &count, .count_count = 1
	};
	struct hp_profile a = { .strata = &slow, .stratum_count = 1 };
	struct hp_profile b = { .strata = &fast, .stratum_count = 1 };
	_cleanup_(hp_profile_clear) struct hp_profile both = sum(&a, &b);

	ck_assert_uint_eq(both.stratum_count, 2);
	ck_assert_uint_eq(both.strata[0].period, 1000000);
	ck_assert_uint_eq(both.strata[1].period, 4000000);
}

TEST(modifiers_say_which_modes_an_event_counts_in)
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

HP_TEST_MAIN("model/profile")
