/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths, kept in epochs. */
#include "../db_fixture.h"

#include "../../src/db/codec.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static char *directory;
static struct hp_db *db;

SETUP
{
	directory = temporary_directory();
	db = fixture_db(directory);
}

static void clear_paths(void *paths)
{
	hp_paths_clear(paths);
	free(paths);
}

static struct hp_paths *read_paths(const char *stamp)
{
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch = NULL;
	struct hp_paths *paths = calloc(1, sizeof(*paths));

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	hp_assert_ok(hp_epoch_read_paths(epoch, paths));
	hp_assert_ok(hp_paths_check(paths));
	at_end(clear_paths, paths);
	return paths;
}

/* An epoch with these paths of each command, one letter each. */
static char *epoch_of(const char *commands)
{
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, true);
	struct hp_epoch_writer *writer;
	char *stamp;

	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	for (; *commands; commands++) {
		const char command[2] = { *commands, 0 };
		_cleanup_(hp_paths_clear) struct hp_paths paths = fixture_paths(command);

		hp_assert_ok(hp_epoch_writer_paths(writer, &paths));
	}
	stamp = fixture_commit(writer, &meta);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

TEST(paths_come_back_as_they_were)
{
	struct hp_paths *paths = read_paths(epoch_of("a"));
	const struct hp_path_node *node = &paths->nodes.at[2];

	ck_assert_uint_eq(paths->images.count, 2);
	ck_assert_uint_eq(paths->series.count, 1);
	ck_assert_str_eq(paths->series.at[0].command, "a");
	ck_assert_uint_eq(paths->series.at[0].period, 1000000);
	ck_assert_uint_eq(hp_paths_samples(paths, "cpu-clock:u"), 311);
	/* The root, the caller, and below it both places where it was. */
	ck_assert_uint_eq(node->parent, 1);
	ck_assert_uint_eq(node->offset, 0x1179);
	ck_assert_uint_eq(node->flags, HP_PATH_EXACT);
	ck_assert_uint_eq(node->samples, 2);
	ck_assert_uint_eq(node[1].offset, 0x1180);
	ck_assert_uint_eq(node[1].samples, 300);
	/* Unknown callers come last. */
	ck_assert_uint_eq(node[2].flags, HP_PATH_TRUNCATED);
	ck_assert_uint_eq(node[2].folded, 4);
	ck_assert_uint_eq(node[4].samples, 5);
}

TEST(epochs_without_paths_have_no_file_of_them)
{
	char *stamp = fixture_epoch(db, NULL, 3);
	_cleanup_(hp_paths_clear) struct hp_paths empty = { 0 };
	struct hp_epoch_writer *writer;
	struct hp_paths *paths = read_paths(stamp);

	ck_assert_uint_eq(paths->nodes.count, 0);
	ck_assert(!fixture_exists(fixture_file(directory, stamp, "paths")));
	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_ok(hp_epoch_writer_paths(writer, &empty));
	hp_epoch_writer_destroy(writer);
	ck_assert(!fixture_exists(fixture_file(directory, stamp, "paths")));
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

TEST(added_paths_are_summed)
{
	struct hp_paths *paths = read_paths(epoch_of("aba"));

	ck_assert_uint_eq(paths->series.count, 2);
	ck_assert_uint_eq(hp_paths_samples(paths, NULL), 3 * 311);
	ck_assert_uint_eq(paths->nodes.at[3].samples, 600);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

TEST(paths_are_merged_to_the_same_bytes_in_any_order)
{
	char *parts[] = { epoch_of("cb"), epoch_of("a"), epoch_of("ac") };
	char *pair[2] = { parts[2], parts[1] };
	uint8_t *bytes[2];
	size_t sizes[2];
	char *all = fixture_merge(db, parts, 3, NULL);

	bytes[0] = fixture_read(fixture_file(directory, all, "paths"), &sizes[0]);
	pair[0] = fixture_merge(db, pair, 2, NULL);
	pair[1] = parts[0];
	all = fixture_merge(db, pair, 2, NULL);
	bytes[1] = fixture_read(fixture_file(directory, all, "paths"), &sizes[1]);
	ck_assert_uint_eq(sizes[0], sizes[1]);
	ck_assert_mem_eq(bytes[0], bytes[1], sizes[0]);
	ck_assert_uint_eq(hp_paths_samples(read_paths(all), NULL), 5 * 311);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	free(bytes[0]);
	free(bytes[1]);
}

TEST(damaged_paths_are_left_out_of_a_sum_that_says_so)
{
	char *stamps[] = { epoch_of("a"), epoch_of("b") };
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch = NULL;
	const char *path = fixture_file(directory, stamps[0], "paths");
	size_t size;
	uint8_t *bytes = fixture_read(path, &size);
	char *merged;
	char *const *warnings;
	bool is_said = false;

	bytes[size - 1] ^= 1;
	fixture_write(path, bytes, size);
	free(bytes);
	merged = fixture_merge(db, stamps, 2, NULL);
	ck_assert_uint_eq(hp_paths_samples(read_paths(merged), NULL), 311);
	hp_assert_ok(hp_epoch_open(db, merged, &epoch));
	for (warnings = hp_epoch_meta(epoch)->warnings; *warnings; warnings++)
		is_said = is_said ||
			  (strstr(*warnings, "call paths") && strstr(*warnings, stamps[0]));
	ck_assert(is_said);
}

/* Bytes of nodes; each row is the fixture's tree with a lie. */
static void decode_nodes(const char *nodes, size_t size, struct hp_error **error)
{
	static const char images[] = "\1\1\0\0\0\2/x";
	static const char series[] = "\1\1e\1c\0\0\0\0\1";
	struct hp_container_builder builder = { .kind = &hp_paths_kind };
	struct hp_paths paths;
	struct hp_writer file;

	hp_container_add(&builder, "imgs", HP_SECTION_REQUIRED, images, sizeof(images) - 1);
	hp_container_add(&builder, "sers", HP_SECTION_REQUIRED, series, sizeof(series) - 1);
	hp_container_add(&builder, "node", HP_SECTION_REQUIRED, nodes, size);
	hp_assert_ok(hp_container_finish(&builder, &file));
	*error = hp_paths_decode(file.bytes, file.size, &paths, NULL);
	hp_paths_clear(&paths);
}

TEST(there_is_one_way_to_write_a_tree)
{
#define NODES(text) (text), sizeof(text) - 1
	static const struct {
		const char *what;
		const char *nodes;
		size_t size;
	} rows[] = {
		{ NULL, NODES("\3\0\0\0\x40\1\4\7\1\x42\1\2\1") },
		{ "nodes out of order", NODES("\3\0\0\0\x40\1\4\7\1\x42\1\1\1") },
		{ "nodes out of order", NODES("\3\0\0\0\x40\1\4\7\1\x40\1\0\1") },
		{ "a node without samples", NODES("\3\0\0\0\0\1\4\1\x42\1\2\1") },
		{ "a node without samples", NODES("\2\0\0\0\2\1\4") },
		{ "the number of samples is out of range", NODES("\2\0\0\0\x42\1\4\0") },
		{ "the image of a node is out of range", NODES("\2\0\0\0\x42\2\4\1") },
		{ "an image without nodes", NODES("\2\0\0\0\x60\0\1") },
		{ "the level of a node is out of range", NODES("\2\0\0\3\x42\1\4\1") },
		{ "a root without a series", NODES("\3\0\0\0\x42\1\4\1\2\x40\1") },
		{ "a series without samples", NODES("\0") },
		{ "a node without an image", NODES("\2\0\0\0\x62\1\4\1") },
		{ "unknown callers with a caller", NODES("\3\0\0\0\x42\1\4\1\0\x50\0\1") },
		{ "9 nodes", NODES("\x9\0\0\0\x40\1\4\7") },
		{ "64 bits", NODES("\2\0\0\0\xc2\1\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1") },
	};
#undef NODES

	for (size_t i = 0; i < HP_ARRAY_COUNT(rows); i++) {
		struct hp_error *error;

		decode_nodes(rows[i].nodes, rows[i].size, &error);
		if (!rows[i].what) {
			hp_assert_ok(error);
			continue;
		}
		ck_assert_msg(error && error->class == HP_ERROR_DAMAGED &&
				      strstr(error->message, rows[i].what),
			      "%s: %s", rows[i].what, error ? error->message : "accepted");
		hp_error_destroy(error);
	}
}

TEST(a_path_has_no_more_levels_than_are_read)
{
	enum { LEVELS = HP_PATH_MOST_FRAMES + 3 };
	struct hp_writer nodes = { 0 };
	struct hp_error *error;

	hp_write_varint(&nodes, LEVELS);
	hp_write_bytes(&nodes, "\0\0", 2);
	for (int i = 0; i < LEVELS - 1; i++)
		hp_write_bytes(&nodes, "\0\x40\1\2\1", 5);
	decode_nodes((const char *)nodes.bytes, nodes.size, &error);
	hp_writer_free(&nodes);
	ck_assert(error && strstr(error->message, "too long"));
	hp_error_destroy(error);
}

HP_TEST_MAIN("db/paths")
