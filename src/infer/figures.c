/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of executions, with intervals, from the counts of an image. */
#include "image_counts.h"
#include "counts_clock.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/counts.h>
#include <hpcprof/infer/inference.h>

#include <math.h>

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

/* Index of the first edge in by_target whose target is at or after the address. */
static size_t first_target(const struct hp_image_counts *counted, uint64_t address)
{
	return hp_bisect(i, counted->target_count,
			 counted->edges.at[counted->by_target[i]].to < address);
}

/* How often the procedure part [start, end) was entered at its start, by calls (including its own)
 * and by jumps from other code. Calls from other images are seen only where they arrive, so this is
 * all arrivals minus jumps from within. */
static struct hp_grouped calls_of(const struct hp_image_counts *counted, uint64_t start,
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

static const struct hp_counted_figure nothing_known = { NAN, NAN, NAN };

double counts_relative_deviation(const struct hp_inference *inference,
				 const struct hp_image_counts *counted,
				 const struct hp_grouped *part, const struct hp_grouped *whole)
{
	const struct hp_pace *known = &counted->shares;
	struct hp_grouped_ratio ratio =
		hp_grouped_pace(part, whole, inference->windows.count, known);

	if (!(ratio.value > 0) || !isfinite(ratio.deviation))
		ratio = (struct hp_grouped_ratio){
			.value = 1,
			.deviation = sqrt(known->variance) * hp_student_widening(known->freedom),
		};
	return counts_deviation_between(inference, &ratio);
}

static struct hp_counted_figure figure_of(const struct hp_image_counts *counted, uint64_t address,
					  const struct hp_grouped *runs, double deviation)
{
	struct hp_counted_figure figure = nothing_known;
	double share = exp(HP_NORMAL_90 * hypot(deviation, counted->deviation));
	double hardly = hp_surely_seen * counted->one * counts_factor(counted, address);

	if (!counted->is_absolute || !isfinite(deviation)) /* there is no time at all */
		return figure;
	figure.value = hp_grouped_sum(runs);
	if (!(figure.value > 0)) {
		figure.low = 0;
		figure.high = hardly;
		return figure;
	}
	figure.low = figure.value / share;
	figure.high = figure.value * share;
	/* What was seen at most a few times hardly ran. */
	return hp_interval_suffices(figure.value, figure.low, figure.high, hardly) ? figure
										   : nothing_known;
}

/* Deviation of the logarithm of counts scaled by their procedure's time. */
static double deviation_by_clock(const struct hp_inference *inference,
				 const struct hp_image_counts *counted, uint64_t address,
				 const struct hp_grouped *runs)
{
	struct hp_grouped_ratio ratio = hp_grouped_pace(runs,
							counts_time(inference, counted, address),
							inference->windows.count, &counted->pace);

	if (inference->windows.is_by_time)
		return INFINITY;
	return hypot(ratio.value > 0 ? counts_deviation_between(inference, &ratio)
				     : ratio.deviation,
		     counts_clock_deviation(counted, address));
}

struct hp_counted_figure hp_counts_figure(const struct hp_inference *inference,
					  const struct hp_image_counts *counted, uint64_t address,
					  const struct hp_grouped *runs)
{
	double pooled = counts_pooled_deviation(counted, address);

	if (!(pooled > 0))
		return figure_of(counted, address, runs,
				 deviation_by_clock(inference, counted, address, runs));
	return figure_of(counted, address, runs,
			 hypot(pooled, counts_relative_deviation(
					       inference, counted, runs,
					       &counts_procedure(counted, address)->instructions)));
}

struct hp_counted_figure counts_instructions(const struct hp_inference *inference,
					     const struct hp_image_counts *counted,
					     const struct hp_counts_procedure *procedure)
{
	uint64_t address = procedure->owner->address.value;
	double pooled = counts_pooled_deviation(counted, address);

	return figure_of(counted, address, &procedure->instructions,
			 pooled > 0 ? pooled
				    : deviation_by_clock(inference, counted, address,
							 &procedure->instructions));
}

/* --- procedures ------------------------------------------------------------------------------- */

struct hp_row_counts hp_counts_of_procedure(const struct hp_inference *inference,
					    const struct hp_image_counts *counted,
					    const struct hp_counts_procedure *procedure)
{
	uint64_t start = procedure->owner->address.value;
	struct hp_grouped calls = calls_of(counted, start, start + procedure->owner->size);

	return (struct hp_row_counts){
		.calls = hp_counts_figure(inference, counted, start, &calls),
		.instructions = counts_instructions(inference, counted, procedure),
	};
}

static struct hp_error *fill_row(struct hp_inference *inference, struct hp_row *row)
{
	const struct hp_counts_procedure *procedure;
	struct hp_image_counts *counted = NULL;
	struct hp_row_counts *counts;
	struct hp_error *error = hp_counts_of(inference, row->code->part, &counted);

	if (error || !counted)
		return error;
	error = hp_counts_procedures(row->code->part, counted);
	if (error)
		return error;
	procedure = counts_procedure(counted, row->code->procedure->address.value);
	if (!procedure)
		return NULL;
	counts = hp_arena_alloc(inference->profiles->arena, sizeof(*counts));
	if (!counts)
		return hp_error_create_no_memory();
	*counts = hp_counts_of_procedure(inference, counted, procedure);
	row->counts = counts;
	return NULL;
}

struct hp_error *counts_fill_rows(struct hp_inference *inference)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < inference->profiles->rows.count && !error; i++) {
		struct hp_row *row = inference->profiles->rows.at[i];

		if (row->code && !row->code->next && row->code->procedure && !row->inlined)
			error = fill_row(inference, row);
	}
	return error;
}
