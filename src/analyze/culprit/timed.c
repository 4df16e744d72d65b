/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timed.h"

#include "../tuning.h"

#include <math.h>

/* The lane without the events of each cause. */
static const uint8_t lanes[HP_CAUSE_COUNT] = {
	[HP_CAUSE_ICACHE] = HP_LANE_NO_ICACHE,
	[HP_CAUSE_ITLB] = HP_LANE_NO_ITLB,
	[HP_CAUSE_MISPREDICT] = HP_LANE_NO_MISPREDICT,
	[HP_CAUSE_DCACHE] = HP_LANE_NO_DCACHE,
	[HP_CAUSE_DTLB] = HP_LANE_NO_DTLB,
	[HP_CAUSE_STORE_BUFFER] = HP_LANE_NO_STORE_BUFFER,
	[HP_CAUSE_STORE_FORWARD] = HP_LANE_NO_STORE_FORWARD,
	[HP_CAUSE_DIVIDER] = HP_LANE_NO_DIVIDER,
	[HP_CAUSE_MULTIPLIER] = HP_LANE_NO_MULTIPLIER,
	[HP_CAUSE_FP_LATENCY] = HP_LANE_NO_FP,
	[HP_CAUSE_SYNC] = HP_LANE_NO_SYNC,
	[HP_CAUSE_FETCH] = HP_LANE_NO_FETCH,
	[HP_CAUSE_PORT] = HP_LANE_NO_PORT,
};

static double saved_by(const double timed[HP_LANES], enum hp_cause_kind kind)
{
	return fmax(0, timed[HP_LANE_AS_IS] - timed[lanes[kind]]);
}

/* The first cycle of an operation shows as much as the rest of its latency. The core without the cause
 * takes it, too, so whether it is of the unit or a wait for an operand is not known. */
static double first_cycles(const struct timed *of, enum hp_cause_kind kind)
{
	return of->rest[kind] > 0 ? saved_by(of->lanes, kind) * of->first[kind] / of->rest[kind]
				  : 0;
}

/* The cycles that the timing can have, closest to the measured ones: lines of unknown place may be
 * in any cache. */
static double fitted(const double timed[HP_LANES], double cycles)
{
	return fmax(timed[HP_LANE_THIRD], fmin(timed[HP_LANE_MEMORY], cycles));
}

/* Waits for operands: what remains without any events, or what remains after each cause has got its
 * part; the truth lies between. */
static struct timed_part dependency_part(const double timed[HP_LANES], double events)
{
	double ideal = fmax(0, timed[HP_LANE_IDEAL] - timed[HP_LANE_WIDTH]);
	double left = fmax(0, timed[HP_LANE_AS_IS] - timed[HP_LANE_WIDTH] - events);

	return (struct timed_part){ fmin(ideal, left), fmax(ideal, left), (ideal + left) / 2 };
}

double timed_misfit(const struct timed *timed)
{
	double difference = fabs(timed->cycles - fitted(timed->lanes, timed->cycles));

	if (!(timed->cycles > 0) || timed->missing > timing_error * timed->cycles)
		return INFINITY;
	return (difference + timing_noise) / timed->cycles;
}

/* Half of the time of lines of unknown place, in either direction. */
static double half_unknown(const double timed[HP_LANES])
{
	return fmax(0, timed[HP_LANE_MEMORY] - timed[HP_LANE_THIRD]) / 2;
}

static struct timed_part data_part(const double timed[HP_LANES], double fit)
{
	double none = timed[HP_LANE_NO_DCACHE];
	double half = half_unknown(timed);

	return (struct timed_part){
		.low = fmax(0, fmax(timed[HP_LANE_THIRD], fit - half) - none),
		.high = fmax(0, fmin(timed[HP_LANE_MEMORY], fit + half) - none),
		.likely = fmax(0, fit - none),
	};
}

/* Widens the part by its own error and by the difference between measured and predicted cycles,
 * which may belong to any part. That difference is the sum of all parts' errors, so the two are not
 * simply added. */
static void widen(struct timed_part *part, double difference)
{
	part->low -= hypot(timing_error * part->low, fmin(0, difference)) + timing_noise;
	part->low = fmax(0, part->low);
	part->high += hypot(timing_error * part->high, fmax(0, difference)) + timing_noise;
}

/* Limits the part by elimination: measured cycles minus those of the path without the cause. Where
 * the latter are few, so is their error. */
static void eliminate(const struct timed *of, double fit, enum hp_cause_kind kind,
		      struct timed_part *part)
{
	const double *timed = of->lanes;
	bool has_unknown = kind != HP_CAUSE_DCACHE;
	double without = timed[lanes[kind]] + (has_unknown ? fit - timed[HP_LANE_AS_IS] : 0);
	double unknown = has_unknown ? half_unknown(timed) : 0;
	double walked = kind == HP_CAUSE_DTLB ? 0 : of->walked;
	double least = fmin(of->cycles, fit) - without * (1 + timing_error) - timing_noise -
		       unknown - walked;
	double most = of->cycles - (without - first_cycles(of, kind)) * (1 - timing_error) +
		      timing_noise + unknown;
	double low = fmax(part->low, least), high = fmin(part->high, most);

	/* Otherwise the two contradict each other, and the part stays as it is. */
	if (low <= high) {
		part->low = low;
		part->high = high;
	}
}

/* The least time of the path without the events of the family: no core was timed without these
 * alone, but removing more events does not make a path slower. */
static double without_family(const double timed[HP_LANES], enum hp_cause_family family)
{
	double least = fmax(timed[HP_LANE_IDEAL], timed[HP_LANE_ONLY_MISPREDICT]);

	if (family == HP_FAMILY_DATA)
		return fmax(least, timed[HP_LANE_ONLY_CODE]);
	return fmax(least, fmax(timed[HP_LANE_ONLY_DTLB], timed[HP_LANE_ONLY_STORE]));
}

/* The family took at least as much as each of its kinds. */
static struct timed_part family_part(const struct timed *of, enum hp_cause_family family,
				     const struct timed_part kinds[HP_CAUSE_COUNT])
{
	struct timed_part part = { 0 };

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++)
		if (hp_family_kinds(family) >> kind & 1)
			part.low = fmax(part.low, kinds[kind].low);
	part.high =
		of->cycles - without_family(of->lanes, family) * (1 - timing_error) + timing_noise;
	return part;
}

void timed_parts(const struct timed *of, struct timed_parts *found)
{
	struct timed_part *parts = found->kinds;
	const double *timed = of->lanes;
	double fit = fitted(timed, of->cycles);
	double difference = of->cycles - fit;
	double events = 0;

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		double saved = lanes[kind] ? saved_by(timed, (enum hp_cause_kind)kind) : 0;

		parts[kind] = (struct timed_part){
			saved, saved + first_cycles(of, (enum hp_cause_kind)kind), saved
		};
		events += saved;
	}
	parts[HP_CAUSE_DCACHE] = data_part(timed, fit);
	parts[HP_CAUSE_DTLB].high += of->walked;
	parts[HP_CAUSE_DEPENDENCY] = dependency_part(timed, events);
	parts[HP_CAUSE_ISSUE_WIDTH] = (struct timed_part){
		timed[HP_LANE_WIDTH],
		timed[HP_LANE_WIDTH],
		timed[HP_LANE_WIDTH],
	};
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		widen(&parts[kind], difference);
		if (lanes[kind])
			eliminate(of, fit, (enum hp_cause_kind)kind, &parts[kind]);
	}
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++)
		found->families[family] = family_part(of, family, parts);
}
