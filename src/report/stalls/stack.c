/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stack.h"

#include "../tuning.h"

#include <math.h>

const char *stack_name(enum stack_component component)
{
	static const char *const names[STACK_COMPONENTS] = {
		[STACK_WIDTH] = "width",
		[STACK_DEPENDENCY] = "dependency",
		[STACK_PORT] = "port",
		[STACK_DIVIDER] = "divider",
		[STACK_MULTIPLIER] = "multiplier",
		[STACK_FP] = "fp-latency",
		[STACK_SYNC] = "sync",
		[STACK_MISPREDICT] = "branch-mispredict",
		[STACK_ICACHE] = "icache",
		[STACK_ITLB] = "itlb",
		[STACK_FETCH] = "fetch",
		[STACK_L2] = "l2",
		[STACK_FAR] = "l3-or-memory",
		[STACK_DTLB] = "dtlb",
		[STACK_STORE_BUFFER] = "store-buffer",
		[STACK_STORE_FORWARD] = "store-forward",
		[STACK_UNEXPLAINED] = "unexplained",
	};

	return (unsigned)component < STACK_COMPONENTS ? names[component] : "?";
}

static double fitted(const struct hp_prediction *prediction, double measured)
{
	const double *lanes = prediction->predicted;

	return fmax(lanes[HP_LANE_THIRD], fmin(measured, lanes[HP_LANE_MEMORY]));
}

const char *stack_word(enum stack_component component)
{
	static const char *const words[STACK_COMPONENTS] = {
		[STACK_WIDTH] = "issue width",
		[STACK_DEPENDENCY] = "operands",
		[STACK_PORT] = "ports",
		[STACK_DIVIDER] = "divider",
		[STACK_MULTIPLIER] = "multiplier",
		[STACK_FP] = "floating point",
		[STACK_SYNC] = "synchronization",
		[STACK_MISPREDICT] = "mispredicted",
		[STACK_ICACHE] = "code cache",
		[STACK_ITLB] = "code TLB",
		[STACK_FETCH] = "fetch, decode",
		[STACK_L2] = "L2",
		[STACK_FAR] = "L3 or memory",
		[STACK_DTLB] = "data TLB",
		[STACK_STORE_BUFFER] = "store buffer",
		[STACK_STORE_FORWARD] = "forwarding fails",
		[STACK_UNEXPLAINED] = "not predicted",
	};

	return (unsigned)component < STACK_COMPONENTS ? words[component] : "?";
}

static bool is_absolute(const struct hp_analysis *analysis, const struct hp_prediction *part)
{
	return analysis->is_absolute && part->high <= widest_executions * part->low &&
	       part->predicted[HP_LANE_WIDTH] <= part->measured;
}

bool stack_is_absolute(const struct hp_analysis *analysis)
{
	return is_absolute(analysis, &analysis->prediction);
}

static void add_part(struct hp_prediction *into, const struct hp_prediction *one, bool is_absolute)
{
	double whole = fitted(one, one->measured);
	double scale = is_absolute ? 1 : whole > 0 ? one->measured / whole : 0;

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
}

void stack_add(struct hp_prediction *into, const struct hp_analysis *analysis)
{
	add_part(into, &analysis->prediction, stack_is_absolute(analysis));
}

static double saved(const double *lanes, enum hp_lane without)
{
	return fmax(0, lanes[HP_LANE_AS_IS] - lanes[without]);
}

static double added(const double *lanes, enum hp_lane only)
{
	return fmax(0, lanes[only] - lanes[HP_LANE_IDEAL]);
}

/* The share of a group that one of its members has when it is taken away. */
static double of_group(double group, double member, double others)
{
	return member > 0 ? group * member / (member + others) : 0;
}

static void find_events(const double *lanes, double from_memory,
			struct stack_orders orders[STACK_COMPONENTS])
{
	double icache = saved(lanes, HP_LANE_NO_ICACHE), itlb = saved(lanes, HP_LANE_NO_ITLB);
	double fetch = saved(lanes, HP_LANE_NO_FETCH), far = saved(lanes, HP_LANE_NO_FAR);
	double near = fmax(0, saved(lanes, HP_LANE_NO_DCACHE) - far);
	double buffer = saved(lanes, HP_LANE_NO_STORE_BUFFER);
	double forward = saved(lanes, HP_LANE_NO_STORE_FORWARD);
	double code = added(lanes, HP_LANE_ONLY_CODE), data = added(lanes, HP_LANE_ONLY_DCACHE);
	double store = added(lanes, HP_LANE_ONLY_STORE);

	orders[STACK_MISPREDICT] = (struct stack_orders){ saved(lanes, HP_LANE_NO_MISPREDICT),
							  added(lanes, HP_LANE_ONLY_MISPREDICT) };
	orders[STACK_ICACHE] =
		(struct stack_orders){ icache, of_group(code, icache, itlb + fetch) };
	orders[STACK_ITLB] = (struct stack_orders){ itlb, of_group(code, itlb, icache + fetch) };
	orders[STACK_FETCH] = (struct stack_orders){ fetch, of_group(code, fetch, icache + itlb) };
	orders[STACK_L2] = (struct stack_orders){ near, of_group(data, near, far) };
	orders[STACK_FAR] =
		(struct stack_orders){ fmax(0, far + from_memory),
				       fmax(0, of_group(data, far, near) + from_memory) };
	orders[STACK_DTLB] = (struct stack_orders){ saved(lanes, HP_LANE_NO_DTLB),
						    added(lanes, HP_LANE_ONLY_DTLB) };
	orders[STACK_STORE_BUFFER] =
		(struct stack_orders){ buffer, of_group(store, buffer, forward) };
	orders[STACK_STORE_FORWARD] =
		(struct stack_orders){ forward, of_group(store, forward, buffer) };
}

/* What a core without events spends: no order among these but that operands have what is left. */
static void find_base(const double *lanes, double base,
		      struct stack_orders orders[STACK_COMPONENTS])
{
	static const struct {
		enum stack_component component;
		enum hp_lane without;
	} units[] = {
		{ STACK_PORT, HP_LANE_NO_PORT },
		{ STACK_DIVIDER, HP_LANE_NO_DIVIDER },
		{ STACK_MULTIPLIER, HP_LANE_NO_MULTIPLIER },
		{ STACK_FP, HP_LANE_NO_FP },
		{ STACK_SYNC, HP_LANE_NO_SYNC },
	};
	double width = fmin(lanes[HP_LANE_WIDTH], base);
	double left = base - width;

	orders[STACK_WIDTH] = (struct stack_orders){ width, width };
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double part = fmin(left, saved(lanes, units[i].without));

		orders[units[i].component] = (struct stack_orders){ part, part };
		left -= part;
	}
	orders[STACK_DEPENDENCY] = (struct stack_orders){ left, left };
}

double stack_find_orders(const struct hp_prediction *prediction,
			 struct stack_orders orders[STACK_COMPONENTS])
{
	const double *lanes = prediction->predicted;
	double predicted = fitted(prediction, prediction->measured);

	orders[STACK_UNEXPLAINED] = (struct stack_orders){ 0 };
	/* Of a part of the program: time may have moved to another. */
	find_base(lanes, fmin(predicted, lanes[HP_LANE_IDEAL]), orders);
	find_events(lanes, predicted - lanes[HP_LANE_AS_IS], orders);
	return predicted;
}

struct stack stack_of(const struct hp_prediction *prediction, bool is_absolute)
{
	const double *lanes = prediction->predicted;
	struct stack_orders orders[STACK_COMPONENTS] = { 0 };
	double measured = prediction->measured;
	double predicted = stack_find_orders(prediction, orders);
	double unexplained = measured - predicted;
	double events = predicted - fmin(predicted, lanes[HP_LANE_IDEAL]);
	struct stack stack = {
		.cycles = measured,
		.predicted = is_absolute ? predicted : NAN,
		.cpi = is_absolute && prediction->instructions > 0
			       ? measured / prediction->instructions
			       : NAN,
	};
	double sum = 0;

	for (unsigned i = STACK_MISPREDICT; i < STACK_UNEXPLAINED; i++)
		sum += (orders[i].last + orders[i].first) / 2;
	for (unsigned i = 0; i < STACK_UNEXPLAINED; i++) {
		double mean = (orders[i].last + orders[i].first) / 2;
		double likely = i < STACK_MISPREDICT ? mean : sum > 0 ? mean * events / sum : 0;
		double low = fmin(likely, fmin(orders[i].last, orders[i].first));
		double high = fmax(likely, fmax(orders[i].last, orders[i].first));

		stack.parts[i] = (struct stack_part){
			fmax(0, low * (1 - stack_error) + fmin(0, unexplained)) / measured,
			(high * (1 + stack_error) + fmax(0, unexplained)) / measured,
			likely / measured,
		};
	}
	stack.parts[STACK_UNEXPLAINED] = (struct stack_part){
		(unexplained - stack_error * predicted) / measured,
		(unexplained + stack_error * predicted) / measured,
		unexplained / measured,
	};
	return stack;
}

struct hp_prediction stack_scaled(const struct hp_analysis *analysis,
				  const struct hp_prediction *part)
{
	struct hp_prediction scaled = { 0 };

	add_part(&scaled, part, is_absolute(analysis, part));
	return scaled;
}

struct stack stack_of_part(const struct hp_analysis *analysis, const struct hp_prediction *part)
{
	struct hp_prediction scaled = stack_scaled(analysis, part);

	return stack_of(&scaled, is_absolute(analysis, part));
}

struct stack stack_of_analysis(const struct hp_analysis *analysis)
{
	return stack_of_part(analysis, &analysis->prediction);
}

void stack_sum(struct stack *into, const struct stack *more)
{
	for (unsigned i = 0; i < STACK_COMPONENTS; i++) {
		into->parts[i].low += more->parts[i].low * more->cycles;
		into->parts[i].high += more->parts[i].high * more->cycles;
		into->parts[i].likely += more->parts[i].likely * more->cycles;
	}
	into->cycles += more->cycles;
}

void stack_sum_end(struct stack *sum)
{
	for (unsigned i = 0; i < STACK_COMPONENTS && sum->cycles > 0; i++) {
		sum->parts[i].low /= sum->cycles;
		sum->parts[i].high /= sum->cycles;
		sum->parts[i].likely /= sum->cycles;
	}
}
