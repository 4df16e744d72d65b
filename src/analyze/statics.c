/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the timing of the path says of waits that the best case has.
 *
 * A schedule of one block does not see how its waits overlap with those of other blocks, and its results
 * retire in order: behind a division it lists waits for operands that the core has long had. The timing
 * of the path sees both, and knows the same units. So static waits take no more than it says, and what they
 * lose was time of the block's unit, as far as the timing says so.
 */
#include "stalls.h"
#include "culprit/duty.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

#include <math.h>

void statics_take(const struct case_file *file, double cycles,
		  struct timed_part parts[HP_CAUSE_COUNT])
{
	for (uint32_t i = 0; i < file->static_count; i++) {
		const struct static_share *one = &file->statics[i];
		struct timed_part *part = &parts[one->kind];

		part->low = fmax(0, part->low - one->high * cycles);
		part->high = fmax(0, part->high - one->low * cycles);
		part->likely = fmax(0, part->likely - one->likely * cycles);
	}
}

/* The share of the instruction's time that the timing gives to the kind, over all scenes. */
static struct timed_part share_of(const struct stalls *stalls, uint32_t at,
				  const struct timed_parts parts[MOST_SCENES], uint8_t kind)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	struct timed_part share = { .low = 1 };

	for (unsigned scene = 0; scene < stalls->scenes; scene++) {
		const struct timed_part *part = &parts[scene].kinds[kind];
		double each = stalls->runs[scene][insn->block] / insn->cycles;

		share.low = fmin(share.low, part->low * each);
		share.high = fmax(share.high, part->high * each);
		if (scene == stalls->likely)
			share.likely = part->likely * each;
	}
	return share;
}

static struct timed_part sum_of(const struct case_file *file, uint8_t kind)
{
	struct timed_part sum = { 0 };

	for (uint32_t i = 0; i < file->static_count; i++) {
		const struct static_share *one = &file->statics[i];

		if (one->kind != kind)
			continue;
		sum.low += one->low;
		sum.high += one->high;
		sum.likely += one->likely;
	}
	return sum;
}

/* Limits the static waits, and returns what they lose. */
static struct timed_part limit(const struct stalls *stalls, uint32_t at,
			       const struct timed_parts parts[MOST_SCENES])
{
	const struct case_file *file = &stalls->files[at];
	struct timed_part sums[HP_CAUSE_COUNT], lost = { 0 };

	for (uint8_t kind = 0; kind < HP_CAUSE_COUNT; kind++)
		sums[kind] = sum_of(file, kind);
	for (uint32_t i = 0; i < file->static_count; i++) {
		struct static_share *one = &file->statics[i];
		const struct static_share before = *one;
		struct timed_part share = share_of(stalls, at, parts, one->kind);
		double sum = sums[one->kind].high;
		double part = sum > 0 ? before.high / sum : 0;

		one->high = fmin(before.high, share.high * part);
		one->low = fmin(before.low, fmin(share.low * part, one->high));
		one->likely = fmin(before.likely, one->high);
		lost.low += fmax(0, before.low - one->high);
		lost.high += before.high - one->low;
		lost.likely += before.likely - one->likely;
	}
	return lost;
}

/* The instruction of the block that is of this kind; HP_SCHEDULE_NONE: none is. */
static uint32_t unit_of(const struct facts *facts, uint32_t block, enum hp_cause_kind kind)
{
	const struct hp_analysed_block *one = &facts->analysis->blocks[block];

	for (uint32_t at = one->first_insn; at < one->first_insn + one->insn_count; at++)
		if (facts->insns[at].duty != HP_DUTY_PLAIN &&
		    duty_cause((enum hp_duty)facts->insns[at].duty) == kind)
			return at;
	return HP_SCHEDULE_NONE;
}

static void add(struct case_file *file, enum hp_cause_kind kind, uint32_t culprit,
		const struct timed_part *more)
{
	struct static_share *one = file->statics;

	while (one < file->statics + file->static_count && one->kind != kind)
		one++;
	if (one == file->statics + STATIC_CAUSES)
		return;
	if (one == file->statics + file->static_count) {
		*one = (struct static_share){ .kind = (uint8_t)kind, .culprit = culprit };
		file->static_count++;
	}
	one->low += more->low;
	one->high += more->high;
	one->likely += more->likely;
}

/* Gives what was lost to the units of the block. */
static void give_to_units(struct stalls *stalls, uint32_t at,
			  const struct timed_parts parts[MOST_SCENES], struct timed_part lost)
{
	static const enum hp_cause_kind units[] = { HP_CAUSE_DIVIDER, HP_CAUSE_MULTIPLIER,
						    HP_CAUSE_FP_LATENCY };
	struct case_file *file = &stalls->files[at];

	for (size_t i = 0; i < HP_ARRAY_COUNT(units); i++) {
		uint8_t kind = (uint8_t)units[i];
		struct timed_part share = share_of(stalls, at, parts, kind);
		struct timed_part had = sum_of(file, kind), more;
		uint32_t culprit =
			unit_of(stalls->facts, facts_insn(stalls->facts, at)->block, units[i]);

		more.high = fmax(0, fmin(lost.high, share.high - had.high));
		more.low = fmax(0, fmin(fmin(lost.low, more.high), share.low - had.low));
		more.likely = fmax(more.low,
				   fmin(fmin(lost.likely, more.high), share.likely - had.likely));
		if (culprit == HP_SCHEDULE_NONE || more.high < least_cause_share)
			continue;
		add(file, units[i], culprit, &more);
		lost.low -= more.low;
		lost.high -= more.low;
		lost.likely -= more.likely;
	}
}

void statics_time(struct stalls *stalls, uint32_t at, const struct timed_parts parts[MOST_SCENES])
{
	give_to_units(stalls, at, parts, limit(stalls, at, parts));
}
