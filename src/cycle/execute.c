/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Execution. An instruction is ready when its operands are, which is known once the instructions
 * that it depends on have begun. Then it begins when a unit is free; the oldest instruction goes
 * first.
 */
#include "pipeline.h"

#include <hpcprof/isa/duty.h>

#include <string.h>

static uint64_t *waiters_of(const struct pipeline *pipeline, uint64_t place)
{
	return pipeline->waiters + place * pipeline->words;
}

static uint64_t *turn_of(const struct pipeline *pipeline, uint64_t cycle)
{
	return pipeline->wheel + cycle % WHEEL * pipeline->words;
}

static void schedule(struct pipeline *pipeline, struct flight *flight, uint64_t place,
		     uint64_t when)
{
	uint64_t latest = pipeline->now + WHEEL - 1;

	flight->is_scheduled = true;
	flight->is_early = when > latest;
	flight->when = when <= pipeline->now ? pipeline->now + 1 : when > latest ? latest : when;
	set_place(turn_of(pipeline, flight->when), place);
	set_place(pipeline->turns, flight->when % WHEEL);
}

/* --- what is known ----------------------------------------------------------------------------- */

/* When the sources that are needed first, or all, are available. False: that is not known yet. */
static bool sources_come(struct pipeline *pipeline, const struct flight *flight, bool with_late,
			 uint64_t *when)
{
	*when = 0;
	for (unsigned i = 0; i < flight->source_count; i++) {
		uint64_t number = flight->sources[i] >> 1;
		const struct flight *source = flight_of(pipeline, number);

		if ((flight->sources[i] & 1 && !with_late) || number < pipeline->retired)
			continue;
		if (!source->is_known)
			return false;
		if (source->when > *when)
			*when = source->when;
	}
	return true;
}

static bool is_quick(const struct pipeline *pipeline, const struct hp_timed_insn *timed)
{
	return timed->duty != HP_DUTY_PLAIN && is_perfect(pipeline, HP_CYCLE_UNITS);
}

static unsigned latency_of(const struct pipeline *pipeline, const struct hp_timed_insn *timed)
{
	unsigned least = timed->late + 1U;

	return is_quick(pipeline, timed) && timed->latency > least ? least : timed->latency;
}

static bool find_done(struct pipeline *pipeline, struct flight *flight)
{
	const struct hp_timed_insn *timed = &flight->insn->timed;
	unsigned latency = latency_of(pipeline, timed);
	uint64_t from;

	if (!sources_come(pipeline, flight, true, &from))
		return false;
	if (flight->loaded + timed->late > from)
		from = flight->loaded + timed->late;
	flight->when = from + (latency > timed->late ? latency - timed->late : 0);
	flight->is_known = true;
	return true;
}

/* True: the time of its completion has become known. */
static bool consider(struct pipeline *pipeline, uint64_t place)
{
	struct flight *flight = &pipeline->ring[place];
	uint64_t when;

	if (flight->is_known)
		return false;
	if (flight->has_begun)
		return find_done(pipeline, flight);
	if (flight->insn->timed.is_eliminated && !flight->loads) {
		if (!sources_come(pipeline, flight, true, &when))
			return false;
		flight->when = when > pipeline->now ? when : pipeline->now;
		flight->has_begun = flight->is_known = true;
		return true;
	}
	if (!flight->is_scheduled && sources_come(pipeline, flight, false, &when))
		schedule(pipeline, flight, place, when);
	return false;
}

/* Examines the instructions that waited for it again, and so on. */
static void tell(struct pipeline *pipeline, uint64_t first)
{
	uint16_t *told = pipeline->told;
	size_t count = 0;

	told[count++] = (uint16_t)first;
	while (count) {
		uint64_t *waiters = waiters_of(pipeline, told[--count]);

		for (size_t word = 0; word < pipeline->words; word++) {
			uint64_t left = waiters[word];

			waiters[word] = 0;
			for (; left; left &= left - 1) {
				uint64_t place = word * 64 + (uint64_t)__builtin_ctzll(left);

				if (consider(pipeline, place))
					told[count++] = (uint16_t)place;
			}
		}
	}
}

/* --- dispatch ---------------------------------------------------------------------------------- */

static void wait_for(struct pipeline *pipeline, struct flight *flight, uint64_t place,
		     uint64_t writer, bool is_late)
{
	/* A retired instruction has its result. */
	if (writer <= pipeline->retired)
		return;
	flight->sources[flight->source_count++] = (writer - 1) << 1 | is_late;
	if (!flight_of(pipeline, writer - 1)->is_known)
		set_place(waiters_of(pipeline, (writer - 1) & pipeline->ring_mask), place);
}

static void wait_for_store(struct pipeline *pipeline, struct flight *flight, uint64_t place)
{
	const struct stored *stored = &pipeline->stored[flight->load_place % STORED];

	if (stored->place == flight->load_place)
		wait_for(pipeline, flight, place, stored->number, false);
}

void execute_dispatch(struct pipeline *pipeline, uint64_t number)
{
	struct flight *flight = flight_of(pipeline, number);
	uint64_t place = number & pipeline->ring_mask;
	const struct hp_timed_insn *timed = &flight->insn->timed;

	for (unsigned i = 0; i < timed->address_count; i++)
		wait_for(pipeline, flight, place, pipeline->writers[timed->addresses[i]], false);
	for (unsigned i = 0; i < timed->operand_count; i++)
		wait_for(pipeline, flight, place, pipeline->writers[timed->operands[i]],
			 timed->late > 0);
	if (flight->loads)
		wait_for_store(pipeline, flight, place);
	for (unsigned i = 0; i < timed->result_count; i++)
		pipeline->writers[timed->results[i]] = number + 1;
	if (flight->stores)
		pipeline->stored[flight->store_place % STORED] =
			(struct stored){ flight->store_place, number + 1 };
	if (consider(pipeline, place))
		tell(pipeline, place);
}

/* --- units ------------------------------------------------------------------------------------- */

static unsigned choose(const struct pipeline *pipeline, uint32_t units)
{
	unsigned best = (unsigned)__builtin_ctz(units);

	for (units &= units - 1; units; units &= units - 1) {
		unsigned unit = (unsigned)__builtin_ctz(units);

		if (pipeline->units[unit] < pipeline->units[best])
			best = unit;
	}
	return best;
}

static bool has_units(const struct pipeline *pipeline, const struct hp_timed_insn *timed)
{
	for (unsigned i = 0; i < timed->use_count; i++)
		if (pipeline->units[choose(pipeline, timed->units[i])] > pipeline->now)
			return false;
	return true;
}

static void take_units(struct pipeline *pipeline, const struct hp_timed_insn *timed)
{
	for (unsigned i = 0; i < timed->use_count; i++) {
		uint64_t *unit = &pipeline->units[choose(pipeline, timed->units[i])];

		/* A second micro-op for the same unit follows the first. */
		*unit = (*unit > pipeline->now ? *unit : pipeline->now) +
			(is_quick(pipeline, timed) && timed->busy[i] ? 1 : timed->busy[i]);
	}
}

/* Notes what is in flight, for watchers. */
static void note(struct pipeline *pipeline, const struct flight *flight)
{
	const struct hp_timed_insn *timed = &flight->insn->timed;
	uint64_t from = flight->loaded + timed->late;
	unsigned level = flight->waits == HP_CYCLE_L2D	   ? 2
			 : flight->waits == HP_CYCLE_UNITS ? 1
							   : 0;

	if (timed->duty == HP_DUTY_DIVIDE &&
	    pipeline->divides_until < pipeline->now + timed->latency)
		pipeline->divides_until = pipeline->now + timed->latency;
	if (!flight->loads)
		return;
	if (level == 2 && flight->is_in_memory)
		level = 3;
	for (unsigned i = 0; i <= level; i++)
		if (pipeline->loads_until[i] < from)
			pipeline->loads_until[i] = from;
}

static void begin(struct pipeline *pipeline, uint64_t place)
{
	struct flight *flight = &pipeline->ring[place];
	const struct hp_timed_insn *timed = &flight->insn->timed;

	take_units(pipeline, timed);
	flight->has_begun = true;
	flight->loaded = memory_load(pipeline, flight);
	note(pipeline, flight);
	if (flight->waits == HP_CYCLE_BASE && timed->duty != HP_DUTY_PLAIN &&
	    latency_of(pipeline, timed) > timed->late + 1U)
		flight->waits = HP_CYCLE_UNITS;
	if (find_done(pipeline, flight))
		tell(pipeline, place);
}

/* --- a cycle ----------------------------------------------------------------------------------- */

static void take_turn(struct pipeline *pipeline)
{
	uint64_t *turn = turn_of(pipeline, pipeline->now);

	if (!(pipeline->turns[pipeline->now % WHEEL / 64] >> pipeline->now % 64 & 1))
		return;
	clear_place(pipeline->turns, pipeline->now % WHEEL);
	for (size_t word = 0; word < pipeline->words; word++) {
		pipeline->ready[word] |= turn[word];
		turn[word] = 0;
	}
}

static void schedule_again(struct pipeline *pipeline, struct flight *flight, uint64_t place)
{
	uint64_t when;

	(void)sources_come(pipeline, flight, false, &when);
	clear_place(pipeline->ready, place);
	schedule(pipeline, flight, place, when);
}

static bool may_begin(const struct pipeline *pipeline, const struct flight *flight, uint64_t place)
{
	if (pipeline->config->is_in_order && place != (pipeline->retired & pipeline->ring_mask))
		return false;
	return has_units(pipeline, &flight->insn->timed);
}

static unsigned begin_within(struct pipeline *pipeline, size_t word, uint64_t mask, unsigned room)
{
	unsigned begun = 0;

	for (uint64_t left = pipeline->ready[word] & mask; left && begun < room; left &= left - 1) {
		uint64_t place = word * 64 + (uint64_t)__builtin_ctzll(left);
		struct flight *flight = &pipeline->ring[place];

		if (flight->is_early)
			schedule_again(pipeline, flight, place);
		if (flight->when > pipeline->now || !may_begin(pipeline, flight, place))
			continue;
		clear_place(pipeline->ready, place);
		begin(pipeline, place);
		begun++;
	}
	return begun;
}

void execute_begin(struct pipeline *pipeline)
{
	uint64_t oldest = pipeline->retired & pipeline->ring_mask;
	uint64_t behind = UINT64_MAX << oldest % 64;
	unsigned room = pipeline->config->issue_width, begun;
	size_t first = oldest / 64;

	take_turn(pipeline);
	begun = begin_within(pipeline, first, behind, room);
	for (size_t i = 1; i < pipeline->words; i++)
		begun += begin_within(pipeline, (first + i) % pipeline->words, UINT64_MAX,
				      room - begun);
	begun += begin_within(pipeline, first, ~behind, room - begun);
	pipeline->has_moved |= begun > 0;
	pipeline->view.begun = begun;
}

uint64_t execute_next(const struct pipeline *pipeline)
{
	for (size_t word = 0; word < pipeline->words; word++)
		if (pipeline->ready[word])
			return pipeline->now + 1;
	for (uint64_t i = 1; i < WHEEL;) {
		uint64_t cycle = (pipeline->now + i) % WHEEL;
		uint64_t left = pipeline->turns[cycle / 64] >> cycle % 64;

		if (left)
			return pipeline->now + i + (uint64_t)__builtin_ctzll(left);
		i += 64 - cycle % 64;
	}
	return NEVER;
}

enum hp_cycle_part execute_waits(const struct pipeline *pipeline, const struct flight *flight)
{
	if (flight->has_begun)
		return pipeline->now < flight->paged ? HP_CYCLE_DTLB : flight->waits;
	/* The oldest instruction only lacks a unit. */
	return flight->insn->timed.duty != HP_DUTY_PLAIN && !is_perfect(pipeline, HP_CYCLE_UNITS)
		       ? HP_CYCLE_UNITS
		       : HP_CYCLE_BASE;
}

/* --- wrong paths ------------------------------------------------------------------------------- */

void execute_forget(struct pipeline *pipeline, uint64_t number)
{
	for (uint64_t i = number; i < pipeline->dispatched; i++) {
		struct flight *flight = flight_of(pipeline, i);
		uint64_t place = i & pipeline->ring_mask;

		clear_place(pipeline->ready, place);
		if (flight->is_scheduled && !flight->has_begun)
			clear_place(turn_of(pipeline, flight->when), place);
		memset(waiters_of(pipeline, place), 0, pipeline->words * sizeof(uint64_t));
		pipeline->slots -= flight->insn->timed.slots;
		pipeline->memories -= flight->loads || flight->stores;
		pipeline->stores -= flight->stores;
	}
	memset(pipeline->writers, 0, sizeof(pipeline->writers));
	for (uint64_t i = pipeline->retired; i < number; i++) {
		const struct hp_timed_insn *timed = &flight_of(pipeline, i)->insn->timed;
		uint64_t *waiters = waiters_of(pipeline, i & pipeline->ring_mask);

		for (unsigned result = 0; result < timed->result_count; result++)
			pipeline->writers[timed->results[result]] = i + 1;
		for (uint64_t gone = number; gone < pipeline->dispatched; gone++)
			clear_place(waiters, gone & pipeline->ring_mask);
	}
}
