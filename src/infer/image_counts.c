/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look-ups in the counts of one image. */
#include "image_counts.h"
#include "images.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>
#include <hpcprof/infer/inference.h>

#include <math.h>
#include <stdlib.h>

void counts_destroy(struct hp_image_counts *counted)
{
	if (!counted)
		return;
	hp_vector_free(&counted->blocks);
	hp_vector_free(&counted->edges);
	hp_vector_free(&counted->procedures);
	hp_vector_free(&counted->clocks);
	hp_vector_free(&counted->ticks);
	free(counted->by_target);
	free(counted);
}

void hp_grouped_add(struct hp_grouped *into, const struct hp_grouped *from)
{
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		into->counts[i] += from->counts[i];
}

double counts_told_share(const struct hp_inference *inference)
{
	const struct hp_windows *windows = &inference->windows;

	return inference->profiles->covered_ns > windows->told_ns
		       ? windows->told_ns / inference->profiles->covered_ns
		       : 1;
}

double counts_deviation_between(const struct hp_inference *inference,
				const struct hp_grouped_ratio *ratio)
{
	return sqrt(1 - fmin(inference->windows.seen, 1)) * ratio->deviation / ratio->value;
}

bool counts_possible(const struct hp_loaded_part *part)
{
	return part->file && part->image->id.kind == HP_IMAGE_FILE;
}

/* Index of the first block at or after the address. */
static size_t first_block(const struct hp_image_counts *counted, uint64_t address)
{
	return hp_bisect(i, counted->blocks.count, counted->blocks.at[i].address < address);
}

struct hp_grouped hp_counts_runs(const struct hp_image_counts *counted, uint64_t address)
{
	struct hp_grouped runs = { 0 };
	uint64_t start = address >= counted->longest ? address - counted->longest : 0;

	for (size_t i = first_block(counted, start);
	     i < counted->blocks.count && counted->blocks.at[i].address <= address; i++)
		if (address - counted->blocks.at[i].address < counted->blocks.at[i].bytes)
			hp_grouped_add(&runs, &counted->blocks.at[i].runs);
	return runs;
}

bool counts_saw(const struct hp_image_counts *counted, uint64_t address)
{
	struct hp_grouped runs = hp_counts_runs(counted, address);

	return hp_grouped_sum(&runs) > 0;
}

struct hp_image_counts *hp_counts_made(const struct hp_inference *inference,
				       const struct hp_loaded_image *image)
{
	return inference->images[image->index].counts;
}

/* --- procedures ------------------------------------------------------------------------------- */

HP_ORDER_BY(compare_owners, struct hp_counts_procedure, owner->address.value);

static void unite_procedures(struct hp_image_counts *counted)
{
	struct hp_counts_procedure *procedures = counted->procedures.at;
	size_t n = 0;

	if (counted->procedures.count)
		qsort(procedures, counted->procedures.count, sizeof(*procedures), compare_owners);
	for (size_t i = 0; i < counted->procedures.count; i++) {
		if (n && procedures[n - 1].owner == procedures[i].owner)
			hp_grouped_add(&procedures[n - 1].instructions,
				       &procedures[i].instructions);
		else
			procedures[n++] = procedures[i];
	}
	counted->procedures.count = n;
}

struct hp_error *hp_counts_procedures(const struct hp_loaded_part *part,
				      struct hp_image_counts *counted)
{
	const struct hp_procedure *at = NULL;

	if (counted->has_procedures)
		return NULL;
	for (size_t i = 0; i < counted->blocks.count; i++) {
		const struct hp_counts_block *block = &counted->blocks.at[i];
		struct hp_counts_procedure one = { 0 };

		if (!at || block->address - at->address.value >= at->size)
			at = hp_image_procedure_at(part->file, (hp_link_address){ block->address });
		one.owner = at->owner;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			one.instructions.counts[j] = block->runs.counts[j] * block->instructions;
		if (!hp_vector_push(&counted->procedures, one))
			return hp_error_create_no_memory();
	}
	unite_procedures(counted);
	counted->has_procedures = true;
	return NULL;
}

const struct hp_counts_procedure *counts_procedure(const struct hp_image_counts *counted,
						   uint64_t address)
{
	const struct hp_counts_procedure key = {
		.owner = hp_image_procedure_at(counted->file, (hp_link_address){ address })->owner
	};

	return counted->procedures.count
		       ? bsearch(&key, counted->procedures.at, counted->procedures.count,
				 sizeof(key), compare_owners)
		       : NULL;
}
