/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which procedure of one build is which of another, where the name alone does not say it: several
 * of one name, parts, none at all. */
#include "builds.h"

#include <string.h>

/* --- several of one name --------------------------------------------------------------------- */

/* The `helper` that lies nearest to `beside`, a procedure of its source. */
static struct spent in_helper(const struct build *build, const char *beside, uint64_t samples)
{
	const struct hp_procedure *const *procedures;
	const struct hp_procedure *neighbour = build_procedure(build, beside);
	const struct hp_procedure *found = NULL;
	uint64_t nearest = UINT64_MAX;
	size_t count;

	ck_assert_ptr_nonnull(neighbour);
	hp_image_procedures(build->image, &procedures, &count);
	for (size_t i = 0; i < count; i++) {
		uint64_t distance;

		if (strcmp(procedures[i]->name, "helper") != 0)
			continue;
		/* Before it in the source, and so in the object. */
		distance = neighbour->address.value - procedures[i]->address.value;
		if (distance >= nearest)
			continue;
		nearest = distance;
		found = procedures[i];
	}
	ck_assert_ptr_nonnull(found);
	return (struct spent){ .procedure = found, .samples = samples };
}

TEST(statics_of_one_name_in_two_files_are_two)
{
	struct pair test = pair_open("namesakes_ab", "namesakes_ba");
	const struct spent old[] = { in_helper(&test.builds[HP_BASE], "namesake_a", 400),
				     in_helper(&test.builds[HP_BASE], "namesake_b", 600) };
	const struct spent new[] = { in_helper(&test.builds[HP_CANDIDATE], "namesake_a", 800),
				     in_helper(&test.builds[HP_CANDIDATE], "namesake_b", 600) };
	const struct hp_compared *a;
	const struct hp_compared *b;

	pair_compare(&test, old, 2, new, 2);
	a = build_find(test.comparison, "helper (namesake_a.c)");
	b = build_find(test.comparison, "helper (namesake_b.c)");
	ck_assert(a && b);
	ck_assert_double_eq_tol(a->change.value, 1, 1e-9);
	ck_assert_double_eq_tol(b->change.value, 0, 1e-9);
	ck_assert(a->is_finding && !b->is_finding);
	ck_assert_ptr_null(a->former_name);
	hp_assert_contains(a->file, "namesake_a.c");
}

TEST(one_that_has_samples_here_is_not_the_other_that_has_them_there)
{
	struct pair test = pair_open("namesakes_ab", "namesakes_ba");
	const struct spent old[] = { in_helper(&test.builds[HP_BASE], "namesake_a", 400) };
	const struct spent new[] = { in_helper(&test.builds[HP_CANDIDATE], "namesake_b", 400) };
	const struct hp_compared *a;
	const struct hp_compared *b;

	pair_compare(&test, old, 1, new, 1);
	a = build_find(test.comparison, "helper (namesake_a.c)");
	b = build_find(test.comparison, "helper (namesake_b.c)");
	ck_assert(a && b);
	ck_assert_uint_eq(a->side[HP_CANDIDATE].samples, 0);
	ck_assert_uint_eq(b->side[HP_BASE].samples, 0);
}

TEST(without_line_information_their_code_tells_them_apart)
{
	struct pair test = pair_open("namesakes_ab_plain", "namesakes_ba_plain");
	const struct spent old[] = { in_helper(&test.builds[HP_BASE], "namesake_a", 400),
				     in_helper(&test.builds[HP_BASE], "namesake_b", 600) };
	const struct spent new[] = { in_helper(&test.builds[HP_CANDIDATE], "namesake_a", 800),
				     in_helper(&test.builds[HP_CANDIDATE], "namesake_b", 600) };
	const struct hp_compared *image;

	pair_compare(&test, old, 2, new, 2);
	ck_assert_uint_eq(test.comparison->program->part_count, 1);
	image = test.comparison->program->parts[0];
	ck_assert_uint_eq(image->part_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct hp_compared *helper = image->parts[i];
		bool is_a = helper->side[HP_BASE].samples == BUILD_RUNS * 400;

		ck_assert_str_eq(helper->name, "helper");
		ck_assert_uint_eq(helper->side[HP_BASE].samples,
				  is_a ? BUILD_RUNS * 400 : BUILD_RUNS * 600);
		ck_assert_uint_eq(helper->side[HP_CANDIDATE].samples,
				  is_a ? BUILD_RUNS * 800 : BUILD_RUNS * 600);
	}
}

/* --- parts ----------------------------------------------------------------------------------- */

/* The procedure of the name, or what a compiler has made of it. */
static const struct hp_procedure *part_of(const struct build *build, const char *name)
{
	const struct hp_procedure *const *procedures;
	size_t length = strlen(name);
	size_t count;

	hp_image_procedures(build->image, &procedures, &count);
	for (size_t i = 0; i < count; i++) {
		const char *linkage = procedures[i]->linkage;

		if (procedures[i]->owner == procedures[i] && strncmp(linkage, name, length) == 0 &&
		    (!linkage[length] || linkage[length] == '.'))
			return procedures[i];
	}
	ck_abort_msg("no %s", name);
	return NULL;
}

TEST(a_part_that_compilers_split_off_is_its_procedure)
{
	struct pair test = pair_open("parts_old", "parts_new");
	const struct spent old[] = {
		{ .procedure = part_of(&test.builds[HP_BASE], "work"), .samples = 400 },
		{ .name = "one", .samples = 200 },
		{ .name = "two", .samples = 200 },
	};
	const struct spent new[] = {
		{ .procedure = part_of(&test.builds[HP_CANDIDATE], "work"), .samples = 400 },
		old[1],
		old[2],
	};
	const struct hp_compared *work;

	pair_compare(&test, old, 3, new, 3);
	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	work = build_find(test.comparison, "work");
	ck_assert_ptr_nonnull(work);
	ck_assert_ptr_null(work->former_name);
	ck_assert_uint_eq(work->side[HP_BASE].samples, BUILD_RUNS * 400);
	ck_assert_uint_eq(work->side[HP_CANDIDATE].samples, BUILD_RUNS * 400);
}

/* --- no names -------------------------------------------------------------------------------- */

/* A stripped program is laid out as the one with symbols: that one says what is where. */
static struct spent in_stripped(const struct build *build, const char *named, const char *name,
				uint64_t samples)
{
	struct build twin = build_open(named);
	const struct hp_procedure *procedure =
		hp_image_procedure_at(build->image, part_of(&twin, name)->address);

	ck_assert_uint_eq(procedure->address.value, part_of(&twin, name)->address.value);
	ck_assert_int_eq(procedure->source, HP_PROCEDURE_EH_FRAME);
	return (struct spent){ .procedure = procedure, .samples = samples };
}

static uint64_t work_in(size_t side)
{
	struct build twin = build_open(side == HP_BASE ? "parts_old" : "parts_new");
	uint64_t address = part_of(&twin, "work")->address.value;

	return address;
}

TEST(stripped_procedures_are_known_by_their_code)
{
	struct pair test = pair_open("parts_old_stripped", "parts_new_stripped");
	const struct spent old[] = {
		in_stripped(&test.builds[HP_BASE], "parts_old", "work", 400),
		in_stripped(&test.builds[HP_BASE], "parts_old", "one", 200),
		in_stripped(&test.builds[HP_BASE], "parts_old", "two", 200),
	};
	const struct spent new[] = {
		in_stripped(&test.builds[HP_CANDIDATE], "parts_new", "work", 800),
		in_stripped(&test.builds[HP_CANDIDATE], "parts_new", "one", 200),
		in_stripped(&test.builds[HP_CANDIDATE], "parts_new", "two", 200),
	};
	char name[64];
	const struct hp_compared *work;

	pair_compare(&test, old, 3, new, 3);
	snprintf(name, sizeof(name), "parts_new_stripped+0x%lx",
		 (unsigned long)work_in(HP_CANDIDATE));
	work = build_find(test.comparison, name);
	ck_assert_ptr_nonnull(work);
	ck_assert_double_eq_tol(work->change.value, 1, 1e-9);
	ck_assert(work->is_finding);
	snprintf(name, sizeof(name), "parts_old_stripped+0x%lx", (unsigned long)work_in(HP_BASE));
	ck_assert_str_eq(work->former_name, name);
	/* The others are the same, by themselves or together. */
	for (size_t i = 0; i < test.comparison->program->parts[0]->part_count; i++) {
		const struct hp_compared *other = test.comparison->program->parts[0]->parts[i];

		ck_assert(other == work ||
			  (other->change.value < 1e-9 && other->change.value > -1e-9));
	}
}

/* Without unwind data all code is one stretch; more of it is found all the same. */
TEST(code_that_nothing_describes_is_one_thing)
{
	for (uint64_t times = 1; times <= 2; times++) {
		struct pair test = pair_open("parts_old_bare", "parts_new_bare");
		struct spent spent[HP_SIDES] = { 0 };

		for (size_t side = 0; side < HP_SIDES; side++) {
			const hp_link_address inside = { work_in(side) };

			spent[side].procedure =
				hp_image_procedure_at(test.builds[side].image, inside);
			spent[side].samples = side == HP_BASE ? 500 : 500 * times;
		}
		pair_compare(&test, &spent[HP_BASE], 1, &spent[HP_CANDIDATE], 1);
		ck_assert_uint_eq(test.comparison->program->parts[0]->part_count, 1);
		ck_assert_double_eq_tol(test.comparison->program->parts[0]->parts[0]->change.value,
					(double)times - 1, 1e-9);
		ck_assert_int_eq(test.comparison->verdict,
				 times == 1 ? HP_VERDICT_PASS : HP_VERDICT_REGRESSION);
	}
}

HP_TEST_MAIN("compare/namesakes")
