/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an epoch keeps of the code that its samples are in. */
#include "../../src/collect/images/sampled_names.h"
#include "../db_fixture.h"

#include <hpcprof/base/search.h>
#include <hpcprof/image/body.h>
#include <hpcprof/image/identity.h>
#include <hpcprof/image/image.h>

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* --- this program ----------------------------------------------------------------------------- */

static volatile unsigned sink;

/* Code enough to be told from others. */
#define PROCEDURE(name, number)                                                                    \
	__attribute__((noinline, used)) void name(unsigned count);                                 \
	void name(unsigned count)                                                                  \
	{                                                                                          \
		for (unsigned i = 0; i < count; i++) {                                             \
			sink ^= i * (number);                                                      \
			sink += sink % (i | 3);                                                    \
			sink ^= count >> 3;                                                        \
		}                                                                                  \
	}
PROCEDURE(sampled_much, 77u)
PROCEDURE(sampled_little, 12345u)
PROCEDURE(sampled_never, 9u)
/* A linker may leave out what nothing refers to. */
static void (*const volatile sampled[])(unsigned) = { sampled_much, sampled_little, sampled_never };

struct self {
	struct hp_image_id id;
	struct hp_image *image;
};

static struct self open_self(const char *path)
{
	struct self self = { .id.kind = HP_IMAGE_FILE, .id.path = strdup(path) };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert(sampled[0] != sampled[1]);
	hp_assert_ok(hp_identity_of_fd(fd, &self.id.identity));
	close(fd);
	hp_assert_ok(hp_image_open(&self.id, NULL, &self.image));
	return self;
}

static void close_self(struct self *self)
{
	hp_image_close(self->image);
	hp_image_id_clear(&self->id);
}

static const struct hp_procedure *procedure_of(const struct self *self, const char *name)
{
	const struct hp_procedure *const *procedures;
	size_t count;

	hp_image_procedures(self->image, &procedures, &count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(procedures[i]->name, name) == 0)
			return procedures[i];
	ck_abort_msg("no %s", name);
	return NULL;
}

/* The file offset of a link-time address, by trying: segments are moved by whole pages. */
static uint64_t offset_of(const struct self *self, uint64_t address)
{
	hp_link_address found;

	for (uint64_t offset = address % 4096; offset < (1u << 26); offset += 4096)
		if (hp_image_link_address(self->image, (hp_image_offset){ offset }, &found) &&
		    found.value == address)
			return offset;
	ck_abort_msg("0x%lx is at no offset", (unsigned long)address);
	return 0;
}

/* --- epochs ----------------------------------------------------------------------------------- */

HP_ORDER_BY(compare_counts, struct hp_count, offset.value);

/* Samples of one event in the procedures, four bytes into them. */
static void spend(struct hp_epoch_writer *writer, const struct self *self, char *event,
		  uint64_t much, uint64_t little)
{
	char command[] = "self";
	struct hp_count counts[] = {
		{ { offset_of(self, procedure_of(self, "sampled_much")->address.value) + 4 },
		  much },
		{ { offset_of(self, procedure_of(self, "sampled_little")->address.value) + 4 },
		  little },
	};
	struct hp_stratum stratum = { .command = command,
				      .period = 1,
				      .counts = counts,
				      .count_count = HP_ARRAY_COUNT(counts) };
	const struct hp_profile profile = {
		.image = self->id,
		.event = event,
		.strata = &stratum,
		.stratum_count = 1,
	};

	qsort(counts, HP_ARRAY_COUNT(counts), sizeof(*counts), compare_counts);
	hp_assert_ok(hp_epoch_writer_add(writer, &profile));
}

/* What the epoch kept of the name, or NULL. */
static const struct hp_symbol *kept_of(const struct hp_symbol *symbols, size_t count,
				       const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(symbols[i].name, name) == 0)
			return &symbols[i];
	return NULL;
}

/* So many samples of `sampled_little`, of 10000 of each event. */
static void keep(uint64_t little, struct hp_symbol **symbols, size_t *count, const char *path,
		 bool then_gone)
{
	char first[] = "cpu-clock:u";
	char second[] = "faults";
	char *const events[] = { first, second };
	struct self self = open_self(path);
	char *directory = temporary_directory();
	struct hp_db *db = fixture_db(directory);
	struct hp_epoch_meta meta = fixture_meta(first, 10000, false);
	struct hp_epoch_writer *writer;
	struct hp_epoch *epoch;

	meta.events = reallocarray(meta.events, 2, sizeof(*meta.events));
	meta.events[1] = (struct hp_event_totals){ .info.name = strdup(second),
						   .samples = 10000,
						   .period_total = 10000 };
	meta.events[0].period_total = 10000;
	meta.event_count = 2;
	hp_assert_ok(hp_epoch_create(db, NULL, &writer));
	spend(writer, &self, first, 10000 - 1, 1);
	spend(writer, &self, second, 10000 - little, little);
	if (then_gone)
		ck_assert_int_eq(remove(path), 0);
	hp_assert_ok(sampled_names_keep(&(struct sampled_source){
		.writer = writer, .events = events, .event_count = HP_ARRAY_COUNT(events) }));
	hp_assert_ok(hp_epoch_writer_commit(writer, &meta));
	hp_assert_ok(hp_epoch_open(db, hp_epoch_writer_stamp(writer), &epoch));
	hp_assert_ok(hp_epoch_read_symbols(epoch, 0, symbols, count, NULL));
	hp_epoch_close(epoch);
	hp_epoch_writer_destroy(writer);
	hp_epoch_meta_clear(&meta);
	close_self(&self);
}

static const char *self_path(char *path)
{
	ck_assert_ptr_nonnull(realpath("/proc/self/exe", path));
	return path;
}

/* A thousandth of either event is too little for a body, and a tenth of one is enough. */
TEST(names_are_of_all_that_was_sampled_and_bodies_of_what_cost_most)
{
	char path[PATH_MAX];
	struct self self = open_self(self_path(path));

	for (uint64_t little = 10; little <= 1000; little *= 100) {
		const struct hp_procedure *procedure = procedure_of(&self, "sampled_much");
		const struct hp_symbol *kept;
		struct hp_symbol *symbols;
		struct hp_body body;
		size_t count;

		keep(little, &symbols, &count, path, false);
		ck_assert_uint_eq(count, 2);
		kept = kept_of(symbols, count, "sampled_much");
		ck_assert(kept && kept->body);
		ck_assert_uint_eq(kept->size, procedure->size);
		hp_image_body(self.image, procedure, &body);
		ck_assert_uint_gt(body.instructions, 8);
		ck_assert_mem_eq(kept->body, &body, sizeof(body));
		kept = kept_of(symbols, count, "sampled_little");
		ck_assert_ptr_nonnull(kept);
		ck_assert(!kept->body == (little == 10));
		hp_symbols_free(symbols, count);
	}
	close_self(&self);
}

TEST(of_a_file_that_is_gone_nothing_is_kept)
{
	char path[PATH_MAX];
	char *directory = temporary_directory();
	const char *copy = fixture_path(directory, "copy");
	struct hp_symbol *symbols;
	uint8_t *bytes;
	size_t count;
	size_t size;

	bytes = fixture_read(self_path(path), &size);
	fixture_write(copy, bytes, size);
	free(bytes);
	keep(1000, &symbols, &count, copy, true);
	ck_assert_uint_eq(count, 0);
	hp_symbols_free(symbols, count);
}

HP_TEST_MAIN("collect/sampled_names")
