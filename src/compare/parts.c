/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	units, the program
 * provides	cost and change of each procedure on both sides; of images, as the sums of these
 */
#include "distribution.h"
#include "judge.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>

#include <math.h>
#include <string.h>

/* Exposures of all replicates for one way of counting. They are larger for runs slowed by what both
 * sides have in common. */
static double *exposures(const struct judging *judging, bool relative)
{
	const struct sides *sides = judging->sides;
	size_t base = sides->at[HP_BASE].replicates.count;
	double *list = hp_arena_array(sides->arena, base + sides->at[HP_CANDIDATE].replicates.count,
				      sizeof(*list));

	for (size_t side = 0; list && side < HP_SIDES; side++)
		for (size_t i = 0; i < sides->at[side].replicates.count; i++) {
			const struct replicate *replicate = &sides->at[side].replicates.at[i];
			double *exposure = &list[(side ? base : 0) + i];

			*exposure = replicate_exposure(replicate, relative);
			if (!relative)
				*exposure *= judging->pace[side][i];
		}
	return list;
}

static struct counts counts_of(const struct judging *judging, bool relative, const double *exposed,
			       const double *counts, const uint64_t samples[HP_SIDES])
{
	const struct sides *sides = judging->sides;

	return (struct counts){
		.counts = counts,
		.exposures = exposed,
		.replicates = { sides->at[HP_BASE].replicates.count,
				sides->at[HP_CANDIDATE].replicates.count },
		.share = (double)(samples[HP_BASE] + samples[HP_CANDIDATE]) /
			 (double)(sides->at[HP_BASE].samples + sides->at[HP_CANDIDATE].samples),
		.taken = relative || judging->beside ? 0 : judging->prior.pace.freedom,
		.partners = judging->beside,
	};
}

static struct hp_error *list_counts(const struct judging *judging, bool relative,
				    const double *exposed, struct counts **counts)
{
	const struct sides *sides = judging->sides;

	*counts = calloc(sides->units.count + 1, sizeof(**counts));
	if (!*counts || !exposed)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < sides->units.count; i++)
		(*counts)[i] = counts_of(judging, relative, exposed, sides->units.at[i].counts,
					 sides->units.at[i].samples);
	return NULL;
}

static struct hp_error *test_all(struct judging *judging, bool relative)
{
	double shares = judging->drift.shares * judging->drift.shares;
	double whole = relative ? 0 : judging->prior.drift * judging->prior.drift;
	const struct dispersion assumed = {
		.even = COMPARE_DISPERSION,
		.deviation = relative ? 0 : COMPARE_RUN_DEVIATION,
		.freedom = 2,
		.drift = sqrt(whole + shares),
		.common = INFINITY,
		/* The sum of two variables has the tails of the heavier one. */
		.drift_freedom = fmin(judging->drift.freedom, DRIFT_SHARES_FREEDOM),
	};
	const struct sides *sides = judging->sides;
	bool replicated = sides->at[HP_BASE].replicates.count > 1 ||
			  sides->at[HP_CANDIDATE].replicates.count > 1;
	_cleanup_free_ struct counts *counts = NULL;
	struct dispersion dispersion = assumed;
	const double *exposed = exposures(judging, relative);
	struct hp_error *error = list_counts(judging, relative, exposed, &counts);

	if (!replicated && judging->history.epochs) {
		dispersion = judging->history.dispersion[relative];
		dispersion.drift = assumed.drift;
		dispersion.drift_freedom = assumed.drift_freedom;
	} else if (!replicated) {
		/* An assumption without evidence has no degrees of freedom of its own. */
		dispersion.freedom = INFINITY;
	} else if (!error) {
		error = learn_dispersion(counts, sides->units.count, &assumed, &dispersion);
	}
	if (error)
		return error;
	for (size_t i = 0; i < sides->units.count; i++) {
		struct log_ratio ratio = compare_counts(&counts[i], &dispersion);

		if (relative)
			judging->units[i].relative = ratio;
		else
			judging->units[i].absolute = ratio;
	}
	if (relative == sides->options->is_relative) {
		judging->comparison->dispersion =
			judging->history.epochs ? judging->history.variance : dispersion.even;
		judging->dispersion = dispersion;
		judging->exposed = exposed;
	}
	return NULL;
}

struct log_ratio judge_counts(const struct judging *judging, const double *counts,
			      const uint64_t samples[HP_SIDES])
{
	const struct counts listed = counts_of(judging, judging->sides->options->is_relative,
					       judging->exposed, counts, samples);

	return compare_counts(&listed, &judging->dispersion);
}

/* --- what is shown --------------------------------------------------------------------------- */

static struct hp_measured around(double value, double away)
{
	return (struct hp_measured){ value, value * exp(-away), value * exp(away) };
}

/* One side's part of the deviation, by its share of both sides' samples. */
static double side_deviation(const struct hp_compared *shown, const struct log_ratio *ratio,
			     size_t side)
{
	double own = (double)shown->side[side].samples + 0.5;
	double other = (double)shown->side[!side].samples + 0.5;

	return ratio->deviation * sqrt(other / (own + other));
}

static bool is_worth_a_test(const struct judging *judging, const struct hp_compared *shown)
{
	double least = judging->comparison->least_of_program;
	bool large = false;

	for (size_t side = 0; side < HP_SIDES; side++)
		large = large || shown->side[side].cost.value * judging->divisor[side] >=
					 least * judging->sides->at[side].cost;
	return large &&
	       shown->side[HP_BASE].samples + shown->side[HP_CANDIDATE].samples >= FEWEST_SAMPLES;
}

void judge_show(const struct judging *judging, const struct log_ratio *ratio,
		struct hp_compared *shown)
{
	double quantile = student_quantile(interval_misses, ratio->freedom);
	double square = 0;

	for (size_t side = 0; side < HP_SIDES; side++) {
		double value = shown->side[side].cost.value;
		double deviation = side_deviation(shown, ratio, side);

		shown->side[side].cost = around(value, quantile * deviation);
		square += value * deviation * value * deviation;
	}
	shown->lost.value = shown->side[HP_CANDIDATE].cost.value / judging_slowed(judging) -
			    shown->side[HP_BASE].cost.value;
	shown->lost.low = shown->lost.value - quantile * sqrt(square);
	shown->lost.high = shown->lost.value + quantile * sqrt(square);
	shown->change = log_ratio_change(ratio);
	if (shown->side[HP_BASE].samples)
		shown->change.value = shown->lost.value / shown->side[HP_BASE].cost.value;
	else
		shown->change.value = shown->change.high = INFINITY;
	shown->p = is_worth_a_test(judging, shown) ? ratio->p : NAN;
	shown->q = NAN;
	shown->smallest_change = log_ratio_smallest(ratio, COMPARE_FALSE_ALARMS / 2);
}

/* The first or the last of its codes that is not absorbed into another procedure on the other
 * side. */
static const struct code *own_code(const struct unit *unit, bool last)
{
	const struct code *found = unit->codes.at[last ? unit->codes.count - 1 : 0];

	for (size_t i = 0; i < unit->codes.count; i++) {
		const struct code *code = unit->codes.at[last ? unit->codes.count - 1 - i : i];

		if (!unit_has_absorbed(unit, code))
			return code;
	}
	return found;
}

static bool start_shift(const struct judging *judging, const struct absorbed *absorbed,
			struct hp_cost_shift *shift, struct hp_compared **started)
{
	struct hp_arena *arena = judging->sides->arena;
	const struct code *code = absorbed->code;
	struct hp_compared *partner = hp_arena_alloc(arena, sizeof(*partner));

	*started = partner;
	if (!partner)
		return false;
	*partner = (struct hp_compared){
		.scope = HP_SCOPE_PROCEDURE,
		.name = hp_arena_strdup(arena, code->name),
		.image = hp_arena_strdup(arena, code->image->id.path),
		.p = NAN,
		.q = NAN,
		.smallest_change = NAN,
		.is_shift = true,
	};
	*shift = (struct hp_cost_shift){ .partner = partner, .why = absorbed->how };
	return partner->name && partner->image;
}

/* Both sides of one procedure make one shift. */
static void add_to_shift(const struct judging *judging, const struct code *code,
			 struct hp_compared *partner, struct hp_cost_shift *shift)
{
	double cost = code->cost / judging->divisor[code->side];
	struct hp_compared_cost *own = &partner->side[code->side];
	double base;

	own->samples += code->samples;
	own->cost.value += cost;
	own->cost.low = own->cost.high = own->cost.value;
	shift->cost += code->side == HP_BASE ? cost : -cost;
	base = partner->side[HP_BASE].cost.value;
	partner->change = (struct hp_measured){ INFINITY, -1, INFINITY };
	if (base > 0)
		partner->change.value = -shift->cost / base;
}

static bool show_shifts(const struct judging *judging, const struct unit *unit)
{
	struct hp_cost_shift *shifts =
		hp_arena_array(judging->sides->arena, unit->absorbed.count + 1, sizeof(*shifts));
	struct hp_compared *partner = NULL;
	size_t count = 0;

	if (!shifts)
		return false;
	for (size_t i = 0; i < unit->absorbed.count; i++) {
		const struct absorbed *absorbed = &unit->absorbed.at[i];

		if (!i || strcmp(absorbed->code->key, unit->absorbed.at[i - 1].code->key) != 0) {
			if (!start_shift(judging, absorbed, &shifts[count], &partner))
				return false;
			count++;
		}
		add_to_shift(judging, absorbed->code, partner, &shifts[count - 1]);
	}
	unit->shown->shifts = shifts;
	unit->shown->shift_count = count;
	return true;
}

static struct hp_error *show_unit(const struct judging *judging, size_t at)
{
	struct unit *unit = &judging->sides->units.at[at];
	const struct tested *tested = &judging->units[at];
	const struct log_ratio *ratio = judging->sides->options->is_relative ? &tested->relative
									     : &tested->absolute;
	/* The candidate's name, if it has one. */
	const struct code *code = own_code(unit, true);
	const struct code *former = own_code(unit, false);
	struct hp_compared *shown = hp_arena_alloc(judging->sides->arena, sizeof(*shown));

	if (!shown)
		return hp_error_create_no_memory();
	unit->shown = shown;
	shown->scope = *code->key ? HP_SCOPE_PROCEDURE : HP_SCOPE_IMAGE;
	shown->name = hp_arena_strdup(judging->sides->arena, code->name);
	shown->image = hp_arena_strdup(judging->sides->arena, code->image->id.path);
	if (strcmp(former->name, code->name) != 0)
		shown->former_name = hp_arena_strdup(judging->sides->arena, former->name);
	if (!show_shifts(judging, unit))
		return hp_error_create_no_memory();
	for (size_t side = 0; side < HP_SIDES; side++) {
		shown->side[side].samples = unit->samples[side];
		shown->side[side].cost.value = unit->cost[side] / judging->divisor[side];
	}
	judge_show(judging, ratio, shown);
	shown->share_change = log_ratio_change(&tested->relative);
	shown->share_p = tested->relative.p;
	return shown->name && shown->image ? NULL : hp_error_create_no_memory();
}

/* --- images ---------------------------------------------------------------------------------- */

static double higher_cost(const struct hp_compared *item)
{
	return fmax(item->side[HP_BASE].cost.value, item->side[HP_CANDIDATE].cost.value);
}

static int by_cost(const void *left, const void *right)
{
	const struct hp_compared *a = *(const struct hp_compared *const *)left;
	const struct hp_compared *b = *(const struct hp_compared *const *)right;
	int order = hp_order(higher_cost(b), higher_cost(a));

	return order ? order : strcmp(a->name, b->name);
}

static void sum_up(struct hp_compared *image)
{
	double square[HP_SIDES] = { 0 };
	double lost = 0;

	/* Parts are nearly independent. */
	for (size_t i = 0; i < image->part_count; i++) {
		const struct hp_compared *part = image->parts[i];
		double away = part->lost.high - part->lost.value;

		lost += away * away;
		image->lost.value += part->lost.value;
		for (size_t side = 0; side < HP_SIDES; side++) {
			const struct hp_compared_cost *cost = &part->side[side];

			image->side[side].samples += cost->samples;
			image->side[side].cost.value += cost->cost.value;
			away = cost->cost.high - cost->cost.value;
			square[side] += away * away;
		}
	}
	for (size_t side = 0; side < HP_SIDES; side++) {
		struct hp_measured *cost = &image->side[side].cost;

		cost->low = fmax(0, cost->value - sqrt(square[side]));
		cost->high = cost->value + sqrt(square[side]);
	}
	image->lost.low = image->lost.value - sqrt(lost);
	image->lost.high = image->lost.value + sqrt(lost);
}

static struct hp_error *show_image(struct judging *judging, size_t first, size_t count,
				   struct hp_compared **shown)
{
	struct sides *sides = judging->sides;
	struct hp_compared **parts = hp_arena_array(sides->arena, count, sizeof(*parts));
	double base;

	*shown = hp_arena_alloc(sides->arena, sizeof(**shown));
	if (!*shown || !parts)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		parts[i] = sides->units.at[first + i].shown;
	qsort(parts, count, sizeof(*parts), by_cost);
	(*shown)->scope = HP_SCOPE_IMAGE;
	(*shown)->name = hp_arena_strdup(sides->arena, sides->units.at[first].image_key);
	(*shown)->image = parts[0]->image;
	(*shown)->parts = parts;
	(*shown)->part_count = count;
	(*shown)->p = (*shown)->q = (*shown)->smallest_change = NAN;
	sum_up(*shown);
	base = (*shown)->side[HP_BASE].cost.value;
	(*shown)->change = (struct hp_measured){ INFINITY, -1, INFINITY };
	if (base > 0)
		(*shown)->change = (struct hp_measured){ (*shown)->lost.value / base,
							 (*shown)->lost.low / base,
							 (*shown)->lost.high / base };
	return (*shown)->name ? NULL : hp_error_create_no_memory();
}

/* Units of one image follow each other. */
static struct hp_error *show_images(struct judging *judging)
{
	const struct sides *sides = judging->sides;
	struct hp_compared *program = judging->comparison->program;
	struct hp_compared **images =
		hp_arena_array(sides->arena, sides->units.count + 1, sizeof(*images));
	size_t count = 0;
	size_t end;

	if (!images)
		return hp_error_create_no_memory();
	for (size_t first = 0; first < sides->units.count; first = end) {
		struct hp_error *error;

		for (end = first + 1; end < sides->units.count; end++)
			if (strcmp(sides->units.at[first].image_key,
				   sides->units.at[end].image_key) != 0)
				break;
		error = show_image(judging, first, end - first, &images[count++]);
		if (error)
			return error;
	}
	qsort(images, count, sizeof(*images), by_cost);
	program->parts = images;
	program->part_count = count;
	return NULL;
}

static bool note_dispersion(const struct judging *judging)
{
	struct sides *sides = judging->sides;

	if (sides->at[HP_BASE].replicates.count > 1 || sides->at[HP_CANDIDATE].replicates.count > 1)
		return true;
	if (!judging->history.epochs)
		return sides_note(sides,
				  "one epoch per side: samples are assumed to vary by %.1f times "
				  "the variance of random sampling",
				  COMPARE_DISPERSION);
	return sides_note(sides,
			  "one epoch per side: samples vary by %.2g times the variance of random "
			  "sampling, as in %zu earlier epochs",
			  judging->comparison->dispersion, judging->history.epochs);
}

struct hp_error *judge_parts(struct judging *judging)
{
	struct sides *sides = judging->sides;
	struct hp_error *error;

	judging->units =
		hp_arena_array(sides->arena, sides->units.count + 1, sizeof(*judging->units));
	if (!judging->units)
		return hp_error_create_no_memory();
	error = test_all(judging, false);
	if (!error)
		error = test_all(judging, true);
	for (size_t i = 0; i < sides->units.count && !error; i++)
		error = show_unit(judging, i);
	if (error)
		return error;
	return note_dispersion(judging) ? show_images(judging) : hp_error_create_no_memory();
}
