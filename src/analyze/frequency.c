/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	log_frequency and deviations of blocks, edges and the entry; blocks' cycles
 * provides	blocks[].frequency, edges, entry, scale, cycles_per_execution; confidence
 *
 * Turns logarithms and deviations into figures with 90 % intervals. Without evidence that counts,
 * frequencies are relative only, and the scale has only an upper limit: no block with a noticeable
 * share of the cycles runs faster than its best case.
 */
#include "passes.h"
#include "tuning.h"

#include <hpcprof/base/search.h>
#include <hpcprof/model/evidence.h>

#include <stdlib.h>

static uint8_t confidence_of(double deviation)
{
	if (deviation <= high_deviation)
		return HP_CONFIDENCE_HIGH;
	return deviation <= medium_deviation ? HP_CONFIDENCE_MEDIUM : HP_CONFIDENCE_LOW;
}

/* The upper half of an interval, as a factor, limited to finite values. */
static double half_width(const struct analyzer *analyzer, double deviation)
{
	bool is_counted = analyzer->analysis->sources >> HP_SOURCE_SHADOW & 1;
	double inflated = (is_counted ? counted_inflation : time_inflation) * deviation;

	return exp(fmin(HP_NORMAL_90 * inflated, 50));
}

static struct hp_frequency frequency_of(const struct analyzer *analyzer, size_t at)
{
	double log_executions = analyzer->log_frequency[at];
	double relative = exp(log_executions - analyzer->hottest);
	double around = half_width(analyzer, analyzer->relative_deviation[at]);
	struct hp_frequency frequency = {
		.relative = relative,
		.relative_low = relative / around,
		.relative_high = relative * around,
		.executions = NAN,
		.executions_low = NAN,
		.executions_high = NAN,
		.relative_confidence = confidence_of(analyzer->relative_deviation[at]),
	};

	if (isnan(relative)) {
		frequency.relative_low = frequency.relative_high = NAN;
		frequency.relative_confidence = HP_CONFIDENCE_NONE;
	}
	frequency.confidence = frequency.relative_confidence;
	if (!analyzer->analysis->is_absolute)
		return frequency;
	around = half_width(analyzer, analyzer->deviation[at]);
	frequency.executions = exp(log_executions);
	frequency.executions_low = frequency.executions / around;
	frequency.executions_high = frequency.executions * around;
	frequency.confidence = confidence_of(analyzer->deviation[at]);
	return frequency;
}

/* --- the scale -------------------------------------------------------------------------------- */

struct bound {
	double scale;
	double weight;
};

HP_ORDER_BY(compare_bounds, struct bound, scale);

/* The largest scale at which no block's best cases exceed its cycles. Tables and relative
 * frequencies have errors, so the blocks that limit most tightly, up to `tightest_share` of the
 * cycles, do not count. */
static double highest_scale(const struct analyzer *analyzer)
{
	const struct hp_analysis *analysis = analyzer->analysis;
	uint32_t count = analyzer->cfg->block_count;
	struct bound *bounds = hp_arena_array(analyzer->scratch, count + 1, sizeof(*bounds));
	size_t found = 0;
	double whole = 0;
	double passed = 0;

	for (uint32_t i = 0; bounds && i < count; i++) {
		const struct hp_analysed_block *block = &analysis->blocks[i];
		double samples = block->samples + HP_NORMAL_90 * sqrt(block->samples + 1);
		double cycles = samples * analyzer->sample_cycles;

		if (block->best_case_cycles <= 0 || block->frequency.relative <= 0)
			continue;
		bounds[found++] = (struct bound){ cycles / (block->best_case_cycles *
							    block->frequency.relative),
						  block->cycles };
		whole += block->cycles;
	}
	if (found == 0 || whole <= 0)
		return INFINITY;
	qsort(bounds, found, sizeof(*bounds), compare_bounds);
	for (size_t i = 0; i < found; i++) {
		passed += bounds[i].weight;
		if (passed >= tightest_share * whole)
			return bounds[i].scale;
	}
	return bounds[found - 1].scale;
}

static void find_scale(struct analyzer *analyzer)
{
	struct hp_analysis *analysis = analyzer->analysis;

	if (!analysis->is_absolute) {
		analysis->scale = NAN;
		analysis->scale_low = 0;
		analysis->scale_high =
			analyzer->options->is_clock_unknown ? INFINITY : highest_scale(analyzer);
		return;
	}
	for (uint32_t i = 0; i < analyzer->cfg->block_count; i++) {
		const struct hp_frequency *frequency = &analysis->blocks[i].frequency;

		if (frequency->relative < 1)
			continue;
		analysis->scale = frequency->executions;
		analysis->scale_low = frequency->executions_low;
		analysis->scale_high = frequency->executions_high;
		return;
	}
}

static void find_cycles_per_execution(struct analyzer *analyzer, struct hp_analysed_block *block)
{
	const struct hp_frequency *frequency = &block->frequency;
	const struct hp_analysis *analysis = analyzer->analysis;

	if (analyzer->options->is_clock_unknown) {
		block->cycles_per_execution = block->cycles_per_execution_low =
			block->cycles_per_execution_high = NAN;
		return;
	}
	block->cycles_per_execution = NAN;
	block->cycles_per_execution_low = 0;
	block->cycles_per_execution_high = INFINITY;
	if (analysis->is_absolute && frequency->executions > 0) {
		block->cycles_per_execution = block->cycles / frequency->executions;
		block->cycles_per_execution_low = block->cycles / frequency->executions_high;
		block->cycles_per_execution_high = block->cycles / frequency->executions_low;
	} else if (!analysis->is_absolute && frequency->relative_high > 0) {
		block->cycles_per_execution_low =
			block->cycles / (frequency->relative_high * analysis->scale_high);
	}
}

/* Warns when blocks would run much faster than their best case; tables have errors, and samples are
 * few, so some is allowed. */
static void check_speed(const struct analyzer *analyzer)
{
	struct hp_analysis *analysis = analyzer->analysis;
	double least = 0;
	double cycles = 0;
	double samples = 0;

	if (!analysis->is_absolute || analyzer->options->is_clock_unknown)
		return;
	for (uint32_t i = 0; i < analyzer->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &analysis->blocks[i];

		least += block->frequency.executions_low * block->best_case_cycles;
		cycles += block->cycles;
		samples += block->samples;
	}
	if (least >
	    too_fast * (cycles + too_fast_deviations * sqrt(samples + 1) * analyzer->sample_cycles))
		analysis->problems |= HP_PROBLEM_TOO_FAST;
}

void conclude_frequencies(struct analyzer *analyzer)
{
	const struct hp_cfg *cfg = analyzer->cfg;
	struct hp_analysis *analysis = analyzer->analysis;

	for (uint32_t i = 0; i < cfg->block_count; i++)
		analysis->blocks[i].frequency = frequency_of(analyzer, i);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		analysis->edges[i] = frequency_of(analyzer, frequency_of_edge(cfg, i));
	analysis->entry = frequency_of(analyzer, frequency_count(cfg) - 1);
	find_scale(analyzer);
	for (uint32_t i = 0; i < cfg->block_count; i++)
		find_cycles_per_execution(analyzer, &analysis->blocks[i]);
	check_speed(analyzer);
}

/* --- what is shown ----------------------------------------------------------------------------- */

/* A block counts as seen enough when it has samples of its own or ran often enough beside the
 * hottest one. */
static bool is_sufficient(const struct hp_analysis *analysis, const struct hp_frequency *frequency)
{
	double least = isfinite(analysis->scale_low) ? analysis->scale_low : 0;

	return hp_interval_suffices(frequency->executions, frequency->executions_low,
				    frequency->executions_high, hp_hardly_ran * least);
}

static void withhold(const struct hp_analysis *analysis, struct hp_frequency *frequency)
{
	if (is_sufficient(analysis, frequency))
		return;
	frequency->executions = frequency->executions_low = frequency->executions_high = NAN;
	frequency->confidence = frequency->relative_confidence;
}

void hp_analysis_withhold(struct hp_analysis *analysis)
{
	bool is_any = false;

	if (!analysis->is_absolute)
		return;
	for (uint32_t i = 0; i < analysis->cfg->block_count; i++) {
		struct hp_analysed_block *block = &analysis->blocks[i];

		withhold(analysis, &block->frequency);
		if (isnan(block->frequency.executions))
			block->cycles_per_execution = NAN;
		is_any |= isfinite(block->frequency.executions);
	}
	for (uint32_t i = 0; i < analysis->cfg->edge_count; i++)
		withhold(analysis, &analysis->edges[i]);
	withhold(analysis, &analysis->entry);
	if (!hp_interval_suffices(analysis->scale, analysis->scale_low, analysis->scale_high, 0))
		analysis->scale = NAN;
	analysis->is_absolute = is_any;
	if (!is_any)
		analysis->sheet.counted_cycles = 0;
}
