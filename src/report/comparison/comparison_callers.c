/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose calls a change is from, and which cause grew, in words. */
#include "comparison.h"

#include "../common/quantity.h"

#include <inttypes.h>
#include <math.h>

static void add_share(struct hp_buffer *buffer, double share)
{
	hp_buffer_printf(buffer, "%.0f %%", 100 * share);
}

/* Adds "of the growth, 81 % (74 % to 88 %) is below ". */
static void add_of_change(struct hp_buffer *buffer, const struct hp_compared *compared,
			  const struct hp_compared_caller *caller)
{
	double change = compared->change.value;

	hp_buffer_printf(buffer, "of the %s, ",
			 isinf(change)		    ? "new cost"
			 : compared->lost.value > 0 ? "growth"
						    : "decrease");
	add_share(buffer, caller->of_change.value);
	if (isfinite(caller->of_change.low) && isfinite(caller->of_change.high)) {
		hp_buffer_printf(buffer, " (");
		add_share(buffer, caller->of_change.low);
		hp_buffer_printf(buffer, " to ");
		add_share(buffer, caller->of_change.high);
		hp_buffer_printf(buffer, ")");
	}
	hp_buffer_printf(buffer, " is below ");
	text_escape(buffer, caller->name);
}

static void add_before(struct hp_buffer *buffer, const struct hp_compared *compared,
		       const struct hp_compared_caller *caller)
{
	if (compared->callers.through) {
		hp_buffer_printf(buffer, ", through ");
		text_escape(buffer, compared->callers.through);
	}
	if (isfinite(caller->cost[HP_BASE].value)) {
		hp_buffer_printf(buffer, ", which had ");
		add_share(buffer, caller->cost[HP_BASE].value);
		hp_buffer_printf(buffer, " of the cost");
	}
	hp_buffer_printf(buffer, " (call paths)");
}

static void add_alike(struct hp_buffer *buffer, const struct hp_compared *compared)
{
	hp_buffer_printf(buffer, "no caller stands out: ");
	if (!compared->callers.count)
		return;
	add_of_change(buffer, compared, &compared->callers.at[0]);
	add_before(buffer, compared, &compared->callers.at[0]);
}

static void add_one(struct hp_buffer *buffer, const struct hp_compared *compared)
{
	hp_buffer_printf(buffer, "all of it is below ");
	text_escape(buffer, compared->callers.at[0].name);
	hp_buffer_printf(buffer, " (call paths)");
}

static void add_insufficient(struct hp_buffer *buffer, const struct hp_compared *compared)
{
	hp_buffer_printf(buffer,
			 "insufficient call paths to tell whose calls it is from (%" PRIu64
			 " samples -> %" PRIu64 ")",
			 compared->callers.samples[HP_BASE],
			 compared->callers.samples[HP_CANDIDATE]);
}

static void add_calls(struct hp_buffer *buffer, const struct hp_comparison *comparison,
		      const struct hp_compared_calls *calls)
{
	text_escape(buffer, calls->name);
	hp_buffer_printf(buffer, " calls it %.3g times as often (%.3g to %.3g; ",
			 calls->ratio.value, calls->ratio.low, calls->ratio.high);
	quantity_add(buffer, calls->calls[HP_BASE].value);
	hp_buffer_printf(buffer, " -> ");
	quantity_add(buffer, calls->calls[HP_CANDIDATE].value);
	hp_buffer_printf(buffer, " calls per %s)", comparison->per);
}

/* Adds "branch-mispredict grew from 12-18 % to 41-52 % of its cycles (simulated paths)". */
static void add_cause(struct hp_buffer *buffer, const struct hp_compared_cause *cause)
{
	const struct hp_measured *base = &cause->share[HP_BASE];
	const struct hp_measured *candidate = &cause->share[HP_CANDIDATE];

	hp_buffer_printf(
		buffer, "%s %s from %.0f-%.0f %% to %.0f-%.0f %% of its cycles (simulated paths)",
		cause->name, candidate->low > base->high ? "grew" : "shrank", 100 * base->low,
		100 * base->high, 100 * candidate->low, 100 * candidate->high);
}

static bool add_callers(struct hp_buffer *buffer, const struct hp_compared *compared, size_t at)
{
	const struct hp_compared_callers *callers = &compared->callers;

	switch (callers->blame) {
	case HP_BLAME_UNKNOWN:
		return false;
	case HP_BLAME_CALLERS:
		add_of_change(buffer, compared, &callers->at[at]);
		add_before(buffer, compared, &callers->at[at]);
		return true;
	case HP_BLAME_ALIKE:
		add_alike(buffer, compared);
		return true;
	case HP_BLAME_ONE:
		add_one(buffer, compared);
		return true;
	case HP_BLAME_INSUFFICIENT:
		break;
	}
	add_insufficient(buffer, compared);
	return true;
}

/* For the program: where most of its change is, and which callers caused that. */
static bool next_of_program(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			    size_t *at)
{
	const struct hp_compared *carrier = comparison->program->carrier;
	size_t next;
	bool is_there;

	if (!carrier)
		return false;
	if (!*at) {
		hp_buffer_printf(buffer, "most of it: ");
		comparison_add_finding(buffer, comparison, carrier);
		*at = 1;
		return true;
	}
	next = *at - 1;
	is_there = comparison_next_caller(buffer, comparison, carrier, &next);
	*at = next + 1;
	return is_there;
}

bool comparison_next_caller(struct hp_buffer *buffer, const struct hp_comparison *comparison,
			    const struct hp_compared *compared, size_t *at)
{
	const struct hp_compared_callers *callers = &compared->callers;
	size_t paths = callers->blame == HP_BLAME_CALLERS ? callers->count : 1;
	size_t next;

	if (compared->scope == HP_SCOPE_PROGRAM)
		return next_of_program(buffer, comparison, at);
	while (*at < paths) {
		size_t i = (*at)++;

		if (callers->blame == HP_BLAME_CALLERS && !callers->at[i].is_blamed)
			continue;
		if (add_callers(buffer, compared, i))
			return true;
	}
	next = *at - paths;
	if (next >= compared->call_count + compared->cause_count)
		return false;
	++*at;
	if (next < compared->call_count)
		add_calls(buffer, comparison, &compared->calls[next]);
	else
		add_cause(buffer, &compared->causes[next - compared->call_count]);
	return true;
}
