/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attributes the best case to instructions. Requires dependences and the best case.
 *
 * A simple core that issues the oldest instruction first executes the region repeatedly until it
 * reaches a steady state. An instruction's cost is the time that retirement waits for it there. The
 * costs add up to the best case.
 */
#include "region.h"
#include "tuning.h"

enum { WORD = 64, WORDS = 64, RING = WORD * WORDS, SAFE = RING - 512 };

struct moment { /* of one instruction in one iteration */
	int64_t start;
	int64_t retire;
};

struct core {
	const struct region *region;
	bool is_carried;
	uint64_t busy[HP_CORE_UNITS][WORDS]; /* one bit per cycle, from `floor` on */
	int64_t floor;
	uint64_t work[HP_CORE_UNITS]; /* cycles assigned to each unit so far */
	int64_t issue_cycle;
	uint32_t issued; /* slots issued in the cycle of the last issue */
	int64_t retire_cycle;
	uint32_t retired;
	struct moment *now;
	struct moment *before;
	/* of each place of the reorder buffer: the cycle in which it becomes free */
	int64_t *leaves;
	uint32_t enters; /* the place that the next slot takes */
	uint32_t retires;
	int64_t serial_until;
};

/* Forgets the cycles before `floor`. Words of the bit map are reused once all their cycles are
 * over. */
static void forget_until(struct core *core, int64_t cycle)
{
	if (cycle - core->floor > RING)
		core->floor = cycle - RING;
	for (int64_t word = core->floor / WORD; word < cycle / WORD; word++)
		for (unsigned unit = 0; unit < HP_CORE_UNITS; unit++)
			core->busy[unit][word % WORDS] = 0;
	if (cycle > core->floor)
		core->floor = cycle;
}

/* Where a cycle's bit is: unsigned, since no cycle is before 0 and signed divisions take longer. */
static unsigned word_of(int64_t cycle)
{
	return (unsigned)((uint64_t)cycle / WORD % WORDS);
}

static uint64_t bit_of(int64_t cycle)
{
	return (uint64_t)1 << ((uint64_t)cycle % WORD);
}

static bool is_free(const struct core *core, unsigned unit, int64_t from, unsigned cycles)
{
	for (int64_t at = from; at < from + cycles; at++)
		if (core->busy[unit][word_of(at)] & bit_of(at))
			return false;
	return true;
}

/* The first cycle, from `from` on, in which at least one of these units is free. */
static int64_t next_free(const struct core *core, uint32_t units, int64_t from, int64_t end)
{
	while (from < end) {
		uint64_t busy = UINT64_MAX;

		for (uint32_t left = units; left; left &= left - 1)
			busy &= core->busy[__builtin_ctz(left)][word_of(from)];
		busy |= bit_of(from) - 1;
		from &= ~(int64_t)(WORD - 1);
		if (~busy)
			return from + __builtin_ctzll(~busy);
		from += WORD;
	}
	return end;
}

/* Of the units that are free from then on, the one with the least work; HP_CORE_UNITS if none
 * is. */
static unsigned choose(const struct core *core, const struct hp_unit_use *use, int64_t from)
{
	unsigned best = HP_CORE_UNITS;

	for (uint32_t left = use->units; left; left &= left - 1) {
		unsigned unit = (unsigned)__builtin_ctz(left);

		if ((best == HP_CORE_UNITS || core->work[unit] < core->work[best]) &&
		    is_free(core, unit, from, use->cycles))
			best = unit;
	}
	return best;
}

/* The cycle in which a ready micro-op gets a unit; the unit is taken then. */
static int64_t take_unit(struct core *core, const struct hp_unit_use *use, int64_t ready)
{
	int64_t end = core->floor + SAFE;

	for (int64_t from = next_free(core, use->units, ready, end); from < end;
	     from = next_free(core, use->units, from + 1, end)) {
		unsigned unit = choose(core, use, from);

		if (unit == HP_CORE_UNITS)
			continue;
		for (int64_t at = from; at < from + use->cycles; at++)
			core->busy[unit][word_of(at)] |= bit_of(at);
		core->work[unit] += use->cycles;
		return from;
	}
	return ready; /* too far ahead for the bit map */
}

/* Slots enter in program order, a limited number per cycle, when the reorder buffer has room. */
static int64_t issue(struct core *core, uint32_t slots)
{
	const struct hp_core *machine = core->region->options->machine;

	for (uint32_t i = 0; i < slots; i++) {
		int64_t room = core->leaves[core->enters];

		core->enters = core->enters + 1 < machine->reorder_slots ? core->enters + 1 : 0;
		if (core->issued == machine->issue_width || room > core->issue_cycle) {
			core->issue_cycle = room > core->issue_cycle ? room : core->issue_cycle + 1;
			core->issued = 0;
		}
		core->issued++;
	}
	forget_until(core, core->issue_cycle);
	return core->issue_cycle + 1;
}

static int64_t retire(struct core *core, uint32_t slots, int64_t done)
{
	const struct hp_core *machine = core->region->options->machine;

	if (done > core->retire_cycle) {
		core->retire_cycle = done;
		core->retired = 0;
	}
	for (uint32_t i = 0; i < slots; i++) {
		if (core->retired == machine->retire_width) {
			core->retire_cycle++;
			core->retired = 0;
		}
		core->retired++;
		core->leaves[core->retires] = core->retire_cycle;
		core->retires = core->retires + 1 < machine->reorder_slots ? core->retires + 1 : 0;
	}
	return core->retire_cycle;
}

static int64_t wait_for_inputs(const struct core *core, uint32_t at, int64_t ready,
			       struct hp_schedule_row *row)
{
	const struct region *region = core->region;

	for (uint32_t d = region->first[at]; d < region->first[at + 1]; d++) {
		const struct dependence *one = &region->dependences[d];
		int64_t start = one->cycles;

		if (one->distance && !core->is_carried)
			continue;
		start += (one->distance ? core->before : core->now)[one->producer].start;
		if (start <= ready)
			continue;
		ready = start;
		row->stall = HP_STALL_DEPENDENCY;
		row->producer = one->producer;
		row->is_carried = one->distance != 0;
	}
	return ready;
}

static void run_one(struct core *core, uint32_t at, struct hp_schedule_row *row)
{
	const struct hp_cost *cost = &core->region->costs[at];
	uint32_t slots = cost->slots;
	int64_t last = core->retire_cycle;
	int64_t ready;
	int64_t start;

	row->stall = HP_STALL_WIDTH;
	row->producer = HP_SCHEDULE_NONE;
	ready = issue(core, slots);
	if (core->serial_until > ready)
		ready = core->serial_until;
	ready = wait_for_inputs(core, at, ready, row);
	start = ready;
	for (size_t i = 0; i < cost->use_count; i++) {
		int64_t taken = take_unit(core, &cost->uses[i], ready);

		if (taken <= start)
			continue;
		start = taken;
		row->units = cost->uses[i].units;
	}
	/* The stall is named after the longer wait. */
	if (start - ready > 0 && (row->stall != HP_STALL_DEPENDENCY || start - ready > 1)) {
		row->stall = HP_STALL_PORT;
		row->producer = HP_SCHEDULE_NONE;
	}
	core->now[at] = (struct moment){
		.start = start,
		.retire = retire(core, slots, start + cost->latency),
	};
	if (cost->is_serializing)
		core->serial_until = core->now[at].retire;
	row->cycles = (double)(core->now[at].retire - last);
}

/* Enough iterations to fill the reorder buffer twice; the first half lets the loop become
 * steady. */
static uint32_t iterations_for(const struct region *region)
{
	uint32_t slots = region->slots ? region->slots : 1;
	uint32_t wanted = 2u * region->options->machine->reorder_slots / slots + 8;
	uint32_t most = LARGEST_RUN / region->count;

	if (wanted > most)
		wanted = most;
	return wanted < 4 ? 4 : wanted & ~1u;
}

struct totals { /* sums of one instruction over the counted iterations */
	double cycles;
	double stalled[HP_STALL_PORT + 1];
	struct hp_schedule_row last[HP_STALL_PORT + 1]; /* the last one of each kind */
};

static void fill_row(const struct region *region, uint32_t at, const struct totals *totals,
		     double scale, struct hp_schedule_row *row)
{
	const struct hp_cost *cost = &region->costs[at];
	double share = (double)cost->slots / region->options->machine->issue_width;
	unsigned kind = HP_STALL_WIDTH;

	for (unsigned other = HP_STALL_DEPENDENCY; other <= HP_STALL_PORT; other++)
		if (totals->stalled[other] > totals->stalled[kind])
			kind = other;
	*row = totals->last[kind];
	row->is_fused = cost->slots == 0;
	row->cycles = totals->cycles * scale;
	row->stall_cycles = row->cycles > share ? row->cycles - share : 0;
	row->stall = (uint8_t)(row->stall_cycles > 0 ? kind : HP_STALL_NONE);
	if (row->stall != HP_STALL_PORT)
		row->units = 0;
	if (row->stall != HP_STALL_DEPENDENCY) {
		row->producer = HP_SCHEDULE_NONE;
		row->is_carried = false;
	}
}

/* When several instructions retire in one cycle, the first of them has the whole cycle. The share
 * of the width that belongs to the others is no stall: it is subtracted from waits for the width
 * first, then from all. */
static void settle_stalls(const struct region *region, struct hp_schedule *schedule)
{
	double width = (double)region->slots / region->options->machine->issue_width;
	double stalls[2] = { 0 }; /* by kind: waits for the width, and others */
	double kept[2];
	double excess;

	for (uint32_t at = 0; at < region->count; at++)
		stalls[schedule->rows[at].stall > HP_STALL_WIDTH] +=
			schedule->rows[at].stall_cycles;
	excess = stalls[0] + stalls[1] - (schedule->cycles > width ? schedule->cycles - width : 0);
	if (excess <= 0)
		return;
	kept[0] = excess < stalls[0] ? 1 - excess / stalls[0] : 0;
	excess -= stalls[0] - kept[0] * stalls[0];
	kept[1] = excess > 0 && stalls[1] > 0 ? 1 - excess / stalls[1] : 1;
	for (uint32_t at = 0; at < region->count; at++) {
		struct hp_schedule_row *row = &schedule->rows[at];

		row->stall_cycles *= kept[row->stall > HP_STALL_WIDTH];
		if (row->stall_cycles > 1e-9)
			continue;
		row->stall_cycles = 0;
		row->stall = HP_STALL_NONE;
		row->producer = HP_SCHEDULE_NONE;
		row->units = 0;
		row->is_carried = false;
	}
}

struct hp_error *region_simulate(const struct region *region, bool is_carried,
				 struct hp_arena *arena, struct hp_schedule *schedule)
{
	struct core *core = hp_arena_alloc(arena, sizeof(*core));
	struct totals *totals = hp_arena_array(arena, region->count, sizeof(*totals));
	uint32_t iterations = iterations_for(region);
	double sum = 0;

	if (!core || !totals)
		return hp_error_create_no_memory();
	core->region = region;
	core->is_carried = is_carried;
	core->now = hp_arena_array(arena, region->count, sizeof(*core->now));
	core->before = hp_arena_array(arena, region->count, sizeof(*core->before));
	core->leaves = hp_arena_array(arena, region->options->machine->reorder_slots,
				      sizeof(*core->leaves));
	if (!core->now || !core->before || !core->leaves)
		return hp_error_create_no_memory();
	for (uint32_t iteration = 0; iteration < iterations; iteration++) {
		struct moment *other = core->before;

		core->before = core->now;
		core->now = other;
		for (uint32_t at = 0; at < region->count; at++) {
			struct hp_schedule_row row = { 0 };

			run_one(core, at, &row);
			if (iteration < iterations / 2)
				continue;
			totals[at].cycles += row.cycles;
			totals[at].stalled[row.stall] += row.cycles;
			totals[at].last[row.stall] = row;
			sum += row.cycles;
		}
	}
	for (uint32_t at = 0; at < region->count; at++)
		fill_row(region, at, &totals[at], sum > 0 ? schedule->cycles / sum : 0,
			 &schedule->rows[at]);
	settle_stalls(region, schedule);
	return NULL;
}
