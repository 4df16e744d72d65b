/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include "../../src/collect/maps/names.h"

#include <hpcprof/base/cleanup.h>

#include <stdio.h>

TEST(number_0_is_the_empty_name)
{
	_cleanup_(names_clear) struct names names;

	ck_assert(names_create(&names));
	ck_assert_uint_eq(names_number(&names, ""), 0);
	ck_assert_str_eq(names.text[0], "");
}

TEST(a_name_keeps_its_number)
{
	_cleanup_(names_clear) struct names names;
	uint32_t sh;
	uint32_t shell;

	ck_assert(names_create(&names));
	sh = names_number(&names, "sh");
	shell = names_number(&names, "shell");
	ck_assert_uint_ne(sh, 0);
	ck_assert_uint_ne(shell, 0);
	ck_assert_uint_ne(sh, shell);
	ck_assert_uint_eq(names_number(&names, "sh"), sh);
	ck_assert_str_eq(names.text[sh], "sh");
	ck_assert_str_eq(names.text[shell], "shell");
}

TEST(names_past_the_bound_are_the_empty_name)
{
	_cleanup_(names_clear) struct names names;
	char text[16];

	ck_assert(names_create(&names));
	for (unsigned i = 1; i < NAMES_LIMIT; i++) {
		snprintf(text, sizeof(text), "name %u", i);
		ck_assert_uint_eq(names_number(&names, text), i);
	}
	ck_assert_uint_eq(names_number(&names, "one too many"), 0);
	ck_assert_uint_eq(names.count, NAMES_LIMIT);
	ck_assert_uint_eq(names_number(&names, "name 4711"), 4711);
	ck_assert_str_eq(names.text[4711], "name 4711");
}

HP_TEST_MAIN("collect/names")
