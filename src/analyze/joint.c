/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	the ranges of each kind of cause
 * provides	the ranges of families of causes
 *
 * One load can miss a cache and the TLB at the same time, and one fetch of code can miss both of
 * those of code. Then each of the two may have taken most of the wait, so both ranges are wide. What
 * they took together is known better: the whole wait minus what all other causes explain at most.
 *
 * A wait for an operand or a unit is in part in the best case of its block, and in part beyond it. How
 * much is in which part is known less well than the whole wait, so both are one cause.
 */
#include "stalls.h"
#include "tuning.h"

static bool is_in(enum hp_cause_family family, unsigned kind)
{
	return hp_family_kinds(family) >> kind & 1;
}

uint32_t hp_family_kinds(enum hp_cause_family family)
{
	static const uint32_t kinds[HP_FAMILY_COUNT] = {
		[HP_FAMILY_DATA] = 1u << HP_CAUSE_DCACHE | 1u << HP_CAUSE_DTLB |
				   1u << HP_CAUSE_STORE_BUFFER,
		[HP_FAMILY_CODE] = 1u << HP_CAUSE_ICACHE | 1u << HP_CAUSE_ITLB |
				   1u << HP_CAUSE_FETCH,
	};

	return family < HP_FAMILY_COUNT ? kinds[family] : 0;
}

void narrow_by_timing(const struct timed_part *part, double stall, struct hp_range *range)
{
	/* The part's lower end is limited to the stall, since the stall excludes the best case. */
	double low = fmax(range->low, fmin(part->low, stall));
	double high = fmin(range->high, part->high);

	if (low <= high)
		*range = (struct hp_range){ low, high };
}

struct hp_range joint_range(enum hp_cause_family family, const struct scene_ranges *scene,
			    const struct timed_part *timed)
{
	struct hp_range range = { 0, 0 };
	double bound = 0;	 /* what they can take, by counts */
	double others_bound = 0; /* what all others can */
	double others = 0;	 /* the same, by counts and the timing */
	double least = 0;	 /* what one of them took for sure */

	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		if (!is_in(family, k)) {
			others += scene->kinds[k].high;
			others_bound += k == HP_CAUSE_UNEXPLAINED ? 0 : scene->bounds[k];
			continue;
		}
		bound += scene->bounds[k];
		least = fmax(least, scene->kinds[k].low);
	}
	range.high = fmin(scene->stall, bound);
	range.low = fmax(0, fmin(range.high, scene->stall - others_bound));
	if (timed)
		narrow_by_timing(timed, scene->stall, &range);
	range.high = fmax(range.high, least);
	range.low = fmax(range.low, fmin(range.high, fmax(least, scene->stall - others)));
	return range;
}

static void narrow_cause(const struct hp_range *timed, struct hp_cause *cause)
{
	double low = fmax(cause->low, timed->low), high = fmin(cause->high, timed->high);

	if (low <= high) { /* otherwise the two contradict each other */
		cause->low = low;
		cause->high = high;
	}
	cause->high = fmin(1, cause->high);
	cause->low = fmin(cause->low, cause->high);
	cause->likely = fmin(cause->high, fmax(cause->low, cause->likely));
}

uint32_t joint_kinds(const struct hp_range timed[HP_CAUSE_COUNT], struct hp_cause *causes,
		     uint32_t count)
{
	uint32_t kept = 0, joined = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = 0;

		while (k < kept && causes[k].kind != causes[i].kind)
			k++;
		if (k == kept) {
			causes[kept++] = causes[i];
			continue;
		}
		causes[k].low += causes[i].low;
		causes[k].likely += causes[i].likely;
		causes[k].high += causes[i].high;
		joined |= 1u << causes[i].kind;
	}
	for (uint32_t k = 0; k < kept; k++)
		if (joined >> causes[k].kind & 1)
			narrow_cause(&timed[causes[k].kind], &causes[k]);
	return kept;
}

/* What all causes but those of `kinds` take at most, the rest included. */
static double most_of_others(uint32_t kinds, double rest, const struct hp_cause *causes,
			     uint32_t count)
{
	double most = rest;

	for (uint32_t i = 0; i < count; i++)
		if (!((kinds | 1u << HP_CAUSE_ISSUE_WIDTH) >> causes[i].kind & 1))
			most += causes[i].high;
	return most;
}

void joint_eliminate(double rest, struct hp_cause *causes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct hp_cause *one = &causes[i];

		if (one->kind == HP_CAUSE_ISSUE_WIDTH || one->kind == HP_CAUSE_UNEXPLAINED)
			continue;
		one->low = fmax(one->low, fmin(one->high, 1 - most_of_others(1u << one->kind, rest,
									     causes, count)));
		one->likely = fmax(one->low, one->likely);
	}
}

/* Adds up the causes of the family. `*likeliest` is the first of them, NULL if there is none. */
static struct hp_joint_cause join(enum hp_cause_family family, const struct hp_cause *causes,
				  uint32_t count, const struct hp_cause **likeliest)
{
	struct hp_joint_cause joint = { 0 };

	*likeliest = NULL;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_in(family, causes[i].kind))
			continue;
		joint.kinds |= 1u << causes[i].kind;
		joint.likely += causes[i].likely;
		if (*likeliest)
			continue;
		*likeliest = &causes[i];
		joint.has_culprit = causes[i].has_culprit;
		joint.culprit = causes[i].culprit;
	}
	return joint;
}

struct hp_error *joint_choose(const struct stalls *stalls, double rest,
			      const struct hp_cause *causes, uint32_t count,
			      const struct hp_joint_cause **chosen)
{
	struct hp_joint_cause best = { 0 }, *kept;

	*chosen = NULL;
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		const struct hp_cause *likeliest;
		struct hp_joint_cause joint = join(family, causes, count, &likeliest);

		if (!likeliest || joint.kinds == 1u << likeliest->kind ||
		    joint.likely <= best.likely)
			continue;
		joint.low = fmin(1, fmax(0, stalls->families[family].low));
		joint.high = fmin(1, fmax(joint.low, stalls->families[family].high));
		joint.low = fmax(joint.low, fmin(joint.high, 1 - most_of_others(joint.kinds, rest,
										causes, count)));
		joint.likely = fmin(joint.high, fmax(joint.low, joint.likely));
		if (joint.high - joint.low < likeliest->high - likeliest->low)
			best = joint;
	}
	if (!best.kinds)
		return NULL;
	kept = hp_arena_alloc(stalls->arena, sizeof(*kept));
	if (!kept)
		return hp_error_create_no_memory();
	*kept = best;
	*chosen = kept;
	return NULL;
}
