/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The best case of a region: costs, dependences, bounds, and the instructions that it is due to. */
#include "region.h"
#include "simulated.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

/* Fuses a pair into one micro-op on the units of the jump. Loads stay micro-ops of their own. */
static void fuse(struct hp_cost *first, struct hp_cost *jump)
{
	uint32_t units = 0;
	uint8_t kept = 0;

	for (size_t i = 0; i < jump->use_count; i++)
		units |= jump->uses[i].units;
	for (size_t i = 0; i < first->use_count; i++)
		if (!(first->uses[i].units & units))
			first->uses[kept++] = first->uses[i];
	first->use_count = kept;
}

static void find_costs(struct region *region, struct hp_schedule *schedule)
{
	const struct hp_core *machine = region->options->machine;

	for (uint32_t i = 0; i < region->count; i++) {
		const struct hp_insn *before = i > 0 ? &region->insns[i - 1] : NULL;
		struct hp_cost *cost = &region->costs[i];

		hp_core_cost(machine, before, &region->insns[i], cost);
		if (before && cost->slots == 0)
			fuse(&region->costs[i - 1], cost);
		region->slots += cost->slots;
		schedule->guesses += cost->is_guess;
	}
	schedule->slots = region->slots;
}

/* A taken jump ends the fetch of its cycle. */
static double fetch_cycles(const struct region *region)
{
	const struct hp_insn *last = &region->insns[region->count - 1];
	double by_width = (double)region->slots / region->options->machine->fetch_width;
	double taken = 0;

	for (uint32_t i = 0; i < region->count; i++) {
		uint8_t kind = region->insns[i].kind;

		taken += kind == HP_INSN_JUMP || kind == HP_INSN_JUMP_INDIRECT ||
			 kind == HP_INSN_CALL || kind == HP_INSN_CALL_INDIRECT ||
			 kind == HP_INSN_RETURN;
	}
	taken += region->options->is_loop && last->kind == HP_INSN_CONDITIONAL;
	return taken > by_width ? taken : by_width;
}

static struct hp_error *find_bounds(const struct region *region, struct hp_arena *arena,
				    struct hp_schedule *schedule)
{
	const struct hp_schedule_options *options = region->options;
	const struct hp_core *machine = options->machine;
	double *bounds = schedule->bounds;
	uint32_t divider;
	struct hp_error *error;

	bounds[HP_BOUND_ISSUE] = (double)region->slots / machine->issue_width;
	bounds[HP_BOUND_RETIRE] = (double)region->slots / machine->retire_width;
	bounds[HP_BOUND_FETCH] = fetch_cycles(region);
	error = region_ports(region, ~machine->divider_units, arena, &bounds[HP_BOUND_PORTS],
			     &schedule->port_units);
	if (!error)
		error = region_ports(region, machine->divider_units, arena,
				     &bounds[HP_BOUND_DIVIDER], &divider);
	if (!error && options->is_loop)
		error = region_recurrence(region, arena, &bounds[HP_BOUND_RECURRENCE]);
	if (error)
		return error;
	schedule->is_recurrence_counted =
		options->is_loop && (options->iterations <= 0 ||
				     options->iterations * region->slots >= machine->reorder_slots);
	for (unsigned bound = 0; bound < HP_BOUND_COUNT; bound++) {
		if (bound == HP_BOUND_RECURRENCE && !schedule->is_recurrence_counted)
			continue;
		if (bounds[bound] > schedule->cycles) {
			schedule->cycles = bounds[bound];
			schedule->limit = (uint8_t)bound;
		}
	}
	return NULL;
}

static void share_by_width(const struct region *region, struct hp_schedule *schedule)
{
	for (uint32_t i = 0; i < region->count; i++)
		schedule->rows[i] = (struct hp_schedule_row){
			.cycles = region->slots ? schedule->cycles * region->costs[i].slots /
							  region->slots
						: schedule->cycles / region->count,
			.producer = HP_SCHEDULE_NONE,
			.is_fused = region->costs[i].slots == 0,
		};
}

static struct hp_error *simulate(const struct region *region, struct hp_arena *arena,
				 struct hp_schedule *schedule)
{
	struct hp_schedules *kept = region->options->kept;
	bool is_carried = schedule->is_recurrence_counted;
	struct simulated_key key;
	struct hp_error *error;

	if (!kept)
		return region_simulate(region, is_carried, arena, schedule);
	if (!simulated_key(region, is_carried, schedule->cycles, arena, &key))
		return hp_error_create_no_memory();
	if (simulated_find(kept, &key, schedule))
		return NULL;
	error = region_simulate(region, is_carried, arena, schedule);
	if (!error)
		simulated_keep(kept, &key, schedule);
	return error;
}

struct hp_error *hp_schedule_create(const struct hp_insn *insns, size_t count,
				    const struct hp_schedule_options *options,
				    struct hp_arena *arena, const struct hp_schedule **created)
{
	struct hp_schedule *schedule;
	struct region region = { .insns = insns, .options = options, .count = (uint32_t)count };
	struct hp_error *error;

	if (count == 0 || count > MOST_SCHEDULED)
		return hp_error_create(HP_ERROR_USAGE, "a region of %zu instructions", count);
	schedule = hp_arena_alloc(arena, sizeof(*schedule));
	region.costs = hp_arena_array(arena, count, sizeof(*region.costs));
	if (!schedule || !region.costs)
		return hp_error_create_no_memory();
	schedule->count = count;
	schedule->rows = hp_arena_array(arena, count, sizeof(*schedule->rows));
	if (!schedule->rows)
		return hp_error_create_no_memory();
	find_costs(&region, schedule);
	/* Bounds of straight code depend on the costs alone, not on dependences. */
	error = options->is_loop || !options->is_bound_enough ? region_connect(&region, arena)
							      : NULL;
	if (!error)
		error = find_bounds(&region, arena, schedule);
	if (!error && options->is_bound_enough)
		share_by_width(&region, schedule);
	else if (!error)
		error = simulate(&region, arena, schedule);
	if (!error)
		*created = schedule;
	return error;
}
