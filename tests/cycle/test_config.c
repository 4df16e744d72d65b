/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cores by name, and what a list of changes makes of them. */
#include "../support.h"

#include <hpcprof/cycle/config.h>

#include <string.h>

static struct hp_cycle_config config;

SETUP
{
	hp_assert_ok(hp_cycle_config_named("eyerman2006", &config));
}

TEST(the_core_of_the_paper_is_that_of_its_table)
{
	ck_assert_uint_eq(config.core.reorder_slots, 128);
	ck_assert_uint_eq(config.core.issue_width, 4);
	ck_assert_uint_eq(config.lsq_entries, 64);
	ck_assert_uint_eq(config.geometry.l1i.sets * config.geometry.l1i.ways * 64, 8 << 10);
	ck_assert_uint_eq(config.geometry.l1d.sets * config.geometry.l1d.ways * 64, 16 << 10);
	ck_assert_uint_eq(config.geometry.l2.sets * config.geometry.l2.ways * 64, 1 << 20);
	ck_assert(hp_uarch_geometry_is_valid(&config.geometry));
}

TEST(each_core_of_the_list_can_be_made)
{
	for (size_t i = 0; hp_core_at(i); i++) {
		hp_assert_ok(hp_cycle_config_named(hp_core_at(i)->name, &config));
		ck_assert(hp_uarch_geometry_is_valid(&config.geometry));
		ck_assert_uint_gt(config.front_stages, 0);
	}
	hp_assert_fails(HP_ERROR_USAGE, hp_cycle_config_named("6502", &config));
}

TEST(changes_are_made_one_by_one)
{
	hp_assert_ok(hp_cycle_config_change(&config, "l2:2M,rob:256,branch:perfect,l2d:perfect"));
	ck_assert_uint_eq(config.geometry.l2.sets, 4096);
	ck_assert_uint_eq(config.core.reorder_slots, 256);
	ck_assert_uint_eq(config.perfect, 1U << HP_CYCLE_BRANCH | 1U << HP_CYCLE_L2D);
}

TEST(what_is_no_change_changes_nothing)
{
	static const char *const wrong[] = {
		"",
		"l2",
		"l2:",
		"l2:0",
		"l2:perfectly",
		"base:perfect",
		"perfect",
		"rob:256,",
		"rob:256,l4:1M",
		"rob:65000",
		"l2:1",
		":perfect",
		"rob:128,rob:",
	};
	const struct hp_cycle_config before = config;

	for (size_t i = 0; i < HP_ARRAY_COUNT(wrong); i++) {
		struct hp_error *error = hp_cycle_config_change(&config, wrong[i]);

		ck_assert_msg(error, "'%s' is taken", wrong[i]);
		ck_assert_int_eq(error->class, HP_ERROR_USAGE);
		hp_error_destroy(error);
	}
	ck_assert_mem_eq(&config, &before, sizeof(config));
}

HP_TEST_MAIN("cycle/config")
