/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terms that counts of windows contribute to the estimate of one procedure.
 *
 * Blocks of windows differ from blocks of the graph: a window's block ends at every branch and
 * call, and starts wherever control arrives. It may be a part of a graph's block or span several.
 * But it is executed as a whole. So a block of the graph was executed as often as its first
 * instruction, and that as often as all the window's blocks that contain it.
 *
 * Each count has three errors. All counts of a procedure share one: windows met the procedure more
 * or less than its time (shared_deviation). All counts of one of its loops share the next, for the
 * same reason (struct phase; loop_clocks.h says which loops): blocks of a loop are right or wrong
 * together. The last is each block's own: its part of the loop's instructions varies between
 * windows.
 *
 * A block that no window saw was executed a few times at most. The exception is a block with
 * samples: it was executed while there was no window, so it gets no term, and only time tells about
 * it (missed.h).
 */
#include "image_counts.h"
#include "terms.h"
#include "counts_clock.h"
#include "loop_clocks.h"
#include "missed.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>

#include <math.h>
#include <stdlib.h>

/* A loop with a clock of its own. */
struct phase {
	struct hp_grouped instructions;
	double deviation; /* of the logarithm of the ratio of its counts to the procedure's */
	uint16_t number;  /* from 1; the number that the analysis uses */
};

/* Loops beyond this number share the procedure's error only. */
enum { MOST_PHASES = UINT16_MAX - 1 };

struct asking {
	const struct hp_inference *inference;
	const struct hp_image_counts *counted;
	const struct hp_analysis_input *input; /* its graph and samples */
	struct hp_grouped instructions;	       /* of the whole procedure */
	double one;			       /* the most that one count stands for */
	/* of the part of the deviation due to what windows missed: see counts_clock.h */
	double missed_deviation;
	struct block_clock *clocks; /* by block */
	struct phase *phases;	    /* by loop of the graph */
	struct seen_block *seen;    /* by block */
	struct counts_terms *terms;
};

/* The deviation of a count. It is at least that of Poisson, even if all groups agree, because a
 * single window always agrees with itself. The deviation of a count of 0 is what one count stands
 * for. */
static double deviation_of(const struct asking *asking, uint32_t block,
			   const struct hp_grouped *runs, double value)
{
	double one = asking->one;
	double moved = hypot(asking->missed_deviation, asking->clocks[block].deviation);

	return value > 0 ? fmax(value * hypot(counts_relative_deviation(asking->inference,
									asking->counted, runs,
									&asking->instructions),
					      moved),
				sqrt(value * one))
			 : one;
}

static bool add(const struct asking *asking, enum hp_evidence_kind kind, uint32_t block,
		uint64_t address, uint64_t to, const struct hp_grouped *runs)
{
	struct hp_evidence term = {
		.kind = (uint8_t)kind,
		.source = HP_SOURCE_SHADOW,
		.address = { address },
		.to = { to },
		.value = asking->clocks[block].factor * hp_grouped_sum(runs),
	};

	term.deviation = deviation_of(asking, block, runs, term.value);
	return hp_vector_push(&asking->terms->terms, term);
}

static double samples_in(const struct asking *asking, const struct hp_block *block)
{
	const struct hp_analysis_input *input = asking->input;
	uint64_t start = block->address.value;
	size_t at = hp_bisect(i, input->sample_count, input->samples[i].address.value < start);
	double sum = 0;

	for (; at < input->sample_count && input->samples[at].address.value - start < block->bytes;
	     at++)
		sum += input->samples[at].samples;
	return sum;
}

static struct hp_counts_tick ticks_in(const struct hp_image_counts *counted,
				      const struct hp_block *block)
{
	uint64_t start = block->address.value;
	size_t at = hp_bisect(i, counted->ticks.count, counted->ticks.at[i].address < start);
	struct hp_counts_tick sum = { .address = start };

	for (; at < counted->ticks.count && counted->ticks.at[at].address - start < block->bytes;
	     at++) {
		sum.count += counted->ticks.at[at].count;
		sum.scaled += counted->ticks.at[at].scaled;
	}
	return sum;
}

static double runs_of(const struct asking *asking, uint32_t block)
{
	struct hp_grouped runs =
		hp_counts_runs(asking->counted, asking->input->cfg->blocks[block].address.value);

	return hp_grouped_sum(&runs);
}

/* Finds blocks that ran only when there was no window. False: out of memory. */
static bool look_for_missed(const struct asking *asking)
{
	const struct hp_cfg *cfg = asking->input->cfg;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		double samples = samples_in(asking, &cfg->blocks[i]);

		asking->seen[i] = (struct seen_block){
			.runs = asking->counted->whole * runs_of(asking, i),
			.samples = samples,
			.expected = asking->counted->ticks_per_sample * samples,
			.ticks = ticks_in(asking->counted, &cfg->blocks[i]).count,
		};
	}
	return find_missed(cfg, asking->seen);
}

static bool was_missed(const struct asking *asking, uint32_t block)
{
	return asking->seen[block].is_missed;
}

static bool add_block(const struct asking *asking, uint32_t number)
{
	const struct hp_block *block = &asking->input->cfg->blocks[number];
	struct hp_grouped runs = hp_counts_runs(asking->counted, block->address.value);

	return was_missed(asking, number) ||
	       add(asking, HP_EVIDENCE_COUNT, number, block->address.value, 0, &runs);
}

/* Address of the block's last instruction; 0 for code that does not decode. */
static uint64_t last_instruction(const struct hp_cfg *cfg, const struct hp_image_counts *counted,
				 const struct hp_block *block, size_t *count,
				 const struct hp_counts_edge **edges)
{
	uint64_t end = block->address.value + block->bytes;
	uint64_t start = end - block->bytes;

	/* The last address in the block with edges is that of a branch. */
	for (uint64_t at = end; at-- > start && end - at <= (uint64_t)cfg->isa->longest;) {
		*edges = hp_counts_edges_from(counted, at, count);
		if (*edges)
			return at;
	}
	*count = 0;
	return 0;
}

/* Sums what windows saw of each way out of the block. A jump through a table has thousands of ways,
 * and windows may have seen all of them. */
static void sum_ways(const struct asking *asking, const struct hp_block *block,
		     const struct hp_counts_edge *edges, size_t count, struct hp_grouped *ways)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t edge = HP_CFG_NONE;

		if (edges[i].is_inside)
			edge = hp_cfg_edge_between(asking->input->cfg, block->address,
						   (hp_link_address){ edges[i].to });
		if (edge != HP_CFG_NONE)
			hp_grouped_add(&ways[edge - block->first_out], &edges[i].runs);
	}
}

/* Adds the edges of both ways of a branch, and of each way of a jump through a table. */
static bool add_edges(const struct asking *asking, uint32_t number)
{
	const struct hp_cfg *cfg = asking->input->cfg;
	const struct hp_block *block = &cfg->blocks[number];
	const struct hp_counts_edge *edges = NULL;
	_cleanup_free_ struct hp_grouped *ways = NULL;
	size_t count = 0;
	uint64_t at;

	if (block->out_count < 2 || was_missed(asking, number) ||
	    (block->end != HP_END_CONDITIONAL && block->end != HP_END_TABLE))
		return true;
	at = last_instruction(cfg, asking->counted, block, &count, &edges);
	if (!at)
		return true;
	ways = calloc(block->out_count, sizeof(*ways));
	if (!ways)
		return false;
	sum_ways(asking, block, edges, count, ways);
	for (uint32_t i = 0; i < block->out_count; i++) {
		const struct hp_edge *edge = &cfg->edges[block->first_out + i];

		if (edge->to >= cfg->block_count || was_missed(asking, edge->to))
			continue;
		if (!add(asking, HP_EVIDENCE_EDGE, number, at, cfg->blocks[edge->to].address.value,
			 &ways[i]))
			return false;
	}
	return true;
}

/* The deviation of all counts together. It is infinite when there are too few windows to tell how
 * often anything ran; then only ratios of counts are known. */
static double shared_deviation(const struct asking *asking)
{
	struct hp_counted_figure all = { NAN, NAN, NAN };
	const struct hp_counts_procedure *procedure = counts_procedure(
		asking->counted, asking->input->cfg->procedure->owner->address.value);

	if (procedure)
		all = counts_instructions(asking->inference, asking->counted, procedure);
	return isfinite(all.value) ? log(all.high / all.value) / HP_NORMAL_90 : INFINITY;
}

/* Sets the clocks of loops. Blocks that windows missed are left out: they have no time in windows.
 * False: out of memory. */
static bool set_clocks(const struct asking *asking)
{
	const struct hp_cfg *cfg = asking->input->cfg;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct hp_block *block = &cfg->blocks[i];
		struct hp_counts_tick ticks = ticks_in(asking->counted, block);

		if (was_missed(asking, i))
			continue;
		asking->clocks[i].samples = samples_in(asking, block);
		asking->clocks[i].ticks = ticks.count;
		asking->clocks[i].scaled = ticks.scaled;
	}
	return loop_clocks(cfg, asking->counted->moved, asking->clocks);
}

/* Numbers the loops that contain blocks, in the blocks' order. */
static void number_phases(const struct asking *asking)
{
	const struct hp_cfg *cfg = asking->input->cfg;
	struct counts_terms *terms = asking->terms;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		const struct block_clock *clock = &asking->clocks[i];
		struct hp_grouped runs =
			hp_counts_runs(asking->counted, cfg->blocks[i].address.value);
		struct phase *phase;

		if (clock->loop == HP_CFG_NONE)
			continue;
		phase = &asking->phases[clock->loop];
		if (!phase->number && terms->phase_count < MOST_PHASES)
			phase->number = (uint16_t)++terms->phase_count;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			phase->instructions.counts[j] +=
				runs.counts[j] * cfg->blocks[i].instructions;
		phase->deviation = clock->deviation;
		terms->phase_of[i] = phase->number;
	}
}

/* Tells the analysis how uncertain the ratio of each loop's counts to the procedure's is. False:
 * out of memory. */
static bool set_phases(const struct asking *asking)
{
	const struct hp_cfg *cfg = asking->input->cfg;
	struct counts_terms *terms = asking->terms;

	terms->phase_of = calloc(cfg->block_count, sizeof(*terms->phase_of));
	terms->phase_deviation = calloc(cfg->loop_count + 1, sizeof(*terms->phase_deviation));
	if (!terms->phase_of || !terms->phase_deviation)
		return false;
	number_phases(asking);
	for (uint32_t i = 0; i < cfg->loop_count; i++) {
		const struct phase *phase = &asking->phases[i];

		if (phase->number && hp_grouped_sum(&phase->instructions) > 0)
			terms->phase_deviation[phase->number - 1] =
				hypot(counts_relative_deviation(asking->inference, asking->counted,
								&phase->instructions,
								&asking->instructions),
				      phase->deviation);
	}
	return true;
}

/* Passes the missed blocks to the analysis. False: out of memory. */
static bool hand_on_missed(const struct asking *asking)
{
	uint32_t count = asking->input->cfg->block_count;

	asking->terms->missed = calloc(count, sizeof(*asking->terms->missed));
	for (uint32_t i = 0; i < count && asking->terms->missed; i++)
		asking->terms->missed[i] = was_missed(asking, i);
	return asking->terms->missed;
}

void counts_terms_clear(struct counts_terms *terms)
{
	hp_vector_free(&terms->terms);
	free(terms->missed);
	free(terms->phase_of);
	free(terms->phase_deviation);
	terms->missed = NULL;
	terms->phase_of = NULL;
	terms->phase_deviation = NULL;
}

struct hp_error *counts_terms_of(const struct hp_inference *inference,
				 const struct hp_image_counts *counted,
				 const struct hp_analysis_input *input, struct counts_terms *terms)
{
	const struct hp_cfg *cfg = input->cfg;
	struct asking asking = {
		.inference = inference,
		.counted = counted,
		.input = input,
		.terms = terms,
	};
	_cleanup_free_ struct seen_block *seen = NULL;
	_cleanup_free_ struct block_clock *clocks = NULL;
	_cleanup_free_ struct phase *phases = NULL;
	bool is_fine = true;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		struct hp_grouped runs = hp_counts_runs(counted, cfg->blocks[i].address.value);

		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			asking.instructions.counts[j] +=
				runs.counts[j] * cfg->blocks[i].instructions;
	}
	if (!(hp_grouped_sum(&asking.instructions) > 0))
		return NULL;
	asking.seen = seen = calloc(cfg->block_count, sizeof(*seen));
	asking.clocks = clocks = calloc(cfg->block_count, sizeof(*clocks));
	asking.phases = phases = calloc(cfg->loop_count + 1, sizeof(*phases));
	if (!seen || !clocks || !phases || !look_for_missed(&asking) || !hand_on_missed(&asking))
		return hp_error_create_no_memory();
	if (!set_clocks(&asking) || !set_phases(&asking))
		return hp_error_create_no_memory();
	terms->shared_deviation = shared_deviation(&asking);
	asking.one = counted->one * counts_factor(counted, cfg->procedure->owner->address.value);
	asking.missed_deviation =
		counts_missed_deviation(counted, cfg->procedure->owner->address.value);
	for (uint32_t i = 0; i < cfg->block_count && is_fine; i++)
		is_fine = add_block(&asking, i) && add_edges(&asking, i);
	return is_fine ? NULL : hp_error_create_no_memory();
}
