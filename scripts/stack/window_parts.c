/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_parts DATABASE...
 *
 * What the parts of simulated windows took (hpcprof record --shadow --causes=always), beside what the
 * models say of the code that ran in them; for scripts/stack-accuracy --windows. A line per part, of
 * absolute windows only: the window's number, and the part's; instructions of the window that were
 * simulated; instructions; cycles, as measured; of which share of the
 * instructions a model knows the time; then the cycles on a core of each lane of hpcprof/model/lanes.h, as
 * if the rest was like that.
 *
 * What a block takes is the mean of all its simulated runs, in whatever part these were. A window may have
 * other data than most: first of the cycles come three factors, how often branches were mispredicted, L1 was
 * missed, and L2 was, where this window was simulated, by how often that is on average of the same code.
 */
#include <hpcprof/base/error.h>
#include <hpcprof/db/db.h>
#include <hpcprof/model/lanes.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct timed {
	uint32_t image;
	uint64_t at;
	uint32_t bytes, instructions;
	double runs;
	double windows[HP_EVIDENCE_WINDOWS]; /* of these runs, in each */
	double cycles[HP_LANES];
};

/* A block is no longer; so few events say nothing. */
enum { BLOCK_BYTES = 4096, FEW = 100 };

enum cause { BRANCH, NEAR, FAR, CAUSES };

/* Events of a window's simulated stretch, and how many they are on average of the same code. */
struct met {
	double own[CAUSES], mean[CAUSES];
};

struct part {
	double instructions, known;
	double cycles[HP_LANES];
};

static void check(struct hp_error *error)
{
	if (!error)
		return;
	fprintf(stderr, "window_parts: %s\n", error->message);
	exit(2);
}

static int by_place(const void *left, const void *right)
{
	const struct timed *a = left, *b = right;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* What happened to blocks, one of each place; by place. */
static size_t find_timed(const struct hp_window_stratum *stratum, struct timed *timed)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < stratum->event_count; i++) {
		const struct hp_counted *item = &stratum->events[i];
		struct timed *one = &timed[count];

		if (item->kind != HP_COUNTED_BLOCK && item->kind != HP_COUNTED_BLOCK_CYCLES)
			continue;
		*one = (struct timed){ .image = item->image,
				       .at = item->at.value,
				       .bytes = item->bytes,
				       .instructions = item->instructions };
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS && item->kind == HP_COUNTED_BLOCK; j++) {
			one->runs += (double)item->counts[j];
			one->windows[j / HP_WINDOW_PARTS] += (double)item->counts[j];
		}
		for (size_t j = 0; j < HP_LANES && item->kind == HP_COUNTED_BLOCK_CYCLES; j++)
			one->cycles[j] = (double)item->counts[j];
		count++;
	}
	qsort(timed, count, sizeof(*timed), by_place);
	for (size_t i = 1; i < count; i++) {
		if (by_place(&timed[kept], &timed[i]) != 0) {
			timed[++kept] = timed[i];
			continue;
		}
		timed[kept].runs += timed[i].runs;
		if (timed[i].bytes > timed[kept].bytes)
			timed[kept].bytes = timed[i].bytes;
		for (size_t j = 0; j < HP_EVIDENCE_WINDOWS; j++)
			timed[kept].windows[j] += timed[i].windows[j];
		for (size_t j = 0; j < HP_LANES; j++)
			timed[kept].cycles[j] += timed[i].cycles[j];
	}
	return count ? kept + 1 : 0;
}

static int cause_of(unsigned kind)
{
	switch (kind - HP_COUNTED_EVENT) {
	case HP_EVENT_MISPREDICTED:
	case HP_EVENT_BRANCH_UNKNOWN:
		return BRANCH;
	case HP_EVENT_L1_MISS:
		return NEAR;
	case HP_EVENT_L2_MISS:
	case HP_EVENT_L2_UNKNOWN:
		return FAR;
	default:
		return CAUSES;
	}
}

/* The last block that begins before the address and contains it; NULL: none does. */
static const struct timed *block_of(const struct timed *timed, size_t count,
				    const struct hp_counted *item)
{
	const struct timed wanted = { .image = item->image, .at = item->at.value };
	size_t first = 0, last = count;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (by_place(&timed[middle], &wanted) <= 0)
			first = middle + 1;
		else
			last = middle;
	}
	while (first > 0 && timed[first - 1].image == wanted.image &&
	       wanted.at - timed[first - 1].at < BLOCK_BYTES) {
		if (wanted.at - timed[first - 1].at < timed[first - 1].bytes)
			return &timed[first - 1];
		first--;
	}
	return NULL;
}

static void find_met(const struct hp_window_stratum *stratum, const struct timed *timed,
		     size_t count, struct met met[HP_EVIDENCE_WINDOWS])
{
	for (size_t i = 0; i < stratum->event_count; i++) {
		const struct hp_counted *item = &stratum->events[i];
		int cause = item->kind > HP_COUNTED_EVENT + HP_EVENT_KINDS ? CAUSES
									   : cause_of(item->kind);
		const struct timed *block = item->kind < HP_COUNTED_EVENT || cause == CAUSES
						    ? NULL
						    : block_of(timed, count, item);
		double all = 0;

		if (!block || !(block->runs > 0))
			continue;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++) {
			all += (double)item->counts[j];
			met[j / HP_WINDOW_PARTS].own[cause] += (double)item->counts[j];
		}
		for (size_t j = 0; j < HP_EVIDENCE_WINDOWS; j++)
			met[j].mean[cause] += all * block->windows[j] / block->runs;
	}
}

/* Instructions of a window that were simulated. */
static double simulated(const struct timed *timed, size_t count, size_t window)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += timed[i].windows[window] * timed[i].instructions;
	return sum;
}

/* Some events are chance. */
static double factor_of(const struct met *met, enum cause cause)
{
	return (met->own[cause] + FEW) / (met->mean[cause] + FEW);
}

static void add_block(struct part parts[HP_EVIDENCE_GROUPS], const struct hp_counted *item,
		      const struct timed *timed)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		double runs = (double)item->counts[i];
		double instructions = runs * item->instructions;

		parts[i].instructions += instructions;
		if (!timed || !(timed->runs > 0) || !(timed->cycles[HP_LANE_AS_IS] > 0))
			continue;
		parts[i].known += instructions;
		for (size_t j = 0; j < HP_LANES; j++)
			parts[i].cycles[j] += runs * timed->cycles[j] / timed->runs;
	}
}

static void print_parts(const struct hp_window_stratum *stratum, double hz)
{
	struct timed *timed = calloc(stratum->event_count + 1, sizeof(*timed));
	struct part *parts = calloc(HP_EVIDENCE_GROUPS, sizeof(*parts));
	struct met met[HP_EVIDENCE_WINDOWS] = { 0 };
	size_t count;

	if (!timed || !parts)
		check(hp_error_create_no_memory());
	count = find_timed(stratum, timed);
	find_met(stratum, timed, count, met);
	for (size_t i = 0; i < stratum->item_count; i++) {
		const struct hp_counted *item = &stratum->items[i];
		struct timed wanted = { .image = item->image, .at = item->at.value };

		if (item->kind == HP_COUNTED_BLOCK && !item->is_relative)
			add_block(parts, item,
				  bsearch(&wanted, timed, count, sizeof(*timed), by_place));
	}
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++) {
		double scale = parts[i].instructions / parts[i].known;
		double cycles = (double)stratum->groups[i].time_ns * hz / 1e9;

		if (!(parts[i].known > 0) || !(cycles > 0))
			continue;
		printf("%zu %zu %.0f %.0f %.0f %.4f", i / HP_WINDOW_PARTS, i % HP_WINDOW_PARTS,
		       simulated(timed, count, i / HP_WINDOW_PARTS), parts[i].instructions, cycles,
		       1 / scale);
		for (unsigned j = 0; j < CAUSES; j++)
			printf(" %.3f", factor_of(&met[i / HP_WINDOW_PARTS], j));
		for (size_t j = 0; j < HP_LANES; j++)
			printf(" %.0f", scale * parts[i].cycles[j]);
		printf("\n");
	}
	free(timed);
	free(parts);
}

static void print_epoch(struct hp_db *db, const char *stamp)
{
	struct hp_window_evidence evidence = { 0 };
	struct hp_error *lost = NULL;
	struct hp_epoch *epoch;
	const double half = 50; /* percent */

	check(hp_epoch_open(db, stamp, &epoch));
	check(hp_epoch_read_evidence(epoch, &evidence, &lost));
	check(lost);
	for (size_t i = 0; i < evidence.stratum_count; i++)
		print_parts(&evidence.strata[i],
			    hp_clock_percentile(&hp_epoch_meta(epoch)->clock, half));
	hp_window_evidence_clear(&evidence);
	hp_epoch_close(epoch);
}

int main(int count, char **paths)
{
	char all[] = "..";
	char *range[] = { all };

	for (int i = 1; i < count; i++) {
		struct hp_db *db;
		char **stamps;
		size_t stamp_count;

		check(hp_db_open(paths[i], false, &db));
		check(hp_db_resolve(db, range, 1, &stamps, &stamp_count));
		for (size_t j = 0; j < stamp_count; j++)
			print_epoch(db, stamps[j]);
		hp_db_free_stamps(stamps, stamp_count);
		hp_db_close(db);
	}
	return 0;
}
