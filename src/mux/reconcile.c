/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adjusts estimates so that invariants hold. Equalities are applied one after another, each as a
 * conditioning on one linear form (the result is the same as for all at once); then inequalities,
 * by Hildreth's method: the multiplier of each is raised until it is 0 or the inequality holds with
 * equality, in turns.
 */
#include "estimator.h"
#include "tuning.h"

#include <hpcprof/mux/reconcile.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* sum of coefficient[i] * x[event[i]] (= or <=) limit */
struct row {
	const struct hp_mux_term *terms;
	size_t term_count;
	double limit;
	double *gain;	 /* V row', of each event */
	double variance; /* row V row' */
	double multiplier;
	/* NULL: the row says that a count is at least what was counted */
	struct hp_mux_finding *finding;
};

void hp_mux_reconciliation_destroy(struct hp_mux_reconciliation *reconciliation)
{
	if (reconciliation->adjusted)
		hp_mux_estimates_destroy(reconciliation->adjusted);
	free(reconciliation->width_change);
	free(reconciliation->findings);
	free(reconciliation);
}

static struct hp_error *check_invariant(const struct hp_mux_estimates *raw,
					const struct hp_mux_invariant *invariant)
{
	for (size_t i = 0; i < invariant->term_count; i++) {
		const struct hp_mux_term *term = &invariant->terms[i];

		if (term->event >= raw->count || !isfinite(term->coefficient))
			return hp_error_create(HP_ERROR_USAGE,
					       "%s: a term of event %" PRIu32 " of %zu",
					       invariant->text, term->event, raw->count);
		for (size_t j = 0; j < i; j++) {
			if (invariant->terms[j].event == term->event)
				return hp_error_create(HP_ERROR_USAGE,
						       "%s: event %" PRIu32 " twice",
						       invariant->text, term->event);
		}
	}
	return NULL;
}

static bool has_interval(const struct hp_mux_estimates *estimates, size_t event)
{
	return estimates->events[event].verdict <= HP_MUX_ESTIMATED;
}

static double excess_of(const struct row *row, const struct hp_mux_estimates *estimates)
{
	double sum = -row->limit;

	for (size_t i = 0; i < row->term_count; i++)
		sum += row->terms[i].coefficient * estimates->events[row->terms[i].event].count;
	return sum;
}

/* The size of the terms, to decide whether something is negligible beside them. */
static double size_of(const struct row *row, const struct hp_mux_estimates *estimates)
{
	double sum = fabs(row->limit);

	for (size_t i = 0; i < row->term_count; i++)
		sum += fabs(row->terms[i].coefficient *
			    estimates->events[row->terms[i].event].count);
	return sum;
}

/* Sets the gain V row' and the variance row V row', which is 0 if it is only rounding. */
static void prepare(struct row *row, const struct hp_mux_estimates *estimates, double *gain)
{
	double parts = 0;

	row->gain = gain;
	row->variance = 0;
	for (size_t i = 0; i < estimates->count; i++) {
		gain[i] = 0;
		for (size_t j = 0; j < row->term_count; j++)
			gain[i] += row->terms[j].coefficient *
				   hp_mux_covariance(estimates, i, row->terms[j].event);
	}
	for (size_t i = 0; i < row->term_count; i++) {
		const struct hp_mux_term *term = &row->terms[i];

		row->variance += term->coefficient * gain[term->event];
		parts += term->coefficient * term->coefficient *
			 hp_mux_covariance(estimates, term->event, term->event);
	}
	if (row->variance <= rounding_variance * parts)
		row->variance = 0;
}

/* The excess of the raw counts in standard errors. Exact counts are integers, and may differ by
 * what happened during rotations. */
static double z_of(double excess, double variance, double size)
{
	if (variance > 0)
		return excess / sqrt(variance);
	return fabs(excess) <= rounding_variance * size ? 0 : copysign(INFINITY, excess);
}

static void judge(const struct hp_mux_invariant *invariant, const struct hp_mux_estimates *raw,
		  double *gain, struct hp_mux_finding *finding)
{
	struct row row = { .terms = invariant->terms, .term_count = invariant->term_count };

	*finding = (struct hp_mux_finding){ HP_MUX_SATISFIED, 0, 0 };
	for (size_t i = 0; i < row.term_count; i++) {
		if (!has_interval(raw, row.terms[i].event)) {
			finding->kind = HP_MUX_UNDECIDED;
			return;
		}
	}
	prepare(&row, raw, gain);
	finding->excess = excess_of(&row, raw);
	finding->z = z_of(finding->excess, row.variance, size_of(&row, raw));
	if (invariant->relation == HP_MUX_AT_MOST && finding->z < 0)
		return;
	if (fabs(finding->z) >= HP_MUX_CONTRADICTED)
		finding->kind = HP_MUX_VIOLATED;
	else if (fabs(finding->excess) > inequality_tolerance * size_of(&row, raw))
		finding->kind = HP_MUX_BINDING;
}

/* Conditions x and V on the row's equality. False: it contradicts earlier rows. */
static bool condition(struct row *row, struct hp_mux_estimates *now, double *gain)
{
	double excess = excess_of(row, now);

	prepare(row, now, gain);
	if (row->variance <= 0)
		return fabs(excess) <= inequality_tolerance * size_of(row, now);
	for (size_t i = 0; i < now->count; i++) {
		now->events[i].count -= gain[i] * excess / row->variance;
		for (size_t j = 0; j < now->count; j++)
			now->covariance[i * now->count + j] -= gain[i] * gain[j] / row->variance;
	}
	return true;
}

/* Hildreth's method, in the metric of what equalities have left of V. */
static void restrain(struct row *rows, size_t row_count, struct hp_mux_estimates *now)
{
	bool moved = true;

	for (int sweep = 0; sweep < MOST_SWEEPS && moved; sweep++) {
		moved = false;
		for (size_t i = 0; i < row_count; i++) {
			struct row *row = &rows[i];
			double excess = excess_of(row, now), step;

			if (row->variance <= 0)
				continue;
			step = fmax(excess / row->variance, -row->multiplier);
			if (fabs(step) * row->variance <= inequality_tolerance * size_of(row, now))
				continue;
			row->multiplier += step;
			for (size_t j = 0; j < now->count; j++)
				now->events[j].count -= step * row->gain[j];
			moved = true;
		}
	}
}

static struct hp_error *keep_inequalities(const struct hp_mux_invariant *invariants, size_t count,
					  struct hp_mux_reconciliation *made)
{
	struct hp_mux_estimates *now = made->adjusted;
	_cleanup_free_ struct row *rows = calloc(count + now->count, sizeof(*rows));
	_cleanup_free_ struct hp_mux_term *floors = calloc(now->count, sizeof(*floors));
	_cleanup_free_ double *gains = NULL;
	size_t row_count = 0;

	if (!rows || !floors)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		enum hp_mux_finding_kind kind = made->findings[i].kind;

		if (invariants[i].relation == HP_MUX_AT_MOST && kind <= HP_MUX_BINDING)
			rows[row_count++] = (struct row){ .terms = invariants[i].terms,
							  .term_count = invariants[i].term_count,
							  .finding = &made->findings[i] };
	}
	for (size_t i = 0; i < now->count; i++) {
		floors[i] = (struct hp_mux_term){ (uint32_t)i, -1 };
		if (now->events[i].verdict == HP_MUX_ESTIMATED)
			rows[row_count++] = (struct row){ .terms = &floors[i],
							  .term_count = 1,
							  .limit = -(double)now->events[i].raw };
	}
	gains = calloc(row_count * now->count + 1, sizeof(*gains));
	if (!gains)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < row_count; i++)
		prepare(&rows[i], now, gains + i * now->count);
	restrain(rows, row_count, now);
	for (size_t i = 0; i < row_count; i++) {
		if (rows[i].finding)
			rows[i].finding->kind = rows[i].multiplier > 0 ? HP_MUX_BINDING
								       : HP_MUX_SATISFIED;
	}
	return NULL;
}

/* Events without an interval are left out: their rows and columns are empty. */
static struct hp_mux_estimates *copy_of(const struct hp_mux_estimates *raw)
{
	struct hp_mux_estimates *copy = hp_mux_estimates_blank(raw->count);
	struct hp_mux_estimate *events;
	double *covariance;
	uint32_t *groups;

	if (!copy)
		return NULL;
	events = copy->events;
	covariance = copy->covariance;
	groups = copy->groups;
	*copy = *raw;
	copy->events = events;
	copy->covariance = covariance;
	copy->groups = groups;
	memcpy(events, raw->events, raw->count * sizeof(*events));
	memcpy(groups, raw->groups, raw->count * sizeof(*groups));
	for (size_t i = 0; i < raw->count; i++) {
		for (size_t j = 0; j < raw->count; j++) {
			if (has_interval(raw, i) && has_interval(raw, j))
				covariance[i * raw->count + j] = hp_mux_covariance(raw, i, j);
		}
	}
	return copy;
}

static void finish(const struct hp_mux_estimates *raw, struct hp_mux_reconciliation *made)
{
	struct hp_mux_estimates *now = made->adjusted;

	for (size_t i = 0; i < raw->count; i++) {
		double before = hp_mux_covariance(raw, i, i), after;

		made->width_change[i] = 1;
		if (raw->events[i].verdict != HP_MUX_ESTIMATED)
			continue;
		after = fmin(fmax(hp_mux_covariance(now, i, i), 0), before);
		now->covariance[i * raw->count + i] = after;
		if (before > 0)
			made->width_change[i] = sqrt(after / before);
		hp_mux_estimate_bound(&now->events[i], after);
	}
}

struct hp_error *hp_mux_reconcile(const struct hp_mux_estimates *raw,
				  const struct hp_mux_invariant *invariants, size_t invariant_count,
				  struct hp_mux_reconciliation **created)
{
	_cleanup_(hp_mux_reconciliation_destroy_scope) struct hp_mux_reconciliation *made =
		calloc(1, sizeof(*made));
	_cleanup_free_ double *gain = calloc(raw->count + 1, sizeof(*gain));
	struct hp_error *error;

	if (!made || !gain)
		return hp_error_create_no_memory();
	made->adjusted = copy_of(raw);
	made->width_change = calloc(raw->count + 1, sizeof(*made->width_change));
	made->findings = calloc(invariant_count + 1, sizeof(*made->findings));
	made->finding_count = invariant_count;
	if (!made->adjusted || !made->width_change || !made->findings)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < invariant_count; i++) {
		error = check_invariant(raw, &invariants[i]);
		if (error)
			return error;
		judge(&invariants[i], raw, gain, &made->findings[i]);
	}
	for (size_t i = 0; i < invariant_count; i++) {
		struct row row = { .terms = invariants[i].terms,
				   .term_count = invariants[i].term_count };

		if (invariants[i].relation == HP_MUX_EQUAL &&
		    made->findings[i].kind <= HP_MUX_BINDING &&
		    !condition(&row, made->adjusted, gain))
			made->findings[i].kind = HP_MUX_VIOLATED;
	}
	error = keep_inequalities(invariants, invariant_count, made);
	if (error)
		return error;
	finish(raw, made);
	*created = hp_steal(made);
	return NULL;
}
