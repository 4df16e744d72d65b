/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images.h"
#include "image_counts.h"
#include "balance.h"
#include "counts_clock.h"
#include "common_error.h"
#include "tuning.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>
#include <hpcprof/infer/inference.h>

#include <math.h>
#include <string.h>

/* --- making ----------------------------------------------------------------------------------- */

struct making {
	const struct hp_inference *inference;
	const struct hp_loaded_part *part;
	struct hp_image_counts *counted;
	uint32_t image; /* index of the part's image in the windows' images */
};

static bool link_address(const struct making *making, hp_image_offset offset, uint64_t *address)
{
	hp_link_address found;

	if (!hp_image_link_address(making->part->file, offset, &found))
		return false;
	*address = found.value;
	return true;
}

static bool add_block(const struct making *making, const struct hp_counted *item,
		      const struct hp_grouped *runs)
{
	struct hp_counts_block block = {
		.bytes = item->bytes,
		.instructions = item->instructions,
		.runs = *runs,
	};

	if (!link_address(making, item->at, &block.address))
		return true;
	if (block.bytes > making->counted->longest)
		making->counted->longest = block.bytes;
	return hp_vector_push(&making->counted->blocks, block);
}

static bool add_edge(const struct making *making, const struct hp_counted *item,
		     const struct hp_grouped *runs)
{
	struct hp_counts_edge edge = {
		.kind = item->kind,
		.is_inside = item->to_image == item->image,
		.to_image = item->to_image,
		.to = item->to.value,
		.runs = *runs,
	};

	if (!link_address(making, item->at, &edge.from) ||
	    (edge.is_inside && !link_address(making, item->to, &edge.to)))
		return true;
	return hp_vector_push(&making->counted->edges, edge);
}

/* Absolute counts use the weights of groups; for relative counts all windows weigh the same. */
static bool add_item(const struct making *making, const struct hp_counted *item, double scale)
{
	struct hp_grouped runs =
		making->counted->is_absolute
			? hp_balanced(&making->inference->windows, scale, item->counts)
			: hp_grouped_by_windows(item->counts, scale);

	making->counted->one = fmax(making->counted->one, scale);
	return item->kind == HP_COUNTED_BLOCK ? add_block(making, item, &runs)
					      : add_edge(making, item, &runs);
}

static bool add_stratum(const struct making *making, size_t number)
{
	const struct hp_windows *windows = &making->inference->windows;
	const struct hp_window_stratum *stratum = &windows->sum.strata[number];
	bool is_absolute = making->counted->is_absolute;
	double scale = is_absolute ? windows->scales[number] : 1;

	if (!(scale > 0) ||
	    !hp_profiles_matches(making->inference->profiles->options->comm, stratum->command))
		return true;
	for (size_t i = 0; i < stratum->item_count; i++) {
		const struct hp_counted *item = &stratum->items[i];

		if (item->image == making->image && !(is_absolute && item->is_relative) &&
		    !add_item(making, item, scale))
			return false;
	}
	return true;
}

/* --- sorting ---------------------------------------------------------------------------------- */

HP_ORDER_BY(compare_blocks, struct hp_counts_block, address);

static int compare_edges(const void *left, const void *right)
{
	const struct hp_counts_edge *a = left;
	const struct hp_counts_edge *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->to_image != b->to_image)
		return a->to_image < b->to_image ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

static int compare_targets(const void *left, const void *right, void *context)
{
	const struct hp_counts_edge *edges = context;

	return hp_order(edges[*(const uint32_t *)left].to, edges[*(const uint32_t *)right].to);
}

/* Merges equal edges of different strata. */
static void unite_edges(struct hp_image_counts *counted)
{
	struct hp_counts_edge *edges = counted->edges.at;
	size_t n = 0;

	for (size_t i = 0; i < counted->edges.count; i++) {
		if (n && compare_edges(&edges[n - 1], &edges[i]) == 0)
			hp_grouped_add(&edges[n - 1].runs, &edges[i].runs);
		else
			edges[n++] = edges[i];
	}
	counted->edges.count = n;
}

static struct hp_error *sort(struct hp_image_counts *counted)
{
	if (counted->blocks.count)
		qsort(counted->blocks.at, counted->blocks.count, sizeof(*counted->blocks.at),
		      compare_blocks);
	if (counted->edges.count)
		qsort(counted->edges.at, counted->edges.count, sizeof(*counted->edges.at),
		      compare_edges);
	unite_edges(counted);
	counted->by_target = calloc(counted->edges.count + 1, sizeof(*counted->by_target));
	if (!counted->by_target)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < counted->edges.count; i++)
		if (counted->edges.at[i].is_inside)
			counted->by_target[counted->target_count++] = (uint32_t)i;
	qsort_r(counted->by_target, counted->target_count, sizeof(*counted->by_target),
		compare_targets, counted->edges.at);
	return NULL;
}

/* The whole time over the time in windows, for counts that are not scaled. */
static double whole_of(const struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	double counted_ns = (double)hp_window_evidence_counted(sum).time_ns +
			    (double)hp_window_evidence_relative(sum).time_ns;

	return counted_ns > 0 ? fmax(inference->windows.passing_ns / counted_ns, 1) : 1;
}

/* Estimates from the image's procedures how instructions per time vary between windows. */
static struct hp_error *learn_pace(const struct hp_inference *inference,
				   const struct hp_loaded_part *part,
				   struct hp_image_counts *counted)
{
	struct hp_error *error = hp_counts_procedures(part, counted);
	struct hp_paces paces = { 0 };

	for (size_t i = 0; i < counted->procedures.count && !error; i++) {
		const struct hp_counts_procedure *procedure = &counted->procedures.at[i];
		uint64_t address = procedure->owner->address.value;

		hp_paces_add(&paces, &procedure->instructions,
			     counts_time(inference, counted, address), inference->windows.count,
			     counts_samples(counted, address));
	}
	counted->pace = hp_pace_of_all(&paces);
	return error;
}

/* Estimates from the image's blocks how their shares in procedures vary between windows. */
static void learn_shares(const struct hp_inference *inference, struct hp_image_counts *counted)
{
	struct hp_paces paces = { 0 };

	for (size_t i = 0; i < counted->blocks.count; i++) {
		const struct hp_counts_block *block = &counted->blocks.at[i];
		const struct hp_counts_procedure *procedure =
			counts_procedure(counted, block->address);
		struct hp_grouped instructions = block->runs;

		if (!procedure)
			continue;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			instructions.counts[j] *= block->instructions;
		hp_paces_add(
			&paces, &instructions, &procedure->instructions, inference->windows.count,
			hp_grouped_sum(&instructions) / hp_grouped_sum(&procedure->instructions) *
				counts_samples(counted, block->address));
	}
	counted->shares = hp_pace_of_all(&paces);
}

/* Makes the counts of an image, except its clocks, which depend on all images. */
static struct hp_error *begin(struct hp_inference *inference, const struct hp_loaded_part *part,
			      uint32_t image)
{
	struct hp_image_counts *counted = calloc(1, sizeof(*counted));
	const struct making making = { inference, part, counted, image };
	double uncovered = counts_uncovered(inference, part->image);
	struct hp_error *error;

	if (!counted)
		return hp_error_create_no_memory();
	inference->images[part->image->index].counts = counted;
	counted->file = part->file;
	counted->moved = moved_of_relative * moved_of_relative;
	counted->pace = hp_pace_of_any();
	counted->shares = hp_pace_of_any();
	counted->is_absolute = inference->windows.is_absolute && uncovered <= most_uncovered;
	counted->whole = counted->is_absolute ? 1 : whole_of(inference);
	counted->why_relative = inference->windows.is_absolute
					? "commands without windows executed much of this code"
					: inference->windows.why_relative;
	counted->deviation = counts_common_deviation(inference, uncovered);
	for (size_t i = 0; i < inference->windows.sum.stratum_count; i++)
		if (!add_stratum(&making, i))
			return hp_error_create_no_memory();
	/* Commands without windows are assumed to execute this code like those with windows. */
	for (size_t i = 0; i < counted->blocks.count && counted->is_absolute; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			counted->blocks.at[i].runs.counts[j] /= 1 - uncovered;
	for (size_t i = 0; i < counted->edges.count && counted->is_absolute; i++)
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			counted->edges.at[i].runs.counts[j] /= 1 - uncovered;
	error = sort(counted);
	if (!error)
		error = counts_ticks_make(inference, image, counted);
	if (!error && counted->is_absolute)
		error = counts_clocks_list(inference, part, image, 1 - uncovered, counted);
	return error;
}

static struct hp_error *begin_all(struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < inference->profiles->parts.count && !error; i++) {
		const struct hp_loaded_part *part = inference->profiles->parts.at[i];

		for (uint32_t j = 0; j < sum->image_count && !error && counts_possible(part); j++)
			if (!hp_counts_made(inference, part->image) &&
			    hp_image_id_compare(&sum->images[j], &part->image->id) == 0)
				error = begin(inference, part, j);
	}
	return error;
}

/* Estimates `moved` from the procedures of all images, because a phase that windows missed is
 * missing in each image that ran then. False: no memory. */
static bool learn_moved(struct hp_inference *inference)
{
	HP_VECTOR(struct place_ticks) places = { 0 };
	bool fits = true;

	for (size_t i = 0; i < inference->profiles->images.count; i++) {
		const struct hp_image_counts *counted = inference->images[i].counts;

		for (size_t j = 0; counted && j < counted->clocks.count && fits; j++)
			fits = hp_vector_push(&places, counted->clocks.at[j].place_apart);
	}
	inference->windows.moved = moved_variance_of(places.at, places.count);
	hp_vector_free(&places);
	return fits;
}

/* Estimates the throughput from the procedures of all images. False: no memory. */
static bool learn_throughput(struct hp_inference *inference)
{
	paced_vector procedures = { 0 };
	bool fits = true;

	for (size_t i = 0; i < inference->profiles->images.count && fits; i++)
		if (inference->images[i].counts)
			fits = counts_clocks_paced(inference->images[i].counts, &procedures);
	inference->windows.throughput =
		throughput_of(procedures.at, procedures.count, counts_all_ticks(inference));
	hp_vector_free(&procedures);
	return fits;
}

static struct hp_error *pool_all(struct hp_inference *inference)
{
	if (!learn_throughput(inference))
		return hp_error_create_no_memory();
	for (size_t i = 0; i < inference->profiles->images.count; i++)
		if (inference->images[i].counts && inference->images[i].counts->is_absolute)
			counts_clocks_pool(inference, inference->images[i].counts);
	return NULL;
}

static struct hp_error *make_all(struct hp_inference *inference)
{
	struct hp_error *error = balance_windows(inference);

	if (!error)
		error = begin_all(inference);
	if (error)
		return error;
	if (!learn_moved(inference))
		return hp_error_create_no_memory();
	for (size_t i = 0; i < inference->profiles->parts.count && !error; i++) {
		const struct hp_loaded_part *part = inference->profiles->parts.at[i];
		struct hp_image_counts *counted = hp_counts_made(inference, part->image);

		if (!counted || counted->file != part->file || !counted->is_absolute)
			continue;
		counts_clocks_set(inference, counted);
		error = learn_pace(inference, part, counted);
		if (!error)
			learn_shares(inference, counted);
	}
	return error ? error : pool_all(inference);
}

static struct hp_error *make_once(struct hp_inference *inference)
{
	if (inference->has_counts)
		return NULL;
	inference->has_counts = true;
	return make_all(inference);
}

struct hp_error *hp_counts_moved(struct hp_inference *inference, double *variance)
{
	struct hp_error *error = make_once(inference);

	*variance = inference->windows.moved;
	return error;
}

struct hp_error *hp_counts_of(struct hp_inference *inference, const struct hp_loaded_part *part,
			      struct hp_image_counts **counted)
{
	struct hp_error *error;

	*counted = NULL;
	error = make_once(inference);
	if (!error && counts_possible(part))
		*counted = hp_counts_made(inference, part->image);
	return error;
}
