/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ranges.h"

#include "counted.h"
#include "../tuning.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* the largest value of the hardware's field, which stands for this many cycles or more */
	MOST_CYCLES = UINT16_MAX,
};

struct range_sums {
	uint64_t runs[HP_RECORD_GROUPS];
	uint64_t cycles[HP_RECORD_GROUPS];
	uint64_t times[HP_RECORD_GROUPS]; /* where `end` is `start`: cycles of all samples */
};

struct range {
	struct image *image; /* a reference; NULL: the slot is free */
	uint64_t start;	     /* offset in the image at which it begins */
	uint64_t end;	     /* offset of the branch that ends it */
	uint32_t command;
	struct range_sums sums;
};

struct ranges {
	uint64_t recording;
	struct range *table;
	size_t count;
	uint64_t dropped;
	uint64_t record_cycles[EVIDENCE_COMMANDS][HP_RECORD_GROUPS];
	unsigned next_group;
};

struct hp_error *ranges_create(uint64_t recording, struct ranges **created)
{
	struct ranges *ranges = calloc(1, sizeof(*ranges));

	if (ranges) {
		ranges->recording = recording;
		ranges->table = calloc(RANGES_LIMIT, sizeof(*ranges->table));
	}
	if (!ranges || !ranges->table) {
		ranges_destroy(ranges);
		return hp_error_create_no_memory();
	}
	*created = ranges;
	return NULL;
}

static void forget(struct ranges *ranges)
{
	for (size_t i = 0; i < RANGES_LIMIT && ranges->table; i++) {
		image_release(ranges->table[i].image);
		ranges->table[i] = (struct range){ 0 };
	}
	ranges->count = 0;
	ranges->dropped = 0;
	memset(ranges->record_cycles, 0, sizeof(ranges->record_cycles));
}

void ranges_destroy(struct ranges *ranges)
{
	if (!ranges)
		return;
	forget(ranges);
	free(ranges->table);
	free(ranges);
}

/* --- taking ----------------------------------------------------------------------------------- */

static bool is_same(const struct range *a, const struct range *b)
{
	return a->image == b->image && a->start == b->start && a->end == b->end &&
	       a->command == b->command;
}

/* The range's slot, or the free slot where it belongs. */
static struct range *find(struct ranges *ranges, const struct range *wanted)
{
	uint64_t hash = (uintptr_t)wanted->image ^ wanted->start << 20 ^ wanted->end * 31 ^
			(uint64_t)wanted->command << 48;
	size_t at = (size_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	while (ranges->table[at % RANGES_LIMIT].image &&
	       !is_same(&ranges->table[at % RANGES_LIMIT], wanted))
		at++;
	return &ranges->table[at % RANGES_LIMIT];
}

static struct range *find_or_add(struct ranges *ranges, const struct range *wanted)
{
	struct range *range = find(ranges, wanted);

	if (range->image)
		return range;
	/* Some slots stay free, so that each search ends. */
	if (ranges->count > RANGES_LIMIT / 8 * 7) {
		ranges->dropped++;
		return NULL;
	}
	*range = *wanted;
	range->image->references++;
	ranges->count++;
	return range;
}

/* Cycles between the first and the last branch; 0 when some are unknown. */
static uint64_t cycles_of(const struct hp_record *record)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < record->sample.branch_count; i++)
		if (!record->sample.branches[i].from || !record->sample.branches[i].to)
			return 0;
	for (unsigned i = 0; i + 1 < record->sample.branch_count; i++) {
		if (record->sample.branches[i].cycles == MOST_CYCLES)
			return 0;
		sum += record->sample.branches[i].cycles;
	}
	return sum;
}

static bool place(const struct space *space, uint64_t start, uint64_t end, struct range *range)
{
	const struct mapping *mapping;

	if (end < start || end - start > RANGE_LONGEST_BYTES)
		return false;
	mapping = space_find(space, start);
	if (!mapping || end >= mapping->end || !mapping->image ||
	    mapping->image->id.kind != HP_IMAGE_FILE)
		return false;
	range->image = mapping->image;
	range->start = mapping->offset + (start - mapping->start);
	range->end = mapping->offset + (end - mapping->start);
	return true;
}

static struct range *range_at(struct ranges *ranges, const struct context *context, uint64_t start,
			      uint64_t end)
{
	struct range wanted = { .command = context->command };

	return place(context->space, start, end, &wanted) ? find_or_add(ranges, &wanted) : NULL;
}

void ranges_take(struct ranges *ranges, const struct hp_record *record, uint64_t cycles,
		 const struct context *context)
{
	const struct hp_record_branch *branches = record->sample.branches;
	unsigned group = ranges->next_group;
	struct range *under_way;

	if (!cycles_of(record))
		return;
	if (context->command >= EVIDENCE_COMMANDS) {
		ranges->dropped++;
		return;
	}
	ranges->next_group = (group + 1) % HP_RECORD_GROUPS;
	ranges->record_cycles[context->command][group] += cycles;
	/* The newest branch comes first. */
	for (unsigned i = record->sample.branch_count - 1; i > 0; i--) {
		struct range *range =
			range_at(ranges, context, branches[i].to, branches[i - 1].from);

		if (!range)
			continue;
		range->sums.runs[group]++;
		range->sums.cycles[group] += branches[i - 1].cycles;
	}
	under_way = range_at(ranges, context, branches[0].to, branches[0].to);
	if (under_way)
		under_way->sums.times[group] += cycles;
}

bool ranges_is_full(const struct ranges *ranges)
{
	return ranges->count > RANGES_LIMIT / 2;
}

/* --- to the epoch ----------------------------------------------------------------------------- */

static bool list_sums(struct counted *counted, const struct hp_counted *place,
		      enum hp_counted_kind kind, const uint64_t sums[HP_RECORD_GROUPS])
{
	struct hp_counted item = *place;
	uint64_t any = 0;

	item.kind = (uint8_t)kind;
	for (size_t i = 0; i < HP_RECORD_GROUPS; i++) {
		item.counts[i] = sums[i];
		any |= sums[i];
	}
	return !any || hp_vector_push(&counted->items, item);
}

static bool list(struct counted *counted, const struct range *range)
{
	struct hp_counted place = {
		.is_relative = true,
		.at = { range->start },
		.to = { range->end },
	};

	range->image->references++;
	if (!counted_image(counted, range->image, &place.image))
		return false;
	place.to_image = place.image;
	return list_sums(counted, &place, HP_COUNTED_RANGE, range->sums.runs) &&
	       list_sums(counted, &place, HP_COUNTED_RANGE_CYCLES, range->sums.cycles) &&
	       list_sums(counted, &place, HP_COUNTED_RANGE_TIME, range->sums.times);
}

static struct hp_error *write_command(struct ranges *ranges, uint32_t command,
				      const struct names *commands, struct hp_window_evidence *sum)
{
	struct hp_window_stratum stratum = {
		.recording = ranges->recording,
		.command = commands->text[command],
	};
	struct counted counted = { 0 };
	struct hp_error *error;

	memcpy(stratum.record_cycles, ranges->record_cycles[command],
	       sizeof(stratum.record_cycles));
	for (size_t i = 0; i < RANGES_LIMIT; i++)
		if (ranges->table[i].image && ranges->table[i].command == command)
			counted.dropped += !list(&counted, &ranges->table[i]);
	error = counted_add(&counted, &stratum, &stratum.ranges, &stratum.range_count, sum);
	counted_clear(&counted);
	return error;
}

static bool has_records(const struct ranges *ranges, uint32_t command)
{
	for (size_t i = 0; i < HP_RECORD_GROUPS; i++)
		if (ranges->record_cycles[command][i])
			return true;
	return false;
}

struct hp_error *ranges_write(struct ranges *ranges, const struct names *commands,
			      struct hp_epoch_writer *writer)
{
	struct hp_window_evidence sum = { .dropped = ranges->dropped };
	struct hp_error *error = NULL;

	for (uint32_t i = 0; i < EVIDENCE_COMMANDS && !error; i++)
		if (has_records(ranges, i))
			error = write_command(ranges, i, commands, &sum);
	if (!error)
		error = hp_epoch_writer_evidence(writer, &sum);
	hp_window_evidence_clear(&sum);
	if (!error)
		forget(ranges);
	return error;
}
