/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "retired.h"

#include <hpcprof/infer/inference.h>

#include <math.h>

/* Index of the event that counts instructions; inference->profiles->events.count if none was
 * sampled. */
static size_t retired_event(const struct hp_inference *inference)
{
	size_t i = 0;

	while (i < inference->profiles->events.count &&
	       inference->profiles->events.at[i].info->unit != HP_UNIT_INSTRUCTIONS)
		i++;
	return i;
}

/* Samples are Poisson distributed. One is added, because there might have been one more. */
static double relative_deviation(uint64_t samples)
{
	return sqrt((double)samples + 1) / (double)samples;
}

struct hp_error *retired_fill_rows(struct hp_inference *inference)
{
	size_t event = retired_event(inference);

	for (size_t i = 0;
	     i < inference->profiles->rows.count && event < inference->profiles->events.count;
	     i++) {
		struct hp_row *row = inference->profiles->rows.at[i];
		const struct hp_tally *tally = &row->tallies[event];
		struct hp_row_counts *counts;
		double spread;

		if (!tally->samples || row->inlined ||
		    (row->counts && isfinite(row->counts->instructions.value)))
			continue;
		spread = HP_NORMAL_90 * relative_deviation(tally->samples);
		counts = hp_arena_alloc(inference->profiles->arena, sizeof(*counts));
		if (!counts)
			return hp_error_create_no_memory();
		*counts = (struct hp_row_counts){
			.calls = { NAN, NAN, NAN },
			.instructions = { tally->weight, tally->weight * fmax(0, 1 - spread),
					  tally->weight * (1 + spread) },
		};
		row->counts = counts;
	}
	return NULL;
}

/* --- for the analysis ------------------------------------------------------------------------- */

static struct hp_tally tally_of_block(const struct hp_inference *inference,
				      const struct hp_loaded_part *part,
				      const struct hp_block *block, size_t event)
{
	struct hp_tally sum = { 0 };

	for (size_t i = hp_first_located(part, block->address.value);
	     i < part->located_count &&
	     part->located[i].address < block->address.value + block->bytes;
	     i++)
		hp_tally_add(
			&sum,
			&part->tallies[part->located[i].index * inference->profiles->events.count +
				       event]);
	return sum;
}

/* A sample that lands late may belong to the previous code, which is another block. This error does
 * not average out. */
static double misplaced_share(const struct hp_loaded_event *event, const struct hp_block *block)
{
	double late = event->info->skid_instructions;

	return late / (late + block->instructions);
}

struct hp_error *retired_terms_of(const struct hp_inference *inference,
				  const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				  evidence_vector *terms)
{
	size_t number = retired_event(inference);
	const struct hp_loaded_event *event;
	double one;

	if (number == inference->profiles->events.count)
		return NULL;
	event = &inference->profiles->events.at[number];
	if (!event->all.samples)
		return NULL;
	one = event->all.weight / (double)event->all.samples;
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		struct hp_tally sum = tally_of_block(inference, part, &cfg->blocks[i], number);
		struct hp_evidence term = {
			.kind = HP_EVIDENCE_RETIRED,
			.source = HP_SOURCE_COUNTERS,
			.address = cfg->blocks[i].address,
			.value = sum.weight,
		};

		if (!cfg->blocks[i].instructions)
			continue;
		term.deviation = hypot(one * sqrt((double)sum.samples + 1),
				       sum.weight * misplaced_share(event, &cfg->blocks[i]));
		if (!hp_vector_push(terms, term))
			return hp_error_create_no_memory();
	}
	return NULL;
}
