/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timed.h"

#include "../tuning.h"

#include <math.h>

/* The core without that cause. */
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

/* Cycles that lines of unknown place take more if they come from memory. */
static double memory_cycles(const double timed[HP_LANES])
{
	return fmax(0, timed[HP_LANE_MEMORY] - timed[HP_LANE_AS_IS]);
}

/* The measured time tells how many of those come from memory. */
static double memory_share(const double timed[HP_LANES], double cycles)
{
	double most = memory_cycles(timed);

	return most > 0 ? fmin(1, fmax(0, cycles - timed[HP_LANE_AS_IS]) / most) : 0;
}

/* Waits for operands: what is left when all events are gone, or when each has had its part. */
static struct timed_part dependency_part(const double timed[HP_LANES], double events)
{
	double ideal = fmax(0, timed[HP_LANE_IDEAL] - timed[HP_LANE_WIDTH]);
	double left = fmax(0, timed[HP_LANE_AS_IS] - timed[HP_LANE_WIDTH] - events);

	return (struct timed_part){ fmin(ideal, left), fmax(ideal, left), (ideal + left) / 2 };
}

/* Data that might come from memory, as likely as the time makes it, or by half more or less. */
static void add_memory(struct timed_part *part, double cycles, double share, bool is_likely)
{
	part->low += is_likely ? cycles * fmax(0, share - 0.5) : 0;
	part->high += cycles * fmin(1, share + 0.5);
	part->likely += is_likely ? cycles * share : 0;
}

double timed_difference(const double timed[HP_LANES], double cycles)
{
	return cycles - timed[HP_LANE_AS_IS] - memory_cycles(timed) * memory_share(timed, cycles);
}

void timed_parts(const double timed[HP_LANES], double cycles,
		 struct timed_part parts[HP_CAUSE_COUNT])
{
	double from_memory = memory_cycles(timed);
	double share = memory_share(timed, cycles);
	double difference = timed_difference(timed, cycles);
	double events = 0;

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		double saved = lanes[kind] ? saved_by(timed, (enum hp_cause_kind)kind) : 0;

		parts[kind] = (struct timed_part){ saved, saved, saved };
		events += saved;
	}
	add_memory(&parts[HP_CAUSE_DCACHE], from_memory, share, true);
	/* Page tables come from there, too. */
	if (timed[HP_LANE_AS_IS] > timed[HP_LANE_NO_DTLB])
		add_memory(&parts[HP_CAUSE_DTLB], from_memory, share, false);
	parts[HP_CAUSE_DEPENDENCY] = dependency_part(timed, events);
	parts[HP_CAUSE_ISSUE_WIDTH].high = parts[HP_CAUSE_ISSUE_WIDTH].likely =
		timed[HP_LANE_WIDTH];
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		struct timed_part *part = &parts[kind];

		part->low = fmax(0, part->low * (1 - timing_error) - timing_noise +
					    fmin(0, difference));
		part->high = part->high * (1 + timing_error) + timing_noise + fmax(0, difference);
	}
}
