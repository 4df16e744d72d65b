/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Somebody changes one file of an epoch, and computes its checksums anew: the other files
 * contradict, and nobody shows its figures without saying so.
 */
#include "../db_fixture.h"

#include "../../src/db/codec.h"
#include "../../src/db/names.h"

#include <hpcprof/base/cleanup.h>

#include <string.h>

struct forgery {
	char *directory;
	struct hp_db *db;
	char *stamp;
	char *name; /* of the file that is forged */
	char *path;
	uint8_t *bytes;
	size_t size;
};

static const char *epoch_path(const struct forgery *forgery, const char *name)
{
	return fixture_path(fixture_path(fixture_path(forgery->directory, "db"), forgery->stamp),
			    name);
}

static struct forgery begin(void)
{
	struct forgery forgery = { .directory = temporary_directory() };

	forgery.db = fixture_db(forgery.directory);
	forgery.stamp = fixture_rich_epoch(forgery.db);
	return forgery;
}

static void end(struct forgery *forgery)
{
	ck_assert_uint_eq(fixture_verify(forgery->db, NULL, 0), 0);
}

static struct fixture_names files_of(const struct forgery *forgery)
{
	return fixture_names(epoch_path(forgery, ""));
}

/* The first file whose name ends so. */
static void choose(struct forgery *forgery, const char *suffix)
{
	struct fixture_names names = files_of(forgery);

	for (size_t i = 0; i < names.count; i++) {
		size_t length = strlen(names.at[i]);

		if (length < strlen(suffix) ||
		    strcmp(names.at[i] + length - strlen(suffix), suffix) != 0)
			continue;
		forgery->name = strdup(names.at[i]);
		forgery->path = strdup(epoch_path(forgery, names.at[i]));
		forgery->bytes = fixture_read(forgery->path, &forgery->size);
		return;
	}
	ck_abort_msg("no %s", suffix);
}

static uint8_t *copy_of(const struct forgery *forgery)
{
	uint8_t *copy = malloc(forgery->size + 1);

	memcpy(copy, forgery->bytes, forgery->size);
	return copy;
}

static void put_back(struct forgery *forgery)
{
	fixture_write(forgery->path, forgery->bytes, forgery->size);
	free(forgery->bytes);
	free(forgery->path);
	free(forgery->name);
}

/* Shown by nobody as if nothing was wrong. */
static void assert_not_shown(const struct forgery *forgery, const char *what)
{
	struct hp_epoch *epoch;
	struct hp_error *error = hp_epoch_open(forgery->db, forgery->stamp, &epoch);
	char **warnings;

	if (error) {
		ck_assert_int_eq(error->class, HP_ERROR_DAMAGED);
		hp_assert_contains(error->message, forgery->name);
		hp_error_destroy(error);
		return;
	}
	warnings = hp_epoch_meta(epoch)->warnings;
	ck_assert_msg(warnings && warnings[0], "%s: %s", forgery->name, what);
	ck_assert_msg(strstr(warnings[0], forgery->name) && strstr(warnings[0], forgery->stamp),
		      "%s: %s", what, warnings[0]);
	hp_epoch_close(epoch);
}

/* Of one problem: which file it is of, and what is wrong. */
struct wanted {
	char file[512];
	const char *what;
	bool is_found;
	char first[1024];
};

static void look(enum hp_verify_finding finding, const char *text, void *context)
{
	struct wanted *wanted = context;

	ck_assert_int_eq(finding, HP_VERIFY_PROBLEM);
	if (!wanted->first[0])
		snprintf(wanted->first, sizeof(wanted->first), "%s", text);
	if (strncmp(text, wanted->file, strlen(wanted->file)) == 0 && strstr(text, wanted->what))
		wanted->is_found = true;
}

static void assert_noticed(const struct forgery *forgery, const char *what)
{
	struct wanted wanted = { .what = what };
	struct hp_verifying verifying = { .each = look, .context = &wanted };
	char *stamp = forgery->stamp;

	snprintf(wanted.file, sizeof(wanted.file), "%s/%s: ", forgery->stamp, forgery->name);
	hp_assert_ok(hp_db_verify(forgery->db, &stamp, 1, &verifying));
	ck_assert_msg(wanted.is_found, "no '%s', but %s", what, wanted.first);
	assert_not_shown(forgery, what);
}

/* Takes over the file. */
static void forge(const struct forgery *forgery, struct hp_error *error, struct hp_writer *file,
		  const char *what)
{
	hp_assert_ok(error);
	fixture_write(forgery->path, file->bytes, file->size);
	hp_writer_free(file);
	assert_noticed(forgery, what);
}

/* --- figures ------------------------------------------------------------------------------ */

static void forge_profile(const struct forgery *forgery, void (*change)(struct hp_stratum *stratum),
			  const char *what)
{
	_cleanup_(hp_profile_clear) struct hp_profile profile;
	struct hp_writer file;

	hp_assert_ok(hp_profile_decode(copy_of(forgery), forgery->size, &profile, NULL, NULL));
	ck_assert_uint_gt(profile.strata[0].count_count, 1);
	change(&profile.strata[0]);
	forge(forgery, hp_profile_encode(&profile, &file), &file, what);
}

static void one_more(struct hp_stratum *stratum)
{
	stratum->counts[0].samples++;
}

static void another_period(struct hp_stratum *stratum)
{
	stratum->period--;
}

static void elsewhere(struct hp_stratum *stratum)
{
	stratum->counts[stratum->count_count - 1].offset.value++;
}

static void more_here_fewer_there(struct hp_stratum *stratum)
{
	for (size_t i = 1; i < stratum->count_count; i++) {
		if (stratum->counts[i].samples == 1)
			continue;
		stratum->counts[0].samples++;
		stratum->counts[i].samples--;
		return;
	}
	ck_abort_msg("one sample everywhere");
}

TEST(forged_samples_are_noticed)
{
	struct forgery forgery = begin();

	choose(&forgery, ".prof");
	forge_profile(&forgery, one_more, " samples, and meta knows of ");
	forge_profile(&forgery, another_period, " units in its samples, and meta knows of ");
	forge_profile(&forgery, elsewhere, "its figures are not those that meta lists");
	forge_profile(&forgery, more_here_fewer_there, "its figures are not those that meta lists");
	put_back(&forgery);
	end(&forgery);
}

TEST(forged_names_are_noticed)
{
	struct forgery forgery = begin();
	struct hp_symbol_file symbols;
	struct hp_writer file;

	choose(&forgery, ".sym");
	hp_assert_ok(hp_symbols_decode(copy_of(&forgery), forgery.size, &symbols));
	forge(&forgery, hp_symbols_encode(&symbols.image, symbols.symbols, 1, &file), &file,
	      "1 names, and meta knows of 2");
	symbols.symbols[0].name[0] = 'X';
	forge(&forgery, hp_symbols_encode(&symbols.image, symbols.symbols, 2, &file), &file,
	      "its figures are not those that meta lists");
	hp_symbol_file_clear(&symbols);
	put_back(&forgery);
	end(&forgery);
}

TEST(forged_counts_of_windows_are_noticed)
{
	struct forgery forgery = begin();
	struct hp_window_evidence evidence;
	struct hp_writer file;

	choose(&forgery, "evidence");
	hp_assert_ok(hp_evidence_decode(copy_of(&forgery), forgery.size, &evidence, NULL, NULL));
	evidence.strata[0].items[0].counts[0]++;
	forge(&forgery, hp_evidence_encode(&evidence, &file), &file,
	      "its figures are not those that meta lists");
	evidence.strata[0].groups[0].windows++;
	forge(&forgery, hp_evidence_encode(&evidence, &file), &file,
	      " windows, and meta knows of ");
	hp_window_evidence_clear(&evidence);
	put_back(&forgery);
	end(&forgery);
}

TEST(forged_images_and_copies_of_them_are_noticed)
{
	struct forgery forgery = begin();
	struct hp_image_id image = fixture_image(9);
	struct hp_index index;
	struct hp_writer file;
	size_t at;

	choose(&forgery, "images");
	hp_assert_ok(hp_index_decode(copy_of(&forgery), forgery.size, &index, NULL));
	index.entries[1].bytes_crc++;
	forge(&forgery, hp_index_encode(&index, &file), &file,
	      "its figures are not those that meta lists");
	hp_assert_ok(hp_index_add(&index, &image, &at));
	forge(&forgery, hp_index_encode(&index, &file), &file, "4 images, and meta knows of 3");
	index.meta.are_known = false;
	forge(&forgery, hp_index_encode(&index, &file), &file, "it does not list meta");
	hp_index_clear(&index);
	hp_image_id_clear(&image);
	put_back(&forgery);
	end(&forgery);
}

/* With what it knows of the others, which holds. */
static void forge_meta(const struct forgery *forgery, size_t offset, const char *what)
{
	_cleanup_(hp_epoch_meta_clear) struct hp_epoch_meta meta;
	struct hp_file_sums sums;
	struct hp_writer file;

	hp_assert_ok(hp_meta_decode(copy_of(forgery), forgery->size, &meta, &sums, NULL));
	ck_assert_uint_eq(sums.count, 12);
	if (offset < sizeof(meta.events[0]))
		++*(uint64_t *)(void *)((char *)&meta.events[0] + offset);
	else if (offset == SIZE_MAX)
		hp_file_sums_clear(&sums);
	else
		++*(uint64_t *)(void *)((char *)&meta + offset - sizeof(meta.events[0]));
	forge(forgery, hp_meta_encode(&meta, &sums, &file), &file, what);
	hp_file_sums_clear(&sums);
}

#define EVENT(member) offsetof(struct hp_event_totals, member)
#define META(member)  (sizeof(struct hp_event_totals) + offsetof(struct hp_epoch_meta, member))

TEST(a_forged_description_is_noticed)
{
	static const struct {
		size_t offset;
		const char *what;
	} figures[] = {
		{ EVENT(samples), "samples listed" },
		{ EVENT(unattributed), "unattributed samples listed" },
		{ EVENT(lost), "its events" },
		{ EVENT(throttled), "its events" },
		{ EVENT(period_total), "its events" },
		{ EVENT(enabled_ns), "its events" },
		{ EVENT(running_ns), "its events" },
		{ META(start_ns), "its description" },
		{ META(end_ns), "its description" },
		{ META(sample_cost_ns), "its description" },
		{ META(own_cpu_ns), "its description" },
		{ META(target_cpu_ns), "its description" },
		{ META(target_system_ns), "its description" },
		{ META(damaged_records), "its description" },
		{ SIZE_MAX, "it does not list images" },
	};
	struct forgery forgery = begin();

	choose(&forgery, "meta");
	for (size_t i = 0; i < HP_ARRAY_COUNT(figures); i++)
		forge_meta(&forgery, figures[i].offset, figures[i].what);
	put_back(&forgery);
	/* A label is given later, by whoever likes to. */
	hp_assert_ok(hp_db_label(forgery.db, forgery.stamp, "other"));
	end(&forgery);
}

TEST(a_file_that_is_gone_or_was_added_is_noticed)
{
	struct forgery forgery = begin();
	struct hp_image_id image = fixture_image(2);
	struct hp_symbol_file symbols;
	struct hp_writer file;
	char *added = hp_symbols_name(&image);

	choose(&forgery, ".sym");
	ck_assert_int_eq(remove(forgery.path), 0);
	assert_noticed(&forgery, "it is missing, but meta lists it");
	fixture_write(forgery.path, forgery.bytes, forgery.size);
	hp_assert_ok(hp_symbols_decode(copy_of(&forgery), forgery.size, &symbols));
	hp_assert_ok(hp_symbols_encode(&image, symbols.symbols, 1, &file));
	fixture_write(epoch_path(&forgery, added), file.bytes, file.size);
	free(forgery.name);
	forgery.name = added;
	assert_noticed(&forgery, "meta does not list it");
	ck_assert_int_eq(remove(epoch_path(&forgery, added)), 0);
	hp_writer_free(&file);
	hp_symbol_file_clear(&symbols);
	hp_image_id_clear(&image);
	put_back(&forgery);
	end(&forgery);
}

/* --- every byte --------------------------------------------------------------------------- */

static const struct hp_container_kind *kind_of(const char *name)
{
	if (strcmp(name, "meta") == 0)
		return &hp_meta_kind;
	if (strcmp(name, "images") == 0)
		return &hp_index_kind;
	if (strcmp(name, "evidence") == 0)
		return &hp_evidence_kind;
	if (strstr(name, ".prof"))
		return &hp_profile_kind;
	if (strstr(name, ".code"))
		return &hp_excerpt_kind;
	return strstr(name, ".sym") ? &hp_symbols_kind : NULL;
}

/* The file with one byte of one section another one. */
static struct hp_writer mutant(const struct hp_container *file,
			       const struct hp_container_kind *kind, size_t section, size_t at)
{
	struct hp_container_builder builder = { .kind = kind };
	struct hp_writer out;

	for (size_t i = 0; i < file->section_count; i++) {
		const struct hp_section *from = &file->sections[i];
		uint8_t *raw = malloc(from->raw_size);

		memcpy(raw, from->raw, from->raw_size);
		if (i == section)
			raw[at] ^= 1;
		hp_container_add(&builder, from->tag, from->flags & HP_SECTION_REQUIRED, raw,
				 from->raw_size);
		free(raw);
	}
	hp_assert_ok(hp_container_finish(&builder, &out));
	return out;
}

/* Only the label, which anybody may give who may write, is not held by another file. */
static bool is_in_label(const struct hp_section *section, size_t at)
{
	static const char label[] = "\"label\":\"rich\"";
	const char *found;

	if (strcmp(section->tag, "json") != 0)
		return false;
	found = memmem(section->raw, section->raw_size, label, strlen(label));
	ck_assert_ptr_nonnull(found);
	return at >= (size_t)(found - (const char *)section->raw) + strlen("\"label\":\"") &&
	       at < (size_t)(found - (const char *)section->raw) + strlen(label) - 1;
}

static void forge_every_byte(struct forgery *forgery)
{
	const struct hp_container_kind *kind = kind_of(forgery->name);
	_cleanup_(hp_container_clear) struct hp_container file;

	hp_assert_ok(hp_container_parse(copy_of(forgery), forgery->size, kind, &file));
	for (size_t i = 0; i < file.section_count; i++) {
		for (size_t at = 0; at < file.sections[i].raw_size; at++) {
			struct hp_writer out;
			char how[64];

			if (is_in_label(&file.sections[i], at))
				continue;
			out = mutant(&file, kind, i, at);
			fixture_write(forgery->path, out.bytes, out.size);
			hp_writer_free(&out);
			snprintf(how, sizeof(how), "section %s, byte %zu", file.sections[i].tag,
				 at);
			ck_assert_msg(fixture_verify(forgery->db, NULL, 0) > 0, "%s: %s",
				      forgery->name, how);
		}
	}
}

TEST(no_byte_of_one_file_can_be_forged_unnoticed)
{
	struct forgery forgery = begin();
	struct fixture_names names = files_of(&forgery);

	for (size_t i = 0; i < names.count; i++) {
		if (!kind_of(names.at[i]))
			continue;
		choose(&forgery, names.at[i]);
		forge_every_byte(&forgery);
		put_back(&forgery);
	}
	end(&forgery);
}

/* --- and older epochs --------------------------------------------------------------------- */

TEST(an_epoch_of_an_older_version_is_not_bad_but_named)
{
	struct forgery forgery = begin();
	struct hp_verifying verifying = { 0 };
	struct hp_epoch *epoch;
	struct hp_epoch_writer *writer;
	struct hp_epoch_meta meta;

	fixture_forget_sums(epoch_path(&forgery, ""));
	hp_assert_ok(hp_db_verify(forgery.db, &forgery.stamp, 1, &verifying));
	ck_assert_uint_eq(verifying.counts[HP_VERIFY_PROBLEM], 0);
	ck_assert_uint_eq(verifying.counts[HP_VERIFY_UNSUMMED], 1);
	hp_assert_ok(hp_epoch_open(forgery.db, forgery.stamp, &epoch));
	ck_assert_ptr_null(hp_epoch_meta(epoch)->warnings);
	hp_epoch_close(epoch);
	/* Whoever adds to it sums up all of it. */
	hp_assert_ok(hp_epoch_append(forgery.db, forgery.stamp, &writer));
	meta = *hp_epoch_writer_previous(writer);
	meta.complete = true;
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_epoch_writer_destroy(writer);
	hp_assert_ok(hp_db_verify(forgery.db, &forgery.stamp, 1, &verifying));
	ck_assert_uint_eq(verifying.counts[HP_VERIFY_UNSUMMED], 0);
	end(&forgery);
}

/* A warning stays with the sum: what was forged is part of it. */
TEST(a_sum_of_a_forged_epoch_says_so)
{
	struct forgery forgery = begin();
	struct hp_profile profile;
	struct hp_epoch *epoch;
	struct hp_writer file;
	char *merged;

	choose(&forgery, ".prof");
	hp_assert_ok(hp_profile_decode(copy_of(&forgery), forgery.size, &profile, NULL, NULL));
	elsewhere(&profile.strata[0]);
	hp_assert_ok(hp_profile_encode(&profile, &file));
	fixture_write(forgery.path, file.bytes, file.size);
	merged = fixture_merge(forgery.db, &forgery.stamp, 1, NULL);
	hp_assert_ok(hp_epoch_open(forgery.db, merged, &epoch));
	ck_assert_ptr_nonnull(hp_epoch_meta(epoch)->warnings);
	hp_assert_contains(hp_epoch_meta(epoch)->warnings[0], forgery.name);
	hp_epoch_close(epoch);
	hp_writer_free(&file);
	hp_profile_clear(&profile);
	put_back(&forgery);
	end(&forgery);
}

HP_TEST_MAIN("db/forged")
