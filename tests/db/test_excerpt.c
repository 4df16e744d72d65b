/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Excerpts of files, kept in epochs. */
#include "../db_fixture.h"

#include "../../src/db/codec.h"
#include "../../src/db/names.h"

#include <hpcprof/base/cleanup.h>

#include <stdlib.h>
#include <string.h>

static struct hp_writer encode(const struct hp_excerpt *excerpt)
{
	struct hp_image_id image = fixture_image(1);
	struct hp_writer file;

	hp_assert_ok(hp_excerpt_encode(&image, excerpt, &file));
	hp_image_id_clear(&image);
	return file;
}

/* Equal excerpts have equal bytes, up to the order of words. */
static void assert_same(const struct hp_excerpt *a, const struct hp_excerpt *b)
{
	ck_assert_uint_eq(a->machine, b->machine);
	ck_assert_str_eq(a->origin, b->origin);
	ck_assert_uint_eq(a->compilers_size, b->compilers_size);
	ck_assert_uint_eq(a->segments.count, b->segments.count);
	ck_assert_uint_eq(a->texts.count, b->texts.count);
	ck_assert_uint_eq(a->parts.count, b->parts.count);
	for (size_t i = 0; i < a->parts.count; i++) {
		ck_assert_uint_eq(a->parts.at[i].address, b->parts.at[i].address);
		ck_assert_uint_eq(a->parts.at[i].size, b->parts.at[i].size);
		ck_assert_uint_eq(a->parts.at[i].owner, b->parts.at[i].owner);
		ck_assert_str_eq(a->parts.at[i].linkage, b->parts.at[i].linkage);
	}
	ck_assert_uint_eq(a->lines.count, b->lines.count);
	for (size_t i = 0; i < a->lines.count; i++) {
		const struct hp_excerpt_place *left = &a->places.at[a->lines.at[i].place];
		const struct hp_excerpt_place *right = &b->places.at[b->lines.at[i].place];

		ck_assert_uint_eq(a->lines.at[i].address, b->lines.at[i].address);
		ck_assert_uint_eq(a->lines.at[i].bytes, b->lines.at[i].bytes);
		ck_assert_uint_eq(left->line, right->line);
		ck_assert_str_eq(a->words.at[left->file], b->words.at[right->file]);
		ck_assert_uint_eq(left->outer == HP_EXCERPT_NONE, right->outer == HP_EXCERPT_NONE);
	}
	ck_assert_uint_eq(a->ranges.count, b->ranges.count);
	for (size_t i = 0; i < a->ranges.count; i++) {
		ck_assert_uint_eq(a->ranges.at[i].address, b->ranges.at[i].address);
		ck_assert_uint_eq(a->ranges.at[i].size, b->ranges.at[i].size);
		ck_assert_mem_eq(a->ranges.at[i].bytes, b->ranges.at[i].bytes,
				 a->ranges.at[i].size);
	}
	ck_assert_uint_eq(a->landings.count, b->landings.count);
	ck_assert_uint_eq(a->pointers.count, b->pointers.count);
	ck_assert_uint_eq(a->imports.count, b->imports.count);
}

TEST(excerpts_come_back_as_they_were)
{
	for (unsigned number = 0; number < 3; number++) {
		struct hp_excerpt excerpt = fixture_excerpt(number);
		struct hp_writer file = encode(&excerpt);
		struct hp_excerpt_file found;

		hp_assert_ok(hp_excerpt_decode(file.bytes, file.size, &found));
		ck_assert_ptr_null(found.lost);
		ck_assert(!found.has_unknown);
		assert_same(&excerpt, &found.excerpt);
		hp_excerpt_file_clear(&found);
		hp_excerpt_clear(&excerpt);
	}
}

TEST(sums_are_the_same_in_any_order)
{
	for (unsigned order = 0; order < 2; order++) {
		struct hp_excerpt whole = fixture_excerpt(2);
		struct hp_excerpt sum = fixture_excerpt(order);
		struct hp_excerpt more = fixture_excerpt(!order);

		hp_assert_ok(hp_excerpt_add(&sum, &more));
		assert_same(&whole, &sum);
		/* What is there already adds nothing. */
		hp_assert_ok(hp_excerpt_add(&sum, &whole));
		assert_same(&whole, &sum);
		hp_excerpt_clear(&sum);
		hp_assert_ok(hp_excerpt_add(&sum, &whole));
		assert_same(&whole, &sum);
		hp_excerpt_clear(&sum);
		hp_excerpt_clear(&more);
		hp_excerpt_clear(&whole);
	}
}

TEST(excerpts_of_two_files_are_not_added_up)
{
	struct hp_excerpt one = fixture_excerpt(0);
	struct hp_excerpt same = fixture_excerpt(0);
	_cleanup_(hp_excerpt_clear) struct hp_excerpt other = fixture_excerpt(1);

	other.segments.at[0].offset = 0x1000;
	hp_assert_fails(HP_ERROR_DAMAGED, hp_excerpt_add(&one, &other));
	assert_same(&same, &one);
	hp_excerpt_clear(&one);
	hp_excerpt_clear(&same);
}

/* --- damage ----------------------------------------------------------------------------------- */

/* The file with one bit of a section turned over. */
static void decode_damaged(const char *tag, struct hp_excerpt_file *found)
{
	_cleanup_(hp_excerpt_clear) struct hp_excerpt excerpt = fixture_excerpt(2);
	struct hp_writer file = encode(&excerpt);
	struct hp_container container;
	uint8_t *copy = malloc(file.size);
	size_t offset = 0;

	memcpy(copy, file.bytes, file.size);
	hp_assert_ok(hp_container_parse(copy, file.size, &hp_excerpt_kind, &container));
	for (size_t i = 0; i < container.section_count; i++)
		if (strcmp(container.sections[i].tag, tag) == 0)
			offset = container.sections[i].offset;
	hp_container_clear(&container);
	ck_assert_uint_gt(offset, 0);
	file.bytes[offset + 2] ^= 1;
	hp_assert_ok(hp_excerpt_decode(file.bytes, file.size, found));
	ck_assert_ptr_nonnull(found->lost);
	ck_assert_int_eq(found->lost->class, HP_ERROR_DAMAGED);
}

TEST(a_damaged_layer_is_lost_alone)
{
	struct hp_excerpt_file found;

	decode_damaged("code", &found);
	ck_assert_uint_eq(found.excerpt.parts.count, 2);
	ck_assert_uint_gt(found.excerpt.lines.count, 0);
	ck_assert_uint_eq(found.excerpt.ranges.count, 0);
	ck_assert_uint_eq(found.excerpt.imports.count, 0);
	hp_excerpt_file_clear(&found);

	decode_damaged("lin2", &found);
	ck_assert_uint_eq(found.excerpt.parts.count, 2);
	ck_assert_uint_eq(found.excerpt.lines.count, 0);
	ck_assert_uint_eq(found.excerpt.ranges.count, 2);
	hp_excerpt_file_clear(&found);

	/* Nothing says where the others belong. */
	decode_damaged("map ", &found);
	ck_assert(hp_excerpt_is_empty(&found.excerpt));
	ck_assert_uint_eq(found.excerpt.ranges.count, 0);
	hp_excerpt_file_clear(&found);
}

/* What each of these does to an excerpt is against the rules: it is neither written nor kept. */
static void overlap_parts(struct hp_excerpt *excerpt)
{
	excerpt->parts.at[0].size = 0x101;
}
static void empty_part(struct hp_excerpt *excerpt)
{
	excerpt->parts.at[0].size = 0;
}
static void overlap_segments(struct hp_excerpt *excerpt)
{
	ck_assert(hp_vector_push(&excerpt->segments, excerpt->segments.at[0]));
}
static void wrap_segment(struct hp_excerpt *excerpt)
{
	excerpt->segments.at[0].offset = UINT64_MAX - 1;
}
static void wrong_source(struct hp_excerpt *excerpt)
{
	excerpt->parts.at[0].source = 9;
}
static void plt_of_nothing(struct hp_excerpt *excerpt)
{
	excerpt->parts.at[0].source = HP_EXCERPT_PLT;
	free(excerpt->parts.at[0].linkage);
	excerpt->parts.at[0].linkage = strdup("plt");
}
static void missing_word(struct hp_excerpt *excerpt)
{
	excerpt->places.at[0].file = 1000;
}
static void inlined_into_itself(struct hp_excerpt *excerpt)
{
	excerpt->places.at[1].outer = 1;
}
static void missing_place(struct hp_excerpt *excerpt)
{
	excerpt->lines.at[0].place = 1000;
}
static void overlap_lines(struct hp_excerpt *excerpt)
{
	excerpt->lines.at[0].bytes = 3;
}
static void overlap_code(struct hp_excerpt *excerpt)
{
	excerpt->ranges.at[1].address = excerpt->ranges.at[0].address + 1;
}
static void unsorted_imports(struct hp_excerpt *excerpt)
{
	excerpt->imports.at[1].where = excerpt->imports.at[0].where;
}
static void unsorted_pointers(struct hp_excerpt *excerpt)
{
	excerpt->pointers.at[0].target = UINT64_MAX;
}
static void unsorted_landings(struct hp_excerpt *excerpt)
{
	excerpt->landings.at[0].start = UINT64_MAX;
}
static void too_deep(struct hp_excerpt *excerpt)
{
	for (uint32_t i = 0; i < HP_EXCERPT_DEEPEST + 1; i++) {
		struct hp_excerpt_place place = excerpt->places.at[excerpt->places.count - 1];

		place.outer = (uint32_t)excerpt->places.count - 1;
		ck_assert(hp_vector_push(&excerpt->places, place));
	}
}

TEST(excerpts_that_break_the_rules_are_not_written)
{
	static void (*const breaks[])(struct hp_excerpt * excerpt) = {
		overlap_parts,	   overlap_segments,  empty_part,   wrap_segment,
		wrong_source,	   plt_of_nothing,    missing_word, inlined_into_itself,
		missing_place,	   overlap_lines,     overlap_code, unsorted_imports,
		unsorted_pointers, unsorted_landings, too_deep,
	};
	_cleanup_(hp_image_id_clear) struct hp_image_id image = fixture_image(1);

	for (size_t i = 0; i < HP_ARRAY_COUNT(breaks); i++) {
		struct hp_excerpt excerpt = fixture_excerpt(2);
		struct hp_writer file;

		breaks[i](&excerpt);
		hp_assert_fails(HP_ERROR_DAMAGED, hp_excerpt_encode(&image, &excerpt, &file));
		hp_excerpt_clear(&excerpt);
	}
}

/* An excerpt with that section; but for "map " itself, of a map that is in order. */
static void decode_section(const char *tag, const char *bytes, size_t size,
			   struct hp_excerpt_file *found)
{
	struct hp_container_builder builder = { .kind = &hp_excerpt_kind };
	struct hp_image_id image = fixture_image(1);
	struct hp_writer key = { 0 };
	struct hp_writer file;

	hp_image_encode(&image, 0, &key);
	hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key.bytes, key.size);
	if (strcmp(tag, "map ") != 0)
		hp_container_add(&builder, "map ", 0, "\x3e\0\0\0\0\0\0", 7);
	hp_container_add(&builder, tag, 0, bytes, size);
	hp_assert_ok(hp_container_finish(&builder, &file));
	hp_assert_ok(hp_excerpt_decode(file.bytes, file.size, found));
	hp_writer_free(&key);
	hp_image_id_clear(&image);
}

/* Few bytes that claim to be many entries, or to run past 64 bits. */
TEST(forged_sections_are_refused)
{
	static const struct {
		const char *tag;
		const char *bytes;
		size_t size;
		const char *why;
	} cases[] = {
		{ "map ", "", 0, "not a machine" },
		{ "map ", "\0\0\0", 3, "not a machine" },
		{ "map ", "\x3e\0\0\0\xff\xff\xff\xff\7", 9, "segments" },
		{ "map ", "\x3e\0\0\0\0\0\xff\xff\xff\xff\7", 11, "procedures" },
		{ "map ", "\x3e\0\0\0\1\4\0\0\1", 9, "unknown flags" },
		{ "map ", "\x3e\0\0\0\0\0\1\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\0", 20,
		  "past 64 bits" },
		{ "map ", "\x3e\0\0\0\0\0\1\0\0\1\x10", 11, "unknown flags" },
		{ "map ", "\x3e\0\0\0\0\0\1\0\0\7\0", 11, "an unknown source" },
		{ "map ", "\x3e\0\0\0\0\0\0x", 8, "" },
		{ "lin2", "\xff\xff\xff\xff\7", 5, "words" },
		{ "lin2", "\0\1\4\0\0\0\0", 7, "words that are not there" },
		{ "lin2", "\0\1\1\0\0\0\0", 7, "past 32 bits" },
		{ "lin2", "\0\1\0\0\0\1\0", 7, "inlined into a missing place" },
		{ "lin2", "\0\0\1\0\0\0", 6, "without a place" },
		{ "line", "\xff\xff\xff\xff\7", 5, "words" },
		{ "line", "\0\1\2\0\0\0\0", 7, "words that are not there" },
		{ "line", "\0\1\0\0\0\1\0", 7, "inlined into a missing place" },
		{ "line", "\0\0\1\0\0\0", 6, "without a place" },
		{ "code", "\1\0\5x", 4, "past the end" },
		{ "code", "\0\xff\xff\xff\xff\7", 6, "landing pads" },
		{ "code", "\0\0\2\1\0\0\0\0\0", 9, "" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_excerpt_file found;

		decode_section(cases[i].tag, cases[i].bytes, cases[i].size, &found);
		ck_assert_msg(found.lost != NULL, "%zu", i);
		ck_assert_msg(strstr(found.lost->message, cases[i].why) != NULL, "%zu: %s", i,
			      found.lost->message);
		ck_assert_uint_eq(found.excerpt.machine, strcmp(cases[i].tag, "map ") ? 62 : 0);
		ck_assert_uint_eq(found.excerpt.lines.count + found.excerpt.ranges.count, 0);
		hp_excerpt_file_clear(&found);
	}
}

/* Entry by entry in older epochs, kind by kind in others. */
TEST(lines_of_older_epochs_are_read)
{
	static const struct {
		const char *tag;
		const char *bytes;
		size_t size;
	} cases[] = {
		{ "line", "\1\1f\2\1\0\5\0\1\0\7\1\2\20\3\1\4\1\0", 19 },
		{ "lin2", "\1\1f\2\2\0\0\0\12\4\0\1\2\20\4\3\1\2\1", 19 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_excerpt_file found;
		const struct hp_excerpt *excerpt = &found.excerpt;

		decode_section(cases[i].tag, cases[i].bytes, cases[i].size, &found);
		ck_assert_ptr_null(found.lost);
		ck_assert(!found.has_unknown);
		ck_assert_uint_eq(excerpt->words.count, 1);
		ck_assert_uint_eq(excerpt->places.count, 2);
		ck_assert_uint_eq(excerpt->places.at[1].function, 0);
		ck_assert_uint_eq(excerpt->places.at[1].file, HP_EXCERPT_NONE);
		ck_assert_uint_eq(excerpt->places.at[0].line, 5);
		ck_assert_uint_eq(excerpt->places.at[1].line, 7);
		ck_assert_uint_eq(excerpt->places.at[1].outer, 0);
		ck_assert_uint_eq(excerpt->lines.count, 2);
		ck_assert_uint_eq(excerpt->lines.at[0].address, 16);
		ck_assert_uint_eq(excerpt->lines.at[0].bytes, 4);
		ck_assert_uint_eq(excerpt->lines.at[0].place, 1);
		ck_assert_uint_eq(excerpt->lines.at[1].address, 24);
		ck_assert_uint_eq(excerpt->lines.at[1].bytes, 2);
		ck_assert_uint_eq(excerpt->lines.at[1].place, 0);
		hp_excerpt_file_clear(&found);
	}
}

/* --- epochs ----------------------------------------------------------------------------------- */

/* An epoch with samples in image 1 and an excerpt. */
static char *epoch_with(struct hp_db *db, unsigned number, const char *append)
{
	struct hp_excerpt excerpt = fixture_excerpt(number);
	struct hp_image_id image = fixture_image(1);
	struct hp_profile profile = fixture_flat_profile(1, "cpu-clock:u", 1000000, 10);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", append ? 20 : 10, true);
	struct hp_epoch_writer *writer;
	size_t index;
	char *stamp;

	if (append)
		hp_assert_ok(hp_epoch_append(db, append, &writer));
	else
		hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	hp_assert_ok(hp_epoch_writer_image(writer, &image, &index));
	hp_assert_ok(hp_epoch_writer_excerpt(writer, index, &excerpt));
	stamp = fixture_commit(writer, &meta);
	hp_profile_clear(&profile);
	hp_epoch_meta_clear(&meta);
	hp_image_id_clear(&image);
	hp_excerpt_clear(&excerpt);
	return stamp;
}

static void assert_holds(struct hp_db *db, const char *stamp, unsigned number)
{
	struct hp_excerpt expected = fixture_excerpt(number);
	struct hp_excerpt excerpt;
	struct hp_error *lost;
	struct hp_epoch *epoch;

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert_uint_eq(hp_epoch_image_count(epoch), 1);
	hp_assert_ok(hp_epoch_read_excerpt(epoch, 0, &excerpt, &lost));
	ck_assert_ptr_null(lost);
	assert_same(&expected, &excerpt);
	hp_excerpt_clear(&expected);
	hp_excerpt_clear(&excerpt);
	hp_epoch_close(epoch);
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

TEST(appending_and_merging_keep_what_both_have)
{
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);
	char *stamps[2] = { epoch_with(db, 0, NULL), epoch_with(db, 1, NULL) };
	char *merged;
	char *added;

	merged = fixture_merge(db, stamps, 2, "sum");
	assert_holds(db, merged, 2);
	added = epoch_with(db, 1, stamps[0]);
	assert_holds(db, added, 2);
}

/* Its samples are worth more. */
TEST(a_damaged_excerpt_neither_keeps_an_epoch_from_being_read_nor_merged)
{
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);
	char *stamps[2] = { epoch_with(db, 0, NULL), epoch_with(db, 1, NULL) };
	_cleanup_(hp_image_id_clear) struct hp_image_id image = fixture_image(1);
	_cleanup_free_ char *name = hp_excerpt_name(&image);
	_cleanup_free_ char *file =
		strdup(fixture_path(fixture_path(hp_db_path(db), stamps[0]), name));
	char *merged;
	char problem[512];
	struct hp_epoch *epoch;

	fixture_write(file, "nothing", 7);
	ck_assert_uint_gt(fixture_verify(db, problem, sizeof(problem)), 0);
	hp_assert_contains(problem, name);
	hp_assert_ok(hp_epoch_open(db, stamps[0], &epoch));
	hp_epoch_close(epoch);
	merged = fixture_merge(db, stamps, 2, "sum");
	hp_assert_ok(hp_db_remove(db, stamps[0]));
	assert_holds(db, merged, 1);
}

HP_TEST_MAIN("db/excerpt")
