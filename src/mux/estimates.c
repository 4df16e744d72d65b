/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes estimates with intervals from the sums that estimator.c keeps. Also has the functions that
 * need only estimates.
 */
#include "estimator.h"
#include "tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[HP_MUX_METHOD_COUNT] = {
	[HP_MUX_SCALE] = "scale",
	[HP_MUX_INTERPOLATE] = "interpolate",
	[HP_MUX_TRAPEZOID] = "trapezoid",
	[HP_MUX_BEST] = "best",
};

const char *hp_mux_method_name(enum hp_mux_method method)
{
	return method_names[method];
}

bool hp_mux_method_parse(const char *name, enum hp_mux_method *method)
{
	for (int i = 0; i < HP_MUX_METHOD_COUNT; i++) {
		if (strcmp(name, method_names[i]) == 0) {
			*method = (enum hp_mux_method)i;
			return true;
		}
	}
	return false;
}

const char *hp_mux_verdict_name(enum hp_mux_verdict verdict)
{
	static const char *const names[] = {
		[HP_MUX_EXACT] = "exact",
		[HP_MUX_ESTIMATED] = "estimated",
		[HP_MUX_INSUFFICIENT] = "insufficient",
		[HP_MUX_NOT_COUNTED] = "not counted",
	};

	return names[verdict];
}

/* Cornish and Fisher's expansion in 1 / freedom. It is within 0.5 % from 3 degrees of freedom on;
 * for 1 and 2 exact formulas are used. */
double hp_mux_quantile(double freedom)
{
	const double z = 1.959963984540054, z2 = z * z;
	double f = freedom;

	if (isinf(f))
		return z;
	if (f < 1.5)
		return 12.706204736;
	if (f < 2.5)
		return 4.302652730;
	return z *
	       (1 + (z2 + 1) / (4 * f) + ((5 * z2 + 16) * z2 + 3) / (96 * f * f) +
		(((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * f * f * f) +
		((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * f * f * f * f));
}

double hp_mux_covariance(const struct hp_mux_estimates *estimates, size_t a, size_t b)
{
	return estimates->covariance[a * estimates->count + b];
}

void hp_mux_estimates_destroy(struct hp_mux_estimates *estimates)
{
	free(estimates->events);
	free(estimates->covariance);
	free(estimates->groups);
	free(estimates);
}

struct hp_mux_estimates *hp_mux_estimates_blank(size_t count)
{
	_cleanup_(hp_mux_estimates_destroy_scope) struct hp_mux_estimates *made =
		calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	made->count = count;
	made->events = calloc(count, sizeof(*made->events));
	made->covariance = calloc(count * count, sizeof(*made->covariance));
	made->groups = calloc(count, sizeof(*made->groups));
	if (!made->events || !made->covariance || !made->groups)
		return NULL;
	return hp_steal(made);
}

void hp_mux_estimate_bound(struct hp_mux_estimate *event, double variance)
{
	double half = fmax(hp_mux_quantile(event->freedom) * sqrt(variance), 1);
	double factor;

	event->low = event->high = NAN;
	if (event->verdict == HP_MUX_EXACT) {
		event->low = event->high = event->count;
		return;
	}
	if (event->verdict != HP_MUX_ESTIMATED)
		return;
	if (half > useless_width * event->count) {
		event->verdict = HP_MUX_INSUFFICIENT;
		return;
	}
	factor = exp(half / event->count);
	event->low = fmax(event->count / factor, (double)event->raw);
	event->high = fmax(event->count * factor, event->low);
}

/* The end of the run for a group, or for the events always counted: what follows the last
 * observation. */
struct ending {
	bool follows_rates; /* see the plan's field of this name */
	const struct tally *tally;
	const struct track *tracks[MEASURES];
	double length[MEASURES];		/* of the run */
	double right[MEASURES];			/* after the last observation */
	double geometry[MEASURES][SHAPE_COUNT]; /* of the cell that is closed by the end */
	double known[KNOWN_MAX];		/* totals */
	double known_variance[KNOWN_MAX];
};

static struct ending ending_of(const struct hp_mux_estimator *estimator, uint32_t number,
			       const struct gap *gap)
{
	struct ending ending = { .tally = &estimator->tallies[number],
				 .follows_rates = estimator->plan.follows_rates };

	for (int m = 0; m < MEASURES; m++) {
		const struct line *line = &estimator->lines[m];
		const struct track *track = &line->tracks[number];
		const struct observation *newest;
		double counted;

		ending.tracks[m] = track;
		ending.length[m] = line->position + gap->length[m];
		if (track->seen == 0)
			continue;
		newest = hp_mux_newest(track);
		counted = newest->end - newest->begin;
		ending.right[m] = fmax(ending.length[m] - fmax(newest->end, 0) - track->carried, 0);
		hp_mux_shape_cell(track->distance > 0 ? track->distance : counted, track->open.left,
				  counted, ending.right[m], ending.geometry[m]);
	}
	return ending;
}

/* An event's estimate by one method, and what intervals are made of. */
struct result {
	int measure;
	double count, variance;
};

static double total_of(const struct ending *ending, int measure, const struct variable *variable)
{
	const struct track *track = ending->tracks[measure];
	double rate = track->seen > 0 ? variable->rates[(track->seen - 1) % FIT_REACH] : 0;

	return variable->trapezoid + variable->carried + rate * ending->right[measure];
}

/* Adds what the cell closed by the end contributes to the products of two variables. `step`: the
 * product of their steps. It belongs to the half of the newest step. */
static void close_products(const struct ending *ending, int measure, int half, double step,
			   struct products *products)
{
	const struct track *track = ending->tracks[measure];
	const struct steps steps = {
		.before_expected = track->open.has_before ? track->open.step_before : NULL,
		.before = step,
	};
	double open[SHAPE_COUNT];

	if (half != hp_mux_half(track))
		return;
	hp_mux_cell_variance(&steps, ending->geometry[measure], open);
	for (int i = 0; i < SHAPE_COUNT; i++)
		products->variance[i] += open[i];
}

static void add_scaled(struct products *to, const struct products *from, double factor)
{
	for (int i = 0; i < SHAPE_COUNT; i++)
		to->variance[i] += factor * from->variance[i];
	for (int i = 0; i < FIT_LAGS; i++)
		to->lags[i] += factor * from->lags[i];
}

/* Adds to `rest` the residuals of an event in half of the steps, after subtracting `slope` times
 * the first `count` known variables: (e - sum b x)^2, expanded. */
static void add_rest(const struct ending *ending, int measure, const struct variable *event,
		     int number, size_t count, const double slope[KNOWN_MAX], struct products *rest)
{
	const struct track *track = ending->tracks[measure];
	const struct half *half = &event->halves[number];
	double step = event->step;

	add_scaled(rest, &half->own, 1);
	for (size_t i = 0; i < count; i++) {
		const struct variable *known = &track->known[i];

		step -= slope[i] * known->step;
		add_scaled(rest, &half->with[i], -2 * slope[i]);
		for (size_t j = 0; j < count; j++)
			add_scaled(rest, &known->halves[number].with[j], slope[i] * slope[j]);
	}
	close_products(ending, measure, number, step * step, rest);
}

/* Linear scaling. */
static double scaled(const struct ending *ending, const struct variable *variable)
{
	return variable->counted * (ending->length[BY_TIME] / ending->tracks[BY_TIME]->observed);
}

/* The error variance of an event after correction by the first `count` known variables, in which
 * each half of the steps uses the coefficients of the other half. */
static double variance_of(const struct ending *ending, int measure, const struct variable *event,
			  size_t count)
{
	const struct track *track = ending->tracks[measure];
	struct products rest = { .steps = 0 };
	double variance = 0;
	struct fit fit;

	for (int i = 0; i < HALVES; i++) {
		double slope[KNOWN_MAX];

		hp_mux_regress(track, event, count, HALVES - 1 - i, slope);
		add_rest(ending, measure, event, i, count, slope, &rest);
	}
	fit = ending->follows_rates ? hp_mux_fit_without_memory()
				    : hp_mux_fit(&track->pairs, rest.lags);
	for (int i = 0; i < SHAPE_COUNT; i++) {
		double geometry = track->geometry[i] + ending->geometry[measure][i];
		double expected = track->pairs.expected[0][i];
		double average = expected > 0 ? geometry * rest.lags[0] / expected : 0;

		variance += fit.part[i] * fmax(fmax(rest.variance[i], average), 0);
	}
	return variance;
}

static struct result read_trapezoid(const struct hp_mux_estimator *estimator,
				    const struct ending *ending, uint32_t number, int measure)
{
	const struct variable *event = &estimator->lines[measure].events[number];

	return (struct result){ measure, total_of(ending, measure, event),
				variance_of(ending, measure, event, 0) };
}

/* The correction: the errors of the track's own estimates of the first `count` known variables,
 * times the event's coefficients from one half of the steps (HALVES: from all). */
static double correction_of(const struct ending *ending, const struct variable *event, size_t count,
			    int half)
{
	const struct track *track = ending->tracks[BY_TIME];
	double slope[KNOWN_MAX], sum = 0;

	hp_mux_regress(track, event, count, half, slope);
	for (size_t i = 0; i < count; i++)
		sum += slope[i] * (ending->known[i] - total_of(ending, BY_TIME, &track->known[i]));
	return sum;
}

/*
 * For noise without memory, equal weights of all slices (scaling) are best; for anything with
 * memory, weights by gaps (trapezoid) are. If there were only noise, the two would differ by no
 * more than their variances do, so they are mixed by how far that is the case (Hausman's test, as a
 * weight).
 */
static void even_out(const struct ending *ending, const struct variable *event, size_t used,
		     const double slope[KNOWN_MAX], struct result *result)
{
	const struct track *track = ending->tracks[BY_TIME];
	double length = ending->length[BY_TIME], unseen = length - track->observed;
	double even = scaled(ending, event), apart, gain, part;

	if (track->observed <= 0 || unseen <= 0 || ending->follows_rates)
		return;
	for (size_t i = 0; i < used; i++)
		even += slope[i] * (ending->known[i] - scaled(ending, &track->known[i]));
	gain = 1 - unseen * (length / track->observed) /
			   (track->geometry[SHAPE_WHITE] + ending->geometry[BY_TIME][SHAPE_WHITE]);
	apart = (even - result->count) * (even - result->count);
	if (gain <= 0 || apart <= 0)
		return;
	part = fmin(gain * result->variance / apart, 1);
	result->count += part * (even - result->count);
	result->variance *= 1 - part * gain;
}

/*
 * In a time series, earlier intervals tell what to expect: the mean rate, and how far rates that
 * last from one observation to the next deviate from it. An estimate that is less certain than that
 * is drawn toward it: after few slices, the best guess for a burst is not that there was none.
 */
static void recall(const struct ending *ending, const struct variable *event, struct result *result)
{
	const struct track *track = ending->tracks[BY_TIME];
	double n = (double)track->seen, length = ending->length[BY_TIME];
	double steps = event->halves[0].own.lags[0] + event->halves[1].own.lags[0];
	double mean = event->rate_sum / n, lasting;

	if (track->seen < PAST_NEEDED || result->variance <= 0 || track->pairs.count[0] <= 0)
		return;
	lasting = event->rate_squares / n - mean * mean - steps / track->pairs.count[0] / 2;
	lasting = fmax(lasting, 0) * length * length;
	result->count += recalled_part * result->variance /
			 (recalled_part * result->variance + lasting) *
			 (mean * length - result->count);
}

/* The variance that is left after correction by the first `count` known variables. It includes how
 * far the two halves disagree on the correction, which is far if known variables and the event
 * happened together in one half only. */
static double corrected_variance(const struct ending *ending, const struct variable *event,
				 size_t count)
{
	double variance = variance_of(ending, BY_TIME, event, count);
	double doubt =
		correction_of(ending, event, count, 0) - correction_of(ending, event, count, 1);
	double slope[KNOWN_MAX];

	hp_mux_regress(ending->tracks[BY_TIME], event, count, HALVES, slope);
	for (size_t i = 0; i < count; i++)
		variance += slope[i] * slope[i] * ending->known_variance[i];
	return variance + doubt * doubt / 2;
}

/* Corrects by the number of known variables that leaves the smallest variance, possibly by none. */
static struct result read_best(const struct hp_mux_estimator *estimator,
			       const struct ending *ending, uint32_t number)
{
	const struct variable *event = &estimator->lines[BY_TIME].events[number];
	const struct track *track = ending->tracks[BY_TIME];
	struct result result = read_trapezoid(estimator, ending, number, BY_TIME);
	double slope[KNOWN_MAX];
	size_t used = 0;

	for (size_t count = 1; count <= track->known_count; count++) {
		double variance = corrected_variance(ending, event, count);

		if (variance < worth_knowing * result.variance) {
			result.variance = variance;
			used = count;
		}
	}
	hp_mux_regress(track, event, used, HALVES, slope);
	result.count += correction_of(ending, event, used, HALVES);
	even_out(ending, event, used, slope, &result);
	if (estimator->has_past)
		recall(ending, event, &result);
	result.count = fmax(result.count, (double)estimator->events[number].raw);
	return result;
}

/* The simpler methods differ from the trapezoid by a known amount, all of which may be an error. */
static struct result read_simpler(const struct hp_mux_estimator *estimator,
				  const struct ending *ending, uint32_t number,
				  enum hp_mux_method method)
{
	const struct variable *event = &estimator->lines[BY_TIME].events[number];
	const struct track *track = ending->tracks[BY_TIME];
	double rate = track->seen > 0 ? event->rates[(track->seen - 1) % FIT_REACH] : 0;
	struct result result = read_trapezoid(estimator, ending, number, BY_TIME);
	double trapezoid = result.count, apart;

	if (method == HP_MUX_INTERPOLATE)
		result.count = event->interpolated + event->carried + rate * ending->right[BY_TIME];
	else if (track->observed > 0)
		result.count = scaled(ending, event);
	apart = result.count - trapezoid;
	result.variance += apart * apart;
	return result;
}

static struct result read_event(const struct hp_mux_estimator *estimator,
				const struct ending *ending, uint32_t number,
				enum hp_mux_method method)
{
	bool always = ending->tally == &estimator->tallies[estimator->plan.group_count];

	if (method == HP_MUX_SCALE || method == HP_MUX_INTERPOLATE)
		return read_simpler(estimator, ending, number, method);
	/* An event that is always counted misses only rotations, of which nothing but the time is
	 * known. */
	if (always)
		return read_trapezoid(estimator, ending, number, BY_TIME);
	if (method == HP_MUX_TRAPEZOID)
		return read_trapezoid(estimator, ending, number, BY_REFERENCE);
	return read_best(estimator, ending, number);
}

/* The effective number of slices behind a count: all of them if it is even, one if everything
 * happened in one. */
static double slices_behind(const struct tally_event *event)
{
	return event->squares > 0 ? (double)event->raw * (double)event->raw / event->squares : 0;
}

/* The variance is so small that its uncertainty does not matter: even with the widest quantile the
 * interval is within this share. Such are clocks, and events at a constant rate. */
static bool is_steady(const struct hp_mux_estimate *event, double variance)
{
	return hp_mux_quantile(1) * sqrt(variance) < steady_width * event->count;
}

/* Satterthwaite's degrees of freedom, where the variance of a sum comes from its terms and their
 * neighbours (Newey and West, one lag): 2 n / 3 for n differences of normal noise, twice their
 * number for equal bursts. */
static double freedom_of(const struct spread *spread)
{
	double square = spread->sum * spread->sum, variance;

	if (square <= 0)
		return 0;
	variance = spread->squares + 2 * spread->neighbours - 3 * square / spread->count;
	return 2 * square / fmax(variance, 3 * square / spread->count);
}

/* Estimates one event, and returns its variance. */
static double estimate(const struct hp_mux_estimator *estimator, const struct ending *ending,
		       uint32_t number, enum hp_mux_method method, struct hp_mux_estimate *made)
{
	const struct tally *tally = ending->tally;
	const struct variable *event;
	struct result result;
	double unseen = ending->length[BY_TIME] - ending->tracks[BY_TIME]->observed;

	if (ending->tracks[BY_TIME]->seen == 0 && tally->running_ns <= 0) {
		*made = (struct hp_mux_estimate){ NAN, NAN, NAN, 0, 0, 0, 0, HP_MUX_NOT_COUNTED };
		return 0;
	}
	made->raw = estimator->events[number].raw;
	made->slices = tally->slices;
	made->running = fmin(tally->running_ns / ending->length[BY_TIME], 1);
	made->freedom = INFINITY;
	made->verdict = HP_MUX_EXACT;
	if (unseen <= 1e-9 * ending->length[BY_TIME]) {
		made->count = (double)made->raw;
		hp_mux_estimate_bound(made, 0);
		return 0;
	}
	result = read_event(estimator, ending, number, method);
	event = &estimator->lines[result.measure].events[number];
	made->count = result.count;
	made->freedom = freedom_of(&event->spread);
	made->verdict = HP_MUX_ESTIMATED;
	if ((made->freedom < freedom_needed && !is_steady(made, result.variance)) ||
	    slices_behind(&estimator->events[number]) < slices_needed)
		made->verdict = HP_MUX_INSUFFICIENT;
	hp_mux_estimate_bound(made, result.variance);
	return result.variance;
}

/* The totals of what each slice counts: the reference event's length, and the first events of the
 * plan. */
static void know(const struct hp_mux_estimator *estimator, const struct ending *always,
		 struct ending *ending)
{
	ending->known[0] = always->length[BY_REFERENCE];
	for (uint32_t i = 0; i + 1 < KNOWN_MAX && i < always->tally->event_count; i++) {
		const struct variable *event =
			&estimator->lines[BY_TIME].events[always->tally->first_event + i];

		ending->known[i + 1] = total_of(always, BY_TIME, event);
		ending->known_variance[i + 1] = variance_of(always, BY_TIME, event, 0);
	}
}

/* Errors of events of one track are correlated as their steps are. */
static void fill_covariance(const struct ending *ending, struct hp_mux_estimates *made)
{
	const double *cross = ending->tracks[BY_TIME]->cross;
	size_t n = ending->tally->event_count;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			size_t a = ending->tally->first_event + i;
			size_t b = ending->tally->first_event + j;
			double norm = cross[i * n + i] * cross[j * n + j];
			double product =
				hp_mux_covariance(made, a, a) * hp_mux_covariance(made, b, b);
			double both = norm > 0 ? cross[i * n + j] * sqrt(product / norm) : 0;

			made->covariance[a * made->count + b] = both;
			made->covariance[b * made->count + a] = both;
		}
	}
}

struct hp_error *hp_mux_estimates_create(const struct hp_mux_estimator *estimator,
					 enum hp_mux_method method, uint64_t end_ns,
					 struct hp_mux_estimates **created)
{
	_cleanup_(hp_mux_estimates_destroy_scope) struct hp_mux_estimates *made =
		hp_mux_estimates_blank(hp_mux_plan_events(&estimator->plan));
	struct ending always;
	uint64_t after_ns = end_ns > estimator->now_ns ? end_ns - estimator->now_ns : 0;
	struct gap gap = hp_mux_gap_of(estimator, after_ns);

	if (!made)
		return hp_error_create_no_memory();
	made->group_count = estimator->plan.group_count;
	made->elapsed_ns = estimator->now_ns - estimator->begin_ns + after_ns;
	if (made->elapsed_ns > 0)
		made->between =
			(estimator->between_ns + (double)after_ns) / (double)made->elapsed_ns;
	always = ending_of(estimator, estimator->plan.group_count, &gap);
	for (uint32_t i = 0; i <= estimator->plan.group_count; i++) {
		struct ending ending = ending_of(estimator, i, &gap);

		know(estimator, &always, &ending);
		for (uint32_t j = 0; j < ending.tally->event_count; j++) {
			uint32_t number = ending.tally->first_event + j;

			made->groups[number] = i;
			made->covariance[number * made->count + number] =
				estimate(estimator, &ending, number, method, &made->events[number]);
		}
		fill_covariance(&ending, made);
	}
	*created = hp_steal(made);
	return NULL;
}
