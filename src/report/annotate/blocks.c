/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "listing.h"
#include "../common/state.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/inference.h>

static bool has_bytes(const struct hp_image_id *id)
{
	return id->kind == HP_IMAGE_FILE || id->kind == HP_IMAGE_VDSO;
}

struct hp_error *listing_add_blocks(struct report *report, const struct hp_row *row,
				    struct listing *listing)
{
	struct hp_error *error;

	if (row->image->problem)
		listing->no_graph = row->image->problem;
	else if (!row->code || row->code->next)
		listing->no_graph = "it is more than one procedure";
	else if (row->code && row->code->part && !has_bytes(&row->image->id))
		listing->no_graph =
			"the recording contains the names of this code, but not its bytes";
	if (listing->no_graph)
		return NULL;
	error = hp_inference_graph(report->inference, row->code, &listing->cfg);
	if (!listing->cfg)
		listing->no_graph = row->code->refusal;
	for (size_t i = 0; i < listing->rows.count && listing->cfg; i++) {
		struct hp_row *instruction = &listing->rows.at[i];
		hp_link_address address = { instruction->address };

		if (!instruction->has_address || !instruction->length)
			continue;
		instruction->block = hp_cfg_block_at(listing->cfg, address);
		instruction->has_block = instruction->block != HP_CFG_NONE;
	}
	return error;
}

/* Samples inside an instruction count for the instruction in the analysis, and so do their cycles:
 * they must not be counted twice. */
static void take_cycles(const struct report *report, const struct hp_analysis *analysis,
			struct hp_row *inside)
{
	size_t after = hp_bisect(i, analysis->insn_count,
				 analysis->insns[i].insn->address <= inside->address);
	const struct hp_insn *around = after ? analysis->insns[after - 1].insn : NULL;

	for (size_t i = 0; around && inside->address - around->address < around->length &&
			   i < report->profiles->events.count;
	     i++)
		inside->tallies[i].cycles = 0;
}

struct hp_error *listing_add_analysis(struct report *report, const struct hp_row *row,
				      struct listing *listing)
{
	const struct hp_analysis *analysis = NULL;
	struct hp_error *error = hp_inference_row(report->inference, row, &analysis);

	for (size_t i = 0; i < listing->rows.count && analysis; i++) {
		struct hp_row *instruction = &listing->rows.at[i];

		if (instruction->has_address && !instruction->length)
			take_cycles(report, analysis, instruction);
		if (!instruction->has_block || !instruction->has_address)
			continue;
		instruction->insn = hp_analysis_insn(analysis, instruction->address);
		instruction->analysis = instruction->insn ? analysis : NULL;
	}
	return error;
}
