/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows say of one procedure's graph.
 *
 * The windows' blocks are not the graph's: one ends at every branch and call and begins wherever
 * anything arrives, so it may be a part of a block or several. But it ran as a whole. A block of
 * the graph ran as often as its first instruction, and that as often as all the windows' blocks
 * that hold it.
 *
 * How much of the time the windows happened to be in this procedure is one error that all its
 * counts share; how they are to each other, each block's part of the procedure's instructions, is
 * each one's own.
 *
 * What no window saw ran a few times at most, unless samples found it: then it ran when there was no
 * window, and nothing is known of it but its time.
 */
#include "counted.h"

#include "counted_clock.h"

#include <hpcprof/base/search.h>

#include <math.h>

static const double least_deviation = 0.002;
/* Of what a single group of windows knows, as a logarithm: one window of 100 ms is within twice the
 * truth in nine programs of ten. */
static const double unknown_deviation = 0.4;
/* Of a block, more than a stray one. */
static const double enough_samples = 3;

struct asking {
	const struct report *report;
	const struct counted *counted;
	const struct hp_analysis_input *input; /* its graph and samples */
	struct hp_grouped instructions;	       /* of the whole procedure */
	double missed_deviation; /* of what windows missed of it: see counted_clock.h */
	struct counted_terms *terms;
};

static double relative_deviation(const struct hp_grouped_ratio *ratio)
{
	if (!(ratio->value > 0) || !isfinite(ratio->deviation))
		return unknown_deviation;
	return fmax(ratio->deviation / ratio->value, least_deviation);
}

/* What was seen a few times might have been seen a few times more or less, even where all groups
 * agree: one window, or a single run, agrees with itself. Not seen: fewer times, likely, than would
 * have been seen once. */
static double deviation_of(const struct asking *asking, const struct hp_grouped *runs, double value)
{
	struct hp_grouped_ratio ratio = hp_grouped_ratio(runs, &asking->instructions);
	double one = asking->counted->one;

	return value > 0 ? fmax(value * hypot(relative_deviation(&ratio), asking->missed_deviation),
				sqrt(value * one))
			 : one;
}

static bool add(const struct asking *asking, enum hp_evidence_kind kind, uint64_t address,
		uint64_t to, const struct hp_grouped *runs)
{
	struct hp_evidence term = {
		.kind = (uint8_t)kind,
		.source = HP_SOURCE_SHADOW,
		.address = { address },
		.to = { to },
		.value = hp_grouped_sum(runs),
	};

	term.deviation = deviation_of(asking, runs, term.value);
	return hp_vector_push(&asking->terms->terms, term);
}

static bool was_sampled(const struct asking *asking, const struct hp_block *block)
{
	const struct hp_analysis_input *input = asking->input;
	uint64_t start = block->address.value;
	size_t at = hp_bisect(i, input->sample_count, input->samples[i].address.value < start);
	double samples = 0;

	for (; at < input->sample_count && input->samples[at].address.value - start < block->bytes;
	     at++)
		samples += input->samples[at].samples;
	return samples >= enough_samples;
}

/* It ran, but in no window. */
static bool was_missed(const struct asking *asking, const struct hp_block *block)
{
	return !counted_saw(asking->counted, block->address.value) && was_sampled(asking, block);
}

static bool add_block(const struct asking *asking, const struct hp_block *block)
{
	struct hp_grouped runs = counted_runs(asking->counted, block->address.value);

	return was_missed(asking, block) ||
	       add(asking, HP_EVIDENCE_COUNT, block->address.value, 0, &runs);
}

static bool begins_at(const struct hp_cfg *cfg, uint32_t node, uint64_t address)
{
	return node < cfg->block_count && cfg->blocks[node].address.value == address;
}

/* The block's last instruction; 0 of code that does not decode. */
static uint64_t last_instruction(const struct hp_cfg *cfg, const struct counted *counted,
				 const struct hp_block *block, size_t *count,
				 const struct counted_edge **edges)
{
	uint64_t end = block->address.value + block->bytes;
	uint64_t start = end - block->bytes;

	/* Windows know where branches are: the last address in the block with edges is one. */
	for (uint64_t at = end; at-- > start && end - at <= (uint64_t)cfg->isa->longest;) {
		*edges = counted_edges_from(counted, at, count);
		if (*edges)
			return at;
	}
	*count = 0;
	return 0;
}

/* Both ways of a branch, and each way of a jump through a table. */
static bool add_edges(const struct asking *asking, const struct hp_block *block)
{
	const struct hp_cfg *cfg = asking->input->cfg;
	const struct counted_edge *edges = NULL;
	size_t count = 0;
	uint64_t at;

	if (block->out_count < 2 || was_missed(asking, block) ||
	    (block->end != HP_END_CONDITIONAL && block->end != HP_END_TABLE))
		return true;
	at = last_instruction(cfg, asking->counted, block, &count, &edges);
	for (uint32_t i = 0; at && i < block->out_count; i++) {
		const struct hp_edge *edge = &cfg->edges[block->first_out + i];
		struct hp_grouped runs = { 0 };

		if (edge->to >= cfg->block_count || was_missed(asking, &cfg->blocks[edge->to]))
			continue;
		for (size_t j = 0; j < count; j++)
			if (edges[j].is_inside && begins_at(cfg, edge->to, edges[j].to))
				grouped_add(&runs, &edges[j].runs);
		if (!add(asking, HP_EVIDENCE_EDGE, at, cfg->blocks[edge->to].address.value, &runs))
			return false;
	}
	return true;
}

/* Too few windows to tell how often anything ran: how counts are to each other is still known. */
static double shared_deviation(const struct asking *asking)
{
	struct counted_figure all = counted_figure(asking->report, asking->counted,
						   asking->input->cfg->blocks[0].address.value,
						   &asking->instructions);

	return isfinite(all.value) ? log(all.high / all.value) / HP_NORMAL_90 : INFINITY;
}

struct hp_error *counted_terms_of(const struct report *report, const struct counted *counted,
				  const struct hp_analysis_input *input,
				  struct counted_terms *terms)
{
	const struct hp_cfg *cfg = input->cfg;
	struct asking asking = {
		.report = report,
		.counted = counted,
		.input = input,
		.terms = terms,
	};
	bool is_fine = true;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		struct hp_grouped runs = counted_runs(counted, cfg->blocks[i].address.value);

		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			asking.instructions.counts[j] +=
				runs.counts[j] * cfg->blocks[i].instructions;
	}
	if (!(hp_grouped_sum(&asking.instructions) > 0))
		return NULL;
	terms->shared_deviation = shared_deviation(&asking);
	asking.missed_deviation = counted_missed_deviation(counted, cfg->blocks[0].address.value);
	for (uint32_t i = 0; i < cfg->block_count && is_fine; i++)
		is_fine = add_block(&asking, &cfg->blocks[i]) &&
			  add_edges(&asking, &cfg->blocks[i]);
	return is_fine ? NULL : hp_error_create_no_memory();
}
