/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images.h"
#include "image_counts.h"
#include "balance.h"
#include "counts_clock.h"
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
	uint32_t image; /* the part's, of the windows' */
};

static double uncovered_share(const struct hp_inference *inference,
			      const struct hp_loaded_image *image)
{
	size_t event = hp_profiles_time_event(inference->profiles);
	double told = counts_told_share(inference);
	double all;

	if (event == inference->profiles->events.count)
		return 1;
	all = image->tallies[event].weight;
	return 1 - told * (1 - (all > 0 ? image->uncovered[event].weight / all : 0));
}

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

/* Counts to each other are taken from all windows alike. */
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
	uint64_t a = edges[*(const uint32_t *)left].to;
	uint64_t b = edges[*(const uint32_t *)right].to;

	return (a > b) - (a < b);
}

/* The same edge may be of several strata. */
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

/* Of what counts are off by at most, as a share and in one direction: in most cases they are by less
 * than half of that. */
static double deviation_within(double share)
{
	return bias_within * log1p(share) / HP_NORMAL_90;
}

/* Part of what windows cost the program falls into them, samples and caches that are cold, and makes
 * their time a little slower than the rest. Stops, and what copies take beside windows and the rest
 * alike, are none of it; nor is what windows lost whose time was told without that. */
static double disturbed_deviation(const struct hp_inference *inference)
{
	double counted_ns = (double)hp_window_evidence_counted(&inference->windows.sum).time_ns;
	const struct hp_window_price *price = &inference->windows.sum.price;
	double lost_ns = fmax((double)price->lost_ns - (double)price->aside_ns, 0);

	return counted_ns > 0 ? deviation_within(disturbed_in_windows * lost_ns / counted_ns) : 0;
}

/* While a copy runs the program is slower by what CPUs share; how much it is here nobody knows. Windows see it where other
 * copies run beside them: less often than beside the rest of the time, where there is just one window
 * now and then. */
static double beside_deviation(const struct hp_inference *inference)
{
	const struct hp_window_price *price = &inference->windows.sum.price;
	double counted_ns = (double)hp_window_evidence_counted(&inference->windows.sum).time_ns;
	double all, seen;

	if (!price->target_ns || !(counted_ns > 0))
		return 0;
	all = fmin((double)price->replay_ns / (double)price->target_ns, 1);
	seen = fmin((double)price->beside_ns / counted_ns, 1);
	return deviation_within(slower_beside * fabs(all - seen));
}

/* Of the time that windows were to count, what they did not: their copies lost the way, or came to a
 * call that none can make, where others did not. What ran then was counted too seldom, by no more
 * than that. */
static double lost_deviation(const struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_window_group absolute = hp_window_evidence_counted(sum);
	struct hp_window_group relative = hp_window_evidence_relative(sum);
	double windows = (double)(absolute.windows + relative.windows);
	/* From the first sample to the last. */
	double wanted_ns = ((double)sum->samples - windows) * HP_WINDOW_SAMPLE_NS;
	double counted_ns = (double)(absolute.time_ns + relative.time_ns);

	return counted_ns > 0 && wanted_ns > counted_ns
		       ? deviation_within(wanted_ns / counted_ns - 1)
		       : 0;
}

/* All of the time by that in windows, of counts that are not scaled. */
static double whole_of(const struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	double counted_ns = (double)hp_window_evidence_counted(sum).time_ns +
			    (double)hp_window_evidence_relative(sum).time_ns;

	return counted_ns > 0 ? fmax(inference->windows.passing_ns / counted_ns, 1) : 1;
}

/* What its procedures tell of how windows differ. */
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

/* All but its clocks, which want those of all images. */
static struct hp_error *begin(struct hp_inference *inference, const struct hp_loaded_part *part,
			      uint32_t image)
{
	struct hp_image_counts *counted = calloc(1, sizeof(*counted));
	const struct making making = { inference, part, counted, image };
	double uncovered = uncovered_share(inference, part->image);
	struct hp_error *error;

	if (!counted)
		return hp_error_create_no_memory();
	inference->images[part->image->index].counts = counted;
	counted->file = part->file;
	counted->moved = moved_of_relative * moved_of_relative;
	counted->pace = hp_pace_of_any();
	counted->is_absolute = inference->windows.is_absolute && uncovered <= most_uncovered;
	counted->whole = counted->is_absolute ? 1 : whole_of(inference);
	counted->why_relative = inference->windows.is_absolute
					? "commands without windows executed much of this code"
					: inference->windows.why_relative;
	counted->deviation =
		hypot(hypot(hypot(least_count_deviation, inference->windows.young),
			    fmax(fmax(uncovered, inference->windows.without),
				 inference->windows.truncated)),
		      hypot(hypot(disturbed_deviation(inference), beside_deviation(inference)),
			    lost_deviation(inference)));
	for (size_t i = 0; i < inference->windows.sum.stratum_count; i++)
		if (!add_stratum(&making, i))
			return hp_error_create_no_memory();
	/* What ran without windows ran like what ran with them, for all that is known. */
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

/* Elsewhere offsets mean something in one epoch only, or in one process. */
static bool may_have_counts(const struct hp_loaded_part *part)
{
	return part->file && part->image->id.kind == HP_IMAGE_FILE;
}

static struct hp_error *begin_all(struct hp_inference *inference)
{
	const struct hp_window_evidence *sum = &inference->windows.sum;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < inference->profiles->parts.count && !error; i++) {
		const struct hp_loaded_part *part = inference->profiles->parts.at[i];

		for (uint32_t j = 0; j < sum->image_count && !error && may_have_counts(part); j++)
			if (!hp_counts_made(inference, part->image) &&
			    hp_image_id_compare(&sum->images[j], &part->image->id) == 0)
				error = begin(inference, part, j);
	}
	return error;
}

/* How far windows are off the rest of the time: a phase that they missed is missing in each image that
 * it runs in. False: no memory. */
static bool learn_moved(const struct hp_inference *inference, double *variance)
{
	HP_VECTOR(struct place_ticks) places = { 0 };
	bool fits = true;

	for (size_t i = 0; i < inference->profiles->images.count; i++) {
		const struct hp_image_counts *counted = inference->images[i].counts;

		for (size_t j = 0; counted && j < counted->clocks.count && fits; j++)
			fits = hp_vector_push(&places, counted->clocks.at[j].place_apart);
	}
	*variance = moved_variance(places.at, places.count);
	hp_vector_free(&places);
	return fits;
}

static struct hp_error *make_all(struct hp_inference *inference)
{
	struct hp_error *error = balance_windows(inference);
	double variance = 0;

	if (!error)
		error = begin_all(inference);
	if (error)
		return error;
	if (!learn_moved(inference, &variance))
		return hp_error_create_no_memory();
	inference->windows.moved = variance;
	for (size_t i = 0; i < inference->profiles->parts.count && !error; i++) {
		const struct hp_loaded_part *part = inference->profiles->parts.at[i];
		struct hp_image_counts *counted = hp_counts_made(inference, part->image);

		if (!counted || counted->file != part->file || !counted->is_absolute)
			continue;
		counts_clocks_set(inference, variance, counted);
		error = learn_pace(inference, part, counted);
	}
	return error;
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
	if (!error && may_have_counts(part))
		*counted = hp_counts_made(inference, part->image);
	return error;
}

struct hp_image_counts *hp_counts_made(const struct hp_inference *inference,
				       const struct hp_loaded_image *image)
{
	return inference->images[image->index].counts;
}

/* --- asking ----------------------------------------------------------------------------------- */

const struct hp_counts_edge *hp_counts_edges_from(const struct hp_image_counts *counted,
						  uint64_t from, size_t *count)
{
	size_t first = hp_bisect(i, counted->edges.count, counted->edges.at[i].from < from);
	size_t end;

	for (end = first; end < counted->edges.count && counted->edges.at[end].from == from; end++)
		;
	*count = end - first;
	return *count ? &counted->edges.at[first] : NULL;
}

static bool is_call(const struct hp_counts_edge *edge)
{
	return edge->kind == HP_COUNTED_CALL || edge->kind == HP_COUNTED_INDIRECT_CALL;
}

/* The first of by_target at or after the address. */
static size_t first_target(const struct hp_image_counts *counted, uint64_t address)
{
	return hp_bisect(i, counted->target_count,
			 counted->edges.at[counted->by_target[i]].to < address);
}

/* Who arrives from other images is seen there only: so all arrivals, less the jumps back. */
struct hp_grouped hp_counts_calls(const struct hp_image_counts *counted, uint64_t start,
				  uint64_t end)
{
	struct hp_grouped calls = hp_counts_runs(counted, start);

	for (size_t i = first_target(counted, start); i < counted->target_count; i++) {
		const struct hp_counts_edge *edge = &counted->edges.at[counted->by_target[i]];

		if (edge->to != start)
			break;
		if (is_call(edge) || edge->from < start || edge->from >= end)
			continue;
		for (size_t j = 0; j < HP_EVIDENCE_GROUPS; j++)
			calls.counts[j] = fmax(0, calls.counts[j] - edge->runs.counts[j]);
	}
	return calls;
}

/* Seen a few times at most, it hardly ran. */
static struct hp_counted_figure sufficient(const struct hp_image_counts *counted,
					   const struct hp_counted_figure *figure)
{
	static const struct hp_counted_figure none = { NAN, NAN, NAN };

	return hp_interval_suffices(figure->value, figure->low, figure->high,
				    hp_surely_seen * counted->one)
		       ? *figure
		       : none;
}

struct hp_counted_figure hp_counts_figure(const struct hp_inference *inference,
					  const struct hp_image_counts *counted, uint64_t address,
					  const struct hp_grouped *runs)
{
	struct hp_grouped_ratio ratio = hp_grouped_pace(runs,
							counts_time(inference, counted, address),
							inference->windows.count, &counted->pace);
	struct hp_counted_figure figure = { NAN, NAN, NAN };
	double share;

	if (!counted->is_absolute || !isfinite(ratio.deviation)) /* no time at all */
		return figure;
	figure.value = hp_grouped_sum(runs);
	if (!(figure.value > 0)) {
		figure.low = 0;
		figure.high = hp_surely_seen * counted->one;
		return figure;
	}
	share = exp(HP_NORMAL_90 * hypot(hypot(ratio.deviation / ratio.value, counted->deviation),
					 counts_clock_deviation(counted, address)));
	figure.low = figure.value / share;
	figure.high = figure.value * share;
	return sufficient(counted, &figure);
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

static struct hp_error *fill_row(struct hp_inference *inference, struct hp_row *row)
{
	struct hp_counts_procedure key = { .owner = row->code->procedure };
	struct hp_image_counts *counted = hp_counts_made(inference, row->code->part->image);
	const struct hp_counts_procedure *found;
	struct hp_row_counts *counts;
	struct hp_grouped calls;
	struct hp_error *error = hp_counts_procedures(row->code->part, counted);

	if (error || !counted->procedures.count)
		return error;
	found = bsearch(&key, counted->procedures.at, counted->procedures.count, sizeof(key),
			compare_owners);
	if (!found)
		return NULL;
	counts = hp_arena_alloc(inference->profiles->arena, sizeof(*counts));
	if (!counts)
		return hp_error_create_no_memory();
	calls = hp_counts_calls(counted, key.owner->address.value,
				key.owner->address.value + key.owner->size);
	counts->calls = hp_counts_figure(inference, counted, key.owner->address.value, &calls);
	counts->instructions = hp_counts_figure(inference, counted, key.owner->address.value,
						&found->instructions);
	row->counts = counts;
	return NULL;
}

struct hp_error *counts_fill_rows(struct hp_inference *inference)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < inference->profiles->rows.count && !error; i++) {
		struct hp_row *row = inference->profiles->rows.at[i];
		struct hp_image_counts *counted = NULL;

		if (!row->code || row->code->next || !row->code->procedure || row->inlined)
			continue;
		error = hp_counts_of(inference, row->code->part, &counted);
		if (!error && counted)
			error = fill_row(inference, row);
	}
	return error;
}
