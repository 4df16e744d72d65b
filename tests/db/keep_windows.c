/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies a recording with some of its windows only.
 *
 *	keep_windows FROM STAMP TO WINDOWS SEED
 *
 * Of the numbers that the windows of epoch STAMP of the database FROM are distributed over
 * (model/evidence.h), so many are drawn; a new epoch in the database TO has these, and everything else
 * that the old one has. Prints how many windows it has. For scripts/frequency-accuracy.
 */
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/db/db.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 6, WINDOWS = HP_EVIDENCE_WINDOWS, GROUPS = HP_EVIDENCE_GROUPS };

static uint64_t windows_of(const struct hp_window_evidence *evidence, size_t number)
{
	uint64_t windows = 0;

	for (size_t i = 0; i < evidence->stratum_count; i++)
		for (size_t j = 0; j < HP_WINDOW_PARTS; j++)
			windows +=
				evidence->strata[i].groups[number * HP_WINDOW_PARTS + j].windows +
				evidence->strata[i].relative[number * HP_WINDOW_PARTS + j].windows;
	return windows;
}

/* Draws `wanted` of the numbers that have windows; all, where there are fewer. */
static void draw(const struct hp_window_evidence *evidence, uint64_t wanted, uint64_t seed,
		 bool is_kept[WINDOWS])
{
	struct hp_random random = hp_random_seeded(seed);
	uint64_t left = 0;

	for (size_t i = 0; i < WINDOWS; i++)
		left += windows_of(evidence, i) > 0;
	for (size_t i = 0; i < WINDOWS; i++) {
		if (!windows_of(evidence, i))
			continue;
		is_kept[i] = hp_random_between(&random, 1, left--) <= wanted;
		wanted -= is_kept[i];
	}
}

/* Those whose counts are all left out are left out themselves. */
static size_t keep_items(struct hp_counted *items, size_t count, const bool is_kept[WINDOWS])
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t sum = 0;

		for (size_t j = 0; j < GROUPS; j++) {
			if (!is_kept[j / HP_WINDOW_PARTS])
				items[i].counts[j] = 0;
			sum += items[i].counts[j];
		}
		if (sum)
			items[kept++] = items[i];
	}
	return kept;
}

static uint64_t time_of(const struct hp_window_evidence *evidence)
{
	return hp_window_evidence_counted(evidence).time_ns +
	       hp_window_evidence_relative(evidence).time_ns;
}

static void keep(struct hp_window_evidence *evidence, const bool is_kept[WINDOWS])
{
	double all_ns = (double)time_of(evidence);
	double share;

	for (size_t i = 0; i < evidence->stratum_count; i++) {
		struct hp_window_stratum *stratum = &evidence->strata[i];

		for (size_t j = 0; j < GROUPS; j++) {
			if (is_kept[j / HP_WINDOW_PARTS])
				continue;
			stratum->groups[j] = (struct hp_window_group){ 0 };
			stratum->relative[j] = (struct hp_window_group){ 0 };
		}
		stratum->item_count = keep_items(stratum->items, stratum->item_count, is_kept);
		stratum->tick_count = keep_items(stratum->ticks, stratum->tick_count, is_kept);
	}
	/* Of which windows they are is not known. */
	share = all_ns > 0 ? (double)time_of(evidence) / all_ns : 0;
	evidence->samples = (uint64_t)(share * (double)evidence->samples);
	evidence->matched = (uint64_t)(share * (double)evidence->matched);
}

/* --- copying ---------------------------------------------------------------------------------- */

static struct hp_error *copy_profiles(struct hp_epoch *from, size_t image,
				      struct hp_epoch_writer *to)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < hp_epoch_meta(from)->event_count && !error; i++) {
		struct hp_profile profile = { 0 };

		error = hp_epoch_read_profile(from, image, i, &profile);
		if (!error && profile.stratum_count)
			error = hp_epoch_writer_add(to, &profile);
		hp_profile_clear(&profile);
	}
	return error;
}

static struct hp_error *copy_image(struct hp_epoch *from, size_t image, struct hp_epoch_writer *to)
{
	struct hp_excerpt excerpt = { 0 };
	struct hp_symbol *symbols = NULL;
	struct hp_error *lost = NULL;
	struct hp_error *error;
	size_t count = 0;
	size_t index;

	error = hp_epoch_writer_image(to, hp_epoch_image(from, image), &index);
	if (!error)
		error = copy_profiles(from, image, to);
	if (!error)
		error = hp_epoch_read_symbols(from, image, &symbols, &count, NULL);
	if (!error && count)
		error = hp_epoch_writer_symbols(to, index, symbols, count);
	hp_symbols_free(symbols, count);
	if (!error)
		error = hp_epoch_read_excerpt(from, image, &excerpt, &lost);
	if (!error)
		error = lost;
	if (!error)
		error = hp_epoch_writer_excerpt(to, index, &excerpt);
	hp_excerpt_clear(&excerpt);
	return error;
}

static struct hp_error *write_epoch(struct hp_epoch *from, const char *path,
				    const struct hp_window_evidence *evidence)
{
	_cleanup_(hp_db_close_scope) struct hp_db *db = NULL;
	_cleanup_(hp_epoch_writer_destroy_scope) struct hp_epoch_writer *writer = NULL;
	struct hp_error *error = hp_db_open(path, true, &db);

	if (!error)
		error = hp_epoch_create(db, NULL, &writer);
	for (size_t i = 0; !error && i < hp_epoch_image_count(from); i++)
		error = copy_image(from, i, writer);
	if (!error)
		error = hp_epoch_writer_evidence(writer, evidence);
	return error ? error : hp_epoch_writer_commit(writer, hp_epoch_meta(from));
}

struct order {
	const char *from, *stamp, *to;
	uint64_t windows, seed;
};

static struct hp_error *carry_out(const struct order *order, uint64_t *windows)
{
	_cleanup_(hp_db_close_scope) struct hp_db *db = NULL;
	_cleanup_(hp_epoch_close_scope) struct hp_epoch *epoch = NULL;
	struct hp_window_evidence evidence = { 0 };
	bool is_kept[WINDOWS] = { false };
	struct hp_error *lost = NULL;
	struct hp_error *error = hp_db_open(order->from, false, &db);

	if (!error)
		error = hp_epoch_open(db, order->stamp, &epoch);
	if (!error)
		error = hp_epoch_read_evidence(epoch, &evidence, &lost);
	if (!error)
		error = lost;
	if (!error) {
		draw(&evidence, order->windows, order->seed, is_kept);
		keep(&evidence, is_kept);
		error = write_epoch(epoch, order->to, &evidence);
	}
	*windows = hp_window_evidence_counted(&evidence).windows +
		   hp_window_evidence_relative(&evidence).windows;
	hp_window_evidence_clear(&evidence);
	return error;
}

int main(int argc, char **argv)
{
	struct order order = { 0 };
	struct hp_error *error;
	uint64_t windows;

	if (argc != ARGUMENTS || !hp_parse_u64(argv[4], &order.windows) ||
	    !hp_parse_u64(argv[5], &order.seed)) {
		fprintf(stderr, "usage: keep_windows FROM STAMP TO WINDOWS SEED\n");
		return 2;
	}
	order.from = argv[1];
	order.stamp = argv[2];
	order.to = argv[3];
	error = carry_out(&order, &windows);
	if (error) {
		fprintf(stderr, "keep_windows: %s\n", error->message);
		hp_error_destroy(error);
		return 1;
	}
	printf("%" PRIu64 "\n", windows);
	return 0;
}
