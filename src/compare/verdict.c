/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	the program and its parts, tested
 * provides	findings, the verdict, and what is missing for one
 *
 * A change is a finding if it is significant (false discovery rate) and large (as a share of the
 * procedure's own cost and of the program's). If the whole program changed, that is one finding.
 * Procedures are then findings only if they changed differently from the rest, or account for most
 * of the change.
 *
 * A different compiler makes some procedures faster and others slower. A slower procedure is then a
 * finding only as far as the program may have become slower; otherwise a note says that other
 * procedures made up for it. Between builds of one compiler a slower procedure is a regression in
 * any case.
 */
#include "costs.h"
#include "judge.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>

bool judge_is_large(const struct judging *judging, const struct hp_compared *item)
{
	const struct hp_comparison *comparison = judging->comparison;
	double whole = comparison->is_relative ? 1 : judging->sampled[HP_BASE];

	return fabs(item->change.value) >= comparison->least_change &&
	       fabs(item->lost.value) >= comparison->least_of_program * whole;
}

static void find_program(const struct judging *judging)
{
	struct hp_compared *program = judging->comparison->program;

	program->is_finding = program->q <= COMPARE_FALSE_ALARMS / 2 &&
			      fabs(program->change.value) >= judging->comparison->least_change;
}

/* Whether the change differs from what the program's change explains. */
static bool is_apart(const struct judging *judging, const struct tested *tested,
		     const struct hp_compared *item)
{
	const struct hp_compared *program = judging->comparison->program;

	if (!program->is_finding)
		return true;
	if (tested->relative.p <= otherwise_p &&
	    (tested->relative.value > 0) == (item->lost.value > 0))
		return true;
	return item->lost.value / program->lost.value >= most_of_change;
}

static bool is_by_another_compiler(const struct sides *sides, const struct unit *unit)
{
	const struct side_image *base = side_image_of(&sides->at[HP_BASE], unit->image_key);
	const struct side_image *candidate =
		side_image_of(&sides->at[HP_CANDIDATE], unit->image_key);

	return base && base->file && candidate && candidate->file &&
	       hp_image_other_compiler(base->file, candidate->file);
}

static bool is_made_up_for(const struct judging *judging, const struct unit *unit)
{
	const struct hp_comparison *comparison = judging->comparison;

	return !comparison->is_relative && unit->shown->lost.value > 0 &&
	       unit->shown->lost.low > comparison->program->lost.high &&
	       is_by_another_compiler(judging->sides, unit);
}

static struct hp_error *note_made_up_for(struct judging *judging, const struct hp_compared *worst,
					 size_t count)
{
	bool is_noted =
		!count ||
		sides_note(
			judging->sides,
			"another compiler: %zu procedure%s cost%s more than the program can have "
			"lost, and others compensate for it: no regression; the worst is %s",
			count, count == 1 ? "" : "s", count == 1 ? "s" : "", worst->name);

	return is_noted ? NULL : hp_error_create_no_memory();
}

/* If sides may have drifted apart, costs did so more than shares. A procedure that has a larger
 * share, and costs more, certainly costs more if either test says so. If the whole became cheaper,
 * a procedure that did not has a larger share. */
static double certainty_of(const struct judging *judging, const struct tested *tested,
			   const struct hp_compared *item)
{
	const struct hp_comparison *comparison = judging->comparison;
	bool is_costlier = item->lost.value > 0;

	if (comparison->is_relative || comparison->is_interleaved || isnan(item->p) ||
	    isnan(tested->relative.p))
		return item->p;
	if ((tested->relative.value > 0) != is_costlier ||
	    (comparison->program->lost.value > 0) != is_costlier)
		return fmin(1, 2 * item->p);
	return fmin(1, 2 * fmin(item->p, tested->relative.p));
}

static struct hp_error *find_parts(struct judging *judging)
{
	const struct hp_compared *worst = NULL;
	size_t made_up = 0;
	struct sides *sides = judging->sides;
	_cleanup_free_ double *p = calloc(sides->units.count + 1, sizeof(*p));
	_cleanup_free_ double *q = calloc(sides->units.count + 1, sizeof(*q));
	struct hp_error *error;

	if (!p || !q)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < sides->units.count; i++)
		p[i] = certainty_of(judging, &judging->units[i], sides->units.at[i].shown);
	error = discovery_rates(p, sides->units.count, q);
	for (size_t i = 0; i < sides->units.count && !error; i++) {
		struct hp_compared *item = sides->units.at[i].shown;

		item->q = q[i];
		item->is_finding = q[i] <= COMPARE_FALSE_ALARMS / 2 &&
				   judge_is_large(judging, item) &&
				   is_apart(judging, &judging->units[i], item);
		if (!item->is_finding || !is_made_up_for(judging, &sides->units.at[i]))
			continue;
		item->is_finding = false;
		made_up++;
		if (!worst || item->lost.value > worst->lost.value)
			worst = item;
	}
	return error ? error : note_made_up_for(judging, worst, made_up);
}

/* --- in order -------------------------------------------------------------------------------- */

/* The program comes first, then what lost most. */
static int compare_losses(const void *left, const void *right)
{
	const struct hp_compared *a = *(const struct hp_compared *const *)left;
	const struct hp_compared *b = *(const struct hp_compared *const *)right;
	int order = (a->lost.value < 0) - (b->lost.value < 0);

	if (!order)
		order = (a->scope != HP_SCOPE_PROGRAM) - (b->scope != HP_SCOPE_PROGRAM);
	if (!order)
		order = (fabs(a->lost.value) < fabs(b->lost.value)) -
			(fabs(a->lost.value) > fabs(b->lost.value));
	return order;
}

static struct hp_error *list_findings(struct judging *judging)
{
	struct sides *sides = judging->sides;
	struct hp_comparison *comparison = judging->comparison;
	struct hp_compared **findings =
		hp_arena_array(sides->arena, sides->units.count + 1, sizeof(*findings));
	size_t count = 0;

	if (!findings)
		return hp_error_create_no_memory();
	if (comparison->program->is_finding)
		findings[count++] = comparison->program;
	for (size_t i = 0; i < sides->units.count; i++)
		if (sides->units.at[i].shown->is_finding)
			findings[count++] = sides->units.at[i].shown;
	qsort(findings, count, sizeof(*findings), compare_losses);
	comparison->findings = findings;
	comparison->finding_count = count;
	return NULL;
}

/* --- what is lacking ------------------------------------------------------------------------- */

/* Advice for the case that runs differ, rather than their measurements. */
static const char *other_ways(const struct judging *judging)
{
	if (judging->beside || judging->runs[HP_BASE].count < 2 ||
	    judging->runs[HP_CANDIDATE].count < 2 || !costs_are_cpu_times(judging->sides))
		return "";
	return "; with check --runs=N --side-by-side, whatever slows one run down also slows the "
	       "other";
}

static struct hp_error *say_what_lacks(struct judging *judging)
{
	struct hp_comparison *comparison = judging->comparison;
	struct hp_arena *arena = judging->sides->arena;
	double smallest = comparison->program->smallest_change;
	size_t there = judging->runs[HP_BASE].count < judging->runs[HP_CANDIDATE].count
			       ? judging->runs[HP_BASE].count
			       : judging->runs[HP_CANDIDATE].count;
	struct hp_shortage *shortage;
	size_t needed;

	if (!(smallest > comparison->least_change))
		return NULL;
	shortage = hp_arena_alloc(arena, sizeof(*shortage));
	if (!shortage)
		return hp_error_create_no_memory();
	needed = runs_needed(judging->runs, &judging->prior, comparison->least_change,
			     COMPARE_FALSE_ALARMS / 2);
	shortage->more_runs = needed ? needed - there : 0;
	shortage->reason =
		sides_format(arena,
			     "this data cannot show a change of the program by %.3g %%: the "
			     "smallest change that it shows in four of five cases is %.3g %%",
			     comparison->least_change * 100, smallest * 100);
	if (shortage->more_runs)
		shortage->advice = sides_format(
			arena, "use %zu more run%s of each side, or --min-change=%.0f%s",
			(size_t)shortage->more_runs, shortage->more_runs == 1 ? "" : "s",
			ceil(smallest * 100), other_ways(judging));
	else if (judging->prior.drift > 0)
		shortage->advice = "record both sides together to find smaller changes: hpcprof "
				   "check --runs=N -- BASE --versus CANDIDATE";
	else
		shortage->advice = sides_format(arena,
						"more runs would not help; use --min-change=%.0f%s",
						ceil(smallest * 100), other_ways(judging));
	if (!shortage->reason || !shortage->advice)
		return hp_error_create_no_memory();
	comparison->shortages = shortage;
	comparison->shortage_count = 1;
	return NULL;
}

static enum hp_verdict verdict_of(const struct hp_comparison *comparison)
{
	if (comparison->finding_count && comparison->findings[0]->lost.value > 0)
		return HP_VERDICT_REGRESSION;
	if (comparison->finding_count)
		return HP_VERDICT_IMPROVEMENT;
	return comparison->shortage_count ? HP_VERDICT_INSUFFICIENT : HP_VERDICT_PASS;
}

struct hp_error *judge_verdict(struct judging *judging)
{
	struct hp_error *error;

	find_program(judging);
	error = find_parts(judging);
	if (!error)
		error = list_findings(judging);
	if (!error)
		error = say_what_lacks(judging);
	if (!error)
		judging->comparison->verdict = verdict_of(judging->comparison);
	return error;
}
