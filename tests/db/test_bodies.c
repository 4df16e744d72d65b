/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bodies of procedures, kept beside their names. */
#include "../db_fixture.h"

#include "../../src/db/codec.h"
#include "../../src/db/names.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>

#include <string.h>

/* --- files of names --------------------------------------------------------------------------- */

enum { SYMBOLS = 6 };

/* Names one after the other, of 32 bytes each; the body of each is the fixture's of the number, 0:
 * none. */
struct symbols {
	struct hp_symbol at[SYMBOLS];
	struct hp_body bodies[SYMBOLS];
	char names[SYMBOLS][8];
};

static void make(const uint32_t numbers[SYMBOLS], struct symbols *symbols)
{
	for (size_t i = 0; i < SYMBOLS; i++) {
		snprintf(symbols->names[i], sizeof(symbols->names[i]), "f%zu", i);
		symbols->bodies[i] = fixture_body(numbers[i]);
		symbols->at[i] = (struct hp_symbol){
			.offset = { i * 32 },
			.size = 32,
			.name = symbols->names[i],
			.body = numbers[i] ? &symbols->bodies[i] : NULL,
		};
	}
}

static void assert_body(const struct hp_symbol *symbol, uint32_t number)
{
	const struct hp_body expected = fixture_body(number);

	ck_assert_msg(!number == !symbol->body, "%s", symbol->name);
	if (number)
		ck_assert_mem_eq(symbol->body, &expected, sizeof(expected));
}

static struct hp_writer encode(const struct symbols *symbols)
{
	struct hp_image_id image = fixture_image(1);
	struct hp_writer file;

	hp_assert_ok(hp_symbols_encode(&image, symbols->at, SYMBOLS, &file));
	hp_image_id_clear(&image);
	return file;
}

TEST(bodies_come_back_as_they_were)
{
	static const uint32_t cases[][SYMBOLS] = {
		{ 0 }, { 1 }, { 0, 0, 0, 0, 0, 3 }, { 0, 64, 1, 0, 70, 2 }, { 1, 2, 3, 4, 5, 6 }
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct symbols symbols;
		struct hp_symbol_file found;
		struct hp_writer file;

		make(cases[i], &symbols);
		file = encode(&symbols);
		hp_assert_ok(hp_symbols_decode(file.bytes, file.size, &found));
		ck_assert_ptr_null(found.lost);
		ck_assert(!found.has_unknown);
		ck_assert_uint_eq(found.count, SYMBOLS);
		for (size_t j = 0; j < SYMBOLS; j++)
			assert_body(&found.symbols[j], cases[i][j]);
		hp_symbol_file_clear(&found);
	}
}

TEST(extreme_hashes_and_sizes_come_back)
{
	static const uint32_t none[SYMBOLS];
	struct symbols symbols;
	_cleanup_(hp_symbol_file_clear) struct hp_symbol_file found;
	struct hp_writer file;

	make(none, &symbols);
	symbols.at[2].body = &symbols.bodies[2];
	symbols.bodies[2].instructions = UINT32_MAX;
	symbols.bodies[2].exact = (struct hp_hashes){ 2, { 0, UINT32_MAX } };
	symbols.bodies[2].shape = (struct hp_hashes){ 2, { UINT32_MAX - 1, UINT32_MAX } };
	file = encode(&symbols);
	hp_assert_ok(hp_symbols_decode(file.bytes, file.size, &found));
	ck_assert_mem_eq(found.symbols[2].body, &symbols.bodies[2], sizeof(struct hp_body));
}

/* Who kept none has the bytes that it always had. */
TEST(names_without_bodies_have_no_section_of_them)
{
	static const uint32_t none[SYMBOLS];
	struct symbols symbols;
	_cleanup_(hp_container_clear) struct hp_container file;
	struct hp_writer bytes;

	make(none, &symbols);
	/* Nothing is known of a body without instructions. */
	symbols.at[1].body = &symbols.bodies[1];
	bytes = encode(&symbols);
	hp_assert_ok(hp_container_parse(bytes.bytes, bytes.size, &hp_symbols_kind, &file));
	ck_assert_uint_eq(file.section_count, 2);
}

TEST(bodies_that_break_the_rules_are_not_written)
{
	static const struct hp_hashes wrong[] = { { 2, { 5, 5 } },
						  { 2, { 5, 4 } },
						  { HP_BODY_MOST_HASHES + 1, { 0 } } };
	static const uint32_t first[SYMBOLS] = { 1 };
	_cleanup_(hp_image_id_clear) struct hp_image_id image = fixture_image(1);

	for (size_t i = 0; i < HP_ARRAY_COUNT(wrong); i++)
		for (size_t j = 0; j < 2; j++) {
			struct symbols symbols;
			struct hp_writer file;

			make(first, &symbols);
			*(j ? &symbols.bodies[0].shape : &symbols.bodies[0].exact) = wrong[i];
			hp_assert_fails(HP_ERROR_USAGE,
					hp_symbols_encode(&image, symbols.at, SYMBOLS, &file));
		}
}

/* --- bad input -------------------------------------------------------------------------------- */

/* The file of six names with the given contents of a section. */
static struct hp_writer with_section(const char *tag, const uint8_t *bytes, size_t size)
{
	static const uint32_t none[SYMBOLS];
	struct hp_container_builder builder = { .kind = &hp_symbols_kind };
	struct hp_container file;
	struct hp_writer names;
	struct hp_writer out;
	struct symbols symbols;

	make(none, &symbols);
	names = encode(&symbols);
	hp_assert_ok(hp_container_parse(names.bytes, names.size, &hp_symbols_kind, &file));
	for (size_t i = 0; i < file.section_count; i++)
		hp_container_copy(&builder, &file.sections[i]);
	hp_container_add(&builder, tag, 0, bytes, size);
	hp_assert_ok(hp_container_finish(&builder, &out));
	hp_container_clear(&file);
	return out;
}

#define BYTES(...)                                                                                 \
	{                                                                                          \
		(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })         \
	}
#define HUGE_NUMBER 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
#define PAST_32	    0x80, 0x80, 0x80, 0x80, 0x10 /* 2^32 */
#define LAST_OF_32  0xff, 0xff, 0xff, 0xff, 0x0f

static const struct {
	const uint8_t *bytes;
	size_t size;
} hostile[] = {
	BYTES(0),				     /* no bodies */
	BYTES(HUGE_NUMBER),			     /* bodies for ever */
	BYTES(2, 0, 9, 0, 0),			     /* more than there are bytes for */
	BYTES(1, 6, 9, 0, 0),			     /* of the seventh of six names */
	BYTES(1, HUGE_NUMBER, 9, 0, 0),		     /* of the last of all names */
	BYTES(2, 5, 9, 0, 0, 0, 9, 0, 0),	     /* of the sixth, and of the next */
	BYTES(1, 0, HUGE_NUMBER, 0, 0),		     /* instructions for ever */
	BYTES(1, 0, LAST_OF_32, 0, 0),		     /* 2^32 instructions */
	BYTES(1, 0, 9, 65, 0, 0),		     /* 65 hashes */
	BYTES(1, 0, 9, 0, 255),			     /* 255 hashes */
	BYTES(1, 0, 9, 3, 1, 1),		     /* fewer than it says */
	BYTES(1, 0, 9, 1, PAST_32, 0),		     /* a hash of 33 bits */
	BYTES(1, 0, 9, 2, LAST_OF_32, 0, 0),	     /* one after the last there is */
	BYTES(1, 0, 9, 2, 1, HUGE_NUMBER, 0),	     /* a gap around 64 bits */
	BYTES(1, 0, 9, 1, 0x81, 0x00, 0),	     /* a number that is too long */
	BYTES(1, 0, 9, 0, 0, 0),		     /* something behind it */
	BYTES(2, 0, 9, 1, 7, 1, 7, 0, 9, 1, 7, 200), /* the second is wrong */
};

TEST(bodies_that_are_no_bodies_are_lost_and_names_are_not)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(hostile); i++) {
		struct hp_writer file =
			with_section(HP_BODIES_TAG, hostile[i].bytes, hostile[i].size);
		struct hp_symbol_file found;

		hp_assert_ok(hp_symbols_decode(file.bytes, file.size, &found));
		ck_assert_msg(found.lost != NULL, "case %zu", i);
		ck_assert_int_eq(found.lost->class, HP_ERROR_DAMAGED);
		hp_assert_contains(found.lost->message, "section 'bod1', byte ");
		ck_assert_uint_eq(found.count, SYMBOLS);
		for (size_t j = 0; j < SYMBOLS; j++) {
			ck_assert_uint_eq(found.symbols[j].offset.value, j * 32);
			ck_assert_ptr_null(found.symbols[j].body);
		}
		hp_symbol_file_clear(&found);
	}
}

/* Bodies that are hashed otherwise are a section that is not known: skipped, and not dropped. */
TEST(bodies_of_another_version_are_skipped)
{
	static const uint8_t later[] = "hashed otherwise";
	struct hp_writer file = with_section("bod2", later, sizeof(later));
	_cleanup_(hp_symbol_file_clear) struct hp_symbol_file found;

	hp_assert_ok(hp_symbols_decode(file.bytes, file.size, &found));
	ck_assert_ptr_null(found.lost);
	ck_assert(found.has_unknown);
	ck_assert_uint_eq(found.count, SYMBOLS);
}

/* --- epochs ----------------------------------------------------------------------------------- */

static char *epoch_of(struct hp_db *db, const uint32_t numbers[SYMBOLS])
{
	char *stamp = fixture_epoch(db, NULL, 5);
	struct hp_image_id image = fixture_image(1);
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 5, true);
	struct hp_epoch_writer *writer;
	struct symbols symbols;
	size_t index;

	make(numbers, &symbols);
	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &image, &index));
	hp_assert_ok(hp_epoch_writer_symbols(writer, index, symbols.at, SYMBOLS));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	hp_image_id_clear(&image);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

static void assert_bodies(struct hp_db *db, const char *stamp, const uint32_t numbers[SYMBOLS])
{
	struct hp_symbol *symbols;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch;
	bool are_whole;
	size_t count;

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	hp_assert_ok(hp_epoch_read_symbols(epoch, 0, &symbols, &count, &are_whole));
	ck_assert(are_whole);
	ck_assert_uint_eq(count, SYMBOLS);
	for (size_t i = 0; i < SYMBOLS; i++)
		assert_body(&symbols[i], numbers[i]);
	hp_symbols_free(symbols, count);
}

static char *path_of_names(const char *directory, const char *stamp)
{
	struct hp_image_id image = fixture_image(1);
	char *name = hp_symbols_name(&image);
	char *path = strdup(fixture_file(directory, stamp, name));

	free(name);
	hp_image_id_clear(&image);
	return path;
}

/* In either order; a name without a body takes it from the others. */
TEST(merging_unites_bodies)
{
	static const uint32_t apple[SYMBOLS] = { 1, 0, 3 };
	static const uint32_t berry[SYMBOLS] = { 0, 2, 3, 0, 5 };
	static const uint32_t both[SYMBOLS] = { 1, 2, 3, 0, 5 };
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);

	for (size_t i = 0; i < 2; i++) {
		char *stamps[] = { epoch_of(db, i ? berry : apple),
				   epoch_of(db, i ? apple : berry) };
		char *sum;

		sum = fixture_merge(db, stamps, 2, NULL);
		assert_bodies(db, sum, both);
	}
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
}

TEST(merging_goes_on_without_damaged_bodies_and_says_so)
{
	static const uint32_t first[SYMBOLS] = { 1, 2 };
	static const uint32_t second[SYMBOLS] = { 0, 2, 3 };
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);
	char *stamps[] = { epoch_of(db, first), epoch_of(db, second) };
	_cleanup_free_ char *path = path_of_names(directory, stamps[0]);
	char expected[128];
	char problem[512];
	struct hp_epoch *epoch;
	_cleanup_free_ uint8_t *bytes;
	size_t size;
	char *sum;

	bytes = fixture_read(path, &size);
	bytes[size - 1] ^= 0x10;
	fixture_write(path, bytes, size);
	ck_assert_uint_eq(fixture_verify(db, problem, sizeof(problem)), 1);
	ck_assert_msg(strstr(problem, ".sym: offset 0x") &&
			      strstr(problem, "the checksum of section 'bod1'"),
		      "%s", problem);
	sum = fixture_merge(db, stamps, 2, NULL);
	assert_bodies(db, sum, second);
	hp_assert_ok(hp_epoch_open(db, sum, &epoch));
	snprintf(expected, sizeof(expected),
		 "fingerprints of procedures of epoch %s were damaged, and are left out",
		 stamps[0]);
	ck_assert_str_eq(hp_epoch_meta(epoch)->warnings[0], expected);
	ck_assert_ptr_null(hp_epoch_meta(epoch)->warnings[1]);
	hp_epoch_close(epoch);
}

TEST(who_would_drop_a_later_version_does_not_write)
{
	static const uint32_t first[SYMBOLS] = { 1 };
	static const uint8_t later[] = "hashed otherwise";
	struct hp_writer file = with_section("bod2", later, sizeof(later));
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);
	char *stamp = epoch_of(db, first);
	_cleanup_free_ char *path = path_of_names(directory, stamp);
	struct hp_epoch_writer *writer;
	struct symbols symbols;

	fixture_write(path, file.bytes, file.size);
	make(first, &symbols);
	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_epoch_writer_symbols(writer, 0, symbols.at, SYMBOLS));
	hp_epoch_writer_destroy(writer);
	hp_writer_free(&file);
}

HP_TEST_MAIN("db/bodies")
