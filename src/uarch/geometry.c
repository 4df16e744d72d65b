/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/uarch/geometry.h>

#include "tuning.h"

#include <hpcprof/isa/sizes.h>

struct hp_uarch_geometry hp_uarch_geometry_generic(void)
{
	return (struct hp_uarch_geometry){
		.line_bytes = 64,
		.l1i = { 64, 8 },
		.l1d = { 64, 8 },
		.l2 = { 1024, 8 },
		.l2_is_inclusive = true,
		.page_bytes = 4096,
		.itlb = { 1, 64 },
		.dtlb = { 1, 64 },
		.tlb2 = { 128, 16 },
		.decoded = { 64, 16 },
		.decoded_bytes = 32,
		.predictor = { .base_entries = BASE_ENTRIES,
			       .tagged_tables = TAGGED_TABLES,
			       .tagged_entries = TAGGED_ENTRIES,
			       .shortest_history = SHORTEST_HISTORY,
			       .longest_history = LONGEST_HISTORY,
			       .loop_entries = LOOP_ENTRIES,
			       .indirect_entries = INDIRECT_ENTRIES,
			       .return_entries = RETURN_ENTRIES },
		.reorder_slots = 256,
		.store_entries = 64,
	};
}

static struct hp_uarch_sets sets_of(struct hp_core_sets sets)
{
	return (struct hp_uarch_sets){ sets.sets, sets.ways };
}

struct hp_uarch_geometry hp_uarch_geometry_of(const struct hp_core *core)
{
	const struct hp_core_sizes *sizes = hp_core_sizes_of(core);
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	geometry.reorder_slots = core->reorder_slots;
	geometry.prefetches_pointers = core->prefetches_pointers;
	if (!sizes)
		return geometry;
	geometry.l1i = sets_of(sizes->l1i);
	geometry.l1d = sets_of(sizes->l1d);
	geometry.l2 = sets_of(sizes->l2);
	geometry.l2_is_inclusive = sizes->l2_is_inclusive;
	geometry.itlb = sets_of(sizes->itlb);
	geometry.dtlb = sets_of(sizes->dtlb);
	geometry.tlb2 = sets_of(sizes->tlb2);
	geometry.tlb2_code = sets_of(sizes->tlb2_code);
	geometry.decoded = sets_of(sizes->decoded);
	geometry.decoded_bytes = sizes->decoded_bytes;
	geometry.store_entries = sizes->store_entries;
	geometry.predictor.return_entries = sizes->return_entries;
	if (sizes->tagged_entries)
		geometry.predictor.tagged_entries = sizes->tagged_entries;
	if (sizes->indirect_entries)
		geometry.predictor.indirect_entries = sizes->indirect_entries;
	if (sizes->longest_history)
		geometry.predictor.longest_history = sizes->longest_history;
	if (sizes->early_targets)
		geometry.predictor.early =
			(struct hp_uarch_sets){ sizes->early_targets / EARLY_WAYS, EARLY_WAYS };
	geometry.predictor.targets = sets_of(sizes->targets);
	return geometry;
}

void hp_uarch_share(struct hp_uarch_geometry *geometry, struct hp_core *core)
{
	geometry->store_entries /= 2;
	geometry->reorder_slots /= 2;
	core->reorder_slots /= 2;
	core->renamed_stores /= 2;
	core->remembered_pairs /= 2;
	if (!core->takes_turns)
		return;
	core->issue_width /= 2;
	core->fetch_width /= 2;
	core->decode_width /= 2;
	if (core->stored_width > 1)
		core->stored_width /= 2;
}

/* --- what is valid ---------------------------------------------------------------------------- */

static bool is_power(uint32_t value, uint32_t least, uint32_t most)
{
	return value >= least && value <= most && (value & (value - 1)) == 0;
}

static bool is_within(uint32_t value, uint32_t least, uint32_t most)
{
	return value >= least && value <= most;
}

static bool fits(const struct hp_uarch_sets *sets)
{
	return sets->sets > 0 && is_within(sets->ways, 1, WAYS_MOST) &&
	       (uint64_t)sets->sets * sets->ways <= BLOCKS_MOST;
}

static bool fits_if_any(const struct hp_uarch_sets *sets)
{
	return sets->ways == 0 || fits(sets);
}

static bool is_predictor_valid(const struct hp_uarch_predictor *predictor)
{
	return is_power(predictor->base_entries, 16, ENTRIES_MOST) &&
	       is_within(predictor->tagged_tables, 1, TABLES_MOST) &&
	       is_power(predictor->tagged_entries, 16, ENTRIES_MOST) &&
	       is_within(predictor->shortest_history, 1, HISTORY_MOST) &&
	       is_within(predictor->longest_history, predictor->shortest_history, HISTORY_MOST) &&
	       (predictor->loop_entries == 0 ||
		is_power(predictor->loop_entries, 4, ENTRIES_MOST)) &&
	       is_power(predictor->indirect_entries, 16, ENTRIES_MOST) &&
	       is_within(predictor->return_entries, 1, RETURNS_MOST) &&
	       fits_if_any(&predictor->early) && fits_if_any(&predictor->targets);
}

bool hp_uarch_geometry_is_valid(const struct hp_uarch_geometry *geometry)
{
	return is_power(geometry->line_bytes, 32, 4096) &&
	       is_power(geometry->page_bytes, 4096, 1 << 20) &&
	       geometry->line_bytes <= geometry->page_bytes && fits(&geometry->l1i) &&
	       fits(&geometry->l1d) && fits(&geometry->l2) && fits_if_any(&geometry->l3) &&
	       fits(&geometry->itlb) && fits(&geometry->dtlb) && fits(&geometry->tlb2) &&
	       fits_if_any(&geometry->tlb2_code) && fits_if_any(&geometry->decoded) &&
	       is_power(geometry->decoded_bytes, 32, 4096) &&
	       is_predictor_valid(&geometry->predictor) &&
	       is_within(geometry->reorder_slots, 1, 1 << 16) &&
	       is_within(geometry->store_entries, 1, STORES_MOST);
}
