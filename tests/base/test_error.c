/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <errno.h>
#include <string.h>

TEST(context_is_put_in_front_on_the_way_up)
{
	struct hp_error *error = hp_error_create(HP_ERROR_DAMAGED, "varint runs past the end");

	error = hp_error_wrap(error, "record %d at offset %#x", 12, 0x40);
	error = hp_error_wrap(error, "reading profile %s", "X");
	ck_assert_str_eq(error->message, "reading profile X: record 12 at offset 0x40: "
					 "varint runs past the end");
	ck_assert_int_eq(error->class, HP_ERROR_DAMAGED);
	ck_assert_int_eq(error->errno_value, 0);
	ck_assert_ptr_null(error->advice);
	hp_error_destroy(error);
}

TEST(errno_decides_the_class_and_is_kept)
{
	static const struct {
		int errno_value;
		enum hp_error_class class;
	} cases[] = {
		{ EACCES, HP_ERROR_NOT_PERMITTED }, { EPERM, HP_ERROR_NOT_PERMITTED },
		{ ENOENT, HP_ERROR_NOT_FOUND },	    { ENOSPC, HP_ERROR_SYSTEM },
		{ EIO, HP_ERROR_SYSTEM },	    { ENOMEM, HP_ERROR_SYSTEM },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_error *error =
			hp_error_create_errno(cases[i].errno_value, "opening %s", "f");

		ck_assert_int_eq(error->class, cases[i].class);
		ck_assert_int_eq(error->errno_value, cases[i].errno_value);
		ck_assert(strncmp(error->message, "opening f: ", 11) == 0);
		ck_assert_str_eq(error->message + 11, strerror(cases[i].errno_value));
		hp_error_destroy(error);
	}
}

TEST(advice_survives_wrapping_and_the_last_one_counts)
{
	struct hp_error *error = hp_error_create(HP_ERROR_USAGE, "no");

	error = hp_error_advise(error, "first");
	error = hp_error_advise(error, "second %d", 2);
	error = hp_error_wrap(error, "asking");
	ck_assert_str_eq(error->advice, "second 2");
	ck_assert_str_eq(error->message, "asking: no");
	hp_error_destroy(error);
}

TEST(success_stays_success)
{
	ck_assert_ptr_null(hp_error_wrap(NULL, "context"));
	ck_assert_ptr_null(hp_error_advise(NULL, "advice"));
	hp_error_destroy(NULL);
}

TEST(being_out_of_memory_can_be_passed_around_like_any_error)
{
	struct hp_error *error = hp_error_create_no_memory();

	error = hp_error_wrap(error, "context");
	error = hp_error_advise(error, "advice");
	ck_assert_int_eq(error->class, HP_ERROR_SYSTEM);
	ck_assert_int_eq(error->errno_value, ENOMEM);
	ck_assert_str_eq(error->message, "out of memory");
	hp_error_destroy(error);
	hp_error_destroy(hp_error_create_no_memory());
}

HP_TEST_MAIN("base/error")
