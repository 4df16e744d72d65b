/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where inside of a procedure a change is: blocks and lines. */
#include "builds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct pair begin(const char *base, const char *candidate, const struct spent *old,
			 const struct spent *new, size_t count)
{
	struct pair test = pair_open(base, candidate);

	pair_compare(&test, old, count, new, count);
	return test;
}

/* The line of the source that says so. */
static uint32_t line_that_says(const char *text)
{
	const char *directory = getenv("top_srcdir");
	char path[4096];
	char line[256];
	FILE *source;

	snprintf(path, sizeof(path), "%s/tests/compare/branches.c", directory ? directory : ".");
	source = fopen(path, "r");
	ck_assert_ptr_nonnull(source);
	for (uint32_t number = 1; fgets(line, sizeof(line), source); number++)
		if (strstr(line, text)) {
			fclose(source);
			return number;
		}
	ck_abort_msg("no line says %s", text);
	return 0;
}

/* Of the procedure's instructions on the line those that the block holds, of all. */
static void count_held(const struct build *build, const char *name, uint32_t line,
		       const struct hp_compared_extent *extent, size_t *held, size_t *all)
{
	const struct hp_procedure *procedure = build_procedure(build, name);

	*held = *all = 0;
	for (uint64_t at = 0; at < procedure->size; at++) {
		const hp_link_address address = { procedure->address.value + at };
		struct hp_frames frames;

		hp_assert_ok(hp_image_frames(build->image, &address, 1, false, &frames));
		if (!frames.count || frames.frames[0].line != line)
			continue;
		(*all)++;
		*held += address.value >= extent->start && address.value < extent->end;
	}
}

/* Twice: the same build on both sides, and one that has more code in another branch. */
TEST(a_change_in_one_branch_is_in_its_block_and_line)
{
	static const char *const candidates[] = { "branches_old", "branches_new" };
	const uint32_t here = line_that_says("/* HERE */");
	const struct spent old[] = { { .name = "branches", .samples = 400 },
				     { .name = "many", .samples = 400 },
				     { .name = "branches", .samples = 100, .line = here } };
	const struct spent new[] = { old[0],
				     old[1],
				     { .name = "branches", .samples = 500, .line = here } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(candidates); i++) {
		struct pair test = begin("branches_old", candidates[i], old, new, 3);
		const struct hp_compared *found = build_find(test.comparison, "branches");
		const struct hp_compared *block;
		size_t lines = 0;

		ck_assert(found && found->is_finding);
		ck_assert_uint_eq(found->block_count, 1);
		block = found->blocks[0];
		ck_assert_int_eq(block->scope, HP_SCOPE_BLOCK);
		ck_assert(block->is_finding);
		ck_assert_uint_eq(block->line, here);
		hp_assert_contains(block->file, "branches.c");
		ck_assert(block->lost.low <= block->lost.value &&
			  block->lost.value <= block->lost.high);
		ck_assert_double_gt(block->lost.low, 0);
		for (size_t side = 0; side < HP_SIDES; side++) {
			size_t held;
			size_t all;

			count_held(&test.builds[side], "branches", here, &block->extent[side],
				   &held, &all);
			ck_assert_uint_gt(2 * held, all);
		}
		/* The line has all of what was lost, the block most of it; what else changed by
		 * chance of where the code lies is no more than code that is new. */
		for (size_t j = 0; j < found->part_count; j++) {
			const struct hp_compared *line = found->parts[j];

			ck_assert(!line->is_finding || line->line == here || i == 1);
			if (line->line != here || !line->is_finding)
				continue;
			lines++;
			/* Less of what is all over the procedure where that has more code. */
			ck_assert_double_gt(line->lost.value, 300e6);
			ck_assert_double_le(line->p, line->q);
		}
		ck_assert_uint_eq(lines, 1);
		/* One finding, whatever is found inside of it. */
		for (size_t j = 0; j < test.comparison->finding_count; j++)
			ck_assert(test.comparison->findings[j]->scope == HP_SCOPE_PROGRAM ||
				  test.comparison->findings[j]->scope == HP_SCOPE_PROCEDURE);
	}
}

TEST(a_change_all_over_a_procedure_is_in_no_block)
{
	const struct spent old[] = { { .name = "branches", .samples = 400 },
				     { .name = "many", .samples = 400 } };
	const struct spent new[] = { old[0], { .name = "many", .samples = 800 } };
	struct pair test = begin("branches_old", "branches_new", old, new, 2);
	const struct hp_compared *found = build_find(test.comparison, "many");

	ck_assert(found && found->is_finding);
	ck_assert_uint_eq(found->block_count, 0);
}

/* Cost that went from one line to another inside of a procedure is none that the procedure lost. */
TEST(nothing_is_found_inside_of_what_did_not_change)
{
	const uint32_t here = line_that_says("/* HERE */");
	const struct spent old[] = { { .name = "branches", .samples = 800 },
				     { .name = "many", .samples = 400 } };
	const struct spent new[] = { { .name = "branches", .samples = 800, .line = here }, old[1] };
	struct pair test = begin("branches_old", "branches_old", old, new, 2);
	const struct hp_compared *same = build_find(test.comparison, "branches");

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	ck_assert_ptr_nonnull(same);
	ck_assert_uint_eq(same->block_count, 0);
	ck_assert_uint_gt(same->part_count, 1);
	for (size_t i = 0; i < same->part_count; i++) {
		ck_assert(!same->parts[i]->is_finding);
		ck_assert(isnan(same->parts[i]->p) && isnan(same->parts[i]->q));
	}
}

/* What line information there is names the place; costs of lines are of both sides or of none. */
TEST(with_lines_of_one_side_alone_places_are_known)
{
	const uint32_t here = line_that_says("/* HERE */");
	const struct spent spent[][3] = {
		{ { .name = "branches", .samples = 400 },
		  { .name = "many", .samples = 400 },
		  { .name = "branches", .samples = 100, .line = here } },
		{ { .name = "branches", .samples = 400 },
		  { .name = "many", .samples = 400 },
		  { .name = "branches", .samples = 400 } },
	};

	for (size_t i = 0; i < 2; i++) {
		/* The side without lines cannot be spent on by line. */
		struct pair test =
			i ? begin("branches_plain", "branches_old", spent[1], spent[0], 3)
			  : begin("branches_old", "branches_plain", spent[0], spent[1], 3);
		const struct hp_compared *found = build_find(test.comparison, "branches");

		ck_assert(found && found->is_finding);
		ck_assert_uint_eq(found->part_count, 0);
		ck_assert_ptr_nonnull(found->file);
		hp_assert_contains(found->file, "branches.c");
		ck_assert_uint_gt(found->line, 0);
	}
}

HP_TEST_MAIN("compare/inside")
