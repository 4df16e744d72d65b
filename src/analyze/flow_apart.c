/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	unknowns, terms, a place to begin
 * provides	x and variances for a procedure whose graph is too tangled to be solved in acceptable
 *		time. The result does not balance: what enters a block may differ from what leaves it
 *
 * Each class is estimated alone, as the weighted mean of what directions give it, the time of its
 * blocks over their best case, and counts of it. An edge that is in no block's class gets the share
 * of its source block that directions give.
 */
#include "flow.h"
#include "tuning.h"

struct apart {
	struct flow *flow;
	double *base;	 /* by directions alone */
	double *weights; /* sum of 1 / variance of what was measured */
	double *sums;	 /* sum of value / variance of what was measured */
	bool *is_counted;
	bool *is_block;
	double stretch;
	double stretch_deviation;
};

static bool make_room(struct apart *apart)
{
	struct hp_arena *arena = apart->flow->analyzer->scratch;
	size_t count = (size_t)apart->flow->unknown_count + 1;

	apart->base = hp_arena_array(arena, count, sizeof(double));
	apart->weights = hp_arena_array(arena, count, sizeof(double));
	apart->sums = hp_arena_array(arena, count, sizeof(double));
	apart->is_counted = hp_arena_array(arena, count, sizeof(bool));
	apart->is_block = hp_arena_array(arena, count, sizeof(bool));
	apart->flow->variances = hp_arena_array(arena, count, sizeof(double));
	return apart->base && apart->weights && apart->sums && apart->is_counted &&
	       apart->is_block && apart->flow->variances;
}

static void measure(struct apart *apart, int unknown, double log, double variance)
{
	apart->weights[unknown] += 1 / variance;
	apart->sums[unknown] += log / variance;
}

static unsigned source_of(const struct flow *flow, const struct term *term)
{
	unsigned source = 0;

	while (flow->level_of[source] != term->unknowns[1])
		source++;
	return source;
}

/* Sets the level of each source of relative counts so that they agree with the time of the classes
 * they count. */
static void shift_counts(struct apart *apart)
{
	struct flow *flow = apart->flow;
	size_t phase_count = flow->analyzer->input->phase_count;
	double sums[HP_SOURCE_COUNT] = { 0 };
	double weights[HP_SOURCE_COUNT] = { 0 };

	for (size_t t = 0; t < flow->terms.count; t++) {
		const struct term *term = &flow->terms.at[t];
		unsigned source;
		double weight;

		if (!term->is_count || term->unseen > 0 || term->count < 2 ||
		    !(apart->weights[term->unknowns[0]] > 0))
			continue;
		source = source_of(flow, term);
		weight = apart->weights[term->unknowns[0]];
		sums[source] += weight * term->expected - apart->sums[term->unknowns[0]];
		weights[source] += weight;
	}
	for (size_t i = 0; i < phase_count; i++)
		flow->x[flow->first_phase + (int)i] = 0;
	for (unsigned i = 0; i < HP_SOURCE_COUNT; i++) {
		double deviation = flow->analyzer->input->shared_deviation[i];

		if (flow->level_of[i] < 0)
			continue;
		flow->x[flow->level_of[i]] = 0;
		if (isfinite(deviation))
			flow->shared_deviation = fmax(flow->shared_deviation, deviation);
		else if (weights[i] > 0)
			flow->x[flow->level_of[i]] = sums[i] / weights[i];
	}
}

/* Phases have no unknowns of their own here, so their shared deviation widens each of their
 * counts. */
static double phase_variance(const struct flow *flow, const struct term *term)
{
	double deviation =
		term->count > 2 ? flow->analyzer->input
					  ->phase_deviation[term->unknowns[2] - flow->first_phase]
				: 0;

	return deviation * deviation;
}

static void measure_count(struct apart *apart, const struct term *term)
{
	double level = term->count > 1 ? apart->flow->x[term->unknowns[1]] : 0;

	measure(apart, term->unknowns[0], term->expected - level,
		term->deviation * term->deviation + phase_variance(apart->flow, term));
}

/* The prior of the stretch. */
static void begin_stretch(struct apart *apart)
{
	const struct flow *flow = apart->flow;

	for (size_t t = 0; t < flow->terms.count; t++) {
		const struct term *term = &flow->terms.at[t];

		if (term->kind == TERM_VALUE && term->unknowns[0] == flow->stretch) {
			apart->stretch = term->expected;
			apart->stretch_deviation = term->deviation;
		}
	}
}

static bool is_absolute(const struct flow *flow, const struct term *term)
{
	return term->is_count && !(term->unseen > 0) &&
	       (term->count < 2 ||
		isfinite(flow->analyzer->input->shared_deviation[source_of(flow, term)]));
}

static bool is_stretched(const struct flow *flow, const struct term *term)
{
	return term->kind == TERM_TIME && term->count == 2 && term->unknowns[1] == flow->stretch;
}

/* Without a prior the stretch is what the time of classes says whose executions were counted. */
static bool find_stretch(struct apart *apart)
{
	const struct flow *flow = apart->flow;
	size_t count = (size_t)flow->unknown_count + 1;
	double *logs = hp_arena_array(flow->analyzer->scratch, count, sizeof(double));
	double *variances = hp_arena_array(flow->analyzer->scratch, count, sizeof(double));
	double prior = 1 / (apart->stretch_deviation * apart->stretch_deviation);
	double whole = prior, sum = prior * apart->stretch;

	if (!logs || !variances)
		return false;
	for (size_t t = 0; t < flow->terms.count; t++) {
		const struct term *term = &flow->terms.at[t];
		double variance = term->deviation * term->deviation;
		int at = term->unknowns[0];

		if (is_absolute(flow, term) && (!(variances[at] > 0) || variance < variances[at])) {
			logs[at] = term->expected;
			variances[at] = variance;
		}
	}
	for (size_t t = 0; t < flow->terms.count; t++) {
		const struct term *term = &flow->terms.at[t];
		double variance = variances[term->unknowns[0]], weight;

		if (!is_stretched(flow, term) || !(variance > 0) || !(term->samples > 0))
			continue;
		weight = 1 / (term->deviation * term->deviation + 1 / term->samples + variance);
		whole += weight;
		sum += weight * (log(term->samples) - term->expected - logs[term->unknowns[0]]);
	}
	apart->stretch = sum / whole;
	apart->stretch_deviation = sqrt(1 / whole);
	return true;
}

static void measure_all(struct apart *apart)
{
	struct flow *flow = apart->flow;

	for (size_t t = 0; t < flow->terms.count; t++) {
		const struct term *term = &flow->terms.at[t];
		double samples = fmax(term->samples, unseen_count);

		/* What was missed has its own. */
		if (term->kind == TERM_TIME)
			measure(apart, term->unknowns[0],
				log(samples) - term->expected -
					(is_stretched(flow, term) ? apart->stretch : 0),
				term->deviation * term->deviation + 1 / samples);
	}
	shift_counts(apart);
	for (size_t t = 0; t < flow->terms.count; t++) {
		const struct term *term = &flow->terms.at[t];

		if (!term->is_count)
			continue;
		measure_count(apart, term);
		apart->is_counted[term->unknowns[0]] = true;
	}
}

/* Directions tell only ratios. Returns the level at which they fit what was measured best. */
static double find_level(const struct apart *apart)
{
	double whole = 0;
	double sum = 0;

	for (int i = 0; i < apart->flow->unknown_count; i++) {
		double weight;

		if (!(apart->weights[i] > 0))
			continue;
		weight = 1 / (1 / apart->weights[i] + direction_deviation * direction_deviation);
		sum += weight * (apart->sums[i] / apart->weights[i] - apart->base[i]);
		whole += weight;
	}
	return whole > 0 ? sum / whole : 0;
}

static void combine(struct apart *apart)
{
	struct flow *flow = apart->flow;
	double level = find_level(apart);
	double weight = 1 / (direction_deviation * direction_deviation);

	for (int i = 0; i < flow->unknown_count; i++) {
		double whole = apart->weights[i] + weight;

		apart->base[i] += level;
		flow->x[i] = (apart->sums[i] + apart->base[i] * weight) / whole;
		flow->variances[i] = 1 / whole;
		if (!apart->is_counted[i])
			flow->variances[i] =
				fmax(flow->variances[i], apart_deviation * apart_deviation);
	}
}

/* The class runs as often as `from`, times the share that directions give. */
static void share(struct apart *apart, int unknown, int from)
{
	struct flow *flow = apart->flow;

	flow->x[unknown] = flow->x[from] + apart->base[unknown] - apart->base[from];
	flow->variances[unknown] =
		flow->variances[from] + direction_deviation * direction_deviation;
}

static void share_hub(struct apart *apart, const struct hub *hub)
{
	struct flow *flow = apart->flow;
	const struct hp_block *first = &flow->cfg->blocks[hub->sources[0]];
	double sum = 0;

	for (uint32_t i = 0; i < hub->source_count; i++)
		sum += exp(flow->x[flow_block(flow, hub->sources[i])]);
	flow->x[hub->whole] = log(sum);
	for (uint32_t i = 0; i < first->out_count; i++)
		if (flow_edge(flow, first->first_out + i) >= 0)
			share(apart, flow_edge(flow, first->first_out + i), hub->whole);
}

static void share_edges(struct apart *apart)
{
	struct flow *flow = apart->flow;
	const struct hp_cfg *cfg = flow->cfg;

	for (uint32_t i = 0; i < cfg->node_count; i++)
		if (flow_block(flow, i) >= 0)
			apart->is_block[flow_block(flow, i)] = true;
	for (uint32_t i = 0; i < cfg->edge_count; i++) {
		int unknown = flow_edge(flow, i);

		if (unknown >= 0 && !apart->is_block[unknown] && !apart->is_counted[unknown] &&
		    !flow_hub(flow, i))
			share(apart, unknown, flow_block(flow, cfg->edges[i].from));
	}
	for (size_t i = 0; i < flow->hubs.count; i++)
		share_hub(apart, &flow->hubs.at[i]);
}

struct hp_error *flow_apart(struct flow *flow)
{
	struct apart apart = { .flow = flow };

	if (!make_room(&apart))
		return hp_error_create_no_memory();
	for (int i = 0; i < flow->unknown_count; i++)
		apart.base[i] = flow->x[i];
	begin_stretch(&apart);
	if (!find_stretch(&apart))
		return hp_error_create_no_memory();
	measure_all(&apart);
	combine(&apart);
	flow->x[flow->stretch] = apart.stretch;
	flow->level_deviation = apart.stretch_deviation;
	flow->is_counted = apart.is_counted;
	share_edges(&apart);
	return NULL;
}
