/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	a graph whose code is in the image; samples by address
 * provides	analysis->insns, block by block, each with its samples as recorded and their cycles;
 *		sample_cycles
 *
 * A sample inside an instruction belongs to that instruction.
 */
#include "passes.h"
#include "tuning.h"

static struct hp_error *check_input(const struct hp_analysis_input *input)
{
	for (size_t i = 0; i < input->sample_count; i++) {
		const struct hp_sampled *at = &input->samples[i];

		if (!isfinite(at->samples) || !isfinite(at->cycles) || at->samples < 0 ||
		    at->cycles < 0)
			return hp_error_create(
				HP_ERROR_USAGE, "samples at 0x%llx: %g samples of %g cycles",
				(unsigned long long)at->address.value, at->samples, at->cycles);
		if (i > 0 && at->address.value < input->samples[i - 1].address.value)
			return hp_error_create(HP_ERROR_USAGE, "samples out of order at 0x%llx",
					       (unsigned long long)at->address.value);
	}
	for (size_t i = 0; i < input->evidence_count; i++) {
		const struct hp_evidence *one = &input->evidence[i];

		if (!isfinite(one->value) || !isfinite(one->deviation) || one->value < 0 ||
		    one->deviation < 0 || one->kind > HP_EVIDENCE_OUTCOMES ||
		    one->source >= HP_SOURCE_COUNT ||
		    (one->kind == HP_EVIDENCE_PROBABILITY && !(one->value > 0 && one->value < 1)))
			return hp_error_create(
				HP_ERROR_USAGE, "evidence for 0x%llx: %g with a deviation of %g",
				(unsigned long long)one->address.value, one->value, one->deviation);
	}
	for (unsigned i = 0; i < HP_SOURCE_COUNT; i++)
		if (!(input->shared_deviation[i] >= 0))
			return hp_error_create(HP_ERROR_USAGE,
					       "evidence that is off by %g all together",
					       input->shared_deviation[i]);
	for (size_t i = 0; i < input->phase_count; i++)
		if (!isfinite(input->phase_deviation[i]) || input->phase_deviation[i] < 0)
			return hp_error_create(HP_ERROR_USAGE,
					       "evidence of a phase that is off by %g",
					       input->phase_deviation[i]);
	return NULL;
}

/* Decodes as many instructions of the block as its bytes hold. It ends at the first that does not
 * decode. */
static struct hp_error *decode_block(struct analyzer *analyzer, uint32_t number,
				     struct hp_insn *insns)
{
	const struct hp_block *block = &analyzer->cfg->blocks[number];
	struct hp_analysis *analysis = analyzer->analysis;
	struct hp_analysed_block *into = &analysis->blocks[number];
	const uint8_t *bytes;
	size_t held = hp_image_text(analyzer->input->image, block->address, block->bytes, &bytes);
	size_t done = 0;

	into->first_insn = (uint32_t)analysis->insn_count;
	while (into->insn_count < block->instructions) {
		struct hp_insn *insn = &insns[analysis->insn_count];

		if (done >= held ||
		    !analyzer->cfg->isa->decode(bytes + done, held - done,
						block->address.value + done, insn) ||
		    insn->length == 0)
			break;
		done += insn->length;
		analysis->insns[analysis->insn_count++] = (struct hp_analysed_insn){
			.insn = insn, .block = number, .producer = HP_SCHEDULE_NONE
		};
		into->insn_count++;
	}
	if (done < block->bytes)
		analysis->problems |= HP_PROBLEM_UNDECODABLE;
	return NULL;
}

/* Both the blocks and the samples are sorted by address. */
static void place_samples(struct analyzer *analyzer)
{
	const struct hp_analysis_input *input = analyzer->input;
	struct hp_analysis *analysis = analyzer->analysis;
	double samples = 0;
	double cycles = 0;
	size_t insn = 0;

	for (size_t i = 0; i < input->sample_count; i++) {
		const struct hp_sampled *at = &input->samples[i];

		while (insn < analysis->insn_count &&
		       analysis->insns[insn].insn->address + analysis->insns[insn].insn->length <=
			       at->address.value)
			insn++;
		if (insn == analysis->insn_count)
			break;
		if (analysis->insns[insn].insn->address > at->address.value)
			continue; /* the sample lies in a gap between blocks */
		analysis->insns[insn].samples += at->samples;
		analyzer->insn_cycles[insn] += at->cycles;
		samples += at->samples;
		cycles += at->cycles;
	}
	analyzer->samples = samples;
	if (samples < few_procedure_samples)
		analysis->problems |= HP_PROBLEM_FEW_SAMPLES;
	analyzer->sample_cycles = samples > 0 && cycles > 0 ? cycles / samples : 1;
}

struct hp_error *gather(struct analyzer *analyzer)
{
	const struct hp_cfg *cfg = analyzer->cfg;
	struct hp_analysis *analysis = analyzer->analysis;
	struct hp_error *error = check_input(analyzer->input);
	struct hp_insn *insns;
	size_t most = 0;

	if (error)
		return error;
	for (uint32_t i = 0; i < cfg->block_count; i++)
		most += cfg->blocks[i].instructions;
	insns = hp_arena_array(analyzer->arena, most + 1, sizeof(*insns));
	analysis->insns = hp_arena_array(analyzer->arena, most + 1, sizeof(*analysis->insns));
	analysis->blocks =
		hp_arena_array(analyzer->arena, cfg->block_count + 1, sizeof(*analysis->blocks));
	analyzer->insn_cycles = hp_arena_array(analyzer->arena, most + 1, sizeof(double));
	if (!insns || !analysis->insns || !analysis->blocks || !analyzer->insn_cycles)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < cfg->block_count && !error; i++)
		error = decode_block(analyzer, i, insns);
	if (error)
		return error;
	if (analysis->insn_count == 0)
		return hp_error_create(HP_ERROR_INSUFFICIENT, "the procedure has no code to read");
	place_samples(analyzer);
	return NULL;
}
