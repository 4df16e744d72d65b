/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/analyze/what_if.h>

#include "tuning.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what is asked ---------------------------------------------------------------------------- */

#define OF(component) (1U << HP_CPI_##component)

static const struct {
	const char *name;
	uint32_t components; /* of which a perfect core has none; 0: this change has no such form */
} parts[] = {
	{ "branch", OF(MISPREDICT) },
	{ "l1i", OF(ICACHE) },
	{ "itlb", OF(ITLB) },
	{ "fetch", OF(FETCH) },
	{ "l1d", OF(L2) | OF(FAR) },
	{ "l2", OF(FAR) },
	{ "memory", OF(FAR) },
	{ "dtlb", OF(DTLB) },
	{ "store-buffer", OF(STORE_BUFFER) },
	{ "store-forward", OF(STORE_FORWARD) },
	{ "divider", OF(DIVIDER) },
	{ "multiplier", OF(MULTIPLIER) },
	{ "fp-latency", OF(FP) },
	{ "sync", OF(SYNC) },
	{ "port", OF(PORT) },
	{ "rob", 0 },
	{ "stores", 0 },
};

static struct hp_error *not_known(const char *text)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "--what-if does not know '%s'", text),
		"it knows PART:perfect of branch, l1i, itlb, fetch, l1d, l2, dtlb, store-buffer, "
		"store-forward, divider, multiplier, fp-latency, sync and port; memory:FACTORx "
		"(0.5x: half the latency); and sizes: l1i, l1d, l2 (bytes: l2:2M), itlb, dtlb, "
		"rob, stores (entries: dtlb:4096)");
}

static struct hp_error *take_factor(const char *value, struct hp_what_change *change)
{
	char number[sizeof(change->text)];
	size_t length = strlen(value);

	if (length < 2 || value[length - 1] != 'x')
		return not_known(change->text);
	snprintf(number, sizeof(number), "%.*s", (int)(length - 1), value);
	if (!hp_parse_double(number, &change->factor) || !(change->factor > 0) ||
	    change->factor > most_latency_factor)
		return hp_error_create(HP_ERROR_USAGE,
				       "--what-if=memory:FACTORx takes a factor above 0, up to %gx",
				       most_latency_factor);
	return NULL;
}

static struct hp_error *take_size(struct hp_what_change *change, struct hp_resizes *sizes)
{
	struct hp_resizes one;

	if (!hp_resizes_parse(change->text, &one))
		return not_known(change->text);
	if (!hp_resizes_add(sizes, (enum hp_part)one.at[0].part, one.at[0].size))
		return hp_error_create(HP_ERROR_USAGE, "--what-if takes %d different sizes at most",
				       HP_MOST_RESIZES);
	change->is_size = true;
	change->size = one.at[0];
	return NULL;
}

static struct hp_error *take_change(const char *text, size_t length, struct hp_what_if *what_if)
{
	struct hp_what_change *change = &what_if->changes[what_if->count++];
	const char *value;
	size_t part = 0;

	*change = (struct hp_what_change){ 0 };
	snprintf(change->text, sizeof(change->text), "%.*s", (int)length, text);
	value = strchr(change->text, ':');
	if (!value || length >= sizeof(change->text))
		return not_known(change->text);
	while (part < HP_ARRAY_COUNT(parts) &&
	       (strncmp(parts[part].name, change->text, (size_t)(value - change->text)) != 0 ||
		parts[part].name[value - change->text]))
		part++;
	if (part == HP_ARRAY_COUNT(parts))
		return not_known(change->text);
	change->components = parts[part].components;
	if (strcmp(++value, "perfect") == 0)
		return change->components ? NULL : not_known(change->text);
	return strcmp(parts[part].name, "memory") == 0 ? take_factor(value, change)
						       : take_size(change, &what_if->sizes);
}

struct hp_error *hp_what_if_parse(const char *text, struct hp_what_if *what_if)
{
	struct hp_error *error = NULL;

	*what_if = (struct hp_what_if){ 0 };
	while (!error) {
		size_t length = strcspn(text, ",");

		if (what_if->count == HP_MOST_CHANGES)
			return hp_error_create(HP_ERROR_USAGE, "--what-if takes %d changes at most",
					       HP_MOST_CHANGES);
		error = take_change(text, length, what_if);
		if (!text[length])
			break;
		text += length + 1;
	}
	return error;
}

struct hp_error *hp_what_if_check(const struct hp_what_if *what_if, const struct hp_core *core,
				  bool has_resized)
{
	const struct hp_uarch_geometry geometry = hp_uarch_geometry_of(core);

	for (size_t i = 0; i < what_if->count && !has_resized; i++) {
		const struct hp_what_change *change = &what_if->changes[i];
		uint64_t has = change->is_size ? hp_part_size((enum hp_part)change->size.part,
							      &geometry, core)
					       : 0;

		if (change->is_size && (!change->components || change->size.size <= has))
			return hp_error_advise(
				hp_error_create(HP_ERROR_INSUFFICIENT,
						"--what-if=%s: this core has %" PRIu64
						", and no other size was simulated while "
						"recording",
						change->text, has),
				"record with: hpcprof record --shadow --what-if=PART:SIZE,..., "
				"with "
				"the same sizes");
	}
	return NULL;
}

/* --- what it saves ---------------------------------------------------------------------------- */

/* The share of a latency that the change removes; negative: the latency becomes longer. */
static double way_of(const struct hp_what_change *change, const struct hp_core *core)
{
	double far = core->memory_cycles, near = fmin(far - 1, core->l2_cycles);

	return change->factor > 0 ? fmin(1, (1 - change->factor) * far / (far - near)) : 1;
}

/* Measured but unpredicted cycles may belong to any cause; cycles predicted beyond the measured
 * ones belong to none. */
static struct hp_what_gain widened(double low, double likely, double high, double unexplained,
				   const struct hp_prediction *prediction)
{
	double measured = prediction->measured;
	double known = measured - fmin(measured, prediction->apart);
	struct hp_what_gain gain = {
		.low = fmax(0, low * (1 - stack_error) + fmin(0, unexplained)),
		.likely = fmin(measured, likely),
		.high = fmin(measured, high * (1 + stack_error) + fmax(0, unexplained)),
	};

	/* In moments that no window saw, all or nothing may be gained. */
	gain.low *= known / measured;
	gain.high = gain.high * known / measured + measured - known;
	gain.low = fmin(gain.low, gain.likely);
	gain.high = fmax(gain.high, gain.likely);
	return gain;
}

/* At least in proportion, at most by as much as each miss takes longer. */
static struct hp_what_gain lost_of(double proportional, double most)
{
	return (struct hp_what_gain){
		.low = -fmax(proportional, most) * (1 + stack_error),
		.likely = -proportional,
		.high = -proportional * (1 - stack_error),
	};
}

struct hp_what_gain hp_what_change_gain(const struct hp_what_change *change,
					const struct hp_core *core,
					const struct hp_prediction *prediction)
{
	struct hp_cpi_orders orders[HP_CPI_COMPONENTS] = { 0 };
	double predicted = hp_cpi_find_orders(prediction, orders);
	double unexplained = prediction->measured - predicted;
	double way = way_of(change, core);
	double longest = prediction->far_lines * core->memory_cycles;
	double saved = 0;
	struct hp_what_gain gain;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		saved += change->components >> i & 1 ? orders[i].last : 0;
	if (way < 0)
		return lost_of(-way * saved, (change->factor - 1) * longest);
	/* Cycles that were predicted but not measured cannot be saved. */
	gain = widened(way * saved, way * saved * fmin(1, prediction->measured / predicted),
		       change->factor > 0
			       ? fmax(way * saved, fmin(saved, (1 - change->factor) * longest))
			       : saved,
		       unexplained, prediction);
	if (change->is_size) {
		gain.low = 0;
		gain.likely = NAN;
	}
	return gain;
}

/* On both cores, lines of unknown place are placed where they fit the measured time best. */
static struct hp_what_gain resized_gain(const struct hp_prediction *prediction)
{
	struct hp_cpi_orders orders[HP_CPI_COMPONENTS] = { 0 };
	const double *as_is = prediction->predicted, *resized = prediction->resized;
	double predicted = hp_cpi_find_orders(prediction, orders);
	double measured = prediction->measured;
	double between = as_is[HP_LANE_MEMORY] - as_is[HP_LANE_THIRD];
	double place = between > 0 ? (predicted - as_is[HP_LANE_THIRD]) / between : 0;
	double saved = predicted - resized[HP_LANE_THIRD] -
		       place * (resized[HP_LANE_MEMORY] - resized[HP_LANE_THIRD]);
	double likely = saved * fmin(1, measured / predicted);
	double more = fabs(saved) * stack_error + resize_error * measured;

	more += prediction->apart;
	return (struct hp_what_gain){ fmin(likely, saved - more), likely,
				      fmin(measured, fmax(likely, saved + more)) };
}

/* When two changes affect one component, it counts for the change that removes more of it. */
static double joint_gain(const struct hp_what_if *what_if, const struct hp_core *core,
			 const double cycles[HP_CPI_COMPONENTS])
{
	double sum = 0;

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		double most = 0;

		for (size_t j = 0; j < what_if->count; j++)
			if (what_if->changes[j].components >> i & 1)
				most = fmax(most, way_of(&what_if->changes[j], core));
		sum += most * cycles[i];
	}
	return sum;
}

struct hp_what_gain hp_what_if_gain(const struct hp_what_if *what_if, const struct hp_core *core,
				    const struct hp_prediction *prediction)
{
	struct hp_cpi_orders orders[HP_CPI_COMPONENTS] = { 0 };
	double predicted = hp_cpi_find_orders(prediction, orders);
	struct hp_cpi_stack stack = hp_cpi_of(prediction, true);
	double likely[HP_CPI_COMPONENTS] = { 0 }, most[HP_CPI_COMPONENTS] = { 0 };
	struct hp_what_gain sum = { 0 }, lost = { 0 };
	double greatest = 0;
	bool is_known = true;

	if (what_if->sizes.count && what_if->sizes.count == what_if->count &&
	    prediction->has_resized)
		return resized_gain(prediction);
	for (size_t i = 0; i < what_if->count; i++) {
		struct hp_what_gain one =
			hp_what_change_gain(&what_if->changes[i], core, prediction);

		if (what_if->changes[i].factor > 1)
			hp_what_gain_add(&lost, &one);
		else
			greatest = fmax(greatest, one.low);
		is_known &= !what_if->changes[i].is_size;
		if (what_if->count == 1)
			return one;
	}
	for (unsigned i = 0; i < HP_CPI_UNEXPLAINED; i++) {
		likely[i] = stack.parts[i].likely * prediction->measured;
		most[i] = fmax(likely[i], fmax(orders[i].last, orders[i].first));
	}
	sum = widened(0, joint_gain(what_if, core, likely), joint_gain(what_if, core, most),
		      prediction->measured - predicted, prediction);
	sum.low = fmin(greatest, sum.likely);
	sum.likely = is_known ? sum.likely : NAN;
	hp_what_gain_add(&sum, &lost);
	return sum;
}

void hp_what_gain_widen(struct hp_what_gain *gain, const struct hp_what_gain *other)
{
	gain->low = fmin(gain->low, other->low);
	gain->high = fmax(gain->high, other->high);
}

void hp_what_gain_add(struct hp_what_gain *into, const struct hp_what_gain *more)
{
	into->low += more->low;
	into->likely += more->likely;
	into->high += more->high;
}

struct hp_what_gain hp_what_if_unknown(const struct hp_what_change *changes, size_t count)
{
	struct hp_what_gain gain = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (changes[i].factor > 1)
			gain.low -= changes[i].factor - 1;
		else
			gain.high = 1;
	}
	return gain;
}
