/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Removing old epochs and evidence, and what dead recorders left. */
#include "../db_fixture.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory;
static struct hp_db *db;

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

static struct hp_gc_result collect(struct hp_gc_options options)
{
	struct hp_gc_result result;

	hp_assert_ok(hp_db_gc(db, &options, &result));
	return result;
}

/* The file as it is in the epoch. */
static uint8_t *read_evidence(const char *stamp, size_t *size)
{
	uint8_t *bytes = fixture_read(fixture_file(directory, stamp, "evidence"), size);

	at_end(free, bytes);
	return bytes;
}

static char *counted_epoch(uint64_t recording)
{
	struct hp_window_evidence evidence = fixture_evidence(recording);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, true);
	struct hp_epoch_writer *writer;
	char *stamp;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_evidence(writer, &evidence));
	stamp = fixture_commit(writer, &meta);
	hp_window_evidence_clear(&evidence);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

TEST(what_windows_counted_is_merged_to_the_same_bytes_in_any_order)
{
	char *parts[] = { counted_epoch(5), counted_epoch(7), counted_epoch(5) };
	char *pair[2] = { parts[2], parts[1] };
	struct hp_window_evidence evidence;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	struct hp_error *lost;
	char *all;
	char *inner;
	uint8_t *bytes[2];
	size_t sizes[2];

	all = fixture_merge(db, parts, 3, NULL);
	inner = fixture_merge(db, pair, 2, NULL);
	pair[0] = inner;
	pair[1] = parts[0];
	bytes[0] = read_evidence(all, &sizes[0]);
	all = fixture_merge(db, pair, 2, NULL);
	bytes[1] = read_evidence(all, &sizes[1]);
	ck_assert_uint_eq(sizes[0], sizes[1]);
	ck_assert_mem_eq(bytes[0], bytes[1], sizes[0]);
	hp_assert_ok(hp_epoch_open(db, all, &epoch));
	hp_assert_ok(hp_epoch_read_evidence(epoch, &evidence, &lost));
	ck_assert_ptr_null(lost);
	/* Two parts are of one recording. */
	ck_assert_uint_eq(evidence.stratum_count, 2);
	ck_assert_uint_eq(evidence.strata[0].recording, 5);
	ck_assert_uint_eq(evidence.strata[0].time_ns, 6000000000);
	ck_assert_uint_eq(evidence.strata[0].items[0].counts[2], 600);
	ck_assert_uint_eq(evidence.strata[1].items[0].counts[2], 300);
	ck_assert_uint_eq(hp_window_evidence_counted(&evidence).windows, 9);
	ck_assert_uint_eq(hp_window_evidence_relative(&evidence).windows, 3);
	ck_assert_uint_eq(evidence.price.lost_ns, 4500000);
	ck_assert_uint_eq(evidence.price.beside_ns, 90000000);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	hp_window_evidence_clear(&evidence);
}

TEST(damaged_counts_are_left_out_of_a_sum_that_says_so)
{
	char *stamps[] = { counted_epoch(5), counted_epoch(7) };
	struct hp_window_evidence evidence;
	struct hp_epoch_summary *list;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	size_t count;
	char *merged;
	struct hp_error *lost;

	fixture_write(fixture_file(directory, stamps[0], "evidence"), "xxx", 3);
	hp_assert_ok(hp_db_list(db, &list, &count));
	ck_assert(list[0].is_evidence_damaged);
	ck_assert_ptr_null(list[0].problem);
	ck_assert(!list[1].is_evidence_damaged);
	ck_assert_uint_eq(list[1].windows.windows, 4);
	hp_db_free_list(list, count);
	merged = fixture_merge(db, stamps, 2, NULL);
	hp_assert_ok(hp_epoch_open(db, merged, &epoch));
	hp_assert_ok(hp_epoch_read_evidence(epoch, &evidence, &lost));
	ck_assert_ptr_null(lost);
	ck_assert_uint_eq(evidence.stratum_count, 1);
	ck_assert_ptr_nonnull(hp_epoch_meta(epoch)->warnings);
	hp_assert_contains(hp_epoch_meta(epoch)->warnings[0], "were damaged");
	hp_window_evidence_clear(&evidence);
}

TEST(gc_without_rules_removes_no_epoch)
{
	struct hp_gc_result result;

	fixture_epoch(db, NULL, 1);
	result = collect((struct hp_gc_options){ 0 });
	ck_assert_uint_eq(result.removed_count, 0);
	ck_assert_uint_eq(result.leftovers, 0);
	hp_gc_result_clear(&result);
	ck_assert_uint_eq(fixture_epoch_count(db), 1);
}

TEST(gc_keeps_the_newest_the_labelled_the_live_and_the_unreadable)
{
	char *unreadable = fixture_epoch(db, NULL, 1);
	char *old = fixture_epoch(db, NULL, 1);
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *live;
	struct hp_gc_result result;

	fixture_epoch(db, "base", 1);
	fixture_write(fixture_file(directory, unreadable, "meta"), "damaged", 7);
	hp_assert_ok(hp_epoch_create(db, NULL, &live));
	fixture_epoch(db, NULL, 1);
	result = collect((struct hp_gc_options){ .keep = 1, .dry_run = true });
	ck_assert_uint_eq(result.removed_count, 1);
	hp_gc_result_clear(&result);
	ck_assert_uint_eq(fixture_epoch_count(db), 5);
	result = collect((struct hp_gc_options){ .keep = 1 });
	ck_assert_uint_eq(result.removed_count, 1);
	ck_assert_str_eq(result.removed[0], old);
	ck_assert_uint_gt(result.freed_bytes, 0);
	hp_gc_result_clear(&result);
	ck_assert_uint_eq(fixture_epoch_count(db), 4);
}

TEST(gc_goes_by_age_and_by_size)
{
	struct hp_epoch_summary *epochs;
	struct hp_gc_result result;
	uint64_t two_newest;
	size_t count;

	for (int i = 0; i < 3; i++)
		fixture_epoch(db, NULL, 50);
	/* They ended in November 2025, says their meta. */
	result = collect((struct hp_gc_options){ .older_than_ns = UINT64_C(3600000000000) * 24 *
								  365 * 400 });
	ck_assert_uint_eq(result.removed_count, 0);
	hp_gc_result_clear(&result);
	hp_assert_ok(hp_db_list(db, &epochs, &count));
	two_newest = epochs[1].bytes + epochs[2].bytes;
	hp_db_free_list(epochs, count);
	result = collect((struct hp_gc_options){ .max_bytes = two_newest });
	ck_assert_uint_eq(result.removed_count, 1);
	hp_gc_result_clear(&result);
	result = collect((struct hp_gc_options){ .older_than_ns = 1, .keep = 1 });
	ck_assert_uint_eq(result.removed_count, 1);
	hp_gc_result_clear(&result);
	result = collect((struct hp_gc_options){ .older_than_ns = 1 });
	ck_assert_uint_eq(result.removed_count, 1);
	hp_gc_result_clear(&result);
	ck_assert_uint_eq(fixture_epoch_count(db), 0);
}

TEST(gc_removes_what_dead_recorders_left_and_not_what_live_ones_use)
{
	const char *path = fixture_path(directory, "db");
	char *stamp = fixture_epoch(db, NULL, 1);
	char *dead = kept(strdup(fixture_path(fixture_path(path, stamp), ".meta.tmp.0000abcd")));
	char *half = kept(strdup(fixture_path(path, ".new.tmp.00000001")));
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *writer;
	struct hp_gc_result result;
	char *used;

	fixture_write(dead, "half", 4);
	ck_assert_int_eq(mkdir(half, 0755), 0);
	fixture_write(fixture_path(half, "meta"), "half", 4);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	used = kept(strdup(fixture_path(fixture_path(path, hp_epoch_writer_stamp(writer)),
					".meta.tmp.0000abcd")));
	fixture_write(used, "half", 4);
	result = collect((struct hp_gc_options){ .dry_run = true });
	ck_assert_uint_eq(result.leftovers, 2);
	ck_assert_uint_eq(result.freed_bytes, 8);
	hp_gc_result_clear(&result);
	result = collect((struct hp_gc_options){ 0 });
	ck_assert_uint_eq(result.leftovers, 2);
	hp_gc_result_clear(&result);
	ck_assert(!fixture_exists(dead));
	ck_assert(!fixture_exists(half));
	ck_assert(fixture_exists(used));
}

HP_TEST_MAIN("db/gc")
