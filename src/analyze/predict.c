/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	frequencies and the scale; cycles of blocks; what was simulated (find_culprits)
 * provides	the predictions of the procedure and of its loops
 */
#include "culprit/witness.h"
#include "passes.h"

#include <string.h>

/* Executions where they are known, otherwise relative frequencies. */
static double executions_of(const struct hp_analysis *analysis, uint32_t block)
{
	const struct hp_frequency *frequency = &analysis->blocks[block].frequency;
	double runs = analysis->is_absolute ? frequency->executions : frequency->relative;

	return isfinite(runs) ? runs : 0;
}

static void add_lane(struct hp_prediction *prediction, const struct hp_happened *seen,
		     unsigned lane, double scale)
{
	const double *resized = seen->resized_cycles ? seen->resized_cycles : seen->block_cycles;

	prediction->predicted[lane] += scale * seen->block_cycles[lane];
	prediction->resized[lane] += scale * resized[lane];
	prediction->has_resized |= lane == 0 && seen->resized_cycles;
}

/* Causes whose events are not counted have no upper limit. */
static void begin_most(struct hp_prediction *prediction)
{
	prediction->most[HP_CAUSE_STORE_BUFFER] = INFINITY;
	prediction->most[HP_CAUSE_FETCH] = INFINITY;
	for (unsigned kind = HP_CAUSE_DYNAMIC_COUNT; kind < HP_CAUSE_COUNT; kind++)
		prediction->most[kind] = INFINITY;
}

/* A path that was timed at once may begin before the block, as a loop's first iteration does. Then
 * each instruction of the block has its own time, unless it was met seldom. */
static void take_own_time(const struct hp_analysis *analysis, uint32_t b,
			  struct hp_prediction *prediction)
{
	const struct hp_analysed_block *block = &analysis->blocks[b];
	double runs = executions_of(analysis, b);
	double own[HP_LANES] = { 0 };

	for (uint32_t i = 0; i < block->insn_count; i++) {
		const struct hp_happened *seen = analysis->insns[block->first_insn + i].happened;

		/* instructions that take no time have no entry */
		if (!seen || !seen->cycles)
			continue;
		for (unsigned lane = 0; lane < HP_LANES; lane++)
			own[lane] += runs / seen->runs * seen->cycles[lane];
	}
	if (!(own[HP_LANE_AS_IS] > 0))
		return;
	prediction->low = own[HP_LANE_AS_IS] / runs * block->frequency.executions_low;
	prediction->high = own[HP_LANE_AS_IS] / runs * block->frequency.executions_high;
	memcpy(prediction->predicted, own, sizeof(own));
}

/* Returns false if nothing of the block was timed. */
static bool predict_block(const struct analyzer *analyzer, uint32_t b,
			  struct hp_prediction *prediction)
{
	const struct hp_analysis *analysis = analyzer->analysis;
	const struct hp_isa *isa = analyzer->cfg->isa;
	const struct hp_core *core = analysis->core;
	const struct hp_analysed_block *block = &analysis->blocks[b];
	const struct hp_frequency *frequency = &block->frequency;
	double runs = executions_of(analysis, b);
	double most_runs = analysis->is_absolute ? frequency->executions_high : runs;
	bool is_timed = false;

	*prediction = (struct hp_prediction){ .measured = block->cycles,
					      .apart = analyzer->input->apart * block->cycles,
					      .instructions = runs * block->insn_count,
					      .best_case = runs * block->best_case_cycles };
	begin_most(prediction);
	for (uint32_t i = 0; i < block->insn_count; i++) {
		const struct hp_analysed_insn *insn = &analysis->insns[block->first_insn + i];
		const struct hp_happened *seen = insn->happened;

		witness_add_most(core, isa, insn->insn, seen, most_runs, prediction);
		is_timed |= seen != NULL;
		if (seen)
			prediction->far_lines += runs * (seen->mean[HP_EVENT_L2_MISS] +
							 seen->mean[HP_EVENT_L2_UNKNOWN]);
		for (unsigned lane = 0; seen && seen->block_cycles && lane < HP_LANES; lane++)
			add_lane(prediction, seen, lane, runs / seen->runs);
		if (seen && seen->block_cycles && analysis->is_absolute) {
			double each = seen->block_cycles[HP_LANE_AS_IS] / seen->runs;

			prediction->low += each * frequency->executions_low;
			prediction->high += each * frequency->executions_high;
		}
	}
	return is_timed;
}

static void add(struct hp_prediction *into, const struct hp_prediction *one)
{
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		into->predicted[lane] += one->predicted[lane];
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		into->resized[lane] += one->resized[lane];
	into->has_resized |= one->has_resized;
	into->low += one->low;
	into->high += one->high;
	into->instructions += one->instructions;
	into->best_case += one->best_case;
	into->far_lines += one->far_lines;
	into->measured += one->measured;
	into->apart += one->apart;
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		into->most[kind] += one->most[kind];
	into->most_far += one->most_far;
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		into->unseen[kind] = fmax(into->unseen[kind], one->unseen[kind]);
	into->unseen_far = fmax(into->unseen_far, one->unseen_far);
}

double hp_prediction_most(const struct hp_prediction *prediction, enum hp_cause_kind kind)
{
	return prediction->most[kind] + prediction->unseen[kind];
}

double hp_prediction_most_far(const struct hp_prediction *prediction)
{
	return prediction->most_far + prediction->unseen_far;
}

struct hp_error *predict(struct analyzer *analyzer)
{
	struct hp_analysis *analysis = analyzer->analysis;
	const struct hp_cfg *cfg = analyzer->cfg;
	struct hp_prediction *loops = NULL;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		struct hp_prediction one;

		if (!predict_block(analyzer, b, &one))
			continue;
		if (!loops)
			loops = hp_arena_array(analyzer->arena, (size_t)cfg->loop_count + 1,
					       sizeof(*loops));
		if (!loops)
			return hp_error_create_no_memory();
		add(&analysis->prediction, &one);
		if (cfg->blocks[b].loop == HP_CFG_NONE)
			continue;
		take_own_time(analysis, b, &one);
		add(&loops[cfg->blocks[b].loop], &one);
	}
	/* An inner loop has a higher index than the loop around it. */
	for (uint32_t i = cfg->loop_count; loops && i-- > 0;)
		if (cfg->loops[i].parent != HP_CFG_NONE)
			add(&loops[cfg->loops[i].parent], &loops[i]);
	analysis->loop_predictions = loops;
	sheet_count_events(analysis);
	return NULL;
}
