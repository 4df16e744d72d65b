/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches and TLBs put together, against the same of the reference; splits; odd input. */
#include "../support.h"
#include "lru.h"

#include <hpcprof/base/number.h>
#include <hpcprof/uarch/path.h>

static struct hp_uarch_geometry small(bool is_inclusive)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	geometry.l1i = (struct hp_uarch_sets){ 4, 2 };
	geometry.l1d = (struct hp_uarch_sets){ 4, 3 };
	geometry.l2 = (struct hp_uarch_sets){ 8, 3 };
	geometry.l3 = (struct hp_uarch_sets){ 24, 8 };
	geometry.l2_is_inclusive = is_inclusive;
	geometry.itlb = (struct hp_uarch_sets){ 1, 4 };
	geometry.dtlb = (struct hp_uarch_sets){ 1, 6 };
	geometry.tlb2 = (struct hp_uarch_sets){ 4, 4 };
	return geometry;
}

static struct hp_uarch *made(const struct hp_uarch_geometry *geometry)
{
	struct hp_uarch *uarch = hp_uarch_create(geometry);

	ck_assert_ptr_nonnull(uarch);
	at_end((void (*)(void *))hp_uarch_destroy, uarch);
	return uarch;
}

static struct hp_uarch *generic(void)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	return made(&geometry);
}

/* --- the reference ---------------------------------------------------------------------------- */

struct machine {
	struct lru l1i, l1d, l2, l3, itlb, dtlb, tlb2;
	bool is_inclusive;
};

static struct machine machine_create(const struct hp_uarch_geometry *geometry)
{
	return (struct machine){
		.l1i = lru_create(geometry->l1i.sets, geometry->l1i.ways),
		.l1d = lru_create(geometry->l1d.sets, geometry->l1d.ways),
		.l2 = lru_create(geometry->l2.sets, geometry->l2.ways),
		.l3 = lru_create(geometry->l3.sets, geometry->l3.ways),
		.itlb = lru_create(geometry->itlb.sets, geometry->itlb.ways),
		.dtlb = lru_create(geometry->dtlb.sets, geometry->dtlb.ways),
		.tlb2 = lru_create(geometry->tlb2.sets, geometry->tlb2.ways),
		.is_inclusive = geometry->l2_is_inclusive,
	};
}

static void machine_destroy(struct machine *machine)
{
	struct lru *all[] = { &machine->l1i,  &machine->l1d,  &machine->l2,  &machine->l3,
			      &machine->itlb, &machine->dtlb, &machine->tlb2 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(all); i++)
		lru_destroy(all[i]);
}

static unsigned bit_of(enum lru_answer answer, unsigned miss)
{
	return answer == LRU_HIT ? 0 : answer == LRU_MISS ? miss : miss << 1;
}

static unsigned expect_line(struct machine *machine, struct lru *first, unsigned miss,
			    uint64_t line)
{
	uint64_t left;
	enum lru_answer l1 = lru_use(first, line, &left);
	enum lru_answer l2, l3;

	if (l1 == LRU_HIT)
		return 0;
	l2 = lru_use(&machine->l2, line, &left);
	if (l2 == LRU_HIT)
		return bit_of(l1, miss);
	if (machine->is_inclusive && left) {
		lru_remove(&machine->l1i, left);
		lru_remove(&machine->l1d, left);
	}
	/* An unknown may have been a hit, after which no further level was asked. */
	if (l2 == LRU_MISS && l1 == LRU_UNKNOWN && machine->is_inclusive)
		l1 = LRU_MISS;
	if (l1 == LRU_UNKNOWN)
		l2 = LRU_UNKNOWN;
	l3 = lru_use(&machine->l3, line, &left);
	if (l3 == LRU_MISS && l2 == LRU_UNKNOWN)
		l3 = LRU_UNKNOWN;
	return bit_of(l1, miss) | bit_of(l2, HP_UARCH_L2_MISS) | bit_of(l3, HP_UARCH_L3_MISS);
}

static unsigned expect_page(struct machine *machine, struct lru *first, unsigned miss,
			    uint64_t page)
{
	uint64_t left;
	enum lru_answer one = lru_use(first, page, &left);
	enum lru_answer two;

	if (one == LRU_HIT)
		return 0;
	two = lru_use(&machine->tlb2, page, &left);
	if (two == LRU_MISS && one == LRU_UNKNOWN)
		two = LRU_UNKNOWN;
	return bit_of(one, miss) | bit_of(two, HP_UARCH_TLB2_MISS);
}

static uint64_t next_address(struct hp_random *random, uint64_t last)
{
	enum { FIRST = 1 << 16, PAGES = 40 };

	switch (hp_random_between(random, 0, 9)) {
	case 0 ... 3:
		return last;
	case 4 ... 6:
		return FIRST + (last - FIRST + 64) % (PAGES << 12);
	case 7:
		return FIRST + (last - FIRST + 4096) % (PAGES << 12);
	default:
		return FIRST + hp_random_between(random, 0, (PAGES << 12) / 8 - 1) * 8;
	}
}

static void agrees(bool is_inclusive)
{
	enum {
		PREFETCHED = HP_UARCH_PREFETCHED | HP_UARCH_PREFETCHED_LATE,
		OTHER = HP_UARCH_DECODED_MISS | HP_UARCH_DECODED_UNKNOWN | HP_UARCH_FORWARDED |
			HP_UARCH_FORWARDED_YOUNG | HP_UARCH_FORWARD_FAILED | HP_UARCH_ALIAS_4K |
			HP_UARCH_WALK_MISS | HP_UARCH_WALK_UNKNOWN | HP_UARCH_L2_LIKELY_MISS |
			PREFETCHED,
	};
	struct hp_uarch_geometry geometry = small(is_inclusive);
	struct machine machine = machine_create(&geometry);
	struct hp_uarch *uarch = made(&geometry);
	struct hp_random random = hp_random_seeded(5);
	uint64_t data = 1 << 16, code = 1 << 16;
	unsigned seen = 0;

	for (unsigned i = 0; i < 60000; i++) {
		unsigned expected, events;

		if (hp_random_between(&random, 0, 2) == 0) {
			code = next_address(&random, code);
			expected =
				expect_line(&machine, &machine.l1i, HP_UARCH_L1I_MISS, code >> 6) |
				expect_page(&machine, &machine.itlb, HP_UARCH_ITLB_MISS,
					    code >> 12);
			events = hp_uarch_fetch(uarch, code, 4);
		} else {
			data = next_address(&random, data);
			expected =
				expect_line(&machine, &machine.l1d, HP_UARCH_L1_MISS, data >> 6) |
				expect_page(&machine, &machine.dtlb, HP_UARCH_DTLB_MISS,
					    data >> 12);
			events = hp_uarch_access(uarch, 1, data, 8,
						 i & 1 ? HP_UARCH_LOAD : HP_UARCH_STORE);
		}
		ck_assert_msg((events & ~(unsigned)OTHER) == expected, "step %u: %#x, expected %#x",
			      i, events, expected);
		seen |= events;
	}
	/* Every kind of answer was among them. */
	ck_assert_uint_eq(seen & (HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_MISS |
				  HP_UARCH_L2_UNKNOWN | HP_UARCH_L3_MISS | HP_UARCH_L3_UNKNOWN |
				  HP_UARCH_L1I_MISS | HP_UARCH_DTLB_MISS | HP_UARCH_ITLB_MISS |
				  HP_UARCH_TLB2_MISS | HP_UARCH_TLB2_UNKNOWN),
			  HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_MISS |
				  HP_UARCH_L2_UNKNOWN | HP_UARCH_L3_MISS | HP_UARCH_L3_UNKNOWN |
				  HP_UARCH_L1I_MISS | HP_UARCH_DTLB_MISS | HP_UARCH_ITLB_MISS |
				  HP_UARCH_TLB2_MISS | HP_UARCH_TLB2_UNKNOWN);
	machine_destroy(&machine);
}

TEST(an_inclusive_hierarchy_is_that_of_the_reference)
{
	agrees(true);
}

TEST(a_hierarchy_that_is_not_inclusive_is_that_of_the_reference)
{
	agrees(false);
}

/* Of `pages` pages, each `apart` from the next, in turn: what the last turn had of both. */
static void walk(unsigned pages, unsigned apart, unsigned *walks, unsigned *misses)
{
	struct hp_uarch_geometry geometry = small(true);
	struct hp_uarch *uarch = made(&geometry);

	for (unsigned turn = 0; turn < 4; turn++) {
		*walks = *misses = 0;
		for (unsigned i = 0; i < pages; i++) {
			unsigned events = hp_uarch_access(uarch, 1, (uint64_t)i * apart << 12, 8,
							  HP_UARCH_LOAD);

			*walks += (events & HP_UARCH_TLB2_MISS) != 0;
			*misses += (events & HP_UARCH_WALK_MISS) != 0;
			ck_assert(!(events & HP_UARCH_WALK_MISS) || (events & HP_UARCH_TLB2_MISS));
		}
	}
}

/* The part of the second cache holds six lines of tables, of eight pages each. */
TEST(walks_miss_where_tables_are_larger_than_their_part_of_the_cache)
{
	unsigned walks, misses;

	walk(40, 1, &walks, &misses);
	ck_assert_uint_eq(walks, 40);
	ck_assert_uint_eq(misses, 0);
	walk(40, 8, &walks, &misses);
	ck_assert_uint_eq(walks, 40);
	ck_assert_uint_eq(misses, 40);
}

/* --- accesses that are not within a line ------------------------------------------------------ */

static const struct split {
	const char *name;
	uint64_t address;
	uint32_t bytes;
	unsigned expected;
} splits[] = {
	{ "the first bytes of a line", 0x10000, 8, 0 },
	{ "the last bytes of a line", 0x10038, 8, 0 },
	{ "a whole line", 0x10000, 64, 0 },
	{ "across lines", 0x1003c, 8, HP_UARCH_LINE_SPLIT },
	{ "a line's length across lines", 0x10004, 64, HP_UARCH_LINE_SPLIT },
	{ "across pages", 0x10fff, 2, HP_UARCH_LINE_SPLIT | HP_UARCH_PAGE_SPLIT },
	{ "several lines, no split of one access", 0x10000, 256, 0 },
	{ "no byte", 0x1003f, 0, 0 },
};

TEST(splits_are_told)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(splits); i++) {
		unsigned events = hp_uarch_access(generic(), 1, splits[i].address, splits[i].bytes,
						  HP_UARCH_LOAD);

		ck_assert_msg((events & (HP_UARCH_LINE_SPLIT | HP_UARCH_PAGE_SPLIT)) ==
				      splits[i].expected,
			      "%s: %#x", splits[i].name, events);
	}
}

TEST(a_split_access_touches_both_lines_and_pages)
{
	struct hp_uarch_geometry geometry = small(true);
	struct hp_uarch *uarch = made(&geometry);

	hp_uarch_access(uarch, 1, 0x10ffc, 8, HP_UARCH_LOAD);
	ck_assert_uint_eq(hp_uarch_access(uarch, 1, 0x10fc0, 8, HP_UARCH_LOAD), 0);
	ck_assert_uint_eq(hp_uarch_access(uarch, 1, 0x11000, 8, HP_UARCH_LOAD), 0);
	ck_assert_uint_ne(hp_uarch_access(uarch, 1, 0x11040, 8, HP_UARCH_LOAD), 0);
}

TEST(a_huge_page_is_one_page)
{
	static const struct hp_uarch_huge huge[] = { { 0x40000000, 0x40200000 },
						     { 0x40400000, 0x40800000 } };
	const unsigned other_page = HP_UARCH_DTLB_MISS | HP_UARCH_DTLB_UNKNOWN;
	struct hp_uarch_geometry geometry = small(true);
	struct hp_uarch *uarch = made(&geometry);

	hp_uarch_set_huge(uarch, huge, 2);
	hp_uarch_access(uarch, 1, 0x40000000, 8, HP_UARCH_LOAD);
	for (uint64_t i = 1; i < 40; i++)
		ck_assert(!(hp_uarch_access(uarch, 1, 0x40000000 + i * 0x2040, 8, HP_UARCH_LOAD) &
			    other_page));
	/* Two in a row are two, … */
	ck_assert(hp_uarch_access(uarch, 1, 0x40400000, 8, HP_UARCH_LOAD) & other_page);
	ck_assert(hp_uarch_access(uarch, 1, 0x40600000, 8, HP_UARCH_LOAD) & other_page);
	ck_assert(!(hp_uarch_access(uarch, 1, 0x405ff000, 8, HP_UARCH_LOAD) & other_page));
	/* … what is between or behind them is not huge, … */
	ck_assert(hp_uarch_access(uarch, 1, 0x40200000, 8, HP_UARCH_LOAD) & other_page);
	ck_assert(hp_uarch_access(uarch, 1, 0x40201000, 8, HP_UARCH_LOAD) & other_page);
	ck_assert(hp_uarch_access(uarch, 1, 0x40800000, 8, HP_UARCH_LOAD) & other_page);
	ck_assert(hp_uarch_access(uarch, 1, 0x40801000, 8, HP_UARCH_LOAD) & other_page);
	/* … and in the end none is. */
	hp_uarch_set_huge(uarch, NULL, 0);
	ck_assert(hp_uarch_access(uarch, 1, 0x40401000, 8, HP_UARCH_LOAD) & other_page);
	ck_assert(hp_uarch_access(uarch, 1, 0x40402000, 8, HP_UARCH_LOAD) & other_page);
}

/* Three lines fill the set of the line at 0x10000: what is new there is a miss, beside it
 * unknown. */
TEST(a_split_access_has_the_worst_of_its_halves)
{
	struct hp_uarch_geometry geometry = small(true);
	struct hp_uarch *uarch = made(&geometry);
	unsigned events;

	for (uint64_t i = 0; i < 3; i++)
		hp_uarch_access(uarch, 1, 0x10000 + i * 256, 8, HP_UARCH_LOAD);
	events = hp_uarch_access(uarch, 1, 0x103fc, 8, HP_UARCH_LOAD);
	ck_assert_uint_eq(events & (HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN), HP_UARCH_L1_MISS);
}

TEST(a_long_access_touches_all_its_lines_and_no_more_than_the_limit)
{
	struct hp_uarch *uarch = generic();

	hp_uarch_access(uarch, 1, 0x10000, UINT32_MAX, HP_UARCH_STORE);
	for (uint64_t at = 0x10000; at < 0x10000 + HP_UARCH_BYTES_MOST; at += 64)
		ck_assert_uint_eq(hp_uarch_access(uarch, 1, at, 1, HP_UARCH_STORE), 0);
	ck_assert_uint_ne(
		hp_uarch_access(uarch, 1, 0x10000 + HP_UARCH_BYTES_MOST, 1, HP_UARCH_STORE), 0);
}

TEST(the_ends_of_the_address_space_are_places_like_others)
{
	struct hp_uarch *uarch = generic();

	for (int again = 0; again < 2; again++) {
		unsigned low = hp_uarch_access(uarch, 0, 0, 8, HP_UARCH_LOAD);
		unsigned high = hp_uarch_access(uarch, 0, UINT64_MAX - 3, 64, HP_UARCH_LOAD);
		unsigned code = hp_uarch_fetch(uarch, UINT64_MAX - 100, 4096);

		ck_assert_int_eq(low == 0 && high == 0 && (code & HP_UARCH_L1I_UNKNOWN) == 0,
				 again);
	}
}

/* --- prefetch instructions -------------------------------------------------------------------- */

TEST(what_an_instruction_prefetched_is_told_at_its_first_use)
{
	enum { LEVELS = HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_UNKNOWN };
	struct hp_uarch *uarch = generic();
	unsigned asked = hp_uarch_access(uarch, 1, 0x10000, 1, HP_UARCH_PREFETCH);
	unsigned first = hp_uarch_access(uarch, 1, 0x10008, 8, HP_UARCH_LOAD);

	ck_assert_uint_ne(asked & LEVELS, 0);
	ck_assert_uint_eq(first & LEVELS, asked & LEVELS);
	ck_assert_uint_ne(first & HP_UARCH_PREFETCHED, 0);
	ck_assert_uint_eq(hp_uarch_access(uarch, 1, 0x10010, 8, HP_UARCH_LOAD), 0);
	/* A line that is there is not prefetched. */
	ck_assert_uint_eq(hp_uarch_access(uarch, 1, 0x10000, 1, HP_UARCH_PREFETCH), 0);
	ck_assert_uint_eq(hp_uarch_access(uarch, 1, 0x10010, 8, HP_UARCH_LOAD), 0);
}

TEST(an_access_is_not_prefetched_if_half_of_it_is_not)
{
	struct hp_uarch *uarch = generic();

	hp_uarch_access(uarch, 1, 0x10000, 1, HP_UARCH_PREFETCH);
	ck_assert_uint_eq(
		hp_uarch_access(uarch, 1, 0x1003c, 8, HP_UARCH_LOAD) & HP_UARCH_PREFETCHED, 0);
}

/* --- code ------------------------------------------------------------------------------------- */

TEST(decoded_instructions_are_kept_by_windows_of_code)
{
	enum { DECODED = HP_UARCH_DECODED_MISS | HP_UARCH_DECODED_UNKNOWN };
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch;

	geometry.decoded = (struct hp_uarch_sets){ 2, 1 };
	geometry.decoded_bytes = 32;
	uarch = made(&geometry);
	ck_assert_uint_eq(hp_uarch_fetch(uarch, 0x10000, 40) & DECODED, HP_UARCH_DECODED_UNKNOWN);
	ck_assert_uint_eq(hp_uarch_fetch(uarch, 0x10000, 64) & DECODED, 0);
	ck_assert_uint_eq(hp_uarch_fetch(uarch, 0x10040, 4) & DECODED, HP_UARCH_DECODED_MISS);
	ck_assert_uint_eq(hp_uarch_fetch(uarch, 0x10020, 4) & DECODED, 0);
	ck_assert_uint_eq(hp_uarch_fetch(uarch, 0x10000, 4) & DECODED, HP_UARCH_DECODED_MISS);
}

TEST(a_reset_makes_all_cold)
{
	struct hp_uarch *uarch = generic();
	unsigned cold_data = hp_uarch_access(uarch, 1, 0x10000, 8, HP_UARCH_LOAD);
	unsigned cold_code = hp_uarch_fetch(uarch, 0x20000, 8);

	ck_assert_uint_ne(cold_data, 0);
	ck_assert_uint_ne(cold_code, 0);
	hp_uarch_reset(uarch);
	ck_assert_uint_eq(hp_uarch_access(uarch, 1, 0x10000, 8, HP_UARCH_LOAD), cold_data);
	ck_assert_uint_eq(hp_uarch_fetch(uarch, 0x20000, 8), cold_code);
}

/* --- the second level -------------------------------------------------------------------------- */

static unsigned second(struct hp_uarch *uarch, uint64_t line, enum hp_uarch_access_kind kind)
{
	return hp_uarch_access(uarch, 1, line * 64, 8, kind) &
	       (HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS);
}

/* Four ways, of lines 1 to 4; the first level has one. */
static struct hp_uarch *resumed(void)
{
	struct hp_uarch_geometry geometry = small(false);
	struct hp_uarch *uarch;

	geometry.l1d = (struct hp_uarch_sets){ 1, 1 };
	geometry.l2 = (struct hp_uarch_sets){ 1, 4 };
	uarch = made(&geometry);
	for (uint64_t line = 1; line <= 4; line++)
		second(uarch, line, HP_UARCH_LOAD);
	hp_uarch_resume(uarch);
	return uarch;
}

TEST(a_later_stretch_guesses_from_what_the_second_level_had)
{
	const unsigned likely = HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS;
	struct hp_uarch *uarch = resumed();

	ck_assert_uint_eq(second(uarch, 3, HP_UARCH_LOAD), HP_UARCH_L2_UNKNOWN);
	ck_assert_uint_eq(second(uarch, 1000, HP_UARCH_LOAD), likely);
	/* What was used since is known, … */
	ck_assert_uint_eq(second(uarch, 3, HP_UARCH_LOAD), 0);
	/* … and it has replaced what was used least. */
	ck_assert_uint_eq(second(uarch, 1, HP_UARCH_LOAD), likely);
	ck_assert_uint_eq(second(uarch, 4, HP_UARCH_LOAD), HP_UARCH_L2_UNKNOWN);
	/* All four are of this stretch. */
	ck_assert_uint_eq(second(uarch, 2000, HP_UARCH_LOAD), HP_UARCH_L2_MISS);
	hp_uarch_reset(uarch);
	ck_assert_uint_eq(second(uarch, 4, HP_UARCH_LOAD), likely);
}

TEST(how_far_a_line_was_is_told_from_what_was_used_since)
{
	struct hp_uarch *uarch = resumed();

	second(uarch, 3, HP_UARCH_LOAD);
	ck_assert_uint_eq(hp_uarch_l2_distance(uarch).known, 0);
	second(uarch, 1000, HP_UARCH_LOAD);
	ck_assert_uint_eq(hp_uarch_l2_distance(uarch).known, 1);
	ck_assert_uint_ge(hp_uarch_l2_distance(uarch).later, 1);
	second(uarch, 3, HP_UARCH_LOAD);
	ck_assert_uint_eq(hp_uarch_l2_distance(uarch).known, 2);
	ck_assert_uint_eq(hp_uarch_l2_distance(uarch).later, 1);
	ck_assert_uint_eq(hp_uarch_l2_distance(uarch).ways, 4);
	/* Of a prefetch it is not kept. */
	second(uarch, 2000, HP_UARCH_PREFETCH);
	second(uarch, 2000, HP_UARCH_LOAD);
	ck_assert_uint_eq(hp_uarch_l2_distance(uarch).known, 0);
}

TEST(how_far_a_page_was_is_told_from_what_was_used_since)
{
	struct hp_uarch_geometry geometry = small(false);
	struct hp_uarch *uarch;

	geometry.dtlb = (struct hp_uarch_sets){ 1, 1 };
	geometry.tlb2 = (struct hp_uarch_sets){ 1, 4 };
	uarch = made(&geometry);
	for (uint64_t page = 0; page < 5; page++) {
		hp_uarch_access(uarch, 1, page << 12, 8, HP_UARCH_LOAD);
		ck_assert_uint_eq(hp_uarch_tlb2_distance(uarch).known, page < 4 ? page : 4);
		ck_assert_uint_eq(hp_uarch_tlb2_distance(uarch).later, 4);
	}
	hp_uarch_access(uarch, 1, UINT64_C(2) << 12, 8, HP_UARCH_LOAD);
	ck_assert_uint_eq(hp_uarch_tlb2_distance(uarch).later, 2);
}

TEST(a_prefetch_hands_on_what_was_guessed_of_the_second_level)
{
	struct hp_uarch *uarch = resumed();

	for (uint64_t line = 4; line < 6; line++) {
		unsigned guessed = second(uarch, line, HP_UARCH_PREFETCH);

		ck_assert_uint_eq(guessed,
				  HP_UARCH_L2_UNKNOWN | (line == 5 ? HP_UARCH_L2_LIKELY_MISS : 0));
		ck_assert_uint_eq(second(uarch, line, HP_UARCH_LOAD), guessed);
	}
}

/* Of two lines one is unknown, and one certainly missing. */
TEST(what_is_certain_of_one_line_is_no_guess_of_both)
{
	struct hp_uarch *uarch = resumed();

	for (uint64_t line = 101; line <= 103; line++)
		second(uarch, line, HP_UARCH_LOAD);
	ck_assert_uint_eq(
		hp_uarch_access(uarch, 1, 105 * 64 - 4, 8, HP_UARCH_LOAD) &
			(HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS),
		HP_UARCH_L2_MISS);
}

/* --- the third level -------------------------------------------------------------------------- */

enum {
	THIRD_WAYS = 16,
	THIRD_BITS = HP_UARCH_L3_MISS | HP_UARCH_L3_UNKNOWN | HP_UARCH_L3_LIKELY_MISS
};

/* One set of each level; the first two keep hardly anything. */
static struct hp_uarch *with_third_level(bool is_shared)
{
	struct hp_uarch_geometry geometry = small(false);

	geometry.l1d = geometry.l2 = (struct hp_uarch_sets){ 1, 1 };
	geometry.l3 = (struct hp_uarch_sets){ 1, THIRD_WAYS };
	geometry.l3_is_shared = is_shared;
	return made(&geometry);
}

static unsigned third(struct hp_uarch *uarch, uint64_t line)
{
	unsigned events = hp_uarch_access(uarch, 1, line * 64, 8, HP_UARCH_LOAD);

	ck_assert(events & (HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN));
	return events & THIRD_BITS;
}

/* The line, and so many others behind it. */
static unsigned third_behind(struct hp_uarch *uarch, uint32_t others)
{
	for (uint64_t line = 100; line < 100 + 2 * THIRD_WAYS; line++)
		third(uarch, line);
	third(uarch, 1);
	for (uint64_t line = 2; line < 2 + others; line++)
		third(uarch, line);
	return third(uarch, 1);
}

static const struct share {
	uint32_t others;
	unsigned of_its_own, shared;
} shares[] = {
	{ 1, 0, 0 },
	{ THIRD_WAYS / 4 - 1, 0, 0 },
	{ THIRD_WAYS / 4, 0, HP_UARCH_L3_UNKNOWN },
	{ THIRD_WAYS / 2 - 1, 0, HP_UARCH_L3_UNKNOWN },
	{ THIRD_WAYS / 2, 0, HP_UARCH_L3_UNKNOWN | HP_UARCH_L3_LIKELY_MISS },
	{ THIRD_WAYS - 1, 0, HP_UARCH_L3_UNKNOWN | HP_UARCH_L3_LIKELY_MISS },
	{ THIRD_WAYS, HP_UARCH_L3_MISS, HP_UARCH_L3_MISS },
};

TEST(what_a_shared_third_level_has_is_known_within_a_factor)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(shares); i++) {
		ck_assert_uint_eq(third_behind(with_third_level(false), shares[i].others),
				  shares[i].of_its_own);
		ck_assert_uint_eq(third_behind(with_third_level(true), shares[i].others),
				  shares[i].shared);
	}
}

TEST(a_later_stretch_guesses_from_what_the_third_level_had)
{
	struct hp_uarch *uarch = with_third_level(false);

	ck_assert_uint_eq(third_behind(uarch, THIRD_WAYS - 2), 0);
	hp_uarch_resume(uarch);
	ck_assert_uint_eq(third(uarch, 1), HP_UARCH_L3_UNKNOWN);
	ck_assert_uint_eq(third(uarch, 1000), HP_UARCH_L3_UNKNOWN | HP_UARCH_L3_LIKELY_MISS);
	/* What was used since is known. */
	ck_assert_uint_eq(third(uarch, 1), 0);
	for (uint64_t line = 2000; line < 2000 + THIRD_WAYS; line++)
		third(uarch, line);
	ck_assert_uint_eq(third(uarch, 1), HP_UARCH_L3_MISS);
	hp_uarch_reset(uarch);
	ck_assert_uint_eq(third(uarch, 1), HP_UARCH_L3_UNKNOWN);
}

/* A branch that is new to a predictor is no longer new to it. */
TEST(a_later_stretch_knows_the_branches_that_were_met)
{
	struct hp_uarch *uarch = generic();
	unsigned unknown[3] = { 0 };

	for (int stretch = 0; stretch < 3; stretch++) {
		for (int i = 0; i < 400; i++)
			unknown[stretch] +=
				0 != (hp_uarch_branch(uarch, 0x1000, 0x1002, HP_UARCH_CONDITIONAL,
						      i % 7 < 3, 0x2000) &
				      HP_UARCH_BRANCH_UNKNOWN);
		if (stretch == 0)
			hp_uarch_resume(uarch);
		else
			hp_uarch_reset(uarch);
	}
	ck_assert_uint_gt(unknown[0], 0);
	ck_assert_uint_eq(unknown[1], 0);
	ck_assert_uint_eq(unknown[2], unknown[0]);
}

/* The core asks the history for all its targets as soon as its address alone did not tell one. */
TEST(targets_are_late_once_there_were_several)
{
	const struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();
	struct hp_uarch *uarch = made(&geometry);
	unsigned late[3] = { 0 };

	for (unsigned i = 0; i < 3000; i++)
		late[i / 1000] += hp_uarch_branch(uarch, 0x3000, 0x3002, HP_UARCH_JUMP_INDIRECT,
						  true, i == 1000 ? 0x5000 : 0x4000) ==
				  HP_UARCH_TARGET_LATE;
	ck_assert_uint_eq(late[0], 0);
	ck_assert_uint_gt(late[2], 990);
}

HP_TEST_MAIN("uarch/path")
