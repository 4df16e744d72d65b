/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/analyze/penalties.h>

#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/search.h>
#include <hpcprof/model/evidence.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The factors that stand for the core's table. Lines of unknown place cost nothing by it, since
 * where they are is the model's guess. */
static const double of_table[HP_PENALTIES] = { 1, 1, 1, 1, 1, 0 };

const char *hp_penalty_name(enum hp_penalty penalty)
{
	static const char *const names[HP_PENALTIES] = {
		[HP_PENALTY_BASE] = "base", [HP_PENALTY_MISPREDICT] = "mispredict",
		[HP_PENALTY_L2] = "l2",	    [HP_PENALTY_FAR] = "l3-or-memory",
		[HP_PENALTY_DTLB] = "dtlb", [HP_PENALTY_UNPLACED] = "unplaced",
	};

	return (unsigned)penalty < HP_PENALTIES ? names[penalty] : "?";
}

const char *hp_penalty_word(enum hp_penalty penalty)
{
	static const char *const words[HP_PENALTIES] = {
		[HP_PENALTY_BASE] = "base",	[HP_PENALTY_MISPREDICT] = "mispredicted",
		[HP_PENALTY_L2] = "L2",		[HP_PENALTY_FAR] = "L3 or memory",
		[HP_PENALTY_DTLB] = "data TLB", [HP_PENALTY_UNPLACED] = "in memory",
	};

	return (unsigned)penalty < HP_PENALTIES ? words[penalty] : "?";
}

void hp_penalties_split(const double lanes[HP_LANES], double cycles[HP_PENALTIES])
{
	struct hp_prediction as_is = { .measured = lanes[HP_LANE_AS_IS] };
	struct hp_cpi_orders orders[HP_CPI_COMPONENTS];
	double means[HP_CPI_COMPONENTS] = { 0 }, sum = 0, scale;
	double events = fmax(0, lanes[HP_LANE_AS_IS] - lanes[HP_LANE_IDEAL]);

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		as_is.predicted[lane] = lanes[lane];
	hp_cpi_find_orders(&as_is, orders);
	for (unsigned i = HP_CPI_MISPREDICT; i < HP_CPI_UNEXPLAINED; i++) {
		means[i] = (orders[i].first + orders[i].last) / 2;
		sum += means[i];
	}
	scale = sum > 0 ? events / sum : 0;
	cycles[HP_PENALTY_MISPREDICT] = scale * means[HP_CPI_MISPREDICT];
	cycles[HP_PENALTY_L2] = scale * means[HP_CPI_L2];
	cycles[HP_PENALTY_FAR] = scale * means[HP_CPI_FAR];
	cycles[HP_PENALTY_DTLB] = scale * means[HP_CPI_DTLB];
	cycles[HP_PENALTY_BASE] = lanes[HP_LANE_AS_IS] - cycles[HP_PENALTY_MISPREDICT] -
				  cycles[HP_PENALTY_L2] - cycles[HP_PENALTY_FAR] -
				  cycles[HP_PENALTY_DTLB];
	cycles[HP_PENALTY_UNPLACED] = fmax(0, lanes[HP_LANE_MEMORY] - lanes[HP_LANE_AS_IS]);
}

/* --- fitting ---------------------------------------------------------------------------------- */

/* Gaussian elimination of a positive definite matrix. The solution is left in its last column. */
static void solve(double rows[HP_PENALTIES][HP_PENALTIES + 1])
{
	for (size_t i = 0; i < HP_PENALTIES; i++) {
		for (size_t k = 0; k < HP_PENALTIES; k++) {
			double factor = rows[k][i] / rows[i][i];

			for (size_t j = i; j <= HP_PENALTIES && k != i; j++)
				rows[k][j] -= factor * rows[i][j];
		}
	}
	for (size_t i = 0; i < HP_PENALTIES; i++)
		rows[i][HP_PENALTIES] /= rows[i][i];
}

static double predicted(const struct hp_timed_part *part, const double factors[HP_PENALTIES])
{
	double sum = 0;

	for (size_t i = 0; i < HP_PENALTIES; i++)
		sum += factors[i] * part->of[i];
	return sum;
}

/* Adds a part to the normal equations of one step from these factors. The residual is that of the
 * predicted logarithm, weighted by Student's distribution: some parts met data that nothing was
 * simulated of, and these must count little. */
static void add_part(const struct hp_timed_part *part, const double factors[HP_PENALTIES],
		     double rows[HP_PENALTIES][HP_PENALTIES + 1])
{
	double sum = predicted(part, factors);
	double rest = log(part->measured / sum), far = rest / part_noise;
	double weight = (part_freedom + 1) / (part_freedom + far * far);

	for (size_t i = 0; i < HP_PENALTIES; i++) {
		double share = weight * part->of[i] / sum;

		rows[i][HP_PENALTIES] += share * rest;
		for (size_t j = 0; j < HP_PENALTIES; j++)
			rows[i][j] += share * part->of[j] / sum;
	}
}

/* The least factor of the base: no core is faster than its width allows. */
static double least_base(const struct hp_timed_part *parts, size_t count)
{
	double width = 0, base = 0;

	for (size_t i = 0; i < count; i++) {
		width += parts[i].width;
		base += parts[i].of[HP_PENALTY_BASE];
	}
	return base > 0 ? fmin(1, width / base) : 1;
}

/* Makes a step be what it is fixed at, whatever the others are. */
static void fix(double rows[HP_PENALTIES][HP_PENALTIES + 1], size_t fixed, double step)
{
	for (size_t i = 0; i < HP_PENALTIES; i++) {
		rows[i][HP_PENALTIES] -= rows[i][fixed] * step;
		rows[i][fixed] = 0;
	}
	for (size_t j = 0; j < HP_PENALTIES; j++)
		rows[fixed][j] = 0;
	rows[fixed][fixed] = 1;
	rows[fixed][HP_PENALTIES] = step;
}

/* What each factor can be. */
struct bounds {
	double least[HP_PENALTIES], most[HP_PENALTIES];
};

static double within(const struct bounds *bounds, size_t i, double factor)
{
	return fmax(bounds->least[i], fmin(bounds->most[i], factor));
}

/* One step of all factors. Those that would become less or more than is possible stay there, and the others
 * make up for them. */
static void take_step(const double equations[HP_PENALTIES][HP_PENALTIES + 1],
		      const struct bounds *bounds, double factors[HP_PENALTIES])
{
	double rows[HP_PENALTIES][HP_PENALTIES + 1];
	double fixed[HP_PENALTIES];
	bool is_fixed[HP_PENALTIES] = { false };
	bool is_new = true;

	while (is_new) {
		memcpy(rows, equations, sizeof(rows));
		for (size_t i = 0; i < HP_PENALTIES; i++)
			if (is_fixed[i])
				fix(rows, i, fixed[i] - factors[i]);
		solve(rows);
		is_new = false;
		for (size_t i = 0; i < HP_PENALTIES; i++) {
			double next = factors[i] + rows[i][HP_PENALTIES];

			if (is_fixed[i] || within(bounds, i, next) == next)
				continue;
			is_fixed[i] = is_new = true;
			fixed[i] = within(bounds, i, next);
		}
	}
	for (size_t i = 0; i < HP_PENALTIES; i++)
		factors[i] = within(bounds, i, factors[i] + rows[i][HP_PENALTIES]);
}

/* The normal equations of one step from these factors. */
static void make_equations(const struct hp_timed_part *parts, size_t count, size_t left_out,
			   const double factors[HP_PENALTIES],
			   double rows[HP_PENALTIES][HP_PENALTIES + 1])
{
	memset(rows, 0, HP_PENALTIES * sizeof(*rows));
	for (size_t i = 0; i < HP_PENALTIES; i++) {
		double prior = i == HP_PENALTY_BASE ? base_prior : penalty_prior;
		double held = part_noise / prior * (part_noise / prior);

		rows[i][i] = held;
		rows[i][HP_PENALTIES] = held * (of_table[i] - factors[i]);
	}
	for (size_t k = 0; k < count; k++)
		if (parts[k].fold != left_out)
			add_part(&parts[k], factors, rows);
}

static void find_bounds(const struct hp_timed_part *parts, size_t count, struct bounds *bounds)
{
	for (size_t i = 0; i < HP_PENALTIES; i++) {
		bounds->least[i] = least_penalty * of_table[i];
		bounds->most[i] = INFINITY;
	}
	bounds->least[HP_PENALTY_BASE] = fmax(least_penalty, least_base(parts, count));
	bounds->most[HP_PENALTY_BASE] = most_base;
}

/* Fits the penalties to all parts except those of one fold. */
static void fit_without(const struct hp_timed_part *parts, size_t count, size_t left_out,
			double factors[HP_PENALTIES])
{
	struct bounds bounds;

	find_bounds(parts, count, &bounds);
	memcpy(factors, of_table, sizeof(of_table));
	for (unsigned round = 0; round < PENALTY_ROUNDS; round++) {
		double rows[HP_PENALTIES][HP_PENALTIES + 1];

		make_equations(parts, count, left_out, factors, rows);
		take_step(rows, &bounds, factors);
	}
}

/* Finds the ends of each factor's interval, and how the others move with it. */
static void find_ends(const struct hp_timed_part *parts, size_t count,
		      struct hp_penalties *penalties)
{
	double equations[HP_PENALTIES][HP_PENALTIES + 1];
	struct bounds bounds;

	find_bounds(parts, count, &bounds);
	make_equations(parts, count, SIZE_MAX, penalties->factors, equations);
	for (size_t i = 0; i < HP_PENALTIES; i++) {
		double rows[HP_PENALTIES][HP_PENALTIES + 1], deviation;

		memcpy(rows, equations, sizeof(rows));
		for (size_t j = 0; j < HP_PENALTIES; j++)
			rows[j][HP_PENALTIES] = j == i;
		solve(rows);
		/* A column of the covariance, in units of the noise. */
		deviation = sqrt(rows[i][HP_PENALTIES]);
		for (size_t j = 0; j < HP_PENALTIES; j++) {
			double step = HP_NORMAL_90 * part_noise * rows[j][HP_PENALTIES] / deviation;

			penalties->ends[i][0][j] = within(&bounds, j, penalties->factors[j] - step);
			penalties->ends[i][1][j] = within(&bounds, j, penalties->factors[j] + step);
		}
	}
}

HP_ORDER_VALUES(by_size, double);

/* Returns the quantiles of the errors, and sorts them. requires: count > 0 */
static struct hp_penalty_errors quantiles_of(double *errors, size_t count)
{
	size_t middle = (count - 1) / 2;

	qsort(errors, count, sizeof(*errors), by_size);
	return (struct hp_penalty_errors){
		(errors[middle] + errors[count / 2]) / 2,
		errors[(size_t)lround(0.9 * (double)(count - 1))],
	};
}

/* Makes the folds: one per window, several windows each if there are many, or the parts of a single
 * window. */
static void divide(struct hp_timed_part *parts, size_t count, bool by_parts)
{
	size_t windows = 0;

	for (size_t i = 0; i < count; i++) {
		windows += i && parts[i].window != parts[i - 1].window;
		parts[i].fold = (by_parts ? i : windows) % PENALTY_FOLDS;
	}
}

static void predict_left_out(struct hp_timed_part *parts, size_t count)
{
	double factors[PENALTY_FOLDS][HP_PENALTIES];

	for (size_t i = 0; i < PENALTY_FOLDS; i++)
		fit_without(parts, count, i, factors[i]);
	for (size_t i = 0; i < count; i++)
		parts[i].left_out = predicted(&parts[i], factors[parts[i].fold]);
}

struct hp_error *hp_penalties_fit(struct hp_timed_part *parts, size_t count,
				  struct hp_penalties *penalties)
{
	_cleanup_free_ double *errors = calloc(count + 1, sizeof(*errors));

	if (!errors)
		return hp_error_create_no_memory();
	*penalties = (struct hp_penalties){ .parts = count };
	for (size_t i = 0; i < HP_PENALTIES; i++)
		penalties->factors[i] = of_table[i];
	for (size_t i = 0; i < count; i++) {
		penalties->windows += !i || parts[i].window != parts[i - 1].window;
		parts[i].by_table = parts[i].left_out = predicted(&parts[i], of_table);
		errors[i] = fabs(parts[i].by_table / parts[i].measured - 1);
	}
	if (!count)
		return NULL;
	penalties->by_table = penalties->left_out = quantiles_of(errors, count);
	penalties->by_parts = penalties->windows < 2;
	penalties->is_judged = !penalties->by_parts || count >= PENALTY_PARTS;
	if (!penalties->is_judged)
		return NULL;
	divide(parts, count, penalties->by_parts);
	predict_left_out(parts, count);
	for (size_t i = 0; i < count; i++)
		errors[i] = fabs(parts[i].left_out / parts[i].measured - 1);
	penalties->left_out = quantiles_of(errors, count);
	penalties->is_fitted = penalties->left_out.median < penalties->by_table.median;
	if (!penalties->is_fitted)
		return NULL;
	fit_without(parts, count, SIZE_MAX, penalties->factors);
	find_ends(parts, count, penalties);
	return NULL;
}

/* --- applying --------------------------------------------------------------------------------- */

/* A lane without an event becomes shorter by the change of its cost; a lane with only that event
 * becomes longer by it. */
static void apply(const double factors[HP_PENALTIES], const double from[HP_LANES],
		  double into[HP_LANES])
{
	double base = factors[HP_PENALTY_BASE], branch = factors[HP_PENALTY_MISPREDICT];
	double near = factors[HP_PENALTY_L2], far = factors[HP_PENALTY_FAR];
	double page = factors[HP_PENALTY_DTLB];
	double of[HP_PENALTIES], as_is, ideal = base * from[HP_LANE_IDEAL], data;
	double saved_far = fmax(0, from[HP_LANE_AS_IS] - from[HP_LANE_NO_FAR]);
	double saved_near = fmax(0, from[HP_LANE_NO_FAR] - from[HP_LANE_NO_DCACHE]);

	hp_penalties_split(from, of);
	as_is = base * of[HP_PENALTY_BASE] + branch * of[HP_PENALTY_MISPREDICT] +
		near * of[HP_PENALTY_L2] + far * of[HP_PENALTY_FAR] + page * of[HP_PENALTY_DTLB];
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		into[lane] = lane < HP_LANE_IDEAL
				     ? as_is + base * (from[lane] - from[HP_LANE_AS_IS])
				     : ideal + base * (from[lane] - from[HP_LANE_IDEAL]);
	into[HP_LANE_NO_MISPREDICT] =
		as_is + branch * (from[HP_LANE_NO_MISPREDICT] - from[HP_LANE_AS_IS]);
	into[HP_LANE_NO_FAR] = as_is - far * saved_far;
	into[HP_LANE_NO_DCACHE] = as_is - far * saved_far - near * saved_near;
	into[HP_LANE_NO_DTLB] = as_is + page * (from[HP_LANE_NO_DTLB] - from[HP_LANE_AS_IS]);
	into[HP_LANE_WIDTH] = from[HP_LANE_WIDTH]; /* no core is faster than its width allows */
	into[HP_LANE_THIRD] = as_is + far * (from[HP_LANE_THIRD] - from[HP_LANE_AS_IS]);
	into[HP_LANE_MEMORY] = as_is + fmax(far, factors[HP_PENALTY_UNPLACED]) *
					       (from[HP_LANE_MEMORY] - from[HP_LANE_AS_IS]);
	into[HP_LANE_ONLY_MISPREDICT] =
		ideal + branch * (from[HP_LANE_ONLY_MISPREDICT] - from[HP_LANE_IDEAL]);
	into[HP_LANE_ONLY_DTLB] = ideal + page * (from[HP_LANE_ONLY_DTLB] - from[HP_LANE_IDEAL]);
	data = saved_near + saved_far;
	into[HP_LANE_ONLY_DCACHE] =
		ideal + (data > 0 ? (near * saved_near + far * saved_far) / data : far) *
				(from[HP_LANE_ONLY_DCACHE] - from[HP_LANE_IDEAL]);
}

static void take_factors(const double factors[HP_PENALTIES], struct hp_prediction *prediction)
{
	const struct hp_prediction by_table = *prediction;
	double was = by_table.predicted[HP_LANE_AS_IS], longer;

	apply(factors, by_table.predicted, prediction->predicted);
	apply(factors, by_table.resized, prediction->resized);
	prediction->stretched =
		fmax(0, factors[HP_PENALTY_BASE] - 1) * by_table.predicted[HP_LANE_IDEAL];
	longer = was > 0 ? prediction->predicted[HP_LANE_AS_IS] / was : 1;
	prediction->low *= longer;
	prediction->high *= longer;
}

struct hp_prediction hp_penalties_apply(const struct hp_penalties *penalties,
					const struct hp_prediction *prediction)
{
	struct hp_prediction fitted = *prediction;

	if (penalties->parts)
		fitted.error = hypot(stack_error, penalties->is_fitted
							  ? penalties->left_out.median
							  : penalties->by_table.median);
	if (!penalties->is_fitted)
		return fitted;
	take_factors(penalties->factors, &fitted);
	return fitted;
}

struct hp_cpi_stack hp_penalties_stack(const struct hp_penalties *penalties,
				       const struct hp_analysis *analysis,
				       const struct hp_prediction *part)
{
	struct hp_prediction fitted = hp_penalties_apply(penalties, part);
	struct hp_cpi_stack stack = hp_cpi_of_part(analysis, &fitted);

	for (size_t i = 0; i < 2 * HP_PENALTIES && penalties->is_fitted; i++) {
		struct hp_cpi_stack other;

		fitted = *part;
		fitted.error = stack_error;
		take_factors(penalties->ends[i / 2][i % 2], &fitted);
		other = hp_cpi_of_part(analysis, &fitted);
		hp_cpi_widen_members(&stack, HP_CPI_OF_DATA, &other);
	}
	return stack;
}
