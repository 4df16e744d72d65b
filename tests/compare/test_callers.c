/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Below which caller a procedure changed. */
#include "../compare_fixture.h"
#include "../db_fixture.h"

#include <hpcprof/base/number.h>

#include <math.h>
#include <string.h>

enum { SCAN = 0, REST = 1, MOST_PATHS = 4 };

/* What one side spends in scan, over which callers. */
struct spending {
	struct recorded_path paths[MOST_PATHS];
	bool has_no_paths;
};

static struct compare_sides sides;

static void add_run(enum hp_side side, const struct spending *spending, uint64_t per_mille)
{
	static const char *const names[] = { "scan", "rest", "parse", "lookup", "helper", "main" };
	struct recorded recorded = { .build = (uint8_t)(1 + side) };

	memcpy(recorded.names, names, sizeof(names));
	recorded.samples[REST] = per_mille;
	for (size_t i = 0; i < MOST_PATHS; i++) {
		struct recorded_path *path = &recorded.paths[i];

		*path = spending->paths[i];
		path->samples = path->samples * per_mille / 1000;
		recorded.samples[SCAN] += path->samples;
	}
	if (spending->has_no_paths)
		memset(recorded.paths, 0, sizeof(recorded.paths));
	compare_add(&sides, side, &recorded);
}

static const struct hp_compared *compare(const struct spending *base,
					 const struct spending *candidate)
{
	/* From run to run; the sides take turns. */
	static const uint64_t per_mille[] = { 1000, 1003, 997, 1002, 998, 1001 };
	const struct hp_compared *found;

	sides = (struct compare_sides){ .db = fixture_db(temporary_directory()) };
	for (size_t run = 0; run < HP_ARRAY_COUNT(per_mille); run++)
		for (size_t turn = 0; turn < HP_SIDES; turn++) {
			enum hp_side side = run % 2 == turn ? HP_BASE : HP_CANDIDATE;

			add_run(side, side == HP_BASE ? base : candidate, per_mille[run]);
		}
	found = compare_find(compare_all(&sides), "scan");
	ck_assert(found->is_finding);
	return found;
}

/* Two callers, each with that many samples on each side. */
static const struct hp_compared *compare_two(const uint64_t parse[HP_SIDES],
					     const uint64_t lookup[HP_SIDES])
{
	struct spending spent[HP_SIDES];

	for (size_t i = 0; i < HP_SIDES; i++)
		spent[i] = (struct spending){ { { parse[i], { "scan", "parse", "main" } },
						{ lookup[i], { "scan", "lookup", "main" } } },
					      false };
	return compare(&spent[HP_BASE], &spent[HP_CANDIDATE]);
}

TEST(of_two_callers_the_one_that_grew_has_the_growth)
{
	static const struct {
		uint64_t parse[HP_SIDES];
		uint64_t lookup[HP_SIDES];
		double of_growth;
	} rows[] = {
		{ { 400, 1200 }, { 400, 400 }, 1 },
		{ { 400, 1200 }, { 400, 600 }, 0.8 },
		{ { 1200, 400 }, { 400, 400 }, 1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		const struct hp_compared *found = compare_two(rows[i].parse, rows[i].lookup);
		const struct hp_compared_caller *first = &found->callers.at[0];

		ck_assert_int_eq(found->callers.blame, HP_BLAME_CALLERS);
		ck_assert_ptr_null(found->callers.through);
		ck_assert_str_eq(first->name, "parse");
		ck_assert(first->is_blamed);
		ck_assert_double_eq_tol(first->of_change.value, rows[i].of_growth, 0.03);
		ck_assert_double_lt(first->of_change.low, rows[i].of_growth);
		ck_assert_double_gt(first->of_change.high, rows[i].of_growth);
		ck_assert_double_gt(first->of_change.low, 0.6);
		ck_assert_str_eq(found->callers.at[1].name, "lookup");
		ck_assert(!found->callers.at[1].is_blamed);
	}
}

TEST(what_grew_alike_below_all_callers_blames_none)
{
	const struct hp_compared *found =
		compare_two((uint64_t[]){ 400, 800 }, (uint64_t[]){ 300, 600 });

	ck_assert_int_eq(found->callers.blame, HP_BLAME_ALIKE);
	ck_assert_uint_eq(found->callers.count, 2);
	ck_assert(!found->callers.at[0].is_blamed && !found->callers.at[1].is_blamed);
	ck_assert_double_eq_tol(found->callers.at[0].cost[HP_BASE].value, 4.0 / 7, 0.01);
}

TEST(few_samples_blame_nobody)
{
	const struct hp_compared *found = compare_two((uint64_t[]){ 8, 17 }, (uint64_t[]){ 8, 14 });

	ck_assert_int_eq(found->callers.blame, HP_BLAME_INSUFFICIENT);
	ck_assert_uint_gt(found->callers.samples[HP_CANDIDATE], 0);
}

TEST(what_has_one_caller_asks_the_callers_of_that)
{
	static const struct spending base = { { { 400, { "scan", "helper", "parse", "main" } },
						{ 400, { "scan", "helper", "lookup", "main" } } },
					      false };
	static const struct spending candidate = { { { 400, { "scan", "helper", "parse", "main" } },
						     { 1200,
						       { "scan", "helper", "lookup", "main" } } },
						   false };
	const struct hp_compared *found = compare(&base, &candidate);

	ck_assert_int_eq(found->callers.blame, HP_BLAME_CALLERS);
	ck_assert_str_eq(found->callers.through, "helper");
	ck_assert_str_eq(found->callers.at[0].name, "lookup");
}

TEST(what_has_one_caller_up_to_the_root_says_so)
{
	static const struct spending base = { { { 400, { "scan", "parse", "main" } } }, false };
	static const struct spending candidate = { { { 800, { "scan", "parse", "main" } } },
						   false };
	const struct hp_compared *found = compare(&base, &candidate);

	ck_assert_int_eq(found->callers.blame, HP_BLAME_ONE);
	ck_assert_uint_eq(found->callers.count, 1);
	ck_assert_str_eq(found->callers.at[0].name, "parse");
}

TEST(what_calls_itself_is_not_its_own_caller)
{
	static const struct spending base = { { { 400, { "scan", "scan", "parse", "main" } },
						{ 400, { "scan", "lookup", "main" } } },
					      false };
	static const struct spending candidate = {
		{ { 1200, { "scan", "scan", "scan", "parse", "main" } },
		  { 400, { "scan", "lookup", "main" } } },
		false
	};
	const struct hp_compared *found = compare(&base, &candidate);

	ck_assert_int_eq(found->callers.blame, HP_BLAME_CALLERS);
	ck_assert_str_eq(found->callers.at[0].name, "parse");
}

TEST(callers_that_are_not_known_blame_nobody)
{
	static const struct spending base = {
		{ { 400, { "scan", "parse", "main" } }, { 400, { "scan", "?" } } }, false
	};
	static const struct spending candidate = {
		{ { 1200, { "scan", "parse", "main" } }, { 400, { "scan", "?" } } }, false
	};

	ck_assert_int_eq(compare(&base, &candidate)->callers.blame, HP_BLAME_INSUFFICIENT);
}

TEST(nothing_is_said_where_a_side_has_no_paths)
{
	static const struct spending with = { { { 400, { "scan", "parse", "main" } } }, false };
	static const struct spending without = { { { 800, { "scan", "parse", "main" } } }, true };
	const struct hp_compared *found = compare(&with, &without);

	ck_assert_int_eq(found->callers.blame, HP_BLAME_UNKNOWN);
	ck_assert_uint_eq(found->callers.count, 0);
}

TEST(of_what_is_new_the_callers_have_shares)
{
	static const struct spending base = { { { 0 } }, true };
	static const struct spending candidate = { { { 700, { "scan", "parse", "main" } },
						     { 100, { "scan", "lookup", "main" } } },
						   false };
	const struct hp_compared *found = compare(&base, &candidate);

	ck_assert_int_eq(found->callers.blame, HP_BLAME_CALLERS);
	ck_assert_str_eq(found->callers.at[0].name, "parse");
	ck_assert(isnan(found->callers.at[0].cost[HP_BASE].value));
	ck_assert_double_eq_tol(found->callers.at[0].of_change.value, 0.875, 0.01);
}

/* One epoch of each side: the machine may have been another one, so that only the program's change
 * is certain. */
TEST(where_only_the_programs_change_is_certain_what_has_most_of_it_is_asked)
{
	static const struct {
		uint64_t parse;
		enum hp_blame blame;
	} rows[] = { { 1000, HP_BLAME_ALIKE }, { 1500, HP_BLAME_CALLERS } };
	/* Nearly all of it is in scan. */
	const uint64_t rest = 10;

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		uint64_t lookup = rows[i].parse == 1000 ? 1000 : 500;
		const struct spending base = { { { 500 * 1000 / rest, { "scan", "parse", "main" } },
						 { 500 * 1000 / rest,
						   { "scan", "lookup", "main" } } },
					       false };
		const struct spending candidate = {
			{ { rows[i].parse * 1000 / rest, { "scan", "parse", "main" } },
			  { lookup * 1000 / rest, { "scan", "lookup", "main" } } },
			false
		};
		const struct hp_comparison *comparison;
		const struct hp_compared *carrier;

		sides = (struct compare_sides){ .db = fixture_db(temporary_directory()) };
		add_run(HP_BASE, &base, rest);
		add_run(HP_CANDIDATE, &candidate, rest);
		comparison = compare_all(&sides);
		carrier = comparison->program->carrier;
		ck_assert(comparison->program->is_finding);
		ck_assert_ptr_nonnull(carrier);
		ck_assert_str_eq(carrier->name, "scan");
		ck_assert(!carrier->is_finding);
		ck_assert_int_eq(carrier->callers.blame, rows[i].blame);
		ck_assert_str_eq(carrier->callers.at[0].name, "parse");
	}
}

HP_TEST_MAIN("compare/callers")
