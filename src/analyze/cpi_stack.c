/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/analyze/cpi_stack.h>

#include "tuning.h"

#include <math.h>

const char *hp_cpi_name(enum hp_cpi_component component)
{
	static const char *const names[HP_CPI_COMPONENTS] = {
		[HP_CPI_WIDTH] = "width",
		[HP_CPI_DEPENDENCY] = "dependency",
		[HP_CPI_PORT] = "port",
		[HP_CPI_DIVIDER] = "divider",
		[HP_CPI_MULTIPLIER] = "multiplier",
		[HP_CPI_FP] = "fp-latency",
		[HP_CPI_SYNC] = "sync",
		[HP_CPI_MISPREDICT] = "branch-mispredict",
		[HP_CPI_ICACHE] = "icache",
		[HP_CPI_ITLB] = "itlb",
		[HP_CPI_FETCH] = "fetch",
		[HP_CPI_L2] = "l2",
		[HP_CPI_FAR] = "l3-or-memory",
		[HP_CPI_DTLB] = "dtlb",
		[HP_CPI_STORE_BUFFER] = "store-buffer",
		[HP_CPI_STORE_FORWARD] = "store-forward",
		[HP_CPI_UNEXPLAINED] = "unexplained",
	};

	return (unsigned)component < HP_CPI_COMPONENTS ? names[component] : "?";
}

const char *hp_cpi_word(enum hp_cpi_component component)
{
	static const char *const words[HP_CPI_COMPONENTS] = {
		[HP_CPI_WIDTH] = "issue width",
		[HP_CPI_DEPENDENCY] = "operands",
		[HP_CPI_PORT] = "ports",
		[HP_CPI_DIVIDER] = "divider",
		[HP_CPI_MULTIPLIER] = "multiplier",
		[HP_CPI_FP] = "floating point",
		[HP_CPI_SYNC] = "synchronisation",
		[HP_CPI_MISPREDICT] = "mispredicted",
		[HP_CPI_ICACHE] = "code cache",
		[HP_CPI_ITLB] = "code TLB",
		[HP_CPI_FETCH] = "fetch, decode",
		[HP_CPI_L2] = "L2",
		[HP_CPI_FAR] = "L3 or memory",
		[HP_CPI_DTLB] = "data TLB",
		[HP_CPI_STORE_BUFFER] = "store buffer",
		[HP_CPI_STORE_FORWARD] = "forwarding fails",
		[HP_CPI_UNEXPLAINED] = "not predicted",
	};

	return (unsigned)component < HP_CPI_COMPONENTS ? words[component] : "?";
}

static double fitted(const struct hp_prediction *prediction, double measured)
{
	const double *lanes = prediction->predicted;

	return fmax(lanes[HP_LANE_THIRD], fmin(measured, lanes[HP_LANE_MEMORY]));
}

static bool is_absolute(const struct hp_analysis *analysis, const struct hp_prediction *part)
{
	return analysis->is_absolute && part->high <= widest_executions * part->low &&
	       part->predicted[HP_LANE_WIDTH] <= part->measured;
}

bool hp_cpi_is_absolute(const struct hp_analysis *analysis)
{
	return is_absolute(analysis, &analysis->prediction);
}

/* Factor from the predicted cycles to those shown. Where executions are hardly known it makes the
 * prediction fit the measured time, but it assumes no more executions than are possible. */
static double scale_of(const struct hp_analysis *analysis, const struct hp_prediction *one)
{
	double whole = fitted(one, one->measured);
	double as_is = one->predicted[HP_LANE_AS_IS];
	double most = analysis->is_absolute && as_is > 0 ? one->high / as_is : INFINITY;

	if (is_absolute(analysis, one))
		return 1;
	return whole > 0 ? fmin(most, one->measured / whole) : 0;
}

static void add_part(struct hp_prediction *into, const struct hp_prediction *one, double scale)
{
	if (!(one->measured > 0))
		return;
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		into->predicted[lane] += scale * one->predicted[lane];
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		into->resized[lane] += scale * one->resized[lane];
	into->has_resized |= one->has_resized;
	into->instructions += scale * one->instructions;
	into->best_case += scale * one->best_case;
	into->far_lines += scale * one->far_lines;
	into->measured += one->measured;
	into->apart += one->apart;
	into->stretched += scale * one->stretched;
	into->error = fmax(into->error, one->error);
	/* Infinite limits stay infinite. */
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT && scale > 0; kind++)
		into->most[kind] += scale * one->most[kind];
	into->most_far += scale > 0 ? scale * one->most_far : INFINITY;
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		into->unseen[kind] = fmax(into->unseen[kind], scale * one->unseen[kind]);
	into->unseen_far = fmax(into->unseen_far, scale * one->unseen_far);
}

void hp_cpi_add(struct hp_prediction *into, const struct hp_analysis *analysis,
		const struct hp_prediction *part)
{
	add_part(into, part, scale_of(analysis, part));
}

static double saved(const double *lanes, enum hp_lane without)
{
	return fmax(0, lanes[HP_LANE_AS_IS] - lanes[without]);
}

static double added(const double *lanes, enum hp_lane only)
{
	return fmax(0, lanes[only] - lanes[HP_LANE_IDEAL]);
}

/* A member's part of what a group saves, in proportion to what each saves alone. */
static double of_group(double group, double member, double others)
{
	return member > 0 ? group * member / (member + others) : 0;
}

static void find_events(const double *lanes, double from_memory,
			struct hp_cpi_orders orders[HP_CPI_COMPONENTS])
{
	double icache = saved(lanes, HP_LANE_NO_ICACHE), itlb = saved(lanes, HP_LANE_NO_ITLB);
	double fetch = saved(lanes, HP_LANE_NO_FETCH), far = saved(lanes, HP_LANE_NO_FAR);
	double near = fmax(0, saved(lanes, HP_LANE_NO_DCACHE) - far);
	double buffer = saved(lanes, HP_LANE_NO_STORE_BUFFER);
	double forward = saved(lanes, HP_LANE_NO_STORE_FORWARD);
	double code = added(lanes, HP_LANE_ONLY_CODE), data = added(lanes, HP_LANE_ONLY_DCACHE);
	double store = added(lanes, HP_LANE_ONLY_STORE);

	orders[HP_CPI_MISPREDICT] = (struct hp_cpi_orders){ saved(lanes, HP_LANE_NO_MISPREDICT),
							    added(lanes, HP_LANE_ONLY_MISPREDICT) };
	orders[HP_CPI_ICACHE] =
		(struct hp_cpi_orders){ icache, of_group(code, icache, itlb + fetch) };
	orders[HP_CPI_ITLB] = (struct hp_cpi_orders){ itlb, of_group(code, itlb, icache + fetch) };
	orders[HP_CPI_FETCH] =
		(struct hp_cpi_orders){ fetch, of_group(code, fetch, icache + itlb) };
	orders[HP_CPI_L2] = (struct hp_cpi_orders){ near, of_group(data, near, far) };
	orders[HP_CPI_FAR] =
		(struct hp_cpi_orders){ fmax(0, far + from_memory),
					fmax(0, of_group(data, far, near) + from_memory) };
	orders[HP_CPI_DTLB] = (struct hp_cpi_orders){ saved(lanes, HP_LANE_NO_DTLB),
						      added(lanes, HP_LANE_ONLY_DTLB) };
	orders[HP_CPI_STORE_BUFFER] =
		(struct hp_cpi_orders){ buffer, of_group(store, buffer, forward) };
	orders[HP_CPI_STORE_FORWARD] =
		(struct hp_cpi_orders){ forward, of_group(store, forward, buffer) };
}

/* Divides the cycles of a core without events. These components have one order only; operands get
 * the remainder. */
static void find_base(const double *lanes, double base,
		      struct hp_cpi_orders orders[HP_CPI_COMPONENTS])
{
	static const struct {
		enum hp_cpi_component component;
		enum hp_lane without;
	} units[] = {
		{ HP_CPI_PORT, HP_LANE_NO_PORT },
		{ HP_CPI_DIVIDER, HP_LANE_NO_DIVIDER },
		{ HP_CPI_MULTIPLIER, HP_LANE_NO_MULTIPLIER },
		{ HP_CPI_FP, HP_LANE_NO_FP },
		{ HP_CPI_SYNC, HP_LANE_NO_SYNC },
	};
	double width = fmin(lanes[HP_LANE_WIDTH], base);
	double left = base - width;

	orders[HP_CPI_WIDTH] = (struct hp_cpi_orders){ width, width };
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double part = fmin(left, saved(lanes, units[i].without));

		orders[units[i].component] = (struct hp_cpi_orders){ part, part };
		left -= part;
	}
	orders[HP_CPI_DEPENDENCY] = (struct hp_cpi_orders){ left, left };
}

double hp_cpi_find_orders(const struct hp_prediction *prediction,
			  struct hp_cpi_orders orders[HP_CPI_COMPONENTS])
{
	const double *lanes = prediction->predicted;
	double predicted = fitted(prediction, prediction->measured);

	orders[HP_CPI_UNEXPLAINED] = (struct hp_cpi_orders){ 0 };
	/* A part of the program may take more than predicted, because time moved to it from another
	 * part. */
	find_base(lanes, fmin(predicted, lanes[HP_LANE_IDEAL]), orders);
	find_events(lanes, predicted - lanes[HP_LANE_AS_IS], orders);
	return predicted;
}

/* The most cycles that the component's events can have taken. */
static double most_of(const struct hp_prediction *prediction, enum hp_cpi_component component)
{
	static const enum hp_cause_kind causes[HP_CPI_UNEXPLAINED] = {
		[HP_CPI_WIDTH] = HP_CAUSE_ISSUE_WIDTH,
		[HP_CPI_DEPENDENCY] = HP_CAUSE_DEPENDENCY,
		[HP_CPI_PORT] = HP_CAUSE_PORT,
		[HP_CPI_DIVIDER] = HP_CAUSE_DIVIDER,
		[HP_CPI_MULTIPLIER] = HP_CAUSE_MULTIPLIER,
		[HP_CPI_FP] = HP_CAUSE_FP_LATENCY,
		[HP_CPI_SYNC] = HP_CAUSE_SYNC,
		[HP_CPI_MISPREDICT] = HP_CAUSE_MISPREDICT,
		[HP_CPI_ICACHE] = HP_CAUSE_ICACHE,
		[HP_CPI_ITLB] = HP_CAUSE_ITLB,
		[HP_CPI_FETCH] = HP_CAUSE_FETCH,
		[HP_CPI_L2] = HP_CAUSE_DCACHE,
		[HP_CPI_DTLB] = HP_CAUSE_DTLB,
		[HP_CPI_STORE_BUFFER] = HP_CAUSE_STORE_BUFFER,
		[HP_CPI_STORE_FORWARD] = HP_CAUSE_STORE_FORWARD,
	};

	return component == HP_CPI_FAR ? hp_prediction_most_far(prediction)
				       : hp_prediction_most(prediction, causes[component]);
}

uint32_t hp_cpi_members(enum hp_cpi_group group)
{
	static const uint32_t members[HP_CPI_GROUPS] = {
		[HP_CPI_OF_DATA] = 1U << HP_CPI_L2 | 1U << HP_CPI_FAR | 1U << HP_CPI_DTLB,
		[HP_CPI_OF_SUPPLY] = 1U << HP_CPI_MISPREDICT | 1U << HP_CPI_ICACHE |
				     1U << HP_CPI_ITLB | 1U << HP_CPI_FETCH,
	};

	return (unsigned)group < HP_CPI_GROUPS ? members[group] : 0;
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* Of the cycles in moments that no window saw, each part may have all or none. */
static void allow_for_others(double apart, struct hp_cpi_part *part)
{
	part->low *= 1 - apart;
	part->high = part->high * (1 - apart) + apart;
}

/* What a component, or several together, take in cycles: in one order or the other, and at most by
 * their events. */
struct taken {
	double low, high, likely, most;
	bool of_base; /* also what a core without events takes */
};

static void add_taken(struct taken *into, const struct hp_prediction *prediction,
		      enum hp_cpi_component component, const struct hp_cpi_orders *orders,
		      double likely)
{
	into->low += fmin(likely, fmin(orders->last, orders->first));
	into->high += fmax(likely, fmax(orders->last, orders->first));
	into->likely += likely;
	into->of_base |= component < HP_CPI_MISPREDICT;
	into->most += most_of(prediction, component);
}

/* The least and the most executions, as shares of those predicted; 1 where only shares of the path
 * count. */
static struct hp_range executions_of(const struct hp_prediction *prediction)
{
	double as_is = prediction->predicted[HP_LANE_AS_IS];

	if (!(prediction->low > 0) || !(as_is > 0))
		return (struct hp_range){ 1, 1 };
	return (struct hp_range){ fmin(1, prediction->low / as_is),
				  fmax(1, prediction->high / as_is) };
}

static double stretched_of(const struct hp_prediction *prediction, const struct taken *taken)
{
	return taken->of_base ? prediction->stretched : 0;
}

/* The least that all but these components take. No core is faster than its width allows, if it is known
 * how much ran; and without any event the path takes as long as on the ideal core. */
static double rest_of(const struct hp_prediction *prediction, double predicted,
		      const struct taken *taken, double error)
{
	const double *lanes = prediction->predicted;
	struct hp_range executions = executions_of(prediction);
	double width = prediction->low > 0 && !taken->of_base ? lanes[HP_LANE_WIDTH] : 0;
	double ideal = taken->of_base ? 0 : fmin(predicted, lanes[HP_LANE_IDEAL]);
	double rest = fmax(predicted - taken->high - stretched_of(prediction, taken), ideal) *
		      (1 - error);

	return fmax(0, fmax(rest, width)) * executions.low;
}

/* By the timing of the part itself, and by that of all the rest, whichever leaves less. */
static struct hp_cpi_part range_of(const struct hp_prediction *prediction, double predicted,
				   const struct taken *taken)
{
	double measured = prediction->measured;
	double unexplained = measured - predicted;
	double error = fmax(stack_error, prediction->error);
	double rest_error = prediction->error > 0 ? error : whole_error;
	struct hp_range executions = executions_of(prediction);
	double stretched = stretched_of(prediction, taken);
	double high = taken->high * (1 + error);
	double missing = fmax(0, fmin(unexplained + stretched, taken->most - high));
	double least = fmax(0, taken->low - stretched);
	double without = fmax(0, predicted - least);
	double low = fmax(least * (1 - error) + fmin(0, unexplained),
			  fmin(measured, predicted) - without * (1 + rest_error) * executions.high);

	high = fmin(high + missing, measured - rest_of(prediction, predicted, taken, rest_error));
	low = fmin(measured, fmax(0, low));
	high = fmin(measured, fmax(0, high));
	/* Otherwise the two contradict each other, and the truth may be as either says. */
	return (struct hp_cpi_part){ fmin(low, high) / measured, fmax(low, high) / measured,
				     taken->likely / measured };
}

static void hold_likely(struct hp_cpi_part *part)
{
	part->low = fmin(part->low, part->likely);
	part->high = fmax(part->high, part->likely);
}

/* How far off the likely cycles of a component may be: penalties are less certain than the base. */
static double doubt_of(const struct hp_cpi_stack *stack, unsigned component)
{
	double likely = stack->parts[component].likely;

	return likely * (component < HP_CPI_MISPREDICT ? stack_error : penalty_prior);
}

/* Takes off what was predicted beyond the measured cycles: most where it is most in doubt. */
static void take_excess(struct hp_cpi_stack *stack)
{
	double excess = fmax(0, -stack->parts[HP_CPI_UNEXPLAINED].likely), sum = 0;

	for (unsigned i = 0; i < HP_CPI_UNEXPLAINED; i++)
		sum += doubt_of(stack, i) * doubt_of(stack, i);
	for (unsigned round = 0; round < EXCESS_ROUNDS && excess > 0 && sum > 0; round++) {
		double left = excess, doubts = sum;

		sum = 0;
		for (unsigned i = 0; i < HP_CPI_UNEXPLAINED; i++) {
			double doubt = doubt_of(stack, i);
			double less = fmin(stack->parts[i].likely, left * doubt * doubt / doubts);

			stack->parts[i].likely -= less;
			excess -= less;
			sum += doubt_of(stack, i) * doubt_of(stack, i);
		}
	}
	stack->excess = fmax(0, -stack->parts[HP_CPI_UNEXPLAINED].likely) - excess;
	stack->parts[HP_CPI_UNEXPLAINED].likely += stack->excess;
}

void hp_cpi_settle(struct hp_cpi_stack *stack)
{
	take_excess(stack);
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		hold_likely(&stack->parts[i]);
	for (unsigned j = 0; j < HP_CPI_GROUPS; j++) {
		stack->groups[j].likely = 0;
		for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
			if (hp_cpi_members(j) >> i & 1)
				stack->groups[j].likely += stack->parts[i].likely;
		hold_likely(&stack->groups[j]);
	}
}

static struct hp_cpi_stack unsettled(const struct hp_prediction *prediction, bool is_absolute)
{
	const double *lanes = prediction->predicted;
	struct hp_cpi_orders orders[HP_CPI_COMPONENTS] = { 0 };
	double measured = prediction->measured;
	double predicted = hp_cpi_find_orders(prediction, orders);
	double unexplained = measured - predicted;
	double events = predicted - fmin(predicted, lanes[HP_LANE_IDEAL]);
	double apart = fmin(1, prediction->apart / measured);
	struct hp_cpi_stack stack = {
		.cycles = measured,
		.apart = apart,
		.predicted = is_absolute ? predicted : NAN,
		.cpi = is_absolute && prediction->instructions > 0
			       ? measured / prediction->instructions
			       : NAN,
	};
	struct taken groups[HP_CPI_GROUPS] = { 0 };
	double sum = 0;

	for (unsigned i = HP_CPI_MISPREDICT; i < HP_CPI_UNEXPLAINED; i++)
		sum += (orders[i].last + orders[i].first) / 2;
	for (unsigned i = 0; i < HP_CPI_UNEXPLAINED; i++) {
		double mean = (orders[i].last + orders[i].first) / 2;
		double likely = i < HP_CPI_MISPREDICT ? mean : sum > 0 ? mean * events / sum : 0;
		struct taken one = { 0 };

		add_taken(&one, prediction, i, &orders[i], likely);
		stack.parts[i] = range_of(prediction, predicted, &one);
		for (unsigned j = 0; j < HP_CPI_GROUPS; j++)
			if (hp_cpi_members(j) >> i & 1)
				add_taken(&groups[j], prediction, i, &orders[i], likely);
	}
	for (unsigned j = 0; j < HP_CPI_GROUPS; j++)
		stack.groups[j] = range_of(prediction, predicted, &groups[j]);
	stack.parts[HP_CPI_UNEXPLAINED] = (struct hp_cpi_part){
		(unexplained - stack_error * predicted) / measured,
		(unexplained + stack_error * predicted) / measured,
		unexplained / measured,
	};
	for (unsigned i = 0; i < HP_CPI_COMPONENTS && apart > 0; i++)
		allow_for_others(apart, &stack.parts[i]);
	for (unsigned j = 0; j < HP_CPI_GROUPS && apart > 0; j++)
		allow_for_others(apart, &stack.groups[j]);
	return stack;
}

struct hp_cpi_stack hp_cpi_of(const struct hp_prediction *prediction, bool is_absolute)
{
	struct hp_cpi_stack stack = unsettled(prediction, is_absolute);

	hp_cpi_settle(&stack);
	return stack;
}

struct hp_prediction hp_cpi_scaled(const struct hp_analysis *analysis,
				   const struct hp_prediction *part)
{
	struct hp_prediction scaled = { 0 };

	add_part(&scaled, part, scale_of(analysis, part));
	if (is_absolute(analysis, part)) {
		scaled.low = part->low;
		scaled.high = part->high;
	}
	return scaled;
}

struct hp_cpi_stack hp_cpi_of_part(const struct hp_analysis *analysis,
				   const struct hp_prediction *part)
{
	struct hp_prediction scaled = hp_cpi_scaled(analysis, part);

	return unsettled(&scaled, is_absolute(analysis, part));
}

struct hp_cpi_stack hp_cpi_of_analysis(const struct hp_analysis *analysis)
{
	struct hp_cpi_stack stack = hp_cpi_of_part(analysis, &analysis->prediction);

	hp_cpi_settle(&stack);
	return stack;
}

static void widen(struct hp_cpi_part *part, const struct hp_cpi_part *other)
{
	part->low = fmin(part->low, other->low);
	part->high = fmax(part->high, other->high);
}

void hp_cpi_widen_members(struct hp_cpi_stack *stack, enum hp_cpi_group group,
			  const struct hp_cpi_stack *other)
{
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		if (hp_cpi_members(group) >> i & 1)
			widen(&stack->parts[i], &other->parts[i]);
}

static void add_share(struct hp_range_sum *sum, const struct hp_cpi_part *part,
		      const struct hp_cpi_stack *stack)
{
	const struct hp_range range = { part->low * stack->cycles, part->high * stack->cycles };

	hp_range_sum_add(sum, &range, part->likely * stack->cycles, stack->apart * stack->cycles);
}

void hp_cpi_add_stack(struct hp_cpi_sum *sum, const struct hp_cpi_stack *more)
{
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		add_share(&sum->parts[i], &more->parts[i], more);
		sum->likely[i] += more->parts[i].likely * more->cycles;
	}
	for (unsigned j = 0; j < HP_CPI_GROUPS; j++)
		add_share(&sum->groups[j], &more->groups[j], more);
	sum->cycles += more->cycles;
}

static struct hp_cpi_part share_of(const struct hp_range_sum *sum, double likely, double cycles)
{
	struct hp_range range = hp_range_sum_get(sum);

	return (struct hp_cpi_part){ range.low / cycles, range.high / cycles, likely / cycles };
}

struct hp_cpi_stack hp_cpi_of_sum(const struct hp_cpi_sum *sum)
{
	struct hp_cpi_stack stack = { .cycles = sum->cycles, .predicted = NAN, .cpi = NAN };

	for (unsigned i = 0; i < HP_CPI_COMPONENTS && sum->cycles > 0; i++)
		stack.parts[i] = share_of(&sum->parts[i], sum->likely[i], sum->cycles);
	for (unsigned j = 0; j < HP_CPI_GROUPS && sum->cycles > 0; j++)
		stack.groups[j] = share_of(&sum->groups[j], 0, sum->cycles);
	hp_cpi_settle(&stack);
	return stack;
}
