/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "throughput.h"

#include "moved.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <stdlib.h>

static const struct hp_throughput unknown = { 0, INFINITY, 0 };

/* Out: the throughput of all code together; and, for each procedure, its ticks and the number that
 * is expected with that throughput. Procedures with hardly any expected ticks are left out. */
static size_t list_places(const struct paced *procedures, size_t count, double ticks,
			  struct place_ticks *places, double *log_of_all)
{
	double instructions = 0;
	double share = 0;
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		instructions += procedures[i].instructions;
		share += procedures[i].share;
	}
	*log_of_all = log(instructions / share);
	for (size_t i = 0; i < count && instructions > 0 && share > 0; i++) {
		const struct paced *one = &procedures[i];
		struct place_ticks place = place_ticks_of(one->seen, ticks, one->share,
							  one->instructions / exp(*log_of_all),
							  INFINITY);

		if (place.expected >= least_paced_ticks)
			places[n++] = place;
	}
	return n;
}

/* The normal distribution of throughputs, as logarithms, around that of all code together. */
struct distribution {
	double mean;
	double variance;
	double known; /* the inverse of the variance of `mean` */
};

/* One step of the EM algorithm: estimates each procedure with the current distribution, then the
 * distribution from these estimates. */
static void improve(const struct place_ticks *places, size_t count, struct distribution *now)
{
	double squares = usual_throughput_freedom * usual_throughput * usual_throughput;
	double variance = now->variance;
	double sum = 0;

	now->known = 0;
	for (size_t i = 0; i < count; i++) {
		struct place_ticks place = places[i];
		struct moved moved;
		double left;

		place.expected *= exp(-now->mean);
		moved = moved_of(&place, variance);
		left = moved.deviation * moved.deviation;
		sum += moved.log;
		squares += moved.log * moved.log + left;
		now->known += (1 - left / variance) / variance;
	}
	now->mean += sum / (double)count;
	now->variance = squares / ((double)count + usual_throughput_freedom);
}

struct hp_throughput throughput_of(const struct paced *procedures, size_t count, double ticks)
{
	_cleanup_free_ struct place_ticks *places = calloc(count + 1, sizeof(*places));
	struct distribution found = { .variance = usual_throughput * usual_throughput };
	double log_of_all;
	size_t n;

	if (!places)
		return unknown;
	n = list_places(procedures, count, ticks, places, &log_of_all);
	for (int step = 0; step < EM_STEPS && n; step++)
		improve(places, n, &found);
	return found.known > 0 ? (struct hp_throughput){ .log = log_of_all + found.mean,
							 .deviation = sqrt(found.variance +
									   1 / found.known),
							 .ticks = ticks }
			       : unknown;
}

struct estimate throughput_of_procedure(const struct hp_throughput *throughput,
					const struct paced *seen, double moved)
{
	struct place_ticks place = place_ticks_of(seen->seen, throughput->ticks, seen->share,
						  seen->instructions / exp(throughput->log),
						  INFINITY);
	struct moved own = moved_of(&place, throughput->deviation * throughput->deviation);
	double unlike = 1 - exp(-fabs(moved));

	return (struct estimate){
		.log = throughput->log + own.log,
		.deviation = hypot(own.deviation,
				   fmax(procedure_throughput, unlike * throughput->deviation)),
	};
}

struct estimate estimate_by_time(const struct estimate *throughput, double share, double samples)
{
	return (struct estimate){
		.log = throughput->log + log(share),
		.deviation = hypot(throughput->deviation, 1 / sqrt(samples)),
	};
}

/* The samples are Poisson distributed. Their mean is the time that the counts need by the
 * throughput, times exp(-x). x is the sum of the error of the counts and that of the throughput,
 * and is divided between them in proportion to their variances. */
static struct estimate pooled(const struct place_ticks *place, struct estimate counted,
			      const struct estimate *throughput)
{
	double of_counts = counted.deviation * counted.deviation;
	double of_both = of_counts + throughput->deviation * throughput->deviation;
	struct moved off = moved_of(place, of_both);
	double part = of_counts / of_both;

	return (struct estimate){
		.log = counted.log - part * off.log,
		.deviation = sqrt(part * (of_both - of_counts) +
				  part * part * off.deviation * off.deviation),
	};
}

struct estimate pooled_estimate(struct estimate counted, const struct estimate *throughput,
				double share, double samples)
{
	struct estimate by_time = estimate_by_time(throughput, share, samples);
	struct place_ticks place = {
		.expected = samples * exp(counted.log - by_time.log),
		.seen = samples,
		.samples = INFINITY,
	};
	struct estimate missed = { counted.log, hypot(counted.deviation, missed_deviation) };
	struct estimate right, wrong, mixed;
	double odds, is_wrong;

	if (!isfinite(counted.deviation) || !isfinite(counted.log))
		return by_time;
	odds = missed_procedures / (1 - missed_procedures) *
	       exp(moved_likelihood(&place,
				    pow(hypot(missed.deviation, throughput->deviation), 2)) -
		   moved_likelihood(&place,
				    pow(hypot(counted.deviation, throughput->deviation), 2)));
	is_wrong = isfinite(odds) ? odds / (1 + odds) : 1;
	right = pooled(&place, counted, throughput);
	wrong = pooled(&place, missed, throughput);
	mixed.log = right.log + is_wrong * (wrong.log - right.log);
	mixed.deviation =
		sqrt((1 - is_wrong) * pow(hypot(right.deviation, right.log - mixed.log), 2) +
		     is_wrong * pow(hypot(wrong.deviation, wrong.log - mixed.log), 2));
	return mixed;
}
