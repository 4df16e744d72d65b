/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timed.h"

#include "../tuning.h"

#include <hpcprof/model/evidence.h>

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

/* How much longer than by the core's table divisions may take, by their operands. */
static double longer_divisions(const double timed[HP_LANES])
{
	return (divide_margin - 1) * saved_by(timed, HP_CAUSE_DIVIDER);
}

/* The cycles that the timing can have, closest to the measured ones: lines of unknown place may be
 * in any cache, and divisions may take longer. */
static double fitted(const double timed[HP_LANES], double cycles)
{
	return fmax(timed[HP_LANE_THIRD],
		    fmin(timed[HP_LANE_MEMORY] + longer_divisions(timed), cycles));
}

/* Waits for operands: what remains without any events and beyond one cycle of each operation of a unit, or
 * what remains after each cause has got its part; the truth lies between. */
static struct timed_part dependency_part(const double timed[HP_LANES], double events)
{
	double units = saved_by(timed, HP_CAUSE_DIVIDER) + saved_by(timed, HP_CAUSE_MULTIPLIER) +
		       saved_by(timed, HP_CAUSE_FP_LATENCY);
	double ideal = fmax(0, timed[HP_LANE_IDEAL] - timed[HP_LANE_WIDTH] - units);
	double left = fmax(0, timed[HP_LANE_AS_IS] - timed[HP_LANE_WIDTH] - events);

	return (struct timed_part){ fmin(ideal, left), fmax(ideal, left), (ideal + left) / 2 };
}

static double difference_of(const struct timed *timed)
{
	return fabs(timed->cycles - fitted(timed->lanes, timed->cycles));
}

static bool fits(const struct timed *timed)
{
	double error = hypot(timing_error, timed->spread);

	return difference_of(timed) <= error * timed->cycles + timing_noise;
}

double timed_misfit(const struct timed *timed)
{
	double difference = difference_of(timed);

	if (!(timed->cycles > 0) || timed->missing > timing_error * timed->cycles)
		return INFINITY;
	return (difference + timing_noise) / timed->cycles;
}

/* Half of the time of lines of unknown place, in either direction. */
static double half_unknown(const double timed[HP_LANES])
{
	return fmax(0, timed[HP_LANE_MEMORY] - timed[HP_LANE_THIRD]) / 2;
}

/* What the models cannot know of the cycles of one kind, and of those of all others. */
static double unknown_own(const double timed[HP_LANES], enum hp_cause_kind kind)
{
	if (kind == HP_CAUSE_DCACHE)
		return half_unknown(timed);
	return kind == HP_CAUSE_DIVIDER ? longer_divisions(timed) : 0;
}

static double unknown_others(const double timed[HP_LANES], enum hp_cause_kind kind)
{
	return hypot(kind == HP_CAUSE_DCACHE ? 0 : half_unknown(timed),
		     kind == HP_CAUSE_DIVIDER ? 0 : longer_divisions(timed));
}

/* Which of its events the simulated executions met is chance: they are fewer the more each costs. */
static double chance_of_events(const struct timed *of, double cycles, enum hp_cause_kind kind)
{
	double each = of->costs[kind];

	return of->simulated > 0 ? HP_NORMAL_90 * sqrt(cycles * each / of->simulated) : 0;
}

/* What the model says of a part of one execution's cycles: its own part is `cycles`, all of them are
 * `whole`. Each part is off by a share of itself, lines of unknown place may be anywhere, divisions may
 * take longer, walks of others `walked` longer, and all parts are off together as executions are. The
 * measured cycles are the sum of all parts, so they say which of these errors there are: the most likely
 * ones, if all are normally distributed and independent. What is beyond all errors may belong to any
 * part. */
static struct timed_part conditioned(const struct timed *of, double cycles, enum hp_cause_kind kind,
				     double walked)
{
	double whole = (of->lanes[HP_LANE_MEMORY] + of->lanes[HP_LANE_THIRD]) / 2;
	double own = hypot(hypot(timing_error * cycles, chance_of_events(of, cycles, kind)),
			   unknown_own(of->lanes, kind));
	double others = hypot(timing_error * fmax(0, whole - cycles),
			      hypot(unknown_others(of->lanes, kind), walked));
	double common = of->spread * whole;
	double all =
		hypot(hypot(own, others), hypot(common, of->chance * of->cycles)) + timing_noise;
	double difference = fmax(-all, fmin(all, of->cycles - whole));
	double beyond = of->cycles - whole - difference;
	double gain = (of->spread * cycles * common + own * own) / (all * all);
	double left = sqrt(fmax(0, pow(of->spread * cycles, 2) + own * own - pow(gain * all, 2)));
	double likely = cycles + gain * difference;
	double error = hypot(left, timing_noise);

	return (struct timed_part){
		.low = likely - error + fmin(0, beyond),
		.high = likely + error + fmax(0, beyond),
		.likely = likely,
	};
}

/* The part's cycles are known only as a range. */
static struct timed_part judged(const struct timed *of, const struct timed_part *part,
				enum hp_cause_kind kind)
{
	double walked = kind == HP_CAUSE_DTLB ? 0 : of->walked;
	struct timed_part found = conditioned(of, part->likely, kind, 0);
	struct timed_part with_walks = conditioned(of, part->likely, kind, walked);

	found.low = fmin(found.low, with_walks.low);
	found.low =
		fmax(0, found.likely - hypot(found.likely - found.low, part->likely - part->low));
	found.high = found.likely + hypot(found.high - found.likely, part->high - part->likely);
	found.likely = fmax(0, found.likely);
	return found;
}

/* Limits the part by elimination: measured cycles minus those of the path without the cause. Where
 * the latter are few, so is their error. */
static void eliminate(const struct timed *of, double fit, enum hp_cause_kind kind,
		      struct timed_part *part)
{
	const double *timed = of->lanes;
	double placed = fmin(fit, timed[HP_LANE_MEMORY]) - timed[HP_LANE_AS_IS];
	double longer = kind == HP_CAUSE_DIVIDER ? 0 : fmax(0, fit - timed[HP_LANE_MEMORY]);
	double without = timed[lanes[kind]] + (kind == HP_CAUSE_DCACHE ? 0 : placed);
	double unknown = kind == HP_CAUSE_DCACHE ? 0 : half_unknown(timed);
	double error = hypot(timing_error, of->spread);
	double walked = kind == HP_CAUSE_DTLB ? 0 : of->walked;
	double least = fmin(of->cycles, fit) - (without + longer) * (1 + error) - timing_noise -
		       unknown - walked;
	double most = of->cycles - without * (1 - error) + timing_noise + unknown;
	double low = fmax(part->low, least), high = fmin(part->high, most);

	/* Otherwise the two contradict each other, and the part stays as it is. */
	if (low <= high) {
		part->low = low;
		part->high = high;
	}
}

/* Of few samples, the measured cycles are mostly chance: an instruction that happens to have one seems to take
 * longer than it does. Replaces them by the mean of measured and timed cycles, weighted by their inverse
 * variances. Returns the factor back to what was measured. */
static double settle(struct timed *of)
{
	double whole = (of->lanes[HP_LANE_MEMORY] + of->lanes[HP_LANE_THIRD]) / 2;
	double error = hypot(hypot(timing_error, of->spread) * whole,
			     hypot(hypot(half_unknown(of->lanes), of->walked),
				   longer_divisions(of->lanes))) +
		       timing_noise;
	double chance = of->chance * of->cycles, both = hypot(error, chance);
	double measured = of->cycles;

	if (!(whole > 0) || !(chance > 0))
		return 1;
	of->cycles -= (measured - whole) * (chance / both) * (chance / both);
	of->chance = error * chance / both / of->cycles;
	return measured / of->cycles;
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
	part.high = of->cycles -
		    without_family(of->lanes, family) * (1 - hypot(timing_error, of->spread)) +
		    timing_noise;
	return part;
}

static void scale(struct timed_part *parts, unsigned count, double factor)
{
	for (unsigned i = 0; i < count; i++) {
		parts[i].low *= factor;
		parts[i].high *= factor;
		parts[i].likely *= factor;
	}
}

void timed_scale(struct timed_parts *parts, double factor)
{
	scale(parts->kinds, HP_CAUSE_COUNT, factor);
	scale(parts->families, HP_FAMILY_COUNT, factor);
}

void timed_parts(const struct timed *measured, struct timed_parts *found)
{
	struct timed settled = *measured, *of = &settled;
	double factor = settle(&settled);
	struct timed_part *parts = found->kinds;
	const double *timed = of->lanes;
	double fit = fitted(timed, of->cycles);
	double events = 0;

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		double saved = lanes[kind] ? saved_by(timed, (enum hp_cause_kind)kind) : 0;

		parts[kind] = (struct timed_part){ saved, saved, saved };
		events += saved;
	}
	parts[HP_CAUSE_DCACHE].likely = parts[HP_CAUSE_DCACHE].low = parts[HP_CAUSE_DCACHE].high =
		fmax(0,
		     (timed[HP_LANE_MEMORY] + timed[HP_LANE_THIRD]) / 2 - timed[HP_LANE_NO_DCACHE]);
	parts[HP_CAUSE_DEPENDENCY] = dependency_part(timed, events);
	parts[HP_CAUSE_ISSUE_WIDTH] = (struct timed_part){
		timed[HP_LANE_WIDTH],
		timed[HP_LANE_WIDTH],
		timed[HP_LANE_WIDTH],
	};
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		parts[kind] = judged(of, &parts[kind], (enum hp_cause_kind)kind);
		if (kind == HP_CAUSE_DTLB)
			parts[kind].high += of->walked;
		if (lanes[kind])
			eliminate(of, fit, (enum hp_cause_kind)kind, &parts[kind]);
	}
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++)
		found->families[family] = family_part(of, family, parts);
	found->fits = fits(of);
	timed_scale(found, factor);
}
