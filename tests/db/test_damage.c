/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whatever happens to the bytes, nobody gets a wrong number: a named error, with file and offset.
 */
#include "../db_fixture.h"

#include "../../src/db/codec.h"

#include <hpcprof/base/cleanup.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

static char *directory;
static struct hp_db *db;

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

/* But for the lock, which is empty. */
static struct fixture_names files_of(const char *stamp)
{
	struct fixture_names all =
		fixture_names(fixture_path(fixture_path(directory, "db"), stamp));
	struct fixture_names files = { .count = 0 };

	for (size_t i = 0; i < all.count; i++)
		if (strcmp(all.at[i], "lock") != 0)
			strcpy(files.at[files.count++], all.at[i]);
	return files;
}

static bool ends_with(const char *name, const char *suffix)
{
	size_t length = strlen(name);

	return length >= strlen(suffix) && strcmp(name + length - strlen(suffix), suffix) == 0;
}

static void assert_bodies_lost(struct hp_epoch *epoch)
{
	struct hp_symbol *symbols;
	bool are_whole;
	size_t count;
	struct hp_error *error = hp_epoch_read_symbols(epoch, 1, &symbols, &count, &are_whole);

	if (error) {
		hp_assert_fails(HP_ERROR_DAMAGED, error);
		return;
	}
	/* Names are not. */
	ck_assert(!are_whole);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(symbols[1].name, "__vdso_time");
	ck_assert_ptr_null(symbols[1].body);
	hp_symbols_free(symbols, count);
}

static void assert_layer_lost(struct hp_epoch *epoch)
{
	struct hp_excerpt excerpt;
	struct hp_error *lost;
	struct hp_error *error = hp_epoch_read_excerpt(epoch, 1, &excerpt, &lost);

	if (error) {
		hp_assert_fails(HP_ERROR_DAMAGED, error);
		return;
	}
	/* What is left is in order. */
	hp_assert_fails(HP_ERROR_DAMAGED, lost);
	hp_assert_ok(hp_excerpt_check(&excerpt));
	hp_excerpt_clear(&excerpt);
}

static void assert_evidence_lost(struct hp_epoch *epoch)
{
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	struct hp_error *lost;
	struct hp_error *error = hp_epoch_read_evidence(epoch, &evidence, &lost);

	hp_assert_fails(HP_ERROR_DAMAGED, error ? error : lost);
	ck_assert(!error || hp_window_evidence_is_empty(&evidence));
}

static void assert_paths_lost(struct hp_epoch *epoch)
{
	_cleanup_(hp_paths_clear) struct hp_paths paths;

	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_read_paths(epoch, &paths));
	ck_assert_uint_eq(paths.nodes.count + paths.images.count, 0);
}

static void assert_bytes_lost(struct hp_epoch *epoch)
{
	ck_assert_ptr_null(hp_epoch_bytes_path(epoch, 1));
}

/* Every way in which somebody meets the file `name` says what is wrong with it, and where. */
static void assert_noticed(const char *stamp, const char *name, const char *how)
{
	/* Of these the file, or a part of it, is lost, and nothing else is. */
	static const struct {
		const char *suffix;
		void (*assert_lost)(struct hp_epoch *epoch);
	} extras[] = { { ".sym", assert_bodies_lost },
		       { ".code", assert_layer_lost },
		       { ".bytes", assert_bytes_lost },
		       { "evidence", assert_evidence_lost },
		       { "paths", assert_paths_lost } };
	char problem[1024];
	char prefix[512];
	struct hp_epoch *epoch;
	size_t i = 0;

	ck_assert_msg(fixture_verify(db, problem, sizeof(problem)) > 0, "%s: %s: verify", name,
		      how);
	snprintf(prefix, sizeof(prefix), "%s/%s: offset 0x", stamp, name);
	ck_assert_msg(strncmp(problem, prefix, strlen(prefix)) == 0, "%s: %s: %s", name, how,
		      problem);
	while (i < HP_ARRAY_COUNT(extras) && !ends_with(name, extras[i].suffix))
		i++;
	if (i == HP_ARRAY_COUNT(extras)) {
		hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_open(db, stamp, &epoch));
		return;
	}
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	extras[i].assert_lost(epoch);
	hp_epoch_close(epoch);
}

/* The file `number` of an epoch. */
static uint8_t *read_one(const struct fixture_names *files, size_t number, const char *stamp,
			 char **path, size_t *size)
{
	*path = kept(strdup(fixture_file(directory, stamp, files->at[number])));
	return fixture_read(*path, size);
}

TEST(a_flip_of_any_byte_of_any_file_is_noticed)
{
	static const uint8_t masks[] = { 0x01, 0x80, 0xff };
	char *stamp = fixture_rich_epoch(db);
	struct fixture_names files = files_of(stamp);

	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	ck_assert_uint_eq(files.count,
			  13); /* meta, images, 6 profiles, names, bytes, evidence, paths */
	for (size_t i = 0; i < files.count; i++) {
		size_t size;
		char *path;
		_cleanup_free_ uint8_t *bytes = read_one(&files, i, stamp, &path, &size);

		for (size_t at = 0; at < size; at++) {
			const uint8_t mask = masks[at % HP_ARRAY_COUNT(masks)];
			char how[64];

			snprintf(how, sizeof(how), "byte %zu ^ 0x%02x", at, mask);
			bytes[at] ^= mask;
			fixture_write(path, bytes, size);
			assert_noticed(stamp, files.at[i], how);
			bytes[at] ^= mask;
		}
		fixture_write(path, bytes, size);
	}
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

TEST(a_file_of_any_other_length_is_noticed)
{
	char *stamp = fixture_rich_epoch(db);
	struct fixture_names files = files_of(stamp);

	for (size_t i = 0; i < files.count; i++) {
		size_t size;
		char *path;
		_cleanup_free_ uint8_t *bytes = read_one(&files, i, stamp, &path, &size);

		bytes[size] = 0;
		for (size_t length = 0; length <= size + 1; length++) {
			char how[64];

			if (length == size)
				continue;
			snprintf(how, sizeof(how), "cut to %zu of %zu", length, size);
			fixture_write(path, bytes, length);
			assert_noticed(stamp, files.at[i], how);
		}
		fixture_write(path, bytes, size);
	}
}

TEST(a_file_that_is_gone_is_noticed)
{
	char *stamp = fixture_rich_epoch(db);
	struct fixture_names files = files_of(stamp);

	for (size_t i = 0; i < files.count; i++) {
		size_t size;
		char *path;
		_cleanup_free_ uint8_t *bytes = read_one(&files, i, stamp, &path, &size);
		struct hp_epoch *epoch;

		/* Names are an extra: no rule says that an image has them. Nor that anything was
		 * counted, or called. */
		if (!ends_with(path, ".sym") && !ends_with(path, ".code") &&
		    !ends_with(path, "/evidence") && !ends_with(path, "/paths")) {
			ck_assert_int_eq(remove(path), 0);
			ck_assert_uint_gt(fixture_verify(db, NULL, 0), 0);
			if (!ends_with(path, ".bytes"))
				hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_open(db, stamp, &epoch));
			fixture_write(path, bytes, size);
		}
	}
}

TEST(two_profiles_that_changed_places_are_noticed)
{
	char *stamp = fixture_rich_epoch(db);
	struct fixture_names files = files_of(stamp);
	char *paths[2] = { NULL };
	size_t found = 0;
	struct hp_epoch *epoch;

	for (size_t i = 0; i < files.count && found < 2; i++) {
		if (ends_with(files.at[i], ".prof"))
			paths[found++] = kept(strdup(fixture_file(directory, stamp, files.at[i])));
	}
	ck_assert_int_eq(rename(paths[0], fixture_path(directory, "x")), 0);
	ck_assert_int_eq(rename(paths[1], paths[0]), 0);
	ck_assert_int_eq(rename(fixture_path(directory, "x"), paths[1]), 0);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_open(db, stamp, &epoch));
	ck_assert_uint_ge(fixture_verify(db, NULL, 0), 2);
}

TEST(a_stray_file_in_a_finished_epoch_is_noticed)
{
	static const char *const names[] = { "notes", "x.prof", "x.sym", "x.code", "x.bytes" };
	char *stamp = fixture_rich_epoch(db);

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		char *path = kept(strdup(fixture_file(directory, stamp, names[i])));

		fixture_write(path, "hello", 5);
		ck_assert_msg(fixture_verify(db, NULL, 0) == 1, "%s", names[i]);
		ck_assert_int_eq(remove(path), 0);
	}
}

TEST(any_flip_of_the_marker_shuts_the_database)
{
	_cleanup_free_ char *marker =
		strdup(fixture_path(fixture_path(directory, "db"), "hpcprof-db"));
	struct hp_db *again;
	size_t size;
	_cleanup_free_ uint8_t *bytes = fixture_read(marker, &size);

	end_now(db);
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 0x02;
		fixture_write(marker, bytes, size);
		hp_assert_fails(HP_ERROR_DAMAGED,
				hp_db_open(fixture_path(directory, "db"), true, &again));
		bytes[at] ^= 0x02;
	}
}

/* --- versions and sections ---------------------------------------------------------------- */

/* The file again with the section `tag` added, or with another version. */
static void rewrite(const char *path, const struct hp_container_kind *kind, const char *tag,
		    uint32_t flags, uint16_t version)
{
	struct hp_container_builder builder = { .kind = kind };
	_cleanup_(hp_container_clear) struct hp_container file;
	_cleanup_(hp_writer_free) struct hp_writer out;
	size_t size;
	uint8_t *bytes = fixture_read(path, &size);
	uLong crc;

	hp_assert_ok(hp_container_parse(bytes, size, kind, &file));
	for (size_t i = 0; i < file.section_count; i++)
		hp_container_copy(&builder, &file.sections[i]);
	if (tag)
		hp_container_add(&builder, tag, flags, "from the future", 15);
	hp_assert_ok(hp_container_finish(&builder, &out));
	out.bytes[8] = (uint8_t)version;
	crc = crc32(0, out.bytes, 20);
	crc = crc32(crc, out.bytes + 24, out.bytes[11] * 20u);
	for (int i = 0; i < 4; i++)
		out.bytes[20 + i] = (uint8_t)(crc >> (8 * i));
	fixture_write(path, out.bytes, out.size);
}

static char *profile_path(const char *stamp)
{
	struct fixture_names files = files_of(stamp);

	for (size_t i = 0; i < files.count; i++) {
		if (ends_with(files.at[i], ".prof"))
			return kept(strdup(fixture_file(directory, stamp, files.at[i])));
	}
	ck_abort_msg("no profile");
	return NULL;
}

TEST(what_is_required_from_the_future_is_refused)
{
	char *newer = fixture_rich_epoch(db), *larger = fixture_rich_epoch(db);
	struct hp_epoch *epoch;

	rewrite(profile_path(newer), &hp_profile_kind, NULL, 0, 2);
	hp_assert_says(HP_ERROR_DAMAGED, "version 2 is newer", "",
		       hp_epoch_open(db, newer, &epoch));
	rewrite(profile_path(larger), &hp_profile_kind, "call", HP_SECTION_REQUIRED, 1);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_open(db, larger, &epoch));
}

TEST(an_optional_section_from_the_future_is_ignored_but_not_lost)
{
	char *stamp = fixture_rich_epoch(db);
	char *profile = profile_path(stamp);
	char *meta = kept(strdup(fixture_file(directory, stamp, "meta")));
	struct hp_epoch_writer *writer;
	struct hp_container file;
	struct hp_epoch *epoch;
	size_t size;
	uint8_t *bytes;

	fixture_forget_sums(fixture_path(fixture_path(directory, "db"), stamp));
	rewrite(profile, &hp_profile_kind, "call", 0, 1);
	rewrite(meta, &hp_meta_kind, "futr", 0, 1);
	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	hp_epoch_close(epoch);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	hp_assert_ok(hp_db_label(db, stamp, "other"));
	bytes = fixture_read(meta, &size);
	hp_assert_ok(hp_container_parse(bytes, size, &hp_meta_kind, &file));
	ck_assert(file.has_unknown);
	hp_container_clear(&file);
	/* Who cannot carry it on must not write. */
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_append(db, stamp, &writer));
}

/* --- foreign things ----------------------------------------------------------------------- */

TEST(a_directory_with_foreign_files_is_refused)
{
	struct hp_db *foreign;

	fixture_write(fixture_path(directory, "thesis.tex"), "x", 1);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_db_open(directory, true, &foreign));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_db_open(directory, false, &foreign));
	ck_assert(!fixture_exists(fixture_path(directory, "hpcprof-db")));
}

TEST(a_missing_or_empty_directory_is_not_found_unless_created)
{
	const char *empty = temporary_directory();
	struct hp_db *new;

	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_db_open(empty, false, &new));
	hp_assert_fails(HP_ERROR_NOT_FOUND, hp_db_open(fixture_path(empty, "none"), false, &new));
	hp_assert_ok(hp_db_open(empty, true, &new));
	hp_db_close(new);
	hp_assert_ok(hp_db_open(empty, false, &new));
	hp_db_close(new);
}

TEST(no_symlink_is_followed_anywhere)
{
	char *stamp = fixture_rich_epoch(db);
	struct fixture_names files = files_of(stamp);
	char *link = kept(strdup(fixture_path(directory, "link")));
	char *epoch_link =
		kept(strdup(fixture_path(fixture_path(directory, "db"), "20200101T000000Z-1")));
	struct hp_epoch_writer *writer;
	struct hp_epoch *epoch;
	struct hp_db *other;

	ck_assert_int_eq(symlink("db", link), 0);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_db_open(link, true, &other));
	ck_assert_int_eq(symlink(stamp, epoch_link), 0);
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_open(db, "20200101T000000Z-1", &epoch));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_append(db, "20200101T000000Z-1", &writer));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_db_remove(db, "20200101T000000Z-1"));
	ck_assert_int_eq(remove(epoch_link), 0);
	for (size_t i = 0; i < files.count; i++) {
		char *path = kept(strdup(fixture_file(directory, stamp, files.at[i])));
		char *target = strdup(fixture_path(directory, "target"));

		ck_assert_int_eq(rename(path, target), 0);
		ck_assert_int_eq(symlink(target, path), 0);
		ck_assert_msg(fixture_verify(db, NULL, 0) > 0, "%s", files.at[i]);
		if (!ends_with(path, ".sym") && !ends_with(path, ".code") &&
		    !ends_with(path, ".bytes"))
			hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_append(db, stamp, &writer));
		ck_assert_int_eq(rename(target, path), 0);
		free(target);
	}
}

TEST(a_planted_symlink_is_not_written_through)
{
	struct hp_profile profile = fixture_flat_profile(1, "cpu-clock:u", 1, 3);
	char *victim = strdup(fixture_path(directory, "victim"));
	struct hp_epoch_writer *writer;
	struct fixture_names files;
	_cleanup_free_ char *stamp;
	char *path;
	uint8_t *bytes;
	size_t size;

	fixture_write(victim, "precious", 8);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	stamp = strdup(hp_epoch_writer_stamp(writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	files = files_of(stamp);
	for (size_t i = 0; i < files.count; i++) {
		path = kept(strdup(fixture_file(directory, stamp, files.at[i])));
		if (ends_with(path, ".prof")) {
			ck_assert_int_eq(remove(path), 0);
			ck_assert_int_eq(symlink(victim, path), 0);
		}
	}
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_writer_add(writer, &profile));
	bytes = fixture_read(victim, &size);
	ck_assert_uint_eq(size, 8);
	ck_assert_mem_eq(bytes, "precious", 8);
	free(bytes);
	hp_epoch_writer_destroy(writer);
	hp_profile_clear(&profile);
	free(victim);
}

HP_TEST_MAIN("db/damage")
