/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cores with other sizes: lists, what they change, and their numbers. */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/resize.h>

static struct hp_resizes parsed(const char *text)
{
	struct hp_resizes resizes;

	ck_assert_msg(hp_resizes_parse(text, &resizes), "%s", text);
	return resizes;
}

TEST(a_list_resizes_what_it_names_and_nothing_else)
{
	struct hp_resizes resizes = parsed("dtlb:4096,l2:2M,rob:512");
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic(), other = geometry;
	struct hp_core core = *hp_core_named("zen-3");

	ck_assert(hp_resizes_apply(&resizes, &other, &core));
	ck_assert_uint_eq(hp_part_size(HP_PART_L2, &other, &core), 2 << 20);
	ck_assert_uint_eq(hp_part_size(HP_PART_DTLB, &other, &core), 4096);
	ck_assert_uint_eq(hp_part_size(HP_PART_ROB, &other, &core), 512);
	ck_assert_uint_eq(other.l2.ways, geometry.l2.ways);
	ck_assert_mem_eq(&other.l1d, &geometry.l1d, sizeof(geometry.l1d));
	ck_assert_mem_eq(&other.itlb, &geometry.itlb, sizeof(geometry.itlb));
}

TEST(what_no_model_can_have_changes_nothing)
{
	static const char *const lists[] = { "l2:16", "l2:4G", "dtlb:1", "rob:70000" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(lists); i++) {
		struct hp_resizes resizes = parsed(lists[i]);
		struct hp_uarch_geometry geometry = hp_uarch_geometry_generic(), other = geometry;
		struct hp_core core = *hp_core_named("zen-3");
		uint64_t slots = core.reorder_slots;

		ck_assert_msg(!hp_resizes_apply(&resizes, &other, &core), "%s", lists[i]);
		ck_assert_mem_eq(&other, &geometry, sizeof(other));
		ck_assert_uint_eq(core.reorder_slots, slots);
	}
}

TEST(a_list_is_a_number_whatever_its_order)
{
	struct hp_resizes one = parsed("l2:2M,dtlb:4096"), other = parsed("dtlb:4096,l2:2M");

	ck_assert_uint_eq(hp_resizes_code(&one), hp_resizes_code(&other));
	other = parsed("l2:2M");
	ck_assert_uint_ne(hp_resizes_code(&one), hp_resizes_code(&other));
	ck_assert_uint_eq(hp_resizes_code(&(struct hp_resizes){ 0 }), 0);
}

TEST(other_texts_are_no_lists)
{
	static const char *const texts[] = {
		"",
		"l2",
		"l2:",
		"l2:big",
		"l4:2M",
		"l2:2M,",
		"l2:2M,l2:1M",
		"l:2M",
		"l2:0",
		"l1i:64K,l1d:64K,l2:2M,dtlb:4096",
		"l2:99999999999999999999999999999999999999999",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++) {
		struct hp_resizes resizes;

		ck_assert_msg(!hp_resizes_parse(texts[i], &resizes), "%s", texts[i]);
	}
}

HP_TEST_MAIN("uarch/resize")
