/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adding to a file of evidence item by item gives the very bytes that adding in memory gives. */
#include "../db_fixture.h"
#include "../support.h"

#include "../../src/db/codec.h"

#include <hpcprof/base/number.h>

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, SUMMANDS = 6, MOST_ITEMS = 60 };

static int compare(const void *left, const void *right)
{
	const struct hp_counted *x = left, *y = right;

	return hp_counted_compare(&x->place, &y->place);
}

/* Few places, so that summands have some in common. */
static struct hp_counted random_outcome(struct hp_random *random, uint32_t images)
{
	struct hp_counted item = {
		.kind = hp_random_between(random, 0, 1) ? HP_COUNTED_TAKEN
							: HP_COUNTED_INDIRECT_CALL,
		.is_relative = true,
		.image = (uint32_t)hp_random_between(random, 0, images - 1),
		.to_image = (uint32_t)hp_random_between(random, 0, images - 1),
		.at = { hp_random_between(random, 0, 9) },
		.to = { hp_random_between(random, 0, 2) },
	};

	item.counts[hp_random_between(random, 0, 1) * HP_OUTCOMES_OF_RECORDS] =
		hp_random_between(random, 1, 300);
	return item;
}

static void fill_outcomes(struct hp_random *random, uint32_t images,
			  struct hp_window_stratum *stratum)
{
	size_t count = hp_random_between(random, 0, MOST_ITEMS);
	size_t n = 0;

	stratum->followed = hp_random_between(random, 0, 3);
	stratum->outcomes = calloc(count + 1, sizeof(*stratum->outcomes));
	for (size_t i = 0; i < count; i++)
		stratum->outcomes[i] = random_outcome(random, images);
	qsort(stratum->outcomes, count, sizeof(*stratum->outcomes), compare);
	for (size_t i = 0; i < count; i++)
		if (!n || compare(&stratum->outcomes[n - 1], &stratum->outcomes[i]) != 0)
			stratum->outcomes[n++] = stratum->outcomes[i];
	stratum->outcome_count = n;
}

/* Some of the images and commands there are. */
static struct hp_window_evidence random_evidence(struct hp_random *random)
{
	static const char *const commands[] = { "as", "cc1", "ld", "sh" };
	struct hp_window_evidence evidence = { 0 };

	if (hp_random_between(random, 0, 5) == 0)
		return fixture_evidence(hp_random_between(random, 1, 2));
	evidence.images = calloc(4, sizeof(*evidence.images));
	evidence.strata = calloc(8, sizeof(*evidence.strata));
	for (unsigned i = 0; i < 4; i++)
		if (i == 3 || hp_random_between(random, 0, 1))
			evidence.images[evidence.image_count++] = fixture_image(i + 1);
	for (unsigned i = 0; i < 8; i++) {
		struct hp_window_stratum *stratum = &evidence.strata[evidence.stratum_count];

		if (hp_random_between(random, 0, 1))
			continue;
		stratum->recording = 1 + i / 4;
		stratum->command = strdup(commands[i % 4]);
		fill_outcomes(random, (uint32_t)evidence.image_count, stratum);
		evidence.stratum_count++;
	}
	hp_assert_ok(hp_window_evidence_check(&evidence));
	return evidence;
}

static void add(struct hp_writer *file, const struct hp_window_evidence *more)
{
	struct hp_writer grown = { 0 };
	bool has_unknown;
	uint64_t items;

	hp_assert_ok(hp_evidence_add_encoded(file->bytes, file->size, more, &grown, &has_unknown,
					     &items));
	ck_assert(!has_unknown);
	*file = grown;
}

TEST(files_are_added_to_as_evidence_in_memory_is)
{
	struct hp_random random = hp_random_seeded(25);

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct hp_window_evidence sum = { 0 };
		struct hp_writer file = { 0 };
		struct hp_writer expected = { 0 };

		for (unsigned i = 0; i < SUMMANDS; i++) {
			struct hp_window_evidence more = random_evidence(&random);

			add(&file, &more);
			hp_assert_ok(hp_window_evidence_add(&sum, &more));
			hp_window_evidence_clear(&more);
		}
		hp_assert_ok(hp_evidence_encode(&sum, &expected));
		ck_assert_uint_eq(file.size, expected.size);
		ck_assert_mem_eq(file.bytes, expected.bytes, expected.size);
		hp_window_evidence_clear(&sum);
		hp_writer_free(&file);
		hp_writer_free(&expected);
	}
}

TEST(no_file_is_made_of_more_items_than_an_epoch_may_have)
{
	struct hp_window_evidence evidence = { 0 };
	struct hp_window_stratum stratum = { .recording = 1 };
	struct hp_image_id image = fixture_image(1);
	char command[] = "cc1";
	struct hp_writer file = { 0 };
	struct hp_writer none = { 0 };
	bool has_unknown;
	uint64_t items;

	evidence.images = &image;
	evidence.image_count = 1;
	evidence.strata = &stratum;
	evidence.stratum_count = 1;
	stratum.command = command;
	stratum.outcome_count = HP_EVIDENCE_MOST_ITEMS / 4 + 1;
	stratum.outcomes = calloc(stratum.outcome_count, sizeof(*stratum.outcomes));
	for (unsigned i = 0; i < 4; i++) {
		for (size_t j = 0; j < stratum.outcome_count; j++)
			stratum.outcomes[j] = (struct hp_counted){
				.kind = HP_COUNTED_TAKEN,
				.is_relative = true,
				.at = { j * 4 + i },
				.counts = { 1 },
			};
		if (i < 3)
			add(&file, &evidence);
	}
	hp_assert_ok(hp_evidence_add_encoded(file.bytes, file.size, &evidence, &none, &has_unknown,
					     &items));
	ck_assert_uint_eq(items, HP_EVIDENCE_MOST_ITEMS + 4);
	ck_assert_ptr_null(none.bytes);
	free(stratum.outcomes);
	hp_image_id_clear(&image);
}

TEST(windows_are_read_without_the_outcomes_of_branches)
{
	_cleanup_(hp_window_evidence_clear) struct hp_window_evidence whole = fixture_evidence(7);
	struct hp_window_evidence read;
	struct hp_writer file = { 0 };

	hp_assert_ok(hp_evidence_encode(&whole, &file));
	hp_assert_ok(hp_evidence_decode_windows(file.bytes, file.size, &read));
	ck_assert_uint_eq(read.strata[0].item_count, whole.strata[0].item_count);
	ck_assert_uint_eq(read.strata[0].probe_count, whole.strata[0].probe_count);
	ck_assert_uint_eq(read.strata[0].tick_count, whole.strata[0].tick_count);
	ck_assert_uint_eq(read.strata[0].outcome_count, 0);
	ck_assert_uint_eq(read.strata[0].followed, 0);
	ck_assert_uint_eq(read.strata[0].range_count, 0);
	hp_window_evidence_clear(&read);
}

HP_TEST_MAIN("db/evidence_sum")
