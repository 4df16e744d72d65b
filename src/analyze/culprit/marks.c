/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "marks.h"
#include "../tuning.h"

#include <math.h>

static uint32_t region_of(const struct facts *facts, uint32_t block)
{
	uint32_t loop = facts->cfg->blocks[block].loop;

	return loop == HP_CFG_NONE ? facts->cfg->loop_count : loop;
}

/* One pass over all instructions: finds the mean of each region, leaving out instructions above
 * `most` times the previous mean. */
static bool find_means(const struct facts *facts, struct hp_arena *arena, const double *before,
		       double most, double *means)
{
	uint32_t count = facts->cfg->loop_count + 1;
	double *runs = hp_arena_array(arena, count, sizeof(*runs));

	if (!runs)
		return false;
	for (uint32_t i = 0; i < facts->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &facts->analysis->blocks[i];
		double relative = block->frequency.relative;
		uint32_t region = region_of(facts, i);

		for (uint32_t k = 0; k < block->insn_count && relative > 0; k++) {
			double cycles = facts_insn(facts, block->first_insn + k)->cycles;

			if (before && cycles > most * before[region] * relative)
				continue;
			means[region] += cycles;
			runs[region] += relative;
		}
	}
	for (uint32_t i = 0; i < count; i++)
		means[i] = runs[i] > 0 ? means[i] / runs[i] : 0;
	return true;
}

double mark_at(const struct facts *facts, uint32_t at)
{
	const struct hp_analysed_insn *insn = facts_insn(facts, at);
	double share = uneven_retirement * facts->usual[region_of(facts, insn->block)] *
		       facts_relative(facts, insn->block);

	return insn->cycles > share ? insn->cycles - share : 0;
}

/* The mark on what the branch at the block's end leads to. */
static double mark_of_branch(const struct facts *facts, uint32_t block)
{
	const struct hp_block *node = &facts->cfg->blocks[block];
	double sum = 0;

	for (uint32_t i = 0; i < node->out_count; i++) {
		uint32_t edge = node->first_out + i;
		uint32_t to = facts->cfg->edges[edge].to;
		double along = facts->analysis->edges[edge].relative;
		const struct hp_analysed_block *target;
		double mark = 0;

		if (to >= facts->cfg->block_count)
			continue;
		target = &facts->analysis->blocks[to];
		for (uint32_t k = 0; k < target->insn_count && k < MARKED; k++)
			mark += mark_at(facts, target->first_insn + k);
		if (target->frequency.relative > 0)
			sum += mark * fmin(1, along / target->frequency.relative);
	}
	return sum;
}

struct hp_error *marks_prepare(struct facts *facts, struct hp_arena *arena)
{
	uint32_t count = facts->cfg->loop_count + 1;
	uint32_t blocks = facts->cfg->block_count;
	double *all = hp_arena_array(arena, count, sizeof(*all));
	double *usual = hp_arena_array(arena, count, sizeof(*usual));
	double *branch_marks = hp_arena_array(arena, blocks + 1, sizeof(*branch_marks));

	if (!all || !usual || !branch_marks || !find_means(facts, arena, NULL, 0, all) ||
	    !find_means(facts, arena, all, far_above_mean, usual))
		return hp_error_create_no_memory();
	facts->usual = usual;
	for (uint32_t i = 0; i < blocks; i++) {
		branch_marks[i] = mark_of_branch(facts, i);
		facts->effort += facts->cfg->blocks[i].out_count;
	}
	facts->branch_marks = branch_marks;
	return NULL;
}
