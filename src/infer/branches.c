/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images.h"
#include "branches.h"
#include "tuning.h"

#include <hpcprof/base/search.h>

#include <math.h>

void branches_destroy(struct branches *ways)
{
	if (!ways)
		return;
	hp_vector_free(&ways->branches);
	hp_vector_free(&ways->jumps);
	free(ways);
}

/* --- making ----------------------------------------------------------------------------------- */

static void add_outcomes(struct outcomes_counted *counted, uint8_t kind, double count)
{
	*(kind == HP_COUNTED_TAKEN ? &counted->taken : &counted->straight) += count;
}

static bool add_branch(const struct hp_loaded_part *part, const struct hp_counted *item,
		       struct branches *ways)
{
	struct branch_outcomes way = { 0 };
	hp_link_address address;

	if (!hp_image_link_address(part->file, item->at, &address))
		return true;
	way.address = address.value;
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		add_outcomes(i < HP_OUTCOMES_OF_RECORDS ? &way.by_registers : &way.by_records,
			     item->kind, (double)item->counts[i]);
	return hp_vector_push(&ways->branches, way);
}

static bool add_jump(const struct hp_loaded_part *part, const struct hp_counted *item,
		     struct branches *ways)
{
	struct jump_counted jump = { .count = 0 };

	if (item->to_image != item->image ||
	    !hp_image_link_address(part->file, item->at, &jump.ends.from) ||
	    !hp_image_link_address(part->file, item->to, &jump.ends.to))
		return true;
	for (size_t i = 0; i < HP_EVIDENCE_GROUPS; i++)
		jump.count += (double)item->counts[i];
	return hp_vector_push(&ways->jumps, jump);
}

static bool add_outcome(const struct hp_loaded_part *part, const struct hp_counted *item,
			struct branches *ways)
{
	switch ((enum hp_counted_kind)item->kind) {
	case HP_COUNTED_TAKEN:
	case HP_COUNTED_FALL:
		return add_branch(part, item, ways);
	case HP_COUNTED_INDIRECT_JUMP:
		return add_jump(part, item, ways);
	case HP_COUNTED_BLOCK:
	case HP_COUNTED_JUMP:
	case HP_COUNTED_CALL:
	case HP_COUNTED_INDIRECT_CALL:
	case HP_COUNTED_RETURN:
	case HP_COUNTED_SYSTEM_CALL:
	case HP_COUNTED_PROBE:
	case HP_COUNTED_PROBE_TIME:
	case HP_COUNTED_TICK:
	case HP_COUNTED_RANGE:
	case HP_COUNTED_RANGE_CYCLES:
	case HP_COUNTED_RANGE_TIME:
	case HP_COUNTED_EVENT:
	case HP_COUNTED_CYCLES:
	case HP_COUNTED_BLOCK_CYCLES:
	case HP_COUNTED_RESIZED_CYCLES:
		break;
	}
	return true;
}

HP_ORDER_BY(compare_ways, struct branch_outcomes, address);

static void sum_outcomes(struct outcomes_counted *sum, const struct outcomes_counted *one)
{
	sum->taken += one->taken;
	sum->straight += one->straight;
}

HP_ORDER_BY(compare_jumps, struct jump_counted, ends.from.value);

/* Merges the items of one branch: its two directions, in all recordings. */
static void unite(struct branches *ways)
{
	struct branch_outcomes *branches = ways->branches.at;
	size_t n = 0;

	if (ways->branches.count)
		qsort(branches, ways->branches.count, sizeof(*branches), compare_ways);
	for (size_t i = 0; i < ways->branches.count; i++) {
		if (n && branches[n - 1].address == branches[i].address) {
			sum_outcomes(&branches[n - 1].by_registers, &branches[i].by_registers);
			sum_outcomes(&branches[n - 1].by_records, &branches[i].by_records);
		} else {
			branches[n++] = branches[i];
		}
	}
	ways->branches.count = n;
}

static struct hp_error *make(const struct hp_inference *inference,
			     const struct hp_loaded_part *part, uint32_t image,
			     struct branches *ways)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;

	for (size_t i = 0; i < sum->stratum_count; i++) {
		const struct hp_window_stratum *stratum = &sum->strata[i];

		if (!hp_profiles_matches(inference->profiles->options->comm, stratum->command))
			continue;
		for (size_t j = 0; j < stratum->outcome_count; j++) {
			const struct hp_counted *item = &stratum->outcomes[j];

			if (item->image == image && !add_outcome(part, item, ways))
				return hp_error_create_no_memory();
		}
	}
	unite(ways);
	if (ways->jumps.count)
		qsort(ways->jumps.at, ways->jumps.count, sizeof(*ways->jumps.at), compare_jumps);
	return NULL;
}

/* The branches of the part's image; NULL for images whose offsets hold in one epoch only. */
static struct hp_error *ways_of(const struct hp_inference *inference,
				const struct hp_loaded_part *part, const struct branches **ways)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_error *error = NULL;

	*ways = inference->images[part->image->index].branches;
	if (*ways || !part->file || part->image->id.kind != HP_IMAGE_FILE)
		return NULL;
	inference->images[part->image->index].branches =
		calloc(1, sizeof(*inference->images[part->image->index].branches));
	if (!inference->images[part->image->index].branches)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < sum->image_count && !error; i++)
		if (hp_image_id_compare(&sum->images[i], &part->image->id) == 0)
			error = make(inference, part, i,
				     inference->images[part->image->index].branches);
	*ways = inference->images[part->image->index].branches;
	return error;
}

struct hp_error *branches_jumps_of(const struct hp_inference *inference,
				   const struct hp_loaded_part *part, jump_vector *jumps)
{
	const struct branches *ways;
	struct hp_error *error = ways_of(inference, part, &ways);

	for (size_t i = 0; !error && ways && i < ways->jumps.count; i++)
		if (!hp_vector_push(jumps, ways->jumps.at[i].ends))
			return hp_error_create_no_memory();
	return error;
}

/* --- of a graph ------------------------------------------------------------------------------- */

/* The branch at the end of the block; a block contains no other. */
static const struct branch_outcomes *way_of(const struct branches *ways,
					    const struct hp_block *block)
{
	uint64_t end = block->address.value + block->bytes;
	size_t first = hp_bisect(i, ways->branches.count,
				 ways->branches.at[i].address < block->address.value);

	return first < ways->branches.count && ways->branches.at[first].address < end
		       ? &ways->branches.at[first]
		       : NULL;
}

/* The share of taken executions, from branch records if there are any, else from registers. */
static struct hp_share share_of(const struct branch_outcomes *way)
{
	struct hp_share recorded =
		hp_share_of(way->by_records.taken, way->by_records.straight, records_bias);

	return isnan(recorded.value) ? hp_share_of(way->by_registers.taken,
						   way->by_registers.straight, registers_bias)
				     : recorded;
}

static bool add_branch_term(const struct branches *ways, const struct hp_block *block,
			    evidence_vector *terms)
{
	const struct branch_outcomes *way = way_of(ways, block);
	struct hp_share share;

	if (!way)
		return true;
	share = share_of(way);
	return hp_vector_push(terms, ((struct hp_evidence){ .kind = HP_EVIDENCE_PROBABILITY,
							    .source = HP_SOURCE_REGISTERS,
							    .address = { way->address },
							    .value = share.value,
							    .deviation = share.deviation }));
}

static bool add_jump_terms(const struct branches *ways, const struct hp_block *block,
			   evidence_vector *terms)
{
	uint64_t start = block->address.value;
	size_t at = hp_bisect(i, ways->jumps.count, ways->jumps.at[i].ends.from.value < start);

	for (; at < ways->jumps.count && ways->jumps.at[at].ends.from.value - start < block->bytes;
	     at++) {
		const struct jump_counted *jump = &ways->jumps.at[at];
		struct hp_evidence term = { .kind = HP_EVIDENCE_OUTCOMES,
					    .source = HP_SOURCE_REGISTERS,
					    .address = jump->ends.from,
					    .to = jump->ends.to,
					    .value = jump->count,
					    .deviation = registers_bias };

		if (!hp_vector_push(terms, term))
			return false;
	}
	return true;
}

struct hp_error *branches_terms_of(struct hp_inference *inference,
				   const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				   evidence_vector *terms)
{
	const struct branches *ways;
	struct hp_error *error = ways_of(inference, part, &ways);
	bool is_fine = true;

	if (error || !ways)
		return error;
	for (uint32_t i = 0; i < cfg->block_count && is_fine; i++) {
		const struct hp_block *block = &cfg->blocks[i];

		if (block->end == HP_END_CONDITIONAL)
			is_fine = add_branch_term(ways, block, terms);
		else if (block->end == HP_END_TABLE)
			is_fine = add_jump_terms(ways, block, terms);
	}
	return is_fine ? NULL : hp_error_create_no_memory();
}
