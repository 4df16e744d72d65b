/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	gather
 * provides	best_case_cycles of blocks and instructions, and what the instructions wait for
 *
 * DCPI's M (section 6.1.3), for regions that an out-of-order core executes as one: an innermost
 * loop whose blocks are all executed in every iteration is scheduled whole, as a loop; any other
 * block by itself. A block's best case is the sum over its instructions. Which instruction waits
 * for what is computed only for blocks with samples, their own or those that skid moves back to
 * them. In procedures with fewer samples than blocks, which are many, blocks without samples get
 * the bound of the issue width only, without a schedule.
 */
#include "passes.h"
#include "tuning.h"

struct scheduling {
	struct analyzer *analyzer;
	const bool *sampled; /* of each block */
	/* holds one region at a time: those of all blocks would be a gigabyte */
	struct hp_arena *arena;
};

static struct hp_error *schedule(const struct scheduling *scheduling, const struct hp_insn *insns,
				 const uint32_t *numbers, size_t count, bool is_loop,
				 bool has_samples)
{
	const struct analyzer *analyzer = scheduling->analyzer;
	struct hp_analysis *analysis = analyzer->analysis;
	struct hp_schedule_options options = { .machine = analysis->core,
					       .isa = analyzer->cfg->isa,
					       .is_loop = is_loop,
					       .is_bound_enough = !has_samples,
					       .kept = analyzer->options->schedules };
	const struct hp_schedule *schedule;
	struct hp_error *error =
		hp_schedule_create(insns, count, &options, scheduling->arena, &schedule);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		struct hp_analysed_insn *insn = &analysis->insns[numbers[i]];
		const struct hp_schedule_row *row = &schedule->rows[i];

		insn->best_case_cycles = row->cycles;
		insn->stall_cycles = row->stall_cycles;
		insn->static_stall = row->stall;
		insn->units = row->units;
		insn->producer = row->producer == HP_SCHEDULE_NONE ? HP_SCHEDULE_NONE
								   : numbers[row->producer];
		analysis->blocks[insn->block].best_case_cycles += row->cycles;
	}
	return NULL;
}

/* The order in which one iteration runs the loop's blocks, from its header. Returns 0 when
 * iterations differ: a block has two successors within the loop, or an edge enters it in the
 * middle. */
static uint32_t one_path(const struct hp_cfg *cfg, uint32_t loop, uint32_t *path)
{
	uint32_t header = cfg->loops[loop].header;
	uint32_t count = 0;
	uint32_t block = header;

	do {
		const struct hp_block *node = &cfg->blocks[block];
		uint32_t next = HP_CFG_NONE;

		if (block >= cfg->block_count || node->loop != loop || count == LONGEST_PATH)
			return 0;
		path[count++] = block;
		for (uint32_t i = 0; i < node->out_count; i++) {
			uint32_t to = cfg->edges[node->first_out + i].to;

			if (to >= cfg->block_count || cfg->blocks[to].loop != loop)
				/* leaves the loop or enters an inner one, so the path ends early */
				continue;
			if (next != HP_CFG_NONE)
				return 0;
			next = to;
		}
		if (next == HP_CFG_NONE)
			return 0;
		block = next;
	} while (block != header);
	return count;
}

/* Marks loops that contain other loops. */
static bool *find_outer(const struct analyzer *analyzer)
{
	const struct hp_cfg *cfg = analyzer->cfg;
	bool *outer = hp_arena_array(analyzer->scratch, cfg->loop_count + 1, sizeof(bool));

	for (uint32_t i = 0; outer && i < cfg->loop_count; i++)
		if (cfg->loops[i].parent != HP_CFG_NONE)
			outer[cfg->loops[i].parent] = true;
	return outer;
}

/* Marks blocks that have samples. It is done once, since thousands of jumps may lead to a long
 * block. */
static bool *find_sampled(const struct analyzer *analyzer)
{
	const struct hp_analysis *analysis = analyzer->analysis;
	bool *sampled =
		hp_arena_array(analyzer->scratch, analyzer->cfg->block_count + 1, sizeof(*sampled));

	for (size_t i = 0; sampled && i < analysis->insn_count; i++)
		if (analysis->insns[i].samples > 0)
			sampled[analysis->insns[i].block] = true;
	return sampled;
}

/* A block without samples of its own counts, too, when one after it has samples: those on a block's
 * first instruction move back. */
static bool gets_samples(const struct hp_cfg *cfg, const bool *sampled, uint32_t number)
{
	const struct hp_block *block = &cfg->blocks[number];
	bool any = sampled[number];

	for (uint32_t i = 0; i < block->out_count && !any; i++) {
		uint32_t to = cfg->edges[block->first_out + i].to;

		any = to < cfg->block_count && sampled[to];
	}
	return any;
}

/* Schedules the instructions of these blocks in sequence. */
static struct hp_error *schedule_path(const struct scheduling *scheduling, const uint32_t *path,
				      uint32_t length, bool is_loop)
{
	const struct analyzer *analyzer = scheduling->analyzer;
	const struct hp_analysis *analysis = analyzer->analysis;
	struct hp_insn *insns;
	uint32_t *numbers;
	bool has_samples = false;
	size_t count = 0;

	for (uint32_t i = 0; i < length; i++)
		has_samples |= gets_samples(analyzer->cfg, scheduling->sampled, path[i]);
	for (uint32_t i = 0; i < length; i++)
		count += analysis->blocks[path[i]].insn_count;
	hp_arena_reset(scheduling->arena);
	insns = hp_arena_array(scheduling->arena, count + 1, sizeof(*insns));
	numbers = hp_arena_array(scheduling->arena, count + 1, sizeof(*numbers));
	if (!insns || !numbers)
		return hp_error_create_no_memory();
	count = 0;
	for (uint32_t i = 0; i < length; i++) {
		const struct hp_analysed_block *block = &analysis->blocks[path[i]];

		for (uint32_t at = 0; at < block->insn_count; at++) {
			numbers[count] = block->first_insn + at;
			insns[count++] = *analysis->insns[block->first_insn + at].insn;
		}
	}
	return count ? schedule(scheduling, insns, numbers, count, is_loop, has_samples) : NULL;
}

static uint32_t instructions_of(const struct analyzer *analyzer, const uint32_t *path,
				uint32_t length)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < length; i++)
		sum += analyzer->analysis->blocks[path[i]].insn_count;
	return sum;
}

static bool is_worth_a_schedule(const struct analyzer *analyzer, const bool *sampled,
				uint32_t block)
{
	return analyzer->samples >= analyzer->cfg->block_count || sampled[block];
}

static void bound_by_width(struct analyzer *analyzer, uint32_t number)
{
	struct hp_analysis *analysis = analyzer->analysis;
	struct hp_analysed_block *block = &analysis->blocks[number];
	const struct hp_insn *before = NULL;

	for (uint32_t at = 0; at < block->insn_count; at++) {
		struct hp_analysed_insn *insn = &analysis->insns[block->first_insn + at];
		struct hp_cost cost;

		hp_core_cost(analysis->core, before, insn->insn, &cost);
		insn->best_case_cycles = (double)cost.slots / analysis->core->issue_width;
		block->best_case_cycles += insn->best_case_cycles;
		before = insn->insn;
	}
}

struct hp_error *find_best_cases(struct analyzer *analyzer)
{
	const struct hp_cfg *cfg = analyzer->cfg;
	bool *outer = find_outer(analyzer);
	const bool *sampled = find_sampled(analyzer);
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	const struct scheduling scheduling = { analyzer, sampled, arena };
	bool *done = hp_arena_array(analyzer->scratch, cfg->block_count + 1, sizeof(bool));
	uint32_t *path = hp_arena_array(analyzer->scratch, LONGEST_PATH, sizeof(*path));
	struct hp_error *error = NULL;

	if (!outer || !sampled || !arena || !done || !path)
		return hp_error_create_no_memory();
	for (uint32_t loop = 0; loop < cfg->loop_count && !error; loop++) {
		uint32_t length = outer[loop] ? 0 : one_path(cfg, loop, path);

		if (!length || !is_worth_a_schedule(analyzer, sampled, path[0]) ||
		    instructions_of(analyzer, path, length) > LONGEST_PATH)
			continue;
		for (uint32_t i = 0; i < length; i++)
			done[path[i]] = true;
		error = schedule_path(&scheduling, path, length, true);
	}
	for (uint32_t block = 0; block < cfg->block_count && !error; block++) {
		if (!done[block] && is_worth_a_schedule(analyzer, sampled, block))
			error = schedule_path(&scheduling, &block, 1, false);
		else if (!done[block])
			bound_by_width(analyzer, block);
	}
	return error;
}
