/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Naming, listing, labelling, removing and merging. */
#include "../db_fixture.h"

#include <hpcprof/base/cleanup.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory;
static struct hp_db *db;

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

static char *resolve_one(const char *argument)
{
	char *arguments[] = { strdup(argument) };
	char **stamps;
	size_t count;
	char *stamp;

	hp_assert_ok(hp_db_resolve(db, arguments, 1, &stamps, &count));
	ck_assert_uint_eq(count, 1);
	stamp = kept(strdup(stamps[0]));
	hp_db_free_stamps(stamps, count);
	free(arguments[0]);
	return stamp;
}

static void assert_resolves(const char *argument, const char *expected)
{
	ck_assert_str_eq(resolve_one(argument), expected);
}

/* The error, for a look at its words. */
static struct hp_error *resolve_error(const char *argument)
{
	char *arguments[] = { strdup(argument) };
	char **stamps;
	size_t count;
	struct hp_error *error = hp_db_resolve(db, arguments, 1, &stamps, &count);

	ck_assert_msg(error != NULL, "'%s' resolved", argument);
	free(arguments[0]);
	return error;
}

/* Gives an epoch a stamp of our choice, as if it had been recorded then. */
static char *restamp(const char *stamp, const char *wanted)
{
	const char *path = fixture_path(directory, "db");

	ck_assert_int_eq(rename(fixture_path(path, stamp), fixture_path(path, wanted)), 0);
	return kept(strdup(wanted));
}

TEST(epochs_are_named_by_stamp_label_age_and_the_beginning_of_a_stamp)
{
	char *first = restamp(fixture_epoch(db, "base", 3), "20250101T000000Z-1");
	char *second = restamp(fixture_epoch(db, "123", 3), "20260101T000000Z-2");
	char *third = restamp(fixture_epoch(db, NULL, 3), "20260101T000000Z-10");

	assert_resolves(first, first);
	assert_resolves("base", first);
	assert_resolves("123", second);
	assert_resolves("2025", first);
	assert_resolves("@latest", third);
	assert_resolves("@-0", third);
	assert_resolves("@-1", second);
	assert_resolves("@-2", first);
	hp_assert_fails(HP_ERROR_NOT_FOUND, resolve_error("@-3"));
	hp_assert_fails(HP_ERROR_USAGE, resolve_error("2026"));
	/* "…Z-1" is also how "…Z-10" begins: only one begins so, hence it is meant. */
	assert_resolves("20260101T000000Z-1", third);
	hp_assert_fails(HP_ERROR_NOT_FOUND, resolve_error(""));
	hp_assert_fails(HP_ERROR_NOT_FOUND, resolve_error("@"));
	hp_assert_fails(HP_ERROR_NOT_FOUND, resolve_error("@later"));
}

TEST(ranges_run_from_the_older_to_the_newer_and_count_once)
{
	char *stamps[] = {
		restamp(fixture_epoch(db, "a", 1), "20250101T000000Z-1"),
		restamp(fixture_epoch(db, "b", 1), "20250102T000000Z-1"),
		restamp(fixture_epoch(db, "c", 1), "20250103T000000Z-1"),
	};
	static const struct {
		const char *arguments[3];
		size_t first;
		size_t count;
	} cases[] = {
		{ { "a..b" }, 0, 2 },	      { { "..b" }, 0, 2 },
		{ { "b.." }, 1, 2 },	      { { ".." }, 0, 3 },
		{ { "b..b" }, 1, 1 },	      { { "c", "a", "b" }, 0, 3 },
		{ { "a..b", "b..c" }, 0, 3 }, { { "@-1..@latest" }, 1, 2 },
		{ { NULL }, 2, 1 },	      { { "20250102..c" }, 1, 2 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		char *arguments[3];
		char **found;
		size_t given = 0;
		size_t count;

		for (; given < 3 && cases[i].arguments[given]; given++)
			arguments[given] = strdup(cases[i].arguments[given]);
		hp_assert_ok(hp_db_resolve(db, arguments, given, &found, &count));
		ck_assert_uint_eq(count, cases[i].count);
		for (size_t j = 0; j < count; j++)
			ck_assert_str_eq(found[j], stamps[cases[i].first + j]);
		hp_db_free_stamps(found, count);
		while (given)
			free(arguments[--given]);
	}
	hp_assert_fails(HP_ERROR_USAGE, resolve_error("c..a"));
	hp_assert_fails(HP_ERROR_NOT_FOUND, resolve_error("a..x"));
}

TEST(a_label_of_several_epochs_is_refused_and_they_are_listed)
{
	char *first = fixture_epoch(db, "base", 1);
	char *second = fixture_epoch(db, "base", 1);

	hp_assert_says(HP_ERROR_USAGE, first, NULL, resolve_error("base"));
	hp_assert_says(HP_ERROR_USAGE, second, NULL, resolve_error("base"));
}

TEST(a_label_is_all_its_epochs_for_those_who_keep_them_apart)
{
	char *stamps[] = { fixture_epoch(db, "base", 1), fixture_epoch(db, "other", 1),
			   fixture_epoch(db, "base", 1) };
	char base[] = "base";
	char other[] = "other";
	char *const both[] = { other, base };
	char *const one[] = { base };
	char **found;
	size_t count;

	hp_assert_ok(hp_db_resolve_apart(db, one, 1, &found, &count));
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(found[0], stamps[0]);
	ck_assert_str_eq(found[1], stamps[2]);
	hp_db_free_stamps(found, count);
	hp_assert_ok(hp_db_resolve_apart(db, both, 2, &found, &count));
	ck_assert_uint_eq(count, 3);
	hp_db_free_stamps(found, count);
}

TEST(what_does_not_exist_is_answered_with_what_does)
{
	char *stamp;

	hp_assert_says(HP_ERROR_NOT_FOUND, "holds no epochs", NULL, resolve_error("nope"));
	stamp = fixture_epoch(db, "base", 1);
	hp_assert_says(HP_ERROR_NOT_FOUND, stamp, NULL, resolve_error("nope"));
	hp_assert_says(HP_ERROR_NOT_FOUND, "base", NULL, resolve_error("nope"));
}

TEST(latest_passes_over_epochs_that_are_unreadable_but_not_over_empty_ones)
{
	char *good = fixture_epoch(db, NULL, 2);
	char *bad = fixture_epoch(db, NULL, 2);
	char *empty = fixture_epoch(db, NULL, 0);
	const char *bad_path = fixture_path(fixture_path(directory, "db"), bad);

	fixture_write(fixture_path(bad_path, "meta"), "damaged", 7);
	assert_resolves("@latest", empty);
	assert_resolves("@-1", good);
	hp_assert_fails(HP_ERROR_NOT_FOUND, resolve_error("@-2"));
	assert_resolves(bad, bad);
	assert_resolves(empty, empty);
	hp_assert_ok(hp_db_remove(db, empty));
	assert_resolves("@latest", good);
	hp_assert_ok(hp_db_remove(db, good));
	assert_resolves("@latest", bad);
}

static void count_warning(const char *message, const char *advice, void *context)
{
	char *told = context;

	ck_assert_ptr_nonnull(advice);
	ck_assert_msg(!*told, "'%s' after '%s'", message, told);
	snprintf(told, 256, "%s", message);
}

TEST(what_latest_passes_over_is_told_once_with_the_reason)
{
	char *good = fixture_epoch(db, NULL, 2);
	char *bad[] = { fixture_epoch(db, NULL, 2), fixture_epoch(db, NULL, 2) };
	char told[256] = "";
	char expected[128];

	hp_db_on_warning(db, count_warning, told);
	assert_resolves("@latest", bad[1]);
	for (size_t i = 0; i < 2; i++)
		fixture_write(fixture_file(directory, bad[i], "meta"), "damaged", 7);
	assert_resolves(good, good);
	ck_assert_str_eq(told, "");
	assert_resolves("@latest", good);
	snprintf(expected, sizeof(expected),
		 "passed over epoch %s (and 1 older), which cannot be read: meta: ", bad[1]);
	ck_assert_msg(strncmp(told, expected, strlen(expected)) == 0, "%s", told);
	told[0] = 0;
	assert_resolves("@latest", good);
	assert_resolves("..@latest", good);
	ck_assert_str_eq(told, "");
}

TEST(labels_that_could_be_taken_for_something_else_are_refused)
{
	static const char *const bad[] = {
		"",
		"@latest",
		"-x",
		"a..b",
		"20261120T142300Z-1",
		"20261120T1",
		"a b",
		"a\nb",
		"\033[31mred\033[m",
		"\xff",
		("\xc2\x9b"
		 "31m"),
		"0123456789012345678901234567890123456789012345678901234567890123x",
	};
	static const char *const good[] = { "base",  "release-1.2", "20261120", "a.b",
					    "größe", "feature/x",   "HEAD~1" };
	char *stamp = fixture_epoch(db, NULL, 1);
	struct hp_epoch_writer *writer;

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++) {
		hp_assert_fails(HP_ERROR_USAGE, hp_db_label(db, stamp, bad[i]));
		hp_assert_fails(HP_ERROR_USAGE, hp_epoch_create(db, bad[i], &writer));
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(good); i++) {
		hp_assert_ok(hp_db_label(db, stamp, good[i]));
		assert_resolves(good[i], stamp);
	}
	hp_assert_ok(hp_db_label(db, stamp, NULL));
	hp_assert_fails(HP_ERROR_NOT_FOUND, resolve_error("HEAD~1"));
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	ck_assert_uint_eq(fixture_epoch_count(db), 1);
}

TEST(a_list_says_what_each_epoch_is_and_why_one_cannot_be_read)
{
	char *first = fixture_epoch(db, "base", 4);
	char *second = fixture_epoch(db, NULL, 4);
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *writer;
	struct hp_epoch_summary *epochs;
	size_t count;

	fixture_write(fixture_file(directory, second, "meta"), "damaged", 7);
	hp_assert_ok(hp_epoch_create(db, "live", &writer));
	hp_assert_ok(hp_db_list(db, &epochs, &count));
	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(epochs[0].stamp, first);
	ck_assert_ptr_null(epochs[0].problem);
	ck_assert_str_eq(epochs[0].meta.label, "base");
	ck_assert(epochs[0].meta.complete);
	ck_assert(!epochs[0].recording);
	ck_assert_uint_eq(epochs[0].images, 1);
	ck_assert_uint_gt(epochs[0].bytes, 100);
	ck_assert_uint_eq(epochs[0].meta.events[0].samples, 4);
	ck_assert_str_eq(epochs[1].stamp, second);
	hp_assert_contains(epochs[1].problem, "meta: offset 0x7");
	ck_assert(epochs[2].recording);
	ck_assert_str_eq(epochs[2].meta.label, "live");
	hp_db_free_list(epochs, count);
}

/* --- merge -------------------------------------------------------------------------------- */

/* Three epochs, same images and events, different samples and periods. */
static char *random_epoch(struct hp_random *random)
{
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, true);
	struct hp_epoch_writer *writer;
	char *stamp;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	for (unsigned image = 0; image < 4; image++) {
		struct hp_profile profile = fixture_profile(random, image, "cpu-clock:u");

		if (hp_random_between(random, 0, 3)) {
			hp_assert_ok(hp_epoch_writer_add(writer, &profile));
			fixture_count(&meta.events[0], &profile);
		}
		hp_profile_clear(&profile);
	}
	stamp = fixture_commit(writer, &meta);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

static char *merged(char *first, char *second, char *third)
{
	return fixture_merge(db, (char *[]){ first, second, third }, third ? 3 : 2, NULL);
}

/* An epoch without samples, recorded on that CPU. */
static char *epoch_of_cpu(const char *vendor, bool complete)
{
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, complete);
	struct hp_epoch_writer *writer;
	char *stamp;

	meta.cpu.vendor = strdup(vendor);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	stamp = fixture_commit(writer, &meta);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

static void assert_merges_to_cpu(char *first, char *second, const char *vendor)
{
	char *stamp = merged(first, second, NULL);
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	if (vendor)
		ck_assert_str_eq(hp_epoch_meta(epoch)->cpu.vendor, vendor);
	else
		ck_assert(!hp_cpu_is_known(&hp_epoch_meta(epoch)->cpu));
}

TEST(a_merged_epoch_knows_its_cpu_when_the_parts_agree)
{
	char *intel = epoch_of_cpu("GenuineIntel", true);
	char *interrupted = epoch_of_cpu("GenuineIntel", false);
	char *amd = epoch_of_cpu("AuthenticAMD", true);

	assert_merges_to_cpu(intel, interrupted, "GenuineIntel");
	assert_merges_to_cpu(intel, amd, NULL);
	assert_merges_to_cpu(amd, intel, NULL);
}

/* `cmp` of all profiles and of the index, by names and by bytes. */
static void assert_same_profiles(const char *a, const char *b)
{
	const char *path = fixture_path(directory, "db");
	const char *first = fixture_path(path, a);
	const char *second = fixture_path(path, b);
	char command[8192];

	snprintf(command, sizeof(command), "diff -r -x meta '%s' '%s'", first, second);
	ck_assert_int_eq(system(command), 0);
}

static uint64_t samples_of(const char *stamp)
{
	struct hp_epoch *epoch;
	uint64_t samples;

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	samples = hp_epoch_meta(epoch)->events[0].samples;
	hp_epoch_close(epoch);
	return samples;
}

TEST(merging_commutes_and_associates_to_the_byte)
{
	struct hp_random random = hp_random_seeded(433);

	for (int round = 0; round < 5; round++) {
		char *a = random_epoch(&random);
		char *b = random_epoch(&random);
		char *c = random_epoch(&random);
		char *abc = merged(a, b, c);
		char *cba = merged(c, b, a);
		char *ab = merged(a, b, NULL);
		char *ab_c = merged(ab, c, NULL);
		char *bc = merged(b, c, NULL);
		char *a_bc = merged(a, bc, NULL);
		uint64_t total = samples_of(a) + samples_of(b) + samples_of(c);

		assert_same_profiles(abc, cba);
		assert_same_profiles(abc, ab_c);
		assert_same_profiles(abc, a_bc);
		ck_assert_uint_eq(samples_of(abc), total);
		ck_assert_uint_eq(samples_of(cba), total);
		ck_assert_uint_eq(samples_of(ab_c), total);
		ck_assert_uint_eq(samples_of(a_bc), total);
		ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	}
}

TEST(merging_keeps_different_periods_apart)
{
	struct hp_epoch_writer *writer;
	char *stamps[2];
	struct hp_profile found;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	char *sum;

	for (unsigned i = 0; i < 2; i++) {
		struct hp_profile profile =
			fixture_flat_profile(1, "cpu-clock:u", i ? 250000 : 1000000, 4);
		struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 4, true);

		hp_assert_ok(hp_epoch_create(db, NULL, &writer));
		hp_assert_ok(hp_epoch_writer_add(writer, &profile));
		meta.events[0].period_total = i ? 1000000 : 4000000;
		meta.events[0].frequency_hz = i ? 4000 : 1000;
		stamps[i] = fixture_commit(writer, &meta);
		hp_profile_clear(&profile);
		hp_epoch_meta_clear(&meta);
	}
	sum = merged(stamps[0], stamps[1], NULL);
	hp_assert_ok(hp_epoch_open(db, sum, &epoch));
	ck_assert_uint_eq(hp_epoch_meta(epoch)->events[0].period_total, 5000000);
	hp_assert_ok(hp_epoch_read_profile(epoch, 0, 0, &found));
	ck_assert_uint_eq(found.stratum_count, 2);
	ck_assert_uint_eq(found.strata[0].period, 250000);
	ck_assert_uint_eq(found.strata[1].period, 1000000);
	hp_profile_clear(&found);
}

/* An epoch whose JIT image has one name, 10 samples in it, and 5 samples that no name holds. */
static char *jit_epoch(uint64_t offset, uint64_t size, const char *name)
{
	char path[] = "[jit java]";
	char event[] = "cpu-clock:u";
	char command[] = "java";
	char *own = strdup(name);
	struct hp_symbol symbol = { { offset }, size, own, NULL };
	struct hp_count counts[] = { { { offset + 4 }, 10 }, { { 1 << 20 }, 5 } };
	struct hp_stratum stratum = {
		.command = command, .period = 1, .counts = counts, .count_count = 2
	};
	struct hp_profile profile = { .image = { .kind = HP_IMAGE_JIT, .path = path },
				      .event = event,
				      .strata = &stratum,
				      .stratum_count = 1 };
	struct hp_epoch_meta meta = fixture_meta(event, 15, true);
	struct hp_epoch_writer *writer;
	size_t index;
	char *stamp;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &profile.image, &index));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	hp_assert_ok(hp_epoch_writer_symbols(writer, index, &symbol, 1));
	stamp = fixture_commit(writer, &meta);
	hp_epoch_meta_clear(&meta);
	free(own);
	return stamp;
}

TEST(merging_unites_the_names_of_jit_code)
{
	char *apple = jit_epoch(0, 32, "apple");
	char *berry = jit_epoch(4096, 64, "berry");
	char *longer_apple = jit_epoch(0, 48, "apple");
	char *two = merged(berry, apple, NULL);
	char *sum = merged(two, longer_apple, NULL);
	struct hp_symbol *symbols;
	struct hp_profile profile;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	size_t count;

	hp_assert_ok(hp_epoch_open(db, sum, &epoch));
	hp_assert_ok(hp_epoch_read_symbols(epoch, 0, &symbols, &count, NULL));
	hp_assert_ok(hp_epoch_read_profile(epoch, 0, 0, &profile));
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(symbols[0].name, "apple");
	ck_assert_uint_eq(symbols[0].size, 48);
	ck_assert_str_eq(symbols[1].name, "berry");
	ck_assert_uint_eq(symbols[1].offset.value, 4096);
	ck_assert_uint_eq(profile.strata[0].count_count, 3);
	ck_assert_uint_eq(profile.strata[0].counts[0].samples, 20);
	ck_assert_uint_eq(profile.strata[0].counts[1].samples, 10);
	ck_assert_uint_eq(profile.strata[0].counts[2].samples, 15);
	hp_symbols_free(symbols, count);
	hp_profile_clear(&profile);
}

TEST(two_jit_names_at_one_place_are_not_merged)
{
	char *stamps[] = { jit_epoch(0, 32, "apple"), jit_epoch(0, 32, "berry") };
	char *sum;

	hp_assert_fails(HP_ERROR_DAMAGED, hp_db_merge(db, stamps, 2, NULL, &sum));
}

TEST(merging_keeps_names_and_bytes_and_labels_the_sum)
{
	char *stamps[] = { fixture_rich_epoch(db), fixture_epoch(db, NULL, 3) };
	struct hp_symbol *symbols;
	struct hp_epoch *epoch;
	size_t count;
	char *sum;

	sum = fixture_merge(db, stamps, 2, "sum");
	assert_resolves("sum", sum);
	hp_assert_ok(hp_epoch_open(db, sum, &epoch));
	for (size_t i = 0; i < hp_epoch_image_count(epoch); i++) {
		struct hp_image_id wanted = fixture_image(1);

		if (hp_image_id_compare(hp_epoch_image(epoch, i), &wanted) == 0) {
			hp_assert_ok(hp_epoch_read_symbols(epoch, i, &symbols, &count, NULL));
			ck_assert_uint_eq(count, 2);
			hp_symbols_free(symbols, count);
			ck_assert_ptr_nonnull(hp_epoch_bytes_path(epoch, i));
		}
		hp_image_id_clear(&wanted);
	}
	hp_epoch_close(epoch);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	/* Twice the same is a mistake, not twice the samples. */
	stamps[1] = stamps[0];
	hp_assert_fails(HP_ERROR_USAGE, hp_db_merge(db, stamps, 2, NULL, &sum));
	ck_assert_uint_eq(fixture_epoch_count(db), 3);
}

HP_TEST_MAIN("db/care")
