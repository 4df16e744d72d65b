/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds slices to the sums. The formulas are in estimate.h, those of the variance in shape.h. */
#include "estimator.h"
#include "tuning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool make_lines(struct hp_mux_estimator *estimator)
{
	const struct hp_mux_plan *plan = &estimator->plan;
	size_t known = 1 + (size_t)plan->always_count;

	if (known > KNOWN_MAX)
		known = KNOWN_MAX;
	for (int m = 0; m < MEASURES; m++) {
		struct line *line = &estimator->lines[m];

		line->tracks = calloc(plan->group_count + 1, sizeof(*line->tracks));
		line->events = calloc(hp_mux_plan_events(plan), sizeof(*line->events));
		if (!line->tracks || !line->events)
			return false;
		for (uint32_t i = 0; i <= plan->group_count; i++) {
			size_t count = estimator->tallies[i].event_count;

			/* For events that are always counted, no known variable is more precise. */
			if (m == BY_TIME && i < plan->group_count)
				line->tracks[i].known_count = known;
			line->tracks[i].cross = calloc(count * count + 1, sizeof(double));
			if (!line->tracks[i].cross)
				return false;
		}
	}
	return true;
}

struct hp_error *hp_mux_estimator_create(const struct hp_mux_plan *plan, uint64_t begin_ns,
					 struct hp_mux_estimator **created)
{
	_cleanup_(hp_mux_estimator_destroy_scope) struct hp_mux_estimator *estimator = NULL;
	struct hp_error *error = hp_mux_plan_check(plan);

	if (error)
		return error;
	estimator = calloc(1, sizeof(*estimator));
	if (!estimator)
		return hp_error_create_no_memory();
	estimator->groups = calloc(plan->group_count, sizeof(*estimator->groups));
	estimator->tallies = calloc(plan->group_count + 1, sizeof(*estimator->tallies));
	estimator->events = calloc(hp_mux_plan_events(plan), sizeof(*estimator->events));
	if (!estimator->groups || !estimator->tallies || !estimator->events)
		return hp_error_create_no_memory();
	memcpy(estimator->groups, plan->groups, plan->group_count * sizeof(*estimator->groups));
	estimator->plan = *plan;
	estimator->plan.groups = estimator->groups;
	estimator->begin_ns = estimator->now_ns = begin_ns;
	for (uint32_t i = 0; i <= plan->group_count; i++) {
		struct tally *tally = &estimator->tallies[i];

		tally->first_event = hp_mux_plan_first(plan, i);
		tally->event_count = i < plan->group_count ? plan->groups[i].event_count
							   : plan->always_count;
	}
	if (!make_lines(estimator))
		return hp_error_create_no_memory();
	*created = hp_steal(estimator);
	return NULL;
}

void hp_mux_estimator_destroy(struct hp_mux_estimator *estimator)
{
	for (int m = 0; m < MEASURES; m++) {
		struct line *line = &estimator->lines[m];

		for (uint32_t i = 0; line->tracks && i <= estimator->plan.group_count; i++)
			free(line->tracks[i].cross);
		free(line->tracks);
		free(line->events);
	}
	free(estimator->tallies);
	free(estimator->events);
	free(estimator->groups);
	free(estimator);
}

struct gap hp_mux_gap_of(const struct hp_mux_estimator *estimator, uint64_t ns)
{
	double enabled = (double)ns * estimator->enabled_per_ns;

	struct gap gap;

	for (int m = 0; m < MEASURES; m++)
		gap.length[m] = enabled * estimator->lines[m].per_enabled;
	return gap;
}

void hp_mux_cell_variance(const struct steps *steps, const double geometry[SHAPE_COUNT],
			  double variance[SHAPE_COUNT])
{
	double known = (steps->before_expected ? 1 : 0) + (steps->after_expected ? 1 : 0);

	for (int i = 0; i < SHAPE_COUNT; i++) {
		double scale = 0;

		if (steps->before_expected)
			scale += steps->before / steps->before_expected[i];
		if (steps->after_expected)
			scale += steps->after / steps->after_expected[i];
		variance[i] = known > 0 ? geometry[i] * scale / known : 0;
	}
}

/* One track, and the observation that is being added to it. */
struct addition {
	struct track *track;
	struct variable *events; /* of the track, without known variables */
	uint32_t event_count;
	struct observation new;
	const double *rates; /* of the events */
	double known_rates[KNOWN_MAX];
};

static size_t newest_slot(const struct track *track)
{
	return (track->seen - 1) % FIT_REACH;
}

static uint32_t variable_count(const struct addition *add)
{
	return add->event_count + (uint32_t)add->track->known_count;
}

/* Index 0 on: the events; after these, the known variables. */
static struct variable *variable_of(const struct addition *add, uint32_t i)
{
	return i < add->event_count ? &add->events[i] : &add->track->known[i - add->event_count];
}

static double rate_of(const struct addition *add, uint32_t i)
{
	return i < add->event_count ? add->rates[i] : add->known_rates[i - add->event_count];
}

/* A cell that is being closed: its shape, and the steps on its two sides. */
struct closing {
	double geometry[SHAPE_COUNT];
	const double *before_expected, *after_expected;
	double weight;
	double known_before[KNOWN_MAX], known_after[KNOWN_MAX];
};

static void add_products(const struct closing *closing, double before, double after,
			 struct products *products)
{
	const struct steps steps = { closing->before_expected, closing->after_expected, before,
				     after };
	double variance[SHAPE_COUNT];

	hp_mux_cell_variance(&steps, closing->geometry, variance);
	for (int s = 0; s < SHAPE_COUNT; s++)
		products->variance[s] += variance[s];
	products->steps += closing->weight * after;
}

/* Adds the residual of an event's step after subtracting those of known variables, with the
 * coefficients of the run so far. */
static void add_rest(const struct addition *add, const struct closing *closing,
		     struct variable *event)
{
	struct spread *spread = &event->spread;
	double slope[KNOWN_MAX], term;

	hp_mux_regress(add->track, event, add->track->known_count, HALVES, slope);
	event->rest = event->step;
	for (size_t k = 0; k < add->track->known_count; k++)
		event->rest -= slope[k] * closing->known_after[k];
	term = closing->weight * event->rest * event->rest;
	spread->count++;
	spread->sum += term;
	spread->squares += term * term;
	spread->neighbours += term * spread->last;
	spread->last = term;
}

static void add_cross(const struct addition *add, double weight)
{
	uint32_t count = add->event_count;

	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j <= i; j++)
			add->track->cross[i * count + j] +=
				weight * add->events[i].rest * add->events[j].rest;
	}
}

/* Closes the open cell, now that the gap on its right and the difference to the next observation
 * are known. */
static void close_cell(const struct addition *add, double right, const double *after_expected)
{
	struct track *track = add->track;
	const struct observation *newest = hp_mux_newest(track);
	double counted = newest->end - newest->begin;
	/* Of an observation before the interval, only the gap belongs to the interval. */
	double length = newest->begin < 0 ? right : track->open.left + counted + right;
	int half = hp_mux_half(track);
	struct closing closing = {
		.before_expected = track->open.has_before ? track->open.step_before : NULL,
		.after_expected = after_expected,
		.weight = length * length,
	};

	hp_mux_shape_cell(track->distance, track->open.left, counted, right, closing.geometry);
	for (int i = 0; i < SHAPE_COUNT; i++)
		track->geometry[i] += closing.geometry[i];
	for (size_t k = 0; k < track->known_count; k++) {
		closing.known_before[k] = track->known[k].step;
		closing.known_after[k] =
			add->known_rates[k] - track->known[k].rates[newest_slot(track)];
	}
	for (uint32_t i = 0; i < variable_count(add); i++) {
		struct variable *variable = variable_of(add, i);
		double before = variable->step;
		double after = rate_of(add, i) - variable->rates[newest_slot(track)];

		add_products(&closing, before * before, after * after, &variable->halves[half].own);
		for (size_t k = 0; k < track->known_count; k++)
			add_products(&closing, before * closing.known_before[k],
				     after * closing.known_after[k],
				     &variable->halves[half].with[k]);
		variable->step = after;
	}
	for (uint32_t i = 0; i < add->event_count; i++)
		add_rest(add, &closing, &add->events[i]);
	add_cross(add, closing.weight);
}

/* Pairs the new observation with those 1, 2, 4 and 8 before it. */
static void add_pairs(const struct addition *add)
{
	struct track *track = add->track;
	double counted = add->new.end - add->new.begin;

	for (int lag = 0; lag < FIT_LAGS && fit_lag[lag] <= track->seen; lag++) {
		size_t slot = (track->seen - fit_lag[lag]) % FIT_REACH;
		const struct observation *old = &track->last[slot];
		double expected[SHAPE_COUNT];

		hp_mux_shape_difference(track->distance, old->end - old->begin,
					fmax(add->new.begin - old->end, 0), counted, expected);
		track->pairs.count[lag]++;
		for (int s = 0; s < SHAPE_COUNT; s++)
			track->pairs.expected[lag][s] += expected[s];
		for (uint32_t i = 0; i < variable_count(add); i++) {
			struct variable *variable = variable_of(add, i);
			struct half *half = &variable->halves[hp_mux_half(track)];
			double step = rate_of(add, i) - variable->rates[slot];

			half->own.lags[lag] += step * step;
			for (size_t k = 0; k < track->known_count; k++)
				half->with[k].lags[lag] +=
					step * (add->known_rates[k] - track->known[k].rates[slot]);
		}
	}
}

/* Divides the gap before a new observation, which begins at the last one or at the interval's
 * start. Each of the two gets a part in proportion to its length, so that a slice in which the
 * target hardly ran does not stand for much. Returns the new one's part. */
static double cross_gap(const struct addition *add)
{
	struct track *track = add->track;
	const struct observation *old = hp_mux_newest(track), *new = &add->new;
	double gap = fmax(new->begin - old->end, 0);
	double known = fmax(old->end, 0); /* start of the interval's part of the gap */
	double inside = fmax(new->begin - known, 0);
	double old_length = old->end - old->begin, new_length = new->end - new->begin;
	double share = old_length / (old_length + new_length);
	double right = fmax(old->end + gap * share - known, 0);
	double expected[SHAPE_COUNT];

	if (track->distance <= 0)
		track->distance = (new->begin + new->end - old->begin - old->end) / 2;
	hp_mux_shape_difference(track->distance, old_length, gap, new_length, expected);
	close_cell(add, right, expected);
	add_pairs(add);
	memcpy(track->open.step_before, expected, sizeof(expected));
	track->open.has_before = true;
	for (uint32_t i = 0; i < variable_count(add); i++) {
		struct variable *variable = variable_of(add, i);
		double rate = variable->rates[newest_slot(track)];

		variable->trapezoid += right * rate + (inside - right) * rate_of(add, i);
	}
	return inside - right;
}

/* Counts of a track in one slice, by one measure; `counted`: the length of the slice that was
 * counted. */
struct reading {
	const uint64_t *counts;
	const double *known; /* the known variables, counted in the same slice */
	double counted;
};

static bool is_short(const struct line *line, double length)
{
	return length <= 0 || length * line->slices < short_slice * line->counted;
}

/* Adds to what is carried: the slice is too short for an observation. */
static void carry(const struct addition *add, const struct reading *reading)
{
	struct track *track = add->track;

	track->carried += reading->counted;
	for (uint32_t i = 0; i < add->event_count; i++)
		add->events[i].carried += (double)reading->counts[i];
	for (size_t k = 0; k < track->known_count; k++)
		track->known[k].carried += reading->known[k];
}

static void count(const struct addition *add, const struct reading *reading)
{
	struct track *track = add->track;

	track->observed += reading->counted;
	for (uint32_t i = 0; i < add->event_count; i++)
		add->events[i].counted += (double)reading->counts[i];
	for (size_t k = 0; k < track->known_count; k++)
		track->known[k].counted += reading->known[k];
}

/* The rates of this slice, including what was carried to it. */
static void take_rates(struct addition *add, const struct reading *reading, double rates[])
{
	struct track *track = add->track;
	double length = track->carried + reading->counted;

	for (uint32_t i = 0; i < add->event_count; i++) {
		rates[i] = (add->events[i].carried + (double)reading->counts[i]) / length;
		add->events[i].carried = 0;
	}
	for (size_t k = 0; k < track->known_count; k++) {
		add->known_rates[k] = (track->known[k].carried + reading->known[k]) / length;
		track->known[k].carried = 0;
	}
	track->carried = 0;
}

/* Time of a slice in which nothing was counted is assumed to be at its end; what is carried to it,
 * directly before it. */
static void observe(struct line *line, const struct tally *tally, size_t number,
		    const struct reading *reading)
{
	double rates[HP_MUX_MAX_EVENTS], left, length, since;
	struct track *track = &line->tracks[number];
	struct addition add = {
		.track = track,
		.events = line->events + tally->first_event,
		.event_count = tally->event_count,
		.new = { line->position - track->carried, line->position + reading->counted },
		.rates = rates,
	};

	count(&add, reading);
	length = track->carried + reading->counted;
	if (is_short(line, length)) {
		carry(&add, reading);
		return;
	}
	left = fmax(add.new.begin, 0);
	since = track->seen > 0 ? fmax(hp_mux_newest(track)->end, 0) : 0;
	take_rates(&add, reading, rates);
	if (track->seen > 0)
		left = cross_gap(&add);
	for (uint32_t i = 0; i < variable_count(&add); i++) {
		struct variable *variable = variable_of(&add, i);
		double rate = rate_of(&add, i);

		if (track->seen == 0)
			variable->trapezoid += left * rate;
		variable->trapezoid += length * rate;
		variable->interpolated += (add.new.end - since) * rate;
		variable->rates[track->seen % FIT_REACH] = rate;
		variable->rate_sum += rate;
		variable->rate_squares += rate * rate;
	}
	track->open.left = left;
	track->last[track->seen % FIT_REACH] = add.new;
	track->seen++;
}

static void add_tally(struct hp_mux_estimator *estimator, struct tally *tally,
		      const struct hp_mux_slice *slice, const uint64_t *counts)
{
	for (uint32_t i = 0; i < tally->event_count; i++) {
		struct tally_event *event = &estimator->events[tally->first_event + i];

		event->raw += counts[i];
		event->squares += (double)counts[i] * (double)counts[i];
	}
	tally->slices++;
	tally->running_ns += (double)slice->running_ns;
}

/* Adds one slice to a group, or to the events that are always counted. */
static void add_to(struct hp_mux_estimator *estimator, size_t number,
		   const struct hp_mux_slice *slice, const uint64_t *counts, const double *known)
{
	struct tally *tally = &estimator->tallies[number];
	const double counted[MEASURES] = {
		[BY_TIME] = (double)slice->running_ns, [BY_REFERENCE] = (double)slice->reference
	};

	if (slice->running_ns == 0)
		return;
	add_tally(estimator, tally, slice, counts);
	for (int m = 0; m < MEASURES; m++) {
		const struct reading reading = { counts, known, counted[m] };

		observe(&estimator->lines[m], tally, number, &reading);
	}
}

/* Updates how fast time and the reference event pass. A slice that was not counted passes at the
 * former rate. */
static void learn_rates(struct hp_mux_estimator *estimator, const struct hp_mux_slice *slice)
{
	double duration = (double)(slice->end_ns - slice->begin_ns);

	if (duration > 0)
		estimator->enabled_per_ns = (double)slice->enabled_ns / duration;
	if (slice->running_ns == 0)
		return;
	estimator->lines[BY_TIME].per_enabled = 1;
	estimator->lines[BY_REFERENCE].per_enabled =
		(double)slice->reference / (double)slice->running_ns;
	estimator->has_rates = true;
}

struct hp_error *hp_mux_estimator_add(struct hp_mux_estimator *estimator,
				      const struct hp_mux_slice *slice)
{
	struct hp_error *error = hp_mux_slice_check(&estimator->plan, slice, estimator->now_ns);
	uint32_t always = estimator->plan.group_count;
	double known[KNOWN_MAX] = { (double)slice->reference };
	const uint64_t *always_counts;
	struct gap gap;

	if (error)
		return error;
	always_counts = slice->counts + estimator->tallies[slice->group].event_count;
	for (size_t k = 1; k < KNOWN_MAX && k <= estimator->plan.always_count; k++)
		known[k] = (double)always_counts[k - 1];
	/* The first gap only has the slice after it. */
	if (!estimator->has_rates)
		learn_rates(estimator, slice);
	gap = hp_mux_gap_of(estimator, slice->begin_ns - estimator->now_ns);
	estimator->between_ns += (double)(slice->begin_ns - estimator->now_ns);
	for (int m = 0; m < MEASURES; m++)
		estimator->lines[m].position += gap.length[m];
	for (int m = 0; m < MEASURES && slice->running_ns > 0; m++) {
		estimator->lines[m].counted +=
			(double)(m == BY_TIME ? slice->running_ns : slice->reference);
		estimator->lines[m].slices++;
	}
	add_to(estimator, slice->group, slice, slice->counts, known);
	add_to(estimator, always, slice, always_counts, known);
	learn_rates(estimator, slice);
	estimator->lines[BY_TIME].position += (double)slice->enabled_ns;
	estimator->lines[BY_REFERENCE].position +=
		(double)slice->enabled_ns * estimator->lines[BY_REFERENCE].per_enabled;
	estimator->now_ns = slice->end_ns;
	return NULL;
}

/* Of a variable, only the rates and the variogram are kept for the next interval. */
static void cut_variable(struct variable *variable)
{
	variable->counted = variable->trapezoid = variable->interpolated = variable->carried = 0;
	memset(&variable->spread, 0, sizeof(variable->spread));
	for (int i = 0; i < HALVES; i++) {
		struct half *half = &variable->halves[i];

		memset(half->own.variance, 0, sizeof(half->own.variance));
		for (size_t k = 0; k < KNOWN_MAX; k++)
			memset(half->with[k].variance, 0, sizeof(half->with[k].variance));
	}
}

static void cut_line(struct hp_mux_estimator *estimator, struct line *line, double gap)
{
	double cut = line->position + gap;

	for (uint32_t i = 0; i <= estimator->plan.group_count; i++) {
		const struct tally *tally = &estimator->tallies[i];
		struct track *track = &line->tracks[i];

		for (int j = 0; j < FIT_REACH; j++) {
			track->last[j].begin -= cut;
			track->last[j].end -= cut;
		}
		track->open.left = 0;
		memset(track->geometry, 0, sizeof(track->geometry));
		track->observed = track->carried = 0;
		memset(track->cross, 0,
		       (size_t)tally->event_count * tally->event_count * sizeof(double));
		for (uint32_t j = 0; j < tally->event_count; j++)
			cut_variable(&line->events[tally->first_event + j]);
		for (size_t k = 0; k < track->known_count; k++)
			cut_variable(&track->known[k]);
	}
	line->position = 0;
}

void hp_mux_estimator_cut(struct hp_mux_estimator *estimator, uint64_t at_ns)
{
	struct gap gap = { { 0 } };

	if (at_ns > estimator->now_ns) {
		gap = hp_mux_gap_of(estimator, at_ns - estimator->now_ns);
		estimator->now_ns = at_ns;
	}
	for (int m = 0; m < MEASURES; m++)
		cut_line(estimator, &estimator->lines[m], gap.length[m]);
	for (uint32_t i = 0; i <= estimator->plan.group_count; i++) {
		struct tally *tally = &estimator->tallies[i];

		tally->slices = 0;
		tally->running_ns = 0;
		for (uint32_t j = 0; j < tally->event_count; j++) {
			estimator->events[tally->first_event + j].raw = 0;
			estimator->events[tally->first_event + j].squares = 0;
		}
	}
	estimator->between_ns = 0;
	estimator->begin_ns = estimator->now_ns;
	estimator->has_past = true;
}
