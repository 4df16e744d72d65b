/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "culprit/path.h"
#include "culprit/witness.h"
#include "stalls.h"
#include "tuning.h"

#include <hpcprof/model/evidence.h>

#include <math.h>
#include <string.h>

/* The least executions of an instruction of the block that has a time of its own; INFINITY: none has. */
static double timed_runs(const struct stalls *stalls, uint32_t block)
{
	const struct hp_analysed_block *one = &stalls->analysis->blocks[block];
	double least = INFINITY;

	for (uint32_t i = 0; i < one->insn_count; i++) {
		const struct hp_happened *seen = witness_of(stalls->facts, one->first_insn + i);

		if (seen && seen->cycles)
			least = fmin(least, seen->runs);
	}
	return least;
}

/* Instructions that take no time, as those that are fused with the one before, have no entry; others of
 * their block have, from the same executions. */
static const struct hp_happened *timed_of(const struct stalls *stalls, uint32_t at)
{
	const struct hp_happened *seen = witness_of(stalls->facts, at);
	uint32_t block = facts_insn(stalls->facts, at)->block;

	return seen && (seen->cycles || seen->runs >= timed_runs(stalls, block)) ? seen : NULL;
}

bool extent_is_timed(const struct stalls *stalls, uint32_t at)
{
	return timed_of(stalls, at) != NULL;
}

/* Cycles by which so many page walks, of which some read entries that are not in a cache, may take
 * longer than was timed. */
static double longer_walks(const struct hp_core *core, double walks, double read)
{
	return walks * (timed_walk_margin - 1) * core->walk_cycles +
	       fmin(read, walks) * miss_margin * core->memory_cycles;
}

/* Adds the cycles that `runs` executions of an instruction take. */
static void add_timed(const struct hp_core *core, const struct hp_happened *seen, double runs,
		      struct timed *sum)
{
	double walks = witness_most(seen, HP_EVENT_TLB2_MISS, HP_EVENT_TLB2_UNKNOWN);
	double read = witness_most(seen, HP_EVENT_WALK_MISS, HP_EVENT_WALK_UNKNOWN);
	double mean = seen->mean[HP_EVENT_TLB2_MISS] + seen->mean[HP_EVENT_TLB2_UNKNOWN];
	double mean_read = seen->mean[HP_EVENT_WALK_MISS] + seen->mean[HP_EVENT_WALK_UNKNOWN];

	sum->walked_likely += runs * longer_walks(core, mean, mean_read);
	for (unsigned lane = 0; seen->cycles && lane < HP_LANES; lane++)
		sum->lanes[lane] += runs * seen->cycles[lane] / seen->runs;
	sum->walked += runs * longer_walks(core, walks, read);
}

static void add_sum(struct timed *sum, const struct timed *more)
{
	for (unsigned lane = 0; lane < HP_LANES; lane++)
		sum->lanes[lane] += more->lanes[lane];
	sum->walked += more->walked;
	sum->walked_likely += more->walked_likely;
	sum->cycles += more->cycles;
	sum->missing += more->missing;
	sum->samples += more->samples;
}

/* Adds up all executions of a block's instructions, or of those that do not fit alone. If one of them was not
 * timed, all of the block counts as missing. */
static struct timed time_some(const struct stalls *stalls, uint32_t block, double runs,
			      bool is_rest)
{
	const struct hp_analysed_block *one = &stalls->analysis->blocks[block];
	struct timed sum = { 0 };

	for (uint32_t at = one->first_insn; at < one->first_insn + one->insn_count; at++) {
		const struct hp_happened *seen = timed_of(stalls, at);

		if (!seen)
			return (struct timed){ .missing = one->cycles };
		if (is_rest && stalls->extents[at] == ONE_INSN)
			continue;
		sum.samples += facts_insn(stalls->facts, at)->moved;
		sum.cycles += facts_insn(stalls->facts, at)->cycles;
		add_timed(stalls->facts->core, seen, runs, &sum);
	}
	return sum;
}

static struct timed time_block(const struct stalls *stalls, uint32_t block, double runs)
{
	return time_some(stalls, block, runs, false);
}

/* The scales of relative frequencies at which the timed instructions take as long as was measured.
 * It is a range, since lines of unknown place may be in any cache and the timing of a whole
 * procedure has an error, which holds that its events are those of a sample. False: too little was timed. */
bool extent_bound_scale(const struct stalls *stalls, struct hp_range *scale)
{
	struct timed sum = { 0 };

	for (uint32_t b = 0; b < stalls->facts->cfg->block_count; b++) {
		const struct hp_analysed_block *block = &stalls->analysis->blocks[b];
		struct timed timed = time_block(stalls, b,
						stalls->analysis->is_absolute
							? block->frequency.executions
							: block->frequency.relative);

		add_sum(&sum, &timed);
	}
	if (!(sum.cycles > sum.missing) || !(sum.lanes[HP_LANE_THIRD] > 0))
		return false;
	scale->low =
		sum.cycles / (sum.lanes[HP_LANE_MEMORY] * (1 + whole_error) + sum.walked_likely);
	scale->high = sum.cycles / (sum.lanes[HP_LANE_THIRD] * (1 - whole_error));
	return true;
}

double extent_overlapped(const struct stalls *stalls, uint32_t block)
{
	const struct hp_analysed_block *one = &stalls->analysis->blocks[block];
	struct timed timed = time_block(stalls, block, 1);

	if (timed.missing > 0 || !(timed.lanes[HP_LANE_IDEAL] > 0) || !(one->best_case_cycles > 0))
		return 1;
	return fmin(1, timed.lanes[HP_LANE_IDEAL] / one->best_case_cycles);
}

static struct hp_error *time_code(const struct stalls *stalls, bool is_rest,
				  struct timed_code *code)
{
	const struct hp_cfg *cfg = stalls->facts->cfg;

	code->blocks = hp_arena_array(stalls->scratch, (size_t)cfg->block_count + 1,
				      sizeof(*code->blocks));
	code->loops =
		hp_arena_array(stalls->scratch, (size_t)cfg->loop_count + 1, sizeof(*code->loops));
	if (!code->blocks || !code->loops)
		return hp_error_create_no_memory();
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		code->blocks[b] = time_some(stalls, b, stalls->runs[stalls->likely][b], is_rest);
		if (cfg->blocks[b].loop != HP_CFG_NONE)
			add_sum(&code->loops[cfg->blocks[b].loop], &code->blocks[b]);
	}
	/* An inner loop has a higher index than the loop around it. */
	for (uint32_t i = cfg->loop_count; i-- > 0;)
		if (cfg->loops[i].parent != HP_CFG_NONE)
			add_sum(&code->loops[cfg->loops[i].parent], &code->loops[i]);
	return NULL;
}

/* The sum divided by the executions of the block. */
static struct timed each(const struct timed *sum, double runs)
{
	struct timed one = { .walked = sum->walked / runs,
			     .cycles = sum->cycles / runs,
			     .missing = sum->missing / runs,
			     .samples = sum->samples };

	for (unsigned lane = 0; lane < HP_LANES; lane++)
		one.lanes[lane] = sum->lanes[lane] / runs;
	return one;
}

/* Of one execution of the instruction, or of its block or loop per execution of the block. */
static struct timed time_extent(const struct stalls *stalls, uint32_t at, enum extent extent,
				const struct timed_code *code)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	uint32_t loop = stalls->facts->cfg->blocks[insn->block].loop;
	double runs = stalls->runs[stalls->likely][insn->block];
	struct timed sum = { .cycles = insn->cycles, .samples = insn->moved };

	if (extent == ONE_INSN)
		add_timed(stalls->facts->core, insn->happened, runs, &sum);
	else if (extent == ONE_BLOCK)
		sum = code->blocks[insn->block];
	else if (loop != HP_CFG_NONE)
		sum = code->loops[loop];
	else
		sum.missing = sum.cycles;
	return each(&sum, runs);
}

/* Samples that may be another instruction's say nothing of how well one fits alone. */
static enum extent choose(const struct stalls *stalls, uint32_t at)
{
	bool is_spread = path_spread_from(stalls->facts, at) != HP_SCHEDULE_NONE;
	enum extent first = is_spread ? ONE_BLOCK : ONE_INSN, best = ONE_INSN;
	double least = INFINITY;

	for (enum extent extent = first; extent <= ONE_LOOP && least > timing_error; extent++) {
		struct timed timed = time_extent(stalls, at, extent, &stalls->whole);
		double misfit = timed_misfit(&timed);

		if (misfit < (extent == first ? 1 : clearly_better) * least) {
			best = extent;
			least = misfit;
		}
	}
	return best;
}

struct hp_error *extent_prepare(struct stalls *stalls)
{
	size_t count = stalls->analysis->insn_count;
	struct hp_error *error;

	if (!stalls->scenes)
		return NULL;
	stalls->extents = hp_arena_array(stalls->scratch, count + 1, sizeof(*stalls->extents));
	if (!stalls->extents)
		return hp_error_create_no_memory();
	error = time_code(stalls, false, &stalls->whole);
	for (uint32_t at = 0; at < count && !error; at++)
		if (extent_is_timed(stalls, at))
			stalls->extents[at] = (uint8_t)choose(stalls, at);
	return error ? error : time_code(stalls, true, &stalls->rest);
}

/* Half of the interval of the block's executions, as a logarithm. */
static double spread_of(const struct stalls *stalls, uint32_t block)
{
	double least = INFINITY, most = 0;

	for (unsigned scene = 0; scene < stalls->scenes; scene++) {
		least = fmin(least, stalls->runs[scene][block]);
		most = fmax(most, stalls->runs[scene][block]);
	}
	return log(most / least) / 2;
}

static void set_costs(const struct hp_core *core, double costs[HP_CAUSE_COUNT])
{
	costs[HP_CAUSE_MISPREDICT] = core->mispredict_cycles;
	costs[HP_CAUSE_ICACHE] = core->l2_cycles;
	costs[HP_CAUSE_ITLB] = costs[HP_CAUSE_DTLB] = core->walk_cycles;
	costs[HP_CAUSE_DCACHE] = core->memory_cycles;
	costs[HP_CAUSE_STORE_FORWARD] = core->blocked_cycles;
}

/* Parts of what was timed in one execution of the block, times `factor`. */
static void parts_of(const struct stalls *stalls, struct timed *timed, uint32_t block,
		     double simulated, double factor, struct timed_parts *parts)
{
	timed->spread = spread_of(stalls, block);
	timed->chance = HP_NORMAL_90 / sqrt(fmax(1, timed->samples));
	timed->simulated = simulated;
	set_costs(stalls->facts->core, timed->costs);
	timed_parts(timed, parts);
	timed_scale(parts, factor);
}

/* Whether they fit. */
static bool parts_of_extent(const struct stalls *stalls, uint32_t at, const struct timed_code *code,
			    struct timed_parts *parts)
{
	const struct hp_analysed_insn *insn = facts_insn(stalls->facts, at);
	enum extent extent = (enum extent)stalls->extents[at];
	struct timed timed = time_extent(stalls, at, extent, code);
	double runs = stalls->runs[stalls->likely][insn->block];

	/* The rest of a loop has none if the instruction's own block was not timed. */
	if (!(timed.cycles > 0))
		return false;
	parts_of(stalls, &timed, insn->block, insn->happened->runs,
		 insn->cycles / runs / timed.cycles, parts);
	return parts->fits;
}

void extent_parts(const struct stalls *stalls, uint32_t at, struct timed_parts *parts)
{
	if (!parts_of_extent(stalls, at, &stalls->rest, parts))
		(void)parts_of_extent(stalls, at, &stalls->whole, parts);
}

/* The same of all executions, of which `block` had its part. */
static bool parts_of_all(const struct stalls *stalls, const struct timed *sum, uint32_t block,
			 struct timed_parts *parts)
{
	double runs = stalls->runs[stalls->likely][block];
	double simulated = timed_runs(stalls, block);
	struct timed timed = each(sum, runs);

	if (!isfinite(simulated) || !isfinite(timed_misfit(&timed)))
		return false;
	parts_of(stalls, &timed, block, simulated, runs, parts);
	return true;
}

bool extent_block_parts(const struct stalls *stalls, uint32_t block, struct timed_parts *parts)
{
	return stalls->scenes && parts_of_all(stalls, &stalls->whole.blocks[block], block, parts);
}

bool extent_loop_parts(const struct stalls *stalls, uint32_t loop, struct timed_parts *parts,
		       double *untimed)
{
	const struct timed *sum;

	if (!stalls->scenes)
		return false;
	sum = &stalls->whole.loops[loop];
	*untimed = sum->missing;
	return parts_of_all(stalls, sum, stalls->facts->cfg->loops[loop].header, parts);
}

void extent_in_scene(const struct stalls *stalls, uint32_t block, unsigned scene,
		     struct timed_parts *parts)
{
	double factor = stalls->runs[stalls->likely][block] / stalls->runs[scene][block];

	timed_scale(parts, factor);
}
