/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for people, of the rows of one table. */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/profile/rows.h>

#include <stdio.h>

static char node[] = "Tree<std::pair<int, long> >::insert(int)";
static char other[] = "Tree<std::pair<int, char> >::insert(int)";
static char erase[] = "Tree<std::pair<int, long> >::erase(int)";
static char plain[] = "main";

static char shown[8][128];

static void show(struct hp_row *rows, size_t count, bool full_names)
{
	struct hp_profiles_options options = { .full_names = full_names };
	_cleanup_(hp_profiles_destroy_scope) struct hp_profiles *profiles;
	struct hp_row *table[8];

	hp_assert_ok(hp_profiles_create(&options, NULL, &profiles));
	for (size_t i = 0; i < count; i++)
		table[i] = &rows[i];
	hp_assert_ok(hp_profiles_show_names(profiles, table, count));
	for (size_t i = 0; i < count; i++)
		snprintf(shown[i], sizeof(shown[i]), "%s", rows[i].shown ? rows[i].shown : "");
}

TEST(names_are_short_where_that_tells_them_apart)
{
	struct hp_row rows[] = { { .name = node, .linkage = "_Z1" },
				 { .name = other, .linkage = "_Z2" },
				 { .name = erase, .linkage = "_Z3" },
				 { .name = plain, .linkage = plain },
				 { 0 } };

	show(rows, HP_ARRAY_COUNT(rows), false);
	ck_assert_str_eq(shown[0], node);
	ck_assert_str_eq(shown[1], other);
	ck_assert_str_eq(shown[2], "Tree<…>::erase");
	ck_assert_str_eq(shown[3], plain);
	ck_assert_str_eq(shown[4], "");
}

TEST(the_same_procedure_in_two_rows_is_short_in_both)
{
	struct hp_row rows[] = { { .name = node, .linkage = "_Z1" },
				 { .name = node, .linkage = "_Z1" } };

	show(rows, HP_ARRAY_COUNT(rows), false);
	ck_assert_str_eq(shown[0], "Tree<…>::insert");
	ck_assert_str_eq(shown[1], "Tree<…>::insert");
}

TEST(who_asks_for_whole_names_has_them)
{
	struct hp_row rows[] = { { .name = erase, .linkage = "_Z3" } };

	show(rows, HP_ARRAY_COUNT(rows), true);
	ck_assert_str_eq(shown[0], erase);
}

HP_TEST_MAIN("profile/shown")
