/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A build that is gone: where the old one was is the new one. */
#include "builds.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/image/body.h>

#include <dirent.h>
#include <string.h>

/* --- what there is of it --------------------------------------------------------------------- */

/* What an epoch has of the code that its samples are in. */
enum kept {
	KEPT_NOTHING,
	KEPT_LEAST,  /* of what has the fewest samples alone, as of a stripped program */
	KEPT_NAMES,  /* as earlier versions did */
	KEPT_BODIES, /* as it is recorded */
	KEPT_DAMAGE, /* the same, with a byte of the bodies changed */
};

/* As recording does: a part that lies elsewhere has the name and the body of its procedure. */
static void keep(struct hp_db *db, const char *stamp, const struct build *build,
		 const struct spent *spent, size_t count, bool with_bodies)
{
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *writer;
	struct hp_epoch_meta meta;
	size_t index;

	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &build->id, &index));
	for (size_t i = 0; i < count; i++) {
		const struct hp_procedure *part = spent[i].procedure
							  ? spent[i].procedure
							  : build_procedure(build, spent[i].name);
		char name[64];
		struct hp_body body;
		struct hp_symbol symbol = {
			.offset = { build_offset(build, part->address.value) },
			.size = part->size,
			.name = name,
			.body = with_bodies ? &body : NULL,
		};

		if (!spent[i].samples)
			continue;
		hp_image_body(build->image, part->owner, &body);
		snprintf(name, sizeof(name), "%s", part->owner->linkage);
		hp_assert_ok(hp_epoch_writer_symbols(writer, index, &symbol, 1));
	}
	meta = *hp_epoch_writer_previous(writer);
	meta.complete = true;
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
}

/* Bodies are what the file of names ends with. */
static void damage_bodies(const char *epoch)
{
	DIR *stream = opendir(epoch);
	const struct dirent *entry;
	size_t found = 0;

	ck_assert_ptr_nonnull(stream);
	while ((entry = readdir(stream))) {
		const char *path = fixture_path(epoch, entry->d_name);
		uint8_t *bytes;
		size_t size;

		if (!strstr(entry->d_name, ".sym"))
			continue;
		bytes = fixture_read(path, &size);
		bytes[size - 1] ^= 1;
		fixture_write(path, bytes, size);
		free(bytes);
		found++;
	}
	closedir(stream);
	ck_assert_uint_eq(found, 1);
}

/* --- comparisons ----------------------------------------------------------------------------- */

/* A build and what is spent in it. */
struct recording {
	const char *build;
	struct spent spent[4];
	size_t count;
	uint64_t
		apart; /* samples where the compiler put a part of the first procedure, if it did */
};

/* Epochs of two builds of one path; the base's first one, and the others, have so much of it. */
struct replaced {
	char *directory;
	struct hp_db *db;
	struct hp_comparison *comparison;
	const struct hp_compared *image;
};

/* In the first procedure itself where all of it is in one place. */
static struct spent spent_apart(const struct build *build, const struct recording *recording)
{
	const struct hp_procedure *whole = build_procedure(build, recording->spent[0].name);
	struct spent spent = { .procedure = whole, .samples = recording->apart };
	const struct hp_procedure *const *procedures;
	size_t count;

	hp_image_procedures(build->image, &procedures, &count);
	for (size_t i = 0; i < count; i++)
		if (procedures[i]->owner == whole && procedures[i] != whole)
			spent.procedure = procedures[i];
	return spent;
}

/* Of what has any. */
static const struct spent *fewest(const struct spent *spent, size_t count)
{
	const struct spent *least = NULL;

	for (size_t i = 0; i < count; i++)
		if (spent[i].samples && (!least || spent[i].samples < least->samples))
			least = &spent[i];
	return least;
}

static char *record(struct replaced *replaced, const struct recording *recording, enum kept kept)
{
	const char *path = fixture_path(replaced->directory, "program");
	size_t count = recording->count + (recording->apart ? 1 : 0);
	struct spent spent[5];
	struct build build;
	char *stamp;

	build_copy(recording->build, path);
	build = build_open_file(path);
	memcpy(spent, recording->spent, sizeof(recording->spent));
	spent[recording->count] = spent_apart(&build, recording);
	stamp = build_record(replaced->db, &build, spent, count);
	if (kept == KEPT_LEAST)
		keep(replaced->db, stamp, &build, fewest(spent, count), 1, true);
	else if (kept != KEPT_NOTHING)
		keep(replaced->db, stamp, &build, spent, count, kept != KEPT_NAMES);
	if (kept == KEPT_DAMAGE)
		damage_bodies(fixture_path(hp_db_path(replaced->db), stamp));
	return stamp;
}

static struct replaced replace(const struct recording recordings[HP_SIDES], const enum kept kept[2])
{
	const struct hp_compare_options options = { 0 };
	struct replaced replaced = { .directory = temporary_directory() };
	char *stamps[HP_SIDES][BUILD_RUNS];
	struct hp_compare_epochs sides[HP_SIDES];
	const uint64_t begin_ns = build_start_ns;

	replaced.db = fixture_db(replaced.directory);
	for (size_t side = 0; side < HP_SIDES; side++) {
		for (size_t i = 0; i < BUILD_RUNS; i++) {
			/* As if in turns, though one build takes the other's place. */
			build_start_ns = begin_ns + (2 * i + side) * 1000000000;
			stamps[side][i] = record(&replaced, &recordings[side],
						 side == HP_BASE ? kept[i > 0] : KEPT_NOTHING);
		}
		sides[side] =
			(struct hp_compare_epochs){ replaced.db, stamps[side], BUILD_RUNS, 0 };
	}
	hp_assert_ok(hp_compare(sides, &options, &replaced.comparison));
	comparison_kept(replaced.comparison);
	ck_assert_uint_eq(replaced.comparison->program->part_count, 1);
	replaced.image = replaced.comparison->program->parts[0];
	return replaced;
}

/* The note that there is no file, and by what it is compared then. */
static void assert_says(const struct replaced *replaced, const char *how)
{
	const char *note = replaced->comparison->notes[0];

	ck_assert_msg(strstr(note, "has changed since the recording") && strstr(note, how), "%s",
		      note);
}

/* What `host` gained `same` lost: the image as a whole costs the same. */
static const struct recording same_names[HP_SIDES] = {
	{ "pair_old",
	  { { .name = "same", .samples = 800 }, { .name = "host", .samples = 400 } },
	  2,
	  0 },
	{ "pair_new",
	  { { .name = "same", .samples = 400 }, { .name = "host", .samples = 800 } },
	  2,
	  0 },
};

/* Nothing costs more, but goes by another name, or is inlined. */
static const struct recording other_names[HP_SIDES] = {
	{ "pair_old",
	  { { .name = "same", .samples = 400 },
	    { .name = "former", .samples = 300 },
	    { .name = "host", .samples = 100 },
	    { .name = "callee", .samples = 200 } },
	  4,
	  0 },
	{ "pair_new",
	  { { .name = "same", .samples = 400 },
	    { .name = "latter", .samples = 300 },
	    { .name = "host", .samples = 300 } },
	  3,
	  0 },
};

/* --- by name --------------------------------------------------------------------------------- */

/* Also when one epoch has names: samples of the other would be missing from the procedures. */
TEST(without_names_it_is_compared_as_a_whole)
{
	static const enum kept kept[][2] = { { KEPT_NOTHING, KEPT_NOTHING },
					     { KEPT_LEAST, KEPT_LEAST },
					     { KEPT_NAMES, KEPT_NOTHING },
					     { KEPT_NOTHING, KEPT_BODIES } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kept); i++) {
		struct replaced replaced = replace(same_names, kept[i]);

		assert_says(&replaced, "; it is compared as a whole");
		ck_assert_uint_eq(replaced.image->part_count, 1);
		ck_assert_int_eq(replaced.image->parts[0]->scope, HP_SCOPE_IMAGE);
		ck_assert_double_eq_tol(replaced.image->parts[0]->change.value, 0, 1e-9);
		ck_assert_uint_eq(replaced.image->parts[0]->part_count, 0);
	}
}

TEST(with_names_it_is_compared_by_procedure)
{
	static const enum kept kept[][2] = { { KEPT_NAMES, KEPT_NAMES },
					     { KEPT_BODIES, KEPT_BODIES } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kept); i++) {
		struct replaced replaced = replace(same_names, kept[i]);
		const struct hp_compared *host = build_find(replaced.comparison, "host");
		const struct hp_compared *same = build_find(replaced.comparison, "same");

		ck_assert_uint_eq(replaced.image->part_count, 2);
		ck_assert(host && same);
		ck_assert_int_eq(host->scope, HP_SCOPE_PROCEDURE);
		ck_assert_double_eq_tol(host->change.value, 1, 1e-9);
		ck_assert_double_eq_tol(same->change.value, -0.5, 1e-9);
		ck_assert(host->is_finding);
		/* The place is the candidate's; what the base's lines cost is not known. */
		ck_assert_ptr_nonnull(host->file);
		hp_assert_contains(host->file, "pair.c");
		ck_assert_uint_eq(host->part_count, 0);
		ck_assert_uint_eq(host->code_count, 0);
	}
}

/* --- by body --------------------------------------------------------------------------------- */

/* Damage to some epochs' bodies leaves those of the others. */
TEST(a_procedure_of_another_name_is_known_by_its_body)
{
	static const enum kept kept[][2] = { { KEPT_BODIES, KEPT_BODIES },
					     { KEPT_DAMAGE, KEPT_BODIES },
					     { KEPT_BODIES, KEPT_NAMES } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kept); i++) {
		struct replaced replaced = replace(other_names, kept[i]);
		const struct hp_compared *latter = build_find(replaced.comparison, "latter");

		assert_says(&replaced,
			    "by the names and code of procedures that the epochs contain");
		ck_assert_int_eq(replaced.comparison->verdict, HP_VERDICT_PASS);
		ck_assert_ptr_nonnull(latter);
		ck_assert_str_eq(latter->former_name, "former");
		ck_assert_double_eq_tol(latter->change.value, 0, 1e-6);
		ck_assert_ptr_null(build_find(replaced.comparison, "former"));
	}
}

TEST(without_bodies_it_is_another_procedure)
{
	static const enum kept kept[][2] = { { KEPT_NAMES, KEPT_NAMES },
					     { KEPT_DAMAGE, KEPT_DAMAGE } };

	for (size_t i = 0; i < HP_ARRAY_COUNT(kept); i++) {
		struct replaced replaced = replace(other_names, kept[i]);

		assert_says(&replaced, "by the names that the epochs contain");
		ck_assert_int_eq(replaced.comparison->verdict, HP_VERDICT_REGRESSION);
		ck_assert(build_find(replaced.comparison, "latter")->is_finding);
		ck_assert(build_find(replaced.comparison, "former")->is_finding);
	}
}

TEST(what_was_inlined_since_is_a_shift_of_cost)
{
	static const enum kept kept[2] = { KEPT_BODIES, KEPT_BODIES };
	struct replaced replaced = replace(other_names, kept);
	const struct hp_compared *host = build_find(replaced.comparison, "host");

	ck_assert_ptr_nonnull(host);
	ck_assert_double_eq_tol(host->change.value, 0, 1e-6);
	ck_assert_uint_eq(host->shift_count, 1);
	ck_assert_str_eq(host->shifts[0].partner->name, "callee");
	ck_assert_double_eq_tol(host->shifts[0].cost, 200e6, 1);
	ck_assert_ptr_null(build_find(replaced.comparison, "callee"));
}

/* What the compiler put elsewhere goes with the rest of its procedure, by whatever name; also where
 * nothing else of that was sampled. */
TEST(what_was_split_is_known_by_its_body)
{
	static const enum kept kept[2] = { KEPT_BODIES, KEPT_BODIES };

	for (uint64_t apart = 200; apart <= 500; apart += 300) {
		const struct recording split[HP_SIDES] = {
			{ "cold_old",
			  { { .name = "work", .samples = 500 - apart },
			    { .name = "main", .samples = 500 } },
			  2,
			  apart },
			{ "cold_new",
			  { { .name = "labour", .samples = 500 },
			    { .name = "main", .samples = 500 } },
			  2,
			  0 },
		};
		struct replaced replaced = replace(split, kept);
		const struct hp_compared *labour = build_find(replaced.comparison, "labour");

		ck_assert_int_eq(replaced.comparison->verdict, HP_VERDICT_PASS);
		ck_assert_ptr_nonnull(labour);
		ck_assert_str_eq(labour->former_name, "work");
		ck_assert_double_eq_tol(labour->change.value, 0, 1e-6);
		ck_assert_ptr_null(build_find(replaced.comparison, "work"));
	}
}

HP_TEST_MAIN("compare/gone")
