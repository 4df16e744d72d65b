/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Look-ups in the counts of one image. */
#include "image_counts.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>
#include <hpcprof/infer/inference.h>

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

/* The first block at or after the address. */
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
