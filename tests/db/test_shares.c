/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples by thread and CPU: a section of profiles that is lost alone. */
#include "../db_fixture.h"

#include "../../src/db/codec.h"
#include "../../src/db/names.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

/* Two threads of one process: 4 samples at 0x10, of which 3 are the second's, and 2 at 0x20. */
struct made {
	char command[4];
	char name[8];
	struct hp_count sums[2];
	struct hp_count counts[2][2];
	struct hp_stratum stratum;
	struct hp_stratum shares[2];
	struct hp_profile profile;
};

static void make(struct made *made)
{
	*made = (struct made){
		.command = "xz",
		.name = "worker",
		.sums = { { { 0x10 }, 4 }, { { 0x20 }, 2 } },
		.counts = { { { { 0x10 }, 1 } }, { { { 0x10 }, 3 }, { { 0x20 }, 2 } } },
	};
	made->stratum = (struct hp_stratum){ .command = made->command,
					     .pid = 40,
					     .period = 1,
					     .counts = made->sums,
					     .count_count = 2 };
	for (uint32_t i = 0; i < 2; i++) {
		made->shares[i] = made->stratum;
		made->shares[i].tid = 40 + i;
		made->shares[i].cpu = 1 + i;
		made->shares[i].counts = made->counts[i];
		made->shares[i].count_count = 1 + i;
	}
	made->shares[1].thread = made->name;
	made->profile = (struct hp_profile){
		.image = fixture_image(1),
		.event = strdup("cpu-clock:u"),
		.strata = &made->stratum,
		.stratum_count = 1,
		.shares = made->shares,
		.share_count = 2,
	};
}

static void unmake(struct made *made)
{
	hp_image_id_clear(&made->profile.image);
	free(made->profile.event);
}

static char *epoch_of(struct hp_db *db, struct made *made)
{
	struct hp_epoch_meta meta = fixture_meta("cpu-clock:u", 0, true);
	struct hp_epoch_writer *writer;
	char *stamp;

	meta.per_thread = meta.per_cpu = meta.per_process = true;
	fixture_count(&meta.events[0], &made->profile);
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &made->profile));
	stamp = fixture_commit(writer, &meta);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

static struct hp_profile read_profile(struct hp_db *db, const char *stamp)
{
	struct hp_profile profile;
	struct hp_epoch *epoch;

	hp_assert_ok(hp_epoch_open(db, stamp, &epoch));
	ck_assert(hp_epoch_meta(epoch)->per_thread);
	ck_assert(hp_epoch_meta(epoch)->per_cpu);
	hp_assert_ok(hp_epoch_read_profile(epoch, 0, 0, &profile));
	hp_epoch_close(epoch);
	return profile;
}

static char *profile_path(const char *directory, const char *stamp, const struct made *made)
{
	char *name = hp_profile_name(&made->profile.image, made->profile.event);
	char *path = strdup(fixture_file(directory, stamp, name));

	free(name);
	return path;
}

/* The section is the last one of the file. */
static void damage_shares(const char *path)
{
	size_t size;
	_cleanup_free_ uint8_t *bytes = fixture_read(path, &size);

	bytes[size - 1] ^= 0x40;
	fixture_write(path, bytes, size);
}

TEST(threads_and_cpus_read_back)
{
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);
	struct hp_profile found;
	struct made made;
	char *stamp;

	make(&made);
	stamp = epoch_of(db, &made);
	found = read_profile(db, stamp);
	ck_assert(!found.has_lost_shares);
	ck_assert_uint_eq(found.stratum_count, 1);
	ck_assert_uint_eq(found.strata[0].tid, 0);
	ck_assert_uint_eq(found.share_count, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(hp_stratum_compare(&found.shares[i], &made.shares[i]), 0);
		ck_assert_uint_eq(found.shares[i].count_count, i + 1);
		ck_assert_mem_eq(found.shares[i].counts, made.counts[i],
				 (i + 1) * sizeof(struct hp_count));
	}
	ck_assert_ptr_null(found.shares[0].thread);
	ck_assert_str_eq(found.shares[1].thread, "worker");
	ck_assert_uint_eq(fixture_verify(db, NULL, 0), 0);
	hp_profile_clear(&found);
	unmake(&made);
}

TEST(the_section_has_the_bytes_that_the_manual_says)
{
	static const uint8_t expected[] = { 2,	2, 'x',	 'z',  40,  41 - 1, 0,	 1,
					    1,	1, 0x10, 0,    2,   'x',    'z', 40,
					    41, 6, 'w',	 'o',  'r', 'k',    'e', 'r',
					    2,	1, 2,	 0x10, 0xf, 2,	    1 };
	const struct hp_section *section;
	struct hp_container file;
	struct hp_reader reader;
	struct hp_writer bytes;
	struct made made;

	make(&made);
	hp_assert_ok(hp_profile_encode(&made.profile, &bytes));
	hp_assert_ok(hp_container_parse(bytes.bytes, bytes.size, &hp_profile_kind, &file));
	hp_assert_ok(hp_container_section(&file, "apar", &section, &reader));
	ck_assert_uint_eq(section->raw_size, sizeof(expected));
	ck_assert_mem_eq(section->raw, expected, sizeof(expected));
	hp_container_clear(&file);
	unmake(&made);
}

TEST(a_profile_without_threads_has_no_section_of_them)
{
	struct hp_container file;
	struct hp_writer bytes;
	struct made made;

	make(&made);
	made.profile.share_count = 0;
	hp_assert_ok(hp_profile_encode(&made.profile, &bytes));
	hp_assert_ok(hp_container_parse(bytes.bytes, bytes.size, &hp_profile_kind, &file));
	ck_assert_uint_eq(file.section_count, 2);
	hp_container_clear(&file);
	unmake(&made);
}

TEST(damage_to_it_loses_it_alone)
{
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);
	char problem[512];
	char expected[128];
	struct hp_profile found;
	struct hp_epoch_writer *writer;
	struct hp_epoch *epoch;
	struct made made;
	char *stamps[2];
	char *path;
	char *sum;

	make(&made);
	stamps[0] = epoch_of(db, &made);
	stamps[1] = epoch_of(db, &made);
	path = profile_path(directory, stamps[0], &made);
	damage_shares(path);
	found = read_profile(db, stamps[0]);
	ck_assert(found.has_lost_shares);
	ck_assert_uint_eq(found.share_count, 0);
	ck_assert_uint_eq(hp_profile_samples(&found), 6);
	hp_profile_clear(&found);
	ck_assert_uint_eq(fixture_verify(db, problem, sizeof(problem)), 1);
	ck_assert_msg(strstr(problem, ".prof: offset 0x") && strstr(problem, "'apar'"), "%s",
		      problem);
	/* In a sum that says so, these samples are of an unknown thread. */
	sum = fixture_merge(db, stamps, 2, NULL);
	found = read_profile(db, sum);
	ck_assert_uint_eq(hp_profile_samples(&found), 12);
	ck_assert_uint_eq(found.share_count, 3);
	ck_assert_uint_eq(found.shares[0].tid, 0);
	ck_assert_uint_eq(hp_stratum_samples(&found.shares[0]), 6);
	hp_profile_clear(&found);
	hp_assert_ok(hp_epoch_open(db, sum, &epoch));
	snprintf(expected, sizeof(expected),
		 "threads and CPUs of samples of epoch %s were damaged, and are left out",
		 stamps[0]);
	ck_assert_str_eq(hp_epoch_meta(epoch)->warnings[0], expected);
	hp_epoch_close(epoch);
	/* Samples can be added still. */
	hp_assert_ok(hp_epoch_append(db, stamps[0], &writer));
	hp_assert_ok(hp_epoch_writer_add(writer, &made.profile));
	hp_epoch_writer_destroy(writer);
	found = read_profile(db, stamps[0]);
	ck_assert_uint_eq(hp_profile_samples(&found), 12);
	ck_assert_uint_eq(found.share_count, 3);
	hp_profile_clear(&found);
	free(path);
	unmake(&made);
}

/* Behind a right checksum: made by somebody who can compute one. */
TEST(shares_that_lie_are_lost_and_samples_are_not)
{
	static const struct {
		uint8_t bytes[24];
		size_t size;
	} lies[] = {
		{ { 0 }, 0 },				     /* no count */
		{ { 0 }, 1 },				     /* nothing */
		{ { 1, 0, 0, 0, 0, 0, 1, 1, 0, 5 }, 10 },    /* nobody's */
		{ { 1, 0, 0, 7, 0, 0, 1, 1, 0, 4 }, 10 },    /* one too few */
		{ { 1, 0, 0, 7, 0, 0, 1, 1, 1, 5 }, 10 },    /* elsewhere */
		{ { 1, 0, 1, 7, 0, 0, 1, 1, 0, 5 }, 10 },    /* another's */
		{ { 1, 0, 0, 7, 0, 0, 0, 1, 0, 5 }, 10 },    /* period 0 */
		{ { 1, 0, 0, 7, 0, 0, 1, 1, 0, 5, 0 }, 11 }, /* and a byte */
		{ { 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0, 1, 1, 0, 5 }, 14 }, /* wide */
		{ { 2, 0, 0, 8, 0, 0, 1, 1, 0, 2, 0, 0, 7, 0, 0, 1, 1, 0, 2 }, 19 }, /* order */
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(lies) + 1; i++) {
		static const uint8_t histogram[] = { 1, 0, 0, 1, 1, 0, 5 };
		static const uint8_t truth[] = { 1, 0, 0, 7, 0, 0, 1, 1, 0, 5 };
		bool is_true = i == HP_ARRAY_COUNT(lies);
		struct hp_container_builder builder = { .kind = &hp_profile_kind };
		struct hp_image_id image = fixture_image(1);
		struct hp_writer key = { 0 };
		struct hp_error *lost;
		struct hp_profile profile;
		struct hp_writer file;

		hp_image_encode(&image, 0, &key);
		hp_write_string(&key, "e");
		hp_container_add(&builder, "key ", HP_SECTION_REQUIRED, key.bytes, key.size);
		hp_container_add(&builder, "hist", HP_SECTION_REQUIRED, histogram,
				 sizeof(histogram));
		if (is_true)
			hp_container_add(&builder, "apar", 0, truth, sizeof(truth));
		else
			hp_container_add(&builder, "apar", 0, lies[i].bytes, lies[i].size);
		hp_assert_ok(hp_container_finish(&builder, &file));
		hp_assert_ok(hp_profile_decode(file.bytes, file.size, &profile, NULL, &lost));
		ck_assert_uint_eq(hp_profile_samples(&profile), 6);
		ck_assert_msg(!lost == is_true, "case %zu", i);
		ck_assert(profile.has_lost_shares != is_true);
		ck_assert_uint_eq(profile.share_count, is_true);
		hp_error_destroy(lost);
		hp_profile_clear(&profile);
		hp_writer_free(&key);
		hp_image_id_clear(&image);
	}
}

TEST(more_than_may_be_is_left_out)
{
	enum { SHARES = 1 << 20 };
	struct hp_stratum *shares = calloc(SHARES, sizeof(*shares));
	struct hp_count one = { { 0x10 }, 1 };
	struct hp_profile found;
	struct hp_writer file;
	struct made made;

	make(&made);
	ck_assert_ptr_nonnull(shares);
	for (uint32_t i = 0; i < SHARES; i++) {
		shares[i] = made.stratum;
		shares[i].tid = 1 + i;
		shares[i].thread = made.name;
		shares[i].counts = &one;
		shares[i].count_count = 1;
	}
	made.sums[0].samples = SHARES;
	made.stratum.count_count = 1;
	made.profile.shares = shares;
	made.profile.share_count = SHARES;
	hp_assert_ok(hp_profile_encode(&made.profile, &file));
	hp_assert_ok(hp_profile_decode(file.bytes, file.size, &found, NULL, NULL));
	ck_assert_uint_eq(hp_profile_samples(&found), SHARES);
	ck_assert_uint_eq(found.share_count, 0);
	hp_profile_clear(&found);
	free(shares);
	unmake(&made);
}

HP_TEST_MAIN("db/shares")
