/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "support.h"

#include <errno.h>
#include <ftw.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Of one program. */
enum { MOST_TESTS = 1024, MOST_FILES = 64 };
static const TTest *tests[MOST_TESTS];
static size_t test_count;

struct test_file {
	const char *path;
	void (*before_each)(void); /* NULL: nothing */
	int (*run)(void);
};
static struct test_file files[MOST_FILES];
static size_t file_count;

struct release {
	void (*release)(void *object);
	void *object;
	struct release *before;
};
static struct release *releases;

void hp_note(bool *is_noted, const char *file, int line)
{
	if (__atomic_load_n(is_noted, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(is_noted, true, __ATOMIC_RELAXED);
	_mark_point(file, line);
}

void hp_test_add(const TTest *test)
{
	if (test_count == MOST_TESTS)
		abort();
	tests[test_count++] = test;
}

static struct test_file *file_of(const char *path)
{
	for (size_t i = 0; i < file_count; i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	if (file_count == MOST_FILES)
		abort();
	files[file_count].path = path;
	return &files[file_count++];
}

void hp_test_set_up(const char *file, void (*set_up)(void))
{
	file_of(file)->before_each = set_up;
}

void hp_test_runs(const char *file, int (*run)(void))
{
	file_of(file)->run = run;
}

void at_end(void (*release)(void *object), void *object)
{
	struct release *latest = malloc(sizeof(*latest));

	ck_assert_ptr_nonnull(latest);
	*latest = (struct release){ release, object, releases };
	releases = latest;
}

char *kept(char *text)
{
	at_end(free, text);
	return text;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_directory(void *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(directory);
}

char *directory_in(const char *parent)
{
	char *directory;

	ck_assert_int_gt(asprintf(&directory, "%s/hpcprof-test-XXXXXX", parent), 0);
	ck_assert_msg(mkdtemp(directory) != NULL, "making %s", directory);
	at_end(remove_directory, directory);
	return directory;
}

/* Where the disk is not waited for, if there is much room, and programs may run there. */
static const char *in_memory(void)
{
	static const char path[] = "/dev/shm";
	const uint64_t room = UINT64_C(1) << 30;
	struct statvfs found;

	if (access(path, W_OK | X_OK) || statvfs(path, &found) || found.f_flag & ST_NOEXEC ||
	    (uint64_t)found.f_bavail * found.f_frsize < room)
		return NULL;
	return path;
}

char *temporary_directory(void)
{
	const char *parent = getenv("TMPDIR");

	if (!parent)
		parent = in_memory();
	return directory_in(parent ? parent : P_tmpdir);
}

static void release_one(struct release **at)
{
	struct release *release = *at;

	*at = release->before;
	release->release(release->object);
	free(release);
}

void end_now(void *object)
{
	struct release **at = &releases;

	while (*at && (*at)->object != object)
		at = &(*at)->before;
	ck_assert_ptr_nonnull(*at);
	release_one(at);
}

static void release_all(void)
{
	while (releases)
		release_one(&releases);
}

int hp_test_run(const char *file, const char *suite_name, const char *skip)
{
	void (*before_each)(void) = file_of(file)->before_each;
	Suite *suite;
	SRunner *runner;
	int failed;

	if (skip) {
		printf("1..0 # SKIP %s\n", skip);
		return EXIT_SUCCESS;
	}
	suite = suite_create(suite_name);
	for (size_t i = 0; i < test_count; i++) {
		TCase *one;

		if (strcmp(tests[i]->file, file) != 0)
			continue;
		one = tcase_create(tests[i]->name);
		tcase_set_timeout(one, HP_TEST_SECONDS);
		tcase_add_checked_fixture(one, before_each, release_all);
		tcase_add_test(one, tests[i]);
		suite_add_tcase(suite, one);
	}
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

static bool is_called_by(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t length = strlen(program_invocation_short_name);

	name = name ? name + 1 : path;
	return strncmp(name, program_invocation_short_name, length) == 0 &&
	       strcmp(name + length, ".c") == 0;
}

/* Weak: fuzz targets, which use fixtures, have their own. */
__attribute__((weak)) int main(void)
{
	for (size_t i = 0; i < file_count; i++)
		if (file_count == 1 || is_called_by(files[i].path))
			return files[i].run();
	fprintf(stderr, "%s: none of these tests\n", program_invocation_short_name);
	return EXIT_FAILURE;
}
