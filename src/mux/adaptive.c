/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * adaptive: the group whose ignorance costs most. The reasoning is in the header of scheduler.h.
 *
 * Noise (s) and walk (q) of an event come from the mean squared differences D1, D2 of observations
 * one and two apart, which the two explain as s (1/o1 + 1/o2) + q h; means forget at the rate of
 * one in MEMORY observations.
 */
#include "scheduler.h"

#include <math.h>
#include <stdlib.h>

#define MEMORY	    1000
#define JITTER	    0.35 /* a comparison is off by up to this, up or down */
#define FIRST_TURNS 3	 /* before a group has these, its variability is not known */
#define SLICES_BEHIND                                                                              \
	8 /* an event that comes from fewer slices than this is chance: more slices                \
	   * would be wasted on it */
#define TRUSTED	     0.75
#define HALF_TRUSTED 24
#define FARTHEST     30
#define SHORT	     0.25 /* of the average slice: it waits for the next of its group */

/* Of the last two observations, newest first. */
struct adaptive_group {
	double middle[2], observed[2];	  /* ruler units */
	double noise_lag[2], walk_lag[2]; /* means of 1/o1 + 1/o2, and of h, one and two apart */
	uint64_t observations;
	uint64_t turns, last_turn;
	double counted; /* ruler units */
	double carried; /* ruler units, in slices too short to say anything of a rate */
	uint32_t first_event;
};

struct adaptive_event {
	double rate[2];
	double squares[2]; /* means */
	double count, count_squares, carried;
};

struct adaptive {
	uint64_t turn;
	double position; /* ruler units since the run began */
	double slice;	 /* mean length, ruler units */
	uint64_t slices;
	double slice_ns;
	uint32_t current;
	struct adaptive_group *groups;
	struct adaptive_event *events;
	double *noise, *walk; /* of each group, relative; worked out before each choice */
	bool *is_judged;      /* these say something about the group */
};

static bool create(struct hp_mux_scheduler *scheduler)
{
	const struct hp_mux_plan *plan = &scheduler->plan;
	struct adaptive *adaptive = calloc(1, sizeof(*adaptive));

	scheduler->state = adaptive;
	if (!adaptive)
		return false;
	adaptive->groups = calloc(plan->group_count, sizeof(*adaptive->groups));
	adaptive->events =
		calloc(hp_mux_plan_first(plan, plan->group_count) + 1, sizeof(*adaptive->events));
	adaptive->noise = calloc(plan->group_count, sizeof(double));
	adaptive->walk = calloc(plan->group_count, sizeof(double));
	adaptive->is_judged = calloc(plan->group_count, sizeof(bool));
	if (!adaptive->groups || !adaptive->events || !adaptive->noise || !adaptive->walk ||
	    !adaptive->is_judged)
		return false;
	for (uint32_t i = 0; i < plan->group_count; i++)
		adaptive->groups[i].first_event = hp_mux_plan_first(plan, i);
	return true;
}

static void destroy(struct hp_mux_scheduler *scheduler)
{
	struct adaptive *adaptive = scheduler->state;

	if (adaptive) {
		free(adaptive->groups);
		free(adaptive->events);
		free(adaptive->noise);
		free(adaptive->walk);
		free(adaptive->is_judged);
	}
	free(adaptive);
}

static double unless_nan(double value)
{
	return isfinite(value) ? value : 0;
}

/* s and q of one event, in shares of its count a ruler unit. False: it says nothing. */
static bool split(const struct adaptive_group *group, const struct adaptive_event *event,
		  double *noise, double *walk)
{
	double n1 = group->noise_lag[0], h1 = group->walk_lag[0];
	double n2 = group->noise_lag[1], h2 = group->walk_lag[1];
	double d1 = event->squares[0], d2 = event->squares[1];
	double rate = event->count / group->counted, q, s;

	if (!(rate > 0) || !(n1 > 0) || !(h1 > 0) ||
	    event->count * event->count < SLICES_BEHIND * event->count_squares)
		return false;
	q = group->observations > 2 ? unless_nan((d2 * n1 - d1 * n2) / (h2 * n1 - h1 * n2)) : 0;
	q = fmin(fmax(q, 0), d1 / h1);
	s = fmax(d1 - q * h1, 0) / n1;
	*noise += s / (rate * rate);
	*walk += q / (rate * rate);
	return true;
}

/* What a slice of the group is worth at an age, by itself. */
static double worth_at(const struct adaptive *adaptive, uint32_t i, double age)
{
	return age * age * (adaptive->noise[i] / adaptive->slice + adaptive->walk[i] * age / 6);
}

/*
 * Variability is known badly at first, and a wrong turn costs more than a right one gains: uneven
 * spacing alone raises the variance (of a walk with the third power of the gaps). So groups are
 * taken to differ, in the logarithm, by TRUSTED of what they seem to, and by less while there are
 * few observations; and never by more than a factor of FARTHEST from their mean.
 */
static void shrink(struct adaptive *adaptive, uint32_t count)
{
	double age = adaptive->slice * count, mean = 0, known = 0;

	for (uint32_t i = 0; i < count; i++) {
		double worth = worth_at(adaptive, i, age);

		if (worth > 0) {
			mean += log(worth);
			known++;
		}
	}
	if (known <= 0)
		return;
	mean /= known;
	for (uint32_t i = 0; i < count; i++) {
		double n = (double)adaptive->groups[i].observations;
		double worth = worth_at(adaptive, i, age);
		double trust = TRUSTED * n / (n + HALF_TRUSTED);
		double off = worth > 0 ? (log(worth) - mean) * trust : -log(FARTHEST) * trust;
		double target;

		/* Of what nothing is known, or nothing can be, the average is expected. */
		if (!adaptive->is_judged[i])
			off = 0;
		target = exp(mean + fmin(fmax(off, -log(FARTHEST)), log(FARTHEST)));

		if (worth > 0) {
			adaptive->noise[i] *= target / worth;
			adaptive->walk[i] *= target / worth;
		} else {
			adaptive->noise[i] = target * adaptive->slice / (age * age);
		}
	}
}

static void weigh(struct hp_mux_scheduler *scheduler)
{
	struct adaptive *adaptive = scheduler->state;
	uint32_t count = scheduler->plan.group_count;

	for (uint32_t i = 0; i < count; i++) {
		const struct adaptive_group *group = &adaptive->groups[i];

		adaptive->noise[i] = adaptive->walk[i] = 0;
		adaptive->is_judged[i] = false;
		for (uint32_t j = 0; j < scheduler->groups[i].event_count; j++)
			adaptive->is_judged[i] |= split(group,
							&adaptive->events[group->first_event + j],
							&adaptive->noise[i], &adaptive->walk[i]);
	}
	shrink(adaptive, count);
}

/* What the next slice is worth in group `i`. */
static double worth_of(struct hp_mux_scheduler *scheduler, uint32_t i)
{
	const struct adaptive *adaptive = scheduler->state;
	double share = hp_mux_plan_share(&scheduler->plan, i);
	double age = adaptive->position + adaptive->slice / 2 - adaptive->groups[i].middle[0];
	double jitter = 1 + JITTER * (2 * hp_mux_random_unit(&scheduler->random) - 1);
	double rotation = 0;

	if (i != adaptive->current && adaptive->slice_ns > 0)
		rotation = (double)scheduler->rotation_ns / adaptive->slice_ns;
	/* Where nothing varies, the oldest. */
	return share * share * jitter / (1 + rotation) *
	       (worth_at(adaptive, i, age) + 1e-12 * age * age);
}

static uint32_t choose(struct hp_mux_scheduler *scheduler)
{
	struct adaptive *adaptive = scheduler->state;
	uint32_t count = scheduler->plan.group_count, longest = 0, best = 0;
	uint32_t newest = 0, ties = 0;
	double most = -1;

	for (uint32_t i = 0; i < count; i++) {
		const struct adaptive_group *group = &adaptive->groups[i];

		if (group->last_turn < adaptive->groups[longest].last_turn)
			longest = i;
		if (group->turns < adaptive->groups[newest].turns)
			ties = 0;
		/* One of those with the fewest turns, each as likely. */
		if (group->turns <= adaptive->groups[newest].turns &&
		    hp_random_between(&scheduler->random, 0, ties++) == 0)
			newest = i;
	}
	if (adaptive->groups[newest].turns < FIRST_TURNS)
		return newest;
	if (adaptive->turn - adaptive->groups[longest].last_turn >=
	    HP_MUX_ADAPTIVE_PATIENCE * scheduler->round)
		return longest;
	weigh(scheduler);
	for (uint32_t i = 0; i < count; i++) {
		double worth = worth_of(scheduler, i);

		if (worth > most) {
			most = worth;
			best = i;
		}
	}
	return best;
}

static uint32_t next(struct hp_mux_scheduler *scheduler)
{
	struct adaptive *adaptive = scheduler->state;

	adaptive->current = choose(scheduler);
	adaptive->groups[adaptive->current].last_turn = ++adaptive->turn;
	adaptive->groups[adaptive->current].turns++;
	return adaptive->current;
}

/* A mean that forgets: of the first few exactly theirs. */
static void blend(double *mean, double value, uint64_t count)
{
	double weight = count < MEMORY ? (double)count : MEMORY;

	*mean += (value - *mean) / weight;
}

/* The rate of an event in an observation of `observed`, with what was carried to it. */
static void learn(const struct adaptive_group *group, struct adaptive_event *event, uint64_t count,
		  double observed, uint64_t lags)
{
	double counted = (double)count + event->carried, rate = counted / observed;

	for (uint64_t lag = 0; lag < lags; lag++)
		blend(&event->squares[lag], (rate - event->rate[lag]) * (rate - event->rate[lag]),
		      group->observations - lag);
	event->rate[1] = event->rate[0];
	event->rate[0] = rate;
	event->count += counted;
	event->count_squares += counted * counted;
	event->carried = 0;
}

static void observe(struct hp_mux_scheduler *scheduler, const struct hp_mux_slice *slice)
{
	struct adaptive *adaptive = scheduler->state;
	struct adaptive_group *group = &adaptive->groups[slice->group];
	struct adaptive_event *events = adaptive->events + group->first_event;
	uint32_t event_count = scheduler->groups[slice->group].event_count;
	uint64_t lags = group->observations < 2 ? group->observations : 2;
	double observed = group->carried + (double)slice->ruler, length;

	if (slice->running_ns == 0)
		return;
	length = (double)slice->ruler * ((double)slice->enabled_ns / (double)slice->running_ns);
	adaptive->slices++;
	blend(&adaptive->slice, length, adaptive->slices);
	blend(&adaptive->slice_ns, (double)(slice->end_ns - slice->begin_ns), adaptive->slices);
	adaptive->position += length;
	if (observed <= 0 || observed < SHORT * adaptive->slice) {
		group->carried = observed;
		for (uint32_t i = 0; i < event_count; i++)
			events[i].carried += (double)slice->counts[i];
		return;
	}
	for (uint64_t lag = 0; lag < lags; lag++) {
		uint64_t pairs = group->observations - lag;

		blend(&group->noise_lag[lag], 1 / observed + 1 / group->observed[lag], pairs);
		blend(&group->walk_lag[lag],
		      adaptive->position - length / 2 - group->middle[lag] -
			      (observed + group->observed[lag]) / 6,
		      pairs);
	}
	for (uint32_t i = 0; i < event_count; i++)
		learn(group, &events[i], slice->counts[i], observed, lags);
	group->middle[1] = group->middle[0];
	group->observed[1] = group->observed[0];
	group->middle[0] = adaptive->position - length / 2;
	group->observed[0] = observed;
	group->counted += observed;
	group->carried = 0;
	group->observations++;
}

const struct scheduler_kind hp_mux_adaptive = { "adaptive", create, destroy, next, observe };
