/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often findings are called, by the exact counts of windows on both sides. */
#include "../common/load.h"
#include "../executions/executions.h"
#include "../tuning.h"

#include <hpcprof/report/comparison.h>

#include <math.h>
#include <string.h>

/* Figures have intervals of 90 %, comparisons of 95: quantiles of the normal distribution. */
static const double wider = 1.960 / 1.645;

/* One side's counts. */
struct counted {
	struct hp_report_options options;
	struct report report;
	struct executions calls;
	double exposure; /* runs, or units of work */
};

static struct hp_error *load_side(const struct hp_compare_epochs *epochs,
				  const struct hp_compare_options *options, struct counted *counted)
{
	static const struct report_wants wants = { .counts = true };
	struct report *report = &counted->report;
	struct hp_error *error;

	/* JSON has no limits. */
	counted->options = (struct hp_report_options){
		.view = HP_VIEW_CALLS,
		.format = HP_FORMAT_JSON,
		.of = { .rows = HP_ROWS_OF_PROCEDURES,
			.needs_code = true,
			.symfs = options->symfs,
			.no_debuginfo = options->no_debuginfo },
	};
	report->options = &counted->options;
	report->of = counted->options.of;
	error = report_load(report, epochs->db, epochs->stamps, epochs->count, &wants);
	if (error || !hp_windows_exist(report->inference))
		return error;
	report->profiles->keeps_files = true;
	error = hp_profiles_attribute(report->profiles);
	if (!error)
		error = executions_of_calls(report, &counted->calls);
	if (!error || error->class != HP_ERROR_INSUFFICIENT)
		return error;
	/* They counted no calls. */
	hp_error_destroy(error);
	executions_clear(&counted->calls);
	return NULL;
}

static void clear_side(struct counted *counted)
{
	executions_clear(&counted->calls);
	report_clear(&counted->report);
}

static double exposure_of(const struct hp_compared_side *side)
{
	double exposure = 0;

	for (size_t i = 0; i < side->epoch_count; i++)
		exposure += side->epochs[i].work > 0 ? side->epochs[i].work
						     : (double)side->epochs[i].runs;
	return exposure;
}

/* As compared: without what compilers add to names of parts and clones. */
static bool is_named(const char *name, const char *shown)
{
	size_t length = strlen(shown);

	return strncmp(name, shown, length) == 0 &&
	       (!name[length] || name[length] == '.' || strncmp(name + length, " [clone", 7) == 0);
}

/* Programs have other names on both sides, perhaps; libraries have not. */
static bool is_image(const struct hp_loaded_image *image, const char *path)
{
	const char *library = strstr(path, ".so");
	const char *base = hp_image_basename(path);

	if (!image || !library || library < base)
		return image && !strstr(hp_image_basename(image->id.path), ".so");
	return strncmp(hp_image_basename(image->id.path), base, (size_t)(library - base) + 3) == 0;
}

/* The sum over clones of the caller; NAN where it was not counted. */
static struct hp_measured calls_between(const struct counted *counted, const char *caller,
					const char *callee, const char *callee_image)
{
	struct hp_measured sum = { NAN, NAN, NAN };

	for (size_t i = 0; i < counted->calls.at.count; i++) {
		const struct executed *one = &counted->calls.at.at[i];
		const struct hp_counted_figure *runs = &one->runs;

		if (!isfinite(runs->value) || !is_named(one->row.name, caller) ||
		    !is_named(one->callee, callee) || !is_image(one->callee_image, callee_image))
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

/* Whether the candidate's call at `at` is the first of its caller. */
static bool is_first(const struct counted *counted, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(counted->calls.at.at[i].row.name, counted->calls.at.at[at].row.name) ==
			    0 &&
		    strcmp(counted->calls.at.at[i].callee, counted->calls.at.at[at].callee) == 0)
			return false;
	return true;
}

static struct hp_error *add_calls_of(struct hp_arena *arena, const struct counted *sides,
				     struct hp_compared *finding)
{
	const struct counted *candidate = &sides[HP_CANDIDATE];
	const char *former = finding->former_name ? finding->former_name : finding->name;
	struct hp_compared_calls *list =
		hp_arena_array(arena, candidate->calls.at.count + 1, sizeof(*list));
	size_t count = 0;

	if (!list)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < candidate->calls.at.count; i++) {
		const struct executed *one = &candidate->calls.at.at[i];
		struct hp_compared_calls *calls = &list[count];

		if (!is_named(one->callee, finding->name) || !is_first(candidate, i))
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

static struct hp_error *add_calls(struct hp_comparison *comparison, struct counted *sides)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; i < HP_SIDES; i++)
		sides[i].exposure = exposure_of(&comparison->sides[i]);
	for (size_t i = 0; i < comparison->finding_count && !error; i++)
		if (comparison->findings[i]->scope == HP_SCOPE_PROCEDURE)
			error = add_calls_of(comparison->arena, sides, comparison->findings[i]);
	return error;
}

struct hp_error *hp_comparison_add_calls(struct hp_comparison *comparison,
					 const struct hp_compare_epochs epochs[HP_SIDES],
					 const struct hp_compare_options *options)
{
	struct counted sides[HP_SIDES] = { 0 };
	struct hp_error *error = NULL;
	bool has_counts = true;

	for (size_t i = 0; i < HP_SIDES && comparison->finding_count && has_counts && !error; i++) {
		error = load_side(&epochs[i], options, &sides[i]);
		has_counts = sides[i].calls.at.count;
	}
	if (!error && has_counts)
		error = add_calls(comparison, sides);
	for (size_t i = 0; i < HP_SIDES; i++)
		clear_side(&sides[i]);
	return error;
}
