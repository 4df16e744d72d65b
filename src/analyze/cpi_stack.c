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
		[HP_CPI_SYNC] = "synchronization",
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
	/* Infinite limits stay infinite. */
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT && scale > 0; kind++)
		into->most[kind] += scale * one->most[kind];
	into->most_far += scale > 0 ? scale * one->most_far : INFINITY;
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

	return component == HP_CPI_FAR ? prediction->most_far : prediction->most[causes[component]];
}

/* Of the cycles in moments that no window saw, each component may have all or none. */
static void allow_for_others(double apart, struct hp_cpi_stack *stack)
{
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		struct hp_cpi_part *part = &stack->parts[i];

		part->low *= 1 - apart;
		part->high = part->high * (1 - apart) + apart;
		part->low = fmin(part->low, part->likely);
		part->high = fmax(part->high, part->likely);
	}
}

struct hp_cpi_stack hp_cpi_of(const struct hp_prediction *prediction, bool is_absolute)
{
	const double *lanes = prediction->predicted;
	struct hp_cpi_orders orders[HP_CPI_COMPONENTS] = { 0 };
	double measured = prediction->measured;
	double predicted = hp_cpi_find_orders(prediction, orders);
	double unexplained = measured - predicted;
	double events = predicted - fmin(predicted, lanes[HP_LANE_IDEAL]);
	struct hp_cpi_stack stack = {
		.cycles = measured,
		.predicted = is_absolute ? predicted : NAN,
		.cpi = is_absolute && prediction->instructions > 0
			       ? measured / prediction->instructions
			       : NAN,
	};
	double sum = 0;

	for (unsigned i = HP_CPI_MISPREDICT; i < HP_CPI_UNEXPLAINED; i++)
		sum += (orders[i].last + orders[i].first) / 2;
	for (unsigned i = 0; i < HP_CPI_UNEXPLAINED; i++) {
		double mean = (orders[i].last + orders[i].first) / 2;
		double likely = i < HP_CPI_MISPREDICT ? mean : sum > 0 ? mean * events / sum : 0;
		double low = fmin(likely, fmin(orders[i].last, orders[i].first));
		double high =
			fmax(likely, fmax(orders[i].last, orders[i].first)) * (1 + stack_error);
		double missing = fmax(0, fmin(fmax(0, unexplained), most_of(prediction, i) - high));

		stack.parts[i] = (struct hp_cpi_part){
			fmax(0, low * (1 - stack_error) + fmin(0, unexplained)) / measured,
			fmin(1, (high + missing) / measured),
			likely / measured,
		};
	}
	stack.parts[HP_CPI_UNEXPLAINED] = (struct hp_cpi_part){
		(unexplained - stack_error * predicted) / measured,
		(unexplained + stack_error * predicted) / measured,
		unexplained / measured,
	};
	if (prediction->apart > 0)
		allow_for_others(fmin(1, prediction->apart / measured), &stack);
	return stack;
}

struct hp_prediction hp_cpi_scaled(const struct hp_analysis *analysis,
				   const struct hp_prediction *part)
{
	struct hp_prediction scaled = { 0 };

	add_part(&scaled, part, scale_of(analysis, part));
	return scaled;
}

struct hp_cpi_stack hp_cpi_of_part(const struct hp_analysis *analysis,
				   const struct hp_prediction *part)
{
	struct hp_prediction scaled = hp_cpi_scaled(analysis, part);

	return hp_cpi_of(&scaled, is_absolute(analysis, part));
}

struct hp_cpi_stack hp_cpi_of_analysis(const struct hp_analysis *analysis)
{
	return hp_cpi_of_part(analysis, &analysis->prediction);
}

void hp_cpi_widen(struct hp_cpi_stack *stack, const struct hp_cpi_stack *other)
{
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		stack->parts[i].low = fmin(stack->parts[i].low, other->parts[i].low);
		stack->parts[i].high = fmax(stack->parts[i].high, other->parts[i].high);
	}
}

void hp_cpi_sum(struct hp_cpi_stack *into, const struct hp_cpi_stack *more)
{
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		into->parts[i].low += more->parts[i].low * more->cycles;
		into->parts[i].high += more->parts[i].high * more->cycles;
		into->parts[i].likely += more->parts[i].likely * more->cycles;
	}
	into->cycles += more->cycles;
}

void hp_cpi_sum_end(struct hp_cpi_stack *sum)
{
	for (unsigned i = 0; i < HP_CPI_COMPONENTS && sum->cycles > 0; i++) {
		sum->parts[i].low /= sum->cycles;
		sum->parts[i].high /= sum->cycles;
		sum->parts[i].likely /= sum->cycles;
	}
}
