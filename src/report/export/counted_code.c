/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counted_code.h"

#include <hpcprof/infer/counts.h>
#include <hpcprof/isa/insn.h>

#include <math.h>

void counted_code_clear(struct counted_code *code)
{
	hp_vector_free(&code->branches);
	hp_vector_free(&code->ranges);
}

static uint64_t count_of(const struct hp_grouped *runs)
{
	double sum = hp_grouped_sum(runs);

	if (!(sum > 0))
		return 0;
	return sum < 1 ? 1 : (uint64_t)fmin(round(sum), 1e18);
}

/* --- which image ------------------------------------------------------------------------------ */

static double instructions_of(const struct hp_image_counts *counted)
{
	double sum = 0;

	for (size_t i = 0; i < counted->blocks.count; i++)
		sum += hp_grouped_sum(&counted->blocks.at[i].runs) *
		       counted->blocks.at[i].instructions;
	return sum;
}

static struct hp_error *nothing_counted(const struct report *report)
{
	if (hp_windows_exist(report->inference))
		return hp_error_advise(
			hp_error_create(HP_ERROR_INSUFFICIENT,
					"no execution of the program was counted in code that can "
					"be read: the profile would be empty"),
			"leave out filters, or name another image with --image");
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT,
				"no executions were counted in these epochs: the profile "
				"would be empty"),
		"record with: hpcprof record --shadow -- COMMAND");
}

static struct hp_error *find_part(struct report *report, const struct hp_loaded_part **part,
				  struct hp_image_counts **counted)
{
	double most = 0;

	*part = NULL;
	*counted = NULL;
	for (size_t i = 0; i < report->profiles->parts.count; i++) {
		const struct hp_loaded_part *one = report->profiles->parts.at[i];
		struct hp_image_counts *found = NULL;
		struct hp_error *error = hp_counts_of(report->inference, one, &found);
		double instructions = !error && found ? instructions_of(found) : 0;

		if (error)
			return error;
		if (one->image->id.kind != HP_IMAGE_FILE || !(instructions > most))
			continue;
		most = instructions;
		*part = one;
		*counted = found;
	}
	return *part ? NULL : nothing_counted(report);
}

/* --- its code --------------------------------------------------------------------------------- */

static bool is_taken_branch(uint8_t kind)
{
	return kind == HP_COUNTED_JUMP || kind == HP_COUNTED_TAKEN ||
	       kind == HP_COUNTED_INDIRECT_JUMP || kind == HP_COUNTED_CALL ||
	       kind == HP_COUNTED_INDIRECT_CALL || kind == HP_COUNTED_RETURN;
}

static bool add_branches(const struct hp_image_counts *counted, struct counted_code *code)
{
	for (size_t i = 0; i < counted->edges.count; i++) {
		const struct hp_counts_edge *edge = &counted->edges.at[i];
		struct counted_item item = { edge->from, edge->to, count_of(&edge->runs) };

		if (edge->is_inside && is_taken_branch(edge->kind) && item.count &&
		    !hp_vector_push(&code->branches, item))
			return false;
	}
	return true;
}

/* False where its bytes are not there, or are no code. */
static bool find_last(const struct hp_loaded_part *part, const struct hp_counts_block *block,
		      uint64_t *last)
{
	const struct hp_isa *isa = hp_isa_of(hp_image_machine(part->file));
	const uint8_t *bytes;
	size_t at = 0;

	if (!isa || hp_image_text(part->file, (hp_link_address){ block->address }, block->bytes,
				  &bytes) != block->bytes)
		return false;
	while (at < block->bytes) {
		struct hp_flow flow;

		if (!isa->flow(bytes + at, block->bytes - at, block->address + at, &flow) ||
		    !flow.length)
			return false;
		*last = block->address + at;
		at += flow.length;
	}
	return at == block->bytes;
}

static bool add_ranges(const struct hp_loaded_part *part, const struct hp_image_counts *counted,
		       struct counted_code *code)
{
	for (size_t i = 0; i < counted->blocks.count; i++) {
		const struct hp_counts_block *block = &counted->blocks.at[i];
		struct counted_item item = { block->address, 0, count_of(&block->runs) };

		if (item.count && find_last(part, block, &item.to) &&
		    !hp_vector_push(&code->ranges, item))
			return false;
	}
	return true;
}

struct hp_error *counted_code_find(struct report *report, struct counted_code *code)
{
	const struct hp_loaded_part *part;
	struct hp_image_counts *counted;
	struct hp_error *error = find_part(report, &part, &counted);

	*code = (struct counted_code){ 0 };
	if (error)
		return error;
	code->image = part->image;
	if (!add_branches(counted, code) || !add_ranges(part, counted, code))
		return hp_error_create_no_memory();
	return code->ranges.count ? NULL : nothing_counted(report);
}
