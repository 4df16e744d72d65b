/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which procedure is meant by a name: two images of generated code, whose symbols are chosen. */
#include "fixture.h"

#include <hpcprof/model/procedure_name.h>

#include <string.h>

static char other_path[] = "[jit node]";
static const struct hp_image_id other_image = { .kind = HP_IMAGE_JIT, .path = other_path };

static char lookup_int[] = "ns::Table::lookup(int, bool) const";
static char lookup_long[] = "ns::Table::lookup(long) const";
static char total[] = "int ns::total<int>(std::vector<int> const&)";
static char hash[] = "hash_add";
static const struct hp_symbol symbols[] = {
	{ { 0x100 }, 0x40, lookup_int, NULL },
	{ { 0x200 }, 0x40, lookup_long, NULL },
	{ { 0x300 }, 0x40, total, NULL },
	{ { 0x400 }, 0x40, hash, NULL },
};
/* hash_add is in both images, hotter in the second; the second lookup is the hotter one. */
static const struct fixture_count counts[] = {
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x100, 5 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x200, 9 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x300, 2 },
	{ "cpu-clock:u", &fixture_jit, "lua", 0, 1000000, 0x400, 3 },
	{ "cpu-clock:u", &other_image, "node", 0, 1000000, 0x400, 7 },
	{ "cpu-clock:u", &fixture_missing, "lua", 0, 1000000, 0x1234, 1 },
};
static const struct fixture_epoch epoch = { .counts = counts,
					    .count = HP_ARRAY_COUNT(counts),
					    .symbols = symbols,
					    .symbol_count = HP_ARRAY_COUNT(symbols) };

/* The samples of what `listed` means. */
static uint64_t samples_of(struct fixture *fixture, const char *listed)
{
	struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
					     .format = HP_FORMAT_CSV,
					     .of.listed = listed };

	hp_assert_ok(fixture_report(fixture, &options, NULL));
	return fixture_csv_sum(fixture->output, 0);
}

TEST(a_procedure_is_found_by_name_glob_and_image)
{
	static const struct {
		const char *listed;
		uint64_t samples;
	} cases[] = {
		{ "ns::Table::lookup(int, bool) const", 5 },
		{ "ns::total", 2 },
		{ "ns::total<int>", 2 },
		{ "int ns::total<int>", 2 },
		{ "*total*", 2 },
		{ "s::tota", 2 },
		{ "lookup", 14 },
		{ "[jit lua]:hash_add", 3 },
		{ "*node*:hash_add", 7 },
		{ "*node*:hash*", 7 },
		{ "*lua*:ns::total", 2 },
		{ "libgone.so.1+0x1234", 1 },
		/* A glob lists everything that it means. */
		{ "*lookup*", 14 },
		{ "*", 27 },
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		uint64_t samples = samples_of(fixture, cases[i].listed);

		ck_assert_msg(samples == cases[i].samples, "%s: %llu", cases[i].listed,
			      (unsigned long long)samples);
	}
}

TEST(of_several_the_hottest_is_taken_and_the_others_are_named)
{
	struct fixture *fixture = fixture_of_epoch(&epoch);

	ck_assert_uint_eq(samples_of(fixture, "ns::Table::lookup"), 9);
	hp_assert_contains(fixture->warnings, "2 procedures match",
			   "[jit lua]:ns::Table::lookup(int, bool) const (5 sam");
	ck_assert_uint_eq(samples_of(fixture, "hash_add"), 7);
	hp_assert_contains(fixture->warnings, "[jit lua]:hash_add (3 samples)");
}

TEST(an_unknown_name_gets_the_nearest_with_their_samples)
{
	static const struct {
		const char *listed;
		const char *advice; /* its first suggestion */
	} cases[] = {
		{ "hsah_add", "names are:\n  hash_add  in [jit node], 7 samples" },
		{ "lookpu", "names are:\n  ns::Table::lookup(long) const  in [jit lua], 9 sam" },
		{ "LOKUP", "names are:\n  ns::Table::lookup(long) const  in [jit lua], 9 sam" },
		{ "nothing_like_it", "libgone.so.1 could not be read" },
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_report_options options = { .view = HP_VIEW_INSTRUCTIONS,
						     .of.listed = cases[i].listed };

		hp_assert_says(HP_ERROR_INSUFFICIENT, cases[i].listed, cases[i].advice,
			       fixture_report(fixture, &options, NULL));
	}
}

TEST(an_image_that_was_not_read_is_the_cause_when_its_procedure_is_asked_for)
{
	static const struct {
		const char *listed;
		const char *message;
	} cases[] = {
		{ "libgone*:start", "'libgone*:start' cannot be looked up, because the procedures "
				    "of libgone.so.1 are not known: " },
		{ "start", "no procedure matches 'start' in the images that could be read" },
	};
	struct fixture *fixture = fixture_of_epoch(&epoch);

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_report_options options = { .view = HP_VIEW_ANNOTATE,
						     .of.listed = cases[i].listed };
		struct hp_error *error = fixture_report(fixture, &options, NULL);

		ck_assert_ptr_nonnull(error);
		ck_assert_msg(strstr(error->message, cases[i].message) == error->message, "%s",
			      error->message);
		hp_error_destroy(error);
	}
}

TEST(where_nothing_was_read_that_is_why_nothing_is_found)
{
	const struct fixture_count count = { "cpu-clock:u", &fixture_missing, "x", 0,
					     1000000,	    0x1234,	      20 };
	const struct fixture_epoch gone = { .counts = &count, .count = 1 };
	struct hp_report_options options = { .view = HP_VIEW_ANNOTATE, .of.listed = "start" };
	struct fixture *fixture = fixture_of_epoch(&gone);

	hp_assert_says(HP_ERROR_INSUFFICIENT,
		       "the procedures of libgone.so.1 are not known: ", NULL,
		       fixture_report(fixture, &options, NULL));
}

TEST(a_name_is_bare_without_arguments_and_result)
{
	static const struct {
		const char *name;
		const char *bare;
	} cases[] = {
		{ "main", "main" },
		{ "f(int)", "f" },
		{ "ns::f(int (*)(char)) const", "ns::f" },
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "std::pair<int, long> make<int, long>(int)", "make<int, long>" },
		{ "operator new(unsigned long)", "operator new" },
		{ "A::operator()(int) const", "A::operator()" },
		{ "f(int)::{lambda()#1}::operator()() const", "f(int)::{lambda()#1}::operator()" },
		{ "void sort<int>(int*) [clone .isra.0]", "sort<int>" },
		{ "f(int) const [clone .isra.0] [clone .cold]", "f" },
		{ "f(int)[clone .cold]", "f(int)[clone .cold]" },
		{ " [clone ]", " [clone ]" },
		{ "]", "]" },
		{ "()", "()" },
		{ ")", ")" },
		{ "", "" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		const char *start;
		size_t length;

		hp_name_bare(cases[i].name, &start, &length);
		ck_assert_msg(length == strlen(cases[i].bare) &&
				      memcmp(start, cases[i].bare, length) == 0,
			      "%s: %.*s", cases[i].name, (int)length, start);
	}
}

HP_TEST_MAIN("report/resolve")
