/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	frequencies and the scale; cycles of blocks; what was simulated (find_culprits)
 * provides	the prediction
 */
#include "passes.h"

/* Executions as far as they are known: relative ones where they are not. */
static double executions_of(const struct hp_analysis *analysis, uint32_t block)
{
	const struct hp_frequency *frequency = &analysis->blocks[block].frequency;
	double runs = analysis->is_absolute ? frequency->executions : frequency->relative;

	return isfinite(runs) ? runs : 0;
}

void predict(struct hp_analysis *analysis)
{
	struct hp_prediction *prediction = &analysis->prediction;

	for (uint32_t b = 0; b < analysis->cfg->block_count; b++) {
		const struct hp_analysed_block *block = &analysis->blocks[b];
		const struct hp_frequency *frequency = &block->frequency;
		double runs = executions_of(analysis, b);
		bool is_timed = false;

		for (uint32_t i = 0; i < block->insn_count; i++) {
			const struct hp_happened *seen =
				analysis->insns[block->first_insn + i].happened;

			is_timed |= seen != NULL;
			for (unsigned lane = 0; seen && seen->block_cycles && lane < HP_LANES;
			     lane++)
				prediction->predicted[lane] +=
					runs * seen->block_cycles[lane] / seen->runs;
			if (seen && seen->block_cycles && analysis->is_absolute) {
				double each = seen->block_cycles[HP_LANE_AS_IS] / seen->runs;

				prediction->low += each * frequency->executions_low;
				prediction->high += each * frequency->executions_high;
			}
		}
		if (!is_timed)
			continue;
		prediction->measured += block->cycles;
		prediction->instructions += runs * block->insn_count;
		prediction->best_case += runs * block->best_case_cycles;
	}
}
