/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	unknowns, terms, balances, and a place to begin where every balance holds
 * provides	the unknowns where the terms are likeliest and every balance holds; the factor of
 *		the last system, whose inverse says how certain they are
 *
 * Newton's method along the balances. In frequencies themselves, not their logarithms, balances are
 * linear: a step d that says by what share each changes keeps them when the changed shares balance,
 *
 *	| H  A' | | d           |   | -slope     |
 *	| A  -e | | multipliers | = | -imbalance |
 *
 * where A has each part's share of its whole, and H is the curvature of the terms by d: the
 * curvature by logarithms minus the slopes by logarithms, since log(1 + d) is d - d^2/2 to second
 * order.
 *
 * Two further kinds of unknowns shift logarithms: the stretch, and the common error of counts. They
 * change by -log(1 - d) instead. Then a step that raises all frequencies and lowers such a level
 * leaves the counted values exactly where they are, for any length of the step. If the level
 * changed by d, precise counts would permit only short steps.
 *
 * If the curvature is not convex along the balances, which the signs of the pivots show, the slopes
 * that cause it are left out. Terms with long tails are bounded from above by terms without (IRLS),
 * and a step is shortened until the sum of these bounds falls; so every step increases the
 * likelihood.
 */
#include "flow.h"
#include "tuning.h"

#include <string.h>

/* fmin and fmax as inline functions, including their treatment of NaN: library calls are too slow
 * here. */
static double at_most(double value, double most)
{
	return value < most ? value : most;
}

static double at_least(double value, double least)
{
	return value > least ? value : least;
}

/* --- what it takes ---------------------------------------------------------------------------- */

static void count(const struct flow *flow, double effort)
{
	flow->analyzer->analysis->effort += effort;
}

static double effort_of_factor(const struct flow *flow)
{
	const struct sparse *system = flow->system;

	return system->work + entry_effort * (double)system->factor_starts[system->size] +
	       exp_effort * (double)flow->balance_parts.count;
}

static bool is_worn_out(const struct flow *flow)
{
	return flow->analyzer->analysis->effort > most_effort;
}

/* True when even the sparsest possible factor would allow too few steps. Then it is not worth
 * finding an elimination order, which on a dense graph takes time by the square of its size. */
static bool is_hopeless(const struct flow *flow)
{
	double entries = (double)flow->unknown_count + (double)flow->balances.count +
			 (double)flow->balance_parts.count;
	double step =
		2 * flow->look_effort + entry_effort * entries +
		exp_effort * (double)(flow->balance_parts.count + (size_t)flow->unknown_count);

	return step * fewest_steps > most_effort;
}

/* --- the pattern ------------------------------------------------------------------------------ */

struct pattern {
	HP_VECTOR(struct sparse_place) places;
	bool failed;
};

static void place(struct pattern *pattern, int row, int column)
{
	pattern->failed |= !hp_vector_push(&pattern->places, (struct sparse_place){ row, column });
}

static void place_all(const struct flow *flow, struct pattern *pattern)
{
	for (int i = 0; i < flow->unknown_count; i++)
		place(pattern, i, i);
	for (size_t t = 0; t < flow->terms.count; t++) {
		const struct term *term = &flow->terms.at[t];

		for (unsigned i = 0; i < term->count; i++)
			for (unsigned j = 0; j <= i; j++)
				place(pattern, term->unknowns[i], term->unknowns[j]);
	}
	for (size_t b = 0; b < flow->balances.count; b++) {
		const struct balance *balance = &flow->balances.at[b];
		int own = flow->unknown_count + (int)b;

		place(pattern, own, own);
		place(pattern, own, balance->whole);
		for (uint32_t i = 0; i < balance->count; i++)
			place(pattern, own, flow->balance_parts.at[balance->first + i]);
	}
}

/* Assigns the slots in the order in which place_all asked for them. */
static void take_slots(struct flow *flow, const int *slots)
{
	size_t next = 0;

	for (int i = 0; i < flow->unknown_count; i++)
		flow->ridge_slots[i] = slots[next++];
	for (size_t t = 0; t < flow->terms.count; t++) {
		struct term *term = &flow->terms.at[t];

		for (unsigned i = 0; i < term->count * (term->count + 1u) / 2; i++)
			term->slots[i] = slots[next++];
	}
	for (size_t b = 0; b < flow->balances.count; b++) {
		struct balance *balance = &flow->balances.at[b];

		balance->own_slot = slots[next++];
		balance->whole_slot = slots[next++];
		for (uint32_t i = 0; i < balance->count; i++)
			flow->part_slots[balance->first + i] = slots[next++];
	}
}

/* Rounds differ in their samples, but hardly ever in their structure, so the elimination order and
 * the factor's pattern are kept from one round to the next. */
struct kept_system {
	struct sparse *system;
	const struct sparse_place *places;
	size_t count;
	const int *slots; /* of the places */
};

static bool is_kept(const struct kept_system *kept, int size, const struct pattern *pattern)
{
	return kept && kept->system->size == size && kept->count == pattern->places.count &&
	       memcmp(kept->places, pattern->places.at, kept->count * sizeof(*kept->places)) == 0;
}

static struct hp_error *create_system(struct flow *flow, int size, const struct pattern *pattern)
{
	struct hp_arena *arena = flow->analyzer->scratch;
	size_t count = pattern->places.count;
	struct kept_system *kept = hp_arena_alloc(arena, sizeof(*kept));
	struct sparse_place *places = hp_arena_array(arena, count + 1, sizeof(*places));
	int *slots = hp_arena_array(arena, count + 1, sizeof(*slots));
	struct hp_error *error;

	if (!kept || !places || !slots)
		return hp_error_create_no_memory();
	error = sparse_create(size, pattern->places.at, count, most_factor_work, arena,
			      &flow->system, slots);
	if (error)
		return error;
	if (count)
		memcpy(places, pattern->places.at, count * sizeof(*places));
	*kept = (struct kept_system){ flow->system, places, count, slots };
	flow->analyzer->kept_system = kept;
	return NULL;
}

static struct hp_error *make_system(struct flow *flow)
{
	struct hp_arena *arena = flow->analyzer->scratch;
	size_t unknowns = (size_t)flow->unknown_count;
	size_t size = unknowns + flow->balances.count;
	struct pattern pattern = { .failed = false };
	struct hp_error *error = NULL;

	flow->ridge_slots = hp_arena_array(arena, unknowns + 1, sizeof(int));
	flow->part_slots = hp_arena_array(arena, flow->balance_parts.count + 1, sizeof(int));
	flow->step = hp_arena_array(arena, size + 1, sizeof(double));
	flow->slopes = hp_arena_array(arena, unknowns + 1, sizeof(double));
	place_all(flow, &pattern);
	if (pattern.failed || !flow->ridge_slots || !flow->part_slots || !flow->step ||
	    !flow->slopes)
		error = hp_error_create_no_memory();
	else if (is_kept(flow->analyzer->kept_system, (int)size, &pattern))
		flow->system = flow->analyzer->kept_system->system;
	else
		error = create_system(flow, (int)size, &pattern);
	hp_vector_free(&pattern.places);
	if (!error)
		take_slots(flow, flow->analyzer->kept_system->slots);
	return error;
}

/* --- terms ------------------------------------------------------------------------------------ */

/* A term evaluated at the current unknowns: its negative log likelihood, and the derivatives by the
 * term's sum. */
struct look {
	double cost;
	double slope; /* of the log likelihood: minus the derivative of the cost */
	double curvature;
};

static double sum_of(const struct flow *flow, const struct term *term)
{
	double sum = 0;

	for (unsigned i = 0; i < term->count; i++)
		sum += term->factors[i] * flow->x[term->unknowns[i]];
	return sum;
}

static struct look look_at_value(struct term *term, double sum)
{
	double distance = term->expected - sum;

	term->distance = distance;
	return (struct look){ .cost = distance * distance / (2 * term->spread),
			      .slope = distance / term->spread,
			      .curvature = 1 / term->spread };
}

/*
 * Executions that were counted have a gamma distribution, the posterior of a Poisson rate. In
 * frequencies, in which balances are linear, it is convex everywhere, so all counts together have
 * one optimum, and steps find it even from a thousand times what was hardly ever seen. `distance`
 * is that of the normal logarithm with the same likelihood; near the count both agree.
 */
static struct look look_at_count(struct term *term, double sum)
{
	double off = at_least(at_most(sum - term->expected, 500), -500);
	double ratio = exp(off);
	double unlikely = at_least(ratio - 1 - off, 0);

	term->distance = copysign(sqrt(2 * unlikely), -off);
	return (struct look){ .cost = unlikely / term->spread,
			      .slope = (1 - ratio) / term->spread,
			      .curvature = ratio / term->spread };
}

/*
 * Samples are Poisson around exp(sum + z), and z, what the block's time differs from what is
 * expected, is normal with deviations of its own upwards and downwards. At the likeliest z
 * (Laplace) the slope by `sum` is z / spread, and the curvature 1 / (spread + 1 / mean).
 */
static inline struct look look_at_time(struct term *term, double sum)
{
	double samples = term->samples;
	double log_mean = at_least(at_most(sum + term->expected, 500), -500);
	double spread = term->spread;
	double z = term->distance; /* it starts from the previous value, which is close */
	double now = exp(at_most(log_mean + z, 500));
	double mean;

	for (unsigned i = 0; i < 100; i++) {
		double change = (samples - now - z / spread) / (now + 1 / spread);

		z += at_least(at_most(change, 1), -1);
		if (fabs(change) < 1e-5) { /* the next change would be about its square */
			now *= 1 + change + change * change / 2;
			break;
		}
		now = exp(at_most(log_mean + z, 500));
	}
	term->distance = z;
	mean = now;
	return (struct look){ .cost = mean - samples + z * z / (2 * spread) +
				      (samples > 0 ? samples * log(samples / mean) : 0),
			      .slope = z / spread,
			      .curvature = 1 / (spread + 1 / (mean + 1e-300)) };
}

/* Inline, so that a caller that wants the cost alone does not pay for the derivatives. */
static inline __attribute__((always_inline)) struct look look_at(const struct flow *flow,
								 struct term *term)
{
	double sum = sum_of(flow, term);

	switch ((enum term_kind)term->kind) {
	case TERM_TIME:
		return look_at_time(term, sum);
	case TERM_COUNT:
		return look_at_count(term, sum);
	case TERM_VALUE:
		break;
	}
	return look_at_value(term, sum);
}

/* Replaces each long-tailed distribution by the normal distribution that touches it at the last
 * evaluation. */
static void reweight(struct flow *flow)
{
	for (size_t t = 0; t < flow->terms.count; t++) {
		struct term *term = &flow->terms.at[t];
		bool is_above = term->kind == TERM_TIME && term->distance > 0;
		double deviation = is_above ? term->upward : term->deviation;
		double squared = deviation * deviation;

		term->spread = squared;
		if (term->freedom > 0 && !(term->is_count && flow->trusts_counts))
			term->spread *=
				(term->freedom + term->distance * term->distance / squared) /
				(term->freedom + 1);
	}
}

static double cost_of(const struct flow *flow)
{
	double cost = 0;

	count(flow, flow->look_effort);
	for (size_t t = 0; t < flow->terms.count; t++)
		cost += look_at(flow, &flow->terms.at[t]).cost;
	return cost;
}

static void add_terms(struct flow *flow)
{
	double *values = flow->system->values;

	count(flow, flow->look_effort);
	for (size_t t = 0; t < flow->terms.count; t++) {
		struct term *term = &flow->terms.at[t];
		struct look look = look_at(flow, term);
		const int *slot = term->slots;

		flow->cost += look.cost;
		for (unsigned i = 0; i < term->count; i++) {
			flow->slopes[term->unknowns[i]] += look.slope * term->factors[i];
			for (unsigned j = 0; j <= i; j++)
				values[*slot++] +=
					look.curvature * term->factors[i] * term->factors[j];
		}
	}
}

/* --- one step --------------------------------------------------------------------------------- */

static void add_balances(struct flow *flow)
{
	double *values = flow->system->values;

	for (size_t b = 0; b < flow->balances.count; b++) {
		const struct balance *balance = &flow->balances.at[b];
		const int *parts = &flow->balance_parts.at[balance->first];
		double whole = flow->x[balance->whole];
		double sum = 0;

		for (uint32_t i = 0; i < balance->count; i++) {
			double share = exp(flow->x[parts[i]] - whole);

			values[flow->part_slots[balance->first + i]] += share;
			sum += share;
		}
		values[balance->whole_slot] -= 1;
		values[balance->own_slot] -= slackness;
		flow->step[flow->unknown_count + (int)b] = 1 - sum;
	}
}

/* True when the factor has one positive pivot per unknown and one negative pivot per balance, so
 * that the cost is convex along the balances. */
static bool is_convex(const struct flow *flow)
{
	int positive = 0;

	for (int i = 0; i < flow->system->size; i++)
		positive += flow->system->diagonal[i] > 0;
	return positive == flow->unknown_count;
}

/* A frequency's logarithm moves by log(1 + step); a shift, which is added to others, moves in the
 * opposite direction. */
static double toward(const struct flow *flow, int unknown, double value)
{
	return flow_is_shift(flow, unknown) ? -value : value;
}

static void clear(double *values, size_t count)
{
	if (count)
		memset(values, 0, count * sizeof(*values));
}

/* Factors the curvature by relative changes of frequencies. `whole` includes the slopes of both
 * signs; otherwise only those that keep it positive. */
static bool factor(struct flow *flow, bool whole)
{
	struct sparse *system = flow->system;

	clear(system->values, (size_t)system->starts[system->size]);
	clear(flow->step, (size_t)system->size);
	clear(flow->slopes, (size_t)flow->unknown_count);
	flow->cost = 0;
	add_terms(flow);
	add_balances(flow);
	for (int i = 0; i < flow->unknown_count; i++) {
		double bend = toward(flow, i, flow->slopes[i]);

		system->values[flow->ridge_slots[i]] += ridge + (whole ? bend : at_least(bend, 0));
		flow->step[i] = flow->slopes[i];
	}
	count(flow, effort_of_factor(flow));
	return sparse_factor(system) && (!whole || is_convex(flow));
}

static void move(struct flow *flow, const double *from, double scale)
{
	count(flow, exp_effort * flow->unknown_count);
	for (int i = 0; i < flow->unknown_count; i++)
		flow->x[i] =
			from[i] + toward(flow, i, log1p(scale * toward(flow, i, flow->step[i])));
}

/* The largest share of the step that may be taken: frequencies must stay positive and close to
 * where they were. */
static double longest_scale(const struct flow *flow, double *longest, double *gain)
{
	double scale = 1;

	*longest = *gain = 0;
	for (int i = 0; i < flow->unknown_count; i++) {
		double step = toward(flow, i, flow->step[i]);
		double most = step < 0 ? 1 - least_left : most_grown;

		*longest = at_least(fabs(step), *longest);
		*gain += flow->step[i] * flow->slopes[i];
		scale = at_most(most / at_least(fabs(step), 1e-300), scale);
	}
	return scale;
}

/* Takes the largest part of the step, by halving, that does not raise the cost. False: there is
 * none. */
static bool walk(struct flow *flow, double *from, double scale)
{
	double before = flow->cost;

	for (int i = 0; i < flow->unknown_count; i++)
		from[i] = flow->x[i];
	for (unsigned cut = 0; cut < MOST_CUTS; cut++) {
		move(flow, from, scale);
		if (cost_of(flow) <= before + 1e-12 * (1 + fabs(before)))
			return true;
		scale /= 2;
	}
	move(flow, from, 0);
	return false;
}

bool flow_contradicts(const struct flow *flow)
{
	for (size_t i = 0; i < flow->terms.count; i++) {
		const struct term *term = &flow->terms.at[i];

		if (term->is_count &&
		    fabs(term->distance) >
			    fmax(contradiction_deviations * term->deviation, least_contradiction))
			return true;
	}
	return false;
}

/* Rounds before the last only tell where samples came from, and few samples tell nothing for
 * certain, so a rough solution will do. With counts it will not: they are to be met from the first
 * round on. */
static bool may_be_rough(const struct flow *flow)
{
	const struct analyzer *analyzer = flow->analyzer;
	bool is_on_the_way = analyzer->options->estimator == HP_ESTIMATOR_FLOW &&
			     !analyzer->is_last_round;

	return !flow->has_counts &&
	       (is_on_the_way || (analyzer->analysis->problems & HP_PROBLEM_FEW_SAMPLES));
}

/* True when the estimated instructions of all counted blocks together differ from those counted. A
 * single count may give way to other evidence, their sum may not. */
static bool is_far_from_counts(const struct flow *flow)
{
	const struct hp_analysis_input *input = flow->analyzer->input;
	double counted = 0;
	double found = 0;

	for (size_t i = 0; i < input->evidence_count; i++) {
		const struct hp_evidence *one = &input->evidence[i];
		uint32_t block = hp_cfg_block_at(flow->cfg, one->address);

		if (one->kind != HP_EVIDENCE_COUNT || one->source != HP_SOURCE_SHADOW ||
		    block == HP_CFG_NONE || !isfinite(input->shared_deviation[one->source]))
			continue;
		counted += one->value * flow->cfg->blocks[block].instructions;
		if (flow_block(flow, block) >= 0)
			found += exp(flow->x[flow_block(flow, block)]) *
				 flow->cfg->blocks[block].instructions;
	}
	return counted > 0 &&
	       fabs(log(found / counted)) >
		       far_from_counts + 2 * input->shared_deviation[HP_SOURCE_SHADOW];
}

struct hp_error *flow_solve(struct flow *flow)
{
	double tolerance = may_be_rough(flow) ? rough_tolerance : gain_tolerance;
	double *from = hp_arena_array(flow->analyzer->scratch, (size_t)flow->unknown_count + 1,
				      sizeof(double));
	struct hp_error *error;

	flow->look_effort = exp_effort * (double)flow->terms.count;
	if (is_hopeless(flow))
		return flow_apart(flow);
	error = make_system(flow);
	if (!error && !from)
		error = hp_error_create_no_memory();
	if (!error && flow->system->is_too_dense)
		return flow_apart(flow);
	flow->trusts_counts = flow->has_counts;
	if (!error) {
		reweight(flow);
		cost_of(flow); /* cost_of evaluates all terms at the start values */
	}
	while (!error && !flow->has_converged && flow->iterations < MOST_ITERATIONS &&
	       (flow->iterations == 0 || !is_worn_out(flow))) {
		double longest;
		double gain;
		double scale;

		flow->iterations++;
		reweight(flow);
		if (!factor(flow, true) && !factor(flow, false))
			break;
		sparse_solve(flow->system, flow->step);
		scale = longest_scale(flow, &longest, &gain);
		if (!isfinite(longest))
			break;
		flow->has_converged = longest < step_tolerance || fabs(gain) < tolerance;
		if (!walk(flow, from, scale))
			break;
		/* On the way a solution may be far from a count; at the end that is a
		 * contradiction. */
		if (flow->trusts_counts && (flow->has_converged || flow->iterations >= PATIENCE)) {
			flow->trusts_counts = false;
			flow->has_converged &= !flow_contradicts(flow);
		}
	}
	/* A solve that stopped half-way is of no use, unless an earlier round got close. Nor is one
	 * that has not converged, or is far from the counts, where there are counts: they are taken
	 * directly then. */
	if (!error && !flow->has_converged && is_worn_out(flow) && !flow->analyzer->flow_start)
		return flow_apart(flow);
	if (!error && flow->has_counts && (!flow->has_converged || is_far_from_counts(flow)))
		return flow_apart(flow);
	return error;
}

void flow_clear(struct flow *flow)
{
	hp_vector_free(&flow->hubs);
	hp_vector_free(&flow->terms);
	hp_vector_free(&flow->balances);
	hp_vector_free(&flow->balance_parts);
}
