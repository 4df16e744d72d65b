/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "told.h"

#include "followed.h"

#include <stdlib.h>
#include <string.h>

void told_begin(struct told *told)
{
	told->blocks.count = told->events.count = 0;
	told->is_short = false;
	told->stretch = 0;
}

void told_begin_stretch(struct told *told, size_t number, size_t sample)
{
	told->stretch = number;
	told->begins[number] = sample;
}

void told_clear(struct told *told)
{
	hp_vector_free(&told->blocks);
	hp_vector_free(&told->events);
}

void told_add_event(struct told *told, uint64_t address, enum hp_event_kind kind,
		    uint64_t count, int64_t value)
{
	struct hp_window_event event = {
		.address = { address },
		.kind = (uint8_t)kind,
		.value = value,
	};

	event.counts[told->stretch] = count;
	if (count)
		told->is_short |= !hp_vector_push(&told->events, event);
}

/* Empties it for the next stretch. */
static void tell_tally(struct told *told, struct tally *tally, uint64_t address)
{
	for (unsigned kind = 0; kind < HP_EVENT_KINDS; kind++)
		told_add_event(told, address, (enum hp_event_kind)kind, tally->counts[kind], 0);
	*tally = (struct tally){ 0 };
}

void told_add_block(struct told *told, struct followed *followed)
{
	const struct path_plan *plan = followed->plan;
	struct hp_window_block block = {
		.address = { plan->address },
		.size_bytes = followed->bytes,
		.instructions = plan->insn_count,
	};
	uint64_t address = plan->address;

	block.counts[told->stretch] = followed->runs - followed->told;
	followed->told = followed->runs;
	told->is_short |= !hp_vector_push(&told->blocks, block);
	for (size_t i = 0; i < followed->piece_count; i++)
		tell_tally(told, &followed->fetches[i], followed->pieces[i].address);
	for (size_t i = 0, access = 0; i < plan->insn_count; i++) {
		for (; access < plan->access_count && plan->accesses[access].insn == i; access++)
			tell_tally(told, &followed->accesses[access], address);
		address += plan->lengths[i];
	}
	tell_tally(told, &followed->branch, followed->last);
}

/* --- to the window ----------------------------------------------------------------------------- */

static int by_instruction(const void *left, const void *right)
{
	const struct hp_window_event *a = left;
	const struct hp_window_event *b = right;

	if (a->address.value != b->address.value)
		return a->address.value < b->address.value ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

static int by_code(const void *left, const void *right)
{
	const struct hp_window_block *a = left;
	const struct hp_window_block *b = right;

	if (a->address.value != b->address.value)
		return a->address.value < b->address.value ? -1 : 1;
	return (a->size_bytes > b->size_bytes) - (a->size_bytes < b->size_bytes);
}

static void add_counts(uint64_t into[HP_WINDOW_PARTS], const uint64_t more[HP_WINDOW_PARTS])
{
	for (size_t i = 0; i < HP_WINDOW_PARTS; i++)
		into[i] += more[i];
}

/* From numbers of stretches to parts. */
static void place_in_parts(uint64_t counts[HP_WINDOW_PARTS],
			   const size_t parts[HP_WINDOW_PARTS])
{
	uint64_t placed[HP_WINDOW_PARTS] = { 0 };

	for (size_t i = 0; i < HP_WINDOW_PARTS; i++)
		placed[parts[i]] += counts[i];
	memcpy(counts, placed, sizeof(placed));
}

static void place_stretches(struct told *told, const size_t *cuts, size_t part_count)
{
	size_t parts[HP_WINDOW_PARTS] = { 0 };

	for (size_t i = 1; i < HP_WINDOW_PARTS; i++)
		for (size_t part = 1; part < part_count; part++)
			if (told->begins[i] >= cuts[part])
				parts[i] = part;
	for (size_t i = 0; i < told->events.count; i++)
		place_in_parts(told->events.at[i].counts, parts);
	for (size_t i = 0; i < told->blocks.count; i++)
		place_in_parts(told->blocks.at[i].counts, parts);
}

/* Adds up what is the same, of several stretches or in blocks that overlap. */
static void join_stretches(struct told *told)
{
	struct hp_window_event *events = told->events.at;
	struct hp_window_block *blocks = told->blocks.at;
	size_t kept = 0;

	if (told->events.count)
		qsort(events, told->events.count, sizeof(*events), by_instruction);
	for (size_t i = 0; i < told->events.count; i++)
		if (kept && by_instruction(&events[kept - 1], &events[i]) == 0)
			add_counts(events[kept - 1].counts, events[i].counts);
		else
			events[kept++] = events[i];
	told->events.count = kept;
	if (told->blocks.count)
		qsort(blocks, told->blocks.count, sizeof(*blocks), by_code);
	kept = 0;
	for (size_t i = 0; i < told->blocks.count; i++)
		if (kept && by_code(&blocks[kept - 1], &blocks[i]) == 0)
			add_counts(blocks[kept - 1].counts, blocks[i].counts);
		else
			blocks[kept++] = blocks[i];
	told->blocks.count = kept;
}

bool told_hand_over(struct told *told, const size_t *cuts, size_t part_count,
		    struct hp_window *window)
{
	if (told->is_short)
		return false;
	join_stretches(told);
	place_stretches(told, cuts, part_count);
	window->simulated_count = told->blocks.count;
	window->simulated = hp_steal(told->blocks.at);
	window->event_count = told->events.count;
	window->events = hp_steal(told->events.at);
	told_clear(told);
	return true;
}
