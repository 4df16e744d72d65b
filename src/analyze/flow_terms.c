/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	directions; unknowns; with time also best cases and own samples
 * provides	the terms of the estimate
 *
 * Each kind of knowledge is one small function.
 *
 * Evidence that counts is about executions. Time is about executions times cycles per execution;
 * the latter is known up to `stretch` and a deviation of each block's own.
 */
#include "flow.h"
#include "tuning.h"

static struct hp_error *add(struct flow *flow, const struct term *term)
{
	for (unsigned i = 0; i < term->count; i++)
		if (term->unknowns[i] < 0)
			return NULL; /* the class never runs */
	return hp_vector_push(&flow->terms, *term) ? NULL : hp_error_create_no_memory();
}

/* --- directions ------------------------------------------------------------------------------- */

static struct hp_error *add_difference(struct flow *flow, int one, int other, double expected,
				       double deviation, double freedom)
{
	return add(flow, &(struct term){ .kind = TERM_VALUE,
					 .count = 2,
					 .unknowns = { one, other },
					 .factors = { 1, -1 },
					 .expected = expected,
					 .deviation = deviation,
					 .freedom = freedom });
}

/* True when the block ran, but in no window. Its directions are left out: the entries of its loops
 * were counted at another time, and with these a prior on trips would outweigh the loop's own
 * time. */
static bool was_missed(const struct flow *flow, uint32_t node)
{
	const bool *missed = flow->analyzer->input->missed;

	return missed && node < flow->cfg->block_count && missed[node];
}

/* True when each way out of the block was counted, so that its directions are left out: priors on
 * many ways have next to no weight, but would still give executions to ways that nobody saw. A way to
 * a block that was missed has no count of its own, but windows that counted the block never went it. */
static bool has_counted_ways(const struct flow *flow, uint32_t node)
{
	const struct hp_block *block = &flow->cfg->blocks[node];
	bool is_any_seen = false;

	for (uint32_t i = 0; i < block->out_count; i++) {
		int way = flow_edge(flow, block->first_out + i);

		if (way >= 0 && flow->looked_at[way] == LOOKED_NOT &&
		    !was_missed(flow, flow->cfg->edges[block->first_out + i].to))
			return false;
		is_any_seen |= way >= 0 && flow->looked_at[way] == LOOKED_SEEN;
	}
	return is_any_seen;
}

/* The unknown by which the counts of the block's phase are off, or the pace of a phase without
 * counts. -1: the block is in no phase. */
static int phase_of(const struct flow *flow, uint32_t node)
{
	const uint16_t *phases = flow->analyzer->input->phase_of;

	return phases && node < flow->cfg->block_count && phases[node]
		       ? flow->first_phase + phases[node] - 1
		       : -1;
}

/* Of two ways, one term on the logarithm of their odds; of more ways, one on the share of each. */
static struct hp_error *add_directions_of(struct flow *flow, uint32_t node)
{
	const struct hp_block *block = &flow->cfg->blocks[node];
	const struct expectation *edges = &flow->analyzer->directions[block->first_out];
	struct hp_error *error = NULL;

	if (block->out_count < 2 || flow->hub_of[node] >= 0 || has_counted_ways(flow, node) ||
	    was_missed(flow, node))
		return NULL;
	if (block->out_count == 2)
		return add_difference(
			flow, flow_edge(flow, block->first_out),
			flow_edge(flow, block->first_out + 1), edges[0].log - edges[1].log,
			fmax(edges[0].deviation, edges[1].deviation), direction_freedom);
	for (uint32_t i = 0; i < block->out_count && !error; i++)
		error = add_difference(flow, flow_edge(flow, block->first_out + i),
				       flow_block(flow, node), edges[i].log, edges[i].deviation,
				       direction_freedom);
	return error;
}

/* One term per arc, on its share. What is expected is the mean over the hub's blocks. */
static struct hp_error *add_directions_through(struct flow *flow, const struct hub *hub)
{
	const struct hp_block *blocks = flow->cfg->blocks;
	const struct expectation *directions = flow->analyzer->directions;
	const struct hp_block *first = &blocks[hub->sources[0]];
	struct hp_error *error = NULL;

	for (uint32_t i = 0; i < first->out_count && !error; i++) {
		double sum = 0;

		for (uint32_t s = 0; s < hub->source_count; s++)
			sum += directions[blocks[hub->sources[s]].first_out + i].log;
		error = add_difference(flow, flow_edge(flow, first->first_out + i), hub->whole,
				       sum / hub->source_count,
				       directions[first->first_out + i].deviation,
				       direction_freedom);
	}
	return error;
}

static struct hp_error *add_slack(struct flow *flow)
{
	struct hp_error *error = NULL;

	for (uint32_t i = 0; i < flow->cfg->block_count && !error; i++)
		if (flow->slack_of[i] >= 0)
			error = add_difference(flow, flow->slack_of[i], flow_block(flow, i),
					       slack_log, direction_deviation, direction_freedom);
	return error;
}

/* --- time ------------------------------------------------------------------------------------- */

/* Times blocks that ran in no window, whose phase has a stretch of its own. All blocks of one class
 * make one term with the sum of their samples: of blocks that execute in parallel some have hardly
 * any samples, and terms of their own would pull the whole class down. */
static struct hp_error *add_missed_time(struct flow *flow, double sample_cycles)
{
	const struct analyzer *analyzer = flow->analyzer;
	size_t count = (size_t)flow->unknown_count;
	struct missed {
		double best_case, samples;
		int phase;
	} *missed = hp_arena_array(analyzer->scratch, count, sizeof(*missed));
	struct hp_error *error = NULL;

	if (!missed)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < flow->cfg->block_count; i++) {
		int unknown = flow_block(flow, i);

		if (unknown < 0 || !was_missed(flow, i))
			continue;
		missed[unknown].best_case += analyzer->analysis->blocks[i].best_case_cycles;
		missed[unknown].samples += analyzer->own_samples[i];
		missed[unknown].phase = phase_of(flow, i);
	}
	for (size_t i = 0; i < count && !error; i++) {
		bool is_alone = missed[i].phase < 0;
		double deviation = is_alone ? hypot(block_stretch_deviation, stretch_deviation)
					    : block_stretch_deviation;

		if (missed[i].best_case > 0)
			error = add(flow, &(struct term){ .kind = TERM_TIME,
							  .count = is_alone ? 1 : 2,
							  .unknowns = { (int)i, missed[i].phase },
							  .factors = { 1, 1 },
							  .expected = stretch_log +
								      log(missed[i].best_case /
									  sample_cycles),
							  .samples = missed[i].samples,
							  .deviation = deviation,
							  .upward = deviation,
							  .freedom = time_freedom });
	}
	return error;
}

static struct hp_error *add_time(struct flow *flow)
{
	const struct analyzer *analyzer = flow->analyzer;
	/* Without an absolute scale, the cycles per sample do not matter. */
	double sample_cycles = flow->is_absolute ? analyzer->sample_cycles : 1;
	/* Without a clock, the stretch has an arbitrary unit, so it is left free. It is left free
	 * with absolute counts, too: all procedures of a program deviate from what is expected in
	 * the same direction, so a prior would pull all counts that way, by as much as the windows'
	 * intervals allow. */
	bool is_unknown = analyzer->options->is_clock_unknown || flow->is_absolute;
	double deviation = is_unknown ? unknown_level_deviation : stretch_deviation;
	struct hp_error *error;

	error = add(flow, &(struct term){ .kind = TERM_VALUE,
					  .count = 1,
					  .unknowns = { flow->stretch },
					  .factors = { 1 },
					  .expected = stretch_log,
					  .deviation = deviation });
	for (uint32_t i = 0; i < flow->cfg->block_count && !error; i++) {
		double best_case = analyzer->analysis->blocks[i].best_case_cycles;
		const struct expectation *stretch = &analyzer->stretches[i];

		if (best_case <= 0 || !(stretch->deviation < INFINITY) || was_missed(flow, i))
			continue;
		error = add(flow, &(struct term){
					  .kind = TERM_TIME,
					  .count = 2,
					  .unknowns = { flow_block(flow, i), flow->stretch },
					  .factors = { 1, 1 },
					  .expected = stretch->log + log(best_case / sample_cycles),
					  .samples = analyzer->own_samples[i],
					  .deviation = stretch->deviation,
					  .upward = stretch->deviation,
					  .freedom = time_freedom });
	}
	return error ? error : add_missed_time(flow, sample_cycles);
}

/* --- evidence --------------------------------------------------------------------------------- */

/* What was not seen may have run nevertheless, but not each of hundreds of ways: all unseen ones
 * together get what Jeffreys' prior gives one (Perks' prior), so that they do not add up to
 * something where ways meet. */
static double unseen_share(const struct hp_analysis_input *input)
{
	size_t unseen = 0;

	for (size_t i = 0; i < input->evidence_count; i++)
		unseen += !(input->evidence[i].value > 0);
	return unseen_count / (double)(unseen ? unseen : 1);
}

/* `from`: the block that is counted, or the block at the start of the edge. */
static struct hp_error *add_count(struct flow *flow, uint8_t source, uint32_t from, int unknown,
				  double value, double deviation)
{
	int level = source < HP_SOURCE_COUNT ? flow->level_of[source] : -1;
	int phase = phase_of(flow, from);
	uint8_t shifts = level < 0 ? 0 : phase < 0 ? 1 : 2;
	double one = fmax(deviation, unseen_count);
	double counted = value > 0 ? value : one * flow->unseen_share;
	double relative = value > 0 ? deviation / counted : 1 / sqrt(flow->unseen_share);

	flow->has_counts = true;
	if (unknown >= 0)
		flow->looked_at[unknown] = (uint8_t)fmax(
			flow->looked_at[unknown], value > 0 ? LOOKED_SEEN : LOOKED_NONE_SEEN);
	if (level < 0 || isfinite(flow->analyzer->input->shared_deviation[source]))
		flow->is_absolute = true;
	return add(flow, &(struct term){ .kind = TERM_COUNT,
					 .is_count = true,
					 .freedom = count_freedom,
					 .count = (uint8_t)(1 + shifts),
					 .unknowns = { unknown, level, phase },
					 .factors = { 1, 1, 1 },
					 .expected = log(counted),
					 .deviation = fmax(relative, exact_deviation),
					 .unseen = value > 0 ? 0 : one });
}

static struct hp_error *add_probability(struct flow *flow, const struct hp_evidence *one)
{
	const struct hp_cfg *cfg = flow->cfg;
	uint32_t from = hp_cfg_block_at(cfg, one->address);
	double share = one->value;
	double deviation = one->deviation / (share * (1 - share));
	uint32_t taken;

	if (from == HP_CFG_NONE || cfg->blocks[from].out_count != 2)
		return NULL;
	taken = cfg->blocks[from].first_out;
	if (cfg->edges[taken].kind == HP_EDGE_FALL)
		taken++;
	return add_difference(flow, flow_edge(flow, taken),
			      flow_edge(flow, cfg->blocks[from].first_out * 2 + 1 - taken),
			      log(share / (1 - share)), fmax(deviation, exact_deviation),
			      outcome_freedom);
}

struct outcomes {
	double *counts; /* of each edge */
	double bias;
};

/* The number of times that the blocks together went way number `way`. */
static double count_of(const struct flow *flow, const struct outcomes *outcomes,
		       const uint32_t *blocks, uint32_t block_count, uint32_t way)
{
	double sum = 0;

	for (uint32_t i = 0; i < block_count; i++)
		sum += outcomes->counts[flow->cfg->blocks[blocks[i]].first_out + way];
	return sum;
}

/* Adds the outcomes of one block that jumps through a table, or of all blocks that share a hub.
 * `whole` is the unknown of their executions. Ways that were not taken have what Jeffreys' prior gives
 * two ways, all together (Perks' prior): of an interpreter's hundreds, hardly any is ever taken. */
static struct hp_error *add_shares(struct flow *flow, const struct outcomes *outcomes,
				   const uint32_t *blocks, uint32_t block_count, int whole)
{
	const struct hp_block *first = &flow->cfg->blocks[blocks[0]];
	struct hp_error *error = NULL;
	double all = 0;

	for (uint32_t i = 0; i < first->out_count; i++)
		all += count_of(flow, outcomes, blocks, block_count, i);
	for (uint32_t i = 0; i < first->out_count && all > 0 && !error; i++) {
		double count = 2 * unseen_count / first->out_count +
			       count_of(flow, outcomes, blocks, block_count, i);
		double share = count / (all + 2 * unseen_count);
		double deviation = hypot(sqrt((1 - share) / count), outcomes->bias);

		error = add(flow,
			    &(struct term){
				    .kind = TERM_COUNT,
				    .count = 2,
				    .unknowns = { flow_edge(flow, first->first_out + i), whole },
				    .factors = { 1, -1 },
				    .expected = log(share),
				    .deviation = deviation,
				    .freedom = outcome_freedom });
	}
	return error;
}

static struct hp_error *add_outcomes(struct flow *flow)
{
	const struct hp_analysis_input *input = flow->analyzer->input;
	const struct hp_cfg *cfg = flow->cfg;
	struct outcomes outcomes = { .counts = hp_arena_array(flow->analyzer->scratch,
							      (size_t)cfg->edge_count + 1,
							      sizeof(double)) };
	struct hp_error *error = NULL;

	if (!outcomes.counts)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < input->evidence_count; i++) {
		const struct hp_evidence *one = &input->evidence[i];
		uint32_t edge = one->kind == HP_EVIDENCE_OUTCOMES
					? hp_cfg_edge_between(cfg, one->address, one->to)
					: HP_CFG_NONE;

		if (edge == HP_CFG_NONE)
			continue;
		outcomes.counts[edge] += one->value;
		outcomes.bias = fmax(outcomes.bias, one->deviation);
	}
	for (uint32_t i = 0; i < cfg->block_count && !error; i++)
		if (cfg->blocks[i].out_count > 1 && flow->hub_of[i] < 0)
			error = add_shares(flow, &outcomes, &i, 1, flow_block(flow, i));
	for (size_t i = 0; i < flow->hubs.count && !error; i++) {
		const struct hub *hub = &flow->hubs.at[i];

		error = add_shares(flow, &outcomes, hub->sources, hub->source_count, hub->whole);
	}
	return error;
}

static struct hp_error *add_evidence(struct flow *flow, const struct hp_evidence *one)
{
	const struct hp_cfg *cfg = flow->cfg;
	uint32_t block = hp_cfg_block_at(cfg, one->address);
	uint32_t edge;

	if (block == HP_CFG_NONE)
		return NULL;
	switch ((enum hp_evidence_kind)one->kind) {
	case HP_EVIDENCE_COUNT:
		return add_count(flow, one->source, block, flow_block(flow, block), one->value,
				 one->deviation);
	case HP_EVIDENCE_EDGE:
		edge = hp_cfg_edge_between(cfg, one->address, one->to);
		return edge == HP_CFG_NONE
			       ? NULL
			       : add_count(flow, one->source, block, flow_edge(flow, edge),
					   one->value, one->deviation);
	case HP_EVIDENCE_PROBABILITY:
		return add_probability(flow, one);
	case HP_EVIDENCE_OUTCOMES:
		return NULL; /* outcomes of a jump or of a hub are added together: add_outcomes */
	case HP_EVIDENCE_RETIRED:
		if (cfg->blocks[block].instructions == 0)
			return NULL;
		return add_count(flow, one->source, block, flow_block(flow, block),
				 one->value / cfg->blocks[block].instructions,
				 one->deviation / cfg->blocks[block].instructions);
	}
	return NULL;
}

/* Adds terms for the shared errors of each source's and each phase's counts. */
static struct hp_error *add_levels(struct flow *flow)
{
	struct hp_error *error = NULL;

	for (unsigned i = 0; i < HP_SOURCE_COUNT && !error; i++) {
		double deviation = flow->analyzer->input->shared_deviation[i];

		if (flow->level_of[i] >= 0)
			error = add(flow,
				    &(struct term){ .kind = TERM_VALUE,
						    .count = 1,
						    .unknowns = { flow->level_of[i] },
						    .factors = { 1 },
						    .deviation = fmin(deviation,
								      unknown_level_deviation) });
	}
	for (size_t i = 0; i < flow->analyzer->input->phase_count && !error; i++) {
		double deviation = flow->analyzer->input->phase_deviation[i];

		error = add(flow, &(struct term){ .kind = TERM_VALUE,
						  .count = 1,
						  .unknowns = { flow->first_phase + (int)i },
						  .factors = { 1 },
						  .deviation = deviation > 0 ? fmax(deviation,
										    exact_deviation)
									     : stretch_deviation });
	}
	return error;
}

struct hp_error *flow_terms(struct flow *flow, bool uses_time)
{
	const struct hp_analysis_input *input = flow->analyzer->input;
	int entry = flow_block(flow, flow->cfg->entry);
	struct hp_error *error = NULL;

	flow->looked_at = hp_arena_array(flow->analyzer->scratch, (size_t)flow->unknown_count + 1,
					 sizeof(*flow->looked_at));
	if (!flow->looked_at)
		return hp_error_create_no_memory();
	flow->unseen_share = unseen_share(input);
	for (size_t i = 0; i < input->evidence_count && !error; i++)
		error = add_evidence(flow, &input->evidence[i]);
	if (!error)
		error = add_outcomes(flow);
	for (uint32_t i = 0; i < flow->cfg->node_count && !error; i++)
		error = add_directions_of(flow, i);
	for (size_t i = 0; i < flow->hubs.count && !error; i++)
		error = add_directions_through(flow, &flow->hubs.at[i]);
	if (!error)
		error = add_slack(flow);
	if (!error)
		error = add_levels(flow);
	if (!error && uses_time && input->sample_count > 0)
		error = add_time(flow);
	if (!error && !flow->is_absolute && entry >= 0)
		error = add(flow, &(struct term){ .kind = TERM_VALUE,
						  .count = 1,
						  .unknowns = { entry },
						  .factors = { 1 },
						  .deviation = unknown_level_deviation });
	return error;
}
