/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often findings are called, by the exact counts of windows on both sides. */
#include "../tuning.h"
#include "reasons.h"

#include <math.h>
#include <string.h>

/* Converts 90 % intervals of figures to the 95 % intervals of comparisons; quantiles of the normal
 * distribution. */
static const double wider = 1.960 / 1.645;

static double exposure_of(const struct hp_compared_side *side)
{
	double exposure = 0;

	for (size_t i = 0; i < side->epoch_count; i++)
		exposure += side->epochs[i].work > 0 ? side->epochs[i].work
						     : (double)side->epochs[i].runs;
	return exposure;
}

/* Sums over all clones of the caller; NAN if calls were not counted. */
static struct hp_measured calls_between(const struct compared_report *counted, const char *caller,
					const char *callee, const char *callee_image)
{
	struct hp_measured sum = { NAN, NAN, NAN };

	for (size_t i = 0; i < counted->calls.at.count; i++) {
		const struct executed *one = &counted->calls.at.at[i];
		const struct hp_counted_figure *runs = &one->runs;

		if (!isfinite(runs->value) || !reasons_is_named(one->row.name, caller) ||
		    !reasons_is_named(one->callee, callee) ||
		    !reasons_is_image(one->callee_image, callee_image))
			continue;
		if (isnan(sum.value))
			sum = (struct hp_measured){ 0, 0, 0 };
		sum.value += runs->value / counted->exposure;
		sum.low += runs->low / counted->exposure;
		sum.high += runs->high / counted->exposure;
	}
	if (sum.value > 0) {
		sum.low = sum.value * pow(fmax(sum.low, 1e-9 * sum.value) / sum.value, wider);
		sum.high = sum.value * pow(sum.high / sum.value, wider);
	}
	return sum;
}

static struct hp_measured ratio_of(const struct hp_measured calls[HP_SIDES])
{
	const struct hp_measured *base = &calls[HP_BASE];
	const struct hp_measured *candidate = &calls[HP_CANDIDATE];
	double value = candidate->value / base->value;
	double below = hypot(log(candidate->value / candidate->low), log(base->high / base->value));
	double above = hypot(log(candidate->high / candidate->value), log(base->value / base->low));

	return (struct hp_measured){ value, value * exp(-below), value * exp(above) };
}

static int compare_change(const void *left, const void *right)
{
	const struct hp_compared_calls *a = left;
	const struct hp_compared_calls *b = right;
	double x = fabs(a->calls[HP_CANDIDATE].value - a->calls[HP_BASE].value);
	double y = fabs(b->calls[HP_CANDIDATE].value - b->calls[HP_BASE].value);

	return (x < y) - (x > y);
}

/* Whether no earlier call of the candidate has the same caller. */
static bool is_first(const struct compared_report *counted, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(counted->calls.at.at[i].row.name, counted->calls.at.at[at].row.name) ==
			    0 &&
		    strcmp(counted->calls.at.at[i].callee, counted->calls.at.at[at].callee) == 0)
			return false;
	return true;
}

static struct hp_error *add_calls_of(struct hp_arena *arena, const struct compared_report *sides,
				     struct hp_compared *finding)
{
	const struct compared_report *candidate = &sides[HP_CANDIDATE];
	const char *former = finding->former_name ? finding->former_name : finding->name;
	struct hp_compared_calls *list =
		hp_arena_array(arena, candidate->calls.at.count + 1, sizeof(*list));
	size_t count = 0;

	if (!list)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < candidate->calls.at.count; i++) {
		const struct executed *one = &candidate->calls.at.at[i];
		struct hp_compared_calls *calls = &list[count];

		if (!reasons_is_named(one->callee, finding->name) || !is_first(candidate, i))
			continue;
		*calls = (struct hp_compared_calls){
			.name = one->row.name,
			.image = one->row.image->id.path,
			.calls = { calls_between(&sides[HP_BASE], one->row.name, former,
						 finding->image),
				   calls_between(candidate, one->row.name, finding->name,
						 finding->image) },
		};
		if (!(calls->calls[HP_BASE].value > 0) || !(calls->calls[HP_CANDIDATE].value > 0))
			continue;
		calls->ratio = ratio_of(calls->calls);
		calls->name = hp_arena_strdup(arena, calls->name);
		calls->image = hp_arena_strdup(arena, hp_image_basename(calls->image));
		if (!calls->name || !calls->image)
			return hp_error_create_no_memory();
		count++;
	}
	qsort(list, count, sizeof(*list), compare_change);
	finding->calls = list;
	finding->call_count = count < MOST_COMPARED_CALLERS ? count : MOST_COMPARED_CALLERS;
	return NULL;
}

struct hp_error *reasons_add_calls(struct hp_comparison *comparison, struct compared_report *sides)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < HP_SIDES; i++)
		sides[i].exposure = exposure_of(&comparison->sides[i]);
	for (size_t i = 0; i < comparison->finding_count && !error; i++)
		if (comparison->findings[i]->scope == HP_SCOPE_PROCEDURE)
			error = add_calls_of(comparison->arena, sides, comparison->findings[i]);
	if (!error && comparison->program->carrier)
		error = add_calls_of(comparison->arena, sides, comparison->program->carrier);
	return error;
}
