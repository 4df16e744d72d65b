/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the cycles of findings were spent on, on both sides, where windows of both were simulated.
 *
 * A cause is named if it grew by at least least_grown, and if its ranges on the two sides do not
 * overlap, neither as shares of the procedure's cycles nor as costs. So no cause is named where all
 * causes grew alike (there is more to do), or where only the rest of the procedure became cheaper.
 * The ranges are those of report --stack. Cycles of the procedure that were not simulated may
 * belong to any cause.
 */
#include <hpcprof/analyze/cpi_stack.h>
#include "../tuning.h"
#include "reasons.h"

#include <math.h>

/* The analysis of the timed row with the most cycles of that procedure. NULL: none was timed. */
static const struct hp_analysis *analysis_of(const struct compared_report *side, const char *name,
					     const char *image, struct hp_error **error)
{
	const struct hp_profiles *profiles = side->report.profiles;
	const struct hp_analysis *found = NULL;

	for (size_t i = 0; i < profiles->rows.count && !*error; i++) {
		const struct hp_row *row = profiles->rows.at[i];
		const struct hp_analysis *analysis = NULL;

		if (!reasons_is_named(row->name, name) || !reasons_is_image(row->image, image))
			continue;
		*error = hp_inference_row(side->report.inference, row, &analysis);
		if (!*error && analysis && analysis->prediction.measured > 0 &&
		    (!found || analysis->sheet.cycles > found->sheet.cycles))
			found = analysis;
	}
	return found;
}

/* Share of all of the procedure's cycles; cycles that were not simulated may have any cause. */
static struct hp_measured share_of(const struct hp_cpi_stack *stack,
				   enum hp_cpi_component component, double known)
{
	const struct hp_cpi_part *part = &stack->parts[component];

	return (struct hp_measured){
		.value = known * fmin(1, fmax(0, part->likely)),
		.low = known * fmin(1, fmax(0, part->low)),
		.high = known * fmin(1, fmax(0, part->high)) + 1 - known,
	};
}

static double least_cost(const struct hp_compared_cost *side)
{
	return isfinite(side->cost.low) ? side->cost.low : side->cost.value;
}

static double most_cost(const struct hp_compared_cost *side)
{
	return isfinite(side->cost.high) ? side->cost.high : side->cost.value;
}

static bool is_more(const struct hp_compared *finding, const struct hp_compared_cause *cause,
		    enum hp_side more)
{
	enum hp_side less = more == HP_BASE ? HP_CANDIDATE : HP_BASE;
	double low = cause->share[more].low, high = cause->share[less].high;

	return low > high + least_grown &&
	       low * least_cost(&finding->side[more]) > high * most_cost(&finding->side[less]);
}

static int compare_change(const void *left, const void *right)
{
	const struct hp_compared_cause *a = left;
	const struct hp_compared_cause *b = right;
	double x = fabs(a->share[HP_CANDIDATE].value - a->share[HP_BASE].value);
	double y = fabs(b->share[HP_CANDIDATE].value - b->share[HP_BASE].value);

	return (x < y) - (x > y);
}

/* Adds causes that changed in the same direction as the procedure's cost. */
static struct hp_error *add_changed(struct hp_arena *arena, struct hp_compared *finding,
				    const struct hp_analysis *const analyses[HP_SIDES])
{
	struct hp_compared_cause *list = hp_arena_array(arena, HP_CPI_COMPONENTS, sizeof(*list));
	enum hp_side more = finding->lost.value > 0 ? HP_CANDIDATE : HP_BASE;
	struct hp_cpi_stack stacks[HP_SIDES];
	size_t count = 0;

	if (!list)
		return hp_error_create_no_memory();
	for (size_t side = 0; side < HP_SIDES; side++)
		stacks[side] = hp_cpi_of_analysis(analyses[side]);
	for (unsigned i = 0; i < HP_CPI_UNEXPLAINED; i++) {
		struct hp_compared_cause *cause = &list[count];

		cause->name = hp_cpi_name((enum hp_cpi_component)i);
		for (size_t side = 0; side < HP_SIDES; side++)
			cause->share[side] = share_of(
				&stacks[side], (enum hp_cpi_component)i,
				fmin(1, stacks[side].cycles / analyses[side]->sheet.cycles));
		count += is_more(finding, cause, more);
	}
	qsort(list, count, sizeof(*list), compare_change);
	finding->has_causes = true;
	finding->causes = list;
	finding->cause_count = count < MOST_COMPARED_CAUSES ? count : MOST_COMPARED_CAUSES;
	return NULL;
}

static struct hp_error *add_causes_of(struct hp_arena *arena, struct compared_report *sides,
				      struct hp_compared *finding)
{
	const char *former = finding->former_name ? finding->former_name : finding->name;
	struct hp_error *error = NULL;
	const struct hp_analysis *analyses[HP_SIDES];

	analyses[HP_BASE] = analysis_of(&sides[HP_BASE], former, finding->image, &error);
	analyses[HP_CANDIDATE] =
		error ? NULL
		      : analysis_of(&sides[HP_CANDIDATE], finding->name, finding->image, &error);
	if (error || !analyses[HP_BASE] || !analyses[HP_CANDIDATE])
		return error;
	return add_changed(arena, finding, analyses);
}

struct hp_error *reasons_add_causes(struct hp_comparison *comparison, struct compared_report *sides)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < comparison->finding_count && !error; i++)
		if (comparison->findings[i]->scope == HP_SCOPE_PROCEDURE)
			error = add_causes_of(comparison->arena, sides, comparison->findings[i]);
	if (!error && comparison->program->carrier)
		error = add_causes_of(comparison->arena, sides, comparison->program->carrier);
	return error;
}
