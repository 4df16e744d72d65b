/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two builds of one program: what was renamed, moved or inlined is found again. */
#include "../../src/compare/listing.h"
#include "../../src/compare/moved.h"
#include "builds.h"
#include "notes.h"

#include <string.h>

/* --- comparisons of the two ------------------------------------------------------------------ */

/* Epochs of each build, in turns; `host` costs the new one so many samples. */
static struct pair begin(uint64_t host)
{
	const struct spent old[] = { { .name = "same", .samples = 400 },
				     { .name = "former", .samples = 300 },
				     { .name = "host", .samples = 100 },
				     { .name = "callee", .samples = 200 } };
	const struct spent new[] = { { .name = "same", .samples = 400 },
				     { .name = "latter", .samples = 300 },
				     { .name = "host", .samples = host } };
	struct pair test = pair_open("pair_old", "pair_new");

	pair_compare(&test, old, HP_ARRAY_COUNT(old), new, HP_ARRAY_COUNT(new));
	return test;
}

TEST(a_procedure_of_another_name_is_known_by_its_code)
{
	struct pair test = begin(300);
	const struct hp_compared *latter = build_find(test.comparison, "latter");

	ck_assert_ptr_nonnull(latter);
	ck_assert_str_eq(latter->former_name, "former");
	ck_assert_double_eq_tol(latter->change.value, 0, 1e-6);
	ck_assert_ptr_null(build_find(test.comparison, "former"));
}

TEST(what_was_inlined_counts_for_its_caller_and_is_no_finding)
{
	struct pair test = begin(300);
	const struct hp_compared *host = build_find(test.comparison, "host");

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	ck_assert_ptr_nonnull(host);
	ck_assert_double_eq_tol(host->change.value, 0, 1e-6);
	ck_assert_uint_eq(host->shift_count, 1);
	ck_assert_str_eq(host->shifts[0].partner->name, "callee");
	/* 200 samples of a millisecond. */
	ck_assert_double_eq_tol(host->shifts[0].cost, 200e6, 1);
	ck_assert_ptr_null(build_find(test.comparison, "callee"));
	ck_assert_ptr_null(host->former_name);
}

TEST(what_got_dearer_by_inlining_is_a_finding_all_the_same)
{
	struct pair test = begin(500);
	const struct hp_compared *host = build_find(test.comparison, "host");

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(host->is_finding);
	ck_assert_double_eq_tol(host->lost.value, 200e6, 1);
}

TEST(findings_show_lines_and_instructions_of_both_sides)
{
	struct pair test = begin(500);
	const struct hp_compared *host = build_find(test.comparison, "host");
	bool lines = false;
	bool instructions = false;

	ck_assert_ptr_nonnull(host->file);
	hp_assert_contains(host->file, "pair.c");
	ck_assert_uint_gt(host->line, 0);
	ck_assert_uint_gt(host->part_count, 0);
	for (size_t i = 0; i < host->code_count; i++) {
		lines = lines ||
			(!host->code[i].text[HP_BASE] && !host->code[i].text[HP_CANDIDATE]);
		instructions = instructions || host->code[i].text[HP_CANDIDATE];
	}
	ck_assert(lines);
	ck_assert(instructions);
}

/* What the lines of a procedure cost on a side, and their samples. */
static double sum_of_lines(const struct hp_compared *procedure, size_t side, uint64_t *samples)
{
	double sum = 0;

	*samples = 0;
	for (size_t i = 0; i < procedure->part_count; i++) {
		const struct hp_compared *line = procedure->parts[i];

		ck_assert_int_eq(line->scope, HP_SCOPE_LINE);
		ck_assert_str_eq(line->name, procedure->name);
		hp_assert_contains(line->file, "pair.c");
		ck_assert_uint_gt(line->line, 0);
		ck_assert(line->lost.low <= line->lost.value &&
			  line->lost.value <= line->lost.high);
		sum += line->side[side].cost.value;
		*samples += line->side[side].samples;
	}
	return sum;
}

TEST(lines_of_a_procedure_add_up_to_it)
{
	struct pair test = begin(500);
	const struct hp_compared *same = build_find(test.comparison, "same");
	const struct hp_compared *host = build_find(test.comparison, "host");
	uint64_t samples;

	for (size_t side = 0; side < HP_SIDES; side++) {
		ck_assert_double_eq_tol(sum_of_lines(same, side, &samples),
					same->side[side].cost.value, 1e-6);
		ck_assert_uint_eq(samples, BUILD_RUNS * 400);
	}
	ck_assert_double_eq_tol(sum_of_lines(host, HP_CANDIDATE, &samples),
				host->side[HP_CANDIDATE].cost.value, 1e-6);
	ck_assert_uint_eq(samples, BUILD_RUNS * 500);
	/* What was inlined was no line of it. */
	ck_assert_double_gt(host->side[HP_BASE].cost.value, 0);
	ck_assert_double_eq_tol(sum_of_lines(host, HP_BASE, &samples),
				host->side[HP_BASE].cost.value / 3, 1e-6);
	ck_assert_uint_eq(samples, BUILD_RUNS * 100);
}

/* The builds have `same` on lines of different numbers. */
TEST(a_line_that_moved_is_known_by_its_code)
{
	struct pair test = begin(500);
	const struct hp_compared *same = build_find(test.comparison, "same");

	ck_assert_uint_gt(same->part_count, 0);
	for (size_t i = 0; i < same->part_count; i++) {
		ck_assert_double_eq_tol(same->parts[i]->change.value, 0, 1e-9);
		ck_assert(same->parts[i]->change.low < 0 && same->parts[i]->change.high > 0);
	}
}

/* --- inlined in part ------------------------------------------------------------------------- */

/* Costs of one build of copies.c. */
static void spend_on_copies(struct spent spent[3], uint64_t callee, uint64_t host)
{
	spent[0] = (struct spent){ .name = "callee", .samples = callee };
	spent[1] = (struct spent){ .name = "host", .samples = host };
	spent[2] = (struct spent){ .name = "other", .samples = 300 };
}

static struct pair compare_copies(const char *const builds[HP_SIDES],
				  struct spent spent[HP_SIDES][3])
{
	struct pair test = pair_open(builds[HP_BASE], builds[HP_CANDIDATE]);

	pair_compare(&test, spent[HP_BASE], 3, spent[HP_CANDIDATE], 3);
	return test;
}

/* Either way: what is inlined in part, and what is no longer. */
TEST(cost_that_went_into_copies_is_no_change)
{
	for (size_t old = 0; old < 2; old++) {
		const char *const builds[HP_SIDES] = { old ? "copies_new" : "copies_old",
						       old ? "copies_old" : "copies_new" };
		struct spent spent[HP_SIDES][3];
		struct pair test;
		const struct hp_compared *host;

		spend_on_copies(spent[old ? HP_CANDIDATE : HP_BASE], 600, 100);
		spend_on_copies(spent[old ? HP_BASE : HP_CANDIDATE], 300, 400);
		test = compare_copies(builds, spent);
		ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
		ck_assert_uint_eq(test.comparison->finding_count, 0);
		host = build_find(test.comparison, "host");
		ck_assert_ptr_nonnull(host);
		ck_assert_double_eq_tol(host->change.value, 0, 1e-9);
		ck_assert_uint_eq(host->shift_count, 1);
		ck_assert_str_eq(host->shifts[0].partner->name, "callee");
		ck_assert_double_eq_tol(host->shifts[0].cost, old ? -300e6 : 300e6, 1);
		ck_assert_ptr_null(build_find(test.comparison, "callee"));
	}
}

TEST(copies_that_cost_more_than_the_calls_are_a_regression)
{
	const char *const builds[HP_SIDES] = { "copies_old", "copies_new" };
	struct spent spent[HP_SIDES][3];
	struct pair test;
	const struct hp_compared *host;

	spend_on_copies(spent[HP_BASE], 600, 100);
	spend_on_copies(spent[HP_CANDIDATE], 300, 800);
	test = compare_copies(builds, spent);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	host = build_find(test.comparison, "host");
	ck_assert(host && host->is_finding);
	ck_assert_double_eq_tol(host->lost.value, 400e6, 1);
}

/* The same costs, but nothing was inlined in between. */
TEST(without_more_copies_it_is_two_changes)
{
	static const char *const candidates[] = { "copies_old", "copies_again" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(candidates); i++) {
		const char *const builds[HP_SIDES] = { "copies_old", candidates[i] };
		struct spent spent[HP_SIDES][3];
		struct pair test;

		spend_on_copies(spent[HP_BASE], 600, 100);
		spend_on_copies(spent[HP_CANDIDATE], 300, 400);
		test = compare_copies(builds, spent);
		ck_assert(build_find(test.comparison, "host")->is_finding);
		ck_assert(build_find(test.comparison, "callee")->is_finding);
		ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	}
}

/* --- code ------------------------------------------------------------------------------------ */

TEST(the_same_source_elsewhere_is_the_same_code)
{
	struct build old = build_open("pair_old");
	struct build new = build_open("pair_new");
	struct side_image images[] = { { .file = old.image }, { .file = new.image } };
	const struct code same[] = {
		{ .image = &images[0], .procedure = build_procedure(&old, "same") },
		{ .image = &images[1], .procedure = build_procedure(&new, "same") }
	};
	const struct code other = { .image = &images[0],
				    .procedure = build_procedure(&old, "former") };
	struct hp_body bodies[3];

	ck_assert_uint_ne(same[0].procedure->address.value, same[1].procedure->address.value);
	moved_body(&same[0], &bodies[0]);
	moved_body(&same[1], &bodies[1]);
	moved_body(&other, &bodies[2]);
	ck_assert_double_eq_tol(hp_body_similarity(&bodies[0], &bodies[1]), 1, 1e-9);
	ck_assert_double_lt(hp_body_similarity(&bodies[0], &bodies[2]), MOVED_LEAST_SIMILARITY);
}

/* The longest common subsequence, by the table that takes all the time it needs. */
static size_t longest_common(const struct listing *a, const struct listing *b)
{
	size_t table[33][33] = { 0 };

	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			table[i + 1][j + 1] = a->at[i].hash == b->at[j].hash	  ? table[i][j] + 1
					      : table[i][j + 1] > table[i + 1][j] ? table[i][j + 1]
										  : table[i + 1][j];
	return table[a->count][b->count];
}

TEST(as_many_instructions_are_paired_as_can_be)
{
	struct hp_random random = hp_random_seeded(5);

	for (int round = 0; round < 2000; round++) {
		struct listed lists[2][32] = { 0 };
		struct listing a = { lists[0], hp_random_between(&random, 0, 32) };
		struct listing b = { lists[1], hp_random_between(&random, 0, 32) };
		size_t *partners;
		size_t paired = 0;
		size_t next = 0;

		for (size_t i = 0; i < 32; i++) {
			lists[0][i].hash = hp_random_between(&random, 1, 4);
			lists[1][i].hash = hp_random_between(&random, 1, 4);
		}
		hp_assert_ok(listing_align(&a, &b, &partners));
		for (size_t i = 0; i < b.count; i++) {
			if (partners[i] == SIZE_MAX)
				continue;
			/* In order, and the same. */
			ck_assert_uint_ge(partners[i], next);
			ck_assert_uint_lt(partners[i], a.count);
			ck_assert_uint_eq(a.at[partners[i]].hash, b.at[i].hash);
			next = partners[i] + 1;
			paired++;
		}
		ck_assert_uint_eq(paired, longest_common(&a, &b));
		free(partners);
	}
}

/* --- another compiler ------------------------------------------------------------------------ */

/* `latter` costs 100 more, and `same` so many less. */
static struct pair traded(const char *build, uint64_t won)
{
	const struct spent old[] = { { .name = "same", .samples = 400 },
				     { .name = "former", .samples = 300 },
				     { .name = "host", .samples = 300 } };
	const struct spent new[] = { { .name = "same", .samples = 400 - won },
				     { .name = "latter", .samples = 400 },
				     { .name = "host", .samples = 300 } };
	struct pair test = pair_open("pair_old", build);

	pair_compare(&test, old, HP_ARRAY_COUNT(old), new, HP_ARRAY_COUNT(new));
	return test;
}

static const char made_up_for[] = "others compensate for";

TEST(what_another_compiler_does_worse_counts_as_far_as_the_program_lost_it)
{
	struct pair made_up = traded("pair_other", 200);
	struct pair lost = traded("pair_other", 0);

	ck_assert_int_ne(made_up.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(!build_find(made_up.comparison, "latter")->is_finding);
	ck_assert(has_note(made_up.comparison, made_up_for));
	ck_assert_int_eq(lost.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(build_find(lost.comparison, "latter")->is_finding);
	ck_assert(!has_note(lost.comparison, made_up_for));
}

TEST(by_the_same_compiler_a_loss_is_a_regression_whatever_was_won)
{
	struct pair test = traded("pair_new", 200);

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(build_find(test.comparison, "latter")->is_finding);
	ck_assert(!has_note(test.comparison, made_up_for));
}

HP_TEST_MAIN("compare/moved")
