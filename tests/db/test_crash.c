/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whoever dies whenever: the epoch verifies, and holds everything up to the last flush. */
#include "../db_fixture.h"

#include <hpcprof/base/cleanup.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *directory;
static struct hp_db *db;

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

enum { ROUNDS = 50, IMAGES = 3 };

/* What the child has been promised to be on disk. */
struct promised {
	volatile uint64_t samples;
	volatile bool has_epoch;
	char stamp[64];
};

static struct promised *share(void)
{
	struct promised *promised = mmap(NULL, sizeof(*promised), PROT_READ | PROT_WRITE,
					 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(promised, MAP_FAILED);
	return promised;
}

/* Flushes until it is killed. */
static void record(unsigned seed, struct promised *promised)
{
	struct hp_random random = hp_random_seeded(seed);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, false);
	struct hp_epoch_writer *writer;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	snprintf(promised->stamp, sizeof(promised->stamp), "%s", hp_epoch_writer_stamp(writer));
	promised->has_epoch = true;
	for (;;) {
		for (unsigned image = 0; image < IMAGES; image++) {
			struct hp_profile profile = fixture_profile(&random, image, "cpu-clock:u");

			hp_assert_ok(hp_epoch_writer_add(writer, &profile));
			meta.events[0].samples += hp_profile_samples(&profile);
			meta.events[0].unattributed += image ? 0 : hp_profile_samples(&profile);
			hp_profile_clear(&profile);
		}
		hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
		promised->samples = meta.events[0].samples;
	}
}

static void pause_ns(uint64_t nanoseconds)
{
	struct timespec time = { (time_t)(nanoseconds / 1000000000),
				 (long)(nanoseconds % 1000000000) };

	nanosleep(&time, NULL);
}

static void assert_promise_kept(const struct promised *promised)
{
	char problem[512];
	struct hp_epoch *epoch;

	ck_assert_msg(fixture_verify(db, problem, sizeof(problem)) == 0, "%s", problem);
	if (!promised->has_epoch)
		return;
	hp_assert_ok(hp_epoch_open(db, promised->stamp, &epoch));
	ck_assert(!hp_epoch_meta(epoch)->complete);
	ck_assert(!hp_epoch_is_recording(epoch));
	ck_assert_uint_ge(hp_epoch_meta(epoch)->events[0].samples, promised->samples);
	hp_epoch_close(epoch);
}

TEST(a_recorder_killed_at_any_moment_loses_nothing_that_was_flushed)
{
	struct hp_random random = hp_random_seeded(9);
	struct promised *promised = share();
	struct hp_gc_options no_rules = { 0 };
	struct hp_gc_result result;

	for (unsigned round = 0; round < ROUNDS; round++) {
		pid_t child;
		int status;

		memset(promised, 0, sizeof(*promised));
		child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			record(round, promised);
			_exit(1);
		}
		pause_ns(hp_random_between(&random, 0, 20000000));
		ck_assert_int_eq(kill(child, SIGKILL), 0);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert(WIFSIGNALED(status));
		assert_promise_kept(promised);
	}
	/* And what they left half done goes. */
	hp_assert_ok(hp_db_gc(db, &no_rules, &result));
	hp_gc_result_clear(&result);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	hp_assert_ok(hp_db_gc(db, &no_rules, &result));
	ck_assert_uint_eq(result.leftovers, 0);
	hp_gc_result_clear(&result);
	munmap(promised, sizeof(*promised));
}

TEST(an_interrupted_epoch_can_be_appended_to_and_finished)
{
	struct hp_profile flushed = fixture_flat_profile(1, "cpu-clock:u", 1000000, 4);
	struct hp_profile unflushed = fixture_flat_profile(2, "cpu-clock:u", 1000000, 3);
	struct hp_profile unknown = fixture_flat_profile(1, "never-committed", 1, 9);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 4, false);
	struct hp_epoch_meta sum = fixture_meta("cpu-clock:u", 4, true);
	struct hp_epoch_writer *writer;
	struct hp_epoch *epoch;
	_cleanup_free_ char *stamp;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &flushed));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_assert_ok(hp_epoch_writer_add(writer, &unflushed));
	hp_assert_ok(hp_epoch_writer_add(writer, &unknown));
	stamp = strdup(hp_epoch_writer_stamp(writer));
	hp_epoch_writer_destroy(writer); /* died before its second commit */

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert_uint_eq(hp_epoch_image_count(epoch), 2);
	ck_assert_uint_eq(hp_epoch_meta(epoch)->events[0].samples, 7);
	hp_epoch_close(epoch);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);

	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &flushed));
	hp_assert_ok(hp_epoch_meta_add(&sum, hp_epoch_writer_previous(writer)));
	hp_assert_ok(hp_epoch_writer_commit(writer, &sum));
	hp_epoch_writer_destroy(writer);
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert_uint_eq(hp_epoch_meta(epoch)->event_count, 1);
	ck_assert_uint_eq(hp_epoch_meta(epoch)->events[0].samples, 11);
	hp_epoch_close(epoch);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	hp_profile_clear(&flushed);
	hp_profile_clear(&unflushed);
	hp_profile_clear(&unknown);
	hp_epoch_meta_clear(&meta);
	hp_epoch_meta_clear(&sum);
}

TEST(many_recorders_make_and_fill_one_database_at_once)
{
	enum { RECORDERS = 8, EPOCHS = 5 };
	struct hp_epoch_summary *epochs;
	pid_t children[RECORDERS];
	size_t count;

	/* Not made before: they race to make it, too. */
	directory = temporary_directory();
	for (int i = 0; i < RECORDERS; i++) {
		children[i] = fork();
		ck_assert_int_ge(children[i], 0);
		if (children[i] == 0) {
			struct hp_db *own = fixture_db(directory);

			for (int j = 0; j < EPOCHS; j++)
				fixture_epoch(own, NULL, 10);
			end_now(own);
			_exit(0);
		}
	}
	for (int i = 0; i < RECORDERS; i++) {
		int status;

		ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
		ck_assert_int_eq(status, 0);
	}
	db = fixture_db(directory);
	hp_assert_ok(hp_db_list(db, &epochs, &count));
	ck_assert_uint_eq(count, RECORDERS * EPOCHS);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(epochs[i].meta.events[0].samples, 10);
	hp_db_free_list(epochs, count);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

TEST(sweeping_and_listing_meanwhile_disturbs_no_recorder)
{
	struct hp_gc_options no_rules = { 0 };
	pid_t child = fork();
	int status = 0;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		for (int i = 0; i < 60; i++)
			fixture_epoch(db, NULL, 10);
		_exit(0);
	}
	while (waitpid(child, &status, WNOHANG) == 0) {
		struct hp_epoch_summary *epochs;
		struct hp_gc_result result;
		size_t count;

		hp_assert_ok(hp_db_gc(db, &no_rules, &result));
		ck_assert_uint_eq(result.removed_count, 0);
		hp_gc_result_clear(&result);
		hp_assert_ok(hp_db_list(db, &epochs, &count));
		for (size_t i = 0; i < count; i++)
			ck_assert_ptr_null(epochs[i].problem);
		hp_db_free_list(epochs, count);
		ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	}
	ck_assert_int_eq(status, 0);
}

TEST(a_reader_follows_a_recorder_without_false_alarms)
{
	struct promised *promised = share();
	uint64_t seen = 0;
	pid_t child;

	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		record(3, promised);
		_exit(1);
	}
	while (!promised->has_epoch)
		pause_ns(1000000);
	for (int i = 0; i < 100; i++) {
		struct hp_epoch *epoch;
		uint64_t flushed = promised->samples;

		hp_assert_ok(hp_epoch_open(db, promised->stamp, &epoch));
		ck_assert(hp_epoch_is_recording(epoch));
		ck_assert_uint_ge(hp_epoch_meta(epoch)->events[0].samples, flushed);
		ck_assert_uint_ge(hp_epoch_meta(epoch)->events[0].samples, seen);
		seen = hp_epoch_meta(epoch)->events[0].samples;
		hp_epoch_close(epoch);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	munmap(promised, sizeof(*promised));
}

HP_TEST_MAIN("db/crash")
