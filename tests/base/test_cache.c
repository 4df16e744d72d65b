/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cache.h>
#include <hpcprof/base/cleanup.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test is a process of its own: environment and working directory are its own, too. */
static void use_place(const char *variable)
{
	char path[] = "/var/tmp/hpcprof-cache-XXXXXX";

	umask(022);
	ck_assert_ptr_nonnull(mkdtemp(path));
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	setenv(variable, path, 1);
	ck_assert_int_eq(chdir(path), 0);
}

static void leave_place(void)
{
	_cleanup_free_ char *path = get_current_dir_name();
	_cleanup_free_ char *command = NULL;

	ck_assert_int_gt(asprintf(&command, "rm -rf '%s'", path), 0);
	ck_assert_int_eq(system(command), 0);
}

static void put(const char *text)
{
	hp_assert_ok(hp_cache_write("thing", text, strlen(text)));
}

static void assert_holds(const char *text)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	hp_assert_ok(hp_cache_read("thing", 100, &bytes, &size));
	ck_assert_uint_eq(size, strlen(text));
	ck_assert_str_eq((char *)bytes, text);
}

static void assert_refused(void)
{
	uint8_t *bytes = NULL;
	size_t size;
	struct hp_error *error = hp_cache_read("thing", 100, &bytes, &size);

	ck_assert_ptr_nonnull(error);
	ck_assert_ptr_null(bytes);
	hp_error_destroy(error);
}

TEST(what_was_written_is_read)
{
	use_place("XDG_CACHE_HOME");
	put("one");
	assert_holds("one");
	put("two");
	assert_holds("two");
	leave_place();
}

TEST(it_is_below_the_home_directory_where_nothing_else_is_said)
{
	struct stat status;

	use_place("HOME");
	put("one");
	assert_holds("one");
	ck_assert_int_eq(stat(".cache/hpcprof/thing", &status), 0);
	ck_assert_int_eq(stat(".cache/hpcprof", &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0700);
	leave_place();
}

TEST(a_relative_path_is_none)
{
	use_place("HOME");
	setenv("XDG_CACHE_HOME", "elsewhere", 1);
	put("one");
	ck_assert_int_eq(access("elsewhere", F_OK), -1);
	ck_assert_int_eq(access(".cache/hpcprof/thing", F_OK), 0);
	leave_place();
}

TEST(without_a_home_there_is_none)
{
	use_place("HOME");
	unsetenv("HOME");
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_cache_write("thing", "x", 1));
	assert_refused();
	leave_place();
}

TEST(what_was_never_written_is_not_found)
{
	uint8_t *bytes;
	size_t size;

	use_place("XDG_CACHE_HOME");
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_cache_read("thing", 100, &bytes, &size));
	leave_place();
}

TEST(a_link_in_place_of_the_directory_is_not_followed)
{
	use_place("XDG_CACHE_HOME");
	ck_assert_int_eq(mkdir("elsewhere", 0700), 0);
	ck_assert_int_eq(symlink("elsewhere", "hpcprof"), 0);
	hp_error_destroy(hp_cache_write("thing", "x", 1));
	ck_assert_int_eq(access("elsewhere/thing", F_OK), -1);
	leave_place();
}

TEST(a_link_in_place_of_the_file_is_replaced_and_never_read)
{
	use_place("XDG_CACHE_HOME");
	put("one");
	ck_assert_int_eq(rename("hpcprof/thing", "kept"), 0);
	ck_assert_int_eq(symlink("../kept", "hpcprof/thing"), 0);
	assert_refused();
	put("two");
	assert_holds("two");
	ck_assert_int_eq(rename("kept", "hpcprof/thing"), 0);
	assert_holds("one");
	leave_place();
}

TEST(what_others_could_have_written_is_not_believed)
{
	use_place("XDG_CACHE_HOME");
	put("one");
	ck_assert_int_eq(chmod("hpcprof/thing", 0666), 0);
	assert_refused();
	ck_assert_int_eq(chmod("hpcprof/thing", 0600), 0);
	assert_holds("one");
	ck_assert_int_eq(chmod("hpcprof", 0777), 0);
	assert_refused();
	hp_assert_fails(HP_ERROR_NOT_PERMITTED, hp_cache_write("thing", "x", 1));
	leave_place();
}

TEST(what_belongs_to_another_user_is_not_believed)
{
	use_place("XDG_CACHE_HOME");
	put("one");
	/* Only root can give files away. */
	if (geteuid() == 0) {
		ck_assert_int_eq(chown("hpcprof/thing", 65534, 65534), 0);
		assert_refused();
	}
	leave_place();
}

TEST(a_device_a_pipe_or_a_long_file_is_refused)
{
	char text[200];

	use_place("XDG_CACHE_HOME");
	put("one");
	ck_assert_int_eq(unlink("hpcprof/thing"), 0);
	ck_assert_int_eq(mkfifo("hpcprof/thing", 0600), 0);
	assert_refused();
	ck_assert_int_eq(unlink("hpcprof/thing"), 0);
	memset(text, 'x', sizeof(text));
	hp_assert_ok(hp_cache_write("thing", text, sizeof(text)));
	assert_refused();
	leave_place();
}

HP_TEST_MAIN("base/cache")
