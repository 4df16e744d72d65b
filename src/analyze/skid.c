/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	gather; log_frequency of edges, or NULL: then all edges into a block count the
 *		same
 * provides	insns[].moved and .cycles, blocks[].samples and .cycles, own_samples
 *
 * A sample is recorded some instructions after the one that took the time (skid). It is moved back
 * in the order of execution: within a block to the previous instruction; from a block's first
 * instruction to the last ones of its predecessors, in proportion to the frequencies of the edges.
 * A comparison and the jump that the core fuses with it are one instruction here: no sample is recorded
 * between them, and what they wait for the comparison needs.
 * Samples that would move out of the procedure stay, so that its time still adds up, but they are
 * not counted as the block's own: on the first instruction of a procedure they are the caller's
 * time, on the instruction after a call the callee's.
 */
#include "passes.h"
#include "tuning.h"

struct moving {
	struct analyzer *analyzer;
	double *from; /* of each instruction: samples that may still move */
	double *to;
	double *stuck; /* of each instruction: samples that moved here or stay */
	bool *fused;   /* with the one before it */
};

static bool comes_back(const struct hp_insn *insn)
{
	return insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT ||
	       insn->kind == HP_INSN_SYSCALL;
}

static double weight_of(const struct analyzer *analyzer, uint32_t edge)
{
	size_t at = frequency_of_edge(analyzer->cfg, edge);

	if (!analyzer->log_frequency)
		return 1;
	/* Relative to the hottest block, so that the exponential cannot overflow. */
	return exp(analyzer->log_frequency[at] - analyzer->hottest);
}

/* The instruction that samples move to from the one behind this. */
static uint32_t waits_at(const struct moving *moving, uint32_t at)
{
	return at - moving->fused[at];
}

static void find_fused(struct moving *moving)
{
	const struct analyzer *analyzer = moving->analyzer;
	const struct hp_analysed_insn *insns = analyzer->analysis->insns;

	for (uint32_t i = 0; i < analyzer->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &analyzer->analysis->blocks[i];

		for (uint32_t at = block->first_insn + 1;
		     at < block->first_insn + block->insn_count; at++)
			moving->fused[at] = hp_core_fuses(analyzer->options->core,
							  insns[at - 1].insn, insns[at].insn);
	}
}

/* Moves the samples of a block's first instruction to its predecessors. */
static void move_over_edges(struct moving *moving, uint32_t block)
{
	const struct analyzer *analyzer = moving->analyzer;
	const struct hp_cfg *cfg = analyzer->cfg;
	const struct hp_analysis *analysis = analyzer->analysis;
	const struct hp_block *node = &cfg->blocks[block];
	uint32_t first = analysis->blocks[block].first_insn;
	double samples = moving->from[first];
	double whole = 0;

	for (uint32_t i = 0; i < node->in_count; i++)
		whole += weight_of(analyzer, cfg->in_edges[node->first_in + i]);
	for (uint32_t i = 0; i < node->in_count; i++) {
		uint32_t edge = cfg->in_edges[node->first_in + i];
		uint32_t from = cfg->edges[edge].from;
		const struct hp_analysed_block *block_from = &analysis->blocks[from];
		double share = whole > 0 ? weight_of(analyzer, edge) / whole : 1.0 / node->in_count;
		uint32_t last;

		if (from >= cfg->block_count || block_from->insn_count == 0) {
			moving->stuck[first] += samples * share;
			continue;
		}
		last = block_from->first_insn + block_from->insn_count - 1;
		if (comes_back(analysis->insns[last].insn))
			moving->stuck[first] += samples * share;
		else
			moving->to[waits_at(moving, last)] += samples * share;
	}
	if (node->in_count == 0)
		moving->stuck[first] += samples;
}

static void move_once(struct moving *moving)
{
	const struct hp_analysis *analysis = moving->analyzer->analysis;
	double *swapped = moving->from;

	for (size_t i = 0; i < analysis->insn_count; i++)
		moving->to[i] = 0;
	for (uint32_t i = 0; i < moving->analyzer->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &analysis->blocks[i];
		uint32_t first = block->first_insn;

		if (block->insn_count && moving->from[first] > 0)
			move_over_edges(moving, i);
		for (uint32_t at = first + 1; at < first + block->insn_count; at++) {
			if (comes_back(analysis->insns[at - 1].insn))
				moving->stuck[at] += moving->from[at];
			else
				moving->to[waits_at(moving, at - 1)] += moving->from[at];
		}
	}
	moving->from = moving->to;
	moving->to = swapped;
}

/*
 * The samples that the block would have without its worst stall. One instruction that waits now and
 * then, mostly for memory, takes many times what the others take. That tells how it waits, not how
 * often the block ran, so most of what exceeds a few times the others' mean does not count.
 */
static double without_spike(const double *samples, uint32_t count)
{
	double most = 0;
	double sum = 0;
	double usual;

	for (uint32_t i = 0; i < count; i++) {
		sum += samples[i];
		most = fmax(most, samples[i]);
	}
	if (count < 3)
		return sum;
	usual = fmax(spike_start * (sum - most) / (count - 1), 1);
	return most > usual ? sum - spike_discount * (most - usual) : sum;
}

/* Cycles move with the samples: each sample that moved has this procedure's mean cycles per
 * sample. */
static void settle(struct moving *moving)
{
	struct analyzer *analyzer = moving->analyzer;
	struct hp_analysis *analysis = analyzer->analysis;

	for (uint32_t i = 0; i < analyzer->cfg->block_count; i++) {
		struct hp_analysed_block *block = &analysis->blocks[i];

		block->samples = block->cycles = 0;
		analyzer->own_samples[i] =
			without_spike(&moving->from[block->first_insn], block->insn_count);
		for (uint32_t at = 0; at < block->insn_count; at++) {
			size_t number = block->first_insn + at;
			struct hp_analysed_insn *insn = &analysis->insns[number];

			insn->moved = moving->from[number] + moving->stuck[number];
			insn->cycles = insn->moved * analyzer->sample_cycles;
			block->samples += insn->moved;
			block->cycles += insn->cycles;
		}
	}
}

struct hp_error *move_samples(struct analyzer *analyzer)
{
	const struct hp_analysis *analysis = analyzer->analysis;
	size_t count = analysis->insn_count;
	struct moving moving = {
		.analyzer = analyzer,
		.from = hp_arena_array(analyzer->scratch, count, sizeof(double)),
		.to = hp_arena_array(analyzer->scratch, count, sizeof(double)),
		.stuck = hp_arena_array(analyzer->scratch, count, sizeof(double)),
		.fused = hp_arena_array(analyzer->scratch, count, sizeof(bool)),
	};

	if (!analyzer->own_samples)
		analyzer->own_samples = hp_arena_array(
			analyzer->scratch, analyzer->cfg->block_count + 1, sizeof(double));
	if (!moving.from || !moving.to || !moving.stuck || !moving.fused || !analyzer->own_samples)
		return hp_error_create_no_memory();
	find_fused(&moving);
	for (size_t i = 0; i < count; i++)
		moving.from[i] = analysis->insns[i].samples;
	for (unsigned i = 0; i < analyzer->options->skid_instructions; i++)
		move_once(&moving);
	settle(&moving);
	return NULL;
}
