/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Image, graph and schedule together, of code that somebody else made: every block of every
 * procedure is decoded and scheduled, loops as loops, on cores of both vendors. What a schedule
 * claims of itself is checked.
 */
#include "fuzz.h"
#include "graphs.h"

#include <hpcprof/analyze/schedule.h>

#include <math.h>
#include <stdlib.h>

enum {
	PROCEDURES_ASKED = 32,
	BLOCKS_ASKED = 32,
	INSTRUCTIONS_ASKED = 256, /* of one procedure: what this is to cost each input */
};

static void check(const struct hp_schedule *schedule, const struct hp_core *core, bool is_loop)
{
	double sum = 0;
	double most = 0;

	for (unsigned bound = 0; bound < HP_BOUND_COUNT; bound++) {
		if (!isfinite(schedule->bounds[bound]) || schedule->bounds[bound] < 0)
			abort();
		if (bound != HP_BOUND_RECURRENCE || schedule->is_recurrence_counted)
			most = fmax(most, schedule->bounds[bound]);
	}
	if (schedule->cycles != most || schedule->limit >= HP_BOUND_COUNT ||
	    (schedule->is_recurrence_counted && !is_loop))
		abort();
	for (size_t i = 0; i < schedule->count; i++) {
		const struct hp_schedule_row *row = &schedule->rows[i];

		sum += row->cycles;
		if (!isfinite(row->cycles) || row->cycles < 0 || row->stall_cycles < 0 ||
		    row->stall_cycles > row->cycles || row->stall > HP_STALL_PORT ||
		    (row->stall == HP_STALL_DEPENDENCY && row->producer >= schedule->count) ||
		    (row->stall != HP_STALL_DEPENDENCY && row->producer != HP_SCHEDULE_NONE))
			abort();
		for (uint32_t units = row->units; units; units &= units - 1)
			if (!hp_core_unit(core, (unsigned)__builtin_ctz(units)))
				abort();
	}
	/* All of the best case goes to instructions, or none of it. */
	if (sum > 0 && fabs(sum - schedule->cycles) > 1e-6 * (1 + schedule->cycles))
		abort();
}

static bool leads_to(const struct hp_cfg *cfg, uint32_t from, uint32_t to)
{
	const struct hp_block *block = &cfg->blocks[from];

	for (uint32_t i = 0; i < block->out_count; i++)
		if (cfg->edges[block->first_out + i].to == to)
			return true;
	return false;
}

/* The block's instructions, as far as they decode in full. */
static size_t decode(struct hp_image *image, const struct hp_cfg *cfg, uint32_t number,
		     struct hp_insn *insns, size_t room)
{
	const struct hp_block *block = &cfg->blocks[number];
	const uint8_t *bytes;
	size_t size = hp_image_text(image, block->address, block->bytes, &bytes);
	size_t count = 0;

	if (size != block->bytes)
		abort();
	for (size_t at = 0; at < size && count < room; at += insns[count++].length) {
		uint64_t address = block->address.value + at;
		struct hp_flow flow;

		if (!cfg->isa->flow(bytes + at, size - at, address, &flow))
			abort();
		if (!cfg->isa->decode(bytes + at, size - at, address, &insns[count]))
			break;
		if (insns[count].length != flow.length || insns[count].kind != flow.kind)
			abort();
	}
	return count;
}

static void schedule_block(const struct hp_cfg *cfg, uint32_t number, const struct hp_insn *insns,
			   size_t count, struct hp_arena *arena)
{
	static const char *const names[] = { "granite-rapids", "zen-2", "generic-x86-64" };
	struct hp_schedule_options options = {
		.machine = hp_core_named(names[number % 3]),
		.isa = cfg->isa,
		.is_loop = leads_to(cfg, number, number),
		.iterations = number % 2 ? number : 0,
	};
	const struct hp_schedule *schedule;
	struct hp_error *error = hp_schedule_create(insns, count, &options, arena, &schedule);

	if (!error)
		check(schedule, options.machine, options.is_loop);
	hp_error_destroy(error);
}

static void schedule_all(struct hp_image *image, const struct hp_cfg *cfg, struct hp_arena *arena,
			 void *context)
{
	struct hp_insn *insns = hp_arena_array(arena, INSTRUCTIONS_ASKED, sizeof(*insns));
	size_t left = INSTRUCTIONS_ASKED;

	(void)context;
	for (uint32_t i = 0; insns && i < cfg->block_count && i < BLOCKS_ASKED && left > 0; i++) {
		size_t count = decode(image, cfg, i, insns, left);

		if (count > 0)
			schedule_block(cfg, i, insns, count, arena);
		left -= count;
	}
}

static void ask(struct hp_image *image)
{
	fuzz_graphs(image, PROCEDURES_ASKED, &(struct fuzz_visitor){ .visit = schedule_all });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_with_image(data, size, ask);
	return 0;
}
