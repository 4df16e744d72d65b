/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/images/kept.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

enum { ROOM = 16 };

struct saved {
	struct image *images[ROOM];
	struct hp_symbol symbols[ROOM];
	char names[ROOM][16];
	size_t count;
	size_t calls;
	size_t fail_at; /* the number of the call that fails; 0: none */
};

static struct hp_error *save(struct image *image, const struct hp_symbol *symbols, size_t count,
			     void *context)
{
	struct saved *saved = context;

	saved->calls++;
	if (saved->calls == saved->fail_at)
		return hp_error_create(HP_ERROR_SYSTEM, "no room");
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_lt(saved->count, ROOM);
		saved->images[saved->count] = image;
		saved->symbols[saved->count] = symbols[i];
		strncpy(saved->names[saved->count], symbols[i].name, sizeof(saved->names[0]) - 1);
		saved->count++;
	}
	return NULL;
}

static struct saved save_all(struct kept *kept)
{
	struct saved saved = { .count = 0 };

	hp_assert_ok(kept_save(kept, save, &saved));
	return saved;
}

static void assert_symbol(const struct saved *saved, size_t number, uint64_t offset, uint64_t size,
			  const char *name)
{
	ck_assert_uint_lt(number, saved->count);
	ck_assert_uint_eq(saved->symbols[number].offset.value, offset);
	ck_assert_uint_eq(saved->symbols[number].size, size);
	ck_assert_str_eq(saved->names[number], name);
}

TEST(symbols_are_saved_sorted_once_for_each_image)
{
	struct image images[2] = { { .references = 1 }, { .references = 1 } };
	_cleanup_(kept_clear) struct kept kept = { 0 };
	struct saved saved;

	ck_assert(kept_add(&kept, &images[0], 300, 10, "c"));
	ck_assert(kept_add(&kept, &images[1], 50, 10, "x"));
	ck_assert(kept_add(&kept, &images[0], 100, 10, "a"));
	ck_assert(kept_add(&kept, &images[0], 200, 10, "b"));
	saved = save_all(&kept);
	ck_assert_uint_eq(saved.calls, 2);
	ck_assert_uint_eq(saved.count, 4);
	for (size_t i = 0; i < saved.count; i++) {
		if (saved.images[i] == &images[1]) {
			assert_symbol(&saved, i, 50, 10, "x");
			continue;
		}
		ck_assert_uint_le(i, 1);
		assert_symbol(&saved, i, 100, 10, "a");
		assert_symbol(&saved, i + 1, 200, 10, "b");
		assert_symbol(&saved, i + 2, 300, 10, "c");
		i += 2;
	}
}

TEST(symbols_that_would_overlap_are_cut)
{
	struct image image = { .references = 1 };
	_cleanup_(kept_clear) struct kept kept = { 0 };
	struct saved saved;

	ck_assert(kept_add(&kept, &image, 100, 1000, "long"));
	ck_assert(kept_add(&kept, &image, 150, 50, "inside"));
	ck_assert(kept_add(&kept, &image, 200, UINT64_MAX, "last"));
	saved = save_all(&kept);
	ck_assert_uint_eq(saved.count, 3);
	assert_symbol(&saved, 0, 100, 50, "long");
	assert_symbol(&saved, 1, 150, 50, "inside");
	assert_symbol(&saved, 2, 200, UINT64_MAX, "last");
}

TEST(the_longer_extent_of_a_name_wins)
{
	struct image image = { .references = 1 };
	_cleanup_(kept_clear) struct kept kept = { 0 };
	struct saved saved;

	ck_assert(kept_add(&kept, &image, 100, 10, "f"));
	ck_assert(kept_add(&kept, &image, 100, 30, "f"));
	ck_assert(kept_add(&kept, &image, 100, 20, "f"));
	saved = save_all(&kept);
	ck_assert_uint_eq(saved.count, 1);
	assert_symbol(&saved, 0, 100, 30, "f");
}

TEST(another_name_at_the_same_place_is_refused)
{
	struct image image = { .references = 1 };
	_cleanup_(kept_clear) struct kept kept = { 0 };
	struct saved saved;

	ck_assert(kept_add(&kept, &image, 100, 10, "first"));
	ck_assert(!kept_add(&kept, &image, 100, 10, "second"));
	saved = save_all(&kept);
	ck_assert_uint_eq(saved.count, 1);
	assert_symbol(&saved, 0, 100, 10, "first");
}

TEST(a_symbol_of_no_size_takes_one_byte)
{
	struct image image = { .references = 1 };
	_cleanup_(kept_clear) struct kept kept = { 0 };
	struct saved saved;

	ck_assert(kept_add(&kept, &image, 100, 0, "label"));
	saved = save_all(&kept);
	assert_symbol(&saved, 0, 100, 1, "label");
}

TEST(only_what_is_new_calls_for_saving)
{
	struct image image = { .references = 1 };
	_cleanup_(kept_clear) struct kept kept = { 0 };

	ck_assert(!kept.changed);
	ck_assert(kept_add(&kept, &image, 100, 10, "f"));
	ck_assert(kept.changed);
	save_all(&kept);
	ck_assert(!kept.changed);
	ck_assert(kept_add(&kept, &image, 100, 5, "f"));
	ck_assert(!kept.changed);
	ck_assert(kept_add(&kept, &image, 100, 11, "f"));
	ck_assert(kept.changed);
}

TEST(what_could_not_be_saved_is_still_to_be_saved)
{
	struct image images[2] = { { .references = 1 }, { .references = 1 } };
	struct saved failing = { .fail_at = 2 };
	_cleanup_(kept_clear) struct kept kept = { 0 };

	ck_assert(kept_add(&kept, &images[0], 100, 10, "f"));
	ck_assert(kept_add(&kept, &images[1], 100, 10, "g"));
	hp_assert_fails(HP_ERROR_SYSTEM, kept_save(&kept, save, &failing));
	ck_assert(kept.changed);
	ck_assert_uint_eq(save_all(&kept).count, 2);
}

TEST(images_are_held_while_names_of_theirs_are_kept)
{
	struct image image = { .references = 1 };
	struct kept kept = { 0 };

	ck_assert(kept_add(&kept, &image, 100, 10, "f"));
	ck_assert(kept_add(&kept, &image, 100, 20, "f"));
	ck_assert(kept_add(&kept, &image, 200, 10, "g"));
	ck_assert(!kept_add(&kept, &image, 200, 10, "h"));
	ck_assert_uint_eq(image.references, 3);
	kept_clear(&kept);
	ck_assert_uint_eq(image.references, 1);
}

TEST(nothing_kept_is_nothing_saved)
{
	_cleanup_(kept_clear) struct kept kept = { 0 };

	ck_assert_uint_eq(save_all(&kept).calls, 0);
}

HP_TEST_MAIN("collect/kept")
