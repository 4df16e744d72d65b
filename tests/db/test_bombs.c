/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of few bytes that ask for much: each is refused before the memory is taken, and says what
 * was too much. And what is honest and very regular is written so that it can be read again.
 */
#include "../db_fixture.h"

#include "../../src/db/codec.h"
#include "windows_section.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>
#include <sys/resource.h>

enum { HUGE_BYTES = 60 << 20 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEASURES_MEMORY 0
#else
#define MEASURES_MEMORY 1
#endif

static uint64_t peak_bytes(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
	return (uint64_t)usage.ru_maxrss * 1024;
}

/* A file as somebody makes it who keeps to no bound. */
struct bomb {
	struct hp_container_kind kind;
	struct hp_container_builder builder;
	struct hp_writer file;
};

static void begin(struct bomb *bomb, const struct hp_container_kind *kind)
{
	*bomb = (struct bomb){ .kind = *kind };
	bomb->kind.most_times = UINT32_MAX;
	bomb->builder.kind = &bomb->kind;
}

static void add(struct bomb *bomb, const char *tag, const void *bytes, size_t size)
{
	hp_container_add(&bomb->builder, tag, HP_SECTION_REQUIRED, bytes, size);
}

static void finish(struct bomb *bomb)
{
	hp_assert_ok(hp_container_finish(&bomb->builder, &bomb->file));
}

/* The image, and in a profile the event. */
static void add_key(struct bomb *bomb, bool has_event)
{
	_cleanup_(hp_image_id_clear) struct hp_image_id image = fixture_image(1);
	_cleanup_(hp_writer_free) struct hp_writer key = { 0 };

	hp_image_encode(&image, 0, &key);
	if (has_event)
		hp_write_string(&key, "e");
	add(bomb, "key ", key.bytes, key.size);
}

/* Copies of a few bytes behind a head, up to `size`. */
static struct hp_writer repeat(struct hp_writer head, const char *text, size_t length, size_t size)
{
	while (head.size < size)
		hp_write_bytes(&head, text, length);
	ck_assert(!head.failed);
	return head;
}

static void add_repeated(struct bomb *bomb, const char *tag, struct hp_writer head,
			 const char *text, size_t length, const char *end)
{
	_cleanup_(hp_writer_free) struct hp_writer section = repeat(head, text, length, HUGE_BYTES);

	hp_write_bytes(&section, end, strlen(end));
	add(bomb, tag, section.bytes, section.size);
}

static struct hp_error *decode(const struct bomb *bomb)
{
	uint8_t *copy = malloc(bomb->file.size);
	struct hp_window_evidence evidence;
	struct hp_symbol_file symbols;
	struct hp_excerpt_file excerpt;
	struct hp_profile profile;
	struct hp_epoch_meta meta;
	struct hp_index index;
	struct hp_error *error;

	memcpy(copy, bomb->file.bytes, bomb->file.size);
	switch (bomb->kind.letter) {
	case 'M':
		error = hp_meta_decode(copy, bomb->file.size, &meta, NULL, NULL);
		hp_epoch_meta_clear(&meta);
		return error;
	case 'I':
		error = hp_index_decode(copy, bomb->file.size, &index, NULL);
		hp_index_clear(&index);
		return error;
	case 'P':
		error = hp_profile_decode(copy, bomb->file.size, &profile, NULL, NULL);
		hp_profile_clear(&profile);
		return error;
	case 'S':
		error = hp_symbols_decode(copy, bomb->file.size, &symbols);
		if (!error)
			error = hp_steal(symbols.lost);
		hp_symbol_file_clear(&symbols);
		return error;
	case 'C':
		error = hp_excerpt_decode(copy, bomb->file.size, &excerpt);
		if (!error)
			error = hp_steal(excerpt.lost);
		hp_excerpt_file_clear(&excerpt);
		return error;
	default:
		error = hp_evidence_decode(copy, bomb->file.size, &evidence, NULL, NULL);
		hp_window_evidence_clear(&evidence);
		return error;
	}
}

/* Refused for that reason, and within so much more memory than making it took. */
static void assert_refused(struct bomb *bomb, const char *why)
{
	uint64_t before = peak_bytes();
	struct hp_error *error = decode(bomb);

	ck_assert_msg(error, "taken: %s", why);
	ck_assert_int_eq(error->class, HP_ERROR_DAMAGED);
	ck_assert_msg(strstr(error->message, why), "'%s' is not in: %s", why, error->message);
	ck_assert_msg(!MEASURES_MEMORY || peak_bytes() - before < 32 << 20, "%llu bytes for: %s",
		      (unsigned long long)(peak_bytes() - before), error->message);
	hp_error_destroy(error);
	hp_writer_free(&bomb->file);
}

static struct hp_writer head_of(const char *text)
{
	struct hp_writer head = { 0 };

	hp_write_bytes(&head, text, strlen(text));
	return head;
}

static struct hp_writer head_count(uint64_t count)
{
	struct hp_writer head = { 0 };

	hp_write_varint(&head, count);
	return head;
}

TEST(a_few_kilobytes_do_not_become_many_megabytes)
{
	static const char why[] = "bytes are compressed to";
	struct bomb bomb;

	begin(&bomb, &hp_meta_kind);
	add_repeated(&bomb, "json", head_of("{\"complete\":true,\"x\":[0"), ",0", 2, "]}");
	finish(&bomb);
	ck_assert_uint_lt(bomb.file.size, 16384);
	assert_refused(&bomb, why);

	begin(&bomb, &hp_index_kind);
	add_repeated(&bomb, "imgs", head_count(HUGE_BYTES / 6), "\7\0\0\0\1x", 6, "");
	finish(&bomb);
	assert_refused(&bomb, why);

	begin(&bomb, &hp_profile_kind);
	add_key(&bomb, true);
	add_repeated(&bomb, "hist", head_count(HUGE_BYTES / 6), "\0\0\1\1\0\0", 6, "");
	finish(&bomb);
	assert_refused(&bomb, why);

	begin(&bomb, &hp_symbols_kind);
	add_key(&bomb, false);
	add_repeated(&bomb, "syms", head_count(HUGE_BYTES / 3), "\0\0\0", 3, "");
	finish(&bomb);
	assert_refused(&bomb, why);

	begin(&bomb, &hp_evidence_kind);
	add_repeated(&bomb, "imgs", head_count(HUGE_BYTES / 6), "\7\0\0\0\1x", 6, "");
	finish(&bomb);
	assert_refused(&bomb, why);
}

/* Only the bodies are lost, as with any other damage to them. */
TEST(bodies_that_are_too_many_or_too_large_are_lost_alone)
{
	struct bomb bomb;
	_cleanup_(hp_writer_free) struct hp_writer few = { 0 };

	begin(&bomb, &hp_symbols_kind);
	add_key(&bomb, false);
	add(&bomb, "syms", "\1\0\0\1x", 5);
	add_repeated(&bomb, HP_BODIES_TAG, head_count(1), "\0\0\0\0", 4, "");
	finish(&bomb);
	assert_refused(&bomb, "bytes are compressed to");

	begin(&bomb, &hp_symbols_kind);
	add_key(&bomb, false);
	add(&bomb, "syms", "\1\0\0\1x", 5);
	hp_write_varint(&few, HP_BODIES_MOST + 1);
	add(&bomb, HP_BODIES_TAG, few.bytes, few.size);
	finish(&bomb);
	assert_refused(&bomb, "65537 bodies, more than 65536");

	begin(&bomb, &hp_symbols_kind);
	add_key(&bomb, false);
	add(&bomb, "syms", "\1\0\0\1x", 5);
	add(&bomb, HP_BODIES_TAG, "\2\0\0\0\0", 5);
	finish(&bomb);
	assert_refused(&bomb, "2 bodies, and no more than 1 fit");
}

/* What was kept of a program's file is lost, and nothing else. */
TEST(an_excerpt_that_grows_to_much_is_lost_alone)
{
	struct bomb bomb;

	begin(&bomb, &hp_excerpt_kind);
	add_key(&bomb, false);
	add_repeated(&bomb, "map ", head_count(HUGE_BYTES / 4), "\0\0\0\0", 4, "");
	finish(&bomb);
	ck_assert_uint_lt(bomb.file.size, 16384);
	assert_refused(&bomb, "bytes are compressed to");
}

TEST(a_count_says_how_many_there_can_be)
{
	static const struct {
		const struct hp_container_kind *kind;
		const char *tag;
		const char *bytes;
		size_t size;
		const char *why;
	} counts[] = {
		{ &hp_index_kind, "imgs", "\3\7\0\0\0\1x\7\0\0\0\1y", 13,
		  "3 images, and no more than 2 fit" },
		{ &hp_profile_kind, "hist", "\2\0\0\1\1\0\0", 7,
		  "2 strata, and no more than 1 fit" },
		{ &hp_profile_kind, "hist", "\1\0\0\1\3\0\0\0\0", 9,
		  "3 offsets, and no more than 2 fit" },
		{ &hp_symbols_kind, "syms", "\xff\xff\xff\xff\7\0\0\1x", 9,
		  "2147483647 symbols, and no more than 1 fit" },
		{ &hp_evidence_kind, "imgs", "\2\7\0\0\0\1x", 7,
		  "2 images, and no more than 1 fit" },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(counts); i++) {
		struct bomb bomb;

		begin(&bomb, counts[i].kind);
		if (strcmp(counts[i].kind->tags[0], "key ") == 0)
			add_key(&bomb, counts[i].kind == &hp_profile_kind);
		add(&bomb, counts[i].tag, counts[i].bytes, counts[i].size);
		finish(&bomb);
		assert_refused(&bomb, counts[i].why);
	}
}

/* Which it may be compressed to: the description of a long command line. */
TEST(a_description_has_no_more_values_and_events_than_it_may)
{
	struct hp_writer text = head_of("{\"complete\":true,\"x\":[0");
	struct bomb bomb;

	begin(&bomb, &hp_meta_kind);
	bomb.builder.plain = true;
	text = repeat(text, ",0", 2, 3 << 20);
	hp_write_bytes(&text, "]}", 2);
	add(&bomb, "json", text.bytes, text.size);
	finish(&bomb);
	assert_refused(&bomb, "values of JSON, more than 1048576");
	hp_writer_free(&text);

	begin(&bomb, &hp_meta_kind);
	text = head_of("{\"complete\":true,\"events\":[");
	for (int i = 0; i < 1025; i++) {
		char event[64];
		int length = snprintf(event, sizeof(event),
				      "%s{\"name\":\"e%d\",\"unit\":\"events\"}", i ? "," : "", i);

		hp_write_bytes(&text, event, (size_t)length);
	}
	hp_write_bytes(&text, "]}", 2);
	add(&bomb, "json", text.bytes, text.size);
	finish(&bomb);
	assert_refused(&bomb, "more than 1024 events");
	hp_writer_free(&text);
}

/* Each of 600 bytes in memory, and of none in the file. */
TEST(items_need_bytes_of_their_own)
{
	enum { ITEMS = 30000 };
	struct hp_writer windows = { 0 };
	struct bomb bomb;

	begin(&bomb, &hp_evidence_kind);
	add(&bomb, "imgs", "\1\7\0\0\0\1x", 7);
	write_windows_section(&windows, ITEMS);
	for (int i = 0; i < ITEMS; i++)
		hp_write_bytes(&windows, "\1\0\1\1\1\1\1", 7);
	add(&bomb, "wind", windows.bytes, windows.size);
	finish(&bomb);
	hp_writer_free(&windows);
	assert_refused(&bomb, "30000 items, more than the 16");
}

/* --- and what is honest ------------------------------------------------------------------- */

TEST(regular_samples_are_written_so_that_they_can_be_read)
{
	enum { OFFSETS = 3 << 20 };
	_cleanup_(hp_profile_clear) struct hp_profile profile =
		fixture_flat_profile(1, "e", 1, OFFSETS);
	_cleanup_(hp_profile_clear) struct hp_profile again;
	struct hp_writer file;

	hp_assert_ok(hp_profile_encode(&profile, &file));
	hp_assert_ok(hp_profile_decode(file.bytes, file.size, &again, NULL, NULL));
	ck_assert_uint_eq(again.strata[0].count_count, OFFSETS);
}

TEST(a_command_line_of_one_word_again_and_again_can_be_read)
{
	enum { WORDS = 200000 };
	char word[] = "word";
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta = fixture_meta("e", 1, true);
	struct hp_epoch_meta again;
	struct hp_writer file;

	meta.command_line = calloc(WORDS + 1, sizeof(char *));
	for (size_t i = 0; i < WORDS; i++)
		meta.command_line[i] = word;
	hp_assert_ok(hp_meta_encode(&meta, NULL, &file));
	hp_assert_ok(hp_meta_decode(file.bytes, file.size, &again, NULL, NULL));
	ck_assert_str_eq(again.command_line[WORDS - 1], "word");
	ck_assert_ptr_null(again.command_line[WORDS]);
	hp_epoch_meta_clear(&again);
	meta.command_line[0] = NULL;
}

TEST(items_that_are_all_alike_can_be_read)
{
	enum { ITEMS = 50000 };
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence =
		fixture_evidence(5);
	struct hp_window_stratum *stratum = &evidence.strata[0];
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence again;
	struct hp_writer file;

	free(stratum->items);
	stratum->items = calloc(ITEMS, sizeof(*stratum->items));
	stratum->item_count = ITEMS;
	for (uint64_t i = 0; i < ITEMS; i++)
		stratum->items[i] = (struct hp_counted){ .kind = HP_COUNTED_BLOCK,
							 .at = { 4 * i },
							 .bytes = 4,
							 .instructions = 1,
							 .counts = { 1 } };
	hp_assert_ok(hp_evidence_encode(&evidence, &file));
	hp_assert_ok(hp_evidence_decode(file.bytes, file.size, &again, NULL, NULL));
	ck_assert_uint_eq(again.strata[0].item_count, ITEMS);
}

HP_TEST_MAIN("db/bombs")
