/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A disk that fills up: what was flushed stays, nothing half written is left. */
#include "../db_fixture.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	bool written = file && fputs(text, file) >= 0;

	return file && fclose(file) == 0 && written;
}

/* Who may not mount may do so as the root of a user namespace, in which we stay who we are. */
static bool enter_user_namespace(void)
{
	unsigned uid = getuid();
	unsigned gid = getgid();
	char map[64];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!write_text("/proc/self/uid_map", map) || !write_text("/proc/self/setgroups", "deny"))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return write_text("/proc/self/gid_map", map);
}

/* A small disk of our own, in a mount namespace that ends with this process. */
static bool mount_small_disk(const char *directory)
{
	if (unshare(CLONE_NEWNS) < 0 && !enter_user_namespace())
		return false;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	return mount("none", directory, "tmpfs", 0, "size=96k") == 0;
}

static bool can_mount(void)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0)
		_exit(mount_small_disk(P_tmpdir) ? 0 : 1);
	waitpid(child, &status, 0);
	return status == 0;
}

static size_t hidden_files(const char *path)
{
	DIR *stream = opendir(path);
	const struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(stream)))
		count += strstr(entry->d_name, ".tmp.") != NULL;
	closedir(stream);
	return count;
}

TEST(a_full_disk_costs_nothing_that_was_flushed)
{
	char *directory = temporary_directory();
	struct hp_random random = hp_random_seeded(28);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, false);
	struct hp_epoch_writer *writer;
	struct hp_error *error = NULL;
	struct hp_epoch *epoch;
	struct hp_db *db;
	uint64_t flushed = 0;
	char *stamp;

	ck_assert(mount_small_disk(directory));
	db = fixture_db(directory);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	stamp = strdup(hp_epoch_writer_stamp(writer));
	for (unsigned image = 1; !error; image++) {
		struct hp_profile profile = fixture_profile(&random, image, "cpu-clock:u");

		error = hp_epoch_writer_add(writer, &profile);
		if (!error)
			fixture_count(&meta.events[0], &profile);
		if (!error)
			error = hp_epoch_writer_commit(writer, &meta);
		if (!error)
			flushed = meta.events[0].samples;
		hp_profile_clear(&profile);
	}
	ck_assert_int_eq(error->errno_value, ENOSPC);
	hp_error_destroy(error);
	ck_assert_uint_gt(flushed, 0);
	ck_assert_uint_eq(hidden_files(fixture_path(fixture_path(directory, "db"), stamp)), 0);
	hp_epoch_writer_destroy(writer);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert_uint_ge(hp_epoch_meta(epoch)->events[0].samples, flushed);
	hp_epoch_close(epoch);
	/* A new epoch does not fit, and leaves nothing behind either. */
	error = hp_epoch_create(db, NULL, &writer);
	if (error) {
		ck_assert_int_eq(error->errno_value, ENOSPC);
		hp_error_destroy(error);
		ck_assert_uint_eq(hidden_files(fixture_path(directory, "db")), 0);
	} else {
		hp_epoch_writer_destroy(writer);
	}
	/* Removing still works. */
	hp_assert_ok(hp_db_remove(db, stamp));
	hp_epoch_meta_clear(&meta);
	free(stamp);
	end_now(db);
	ck_assert_int_eq(umount(directory), 0);
}

TEST(a_flush_that_failed_can_be_tried_again)
{
	char *directory = temporary_directory();
	struct hp_profile profile = fixture_flat_profile(1, "cpu-clock:u", 1000000, 100);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 100, true);
	char *ballast = NULL;
	struct hp_epoch_writer *writer;
	struct hp_error *error;
	FILE *file;
	struct hp_db *db;

	ck_assert(mount_small_disk(directory));
	db = fixture_db(directory);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	ballast = strdup(fixture_path(directory, "ballast"));
	file = fopen(ballast, "w");
	setvbuf(file, NULL, _IONBF, 0);
	while (putc('x', file) != EOF)
		;
	fclose(file);
	error = hp_epoch_writer_add(writer, &profile);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq(error->errno_value, ENOSPC);
	hp_error_destroy(error);
	ck_assert_int_eq(remove(ballast), 0);
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	hp_profile_clear(&profile);
	hp_epoch_meta_clear(&meta);
	free(ballast);
	end_now(db);
	ck_assert_int_eq(umount(directory), 0);
}

HP_TEST_MAIN_UNLESS(can_mount() ? NULL
				: "no tmpfs can be mounted here, not even in a user namespace",
		    "db/full_disk")
