/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	frequencies and the scale; cycles and best cases of blocks and instructions
 * provides	causes, of each instruction with at least one sample's time, and the sheet
 *
 * DCPI section 6.3. A block's stall depends on how often it was executed, which is known only
 * within an interval, a wide one without evidence that counts. So stalls are split in several
 * scenes, each with frequencies that the intervals allow (stalls.c). The range of a cause is the
 * union over the scenes; one scene is the likely one.
 *
 * In one scene, the range of a suspect goes from what the bounds of all others leave unexplained to
 * its own bound. Its likely share is its expected cycles, scaled so that all shares add up to the
 * stall, within the bounds. Cycles beyond the sum of all bounds are unexplained.
 */
#include "culprit/causes.h"
#include "culprit/duty.h"
#include "culprit/marks.h"
#include "culprit/place.h"
#include "culprit/witness.h"
#include "stalls.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

#include <stdlib.h>
#include <string.h>

static struct hp_error *find_facts(struct analyzer *analyzer, struct facts *facts)
{
	static struct hp_error *(*const parts[])(struct facts *, struct hp_arena *) = {
		path_prepare,  duty_prepare,	   place_prepare,
		marks_prepare, mispredict_prepare, fetch_prepare,
	};
	struct hp_error *error;

	facts->analysis = analyzer->analysis;
	facts->cfg = analyzer->cfg;
	facts->core = analyzer->analysis->core;
	facts->is_skidding = analyzer->options->skid_instructions > 0;
	error = witness_prepare(analyzer->analysis, analyzer->input, analyzer->arena);
	for (size_t i = 0; i < HP_ARRAY_COUNT(parts) && !error; i++)
		error = parts[i](facts, analyzer->scratch);
	analyzer->analysis->effort += facts->effort;
	return error;
}

static void ask_all(const struct facts *facts, uint32_t at, struct suspects *found)
{
	static cause_function *const causes[] = {
		suspect_dcache, suspect_dtlb,  suspect_store_buffer, suspect_store_forward,
		suspect_units,	suspect_sync,  suspect_mispredict,   suspect_icache,
		suspect_itlb,	suspect_fetch,
	};
	struct path path;

	path_find(facts, at, facts->core->reorder_slots, &path);
	for (size_t i = 0; i < HP_ARRAY_COUNT(causes); i++)
		causes[i](facts, &path, found);
}

/* An atomic instruction or a fence certainly takes its time; that it also misses a cache is a
 * guess. So the other suspects that name it are expected to take less. */
static void prefer_certain(const struct facts *facts, struct suspects *found)
{
	for (uint32_t i = 0; i < found->count; i++) {
		struct suspect *one = &found->at[i];

		if (one->culprit == HP_SCHEDULE_NONE || one->kind == HP_CAUSE_SYNC ||
		    facts->insns[one->culprit].duty != HP_DUTY_SYNC)
			continue;
		one->expected *= guess_beside_sync;
		one->weight *= guess_beside_sync;
	}
}

static struct hp_error *question(struct stalls *stalls, uint32_t at)
{
	const struct facts *facts = stalls->facts;
	struct case_file *file = &stalls->files[at];
	uint32_t next = path_next(facts, at);
	uint32_t before = path_spread_from(facts, at);
	struct suspects found = { .doubt = 1 };

	/* The instruction's own come first: when there is no room, others are merged with them. */
	ask_all(facts, at, &found);
	found.doubt = no_skid_doubt;
	if (next != HP_SCHEDULE_NONE && facts->is_skidding)
		ask_all(facts, next, &found);
	if (before != HP_SCHEDULE_NONE)
		ask_all(facts, before, &found);
	prefer_certain(facts, &found);
	file->count = found.count;
	file->suspects = hp_arena_array(stalls->scratch, file->count + 1, sizeof(*file->suspects));
	if (!file->suspects)
		return hp_error_create_no_memory();
	memcpy(file->suspects, found.at, file->count * sizeof(*file->suspects));
	for (uint32_t i = 0; i < file->count; i++)
		file->bound += file->suspects[i].bound;
	return NULL;
}

/* --- splitting a stall ------------------------------------------------------------------------ */

/* By what factor, at least 1, the bounds are relaxed to allow for chance. The few samples on one of
 * many instructions are often there by chance: its mean may be much lower than what was seen, and
 * that of others higher. */
static double slack_of(const struct hp_analysed_insn *insn)
{
	double samples = insn->moved;
	double least = samples - 1 - slack_deviations * sqrt(samples);

	return least > samples / most_slack ? samples / least : most_slack;
}

/* --- what the timing of the path adds -----------------------------------------------------------
 * Bounds by counts say what a cause can take at most; the timing says what it took. Where the two
 * contradict each other, the counts win. */

/* The stall lasts at least for what is dynamic, and for static waits that are certain. */
static void lower_stalled(struct stalls *stalls, uint32_t at)
{
	struct hp_analysed_insn *insn = &stalls->analysis->insns[at];
	const struct case_file *file = &stalls->files[at];
	double fixed = 0;

	for (uint32_t i = 0; i < file->static_count; i++)
		fixed += file->statics[i].low * insn->cycles;
	for (unsigned scene = 0; scene < stalls->scenes; scene++)
		insn->stalled.low = fmin(insn->stalled.low, stall_of(stalls, at, scene) + fixed);
}

struct split {
	/* What the timing says of each kind, static waits included; 0 to 1: nothing. */
	struct hp_range timed[HP_CAUSE_COUNT];
	double slots; /* what instructions take at most, issue width included; 1: not known */
	/* shares of the instruction's cycles; the last element is unexplained */
	double low[MOST_SUSPECTS + 1];
	double high[MOST_SUSPECTS + 1];
	double likely[MOST_SUSPECTS + 1];
};

/* Bounds and likely shares of each suspect, and of what stays unexplained, in one scene. */
static void split_suspects(struct stalls *stalls, uint32_t at, unsigned scene,
			   const struct timed_part *parts, struct split *split,
			   double bounds[HP_CAUSE_COUNT])
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	const struct case_file *file = &stalls->files[at];
	double runs = stalls->runs[scene][insn->block];
	double stall = stall_of(stalls, at, scene);
	double each = runs > 0 ? stall / runs : 0; /* of one execution */
	double share = runs / insn->cycles;
	double likely[MOST_SUSPECTS] = { 0 };
	double slack = slack_of(insn);
	double most = file->bound > 0 ? each / file->bound : 1;
	/* The bounds are stretched only as far as the stall requires. */
	double stretch = fmax(1, fmin(slack, most));
	double all = file->bound * slack;
	double left = fmax(0, each - file->bound * stretch);

	if (scene == stalls->likely)
		likely_split(file, runs, each, stretch, likely);
	if (scene == stalls->likely && parts)
		likely_timed(file, parts, each, likely);
	for (uint32_t i = 0; i < file->count; i++) {
		double bound = file->suspects[i].bound * slack;

		bounds[file->suspects[i].kind] += bound;
		split->low[i] =
			fmin(split->low[i], share * fmax(0, fmin(bound, each - (all - bound))));
		split->high[i] = fmax(split->high[i], share * fmin(each, bound));
		split->likely[i] += share * likely[i];
	}
	bounds[HP_CAUSE_UNEXPLAINED] = left;
	split->low[file->count] = fmin(split->low[file->count], share * left);
	split->high[file->count] = fmax(split->high[file->count], share * left);
	if (scene == stalls->likely)
		split->likely[file->count] = share * left;
}

static void widen_range(struct hp_range *range, double share, struct hp_range scene)
{
	range->low = fmin(range->low, share * scene.low);
	range->high = fmax(range->high, share * scene.high);
}

/* Waits and slots that the best case does not have, but the timing of the path does, per execution: the
 * best case is of one block alone. */
static double beyond_best(double best, const struct timed_parts *parts)
{
	const struct timed_part *kinds = parts->kinds;

	return kinds[HP_CAUSE_DEPENDENCY].high + kinds[HP_CAUSE_PORT].high +
	       fmax(0, kinds[HP_CAUSE_ISSUE_WIDTH].high - best);
}

/* Bounds of the share of each kind of cause, and of each family, in one scene. `ranges` has the
 * bounds by counts. */
static void split_kinds(struct stalls *stalls, uint32_t at, unsigned scene,
			const struct timed_parts *parts, struct scene_ranges *ranges)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	const double *bounds = ranges->bounds;
	double runs = stalls->runs[scene][insn->block];
	double each = runs > 0 ? stall_of(stalls, at, scene) / runs : 0;
	double share = runs / insn->cycles;
	double best = stalls->overlapped[insn->block] * insn->best_case_cycles;
	double beyond = parts ? beyond_best(best, parts) : 0;
	double all = stalls->files[at].bound * slack_of(insn) + beyond;
	double sum = beyond;

	ranges->stall = each;
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		bool is_left = k == HP_CAUSE_UNEXPLAINED;
		struct hp_range *kind = &ranges->kinds[k];

		kind->low = is_left ? bounds[k]
				    : fmax(0, fmin(bounds[k], each - (all - bounds[k])));
		kind->high = fmin(each, bounds[k]);
		if (parts && !is_left)
			narrow_by_timing(&parts->kinds[k], each, kind);
		sum += kind->high;
	}
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		struct hp_range *kind = &ranges->kinds[k];

		/* What the other kinds cannot take, even at the limits that the timing sets. */
		kind->low = fmax(kind->low, fmin(kind->high, each - (sum - kind->high)));
		widen_range(&stalls->kinds[k], share, *kind);
	}
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++)
		widen_range(&stalls->families[family], share,
			    joint_range(family, ranges, parts ? &parts->families[family] : NULL));
}

/* Slots that instructions take are no stall, so the timing says nothing of those lost to the width; and
 * units may have taken more: what else waits for their results differs from core to core. */
static void keep_timed(const struct stalls *stalls, uint32_t at, const struct timed_parts *parts,
		       struct split *split)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	double share = stalls->runs[stalls->likely][insn->block] / insn->cycles;

	if (parts->fits)
		split->slots = fmin(1, share * parts->kinds[HP_CAUSE_ISSUE_WIDTH].high);
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		const struct timed_part *part = &parts->kinds[k];
		bool is_wait = k == HP_CAUSE_DEPENDENCY || k == HP_CAUSE_PORT;

		if (k == HP_CAUSE_ISSUE_WIDTH || k == HP_CAUSE_UNEXPLAINED)
			continue;
		split->timed[k] = (struct hp_range){
			share * part->low,
			is_wait ? share * part->high : 1,
		};
	}
}

static void split_stall(struct stalls *stalls, uint32_t at, struct split *split)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	const struct case_file *file = &stalls->files[at];
	bool is_timed = extent_is_timed(stalls, at);
	struct timed_parts parts[MOST_SCENES];

	memset(split, 0, sizeof(*split));
	split->slots = 1;
	for (uint32_t i = 0; i <= file->count; i++)
		split->low[i] = 1;
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		stalls->kinds[k] = (struct hp_range){ .low = 1, .high = 0 };
		split->timed[k] = (struct hp_range){ .low = 0, .high = 1 };
	}
	for (unsigned i = 0; i < HP_FAMILY_COUNT; i++)
		stalls->families[i] = (struct hp_range){ .low = 1, .high = 0 };
	for (unsigned scene = 0; scene < stalls->scenes && is_timed; scene++) {
		extent_parts(stalls, at, &parts[scene]);
		extent_in_scene(stalls, insn->block, scene, &parts[scene]);
	}
	if (is_timed) {
		keep_timed(stalls, at, &parts[stalls->likely], split);
		statics_time(stalls, at, parts);
		lower_stalled(stalls, at);
	}
	for (unsigned scene = 0; scene < stalls->scenes; scene++) {
		struct timed_parts *timed = is_timed ? &parts[scene] : NULL;
		struct scene_ranges ranges = { 0 };

		if (timed)
			statics_take(file, insn->cycles / stalls->runs[scene][insn->block],
				     timed->kinds);
		split_suspects(stalls, at, scene, timed ? timed->kinds : NULL, split,
			       ranges.bounds);
		split_kinds(stalls, at, scene, timed, &ranges);
	}
	likely_at_least(file, stalls->kinds, split->likely);
}

/* --- what is written down --------------------------------------------------------------------- */

enum { MOST_CAUSES = HP_CAUSE_COUNT + STATIC_CAUSES };

static int by_likelihood(const void *a, const void *b)
{
	const struct hp_cause *left = a;
	const struct hp_cause *right = b;

	if (left->likely != right->likely)
		return left->likely < right->likely ? 1 : -1;
	if (left->high != right->high)
		return left->high < right->high ? 1 : -1;
	return (left->kind > right->kind) - (left->kind < right->kind);
}

/* Shares are clamped to 0..1, which rounding may have left. */
static struct hp_cause cause_from(const struct facts *facts, uint8_t kind, uint32_t culprit,
				  const double shares[3])
{
	struct hp_cause cause = { .kind = kind };

	cause.low = fmin(1, fmax(0, shares[0]));
	cause.high = fmin(1, fmax(cause.low, shares[1]));
	cause.likely = fmin(cause.high, fmax(cause.low, shares[2]));
	if (culprit != HP_SCHEDULE_NONE) {
		cause.has_culprit = true;
		cause.culprit = (hp_link_address){ facts_insn(facts, culprit)->insn->address };
	}
	return cause;
}

/* Adds up all suspects of one kind: they stand in for each other, so the share of the kind is known
 * more precisely than that of each suspect. */
static struct hp_cause cause_of_kind(const struct stalls *stalls, uint32_t at,
				     const struct split *split, uint8_t kind)
{
	const struct case_file *file = &stalls->files[at];
	double shares[3] = { stalls->kinds[kind].low, stalls->kinds[kind].high, 0 };
	uint32_t likeliest = HP_SCHEDULE_NONE;

	if (kind == HP_CAUSE_UNEXPLAINED)
		shares[2] = split->likely[file->count];
	for (uint32_t i = 0; i < file->count; i++) {
		if (file->suspects[i].kind != kind)
			continue;
		shares[2] += split->likely[i];
		if (likeliest == HP_SCHEDULE_NONE || split->likely[i] > split->likely[likeliest])
			likeliest = i;
	}
	return cause_from(stalls->facts, kind,
			  likeliest == HP_SCHEDULE_NONE ? HP_SCHEDULE_NONE
							: file->suspects[likeliest].culprit,
			  shares);
}

/* Waits that the timing of the path has at most, beyond those that are written down. */
static double waits_left(const struct hp_range timed[HP_CAUSE_COUNT], const struct hp_cause *causes,
			 uint32_t count)
{
	double dependency = timed[HP_CAUSE_DEPENDENCY].high, port = timed[HP_CAUSE_PORT].high;

	for (uint32_t i = 0; i < count; i++) {
		dependency -= causes[i].kind == HP_CAUSE_DEPENDENCY ? causes[i].high : 0;
		port -= causes[i].kind == HP_CAUSE_PORT ? causes[i].high : 0;
	}
	return fmax(0, dependency) + fmax(0, port);
}

/* The stall lasts no longer than all of its causes together. */
static void limit_stalled(struct hp_analysed_insn *insn, double rare, const struct hp_cause *causes,
			  uint32_t count)
{
	double most = rare;

	for (uint32_t i = 0; i < count; i++)
		most += causes[i].high;
	insn->stalled.high = fmin(insn->stalled.high, most * insn->cycles);
	insn->stalled.low = fmin(insn->stalled.low, insn->stalled.high);
}

static struct hp_error *write_down(struct stalls *stalls, uint32_t at, const struct split *split)
{
	struct hp_analysis *analysis = stalls->analysis;
	struct hp_analysed_insn *insn = &analysis->insns[at];
	const struct case_file *file = &stalls->files[at];
	struct hp_cause causes[MOST_CAUSES];
	double rest = split->slots; /* that what is not written down takes, at most */
	double rare = 0;
	uint32_t count = 0;

	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		if (stalls->kinds[kind].high >= least_cause_share)
			causes[count++] = cause_of_kind(stalls, at, split, (uint8_t)kind);
		else
			rare += fmax(0, stalls->kinds[kind].high);
	}
	rest += rare;
	for (uint32_t i = 0; i < file->static_count; i++) {
		const struct static_share *one = &file->statics[i];
		const double shares[3] = { one->low, one->high, one->likely };

		if (one->high >= least_cause_share)
			causes[count++] =
				cause_from(stalls->facts, one->kind, one->culprit, shares);
	}
	qsort(causes, count, sizeof(*causes), by_likelihood);
	count = joint_kinds(split->timed, causes, count);
	rest += waits_left(split->timed, causes, count);
	joint_eliminate(rest, causes, count);
	qsort(causes, count, sizeof(*causes), by_likelihood);
	limit_stalled(insn, rare, causes, count);
	insn->first_cause = (uint32_t)analysis->cause_count;
	insn->cause_count = count;
	if (count == 0)
		return NULL;
	if (!stalls_make_room(stalls, count))
		return hp_error_create_no_memory();
	memcpy(&analysis->causes[analysis->cause_count], causes, count * sizeof(*causes));
	analysis->cause_count += count;
	return joint_choose(stalls, rest, causes, count, &insn->joint);
}

/* --- what counters add --------------------------------------------------------------------------
 * They say how many cycles a cause took in the whole procedure at most, and therefore in any
 * stall. */

/* Executions of the block in the scene that has the fewest. */
static double fewest_runs(const struct stalls *stalls, uint32_t block)
{
	double fewest = INFINITY;

	for (unsigned scene = 0; scene < stalls->scenes; scene++)
		fewest = fmin(fewest, stalls->runs[scene][block]);
	return fewest;
}

static void limit_suspects(struct stalls *stalls, const double *most_cycles)
{
	for (uint32_t at = 0; most_cycles && at < stalls->analysis->insn_count; at++) {
		struct case_file *file = &stalls->files[at];
		double runs = fewest_runs(stalls, facts_insn(stalls->facts, at)->block);

		file->bound = 0;
		for (uint32_t i = 0; i < file->count; i++) {
			struct suspect *one = &file->suspects[i];

			if (one->kind < HP_CAUSE_DYNAMIC_COUNT && runs > 0)
				one->bound = fmin(one->bound, most_cycles[one->kind] / runs);
			one->expected = fmin(one->expected, one->bound);
			file->bound += one->bound;
		}
	}
}

static bool is_worth(const struct hp_analysed_insn *insn)
{
	return insn->moved >= least_samples_asked && insn->cycles > 0;
}

struct hp_error *find_culprits(struct analyzer *analyzer)
{
	struct hp_analysis *analysis = analyzer->analysis;
	struct facts facts = { 0 };
	struct cause_sums sums = { 0 };
	struct stalls stalls;
	struct hp_error *error = find_facts(analyzer, &facts);

	if (!error)
		error = stalls_create(analyzer, &facts, &stalls);
	if (error)
		return error;
	for (uint32_t at = 0; at < analysis->insn_count && !error; at++)
		if (is_worth(&analysis->insns[at]))
			error = question(&stalls, at);
	if (!error)
		error = stalls_choose_scenes(&stalls);
	if (!error)
		error = stalls_find_statics(&stalls);
	if (!error)
		error = extent_prepare(&stalls);
	if (error)
		return error;
	limit_suspects(&stalls, analyzer->input->most_cycles);
	error = sums_begin(&stalls);
	sheet_begin(&stalls, analyzer->sample_cycles);
	for (uint32_t at = 0; at < analysis->insn_count && !error; at++) {
		struct split split;

		if (!is_worth(&analysis->insns[at])) {
			sheet_add_rest(&stalls, at);
			continue;
		}
		split_stall(&stalls, at, &split);
		sheet_add(&stalls, at, split.likely);
		sums_add(&stalls, at);
		error = write_down(&stalls, at, &split);
	}
	if (!error)
		error = sums_end(&stalls, &sums);
	sheet_end(analysis, &sums, analyzer->input->most_cycles);
	return error;
}
