/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A directory of the test's own, opened. */
struct place {
	char *path;
	int fd;
};

static struct place make_place(void)
{
	struct place place = { .path = temporary_directory() };

	place.fd = open(place.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(place.fd, 0);
	return place;
}

/* Calls `each` (or only counts) for what is in the place. */
static size_t entries(struct place *place, void (*each)(struct place *, const char *))
{
	DIR *directory = opendir(place->path);
	struct dirent *entry;
	size_t count = 0;

	ck_assert_ptr_nonnull(directory);
	while ((entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		count++;
		if (each)
			each(place, entry->d_name);
	}
	closedir(directory);
	return count;
}

static void put(struct place *place, const char *name, const char *text)
{
	hp_assert_ok(hp_file_replace(place->fd, name, text, strlen(text), 0644));
}

static void assert_holds(struct place *place, const char *name, const char *text)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	hp_assert_ok(hp_file_read_at(place->fd, name, 1 << 20, &bytes, &size));
	ck_assert_uint_eq(size, strlen(text));
	ck_assert_str_eq((char *)bytes, text);
}

TEST(what_was_written_reads_back)
{
	struct place place = make_place();

	put(&place, "a", "");
	assert_holds(&place, "a", "");
	put(&place, "a", "first");
	put(&place, "a", "second, longer");
	assert_holds(&place, "a", "second, longer");
	put(&place, "a", "3");
	assert_holds(&place, "a", "3");
	ck_assert_uint_eq(entries(&place, NULL), 1);
	hp_assert_ok(hp_file_sync_directory(place.fd));
}

TEST(a_file_at_the_limit_is_read_and_one_byte_more_is_refused)
{
	struct place place = make_place();
	uint8_t *bytes;
	size_t size;

	put(&place, "a", "12345678");
	hp_assert_ok(hp_file_read_at(place.fd, "a", 8, &bytes, &size));
	ck_assert_uint_eq(size, 8);
	ck_assert_uint_eq(bytes[8], 0);
	free(bytes);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_file_read_at(place.fd, "a", 7, &bytes, &size));
}

TEST(a_file_that_does_not_say_its_size_is_held_to_the_limit_too)
{
	_cleanup_close_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	struct stat status;
	_cleanup_free_ uint8_t *bytes;
	size_t size;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &status), 0);
	ck_assert_int_eq(status.st_size, 0);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_file_read_fd(fd, 100, &bytes, &size));
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	hp_assert_ok(hp_file_read_fd(fd, 1 << 20, &bytes, &size));
	ck_assert_uint_gt(size, 100);
	hp_assert_contains((char *)bytes, "VmRSS:");
}

TEST(a_file_longer_than_one_read_arrives_whole)
{
	enum { SIZE = 300000 };
	struct place place = make_place();
	_cleanup_free_ uint8_t *written = malloc(SIZE);
	_cleanup_free_ uint8_t *bytes = NULL;
	struct hp_random random = hp_random_seeded(SIZE);
	size_t size;

	for (size_t i = 0; i < SIZE; i++)
		written[i] = (uint8_t)hp_random_next(&random);
	hp_assert_ok(hp_file_replace(place.fd, "big", written, SIZE, 0644));
	hp_assert_ok(hp_file_read_at(place.fd, "big", SIZE, &bytes, &size));
	ck_assert_uint_eq(size, SIZE);
	ck_assert(memcmp(bytes, written, SIZE) == 0);
}

TEST(a_symbolic_link_is_not_read_through)
{
	struct place place = make_place();
	uint8_t *bytes;
	size_t size;

	put(&place, "target", "secret");
	ck_assert_int_eq(symlinkat("target", place.fd, "link"), 0);
	hp_assert_fails(HP_ERROR_SYSTEM, hp_file_read_at(place.fd, "link", 100, &bytes, &size));
}

TEST(a_symbolic_link_is_replaced_and_not_written_through)
{
	struct place place = make_place();
	struct stat status;

	put(&place, "target", "precious");
	ck_assert_int_eq(symlinkat("target", place.fd, "link"), 0);
	put(&place, "link", "new");
	assert_holds(&place, "target", "precious");
	assert_holds(&place, "link", "new");
	ck_assert_int_eq(fstatat(place.fd, "link", &status, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert(S_ISREG(status.st_mode));
}

TEST(a_directory_is_neither_read_nor_replaced)
{
	struct place place = make_place();
	struct hp_error *error;
	uint8_t *bytes;
	size_t size;

	ck_assert_int_eq(mkdirat(place.fd, "d", 0755), 0);
	error = hp_file_read_at(place.fd, "d", 100, &bytes, &size);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->errno_value, EISDIR);
	hp_assert_contains(error->message, "d: ");
	hp_error_destroy(error);
	error = hp_file_replace(place.fd, "d", "x", 1, 0644);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->errno_value, EISDIR);
	hp_error_destroy(error);
	/* Nothing is left behind. */
	ck_assert_uint_eq(entries(&place, NULL), 1);
}

TEST(a_missing_file_is_not_found)
{
	struct place place = make_place();
	uint8_t *bytes;
	size_t size;
	char *text;

	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_file_read_at(place.fd, "no", 9, &bytes, &size));
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_file_read_text("/proc/self/no such file", &text));
	ck_assert_ptr_null(hp_file_text("/proc/%d/no such file", (int)getpid()));
}

TEST(a_small_file_is_text_without_its_last_newline)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/%s", (int)getpid(), "status");

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(strncmp(text, "Name:\t", 6), 0);
	ck_assert_int_ne(text[strlen(text) - 1], '\n');
}

TEST(the_mode_of_a_new_file_follows_the_umask)
{
	struct place place = make_place();
	mode_t before = umask(0027);
	struct stat status;

	put(&place, "a", "x");
	umask(before);
	ck_assert_int_eq(fstatat(place.fd, "a", &status, 0), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0640);
}

TEST(a_write_that_fails_leaves_the_old_contents_and_nothing_else)
{
	struct rlimit before;
	struct place place = make_place();
	static const char big[100000];
	struct hp_error *error;

	put(&place, "a", "old");
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	/* A full disk, as far as write(2) can tell: some bytes go in, then no more. */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 4096, before.rlim_max }), 0);
	error = hp_file_replace(place.fd, "a", big, sizeof(big), 0644);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->errno_value, EFBIG);
	hp_assert_contains(error->message, "writing a");
	hp_error_destroy(error);
	assert_holds(&place, "a", "old");
	ck_assert_uint_eq(entries(&place, NULL), 1);
}

enum { WHOLE = 64 << 10 };

static void replace_for_ever(int directory)
{
	static char contents[WHOLE];

	for (unsigned int i = 0;; i++) {
		memset(contents, 'a' + (int)(i % 26), sizeof(contents));
		if (hp_file_replace(directory, "f", contents, sizeof(contents), 0644))
			_exit(1);
	}
}

static void assert_whole(struct place *place)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t size;

	hp_assert_ok(hp_file_read_at(place->fd, "f", WHOLE, &bytes, &size));
	ck_assert_uint_eq(size, WHOLE);
	/* All alike. (An assertion each would be a message each to the test's parent.) */
	ck_assert_int_eq(memcmp(bytes, bytes + 1, WHOLE - 1), 0);
}

static void assert_ours_or_temporary(struct place *place, const char *name)
{
	(void)place;
	ck_assert_msg(strcmp(name, "f") == 0 || hp_file_is_temporary(name), "%s", name);
}

TEST(readers_see_old_or_new_contents_even_when_the_writer_is_killed)
{
	struct place place = make_place();
	static const char first[WHOLE] = { 0 };

	hp_assert_ok(hp_file_replace(place.fd, "f", first, sizeof(first), 0644));
	for (int kills = 0; kills < 20; kills++) {
		pid_t writer = fork();

		if (writer == 0)
			replace_for_ever(place.fd);
		ck_assert_int_gt(writer, 0);
		for (int reads = 0; reads < 10 + kills; reads++)
			assert_whole(&place);
		ck_assert_int_eq(kill(writer, SIGKILL), 0);
		ck_assert_int_eq(waitpid(writer, NULL, 0), writer);
		assert_whole(&place);
	}
	entries(&place, assert_ours_or_temporary);
}

TEST(only_names_that_replacing_makes_are_temporary)
{
	static const char *const temporary[] = { ".meta.tmp.0123abcd", ".a.tmp.00000000" };
	static const char *const others[] = { "meta", ".meta", "meta.tmp.0123abcd", ".", "..",
					      ".tmp", "" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(temporary); i++)
		ck_assert_msg(hp_file_is_temporary(temporary[i]), "%s", temporary[i]);
	for (size_t i = 0; i < HP_ARRAY_COUNT(others); i++)
		ck_assert_msg(!hp_file_is_temporary(others[i]), "%s", others[i]);
}

TEST(numbers_and_texts_of_proc_lose_their_newline)
{
	struct place place = make_place();
	char path[128];
	int64_t value;
	char *text;

	put(&place, "n", "-12\n");
	snprintf(path, sizeof(path), "%s/n", place.path);
	hp_assert_ok(hp_file_read_number(path, &value));
	ck_assert_int_eq(value, -12);
	hp_assert_ok(hp_file_read_text(path, &text));
	ck_assert_str_eq(text, "-12");
	free(text);
	put(&place, "n", "12 13\n");
	hp_assert_fails(HP_ERROR_DAMAGED, hp_file_read_number(path, &value));
	put(&place, "n", "");
	hp_assert_fails(HP_ERROR_DAMAGED, hp_file_read_number(path, &value));
}

/* How many of them this process has in memory. */
static size_t resident(const uint8_t *bytes, size_t pages)
{
	_cleanup_close_ int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t count = 0;

	ck_assert_int_ge(fd, 0);
	for (size_t i = 0; i < pages; i++) {
		uint64_t entry;

		ck_assert_int_eq(pread(fd, &entry, sizeof(entry),
				       (off_t)(((uintptr_t)bytes / 4096 + i) * sizeof(entry))),
				 sizeof(entry));
		count += entry >> 63;
	}
	return count;
}

TEST(pages_of_a_file_are_given_back_and_what_was_written_stays)
{
	enum { PAGES = 1500, WRITTEN = 700 };
	struct place place = make_place();
	_cleanup_free_ char *text = malloc(PAGES * 4096 + 1);
	_cleanup_free_ uint8_t *own = malloc(PAGES * 4096);
	_cleanup_close_ int fd = -1;
	uint8_t *mapped;

	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(own);
	memset(text, 'f', PAGES * 4096);
	text[PAGES * 4096] = 0;
	memset(own, 'o', PAGES * 4096);
	put(&place, "file", text);
	fd = openat(place.fd, "file", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	mapped = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(mapped, MAP_FAILED);
	ck_assert_mem_eq(mapped, text, PAGES * 4096);
	mapped[WRITTEN * 4096 + 5] = 'w';
	ck_assert_uint_gt(resident(mapped, PAGES), PAGES / 2);
	hp_file_forget_pages(mapped, PAGES * 4096);
	ck_assert_uint_eq(resident(mapped, PAGES), 1);
	ck_assert_int_eq(mapped[WRITTEN * 4096 + 5], 'w');
	ck_assert_int_eq(mapped[PAGES * 4096 - 1], 'f');
	/* No file is behind these. */
	hp_file_forget_pages(own, PAGES * 4096);
	for (size_t i = 0; i < PAGES * 4096; i++)
		ck_assert_int_eq(own[i], 'o');
	munmap(mapped, PAGES * 4096);
}

HP_TEST_MAIN("base/file")
