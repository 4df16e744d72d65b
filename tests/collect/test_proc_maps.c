/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/maps/proc_maps.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <stdio.h>
#include <string.h>

enum { ROOM = 8 };

struct collected {
	struct hp_record_mmap mappings[ROOM];
	char paths[ROOM][128];
	size_t count;
	size_t stop_after; /* 0: never */
};

static bool collect(const struct hp_record_mmap *mapping, void *context)
{
	struct collected *collected = context;

	ck_assert_uint_lt(collected->count, ROOM);
	collected->mappings[collected->count] = *mapping;
	snprintf(collected->paths[collected->count], sizeof(collected->paths[0]), "%s",
		 mapping->path);
	collected->count++;
	return collected->count != collected->stop_after;
}

static size_t parse(const char *text, struct collected *collected)
{
	_cleanup_free_ char *copy = strdup(text);

	ck_assert_ptr_nonnull(copy);
	return proc_maps_parse(copy, collect, collected);
}

TEST(executable_lines_come_out_as_mappings)
{
	struct collected found = { .count = 0 };
	const struct hp_record_mmap *mapping = found.mappings;

	ck_assert_uint_eq(parse("55d0c0a00000-55d0c0a02000 r--p 00000000 fe:01 1311 /usr/bin/cat\n"
				"55d0c0a02000-55d0c0a07000 r-xp 00002000 fe:01 1311 /usr/bin/cat\n"
				"55d0c1f6e000-55d0c1f8f000 rw-p 00000000 00:00 0    [heap]\n"
				"7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
				"7ffd2a5e4000-7ffd2a5e6000 r-xp 00000000 00:00 0    [vdso]\n",
				&found),
			  0);
	ck_assert_uint_eq(found.count, 3);
	ck_assert_uint_eq(mapping[0].start, 0x55d0c0a02000);
	ck_assert_uint_eq(mapping[0].size, 0x5000);
	ck_assert_uint_eq(mapping[0].file_offset, 0x2000);
	ck_assert_uint_eq(mapping[0].major, 0xfe);
	ck_assert_uint_eq(mapping[0].minor, 1);
	ck_assert_uint_eq(mapping[0].inode, 1311);
	ck_assert_int_eq(mapping[0].build_id.kind, HP_IDENTITY_NONE);
	ck_assert_str_eq(found.paths[0], "/usr/bin/cat");
	ck_assert_str_eq(found.paths[1], "//anon");
	ck_assert_uint_eq(mapping[1].inode, 0);
	ck_assert_str_eq(found.paths[2], "[vdso]");
}

TEST(paths_keep_their_spaces_and_get_their_newlines_back)
{
	static const struct {
		const char *written;
		const char *path;
	} paths[] = {
		{ "/a b/c  d", "/a b/c  d" },
		{ "/x\\012y", "/x\ny" },
		{ "/ends\\012", "/ends\n" },
		{ "/a\\012\\012b", "/a\n\nb" },
		{ "/back\\slash\\01", "/back\\slash\\01" },
		{ "/tail\\", "/tail\\" },
		{ "/lib.so (deleted)", "/lib.so (deleted)" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(paths); i++) {
		struct collected found = { .count = 0 };
		char line[128];

		snprintf(line, sizeof(line), "1000-2000 r-xp 0 0:1 7       %s", paths[i].written);
		ck_assert_uint_eq(parse(line, &found), 0);
		ck_assert_uint_eq(found.count, 1);
		ck_assert_str_eq(found.paths[0], paths[i].path);
	}
}

TEST(lines_that_make_no_sense_are_counted_and_skipped)
{
	static const char *const bad[] = {
		"x",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp ",
		"1000-2000 r-xpp 0 0:1 7 /f",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 0",
		"1000-2000 r-xp 0 0:1",
		"1000-2000 r-xp 0 0:1 ",
		"1000-2000 r-xp 0 0:1 x",
		"1000-2000 r-xp 0 0:1 7/f",
		"1000-2000 r-xp 0 0:1 -7 /f",
		"1000-2000 r-xp -1 0:1 7 /f",
		"2000-2000 r-xp 0 0:1 7 /f",
		"2000-1000 r-xp 0 0:1 7 /f",
		"-1000-2000 r-xp 0 0:1 7 /f",
		"10000000000000000-20000000000000000 r-xp 0 0:1 7 /f",
		"1000-2000 r-xp 0 0:1 99999999999999999999 /f",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++) {
		struct collected found = { .count = 0 };
		char text[256];

		snprintf(text, sizeof(text), "%s\n\n3000-4000 r-xp 0 0:1 7 /good\n", bad[i]);
		ck_assert_msg(parse(text, &found) == 1, "'%s'", bad[i]);
		ck_assert_uint_eq(found.count, 1);
		ck_assert_str_eq(found.paths[0], "/good");
	}
}

TEST(the_receiver_may_stop)
{
	struct collected found = { .stop_after = 1 };

	ck_assert_uint_eq(parse("1000-2000 r-xp 0 0:1 7 /a\n"
				"2000-3000 r-xp 0 0:1 7 /b\n",
				&found),
			  0);
	ck_assert_uint_eq(found.count, 1);
}

static bool holds_this_function(const struct hp_record_mmap *mapping, void *context)
{
	uint64_t address = (uint64_t)(uintptr_t)&holds_this_function;

	if (address >= mapping->start && address - mapping->start < mapping->size) {
		ck_assert_uint_ne(mapping->inode, 0);
		ck_assert_str_eq(strrchr(mapping->path, '/'), "/test_proc_maps");
		*(bool *)context = true;
	}
	return true;
}

TEST(our_own_maps_hold_our_code)
{
	_cleanup_free_ char *text = NULL;
	bool found = false;

	hp_assert_ok(hp_file_read_text("/proc/self/maps", &text));
	ck_assert_uint_eq(proc_maps_parse(text, holds_this_function, &found), 0);
	ck_assert(found);
}

HP_TEST_MAIN("collect/proc_maps")
