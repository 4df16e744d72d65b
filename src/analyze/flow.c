/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	directions; with time also best cases, stretches and own samples
 * provides	log_frequency, deviation, relative_deviation, hottest; is_absolute, iterations
 *
 * The estimate of flow.h from beginning to end. Without time it is the control estimator: graph,
 * flow and directions only.
 */
#include "flow.h"
#include "tuning.h"

#include <hpcprof/model/evidence.h>

/* --- what comes out --------------------------------------------------------------------------- */

static int unknown_at(const struct flow *flow, size_t number)
{
	const struct hp_cfg *cfg = flow->cfg;

	if (number < cfg->block_count)
		return flow_block(flow, (uint32_t)number);
	number -= cfg->block_count;
	return number < cfg->edge_count ? flow_edge(flow, (uint32_t)number)
					: flow_block(flow, cfg->entry);
}

static int find_hottest(const struct flow *flow)
{
	int hottest = -1;

	for (uint32_t i = 0; i < flow->cfg->block_count; i++) {
		int unknown = flow_block(flow, i);

		if (unknown >= 0 && (hottest < 0 || flow->x[unknown] > flow->x[hottest]))
			hottest = unknown;
	}
	return hottest;
}

static bool make_output(struct analyzer *analyzer)
{
	size_t count = frequency_count(analyzer->cfg);

	if (analyzer->log_frequency)
		return true;
	analyzer->deviation = hp_arena_array(analyzer->scratch, count, sizeof(double));
	analyzer->relative_deviation = hp_arena_array(analyzer->scratch, count, sizeof(double));
	analyzer->log_frequency = hp_arena_array(analyzer->scratch, count, sizeof(double));
	return analyzer->deviation && analyzer->relative_deviation && analyzer->log_frequency;
}

/* Weights, which add up to 1, of the unknowns in the mean that relative frequencies are relative
 * to: each block has as much as it has samples. Without any samples the hottest block has all. */
static void weigh(const struct flow *flow, int hottest, double *weights)
{
	const struct hp_analysis *analysis = flow->analyzer->analysis;
	double whole = 0;

	for (int i = 0; i < flow->system->size; i++)
		weights[i] = 0;
	for (uint32_t i = 0; i < flow->cfg->block_count; i++)
		if (flow_block(flow, i) >= 0)
			whole += analysis->blocks[i].samples;
	if (whole <= 0 && hottest >= 0)
		weights[hottest] = 1;
	for (uint32_t i = 0; i < flow->cfg->block_count && whole > 0; i++)
		if (flow_block(flow, i) >= 0)
			weights[flow_block(flow, i)] += analysis->blocks[i].samples / whole;
}

/* Gives each edge through a hub its frequency: its block's, in the proportion of the hub's arcs.
 * Its deviation is that of a direction on top of the block's and the arc's. */
static void share_hubs(const struct flow *flow)
{
	const struct hp_cfg *cfg = flow->cfg;
	struct analyzer *analyzer = flow->analyzer;

	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		const struct hub *hub = flow_hub(flow, i);
		size_t at = frequency_of_edge(cfg, i);
		uint32_t from = cfg->edges[i].from;
		double deviation = analyzer->directions[i].deviation;

		if (!hub || flow_edge(flow, i) < 0)
			continue;
		analyzer->log_frequency[at] +=
			flow->x[flow_block(flow, from)] - flow->x[hub->whole];
		analyzer->deviation[at] =
			hypot(hypot(analyzer->deviation[at], analyzer->deviation[from]), deviation);
		analyzer->relative_deviation[at] = hypot(
			hypot(analyzer->relative_deviation[at], analyzer->relative_deviation[from]),
			deviation);
	}
}

/* The deviation that a class shares with others, beside how it differs from them. */
static double level_of(const struct flow *flow, int unknown)
{
	return flow->is_counted[unknown] ? flow->shared_deviation
					 : hypot(flow->level_deviation, flow->shared_deviation);
}

/* Returns results with the variances that flow_apart found. */
static struct hp_error *give_out_apart(const struct flow *flow)
{
	struct analyzer *analyzer = flow->analyzer;
	int hottest = find_hottest(flow);

	if (!make_output(analyzer))
		return hp_error_create_no_memory();
	analyzer->hottest = hottest >= 0 ? flow->x[hottest] : 0;
	for (size_t i = 0; i < frequency_count(flow->cfg); i++) {
		int at = unknown_at(flow, i);
		double deviation = at >= 0 ? sqrt(flow->variances[at]) : 0;

		analyzer->log_frequency[i] = at >= 0 ? flow->x[at] : -INFINITY;
		analyzer->relative_deviation[i] = deviation;
		analyzer->deviation[i] = at >= 0 ? hypot(deviation, level_of(flow, at)) : 0;
	}
	share_hubs(flow);
	return NULL;
}

/* Returns frequencies without deviations, for the next round, which does not need them. */
static void give_out_ways(const struct flow *flow, int hottest)
{
	struct analyzer *analyzer = flow->analyzer;

	analyzer->hottest = hottest >= 0 ? flow->x[hottest] : 0;
	for (size_t i = 0; i < frequency_count(flow->cfg); i++) {
		int at = unknown_at(flow, i);

		analyzer->log_frequency[i] = at >= 0 ? flow->x[at] : -INFINITY;
		analyzer->deviation[i] = analyzer->relative_deviation[i] = 0;
	}
	share_hubs(flow);
}

/* Nothing tells how seldom an unseen class ran, but it can hardly have run often without being
 * seen. That upper limit bounds its variance. */
static void bound_unseen(const struct flow *flow, double *variances)
{
	for (size_t i = 0; i < flow->terms.count; i++) {
		const struct term *term = &flow->terms.at[i];
		int unknown = term->unknowns[0];
		double log_one;
		double most; /* times the estimated frequency */
		double widest;

		if (!(term->unseen > 0) || flow->looked_at[unknown] != LOOKED_NONE_SEEN)
			continue;
		log_one = log(term->unseen);
		for (unsigned j = 1; j < term->count; j++)
			log_one -= flow->x[term->unknowns[j]];
		most = hp_surely_seen * exp(log_one - flow->x[unknown]);
		widest = log1p(most) / HP_NORMAL_90;
		if (most > 1) /* otherwise other evidence bounds it more tightly */
			variances[unknown] = fmin(variances[unknown], widest * widest);
	}
}

/* No frequency is known this precisely: a variance below `least_variance` is a rounding error of a
 * nearly singular factor, so the deviation is unknown. */
static double deviation_of(double variance)
{
	return variance > least_variance ? sqrt(variance) : INFINITY;
}

/* Returns results with the variances of the last factor. Variances relative to the mean take one
 * more solve. */
static struct hp_error *give_out(const struct flow *flow)
{
	struct analyzer *analyzer = flow->analyzer;
	struct sparse *system = flow->system;
	size_t size = (size_t)system->size;
	double *variances = hp_arena_array(analyzer->scratch, size + 1, sizeof(double));
	double *weights = hp_arena_array(analyzer->scratch, size + 1, sizeof(double));
	int hottest = find_hottest(flow);
	double of_mean = 0;
	struct hp_error *error;

	if (!variances || !weights || !make_output(analyzer))
		return hp_error_create_no_memory();
	if (!analyzer->is_last_round) {
		give_out_ways(flow, hottest);
		return NULL;
	}
	error = sparse_inverse_diagonal(system, analyzer->scratch, variances);
	if (error)
		return error;
	bound_unseen(flow, variances);
	weigh(flow, hottest, weights);
	for (size_t i = 0; i < size; i++)
		flow->step[i] = weights[i];
	sparse_solve(system, flow->step); /* covariances with the mean, after the solve */
	for (size_t i = 0; i < size; i++)
		of_mean += weights[i] * flow->step[i];
	analyzer->hottest = hottest >= 0 ? flow->x[hottest] : 0;
	for (size_t i = 0; i < frequency_count(flow->cfg); i++) {
		int at = unknown_at(flow, i);
		double deviation = at >= 0 ? deviation_of(variances[at]) : 0;
		double relative = at >= 0 ? variances[at] + of_mean - 2 * flow->step[at] : 0;

		analyzer->log_frequency[i] = at >= 0 ? flow->x[at] : -INFINITY;
		analyzer->deviation[i] = deviation;
		analyzer->relative_deviation[i] = isfinite(deviation) ? sqrt(fmax(relative, 0))
								      : INFINITY;
	}
	share_hubs(flow);
	return NULL;
}

static unsigned sources_of(const struct hp_analysis_input *input)
{
	unsigned sources = 0;

	for (size_t i = 0; i < input->evidence_count; i++)
		if (input->evidence[i].source < HP_SOURCE_COUNT)
			sources |= 1u << input->evidence[i].source;
	return sources;
}

struct hp_error *estimate_flow(struct analyzer *analyzer, bool uses_time)
{
	struct flow flow = { .analyzer = analyzer, .cfg = analyzer->cfg };
	struct hp_error *error = flow_unknowns(&flow);

	if (!error)
		error = flow_terms(&flow, uses_time);
	if (!error)
		error = flow_begin(&flow);
	if (!error)
		error = flow_solve(&flow);
	if (!error)
		error = flow.variances ? give_out_apart(&flow) : give_out(&flow);
	analyzer->flow_start = flow.x;
	analyzer->analysis->is_absolute = flow.is_absolute;
	analyzer->analysis->sources = sources_of(analyzer->input);
	analyzer->analysis->iterations += flow.iterations;
	analyzer->analysis->problems &= /* earlier rounds may have set these */
		~(unsigned)(HP_PROBLEM_NOT_CONVERGED | HP_PROBLEM_CONTRADICTION);
	if (!error && flow.variances)
		analyzer->analysis->problems |= HP_PROBLEM_NOT_SOLVED;
	else if (!error && !flow.has_converged)
		analyzer->analysis->problems |= HP_PROBLEM_NOT_CONVERGED;
	if (flow.is_contradictory || (!error && !flow.variances && flow_contradicts(&flow)))
		analyzer->analysis->problems |= HP_PROBLEM_CONTRADICTION;
	flow_clear(&flow);
	return error;
}
