/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two builds of one program: what was renamed, moved or inlined is found again. */
#include "../../src/compare/listing.h"
#include "../../src/compare/moved.h"
#include "../db_fixture.h"

#include <hpcprof/image/identity.h>

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* --- builds ---------------------------------------------------------------------------------- */

struct build {
	struct hp_image_id id;
	struct hp_image *image;
};

static struct build open_file(const char *path)
{
	char real[PATH_MAX];
	struct build build = { .id.kind = HP_IMAGE_FILE };
	const struct hp_image_options options = { .no_debuginfo = false };
	int fd;

	ck_assert_ptr_nonnull(realpath(path, real));
	fd = open(real, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	hp_assert_ok(hp_identity_of_fd(fd, &build.id.identity));
	close(fd);
	build.id.path = strdup(real);
	hp_assert_ok(hp_image_open(&build.id, &options, &build.image));
	return build;
}

static const char *path_of(const char *name, char *path)
{
	const char *directory = getenv("top_builddir");

	snprintf(path, PATH_MAX, "%s/tests/compare/%s", directory ? directory : ".", name);
	return path;
}

static struct build open_build(const char *name)
{
	char path[PATH_MAX];

	return open_file(path_of(name, path));
}

/* As a linker does: another file of the same name. */
static void copy_build(const char *name, const char *to)
{
	char path[PATH_MAX];
	size_t size;
	uint8_t *bytes = fixture_read(path_of(name, path), &size);

	(void)remove(to);
	fixture_write(to, bytes, size);
	free(bytes);
}

static void close_build(struct build *build)
{
	hp_image_close(build->image);
	hp_image_id_clear(&build->id);
}

static const struct hp_procedure *find_procedure(const struct build *build, const char *name)
{
	const struct hp_procedure *const *procedures;
	size_t count;

	hp_image_procedures(build->image, &procedures, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(procedures[i]->name, name) == 0 && procedures[i]->owner == procedures[i])
			return procedures[i];
	return NULL;
}

/* The file offset of a link-time address, by trying: segments are moved by whole pages. */
static uint64_t offset_of(const struct build *build, uint64_t address)
{
	hp_link_address found;

	for (uint64_t pages = 0; pages < 4096; pages++) {
		const uint64_t offset = address % 4096 + pages * 4096;

		if (hp_image_link_address(build->image, (hp_image_offset){ offset }, &found) &&
		    found.value == address)
			return offset;
	}
	ck_abort_msg("0x%lx is at no offset", (unsigned long)address);
	return 0;
}

/* --- epochs ---------------------------------------------------------------------------------- */

/* So many samples all over a procedure. */
struct spent {
	const char *name;
	uint64_t samples;
};

static int compare_counts_by_offset(const void *left, const void *right)
{
	const struct hp_count *a = left;
	const struct hp_count *b = right;

	return (a->offset.value > b->offset.value) - (a->offset.value < b->offset.value);
}

/* Every instruction of the procedure has as many, and its first the rest. */
static size_t spend(const struct build *build, const struct spent *spent, struct hp_count *counts)
{
	const struct hp_procedure *procedure = find_procedure(build, spent->name);
	const struct code code = {
		.image = &(struct side_image){ .file = build->image },
		.procedure = procedure,
	};
	struct hp_arena *arena = hp_arena_create();
	struct listing listing;
	uint64_t each;
	size_t count = 0;

	ck_assert_msg(procedure != NULL, "no %s", spent->name);
	hp_assert_ok(listing_create(arena, &code, &listing));
	ck_assert_uint_gt(listing.count, 8);
	each = spent->samples / listing.count;
	for (size_t i = 0; i < listing.count; i++) {
		uint64_t samples = each + (i ? 0 : spent->samples - each * listing.count);

		if (samples)
			counts[count++] =
				(struct hp_count){ { offset_of(build, listing.at[i].address) },
						   samples };
	}
	hp_arena_destroy(arena);
	return count;
}

static char *record(struct hp_db *db, const struct build *build, const struct spent *spent,
		    size_t procedures)
{
	static struct hp_count counts[10000];
	static uint64_t start_ns = 1763650000000000000;
	char nothing[] = "";
	char event[] = "cpu-clock:u";
	struct hp_stratum stratum = { .command = nothing, .period = 1000000, .counts = counts };
	const struct hp_profile profile = { build->id, event, &stratum, 1 };
	struct hp_epoch_meta meta;
	struct hp_epoch_writer *writer;
	uint64_t samples = 0;
	size_t index;
	char *stamp;

	for (size_t i = 0; i < procedures; i++) {
		stratum.count_count += spend(build, &spent[i], counts + stratum.count_count);
		samples += spent[i].samples;
	}
	qsort(counts, stratum.count_count, sizeof(*counts), compare_counts_by_offset);
	meta = fixture_meta(event, samples, true);
	meta.start_ns = start_ns += 1000000000;
	meta.runs = calloc(1, sizeof(*meta.runs));
	meta.run_count = 1;
	meta.runs[0].user_ns = samples * 1000000;
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &build->id, &index));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	stamp = strdup(hp_epoch_writer_stamp(writer));
	hp_epoch_writer_destroy(writer);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

static const struct hp_compared *find(const struct hp_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->program->part_count; i++) {
		const struct hp_compared *image = comparison->program->parts[i];

		for (size_t j = 0; j < image->part_count; j++)
			if (strcmp(image->parts[j]->name, name) == 0)
				return image->parts[j];
	}
	return NULL;
}

/* --- comparisons of the two ------------------------------------------------------------------ */

struct test {
	char *directory;
	struct hp_db *db;
	struct build builds[HP_SIDES];
	struct hp_comparison *comparison;
};

/* Four epochs of each build, in turns; `host` costs the new one so many samples. */
static struct test begin(uint64_t host)
{
	const struct spent old[] = {
		{ "same", 400 }, { "former", 300 }, { "host", 100 }, { "callee", 200 }
	};
	const struct spent new[] = { { "same", 400 }, { "latter", 300 }, { "host", host } };
	struct test test = { .directory = fixture_directory() };
	char *stamps[HP_SIDES][4];
	struct hp_compare_epochs sides[HP_SIDES];
	const struct hp_compare_options options = { 0 };

	test.db = fixture_db(test.directory);
	test.builds[HP_BASE] = open_build("pair_old");
	test.builds[HP_CANDIDATE] = open_build("pair_new");
	for (size_t i = 0; i < 4; i++) {
		stamps[HP_BASE][i] =
			record(test.db, &test.builds[HP_BASE], old, HP_ARRAY_COUNT(old));
		stamps[HP_CANDIDATE][i] =
			record(test.db, &test.builds[HP_CANDIDATE], new, HP_ARRAY_COUNT(new));
	}
	for (size_t side = 0; side < HP_SIDES; side++)
		sides[side] = (struct hp_compare_epochs){ test.db, stamps[side], 4, 0 };
	hp_assert_ok(hp_compare(sides, &options, &test.comparison));
	for (size_t i = 0; i < 4; i++) {
		free(stamps[HP_BASE][i]);
		free(stamps[HP_CANDIDATE][i]);
	}
	return test;
}

static void end(struct test *test)
{
	hp_comparison_destroy(test->comparison);
	for (size_t side = 0; side < HP_SIDES; side++)
		close_build(&test->builds[side]);
	hp_db_close(test->db);
	fixture_remove(test->directory);
}

START_TEST(a_procedure_of_another_name_is_known_by_its_code)
{
	struct test test = begin(300);
	const struct hp_compared *latter = find(test.comparison, "latter");

	ck_assert_ptr_nonnull(latter);
	ck_assert_str_eq(latter->former_name, "former");
	ck_assert_double_eq_tol(latter->change.value, 0, 1e-6);
	ck_assert_ptr_null(find(test.comparison, "former"));
	end(&test);
}
END_TEST

START_TEST(what_was_inlined_counts_for_its_caller_and_is_no_finding)
{
	struct test test = begin(300);
	const struct hp_compared *host = find(test.comparison, "host");

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_PASS);
	ck_assert_ptr_nonnull(host);
	ck_assert_double_eq_tol(host->change.value, 0, 1e-6);
	ck_assert_uint_eq(host->shift_count, 1);
	ck_assert_str_eq(host->shifts[0].partner->name, "callee");
	/* 200 samples of a millisecond. */
	ck_assert_double_eq_tol(host->shifts[0].cost, 200e6, 1);
	ck_assert_ptr_null(find(test.comparison, "callee"));
	ck_assert_ptr_null(host->former_name);
	end(&test);
}
END_TEST

START_TEST(what_got_dearer_by_inlining_is_a_finding_all_the_same)
{
	struct test test = begin(500);
	const struct hp_compared *host = find(test.comparison, "host");

	ck_assert_int_eq(test.comparison->verdict, HP_VERDICT_REGRESSION);
	ck_assert(host->is_finding);
	ck_assert_double_eq_tol(host->lost.value, 200e6, 1);
	end(&test);
}
END_TEST

START_TEST(findings_show_lines_and_instructions_of_both_sides)
{
	struct test test = begin(500);
	const struct hp_compared *host = find(test.comparison, "host");
	bool lines = false;
	bool instructions = false;

	ck_assert_ptr_nonnull(host->file);
	ck_assert_ptr_nonnull(strstr(host->file, "pair.c"));
	ck_assert_uint_gt(host->line, 0);
	ck_assert_uint_gt(host->part_count, 0);
	for (size_t i = 0; i < host->code_count; i++) {
		lines = lines ||
			(!host->code[i].text[HP_BASE] && !host->code[i].text[HP_CANDIDATE]);
		instructions = instructions || host->code[i].text[HP_CANDIDATE];
	}
	ck_assert(lines);
	ck_assert(instructions);
	end(&test);
}
END_TEST

/* What the lines of a procedure cost on a side, and their samples. */
static double sum_of_lines(const struct hp_compared *procedure, size_t side, uint64_t *samples)
{
	double sum = 0;

	*samples = 0;
	for (size_t i = 0; i < procedure->part_count; i++) {
		const struct hp_compared *line = procedure->parts[i];

		ck_assert_int_eq(line->scope, HP_SCOPE_LINE);
		ck_assert_str_eq(line->name, procedure->name);
		ck_assert_ptr_nonnull(strstr(line->file, "pair.c"));
		ck_assert_uint_gt(line->line, 0);
		ck_assert(line->lost.low <= line->lost.value &&
			  line->lost.value <= line->lost.high);
		sum += line->side[side].cost.value;
		*samples += line->side[side].samples;
	}
	return sum;
}

START_TEST(lines_of_a_procedure_add_up_to_it)
{
	struct test test = begin(500);
	const struct hp_compared *same = find(test.comparison, "same");
	const struct hp_compared *host = find(test.comparison, "host");
	uint64_t samples;

	for (size_t side = 0; side < HP_SIDES; side++) {
		ck_assert_double_eq_tol(sum_of_lines(same, side, &samples),
					same->side[side].cost.value, 1e-6);
		ck_assert_uint_eq(samples, 4 * 400);
	}
	ck_assert_double_eq_tol(sum_of_lines(host, HP_CANDIDATE, &samples),
				host->side[HP_CANDIDATE].cost.value, 1e-6);
	ck_assert_uint_eq(samples, 4 * 500);
	/* What was inlined was no line of it. */
	ck_assert_double_gt(host->side[HP_BASE].cost.value, 0);
	ck_assert_double_eq_tol(sum_of_lines(host, HP_BASE, &samples),
				host->side[HP_BASE].cost.value / 3, 1e-6);
	ck_assert_uint_eq(samples, 4 * 100);
	end(&test);
}
END_TEST

/* The builds have `same` on lines of different numbers. */
START_TEST(a_line_that_moved_is_known_by_its_code)
{
	struct test test = begin(500);
	const struct hp_compared *same = find(test.comparison, "same");

	ck_assert_uint_gt(same->part_count, 0);
	for (size_t i = 0; i < same->part_count; i++) {
		ck_assert_double_eq_tol(same->parts[i]->change.value, 0, 1e-9);
		ck_assert(same->parts[i]->change.low < 0 && same->parts[i]->change.high > 0);
	}
	end(&test);
}
END_TEST

/* --- a build that is gone -------------------------------------------------------------------- */

/* Where the old build was is the new one. Two epochs of the old one, `named` of them with the names
 * of what was sampled, as they are recorded. */
struct replaced {
	char *directory;
	struct hp_db *db;
	struct hp_comparison *comparison;
	const struct hp_compared *image;
};

static void keep_names(struct hp_db *db, const char *stamp, const struct build *build,
		       const struct spent *spent, size_t count)
{
	struct hp_epoch_writer *writer;
	size_t index;

	hp_assert_ok(hp_epoch_append(db, stamp, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &build->id, &index));
	for (size_t i = 0; i < count; i++) {
		const struct hp_procedure *procedure = find_procedure(build, spent[i].name);
		char name[64];
		struct hp_symbol symbol = { .size = procedure->size, .name = name };

		symbol.offset.value = offset_of(build, procedure->address.value);
		snprintf(name, sizeof(name), "%s", procedure->linkage);
		hp_assert_ok(hp_epoch_writer_symbols(writer, index, &symbol, 1));
	}
	hp_epoch_writer_destroy(writer);
}

static struct replaced replace(size_t named)
{
	/* What `host` gained `same` lost: the image as a whole costs the same. */
	const struct spent spent[HP_SIDES][2] = {
		{ { "same", 800 }, { "host", 400 } },
		{ { "same", 400 }, { "host", 800 } },
	};
	const struct hp_compare_options options = { 0 };
	struct replaced replaced = { .directory = fixture_directory() };
	const char *path = fixture_path(replaced.directory, "program");
	char *stamps[HP_SIDES][2];
	struct hp_compare_epochs sides[HP_SIDES];

	replaced.db = fixture_db(replaced.directory);
	for (size_t side = 0; side < HP_SIDES; side++) {
		struct build build;

		copy_build(side == HP_BASE ? "pair_old" : "pair_new", path);
		build = open_file(path);
		for (size_t i = 0; i < 2; i++) {
			stamps[side][i] = record(replaced.db, &build, spent[side], 2);
			if (side == HP_BASE && i < named)
				keep_names(replaced.db, stamps[side][i], &build, spent[side], 2);
		}
		sides[side] = (struct hp_compare_epochs){ replaced.db, stamps[side], 2, 0 };
		close_build(&build);
	}
	hp_assert_ok(hp_compare(sides, &options, &replaced.comparison));
	ck_assert_uint_eq(replaced.comparison->program->part_count, 1);
	replaced.image = replaced.comparison->program->parts[0];
	ck_assert_ptr_nonnull(
		strstr(replaced.comparison->notes[0], "has changed since the recording"));
	for (size_t side = 0; side < HP_SIDES; side++)
		for (size_t i = 0; i < 2; i++)
			free(stamps[side][i]);
	return replaced;
}

static void forget(struct replaced *replaced)
{
	hp_comparison_destroy(replaced->comparison);
	hp_db_close(replaced->db);
	fixture_remove(replaced->directory);
}

/* Also when one epoch has names: samples of the other would be missing from the procedures. */
START_TEST(a_build_that_was_replaced_is_compared_as_a_whole)
{
	for (size_t named = 0; named < 2; named++) {
		struct replaced replaced = replace(named);

		ck_assert_uint_eq(replaced.image->part_count, 1);
		ck_assert_int_eq(replaced.image->parts[0]->scope, HP_SCOPE_IMAGE);
		ck_assert_double_eq_tol(replaced.image->parts[0]->change.value, 0, 1e-9);
		ck_assert_uint_eq(replaced.image->parts[0]->part_count, 0);
		forget(&replaced);
	}
}
END_TEST

START_TEST(with_kept_names_a_build_that_was_replaced_is_compared_by_procedure)
{
	struct replaced replaced = replace(2);
	const struct hp_compared *host = find(replaced.comparison, "host");
	const struct hp_compared *same = find(replaced.comparison, "same");

	ck_assert_uint_eq(replaced.image->part_count, 2);
	ck_assert(host && same);
	ck_assert_int_eq(host->scope, HP_SCOPE_PROCEDURE);
	ck_assert_double_eq_tol(host->change.value, 1, 1e-9);
	ck_assert_double_eq_tol(same->change.value, -0.5, 1e-9);
	ck_assert(host->is_finding);
	/* The place is the candidate's; what the base's lines cost is not known. */
	ck_assert_ptr_nonnull(host->file);
	ck_assert_ptr_nonnull(strstr(host->file, "pair.c"));
	ck_assert_uint_eq(host->part_count, 0);
	ck_assert_uint_eq(host->code_count, 0);
	forget(&replaced);
}
END_TEST

/* --- code ------------------------------------------------------------------------------------ */

START_TEST(the_same_source_elsewhere_is_the_same_code)
{
	struct build old = open_build("pair_old");
	struct build new = open_build("pair_new");
	struct side_image images[] = { { .file = old.image }, { .file = new.image } };
	const struct code same[] = {
		{ .image = &images[0], .procedure = find_procedure(&old, "same") },
		{ .image = &images[1], .procedure = find_procedure(&new, "same") }
	};
	const struct code other = { .image = &images[0],
				    .procedure = find_procedure(&old, "former") };
	double similarity;

	ck_assert_uint_ne(same[0].procedure->address.value, same[1].procedure->address.value);
	hp_assert_ok(moved_similarity(&same[0], &same[1], &similarity));
	ck_assert_double_eq_tol(similarity, 1, 1e-9);
	hp_assert_ok(moved_similarity(&same[0], &other, &similarity));
	ck_assert_double_lt(similarity, 0.5);
	close_build(&old);
	close_build(&new);
}
END_TEST

/* The longest common subsequence, by the table that takes all the time it needs. */
static size_t longest_common(const struct listing *a, const struct listing *b)
{
	size_t table[33][33] = { 0 };

	for (size_t i = 0; i < a->count; i++)
		for (size_t j = 0; j < b->count; j++)
			table[i + 1][j + 1] = a->at[i].hash == b->at[j].hash	  ? table[i][j] + 1
					      : table[i][j + 1] > table[i + 1][j] ? table[i][j + 1]
										  : table[i + 1][j];
	return table[a->count][b->count];
}

START_TEST(as_many_instructions_are_paired_as_can_be)
{
	struct hp_random random = hp_random_seeded(5);

	for (int round = 0; round < 2000; round++) {
		struct listed lists[2][32] = { 0 };
		struct listing a = { lists[0], hp_random_between(&random, 0, 32) };
		struct listing b = { lists[1], hp_random_between(&random, 0, 32) };
		size_t *partners;
		size_t paired = 0;
		size_t next = 0;

		for (size_t i = 0; i < 32; i++) {
			lists[0][i].hash = hp_random_between(&random, 1, 4);
			lists[1][i].hash = hp_random_between(&random, 1, 4);
		}
		hp_assert_ok(listing_align(&a, &b, &partners));
		for (size_t i = 0; i < b.count; i++) {
			if (partners[i] == SIZE_MAX)
				continue;
			/* In order, and the same. */
			ck_assert_uint_ge(partners[i], next);
			ck_assert_uint_lt(partners[i], a.count);
			ck_assert_uint_eq(a.at[partners[i]].hash, b.at[i].hash);
			next = partners[i] + 1;
			paired++;
		}
		ck_assert_uint_eq(paired, longest_common(&a, &b));
		free(partners);
	}
}
END_TEST

HP_TEST_MAIN("compare/moved", a_procedure_of_another_name_is_known_by_its_code,
	     what_was_inlined_counts_for_its_caller_and_is_no_finding,
	     what_got_dearer_by_inlining_is_a_finding_all_the_same,
	     findings_show_lines_and_instructions_of_both_sides, lines_of_a_procedure_add_up_to_it,
	     a_line_that_moved_is_known_by_its_code,
	     a_build_that_was_replaced_is_compared_as_a_whole,
	     with_kept_names_a_build_that_was_replaced_is_compared_by_procedure,
	     the_same_source_elsewhere_is_the_same_code, as_many_instructions_are_paired_as_can_be)
