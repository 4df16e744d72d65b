/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of an epoch decoded from memory: older and newer ones, what makes no sense behind a right
 * checksum, sections that are lost alone, and the bytes that the manual shows. */
#include "../db_fixture.h"

#include "../../src/db/codec.h"
#include "windows_section.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

static struct hp_error *decode_meta(const char *json, struct hp_epoch_meta *meta)
{
	struct hp_container_builder builder = { .kind = &hp_meta_kind };
	struct hp_writer file;

	hp_container_add(&builder, "json", HP_SECTION_REQUIRED, json, strlen(json));
	hp_assert_ok(hp_container_finish(&builder, &file));
	return hp_meta_decode(file.bytes, file.size, meta, NULL, NULL);
}

TEST(unknown_keys_of_meta_are_ignored)
{
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta;

	hp_assert_ok(
		decode_meta("{\"complete\":true,\"later\":{\"x\":[1,2]},\"label\":\"a\"}", &meta));
	ck_assert(meta.complete);
	ck_assert_str_eq(meta.label, "a");
}

TEST(an_older_epoch_has_an_unknown_cpu_and_clock)
{
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta;

	hp_assert_ok(decode_meta("{\"complete\":true,\"cpu_model\":\"A CPU\"}", &meta));
	ck_assert_str_eq(meta.cpu_model, "A CPU");
	ck_assert(!hp_cpu_is_known(&meta.cpu));
	ck_assert_uint_eq(hp_clock_measurements(&meta.clock), 0);
}

TEST(an_older_epoch_has_the_default_skid_of_its_precision)
{
	static const struct {
		const char *precision;
		uint32_t skid;
	} cases[] = {
		{ "skid+1", 1 },    { "skid", 1 },	{ "precise 1", 1 },
		{ "precise 2", 0 }, { "precise 3", 0 }, { "exact", 0 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(cases); i++) {
		struct hp_epoch_meta meta;
		char text[256];

		snprintf(text, sizeof(text),
			 "{\"complete\":true,\"events\":[{\"name\":\"a\",\"unit\":\"ns\","
			 "\"precision\":\"%s\"}]}",
			 cases[i].precision);
		hp_assert_ok(decode_meta(text, &meta));
		ck_assert_uint_eq(meta.events[0].info.skid_instructions, cases[i].skid);
		ck_assert_ptr_null(meta.events[0].info.skid_source);
		hp_epoch_meta_clear(&meta);
	}
}

TEST(how_often_the_core_was_shared_is_read_and_0_where_it_is_missing)
{
	struct hp_epoch_meta meta;

	hp_assert_ok(decode_meta("{\"complete\":true,\"core_looks\":8,\"core_shared\":2}", &meta));
	ck_assert_uint_eq(meta.clock.looks, 8);
	ck_assert_uint_eq(meta.clock.shared, 2);
	hp_epoch_meta_clear(&meta);
	hp_assert_ok(decode_meta("{\"complete\":true}", &meta));
	ck_assert_uint_eq(meta.clock.looks, 0);
	hp_epoch_meta_clear(&meta);
}

TEST(meta_that_makes_no_sense_is_refused)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"{\"complete\":1}",
		"{\"complete\":true,\"cpus\":-1}",
		"{\"complete\":true,\"cpus\":4294967296}",
		"{\"complete\":true,\"start_ns\":-1}",
		"{\"complete\":true,\"host\":7}",
		"{\"complete\":true,\"cpu\":\"GenuineIntel\"}",
		"{\"complete\":true,\"cpu\":{\"family\":6}}",
		"{\"complete\":true,\"cpu\":{\"vendor\":\"GenuineIntel\",\"family\":-1}}",
		"{\"complete\":true,\"command_line\":\"x\"}",
		"{\"complete\":true,\"warnings\":[1]}",
		"{\"complete\":true,\"events\":{}}",
		"{\"complete\":true,\"events\":[{}]}",
		"{\"complete\":true,\"events\":[{\"name\":\"a\",\"unit\":\"apples\"}]}",
		"{\"complete\":true,\"events\":[{\"name\":\"\",\"unit\":\"ns\"}]}",
		("{\"complete\":true,\"events\":[{\"name\":\"a\",\"unit\":\"ns\","
		 "\"skid_instructions\":256}]}"),
		("{\"complete\":true,\"events\":[{\"name\":\"a\",\"unit\":\"ns\"},"
		 "{\"name\":\"a\",\"unit\":\"ns\"}]}"),
		"{\"complete\":true,\"commands\":[{\"command\":\"b\"},{\"command\":\"a\"}]}",
		"{\"complete\":true,\"clock\":3600000000}",
		"{\"complete\":true,\"clock\":[3600000000]}",
		"{\"complete\":true,\"clock\":[{\"hz\":0,\"count\":1}]}",
		"{\"complete\":true,\"clock\":[{\"hz\":1}]}",
		("{\"complete\":true,\"clock\":[{\"hz\":2,\"count\":1},"
		 "{\"hz\":2,\"count\":1}]}"),
		"{\"complete\":true,\"core_looks\":2,\"core_shared\":3}",
		"{\"complete\":true,\"complete\":true}",
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(texts); i++) {
		struct hp_epoch_meta meta;

		hp_assert_fails(HP_ERROR_DAMAGED, decode_meta(texts[i], &meta));
	}
}

/* Histograms that no checksum protects against: made by somebody who can compute one. */
TEST(profiles_that_lie_behind_a_right_checksum_are_refused)
{
	static const struct {
		uint8_t bytes[48];
		size_t size;
	} lies[] = {
		{ { 0 }, 0 },						    /* no count */
		{ { 1 }, 1 },						    /* cut */
		{ { 0xff, 0xff, 0xff, 0xff, 0x7f }, 5 },		    /* a billion strata */
		{ { 1, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0 }, 11 }, /* as many offsets */
		{ { 1, 0, 0, 0, 1, 0, 0 }, 7 },				    /* period 0 */
		{ { 1, 0, 0, 1, 0, 0, 0 }, 7 },				    /* no offsets */
		{ { 1, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1, 0, 0 }, 11 }, /* pid too wide */
		{ { 2, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0 }, 13 },	    /* same stratum twice */
		{ { 1, 0, 0, 1, 1, 0, 0, 0 }, 8 },			    /* a byte too many */
		{ { 1, 1, 0, 0, 1, 1, 0, 0 }, 8 },			    /* NUL in a command */
		/* offsets past 2^64 */
		{ { 1, 0, 0, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 0,
		    0 },
		  18 },
		/* 2^64 samples */
		{ { 1, 0, 0, 1, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01 },
		  16 },
		/* 2^33 samples of period 2^33 */
		{ { 1, 0, 0, 0x80, 0x80, 0x80, 0x80, 0x20, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x20 },
		  15 },
	};
	_cleanup_(hp_profile_clear) struct hp_profile honest = fixture_flat_profile(1, "e", 1, 1);

	for (size_t i = 0; i < HP_ARRAY_COUNT(lies); i++) {
		struct hp_container_builder builder = { .kind = &hp_profile_kind };
		struct hp_writer key = { 0 };
		struct hp_profile profile;
		struct hp_writer file;

		hp_image_encode(&honest.image, 0, &key);
		hp_write_string(&key, honest.event);
		hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key.bytes, key.size);
		hp_container_add(&builder, "hist", HP_SECTION_REQUIRED, lies[i].bytes,
				 lies[i].size);
		hp_assert_ok(hp_container_finish(&builder, &file));
		hp_assert_fails(HP_ERROR_DAMAGED,
				hp_profile_decode(file.bytes, file.size, &profile, NULL, NULL));
		hp_writer_free(&key);
	}
}

/* A list of `count` items that are a few bytes each, if they are there at all. */
static void assert_refused(uint64_t count, const char *why)
{
	struct hp_container_builder builder = { .kind = &hp_evidence_kind };
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence evidence;
	struct hp_writer windows = { 0 };
	struct hp_writer file;

	hp_container_add(&builder, "imgs", HP_SECTION_REQUIRED, (const uint8_t *)"", 1);
	write_windows_section(&windows, count);
	hp_container_add(&builder, "wind", HP_SECTION_REQUIRED, windows.bytes, windows.size);
	hp_writer_free(&windows);
	hp_assert_ok(hp_container_finish(&builder, &file));
	hp_assert_says(HP_ERROR_DAMAGED, why, NULL,
		       hp_evidence_decode(file.bytes, file.size, &evidence, NULL, NULL));
}

TEST(no_memory_is_taken_for_items_that_no_epoch_may_have)
{
	assert_refused(1, "1 items, and no more than 0 fit");
	assert_refused(HP_EVIDENCE_MOST_ITEMS,
		       "more than the 16576 that a file of 96 bytes may have");
	assert_refused((uint64_t)HP_EVIDENCE_MOST_ITEMS + 1,
		       "more than the 2097152 that an epoch may have");
	assert_refused(UINT64_MAX, "more than the 2097152 that an epoch may have");
}

/* A byte of the section is another one. */
static void damage_section(struct hp_writer *file, const char *tag)
{
	uint32_t stored_size;
	size_t entry = HP_CONTAINER_HEADER_BYTES;
	size_t data = entry + file->bytes[11] * (size_t)HP_CONTAINER_ENTRY_BYTES;

	for (;; entry += HP_CONTAINER_ENTRY_BYTES, data += stored_size) {
		ck_assert_uint_lt(data, file->size);
		memcpy(&stored_size, file->bytes + entry + 8, sizeof(stored_size));
		if (memcmp(file->bytes + entry, tag, 4) == 0)
			break;
	}
	file->bytes[data + stored_size / 2] ^= 0x40;
}

/* In each list as many items, and in all windows as many. */
static void assert_holds(const struct hp_window_evidence *evidence, const size_t counts[6],
			 uint64_t beside_ns)
{
	const struct hp_window_stratum *stratum = evidence->strata;

	ck_assert_uint_eq(evidence->image_count, 2);
	ck_assert_uint_eq(evidence->stratum_count, 1);
	ck_assert_str_eq(stratum->command, "cat");
	ck_assert_uint_eq(stratum->item_count, counts[0]);
	ck_assert_uint_eq(hp_window_evidence_counted(evidence).windows > 0, counts[0] > 0);
	ck_assert_uint_eq(stratum->outcome_count, counts[1]);
	ck_assert_uint_eq(stratum->followed > 0, counts[1] > 0);
	ck_assert_uint_eq(stratum->probe_count, counts[2]);
	ck_assert_uint_eq(stratum->tick_count, counts[3]);
	ck_assert_uint_eq(stratum->range_count, counts[4]);
	ck_assert_uint_eq(stratum->record_cycles[2] > 0, counts[4] > 0);
	ck_assert_uint_eq(stratum->event_count, counts[5]);
	ck_assert_uint_eq(evidence->price.beside_ns, beside_ns);
}

TEST(a_damaged_section_of_evidence_is_lost_alone)
{
	static const struct {
		const char *tag;
		size_t list; /* that is lost with it; none of them: 6 */
	} sections[] = { { "wind", 0 }, { "regs", 1 }, { "prob", 2 }, { "tick", 3 },
			 { "recs", 4 }, { "simu", 5 }, { "besd", 6 }, { "cmds", 6 } };
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence whole = fixture_evidence(7);
	const struct hp_window_stratum *stratum = whole.strata;
	const size_t counts[] = {
		stratum->item_count, stratum->outcome_count, stratum->probe_count,
		stratum->tick_count, stratum->range_count,   stratum->event_count
	};

	ck_assert_uint_gt(whole.price.beside_ns, 0);
	for (size_t i = 0; i < HP_ARRAY_COUNT(sections); i++) {
		size_t left[HP_ARRAY_COUNT(counts) + 1];
		bool has_beside = strcmp(sections[i].tag, "besd") != 0;
		struct hp_window_evidence evidence;
		struct hp_writer file = { 0 };
		struct hp_error *lost = NULL;

		memcpy(left, counts, sizeof(counts));
		left[sections[i].list] = 0;
		hp_assert_ok(hp_evidence_encode(&whole, &file));
		damage_section(&file, sections[i].tag);
		hp_assert_ok(hp_evidence_decode(file.bytes, file.size, &evidence, NULL, &lost));
		assert_holds(&evidence, left, has_beside ? whole.price.beside_ns : 0);
		ck_assert_ptr_nonnull(lost);
		hp_assert_contains(lost->message, sections[i].tag);
		hp_error_destroy(lost);
		hp_window_evidence_clear(&evidence);
		/* Who may lose nothing. */
		hp_assert_ok(hp_evidence_encode(&whole, &file));
		damage_section(&file, sections[i].tag);
		hp_assert_fails(HP_ERROR_DAMAGED,
				hp_evidence_decode(file.bytes, file.size, &evidence, NULL, NULL));
		ck_assert(hp_window_evidence_is_empty(&evidence));
	}
}

TEST(several_damaged_sections_are_all_named)
{
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence whole = fixture_evidence(7);
	struct hp_window_evidence evidence;
	struct hp_writer file = { 0 };
	struct hp_error *lost = NULL;

	hp_assert_ok(hp_evidence_encode(&whole, &file));
	damage_section(&file, "wind");
	damage_section(&file, "prob");
	hp_assert_ok(hp_evidence_decode(file.bytes, file.size, &evidence, NULL, &lost));
	hp_assert_contains(lost->message, "'wind'", "'prob'");
	ck_assert_uint_eq(evidence.strata[0].outcome_count, whole.strata[0].outcome_count);
	hp_error_destroy(lost);
	hp_window_evidence_clear(&evidence);
	/* Nobody knows then whose the rest is. */
	hp_assert_ok(hp_evidence_encode(&whole, &file));
	damage_section(&file, "wind");
	damage_section(&file, "cmds");
	hp_assert_fails(HP_ERROR_DAMAGED,
			hp_evidence_decode(file.bytes, file.size, &evidence, NULL, &lost));
}

/* The bytes that hpcprof-db(5) shows, assembled here by hand. */
TEST(a_profile_has_the_bytes_that_the_manual_says)
{
	static const uint8_t key[] = "\x01\x00\x01\x02\xab\xcd\x07/bin/ls\x01"
				     "e";
	static const uint8_t histogram[] = { 1,	   2,	 'l', 's',  0,	  0xc0, 0x84, 0x3d, 3,
					     0xc0, 0x20, 0,   0xff, 0x01, 0,	4,    0xac, 0x02 };
	struct hp_count counts[] = { { { 0x1040 }, 1 }, { { 0x1041 }, 5 }, { { 0x1141 }, 301 } };
	char command[] = "ls";
	char path[] = "/bin/ls";
	char event[] = "e";
	struct hp_stratum stratum = {
		.command = command, .period = 1000000, .counts = counts, .count_count = 3
	};
	struct hp_profile profile = {
		.image = { .kind = HP_IMAGE_FILE,
			   .identity = { HP_IDENTITY_BUILD_ID, 2, { 0xab, 0xcd } },
			   .path = path },
		.event = event,
		.strata = &stratum,
		.stratum_count = 1
	};
	_cleanup_(hp_writer_free) struct hp_writer file;

	hp_assert_ok(hp_profile_encode(&profile, &file));
	ck_assert_uint_eq(file.size, 24 + 2 * 20 + sizeof(key) - 1 + sizeof(histogram));
	ck_assert_mem_eq(file.bytes, "\x89HPC\r\n\x1a\n\x01\x00P\x02", 12);
	ck_assert_uint_eq(file.bytes[12], file.size);
	ck_assert_mem_eq(file.bytes + 24, "key \x01\0\0\0", 8);
	ck_assert_uint_eq(file.bytes[32], sizeof(key) - 1);
	ck_assert_mem_eq(file.bytes + 44, "hist\x01\0\0\0", 8);
	ck_assert_mem_eq(file.bytes + 64, key, sizeof(key) - 1);
	ck_assert_mem_eq(file.bytes + 64 + sizeof(key) - 1, histogram, sizeof(histogram));
}

HP_TEST_MAIN("db/decode")
