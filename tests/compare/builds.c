/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "builds.h"

#include "../../src/compare/listing.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/image/identity.h>

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* --- builds ---------------------------------------------------------------------------------- */

static void close_image(void *image)
{
	hp_image_close(image);
}

struct build build_open_file(const char *path)
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
	build.id.path = kept(strdup(real));
	hp_assert_ok(hp_image_open(&build.id, &options, &build.image));
	at_end(close_image, build.image);
	return build;
}

static const char *path_of(const char *name, char *path)
{
	const char *directory = getenv("top_builddir");

	snprintf(path, PATH_MAX, "%s/tests/compare/%s", directory ? directory : ".", name);
	return path;
}

struct build build_open(const char *name)
{
	char path[PATH_MAX];

	return build_open_file(path_of(name, path));
}

/* As a linker does: another file of the same name. */
void build_copy(const char *name, const char *to)
{
	char path[PATH_MAX];
	size_t size;
	_cleanup_free_ uint8_t *bytes = fixture_read(path_of(name, path), &size);

	(void)remove(to);
	fixture_write(to, bytes, size);
}

const struct hp_procedure *build_procedure(const struct build *build, const char *name)
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
uint64_t build_offset(const struct build *build, uint64_t address)
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

HP_ORDER_BY(compare_counts_by_offset, struct hp_count, offset.value);

static bool is_meant(const struct spent *spent, const struct listed *listed)
{
	return !spent->line || listed->line == spent->line;
}

/* Every instruction that is meant has as many, and the first the rest. */
static size_t spend(const struct build *build, const struct spent *spent, struct hp_count *counts)
{
	const struct hp_procedure *procedure =
		spent->procedure ? spent->procedure : build_procedure(build, spent->name);
	const struct code code = {
		.image = &(struct side_image){ .file = build->image },
		.procedure = procedure,
	};
	struct hp_arena *arena = hp_arena_create();
	struct listing listing;
	uint64_t meant = 0;
	uint64_t rest;
	size_t count = 0;

	ck_assert_msg(procedure != NULL, "no %s", spent->name);
	hp_assert_ok(listing_create(arena, &code, &listing));
	ck_assert_uint_gt(listing.count, 8);
	for (size_t i = 0; i < listing.count; i++)
		meant += is_meant(spent, &listing.at[i]);
	ck_assert_msg(meant > 0, "no line %u in %s", spent->line, procedure->name);
	rest = spent->samples % meant;
	for (size_t i = 0; i < listing.count; i++) {
		uint64_t samples = spent->samples / meant + rest;

		if (!is_meant(spent, &listing.at[i]) || !samples)
			continue;
		rest = 0;
		counts[count++] = (struct hp_count){ { build_offset(build, listing.at[i].address) },
						     samples };
	}
	hp_arena_destroy(arena);
	return count;
}

/* Sorted, each offset once. */
static size_t settle(struct hp_count *counts, size_t count)
{
	size_t kept = 0;

	qsort(counts, count, sizeof(*counts), compare_counts_by_offset);
	for (size_t i = 0; i < count; i++) {
		if (kept && counts[kept - 1].offset.value == counts[i].offset.value)
			counts[kept - 1].samples += counts[i].samples;
		else
			counts[kept++] = counts[i];
	}
	return kept;
}

uint64_t build_start_ns = 1763650000000000000;

char *build_record(struct hp_db *db, const struct build *build, const struct spent *spent,
		   size_t procedures)
{
	static struct hp_count counts[10000];
	char nothing[] = "";
	char event[] = "cpu-clock:u";
	struct hp_stratum stratum = { .command = nothing, .period = 1000000, .counts = counts };
	const struct hp_profile profile = {
		.image = build->id,
		.event = event,
		.strata = &stratum,
		.stratum_count = 1,
	};
	struct hp_epoch_meta meta;
	struct hp_epoch_writer *writer;
	uint64_t samples = 0;
	size_t index;
	char *stamp;

	for (size_t i = 0; i < procedures; i++) {
		stratum.count_count += spend(build, &spent[i], counts + stratum.count_count);
		samples += spent[i].samples;
	}
	stratum.count_count = settle(counts, stratum.count_count);
	meta = fixture_meta(event, samples, true);
	meta.start_ns = build_start_ns += 1000000000;
	meta.runs = calloc(1, sizeof(*meta.runs));
	meta.run_count = 1;
	meta.runs[0].user_ns = samples * 1000000;
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	hp_assert_ok(hp_epoch_writer_image(writer, &build->id, &index));
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
	stamp = fixture_commit(writer, &meta);
	hp_epoch_meta_clear(&meta);
	return stamp;
}

const struct hp_compared *build_find(const struct hp_comparison *comparison, const char *name)
{
	for (size_t i = 0; i < comparison->program->part_count; i++) {
		const struct hp_compared *image = comparison->program->parts[i];

		for (size_t j = 0; j < image->part_count; j++)
			if (strcmp(image->parts[j]->name, name) == 0)
				return image->parts[j];
	}
	return NULL;
}

struct hp_comparison *build_compare(struct hp_db *db, const struct build builds[HP_SIDES],
				    const struct spent *const spent[HP_SIDES],
				    const size_t counts[HP_SIDES])
{
	const struct hp_compare_options options = { 0 };
	char *stamps[HP_SIDES][BUILD_RUNS];
	struct hp_compare_epochs sides[HP_SIDES];
	struct hp_comparison *comparison = NULL;

	for (size_t i = 0; i < BUILD_RUNS; i++)
		for (size_t side = 0; side < HP_SIDES; side++)
			stamps[side][i] =
				build_record(db, &builds[side], spent[side], counts[side]);
	for (size_t side = 0; side < HP_SIDES; side++)
		sides[side] = (struct hp_compare_epochs){ db, stamps[side], BUILD_RUNS, 0 };
	hp_assert_ok(hp_compare(sides, &options, &comparison));
	return comparison_kept(comparison);
}

/* --- pairs ------------------------------------------------------------------------------------ */

struct pair pair_open(const char *base, const char *candidate)
{
	struct pair pair = { .directory = temporary_directory() };

	pair.db = fixture_db(pair.directory);
	pair.builds[HP_BASE] = build_open(base);
	pair.builds[HP_CANDIDATE] = build_open(candidate);
	return pair;
}

void pair_compare(struct pair *pair, const struct spent *old, size_t old_count,
		  const struct spent *new, size_t new_count)
{
	const struct spent *const spent[HP_SIDES] = { old, new };
	const size_t counts[HP_SIDES] = { old_count, new_count };

	pair->comparison = build_compare(pair->db, pair->builds, spent, counts);
}
