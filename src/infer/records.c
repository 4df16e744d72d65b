/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "records.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <stdlib.h>

/* Visits the items of this part's image, stratum by stratum. */
struct walk {
	const struct hp_inference *inference;
	const struct hp_loaded_part *part;
	const struct hp_cfg *cfg;
	enum hp_counted_kind kind;
	/* `first` to `last`: blocks of the graph that were executed completely. */
	void (*visit)(void *context, const struct hp_counted *item, uint32_t first, uint32_t last);
	void *context;
};

static bool falls_through(const struct hp_cfg *cfg, uint32_t block)
{
	const struct hp_block *at = &cfg->blocks[block];

	return (at->end == HP_END_FALL || at->end == HP_END_CONDITIONAL) &&
	       block + 1 < cfg->block_count && at[1].address.value == at->address.value + at->bytes;
}

/* Finds the blocks of a straight run, from the beginning of a block to the end of one. Anything
 * else was not executed as recorded: the record had a gap. */
static bool find_blocks(const struct hp_cfg *cfg, uint64_t start, uint64_t end, uint32_t *first,
			uint32_t *last)
{
	*first = hp_cfg_block_at(cfg, (hp_link_address){ start });
	*last = hp_cfg_block_at(cfg, (hp_link_address){ end });
	if (*first == HP_CFG_NONE || *last == HP_CFG_NONE || *last < *first ||
	    cfg->blocks[*first].address.value != start)
		return false;
	for (uint32_t i = *first; i < *last; i++)
		if (!falls_through(cfg, i))
			return false;
	return true;
}

static void visit_items(const struct walk *walk, const struct hp_window_stratum *stratum,
			uint32_t image)
{
	for (size_t i = 0; i < stratum->range_count; i++) {
		const struct hp_counted *item = &stratum->ranges[i];
		hp_link_address start;
		hp_link_address end;
		uint32_t first;
		uint32_t last;

		if (item->image == image && item->kind == walk->kind &&
		    hp_image_link_address(walk->part->file, item->at, &start) &&
		    hp_image_link_address(walk->part->file, item->to, &end) &&
		    find_blocks(walk->cfg, start.value, end.value, &first, &last))
			walk->visit(walk->context, item, first, last);
	}
}

static void visit_all(const struct walk *walk)
{
	const struct hp_inference *inference = walk->inference;
	const struct hp_window_evidence *sum = &inference->windows.sum;

	/* Only in files do offsets mean the same in all epochs; and records do not know
	 * processes. */
	if (!walk->part->file || walk->part->image->id.kind != HP_IMAGE_FILE ||
	    inference->profiles->options->pid)
		return;
	for (uint32_t i = 0; i < sum->image_count; i++) {
		if (hp_image_id_compare(&sum->images[i], &walk->part->image->id) != 0)
			continue;
		for (size_t j = 0; j < sum->stratum_count; j++)
			if (hp_profiles_matches(inference->profiles->options->comm,
						sum->strata[j].command))
				visit_items(walk, &sum->strata[j], i);
	}
}

/* --- executions ------------------------------------------------------------------------------- */

/* Straight runs that begin with the same block. */
struct beginning {
	double cycles;		/* cycles of these runs, whatever branch they ended with */
	struct hp_grouped time; /* cycles of all executions, as far as records stand for them */
};

struct executions {
	struct beginning *beginnings;
	struct hp_grouped *runs;
};

static void add_cycles(void *context, const struct hp_counted *item, uint32_t first, uint32_t last)
{
	struct beginning *beginnings = context;

	(void)last;
	for (size_t i = 0; i < HP_RECORD_GROUPS; i++)
		beginnings[first].cycles += (double)item->counts[i];
}

static void add_time(void *context, const struct hp_counted *item, uint32_t first, uint32_t last)
{
	struct beginning *beginnings = context;

	(void)last;
	for (size_t i = 0; i < HP_RECORD_GROUPS; i++)
		beginnings[first].time.counts[i] += (double)item->counts[i];
}

/* Estimated executions: the recorded runs per recorded cycle, times all cycles from that block. */
static void add_runs(void *context, const struct hp_counted *item, uint32_t first, uint32_t last)
{
	struct executions *executions = context;
	const struct beginning *beginning = &executions->beginnings[first];
	double seen = 0;

	for (size_t i = 0; i < HP_RECORD_GROUPS; i++)
		seen += (double)item->counts[i];
	for (uint32_t i = first; i <= last && beginning->cycles > 0; i++)
		for (size_t j = 0; j < HP_RECORD_GROUPS; j++)
			executions->runs[i].counts[j] +=
				beginning->time.counts[j] * seen / beginning->cycles;
}

/* The cycles that records stand for. */
static struct hp_grouped cycles_of_records(const struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_grouped cycles = { 0 };

	for (size_t i = 0; i < sum->stratum_count; i++)
		for (size_t j = 0; j < HP_RECORD_GROUPS; j++)
			if (hp_profiles_matches(inference->profiles->options->comm,
						sum->strata[i].command))
				cycles.counts[j] += (double)sum->strata[i].record_cycles[j];
	return cycles;
}

/* Cycles of all samples in user code, with a record or without. */
static double all_cycles(const struct hp_inference *inference)
{
	double cycles = 0;
	size_t event = 0;

	while (event < inference->profiles->events.count &&
	       inference->profiles->events.at[event].info->unit != HP_UNIT_CYCLES)
		event++;
	for (size_t i = 0;
	     i < inference->profiles->images.count && event < inference->profiles->events.count;
	     i++) {
		const struct hp_loaded_image *image = inference->profiles->images.at[i];

		if (!hp_profiles_is_kernel(image))
			cycles += image->tallies[event].weight;
	}
	return cycles;
}

static void visit_kind(struct walk *walk, enum hp_counted_kind kind,
		       void (*visit)(void *, const struct hp_counted *, uint32_t, uint32_t),
		       void *context)
{
	walk->kind = kind;
	walk->visit = visit;
	walk->context = context;
	visit_all(walk);
}

static struct hp_error *add_terms(const struct hp_inference *inference, const struct hp_cfg *cfg,
				  const struct hp_grouped *runs, evidence_vector *terms)
{
	struct hp_grouped time = cycles_of_records(inference);
	double cycles = all_cycles(inference);

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		struct hp_grouped_ratio ratio = hp_grouped_ratio(&runs[i], &time);
		struct hp_evidence term = {
			.kind = HP_EVIDENCE_COUNT,
			.source = HP_SOURCE_COUNTERS,
			.address = cfg->blocks[i].address,
			.value = ratio.value * cycles,
		};

		if (!(term.value > 0) || !isfinite(ratio.deviation))
			continue;
		term.deviation =
			hypot(ratio.deviation * cycles, least_record_deviation * term.value);
		if (!hp_vector_push(terms, term))
			return hp_error_create_no_memory();
	}
	return NULL;
}

struct hp_error *records_terms_of(const struct hp_inference *inference,
				  const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				  evidence_vector *terms)
{
	size_t room = (size_t)cfg->block_count + 1;
	_cleanup_free_ struct beginning *beginnings = NULL;
	_cleanup_free_ struct hp_grouped *runs = NULL;
	struct walk walk = { .inference = inference, .part = part, .cfg = cfg };
	struct executions executions;

	if (!(hp_window_evidence_contents(&inference->windows.sum) & HP_CONTAINS_RANGES))
		return NULL;
	beginnings = calloc(room, sizeof(*beginnings));
	runs = calloc(room, sizeof(*runs));
	if (!beginnings || !runs)
		return hp_error_create_no_memory();
	executions = (struct executions){ beginnings, runs };
	visit_kind(&walk, HP_COUNTED_RANGE_CYCLES, add_cycles, beginnings);
	visit_kind(&walk, HP_COUNTED_RANGE_TIME, add_time, beginnings);
	visit_kind(&walk, HP_COUNTED_RANGE, add_runs, &executions);
	return add_terms(inference, cfg, runs, terms);
}

/* --- time ------------------------------------------------------------------------------------- */

static void add_if_alone(void *context, const struct hp_counted *item, uint32_t first,
			 uint32_t last)
{
	double *sums = context;

	for (size_t i = 0; i < HP_RECORD_GROUPS && first == last; i++)
		sums[first] += (double)item->counts[i];
}

struct hp_error *hp_recorded_cycles(const struct hp_inference *inference,
				    const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				    struct hp_arena *arena, double **cycles)
{
	size_t room = (size_t)cfg->block_count + 1;
	struct walk walk = { .inference = inference, .part = part, .cfg = cfg };
	_cleanup_free_ double *runs = calloc(room, sizeof(*runs));

	*cycles = hp_arena_array(arena, room, sizeof(**cycles));
	if (!runs || !*cycles)
		return hp_error_create_no_memory();
	visit_kind(&walk, HP_COUNTED_RANGE, add_if_alone, runs);
	visit_kind(&walk, HP_COUNTED_RANGE_CYCLES, add_if_alone, *cycles);
	for (uint32_t i = 0; i < cfg->block_count; i++)
		(*cycles)[i] = runs[i] > 0 ? (*cycles)[i] / runs[i] : NAN;
	return NULL;
}
