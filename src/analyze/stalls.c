/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stall of each instruction in each scene, and the static part of its time.
 *
 * A block's stall is its cycles minus its executions times its best case. It is distributed over
 * the block's instructions in proportion to each one's cycles above its own share of the best case:
 * how much neighbours take together is better known than which of them retirement waits for.
 *
 * A scene is one possible set of frequencies. With evidence that counts there are three: the
 * estimate and both ends of its interval; if the path was timed, of the interval that counts and
 * timing agree on. With time alone the scenes range from the highest scale that the best case allows
 * down to the lowest scale, at which the bounds of all suspects together are needed to explain the
 * time. At the likely scale their expected cycles explain it. If the path was timed, the likely scale
 * is the one at which the timed cycles equal the measured ones.
 */
#include "stalls.h"
#include "culprit/duty.h"
#include "tuning.h"

#include <hpcprof/model/evidence.h>

#include <string.h>

struct hp_error *stalls_create(struct analyzer *analyzer, const struct facts *facts,
			       struct stalls *stalls)
{
	*stalls = (struct stalls){
		.facts = facts,
		.analysis = analyzer->analysis,
		.arena = analyzer->arena,
		.scratch = analyzer->scratch,
	};
	stalls->files = hp_arena_array(analyzer->scratch, analyzer->analysis->insn_count + 1,
				       sizeof(*stalls->files));
	return stalls->files ? NULL : hp_error_create_no_memory();
}

bool stalls_make_room(struct stalls *stalls, uint32_t more)
{
	struct hp_analysis *analysis = stalls->analysis;
	size_t wanted = analysis->cause_count + more;
	struct hp_cause *moved;

	if (wanted <= stalls->cause_room)
		return true;
	stalls->cause_room = 2 * wanted + 64;
	moved = hp_arena_array(stalls->arena, stalls->cause_room, sizeof(*moved));
	if (!moved)
		return false;
	if (analysis->cause_count)
		memcpy(moved, analysis->causes, analysis->cause_count * sizeof(*moved));
	analysis->causes = moved;
	return true;
}

/* --- scenes ----------------------------------------------------------------------------------- */

/* Cycles that the suspects of one instruction are expected to take at `runs` executions, or can
 * take at most. When samples are few, it is chance which of several neighbours has them; then each
 * instruction with samples represents its neighbours without, and its suspects take a proportional
 * share. */
static double suspects_take(const struct stalls *stalls, uint32_t at, double runs, bool at_most)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	const struct hp_analysed_block *block = &stalls->analysis->blocks[insn->block];
	const struct case_file *file = &stalls->files[at];
	double each = at_most ? file->bound : expected_of(file, runs);
	double best = block->best_case_cycles / block->insn_count;

	if (insn->moved < few_insn_samples)
		return each > 0 ? insn->cycles * each / (each + best) : 0;
	return runs * each < insn->cycles ? runs * each : insn->cycles;
}

/* Whether best cases and suspects together explain no more than these cycles. All addends are
 * positive, so the sum may stop early. */
static bool explains_at_most(const struct stalls *stalls, double scale, bool at_most, double cycles)
{
	const struct hp_analysis *analysis = stalls->analysis;
	double sum = 0;

	for (uint32_t i = 0; i < stalls->facts->cfg->block_count && sum <= cycles; i++) {
		const struct hp_analysed_block *block = &analysis->blocks[i];
		double runs = scale * block->frequency.relative;

		if (!(runs > 0))
			continue;
		sum += runs * block->best_case_cycles;
		for (uint32_t k = 0; k < block->insn_count && block->cycles > 0; k++)
			sum += suspects_take(stalls, block->first_insn + k, runs, at_most);
	}
	return sum <= cycles;
}

/* The scale, up to `highest`, at which best cases and suspects explain all of the cycles. */
static double solve_scale(const struct stalls *stalls, double highest, double cycles, bool at_most)
{
	double low = 0;
	double high = highest;

	if (explains_at_most(stalls, highest, at_most, cycles))
		return highest;
	/* Bounds cannot make a factor of 2^40 between the two ends. */
	for (unsigned i = 0; i < 60; i++) {
		double middle = i < 40 && low == 0 ? high / 2 : (low + high) / 2;

		if (middle <= low || middle >= high)
			break; /* there is no number between the two */
		if (explains_at_most(stalls, middle, at_most, cycles))
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void fill_runs(struct stalls *stalls, unsigned scene, double scale)
{
	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &stalls->analysis->blocks[i];
		const struct hp_frequency *frequency = &block->frequency;
		double runs = scale * frequency->relative;
		/* A block with time has run, however seldom. */
		double least = block->cycles * 1e-9;

		if (stalls->analysis->is_absolute)
			runs = scale < 0   ? frequency->executions_low
			       : scale > 0 ? frequency->executions_high
					   : frequency->executions;
		stalls->runs[scene][i] = runs > least ? runs : least;
	}
}

static void find_kept(struct stalls *stalls, unsigned scene)
{
	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &stalls->analysis->blocks[i];
		double runs = stalls->runs[scene][i];
		double best = stalls->overlapped[i];
		double stall = block->cycles - runs * best * block->best_case_cycles;
		double excess = 0;

		for (uint32_t k = 0; k < block->insn_count; k++) {
			const struct hp_analysed_insn *insn =
				facts_insn(stalls->facts, block->first_insn + k);
			double above = insn->cycles - runs * best * insn->best_case_cycles;

			excess += above > 0 ? above : 0;
		}
		stalls->kept[scene][i] = stall > 0 && excess > 0 ? stall / excess : 0;
		if (stalls->kept[scene][i] > 1)
			stalls->kept[scene][i] = 1;
	}
}

double stall_of(const struct stalls *stalls, uint32_t at, unsigned scene)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	double best = stalls->overlapped[insn->block] * insn->best_case_cycles;
	double above = insn->cycles - stalls->runs[scene][insn->block] * best;

	return above > 0 ? above * stalls->kept[scene][insn->block] : 0;
}

/* Where the path was timed, only scales near its own fit what was measured. */
static void bound_scales(const struct stalls *stalls, double scales[MOST_SCENES])
{
	struct hp_range timed;

	if (!extent_bound_scale(stalls, &timed))
		return;
	timed.high = fmin(timed.high, scales[0]);
	timed.low = fmin(timed.low, timed.high);
	scales[0] = timed.high;
	scales[1] = fmax(timed.low, fmin(timed.high, scales[1]));
	scales[3] = fmax(timed.low, fmin(timed.high, scales[3]));
}

/* The mean of the blocks' 90 % intervals, weighted by cycles: half of it, as a logarithm. What they have in
 * common is hardly less, as windows see few moments. */
static double counted_error(const struct stalls *stalls)
{
	double sum = 0, cycles = 0;

	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &stalls->analysis->blocks[i];

		if (!(block->cycles > 0))
			continue;
		sum += block->cycles * log(stalls->runs[2][i] / stalls->runs[0][i]) / 2;
		cycles += block->cycles;
	}
	return cycles > 0 ? sum / cycles : 0;
}

/* How likely the timing is with so many executions, as a logarithm of times those counted. `timed` is
 * where it fits within its error. */
static double fit_of(const struct hp_range *timed, double scale)
{
	double below = log(timed->low * (1 + whole_error)) - scale;
	double above = scale - log(timed->high * (1 - whole_error));
	double far = below > 0	 ? below / log(1 + whole_error)
		     : above > 0 ? above / -log(1 - whole_error)
				 : 0;

	return exp(-0.5 * HP_NORMAL_90 * HP_NORMAL_90 * far * far);
}

/* The 90 % interval of a common factor of all executions by counts and by the timing, whose errors are
 * independent of each other. In logarithms; it holds 0. */
static struct hp_range agreed_scale(const struct hp_range *timed, double counted)
{
	double weights[SCALES], sum = 0, passed = 0;
	struct hp_range agreed = { 0, 0 };

	for (unsigned i = 0; i < SCALES; i++) {
		double scale = counted * widest_scale * (2.0 * i / (SCALES - 1) - 1);
		double far = HP_NORMAL_90 * scale / counted;

		weights[i] = exp(-0.5 * far * far) * fit_of(timed, scale);
		sum += weights[i];
	}
	for (unsigned i = 0; i < SCALES; i++) {
		double scale = counted * widest_scale * (2.0 * i / (SCALES - 1) - 1);

		if (passed < 0.05 * sum)
			agreed.low = fmin(0, scale);
		if (passed < 0.95 * sum)
			agreed.high = fmax(0, scale);
		passed += weights[i];
	}
	return agreed;
}

/* Half an interval of one block, less what is common to all blocks and is known better now. */
static double own_error(double half, double common, double agreed)
{
	return fmin(half, sqrt(fmax(0, half * half - common * common) + agreed * agreed));
}

/* The same where executions were counted. */
static void bound_runs(const struct stalls *stalls)
{
	double counted = counted_error(stalls);
	struct hp_range timed, agreed;

	if (!extent_bound_scale(stalls, &timed) || !(counted > 0))
		return;
	agreed = agreed_scale(&timed, counted);
	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++) {
		double runs = stalls->runs[1][i];
		double below = log(runs / stalls->runs[0][i]);
		double above = log(stalls->runs[2][i] / runs);

		stalls->runs[0][i] = runs * exp(-own_error(below, counted, -agreed.low));
		stalls->runs[2][i] = runs * exp(own_error(above, counted, agreed.high));
		stalls->runs[0][i] = fmax(stalls->runs[0][i], runs * fmin(1, timed.low));
		stalls->runs[2][i] = fmin(stalls->runs[2][i], runs * fmax(1, timed.high));
	}
}

struct hp_error *stalls_choose_scenes(struct stalls *stalls)
{
	struct hp_analysis *analysis = stalls->analysis;
	double scales[MOST_SCENES] = { -1, 0, 1 };
	double cycles = 0;

	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++)
		cycles += analysis->blocks[i].cycles;
	stalls->scenes = 3;
	stalls->likely = 1;
	if (!analysis->is_absolute) {
		double highest = analysis->scale_high;

		if (!isfinite(highest) || highest <= 0 || cycles <= 0) {
			stalls->scenes = 0;
			return NULL;
		}
		scales[0] = highest;
		scales[1] = solve_scale(stalls, highest, cycles, false);
		scales[3] = solve_scale(stalls, highest, cycles, true);
		bound_scales(stalls, scales);
		scales[2] = sqrt(scales[1] * scales[3]);
		stalls->scenes = 4;
	}
	for (unsigned scene = 0; scene < stalls->scenes; scene++) {
		stalls->runs[scene] = hp_arena_array(
			stalls->scratch, stalls->facts->cfg->block_count + 1, sizeof(double));
		stalls->kept[scene] = hp_arena_array(
			stalls->scratch, stalls->facts->cfg->block_count + 1, sizeof(double));
		if (!stalls->runs[scene] || !stalls->kept[scene])
			return hp_error_create_no_memory();
		fill_runs(stalls, scene, scales[scene]);
	}
	if (analysis->is_absolute)
		bound_runs(stalls);
	stalls->overlapped = hp_arena_array(stalls->scratch, stalls->facts->cfg->block_count + 1,
					    sizeof(double));
	if (!stalls->overlapped)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++)
		stalls->overlapped[i] = extent_overlapped(stalls, i);
	for (unsigned scene = 0; scene < stalls->scenes; scene++)
		find_kept(stalls, scene);
	return NULL;
}

/* --- the static part -------------------------------------------------------------------------- */

static void note_static(const struct stalls *stalls, struct case_file *file, uint32_t row,
			double share, unsigned scene)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, row);
	enum hp_cause_kind kind = duty_static_cause(stalls->facts, row);
	uint32_t culprit = kind == HP_CAUSE_DEPENDENCY ? insn->producer
			   : kind == HP_CAUSE_ISSUE_WIDTH || kind == HP_CAUSE_PORT
				   ? HP_SCHEDULE_NONE
				   : row;

	for (uint32_t i = 0; i < file->static_count; i++) {
		struct static_share *one = &file->statics[i];

		if (one->kind == kind && one->culprit == culprit) {
			one->now += share;
			return;
		}
	}
	if (file->static_count < STATIC_CAUSES)
		file->statics[file->static_count++] = (struct static_share){
			.kind = (uint8_t)kind,
			.culprit = culprit,
			.low = scene == 0 ? 1 : 0, /* it has none in earlier scenes */
			.now = share,
		};
}

/* Lays out the static stalls of the schedule in instruction order over the part of each
 * instruction's time that is not dynamic stall, because the schedule may have put a wait on a
 * neighbour. */
static void lay_rows(struct stalls *stalls, uint32_t number, unsigned scene)
{
	const struct hp_analysed_block *block = &stalls->analysis->blocks[number];
	double runs = stalls->runs[scene][number] * stalls->overlapped[number];
	double best = runs * block->best_case_cycles;
	/* If the block was faster than its best case, all rows shrink. */
	double scale = best > block->cycles && best > 0 ? block->cycles / best : 1;
	uint32_t row = block->first_insn;
	uint32_t end = block->first_insn + block->insn_count;
	double left = 0; /* cycles of the row that are not yet laid out */
	double each = 0; /* share of the row that is static stall */

	if (row == end || best <= 0)
		return;
	left = runs * scale * facts_insn(stalls->facts, row)->best_case_cycles;
	for (uint32_t at = block->first_insn; at < end; at++) {
		struct hp_analysed_insn *insn = &stalls->analysis->insns[at];
		double room = insn->cycles - stall_of(stalls, at, scene);

		while (room > 1e-9 * insn->cycles && row < end) {
			const struct hp_analysed_insn *from = facts_insn(stalls->facts, row);
			double laid = room < left ? room : left;

			each = from->best_case_cycles > 0 && from->static_stall != HP_STALL_NONE
				       ? from->stall_cycles / from->best_case_cycles
				       : 0;
			if (stalls->files[at].statics && each > 0 && laid > 0)
				note_static(stalls, &stalls->files[at], row,
					    laid * each / insn->cycles, scene);
			room -= laid;
			left -= laid;
			if (left <= 1e-12 * best && ++row < end)
				left = runs * scale *
				       facts_insn(stalls->facts, row)->best_case_cycles;
		}
	}
}

/* Widens the instruction's range of stalled cycles by this scene, including waits of the best
 * case, at least and at most. */
static void widen_stalled(const struct stalls *stalls, uint32_t at, unsigned scene,
			  const struct hp_range *fixed)
{
	struct hp_analysed_insn *insn = &stalls->analysis->insns[at];
	double stall = stall_of(stalls, at, scene);
	double low = fmin(insn->cycles, stall + fixed->low * insn->cycles);
	double high = fmin(insn->cycles, stall + fixed->high * insn->cycles);

	if (scene == 0)
		insn->stalled = (struct hp_range){ low, high };
	insn->stalled.low = fmin(insn->stalled.low, low);
	insn->stalled.high = fmax(insn->stalled.high, high);
}

double stalls_certain(const struct stalls *stalls, uint32_t block, unsigned scene)
{
	const struct hp_analysed_block *one = &stalls->analysis->blocks[block];
	double best = stalls->runs[scene][block] * one->best_case_cycles;

	return fmax(0, fmin(1, 1 - (best / one->cycles - 1) / timing_error));
}

struct hp_error *stalls_find_statics(struct stalls *stalls)
{
	const struct hp_analysis *analysis = stalls->analysis;

	for (uint32_t at = 0; at < analysis->insn_count; at++) {
		if (!stalls->files[at].suspects)
			continue;
		stalls->files[at].statics = hp_arena_array(stalls->scratch, STATIC_CAUSES,
							   sizeof(*stalls->files[at].statics));
		if (!stalls->files[at].statics)
			return hp_error_create_no_memory();
	}
	for (unsigned scene = 0; scene < stalls->scenes; scene++) {
		for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++)
			if (analysis->blocks[i].cycles > 0)
				lay_rows(stalls, i, scene);
		for (uint32_t at = 0; at < analysis->insn_count; at++) {
			struct case_file *file = &stalls->files[at];
			uint32_t block = facts_insn(stalls->facts, at)->block;
			struct hp_range fixed = { 0, 0 };

			for (uint32_t i = 0; i < file->static_count; i++) {
				struct static_share *one = &file->statics[i];
				double certain = one->now * stalls_certain(stalls, block, scene);

				if (scene == stalls->likely)
					one->likely = one->now;
				one->low = fmin(one->low, certain);
				one->high = one->now > one->high ? one->now : one->high;
				fixed.low += certain;
				fixed.high += one->now;
				one->now = 0;
			}
			widen_stalled(stalls, at, scene, &fixed);
		}
	}
	return NULL;
}
