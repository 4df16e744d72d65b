/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names made readable, and names made by somebody who wants us to run out of time and memory. */
#include "../../src/image/demangle.h"
#include "../support.h"

#include <hpcprof/base/cleanup.h>

#include <stdio.h>
#include <string.h>

enum { ROOM = 4096, LONGEST = 64 << 10 };

static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* f(pair<int, int>, pair<that, that>, pair<that, that>, ...): each twice as long as the one
 * before. */
static void nest_substitutions(char name[ROOM], unsigned depth)
{
	int length = snprintf(name, ROOM, "_Z1fSt4pairIiiE");

	for (unsigned i = 0; i < depth && i < sizeof(digits) - 1; i++)
		length += snprintf(name + length, (size_t)(ROOM - length), "S_IS%c_S%c_E",
				   digits[i], digits[i]);
}

/* Rust's numbers: "_" is 0, "0_" is 1. */
static int put_62(char *at, unsigned value)
{
	static const char base[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (!value)
		return sprintf(at, "_");
	value--;
	if (value < 62)
		return sprintf(at, "%c_", base[value]);
	return sprintf(at, "%c%c_", base[value / 62], base[value % 62]);
}

/* a::b::<(i32, i32), (that, that), ...> */
static void nest_back_references(char name[ROOM], unsigned depth)
{
	int length = sprintf(name, "_RINvC1a1bTllE");
	unsigned before = (unsigned)(length - 4 - 2);

	for (unsigned i = 0; i < depth; i++) {
		unsigned here = (unsigned)length - 2;

		length += sprintf(name + length, "TB");
		length += put_62(name + length, before);
		length += sprintf(name + length, "B");
		length += put_62(name + length, before);
		length += sprintf(name + length, "E");
		before = here;
	}
	sprintf(name + length, "E");
}

TEST(names_are_made_readable)
{
	static const char *const names[][2] = {
		{ "_ZN3foo3barEv", "foo::bar()" },
		{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back(int const&)" },
		{ "_RNvC6_123foo3bar", "123foo::bar" },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  "core::fmt::Write::write_fmt" },
		{ "main", "main" },
		{ "_Zxx", "_Zxx" },
		{ "_", "_" },
		{ "", "" },
	};
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++)
		ck_assert_str_eq(demangle(arena, names[i][0]), names[i][1]);
}

/* Long names are shown, up to a length that none has that is meant to be read. */
static void check_bomb(void (*make)(char name[ROOM], unsigned depth), unsigned most)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	char name[ROOM];
	size_t longest = 0;

	for (unsigned depth = 1; depth <= most; depth++) {
		const char *readable;

		make(name, depth);
		readable = demangle(arena, name);
		ck_assert_uint_lt(strlen(readable), LONGEST);
		if (strlen(readable) > longest && strcmp(readable, name) != 0)
			longest = strlen(readable);
		/* Twice as long each time: this one would take gigabytes. */
		if (depth == most)
			ck_assert_str_eq(readable, name);
	}
	ck_assert_uint_gt(longest, LONGEST / 4);
}

TEST(a_name_that_stands_for_gigabytes_is_left_as_it_is)
{
	check_bomb(nest_substitutions, 35);
	check_bomb(nest_back_references, 40);
}

HP_TEST_MAIN("image/demangle")
