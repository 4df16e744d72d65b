/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The marks that mispredicted branches leave.
 *
 * While the core refills after a misprediction, the first instructions at the branch's target are the
 * oldest, so time accumulates on them. After a correct prediction they take no more time than the
 * instructions around them. The excess (the mark) needs no scale: it distinguishes mispredictions
 * from a loop that is slow as a whole, even without counts. Marks are cycles over all executions.
 *
 * "Around them" is the mean of the loop without outliers: the time of a load that misses says
 * nothing about its neighbours.
 */
#include "culprit.h"
#include "tuning.h"

#include <math.h>

static uint32_t region_of(const struct search *search, uint32_t block)
{
	uint32_t loop = search->cfg->blocks[block].loop;

	return loop == HP_CFG_NONE ? search->cfg->loop_count : loop;
}

/* One pass over all instructions: the mean of each region, of those up to `most` times the mean
 * before. */
static bool find_means(const struct search *search, const double *before, double most,
		       double *means)
{
	uint32_t count = search->cfg->loop_count + 1;
	double *runs = hp_arena_array(search->analyzer->arena, count, sizeof(*runs));

	if (!runs)
		return false;
	for (uint32_t i = 0; i < search->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &search->analysis->blocks[i];
		double relative = block->frequency.relative;
		uint32_t region = region_of(search, i);

		for (uint32_t k = 0; k < block->insn_count && relative > 0; k++) {
			double cycles = search_insn(search, block->first_insn + k)->cycles;

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

struct hp_error *marks_prepare(struct search *search)
{
	uint32_t count = search->cfg->loop_count + 1;
	double *all = hp_arena_array(search->analyzer->arena, count, sizeof(*all));

	search->usual = hp_arena_array(search->analyzer->arena, count, sizeof(*search->usual));
	search->branch_marks = hp_arena_array(search->analyzer->arena, search->cfg->block_count + 1,
					      sizeof(*search->branch_marks));
	if (!all || !search->usual || !search->branch_marks || !find_means(search, NULL, 0, all) ||
	    !find_means(search, all, far_above_mean, search->usual))
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < search->cfg->block_count; i++)
		search->branch_marks[i] = -1;
	return NULL;
}

double mark_at(const struct search *search, uint32_t at)
{
	const struct hp_analysed_insn *insn = search_insn(search, at);
	double share = uneven_retirement * search->usual[region_of(search, insn->block)] *
		       search_relative(search, insn->block);

	return insn->cycles > share ? insn->cycles - share : 0;
}

static double find_mark_of_branch(const struct search *search, uint32_t block)
{
	const struct hp_block *node = &search->cfg->blocks[block];
	double sum = 0;

	search->analysis->effort += node->out_count;
	for (uint32_t i = 0; i < node->out_count; i++) {
		uint32_t edge = node->first_out + i;
		uint32_t to = search->cfg->edges[edge].to;
		double along = search->analysis->edges[edge].relative;
		const struct hp_analysed_block *target;
		double mark = 0;

		if (to >= search->cfg->block_count)
			continue;
		target = &search->analysis->blocks[to];
		for (uint32_t k = 0; k < target->insn_count && k < MARKED; k++)
			mark += mark_at(search, target->first_insn + k);
		if (target->frequency.relative > 0)
			sum += mark * fmin(1, along / target->frequency.relative);
	}
	return sum;
}

/* A jump through a table leads to thousands of blocks, and each of them asks. */
double mark_of_branch(const struct search *search, uint32_t block)
{
	double *known = &search->branch_marks[block];

	if (*known < 0)
		*known = find_mark_of_branch(search, block);
	return *known;
}
