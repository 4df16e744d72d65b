/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the skid is judged and kept. That it is measured, tests/live/skid.test shows. */
#include "../support.h"

#include "../../src/calibrate/skid_kernels.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>

#include <stdio.h>
#include <string.h>

/* --- kernels ---------------------------------------------------------------------------------- */

/* Where the branch at that address goes. */
static uint64_t branch_target(uintptr_t address)
{
#if defined(__x86_64__)
	const uint8_t *bytes = (const uint8_t *)address; /* NOLINT(performance-no-int-to-ptr) */

	ck_assert_uint_eq(bytes[0], 0xeb); /* jmp rel8 */
	return address + 2 + (uint64_t)(int8_t)bytes[1];
#elif defined(__aarch64__)
	uint32_t word;

	memcpy(&word, (const void *)address, sizeof(word)); /* NOLINT(performance-no-int-to-ptr) */
	ck_assert_uint_eq(word >> 26, 5);		    /* b */
	return address + (uint64_t)((int64_t)((uint64_t)word << 38) >> 36);
#else
	return address;
#endif
}

TEST(each_kernel_is_a_loop_of_as_many_instructions_as_it_has_places)
{
	for (size_t i = 0; i < skid_kernel_count; i++) {
		const struct skid_kernel *kernel = &skid_kernels[i];
		uintptr_t start = (uintptr_t)kernel->run;

		for (size_t j = 1; j < HP_SKID_PLACES; j++)
			ck_assert_uint_lt(kernel->steps[j - 1], kernel->steps[j]);
		ck_assert_uint_eq(branch_target(start + kernel->steps[HP_SKID_PLACES - 1]),
				  start + kernel->steps[0]);
	}
	ck_assert_uint_le(skid_kernel_count, HP_SKID_KERNELS);
}

/* --- judging ---------------------------------------------------------------------------------- */

/* A row a kernel: samples on the instruction, one, two, three after it. */
static struct hp_skid skid_of(const uint64_t counts[][4], size_t kernels)
{
	struct hp_skid skid = { .kernel_count = kernels };

	for (size_t i = 0; i < kernels; i++) {
		memcpy(skid.kernels[i].places, counts[i], 4 * sizeof(uint64_t));
		skid.kernels[i].elsewhere = 7;
	}
	hp_skid_judge(&skid);
	return skid;
}

TEST(the_skid_is_where_most_samples_of_most_kernels_are)
{
	static const uint64_t late[][4] = { { 3, 994, 3, 0 },
					    { 0, 870, 100, 30 },
					    { 9, 900, 9, 9 } };
	static const uint64_t exact[][4] = { { 990, 10, 0, 0 }, { 990, 10, 0, 0 } };
	static const uint64_t two[][4] = { { 0, 100, 900, 0 },
					   { 0, 400, 600, 0 },
					   { 0, 600, 400, 0 } };
	struct hp_skid skid = skid_of(late, 3);

	ck_assert(skid.is_clear);
	ck_assert_uint_eq(skid.instructions, 1);
	/* (994 / 1000 + 870 / 1000 + 900 / 927) / 3 */
	ck_assert_double_eq_tol(skid.share, 0.94496, 0.0001);
	skid = skid_of(exact, 2);
	ck_assert(skid.is_clear);
	ck_assert_uint_eq(skid.instructions, 0);
	skid = skid_of(two, 3);
	ck_assert(skid.is_clear);
	ck_assert_uint_eq(skid.instructions, 2);
}

TEST(samples_that_are_everywhere_or_few_give_no_skid)
{
	static const uint64_t spread[][4] = { { 250, 250, 250, 250 }, { 250, 260, 250, 250 } };
	static const uint64_t torn[][4] = { { 0, 1000, 0, 0 }, { 0, 0, 0, 1000 } };
	static const uint64_t few[][4] = { { 0, 99, 0, 0 }, { 0, 99, 0, 0 } };
	static const uint64_t none[][4] = { { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };

	ck_assert(!skid_of(spread, 2).is_clear);
	ck_assert(!skid_of(torn, 2).is_clear);
	ck_assert(!skid_of(few, 2).is_clear);
	ck_assert(!skid_of(none, 2).is_clear);
	ck_assert(!skid_of(none, 0).is_clear);
}

/* --- what is kept ----------------------------------------------------------------------------- */

static struct hp_event event_named(const char *name, uint8_t precise)
{
	return (struct hp_event){ .name = strdup(name), .precise = precise & 3 };
}

TEST(a_calibration_is_of_the_source_whoever_it_samples)
{
	static const struct {
		const char *name;
		uint8_t precise;
		const char *key;
	} cases[] = {
		{ "cpu-clock:u", 0, "cpu-clock" },
		{ "cpu-clock", 0, "cpu-clock" },
		{ "cycles:uppp", 3, "cycles:ppp" },
		{ "cycles:P", 2, "cycles:pp" },
		{ "cycles:k", 0, "cycles" },
		{ "sched:sched_switch", 0, "sched:sched_switch" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_event event = event_named(cases[i].name, cases[i].precise);
		char *key = hp_skid_key(&event);

		ck_assert_str_eq(key, cases[i].key);
		free(key);
		free(event.name);
	}
}

static struct hp_cpu a_cpu(uint32_t model)
{
	static char vendor[] = "GenuineIntel";

	return (struct hp_cpu){ .vendor = vendor, .family = 6, .model = model, .stepping = 8 };
}

static struct hp_skid a_skid(const char *key, uint32_t instructions)
{
	return (struct hp_skid){ .key = strdup(key),
				 .is_clear = true,
				 .instructions = instructions };
}

/* Stores it, and forgets it. */
static void store(uint32_t model, const char *key, uint32_t instructions)
{
	struct hp_cpu cpu = a_cpu(model);
	_cleanup_(hp_skid_clear) struct hp_skid skid = a_skid(key, instructions);

	hp_assert_ok(hp_skid_store(&cpu, &skid));
}

/* -1: not there. */
static int stored(uint32_t model, const char *name, uint8_t precise)
{
	struct hp_cpu cpu = a_cpu(model);
	struct hp_event event = event_named(name, precise);
	struct hp_skid_entries entries;
	const struct hp_skid_entry *entry;
	int instructions;

	hp_assert_ok(hp_skid_load(&entries));
	entry = hp_skid_find(&entries, &cpu, &event);
	instructions = entry ? (int)entry->instructions : -1;
	if (entry)
		ck_assert_uint_eq(strlen(entry->date), strlen("2026-11-20"));
	hp_skid_entries_clear(&entries);
	free(event.name);
	return instructions;
}

static char *use_cache(void)
{
	char template[] = "hpcprof-test-XXXXXX";
	const char *base = getenv("TMPDIR");
	char *directory;

	ck_assert(asprintf(&directory, "%s/%s", base ? base : P_tmpdir, template) > 0);
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(setenv("XDG_CACHE_HOME", directory, 1), 0);
	return directory;
}

static char *path_in(const char *directory, const char *name)
{
	char *path;

	ck_assert(asprintf(&path, "%s/%s", directory, name) > 0);
	return path;
}

static void remove_cache(char *directory)
{
	char *file = path_in(directory, "hpcprof/skid.json");
	char *own = path_in(directory, "hpcprof");

	unlink(file);
	rmdir(own);
	ck_assert_int_eq(rmdir(directory), 0);
	free(file);
	free(own);
	free(directory);
}

TEST(what_is_kept_is_found_again_for_that_cpu_and_source_alone)
{
	char *directory = use_cache();

	ck_assert_int_eq(stored(143, "cpu-clock:u", 0), -1);
	store(143, "cpu-clock", 2);
	store(143, "cycles:pp", 0);
	store(106, "cpu-clock", 3);
	ck_assert_int_eq(stored(143, "cpu-clock:u", 0), 2);
	ck_assert_int_eq(stored(106, "cpu-clock", 0), 3);
	ck_assert_int_eq(stored(143, "cycles:upp", 2), 0);
	ck_assert_int_eq(stored(143, "cycles:u", 0), -1);
	ck_assert_int_eq(stored(85, "cpu-clock:u", 0), -1);
	store(143, "cpu-clock", 1);
	ck_assert_int_eq(stored(143, "cpu-clock:u", 0), 1);
	ck_assert_int_eq(stored(106, "cpu-clock:u", 0), 3);
	remove_cache(directory);
}

TEST(a_cpu_that_is_not_known_keeps_nothing)
{
	struct hp_cpu cpu = { 0 };
	_cleanup_(hp_skid_clear) struct hp_skid skid = a_skid("cpu-clock", 1);

	hp_assert_fails(HP_ERROR_INSUFFICIENT, hp_skid_store(&cpu, &skid));
}

TEST(without_a_place_for_a_cache_the_advice_is_to_give_one)
{
	struct hp_cpu cpu = a_cpu(143);
	_cleanup_(hp_skid_clear) struct hp_skid skid = a_skid("cpu-clock", 1);

	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	hp_assert_says(HP_ERROR_SYSTEM, "HOME", "XDG_CACHE_HOME", hp_skid_store(&cpu, &skid));
}

static void write_cache(const char *directory, const char *text)
{
	_cleanup_free_ char *path = path_in(directory, "hpcprof/skid.json");
	FILE *file;

	store(143, "cpu-clock", 1);
	file = fopen(path, "we");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

TEST(a_damaged_file_is_an_error_to_read_and_no_hindrance_to_calibrating_anew)
{
	char *directory = use_cache();
	struct hp_skid_entries entries;

	write_cache(directory, "{ half");
	hp_assert_fails(HP_ERROR_DAMAGED, hp_skid_load(&entries));
	ck_assert_uint_eq(entries.count, 0);
	store(143, "cpu-clock", 2);
	ck_assert_int_eq(stored(143, "cpu-clock:u", 0), 2);
	remove_cache(directory);
}

TEST(what_makes_no_sense_is_refused)
{
#define ENTRY(cpu, event, skid, date)                                                              \
	"{\"cpu\":" cpu ",\"event\":" event ",\"skid_instructions\":" skid ",\"date\":" date "}"
#define FILE_OF(entries) "{\"schema\":\"hpcprof-skid/1\",\"calibrations\":[" entries "]}"
#define GOOD		 ENTRY("\"a\"", "\"b\"", "1", "\"2026-11-20\"")
	static const char *const texts[] = {
		"",
		"null",
		"[]",
		"{}",
		"\xff\xfe",
		"{\"schema\":\"hpcprof-skid/2\",\"calibrations\":[]}",
		"{\"schema\":\"hpcprof-skid/1\"}",
		"{\"schema\":\"hpcprof-skid/1\",\"calibrations\":{}}",
		FILE_OF("7"),
		FILE_OF("{}"),
		FILE_OF(ENTRY("1", "\"b\"", "1", "\"2026-11-20\"")),
		FILE_OF(ENTRY("\"a\"", "null", "1", "\"2026-11-20\"")),
		FILE_OF(ENTRY("\"a\"", "\"b\"", "-1", "\"2026-11-20\"")),
		FILE_OF(ENTRY("\"a\"", "\"b\"", "256", "\"2026-11-20\"")),
		FILE_OF(ENTRY("\"a\"", "\"b\"", "1.5", "\"2026-11-20\"")),
		FILE_OF(ENTRY("\"a\"", "\"b\"", "99999999999999999999", "\"2026-11-20\"")),
		FILE_OF(ENTRY("\"a\"", "\"b\"", "1", "\"yesterday\"")),
		FILE_OF(ENTRY("\"a\"", "\"b\"", "1", "\"2026-11-20\\u001b\"")),
		FILE_OF(ENTRY("\"a\"", "\"b\"", "1", "\"2026-11-2\"")),
		FILE_OF(GOOD "," GOOD),
	};
	struct hp_skid_entries entries;

	hp_assert_ok(hp_skid_decode(FILE_OF(GOOD), strlen(FILE_OF(GOOD)), &entries));
	ck_assert_uint_eq(entries.count, 1);
	hp_skid_entries_clear(&entries);
	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++) {
		hp_assert_fails(HP_ERROR_DAMAGED,
				hp_skid_decode(texts[i], strlen(texts[i]), &entries));
		ck_assert_uint_eq(entries.count, 0);
	}
}

/* Never a crash; what is taken is within bounds. */
static void assert_harmless(const char *bytes, size_t size)
{
	char *exact = malloc(size + 1); /* so that a sanitizer sees reads past the end */
	struct hp_skid_entries entries;
	struct hp_error *error;

	memcpy(exact, bytes, size);
	exact = realloc(exact, size ? size : 1);
	error = hp_skid_decode(exact, size, &entries);
	for (size_t i = 0; !error && i < entries.count; i++) {
		ck_assert_uint_le(entries.at[i].instructions, HP_SKID_LIMIT);
		ck_assert_uint_eq(strlen(entries.at[i].date), 10);
	}
	if (error)
		ck_assert_int_eq(error->class, HP_ERROR_DAMAGED);
	else
		hp_skid_entries_clear(&entries);
	hp_error_destroy(error);
	free(exact);
}

TEST(no_damage_to_the_file_does_harm)
{
	static const char text[] =
		FILE_OF(GOOD "," ENTRY("\"c\"", "\"d\"", "255", "\"2026-01-02\""));
	struct hp_random random = hp_random_seeded(3);
	char damaged[sizeof(text)];

	for (size_t size = 0; size < sizeof(text); size++)
		assert_harmless(text, size);
	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			memcpy(damaged, text, sizeof(text));
			damaged[i] = (char)(damaged[i] ^ (1 << bit));
			assert_harmless(damaged, sizeof(text) - 1);
		}
	}
	for (size_t round = 0; round < 20000; round++) {
		memcpy(damaged, text, sizeof(text));
		for (uint64_t i = hp_random_between(&random, 1, 8); i > 0; i--)
			damaged[hp_random_between(&random, 0, sizeof(text) - 2)] =
				(char)hp_random_between(&random, 0, 255);
		assert_harmless(damaged, sizeof(text) - 1);
	}
}

TEST(what_was_written_reads_back)
{
	struct hp_skid_entries entries;
	struct hp_skid_entries again;
	_cleanup_free_ char *text;

	hp_assert_ok(hp_skid_decode(FILE_OF(GOOD), strlen(FILE_OF(GOOD)), &entries));
	hp_assert_ok(hp_skid_encode(&entries, &text));
	hp_assert_ok(hp_skid_decode(text, strlen(text), &again));
	ck_assert_uint_eq(again.count, 1);
	ck_assert_str_eq(again.at[0].cpu, "a");
	ck_assert_str_eq(again.at[0].key, "b");
	ck_assert_uint_eq(again.at[0].instructions, 1);
	ck_assert_str_eq(again.at[0].date, "2026-11-20");
	hp_skid_entries_clear(&entries);
	hp_skid_entries_clear(&again);
}

HP_TEST_MAIN("calibrate/skid")
