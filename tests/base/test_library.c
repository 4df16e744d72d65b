/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/library.h>

#include <math.h>

TEST(a_function_is_found_by_its_declaration)
{
	ck_assert_double_eq(HP_LIBRARY_FUNCTION("libm.so.6", sqrt)(4), 2);
}

TEST(what_is_missing_is_null)
{
	ck_assert_ptr_null(hp_library_function("libhpcprof-none.so.1", "sqrt"));
	ck_assert_ptr_null(hp_library_function("libm.so.6", "hpcprof_none"));
}

HP_TEST_MAIN("base/library")
