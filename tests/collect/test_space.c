/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/maps/space.h"

#include <string.h>

/* Images of which only the references matter here. */
static struct image images[4];

/* Maps [start, end) as one process would; `image` < 0 is anonymous memory. */
static void map(struct space **space, uint64_t start, uint64_t end, int image, uint64_t offset)
{
	struct mapping added = { .start = start, .end = end, .offset = offset };

	if (image >= 0) {
		added.image = &images[image];
		added.image->references++;
	}
	ck_assert(space_map(space, &added));
}

static struct space *new_space(void)
{
	struct space *space = space_create();

	ck_assert_ptr_nonnull(space);
	space->processes = 1;
	return space;
}

static void end_process(struct space *space)
{
	space->processes--;
	space_release(space);
}

static void assert_no_references(void)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(images); i++)
		ck_assert_uint_eq(images[i].references, 0);
}

struct expected {
	uint64_t start;
	uint64_t end;
	int image;
	uint64_t offset;
};

static void assert_mappings(const struct space *space, const struct expected *expected,
			    size_t count)
{
	ck_assert_uint_eq(space->count, count);
	for (size_t i = 0; i < count; i++) {
		const struct mapping *mapping = &space->mappings[i];

		ck_assert_uint_eq(mapping->start, expected[i].start);
		ck_assert_uint_eq(mapping->end, expected[i].end);
		ck_assert_uint_eq(mapping->offset, expected[i].offset);
		ck_assert_ptr_eq(mapping->image, &images[expected[i].image]);
	}
}

TEST(an_address_is_found_from_the_first_byte_of_a_mapping_to_the_last)
{
	struct space *space = new_space();

	map(&space, 0x3000, 0x5000, 1, 0);
	map(&space, 0x1000, 0x2000, 0, 0);
	ck_assert_ptr_null(space_find(space, 0xfff));
	ck_assert_ptr_eq(space_find(space, 0x1000)->image, &images[0]);
	ck_assert_ptr_eq(space_find(space, 0x1fff)->image, &images[0]);
	ck_assert_ptr_null(space_find(space, 0x2000));
	ck_assert_ptr_null(space_find(space, 0x2fff));
	ck_assert_ptr_eq(space_find(space, 0x4fff)->image, &images[1]);
	ck_assert_ptr_null(space_find(space, 0x5000));
	ck_assert_ptr_null(space_find(space, UINT64_MAX));
	end_process(space);
	assert_no_references();
}

TEST(an_empty_space_holds_nothing)
{
	struct space *space = new_space();

	ck_assert_ptr_null(space_find(space, 0));
	ck_assert_ptr_null(space_find(space, UINT64_MAX));
	end_process(space);
}

TEST(a_mapping_replaces_what_it_covers_and_no_more)
{
	/* Into [0x2000, 0x4000) of image 0 and [0x6000, 0x8000) of image 1, offsets 0x10000 and
	 * 0x20000. */
	static const struct {
		uint64_t start;
		uint64_t end;
		struct expected after[5];
		size_t count;
	} cases[] = {
		/* beside, touching */
		{ 0x1000,
		  0x2000,
		  { { 0x1000, 0x2000, 2, 0 },
		    { 0x2000, 0x4000, 0, 0x10000 },
		    { 0x6000, 0x8000, 1, 0x20000 } },
		  3 },
		{ 0x4000,
		  0x6000,
		  { { 0x2000, 0x4000, 0, 0x10000 },
		    { 0x4000, 0x6000, 2, 0 },
		    { 0x6000, 0x8000, 1, 0x20000 } },
		  3 },
		/* over the left end */
		{ 0x1000,
		  0x3000,
		  { { 0x1000, 0x3000, 2, 0 },
		    { 0x3000, 0x4000, 0, 0x11000 },
		    { 0x6000, 0x8000, 1, 0x20000 } },
		  3 },
		/* over the right end */
		{ 0x3000,
		  0x5000,
		  { { 0x2000, 0x3000, 0, 0x10000 },
		    { 0x3000, 0x5000, 2, 0 },
		    { 0x6000, 0x8000, 1, 0x20000 } },
		  3 },
		/* in the middle */
		{ 0x6800,
		  0x7000,
		  { { 0x2000, 0x4000, 0, 0x10000 },
		    { 0x6000, 0x6800, 1, 0x20000 },
		    { 0x6800, 0x7000, 2, 0 },
		    { 0x7000, 0x8000, 1, 0x21000 } },
		  4 },
		/* exactly */
		{ 0x2000, 0x4000, { { 0x2000, 0x4000, 2, 0 }, { 0x6000, 0x8000, 1, 0x20000 } }, 2 },
		/* parts of both */
		{ 0x3000,
		  0x7000,
		  { { 0x2000, 0x3000, 0, 0x10000 },
		    { 0x3000, 0x7000, 2, 0 },
		    { 0x7000, 0x8000, 1, 0x21000 } },
		  3 },
		/* all of both */
		{ 0x0, 0x9000, { { 0x0, 0x9000, 2, 0 } }, 1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct space *space = new_space();

		map(&space, 0x2000, 0x4000, 0, 0x10000);
		map(&space, 0x6000, 0x8000, 1, 0x20000);
		map(&space, cases[i].start, cases[i].end, 2, 0);
		assert_mappings(space, cases[i].after, cases[i].count);
		end_process(space);
		assert_no_references();
	}
}

TEST(a_mapping_announced_again_changes_nothing)
{
	static const struct expected once[] = { { 0x2000, 0x6000, 0, 0x1000 } };
	struct space *space = new_space();
	struct space *before = space;

	map(&space, 0x2000, 0x6000, 0, 0x1000);
	map(&space, 0x2000, 0x6000, 0, 0x1000);
	/* mprotect of a part */
	map(&space, 0x3000, 0x4000, 0, 0x2000);
	ck_assert_ptr_eq(space, before);
	assert_mappings(space, once, 1);
	ck_assert_uint_eq(images[0].references, 1);
	end_process(space);
	assert_no_references();
}

TEST(the_same_image_at_another_offset_is_another_mapping)
{
	static const struct expected after[] = { { 0x2000, 0x6000, 0, 0x8000 } };
	struct space *space = new_space();
	struct space *before = space_hold(space);

	map(&space, 0x2000, 0x6000, 0, 0x1000);
	map(&space, 0x2000, 0x6000, 0, 0x8000);
	ck_assert_ptr_ne(space, before);
	assert_mappings(space, after, 1);
	ck_assert_uint_eq(space_find(before, 0x2000)->offset, 0x1000);
	space_release(before);
	end_process(space);
	assert_no_references();
}

TEST(samples_that_hold_a_space_still_find_what_was_replaced)
{
	struct space *space = new_space();
	struct space *held;

	map(&space, 0x1000, 0x2000, 0, 0);
	held = space_hold(space);
	map(&space, 0x1000, 0x2000, 1, 0);
	ck_assert_ptr_eq(space_find(held, 0x1800)->image, &images[0]);
	ck_assert_ptr_eq(space_find(space, 0x1800)->image, &images[1]);
	end_process(space);
	ck_assert_uint_eq(images[1].references, 0);
	ck_assert_uint_eq(images[0].references, 1);
	space_release(held);
	assert_no_references();
}

TEST(a_new_mapping_of_one_process_of_a_shared_space_is_its_own)
{
	struct space *parent = new_space();
	struct space *child;

	map(&parent, 0x1000, 0x2000, 0, 0);
	child = space_hold(parent);
	child->processes++;
	map(&child, 0x3000, 0x4000, 1, 0);
	ck_assert_ptr_ne(child, parent);
	ck_assert_ptr_null(space_find(parent, 0x3000));
	ck_assert_ptr_eq(space_find(child, 0x3000)->image, &images[1]);
	ck_assert_ptr_eq(space_find(child, 0x1000)->image, &images[0]);
	ck_assert_uint_eq(parent->processes, 1);
	ck_assert_uint_eq(child->processes, 1);
	end_process(parent);
	end_process(child);
	assert_no_references();
}

TEST(anonymous_memory_is_mapped_without_an_image)
{
	struct space *space = new_space();

	map(&space, 0x1000, 0x3000, 0, 0);
	map(&space, 0x2000, 0x4000, -1, 0x2000);
	ck_assert_ptr_null(space_find(space, 0x2000)->image);
	ck_assert_ptr_eq(space_find(space, 0x1fff)->image, &images[0]);
	end_process(space);
	assert_no_references();
}

TEST(the_last_page_of_memory_can_be_mapped)
{
	struct space *space = new_space();

	map(&space, 0, UINT64_MAX, 0, 0);
	map(&space, UINT64_MAX - 0xfff, UINT64_MAX, 1, 0);
	ck_assert_ptr_eq(space_find(space, UINT64_MAX - 1)->image, &images[1]);
	ck_assert_ptr_eq(space_find(space, 0)->image, &images[0]);
	end_process(space);
	assert_no_references();
}

/* --- against an array of pages ---------------------------------------------------------------- */

enum { PAGES = 48, PROCESSES = 5, HOLDERS = 6, STEPS = 40000, PAGE = 0x1000 };

struct page {
	bool mapped;
	const struct image *image;
	uint64_t offset;
};

struct view {
	struct space *space; /* NULL: not there */
	struct page pages[PAGES];
};

static void assert_page(const struct space *space, size_t number, const struct page *page)
{
	const struct mapping *mapping = space_find(space, number * PAGE + 0x123);

	if (!page->mapped) {
		ck_assert_ptr_null(mapping);
		return;
	}
	ck_assert_ptr_nonnull(mapping);
	ck_assert_ptr_eq(mapping->image, page->image);
	ck_assert_uint_eq(mapping->offset + (number * PAGE - mapping->start), page->offset);
}

static void map_at_random(struct hp_random *random, struct view *view)
{
	size_t first = (size_t)hp_random_between(random, 0, PAGES - 1);
	size_t last = (size_t)hp_random_between(random, first, PAGES - 1);
	int image = (int)hp_random_between(random, 0, HP_ARRAY_COUNT(images)) - 1;
	/* Few offsets: so that the same mapping is often there already. */
	uint64_t base = hp_random_between(random, 0, 1) * 0x100000;

	if (hp_random_between(random, 0, 2))
		last = first + (last - first) / 8;
	map(&view->space, first * PAGE, (last + 1) * PAGE, image, base + first * PAGE);
	for (size_t i = first; i <= last; i++) {
		view->pages[i] = (struct page){
			.mapped = true,
			.image = image < 0 ? NULL : &images[image],
			.offset = base + i * PAGE,
		};
	}
}

static void step(struct hp_random *random, struct view *processes, struct view *holders)
{
	struct view *one = &processes[hp_random_between(random, 0, PROCESSES - 1)];
	struct view *other = &processes[hp_random_between(random, 0, PROCESSES - 1)];
	struct view *holder = &holders[hp_random_between(random, 0, HOLDERS - 1)];

	switch (hp_random_between(random, 0, 15)) {
	case 0: /* fork */
		if (one == other || !one->space)
			break;
		if (other->space)
			end_process(other->space);
		*other = *one;
		space_hold(other->space)->processes++;
		break;
	case 1: /* exec */
		if (one->space)
			end_process(one->space);
		*one = (struct view){ .space = new_space() };
		break;
	case 2: /* samples are taken */
		space_release(holder->space);
		*holder = *one;
		if (holder->space)
			space_hold(holder->space);
		break;
	default:
		if (one->space)
			map_at_random(random, one);
	}
}

static void assert_views(const struct view *processes, const struct view *holders)
{
	for (size_t i = 0; i < PROCESSES; i++) {
		for (size_t page = 0; processes[i].space && page < PAGES; page++)
			assert_page(processes[i].space, page, &processes[i].pages[page]);
	}
	/* What was mapped when a sample was taken stays; something may have come where nothing
	 * was. */
	for (size_t i = 0; i < HOLDERS; i++) {
		for (size_t page = 0; holders[i].space && page < PAGES; page++) {
			if (holders[i].pages[page].mapped)
				assert_page(holders[i].space, page, &holders[i].pages[page]);
		}
	}
}

TEST(spaces_agree_with_an_array_of_pages)
{
	struct hp_random random = hp_random_seeded(11);
	struct view processes[PROCESSES] = { 0 };
	struct view holders[HOLDERS] = { 0 };

	for (size_t i = 0; i < STEPS; i++) {
		step(&random, processes, holders);
		if (i % 7 == 0)
			assert_views(processes, holders);
	}
	for (size_t i = 0; i < PROCESSES; i++) {
		if (processes[i].space)
			end_process(processes[i].space);
	}
	for (size_t i = 0; i < HOLDERS; i++)
		space_release(holders[i].space);
	assert_no_references();
}

HP_TEST_MAIN("collect/space")
