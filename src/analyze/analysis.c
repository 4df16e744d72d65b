/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of passes over one procedure, from samples to causes. */
#include "passes.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

/* True when no block's samples have changed by more than `settled_change` of their standard
 * deviation. */
static bool have_settled(const struct analyzer *analyzer, const double *before)
{
	for (uint32_t i = 0; i < analyzer->cfg->block_count; i++) {
		double now = analyzer->analysis->blocks[i].samples;

		if (fabs(now - before[i]) > settled_change * sqrt(now + 1))
			return false;
	}
	return true;
}

/* Moves samples on a block's first instruction back to its predecessors, in proportion to the
 * frequencies of the edges. The frequencies are themselves estimated from samples, so both steps
 * alternate. */
static struct hp_error *estimate_in_rounds(struct analyzer *analyzer)
{
	const uint32_t count = analyzer->cfg->block_count;
	double *before = hp_arena_array(analyzer->scratch, count + 1, sizeof(*before));
	struct hp_error *error = before ? NULL : hp_error_create_no_memory();
	/* With few samples, the edges' frequencies are too uncertain to move samples by. */
	unsigned rounds = analyzer->analysis->problems & HP_PROBLEM_FEW_SAMPLES ? 1 : MOST_ROUNDS;

	analyzer->is_last_round = false;
	for (unsigned round = 0; !analyzer->is_last_round && !error; round++) {
		error = move_samples(analyzer);
		analyzer->is_last_round = round + 1 == rounds ||
					  (round > 0 && have_settled(analyzer, before));
		for (uint32_t i = 0; i < count; i++)
			before[i] = analyzer->analysis->blocks[i].samples;
		if (!error)
			error = estimate_flow(analyzer, true);
		if (analyzer->analysis->problems & HP_PROBLEM_NOT_SOLVED)
			break;
	}
	return error;
}

static struct hp_error *estimate_frequencies(struct analyzer *analyzer)
{
	struct hp_error *error = NULL;

	switch (analyzer->options->estimator) {
	case HP_ESTIMATOR_FLOW:
		return estimate_in_rounds(analyzer);
	case HP_ESTIMATOR_CONTROL:
		analyzer->is_last_round = true;
		error = estimate_flow(analyzer, false);
		return error ? error : move_samples(analyzer);
	case HP_ESTIMATOR_DCPI:
		error = move_samples(analyzer);
		return error ? error : estimate_dcpi(analyzer);
	}
	return hp_error_create(HP_ERROR_USAGE, "there is no such estimator");
}

static struct hp_error *run_passes(struct analyzer *analyzer)
{
	struct hp_error *error = gather(analyzer);

	if (!error)
		error = find_best_cases(analyzer);
	if (!error)
		error = find_directions(analyzer);
	if (!error)
		error = find_stretches(analyzer);
	if (!error)
		error = estimate_frequencies(analyzer);
	if (!error)
		conclude_frequencies(analyzer);
	if (error)
		return error;
	sheet_count(analyzer->analysis);
	if (!analyzer->options->frequencies_only && !analyzer->options->is_clock_unknown)
		error = find_culprits(analyzer);
	if (!error)
		error = predict(analyzer);
	return error;
}

struct hp_error *hp_analysis_create(const struct hp_analysis_input *input,
				    const struct hp_analysis_options *options,
				    struct hp_arena *arena, struct hp_analysis **created)
{
	struct hp_analysis *analysis = hp_arena_alloc(arena, sizeof(*analysis));
	struct analyzer analyzer = { .input = input,
				     .options = options,
				     .cfg = input->cfg,
				     .arena = arena,
				     .scratch = hp_arena_create(),
				     .analysis = analysis };
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *scratch = analyzer.scratch;
	struct hp_error *error;

	if (!analysis || !scratch)
		return hp_error_create_no_memory();
	analysis->cfg = input->cfg;
	analysis->core = options->core;
	analysis->edges =
		hp_arena_array(arena, (size_t)input->cfg->edge_count + 1, sizeof(*analysis->edges));
	if (!analysis->edges)
		return hp_error_create_no_memory();
	if (input->cfg->missing_edges)
		analysis->problems |= HP_PROBLEM_MISSING_EDGES;
	if (input->cfg->is_undecodable)
		analysis->problems |= HP_PROBLEM_UNDECODABLE;
	if (options->core->is_generic)
		analysis->problems |= HP_PROBLEM_GENERIC_CORE;
	if (options->is_clock_unknown)
		analysis->problems |= HP_PROBLEM_NO_CLOCK;
	error = run_passes(&analyzer);
	if (!error)
		*created = analysis;
	return error;
}

const char *hp_confidence_name(enum hp_confidence confidence)
{
	static const char *const names[] = { "none", "low", "medium", "high" };

	return (unsigned)confidence < HP_ARRAY_COUNT(names) ? names[confidence] : "?";
}
