/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Geometries: those of known cores, and what is refused. */
#include "../support.h"

#include <hpcprof/isa/sizes.h>
#include <hpcprof/uarch/path.h>

static size_t bytes_of(struct hp_uarch_sets sets, size_t block_bytes)
{
	return (size_t)sets.sets * sets.ways * block_bytes;
}

TEST(models_of_every_core_can_be_made)
{
	const struct hp_core *core;

	for (size_t i = 0; (core = hp_core_at(i)); i++) {
		struct hp_uarch_geometry geometry = hp_uarch_geometry_of(core);
		struct hp_uarch *uarch = hp_uarch_create(&geometry);

		ck_assert_msg(uarch != NULL, "%s", core->name);
		ck_assert_uint_eq(geometry.reorder_slots, core->reorder_slots);
		ck_assert_msg(core->is_generic || hp_core_sizes_of(core)->store_entries > 0, "%s",
			      core->name);
		hp_uarch_destroy(uarch);
	}
}

static const struct known {
	const char *core;
	unsigned l1d_kib, l2_kib, dtlb, tlb2;
} known[] = {
	{ "generic-x86-64", 32, 512, 64, 2048 }, { "skylake-sp", 32, 1024, 64, 1536 },
	{ "ice-lake-sp", 48, 1280, 64, 2048 },	 { "sapphire-rapids", 48, 2048, 96, 2048 },
	{ "zen-2", 32, 512, 64, 2048 },		 { "zen-3", 32, 512, 64, 2048 },
	{ "zen-4", 32, 1024, 72, 3072 },	 { "zen-5", 48, 1024, 96, 4096 },
};

TEST(sizes_are_those_of_the_core)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(known); i++) {
		struct hp_uarch_geometry geometry =
			hp_uarch_geometry_of(hp_core_named(known[i].core));

		ck_assert_uint_eq(bytes_of(geometry.l1d, 64), known[i].l1d_kib << 10);
		ck_assert_uint_eq(bytes_of(geometry.l2, 64), known[i].l2_kib << 10);
		ck_assert_uint_eq(bytes_of(geometry.dtlb, 1), known[i].dtlb);
		ck_assert_uint_eq(bytes_of(geometry.tlb2, 1), known[i].tlb2);
	}
}

TEST(beside_a_busy_thread_half_of_the_queues_is_left_and_half_of_the_turns)
{
	const struct hp_core *whole;

	for (size_t i = 0; (whole = hp_core_at(i)); i++) {
		struct hp_uarch_geometry geometry = hp_uarch_geometry_of(whole);
		unsigned stores = geometry.store_entries, turns = whole->takes_turns ? 2 : 1;
		struct hp_core core = *whole;

		hp_uarch_share(&geometry, &core);
		ck_assert_uint_eq(core.reorder_slots, whole->reorder_slots / 2);
		ck_assert_uint_eq(geometry.store_entries, stores / 2);
		ck_assert_uint_eq(core.issue_width, whole->issue_width / turns);
		ck_assert_uint_eq(core.fetch_width, whole->fetch_width / turns);
		ck_assert_uint_eq(core.decode_width, whole->decode_width / turns);
		ck_assert_uint_ge(core.stored_width, whole->stored_width / turns);
	}
	ck_assert(hp_core_named("sapphire-rapids")->takes_turns);
	ck_assert_uint_eq(hp_core_named("sapphire-rapids")->stored_width, 2);
}

/* One number each that no model can be made of. */
static const struct bad {
	const char *name;
	size_t offset;
	uint32_t value;
} bads[] = {
#define BAD(member, value)                                                                         \
	{                                                                                          \
#member " = " #value, offsetof(struct hp_uarch_geometry, member), value            \
	}
	BAD(line_bytes, 0),
	BAD(line_bytes, 48),
	BAD(line_bytes, 16),
	BAD(line_bytes, UINT32_C(1) << 31),
	BAD(l1d.sets, 0),
	BAD(l1d.ways, 0),
	BAD(l1d.ways, UINT32_MAX),
	BAD(l2.sets, UINT32_MAX),
	BAD(l2.ways, 257),
	BAD(page_bytes, 4000),
	BAD(dtlb.ways, 0),
	BAD(tlb2.sets, 0),
	BAD(decoded_bytes, 0),
	BAD(predictor.base_entries, 1000),
	BAD(predictor.tagged_tables, 9),
	BAD(predictor.tagged_tables, 0),
	BAD(predictor.tagged_entries, UINT32_C(1) << 31),
	BAD(predictor.shortest_history, 0),
	BAD(predictor.longest_history, 4),
	BAD(predictor.longest_history, 501),
	BAD(predictor.loop_entries, 3),
	BAD(predictor.indirect_entries, 0),
	BAD(predictor.return_entries, 0),
	BAD(reorder_slots, 0),
	BAD(store_entries, UINT32_MAX),
};

TEST(what_no_model_can_be_made_of_is_refused)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(bads); i++) {
		struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

		ck_assert(hp_uarch_geometry_is_valid(&geometry));
		*(uint32_t *)(void *)((char *)&geometry + bads[i].offset) = bads[i].value;
		ck_assert_msg(!hp_uarch_geometry_is_valid(&geometry), "%s", bads[i].name);
		ck_assert_ptr_null(hp_uarch_create(&geometry));
	}
}

/* The largest and the smallest that is allowed, on a path that touches all of it. */
TEST(the_limits_themselves_are_allowed)
{
	struct hp_uarch_geometry small = hp_uarch_geometry_generic();
	struct hp_uarch_geometry large = small;

	small.l1i = small.l1d = small.l2 = small.l3 = (struct hp_uarch_sets){ 1, 1 };
	small.itlb = small.dtlb = small.tlb2 = small.decoded = (struct hp_uarch_sets){ 1, 1 };
	small.predictor =
		(struct hp_uarch_predictor){ 16, false, 1, 16, 1, 1, 0, 16, 1, { 1, 1 }, { 1, 1 } };
	small.store_entries = small.reorder_slots = 1;
	large.l3 = (struct hp_uarch_sets){ 4096, 256 };
	large.predictor =
		(struct hp_uarch_predictor){ 1 << 18,	   false,   8,	     1 << 18, 5,
					     500,	   1 << 18, 1 << 18, 256,     { 4096, 256 },
					     { 4096, 256 } };
	large.store_entries = 1024;
	for (int i = 0; i < 2; i++) {
		struct hp_uarch *uarch = hp_uarch_create(i ? &large : &small);

		ck_assert_ptr_nonnull(uarch);
		for (uint64_t at = 0; at < 30000; at++) {
			uint64_t place = at * at * 977;

			hp_uarch_fetch(uarch, place, 20);
			hp_uarch_access(uarch, place, place * 3, 16, at & 1);
			hp_uarch_branch(uarch, place, place + 2, at % 6, at & 4, place * 5);
			hp_uarch_retire(uarch, 5);
		}
		hp_uarch_destroy(uarch);
	}
}

HP_TEST_MAIN("uarch/geometry")
