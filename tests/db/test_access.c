/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may read a database, who may lock it, and what may stand where a file should. */
#include "../db_fixture.h"

#include <hpcprof/base/cleanup.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *directory;

SETUP
{
	directory = temporary_directory();
}

enum { NOBODY = 65534 };

static mode_t mode_of(const char *path)
{
	struct stat status;

	ck_assert_msg(lstat(path, &status) == 0, "%s: %s", path, strerror(errno));
	return status.st_mode & 07777;
}

/* Of every file of the epoch, but for the lock, which has one of its own. */
static void assert_modes(const char *stamp, mode_t files, mode_t epoch)
{
	struct fixture_names names =
		fixture_names(fixture_path(fixture_path(directory, "db"), stamp));

	ck_assert_uint_gt(names.count, 3);
	for (size_t i = 0; i < names.count; i++) {
		bool is_lock = strcmp(names.at[i], "lock") == 0;

		ck_assert_msg(mode_of(fixture_file(directory, stamp, names.at[i])) ==
				      (is_lock ? 0600 : files),
			      "%s: %o", names.at[i],
			      mode_of(fixture_file(directory, stamp, names.at[i])));
	}
	ck_assert_uint_eq(mode_of(fixture_path(fixture_path(directory, "db"), stamp)), epoch);
}

TEST(what_is_recorded_is_for_its_owner_alone)
{
	mode_t before = umask(022);
	struct hp_db *db = fixture_db(directory);
	char *stamp = fixture_rich_epoch(db);
	char *merged;

	hp_assert_ok(hp_db_label(db, stamp, "base"));
	assert_modes(stamp, 0600, 0700);
	merged = fixture_merge(db, &stamp, 1, NULL);
	assert_modes(merged, 0600, 0700);
	ck_assert_uint_eq(mode_of(fixture_path(directory, "db")), 0700);
	ck_assert_uint_eq(mode_of(fixture_path(fixture_path(directory, "db"), "hpcprof-db")), 0600);
	umask(before);
}

/* The umask keeps what it keeps elsewhere. */
TEST(a_database_that_was_opened_to_its_group_stays_open_to_it)
{
	mode_t before = umask(022);
	struct hp_db *db = fixture_db(directory);
	char *stamp;

	end_now(db);
	ck_assert_int_eq(chmod(fixture_path(directory, "db"), 0750), 0);
	ck_assert_int_eq(chmod(fixture_path(fixture_path(directory, "db"), "hpcprof-db"), 0640), 0);
	db = fixture_db(directory);
	stamp = fixture_rich_epoch(db);
	hp_assert_ok(hp_db_label(db, stamp, "base"));
	assert_modes(stamp, 0640, 0750);
	umask(077);
	stamp = fixture_rich_epoch(db);
	assert_modes(stamp, 0600, 0700);
	umask(before);
}

TEST(a_directory_that_all_may_write_to_is_shared_whoever_comes_first)
{
	const char *path = fixture_path(directory, "db");
	mode_t before = umask(077);
	struct hp_db *db;
	char *stamp;

	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(chmod(path, 01777), 0);
	db = fixture_db(directory);
	ck_assert_uint_eq(mode_of(fixture_path(path, "hpcprof-db")), 0644);
	umask(022);
	stamp = fixture_rich_epoch(db);
	assert_modes(stamp, 0644, 0755);
	umask(before);
}

/* An epoch of an older version, whose lock is for everybody to open. */
TEST(a_lock_of_a_reader_is_no_recording_and_is_the_last_one)
{
	struct hp_db *db = fixture_db(directory);
	char *stamp = fixture_epoch(db, NULL, 3);
	_cleanup_free_ char *lock = strdup(fixture_file(directory, stamp, "lock"));
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	struct hp_epoch_writer *writer;
	struct hp_epoch_summary *epochs;
	size_t count;
	int reader;

	ck_assert_uint_eq(mode_of(lock), 0600);
	ck_assert_int_eq(chmod(lock, 0644), 0);
	reader = open(lock, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(reader, 0);
	ck_assert_int_eq(fcntl(reader, F_OFD_SETLK, &all), 0);
	hp_assert_ok(hp_db_list(db, &epochs, &count));
	ck_assert(!epochs[0].recording);
	hp_db_free_list(epochs, count);
	hp_assert_says(HP_ERROR_USAGE, "locked by a process that does not write to it", NULL,
		       hp_db_remove(db, stamp));
	/* Nobody else comes in. */
	ck_assert_uint_eq(mode_of(lock), 0600);
	close(reader);
	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_says(HP_ERROR_USAGE, "is being recorded", NULL, hp_db_remove(db, stamp));
	hp_epoch_writer_destroy(writer);
	hp_assert_ok(hp_db_remove(db, stamp));
}

/* Locks of both kinds on all that somebody else can open of the epoch, until `until` is closed. */
static _Noreturn void hold_all_locks(const char *stamp, int ready, int until)
{
	struct fixture_names names =
		fixture_names(fixture_path(fixture_path(directory, "db"), stamp));
	struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	unsigned char locked = 0;
	char byte;

	if (setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
	for (size_t i = 0; i < names.count; i++) {
		int fd = open(fixture_file(directory, stamp, names.at[i]), O_RDONLY);

		if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &all) == 0 && flock(fd, LOCK_SH) == 0)
			locked++;
	}
	if (write(ready, &locked, 1) != 1)
		_exit(1);
	_exit(read(until, &byte, 1) == 0 ? 0 : 1);
}

TEST(no_reader_keeps_the_owner_from_an_epoch)
{
	mode_t before = umask(022);
	struct hp_epoch_writer *writer;
	unsigned char locked;
	struct hp_db *db;
	char *stamp;
	int ready[2];
	int until[2];
	int status;
	pid_t child;

	if (geteuid() != 0) {
		puts("# skipped: locks of other users: only root can be another user");
		fflush(stdout);
		return;
	}
	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(mkdir(fixture_path(directory, "db"), 0755), 0);
	db = fixture_db(directory);
	ck_assert_int_eq(chmod(fixture_path(fixture_path(directory, "db"), "hpcprof-db"), 0644), 0);
	end_now(db);
	db = fixture_db(directory);
	stamp = fixture_rich_epoch(db);
	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(until), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		close(until[1]);
		hold_all_locks(stamp, ready[1], until[0]);
	}
	ck_assert_int_eq(read(ready[0], &locked, 1), 1);
	/* They may read the profiles, so there is something that they have locked. */
	ck_assert_uint_gt(locked, 3);
	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_epoch_writer_destroy(writer);
	hp_assert_ok(hp_db_label(db, stamp, "mine"));
	hp_assert_ok(hp_db_remove(db, stamp));
	close(until[1]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(ready[0]);
	close(ready[1]);
	close(until[0]);
	umask(before);
}

/* As somebody who cannot open the lock: 1 is being recorded, 0 not; else what failed. */
static int look_as_reader(void)
{
	struct hp_epoch_summary *epochs;
	struct hp_db *db;
	size_t count;

	if (geteuid() == 0 && (setgid(NOBODY) || setuid(NOBODY)))
		return 2;
	if (hp_db_open(fixture_path(directory, "db"), false, &db) ||
	    hp_db_list(db, &epochs, &count) || count != 1 || epochs[0].problem)
		return 3;
	return epochs[0].recording;
}

static int ask_reader(void)
{
	pid_t child = fork();
	int status;

	ck_assert_int_ge(child, 0);
	if (!child)
		_exit(look_as_reader());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(who_may_not_open_the_lock_still_sees_a_recording)
{
	mode_t before = umask(022);
	struct hp_db *db;
	struct hp_epoch_writer *writer;
	_cleanup_(hp_profile_clear) struct hp_profile profile =
		fixture_flat_profile(1, "cpu-clock:u", 1000000, 2);
	_cleanup_free_ char *lock;

	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(mkdir(fixture_path(directory, "db"), 0755), 0);
	db = fixture_db(directory);
	ck_assert_int_eq(chmod(fixture_path(fixture_path(directory, "db"), "hpcprof-db"), 0644), 0);
	end_now(db);
	db = fixture_db(directory);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	lock = strdup(fixture_file(directory, hp_epoch_writer_stamp(writer), "lock"));
	if (geteuid() != 0)
		ck_assert_int_eq(chmod(lock, 0), 0);
	ck_assert_int_eq(ask_reader(), 1);
	hp_epoch_writer_destroy(writer);
	ck_assert_int_eq(ask_reader(), 0);
	umask(before);
}

/* --- not a file ---------------------------------------------------------------------------- */

static bool is_needed_to_read(const char *name)
{
	size_t length = strlen(name);

	return strcmp(name, "meta") == 0 || strcmp(name, "images") == 0 ||
	       (length > 5 && strcmp(name + length - 5, ".prof") == 0);
}

/* Damage, and not a failure of the machine: and verify goes on to the epoch behind it. */
static void assert_named(struct hp_db *db, char *stamp, const char *name)
{
	char problem[1024];
	struct hp_epoch *epoch;
	struct hp_epoch_writer *writer;

	ck_assert_msg(fixture_verify(db, problem, sizeof(problem)) > 0, "%s", name);
	ck_assert_msg(strstr(problem, name) && strstr(problem, stamp), "%s: %s", name, problem);
	if (is_needed_to_read(name))
		hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_open(db, stamp, &epoch));
	if (strcmp(name, "lock") == 0)
		hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_append(db, stamp, &writer));
}

TEST(whatever_stands_in_the_place_of_a_file_is_damage)
{
	struct hp_db *db = fixture_db(directory);
	char *stamp = fixture_rich_epoch(db);
	struct fixture_names names =
		fixture_names(fixture_path(fixture_path(directory, "db"), stamp));

	for (size_t i = 0; i < names.count; i++) {
		char *path = strdup(fixture_file(directory, stamp, names.at[i]));
		char *kept = strdup(fixture_path(directory, "kept"));

		ck_assert_int_eq(rename(path, kept), 0);
		ck_assert_int_eq(mkdir(path, 0755), 0);
		assert_named(db, stamp, names.at[i]);
		ck_assert_int_eq(rmdir(path), 0);
		ck_assert_int_eq(mkfifo(path, 0644), 0);
		assert_named(db, stamp, names.at[i]);
		ck_assert_int_eq(rename(kept, path), 0);
		free(kept);
		free(path);
	}
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

/* Each file for itself: so one that is damaged as well is named, too. */
TEST(without_a_description_all_other_files_are_verified)
{
	static const char *const others[] = { "evidence", ".prof", ".sym" };
	struct hp_db *db = fixture_db(directory);
	char *stamp = fixture_rich_epoch(db);
	struct fixture_names names =
		fixture_names(fixture_path(fixture_path(directory, "db"), stamp));
	size_t damaged = 0;

	ck_assert_int_eq(remove(fixture_file(directory, stamp, "meta")), 0);
	ck_assert_int_eq(mkdir(fixture_file(directory, stamp, "meta"), 0755), 0);
	for (size_t i = 0; i < names.count; i++)
		for (size_t j = 0; j < HP_ARRAY_COUNT(others); j++)
			if (strstr(names.at[i], others[j])) {
				fixture_write(fixture_file(directory, stamp, names.at[i]), "x", 1);
				damaged++;
			}
	ck_assert_uint_eq(damaged, 8);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 1 + damaged);
}

TEST(verify_goes_on_behind_an_epoch_that_is_none)
{
	char none[] = "20200101T000000Z-1";
	struct hp_db *db = fixture_db(directory);
	char *bad = fixture_epoch(db, NULL, 3);
	struct hp_verifying verifying = { 0 };
	char *stamps[] = { none, bad };

	fixture_write(fixture_path(fixture_path(directory, "db"), none), "", 0);
	fixture_write(fixture_file(directory, bad, "foreign"), "", 0);
	hp_assert_ok(hp_db_verify(db, stamps, 2, &verifying));
	ck_assert_uint_eq(verifying.counts[HP_VERIFY_PROBLEM], 2);
}

static int verify_as_reader(char *stamp)
{
	struct hp_verifying verifying = { 0 };
	struct hp_db *db;

	if (geteuid() == 0 && (setgid(NOBODY) || setuid(NOBODY)))
		return 2;
	if (hp_db_open(fixture_path(directory, "db"), false, &db) ||
	    hp_db_verify(db, &stamp, 1, &verifying))
		return 3;
	return verifying.counts[HP_VERIFY_PROBLEM] == 0 && verifying.counts[HP_VERIFY_UNREAD] > 0;
}

TEST(what_one_may_not_read_is_no_damage)
{
	mode_t before = umask(022);
	struct hp_db *db;
	char *stamp;
	int status;
	pid_t child;

	ck_assert_int_eq(chmod(directory, 0755), 0);
	ck_assert_int_eq(mkdir(fixture_path(directory, "db"), 0755), 0);
	db = fixture_db(directory);
	ck_assert_int_eq(chmod(fixture_path(fixture_path(directory, "db"), "hpcprof-db"), 0644), 0);
	stamp = fixture_epoch(db, NULL, 3);
	if (geteuid() != 0)
		ck_assert_int_eq(chmod(fixture_file(directory, stamp, "meta"), 0), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		_exit(verify_as_reader(stamp));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(WEXITSTATUS(status), 1);
	umask(before);
}

HP_TEST_MAIN("db/access")
