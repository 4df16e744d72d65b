/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	findings
 * provides	for findings that are procedures, and for the one that has most of the
 *		program's change, the callers below which they changed
 *
 * The part of a procedure's cost that is below one of its callers is a share of it. With base B,
 * candidate C = rB, and shares b and c, the caller has
 *
 *	(cC - bB) / (C - B) = c + (c - b) / (r - 1)
 *
 * of the change. If the caller had nothing to do with it, c would be b; if it were the only reason,
 * this would be 1. What slows down the whole run changes r, but neither b nor c.
 */
#include "call_paths.h"
#include "distribution.h"
#include "judge.h"
#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>

#include <math.h>
#include <string.h>

/* The samples below one caller. */
struct group {
	const struct caller *caller; /* NULL: they have no caller */
	/* by replicate: first the base's, then the candidate's; owned */
	double *counts;
	double sums[HP_SIDES];
	uint64_t samples[HP_SIDES];
};

/* The paths of a procedure, or those through the callers `passed`, which all samples have in
 * common. */
struct asking {
	const struct judging *judging;
	struct hp_compared *shown;
	const struct unit_paths *paths;
	bool *is_asked; /* by path; owned */
	HP_VECTOR(const struct caller *) passed;
	HP_VECTOR(struct group) groups;
	double *whole; /* by replicate, over all paths; owned */
	double sums[HP_SIDES];
	size_t replicates[HP_SIDES];
};

/* One caller's share of the cost on both sides, and of the change. */
struct part {
	double share[HP_SIDES];
	double deviation[HP_SIDES];
	double freedom;
	struct hp_measured of_change;
	double p;
};

/* --- groups ------------------------------------------------------------------------------------ */

static size_t replicate_of(const struct asking *asking, const struct caller_path *path)
{
	return (path->side == HP_BASE ? 0 : asking->replicates[HP_BASE]) + path->replicate;
}

static bool is_passed(const struct asking *asking, const struct caller *caller)
{
	/* In a recursive procedure, the procedure as its own caller explains nothing. */
	if (caller->is_known && strcmp(caller->name, asking->shown->name) == 0)
		return true;
	for (size_t i = 0; i < asking->passed.count; i++)
		if (asking->passed.at[i] == caller)
			return true;
	return false;
}

/* NULL: the root is reached. */
static const struct caller *next_caller(const struct asking *asking, const struct caller_path *path)
{
	size_t i = 0;

	while (i < path->caller_count && is_passed(asking, path->callers[i]))
		i++;
	return i < path->caller_count ? path->callers[i] : NULL;
}

static struct group *group_of(struct asking *asking, const struct caller *caller)
{
	struct group group = { .caller = caller };

	for (size_t i = 0; i < asking->groups.count; i++)
		if (asking->groups.at[i].caller == caller)
			return &asking->groups.at[i];
	group.counts = calloc(asking->replicates[HP_BASE] + asking->replicates[HP_CANDIDATE],
			      sizeof(*group.counts));
	if (!group.counts || !hp_vector_push(&asking->groups, group)) {
		free(group.counts);
		return NULL;
	}
	return &asking->groups.at[asking->groups.count - 1];
}

static void forget_groups(struct asking *asking)
{
	for (size_t i = 0; i < asking->groups.count; i++)
		free(asking->groups.at[i].counts);
	hp_vector_free(&asking->groups);
}

static struct hp_error *make_groups(struct asking *asking)
{
	forget_groups(asking);
	for (size_t i = 0; i < asking->paths->paths.count; i++) {
		const struct caller_path *path = &asking->paths->paths.at[i];
		struct group *group;

		if (!asking->is_asked[i])
			continue;
		group = group_of(asking, next_caller(asking, path));
		if (!group)
			return hp_error_create_no_memory();
		group->counts[replicate_of(asking, path)] += path->count;
		group->sums[path->side] += path->count;
		group->samples[path->side] += path->samples;
	}
	return NULL;
}

static bool is_only(const struct asking *asking, const struct group *group)
{
	return group->caller && group->caller->is_known &&
	       group->sums[HP_BASE] >= only_caller * asking->sums[HP_BASE] &&
	       group->sums[HP_CANDIDATE] >= only_caller * asking->sums[HP_CANDIDATE];
}

static const struct caller *find_only(const struct asking *asking)
{
	for (size_t i = 0; i < asking->groups.count; i++)
		if (is_only(asking, &asking->groups.at[i]))
			return asking->groups.at[i].caller;
	return NULL;
}

/* Follows the callers that all paths have in common, up to where paths differ. */
static struct hp_error *part_ways(struct asking *asking)
{
	struct hp_error *error = make_groups(asking);
	const struct caller *only;

	while (!error && (only = find_only(asking))) {
		for (size_t i = 0; i < asking->paths->paths.count; i++)
			if (next_caller(asking, &asking->paths->paths.at[i]) != only)
				asking->is_asked[i] = false;
		if (!hp_vector_push(&asking->passed, only))
			return hp_error_create_no_memory();
		error = make_groups(asking);
	}
	return error;
}

/* --- figures ----------------------------------------------------------------------------------- */

/* The variance of the group's share of each replicate's samples, divided by that of chance. */
static double dispersion_of(const struct asking *asking, const struct group *group, double *freedom)
{
	double squares = 0;

	*freedom = 0;
	for (size_t side = 0; side < HP_SIDES; side++) {
		double share = group->sums[side] / asking->sums[side];
		size_t first = side ? asking->replicates[HP_BASE] : 0;
		double with = 0;

		if (!(share > 0) || !(share < 1))
			continue;
		for (size_t i = 0; i < asking->replicates[side]; i++) {
			double whole = asking->whole[first + i];
			double distance = group->counts[first + i] - whole * share;

			if (!(whole > 0))
				continue;
			squares += distance * distance / (whole * share * (1 - share));
			with++;
		}
		*freedom += fmax(0, with - 1);
	}
	return squares;
}

static void find_shares(const struct asking *asking, const struct group *group, struct part *part)
{
	double freedom;
	double squares = dispersion_of(asking, group, &freedom);
	double dispersion;

	part->freedom = freedom + assumed_dispersion_freedom;
	dispersion = fmax(1, (squares + COMPARE_DISPERSION * assumed_dispersion_freedom) /
				     part->freedom);
	for (size_t side = 0; side < HP_SIDES; side++) {
		double count = group->sums[side];
		double whole = asking->sums[side];
		/* Half a sample is added on both sides, since having no samples does not prove that
		 * there are none. */
		double near = (count + 0.5) / (whole + 1);

		part->share[side] = whole > 0 ? count / whole : NAN;
		part->deviation[side] = sqrt(dispersion * near * (1 - near) / (whole + 1));
	}
}

/* The caller's share of the change, if the procedure costs `ratio` times as much on the candidate's
 * side. */
static double share_of_change(const struct part *part, double ratio)
{
	if (!(part->share[HP_BASE] >= 0) || isinf(ratio))
		return part->share[HP_CANDIDATE];
	if (!(part->share[HP_CANDIDATE] >= 0) || !(ratio > 0))
		return part->share[HP_BASE];
	return part->share[HP_CANDIDATE] +
	       (part->share[HP_CANDIDATE] - part->share[HP_BASE]) / (ratio - 1);
}

static double deviation_of_change(const struct part *part, double ratio)
{
	double away = 1 / (ratio - 1);

	if (!(part->share[HP_BASE] >= 0) || isinf(ratio))
		return part->deviation[HP_CANDIDATE];
	if (!(part->share[HP_CANDIDATE] >= 0) || !(ratio > 0))
		return part->deviation[HP_BASE];
	return hypot(part->deviation[HP_CANDIDATE] * (1 + away), part->deviation[HP_BASE] * away);
}

/* The change of a procedure that has most of the program's change. What slows the whole run affects
 * both, so the procedure's share of the program is known more precisely than its cost. */
static struct hp_measured change_with_program(const struct hp_compared *program,
					      const struct hp_compared *item)
{
	const struct hp_measured *share = &item->share_change;

	if (share->high == 0 || !isfinite(share->low) || !isfinite(share->high))
		return item->change;
	return (struct hp_measured){ item->change.value,
				     (1 + program->change.low) * (1 + share->low) - 1,
				     (1 + program->change.high) * (1 + share->high) - 1 };
}

/* The range that follows from the ranges of the shares and of the procedure's change. */
static void find_of_change(const struct asking *asking, struct part *part)
{
	const struct hp_compared *program = asking->judging->comparison->program;
	const struct hp_compared *shown = asking->shown;
	struct hp_measured of_carrier = change_with_program(program, shown);
	const struct hp_measured *change = shown == program->carrier ? &of_carrier : &shown->change;
	double quantile = student_quantile(interval_misses, part->freedom);
	const double ends[] = { change->low, change->high };
	double value = share_of_change(part, 1 + change->value);
	double away = quantile * deviation_of_change(part, 1 + change->value);
	double below = away * away;
	double above = below;

	part->of_change = (struct hp_measured){ value, NAN, NAN };
	if (isinf(change->value) || change->value <= -1) {
		below = above = away * away;
	} else if (change->low > 0 || change->high < 0) {
		for (size_t i = 0; i < HP_ARRAY_COUNT(ends); i++) {
			double other = share_of_change(part, 1 + ends[i]) - value;

			if (other < 0)
				below = fmax(below, away * away + other * other);
			else
				above = fmax(above, away * away + other * other);
		}
	} else {
		return;
	}
	part->of_change.low = value - sqrt(below);
	part->of_change.high = value + sqrt(above);
}

static void find_part(const struct asking *asking, const struct group *group, struct part *part)
{
	double more;

	find_shares(asking, group, part);
	find_of_change(asking, part);
	more = part->share[HP_CANDIDATE] - part->share[HP_BASE];
	part->p = isnan(more) ? NAN
			      : student_beyond(more / hypot(part->deviation[HP_BASE],
							    part->deviation[HP_CANDIDATE]),
					       part->freedom);
}

/* --- who is to blame --------------------------------------------------------------------------- */

/* Whether it certainly has more of the change than of the cost; of a procedure that is new or gone,
 * whether it has most. */
static bool is_blamed(const struct asking *asking, const struct part *part)
{
	double limit = otherwise_p / (double)asking->groups.count;

	if (!(part->of_change.value >= least_of_change))
		return false;
	if (isnan(part->p))
		return part->of_change.low >= most_of_change;
	return part->p <= limit && part->of_change.low > 0 &&
	       part->of_change.value > part->share[HP_BASE];
}

/* The only cause of a change would have all of it, and a caller that is no cause would have its
 * share of the cost. Whether this caller is certainly closer to the latter. */
static bool is_cleared(const struct part *part)
{
	return part->of_change.high < (1 + part->share[HP_BASE]) / 2;
}

static bool is_known(const struct group *group)
{
	return group->caller && group->caller->is_known;
}

static struct hp_measured share_on(const struct part *part, size_t side)
{
	double away = student_quantile(interval_misses, part->freedom) * part->deviation[side];
	double value = part->share[side];

	return (struct hp_measured){ value, fmax(0, value - away), fmin(1, value + away) };
}

static int compare_shown(const void *left, const void *right)
{
	const struct hp_compared_caller *a = left;
	const struct hp_compared_caller *b = right;

	return (a->of_change.value < b->of_change.value) -
	       (a->of_change.value > b->of_change.value);
}

/* Adds what is known of each caller, and what follows for the procedure. */
static struct hp_error *show_parts(const struct asking *asking)
{
	struct hp_compared_callers *callers = &asking->shown->callers;
	struct hp_compared_caller *list = hp_arena_array(asking->judging->sides->arena,
							 asking->groups.count + 1, sizeof(*list));
	size_t count = 0;
	size_t blamed = 0;
	bool all_are_cleared = true;

	if (!list)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < asking->groups.count; i++) {
		const struct group *group = &asking->groups.at[i];
		struct part part;

		if (!is_known(group))
			continue;
		find_part(asking, group, &part);
		list[count] = (struct hp_compared_caller){
			.name = group->caller->name,
			.image = group->caller->image,
			.of_change = part.of_change,
			.cost = { share_on(&part, HP_BASE), share_on(&part, HP_CANDIDATE) },
			.p = part.p,
			.is_blamed = is_blamed(asking, &part),
		};
		blamed += list[count++].is_blamed;
		all_are_cleared = all_are_cleared && is_cleared(&part);
	}
	qsort(list, count, sizeof(*list), compare_shown);
	callers->at = list;
	callers->count = count < MOST_CALLERS ? count : MOST_CALLERS;
	callers->blame = blamed		   ? HP_BLAME_CALLERS
			 : all_are_cleared ? HP_BLAME_ALIKE
					   : HP_BLAME_INSUFFICIENT;
	return NULL;
}

static bool is_little_known(const struct asking *asking)
{
	double known[HP_SIDES] = { 0 };

	for (size_t i = 0; i < asking->groups.count; i++)
		for (size_t side = 0; side < HP_SIDES; side++)
			if (is_known(&asking->groups.at[i]))
				known[side] += asking->groups.at[i].sums[side];
	for (size_t side = 0; side < HP_SIDES; side++)
		if (known[side] < least_with_callers * (double)asking->shown->side[side].samples)
			return true;
	return false;
}

/* If there is only one caller, its own callers are examined next; if it has none, nothing more is
 * to say. */
static struct hp_error *settle(struct asking *asking)
{
	struct hp_compared_callers *callers = &asking->shown->callers;
	const struct caller *first = asking->passed.count ? asking->passed.at[0] : NULL;
	struct hp_compared_caller *one;

	for (size_t side = 0; side < HP_SIDES; side++)
		callers->samples[side] = (uint64_t)llround(asking->sums[side]);
	callers->blame = HP_BLAME_INSUFFICIENT;
	if (callers->samples[HP_BASE] + callers->samples[HP_CANDIDATE] < FEWEST_SAMPLES)
		return NULL;
	if (asking->groups.count > 1 ||
	    (asking->groups.count == 1 && is_known(&asking->groups.at[0]))) {
		callers->through = first ? first->name : NULL;
		return is_little_known(asking) ? NULL : show_parts(asking);
	}
	/* It has no callers, so there is nothing to say. */
	callers->blame = first ? HP_BLAME_ONE : HP_BLAME_UNKNOWN;
	if (!first)
		return NULL;
	one = hp_arena_alloc(asking->judging->sides->arena, sizeof(*one));
	if (!one)
		return hp_error_create_no_memory();
	*one = (struct hp_compared_caller){ .name = first->name,
					    .image = first->image,
					    .of_change = { 1, NAN, NAN },
					    .cost = { { 1, NAN, NAN }, { 1, NAN, NAN } },
					    .p = NAN };
	callers->at = one;
	callers->count = 1;
	return NULL;
}

/* --- the whole --------------------------------------------------------------------------------- */

static bool has_paths(const struct unit_paths *paths, enum hp_side side)
{
	for (size_t i = 0; i < paths->paths.count; i++)
		if (paths->paths.at[i].side == side)
			return true;
	return false;
}

/* A side on which it never ran needs no paths. */
static bool has_all_paths(const struct unit_paths *paths)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		if (paths->unit->samples[side] && !has_paths(paths, (enum hp_side)side))
			return false;
	return true;
}

static struct hp_error *ask(struct asking *asking)
{
	size_t count = asking->paths->paths.count;

	asking->is_asked = calloc(count + 1, sizeof(*asking->is_asked));
	asking->whole = calloc(asking->replicates[HP_BASE] + asking->replicates[HP_CANDIDATE],
			       sizeof(*asking->whole));
	if (!asking->is_asked || !asking->whole)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		const struct caller_path *path = &asking->paths->paths.at[i];

		asking->is_asked[i] = true;
		asking->whole[replicate_of(asking, path)] += path->count;
		asking->sums[path->side] += path->count;
	}
	return part_ways(asking);
}

static struct hp_error *ask_one(const struct judging *judging, const struct unit_paths *paths)
{
	struct asking asking = {
		.judging = judging,
		.shown = paths->unit->shown,
		.paths = paths,
		.replicates = { judging->sides->at[HP_BASE].replicates.count,
				judging->sides->at[HP_CANDIDATE].replicates.count },
	};
	struct hp_error *error;

	if (!has_all_paths(paths))
		return NULL;
	error = ask(&asking);
	if (!error)
		error = settle(&asking);
	forget_groups(&asking);
	hp_vector_free(&asking.passed);
	free(asking.is_asked);
	free(asking.whole);
	return error;
}

static bool carries(const struct hp_compared *program, const struct hp_compared *item)
{
	struct hp_measured change;

	if (!program->is_finding || item->scope != HP_SCOPE_PROCEDURE || item->is_finding ||
	    !(item->lost.value / program->lost.value >= most_of_change))
		return false;
	change = change_with_program(program, item);
	return change.low > 0 || change.high < 0;
}

static void find_carrier(struct sides *sides, struct hp_compared *program)
{
	for (size_t i = 0; i < sides->units.count; i++) {
		struct hp_compared *item = sides->units.at[i].shown;

		if (carries(program, item) &&
		    (!program->carrier ||
		     fabs(item->lost.value) > fabs(program->carrier->lost.value)))
			program->carrier = item;
	}
}

struct hp_error *judge_callers(const struct judging *judging)
{
	struct sides *sides = judging->sides;
	struct hp_compared *program = judging->comparison->program;
	_cleanup_free_ struct unit_paths *units = calloc(sides->units.count + 1, sizeof(*units));
	struct hp_error *error = NULL;
	size_t count = 0;

	if (!units)
		return hp_error_create_no_memory();
	find_carrier(sides, program);
	for (size_t i = 0; i < sides->units.count; i++)
		if ((sides->units.at[i].shown->is_finding &&
		     sides->units.at[i].shown->scope == HP_SCOPE_PROCEDURE) ||
		    sides->units.at[i].shown == program->carrier)
			units[count++].unit = &sides->units.at[i];
	if (count)
		error = call_paths_read(sides, units, count);
	for (size_t i = 0; i < count && !error; i++)
		error = ask_one(judging, &units[i]);
	unit_paths_clear(units, count);
	return error;
}
