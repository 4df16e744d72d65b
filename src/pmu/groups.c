/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/groups.h>

#include "partition.h"
#include "trial.h"
#include "wheel.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Everything the steps share. */
struct grouping {
	struct hp_event_list *events;
	const struct hp_machine *machine;
	const struct hp_grouping_options *options;
	struct hp_counter_trial trial;
	struct hp_trial_memory *memory; /* NULL under a test's trial */
	struct hp_counter_wheels *wheels;
	uint32_t *wheel_of; /* of each event */
	int first_failure;  /* what the first event met that does not open */
	size_t first_failed;
	size_t countable;
};

/* What a group must be asked about: whole {groups} of the user are one item. */
struct items {
	const struct grouping *grouping;
	const struct hp_counter_wheel *wheel;
	uint32_t *events; /* item by item */
	uint32_t *first;  /* of each item, in `events`; and one past the last */
	size_t count;
	const struct hp_event **asked; /* scratch */
};

void hp_counter_wheels_clear(struct hp_counter_wheels *wheels)
{
	for (size_t i = 0; i < wheels->count; i++)
		hp_wheel_clear(&wheels->at[i]);
	free(wheels->notice);
	hp_vector_free(wheels);
}

static void notice(struct hp_counter_wheels *wheels, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* One line each; what cannot be said for want of memory is not worth failing for. */
static void notice(struct hp_counter_wheels *wheels, const char *format, ...)
{
	_cleanup_free_ char *line = NULL;
	char *longer = NULL;
	va_list arguments;

	va_start(arguments, format);
	line = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!line)
		return;
	if (asprintf(&longer, "%s%s%s", wheels->notice ? wheels->notice : "",
		     wheels->notice ? "\n" : "", line) < 0)
		return;
	free(wheels->notice);
	wheels->notice = longer;
}

/* --- which events and wheels -------------------------------------------------------------------
 */

static struct hp_error *assign_wheel(struct grouping *grouping, size_t index)
{
	struct hp_counter_wheels *wheels = grouping->wheels;
	struct hp_counter_wheel wheel;
	struct hp_error *error =
		hp_wheel_describe(grouping->machine, &grouping->events->events[index], &wheel);

	if (error)
		return error;
	for (size_t i = 0; i < wheels->count; i++) {
		if (strcmp(wheels->at[i].pmu, wheel.pmu) == 0) {
			grouping->wheel_of[index] = (uint32_t)i;
			hp_wheel_clear(&wheel);
			return NULL;
		}
	}
	grouping->wheel_of[index] = (uint32_t)wheels->count;
	if (hp_vector_push(wheels, wheel))
		return NULL;
	hp_wheel_clear(&wheel);
	return hp_error_create_no_memory();
}

static struct hp_error *set_absent(struct hp_event *event, const char *why)
{
	event->absent = strdup(why);
	return event->absent ? NULL : hp_error_create_no_memory();
}

static struct hp_error *try_event(struct grouping *grouping, size_t index)
{
	struct hp_event *event = &grouping->events->events[index];
	const struct hp_counter_wheel *wheel = &grouping->wheels->at[grouping->wheel_of[index]];
	struct hp_error *refusal;
	struct hp_error *error;
	const char *why;
	int failure;

	if (wheel->whole_cpus && !grouping->options->system_wide)
		return set_absent(event, "it counts whole CPUs or sockets, not tasks: use -a");
	failure = grouping->trial.opens(grouping->trial.context, event, wheel);
	if (!failure)
		return NULL;
	if (!grouping->first_failure) {
		grouping->first_failure = failure;
		grouping->first_failed = index;
	}
	refusal = hp_machine_open_error(grouping->machine, event, 0, failure);
	/* "cannot open 'NAME': why": the name is the event's. */
	why = strstr(refusal->message, "': ");
	error = set_absent(event, why ? why + strlen("': ") : refusal->message);
	hp_error_destroy(refusal);
	return error;
}

static struct hp_error *nothing_left(const struct grouping *grouping)
{
	const struct hp_event *event = &grouping->events->events[0];
	struct hp_error *error;
	char *advice;

	if (grouping->first_failure) {
		event = &grouping->events->events[grouping->first_failed];
		error = hp_machine_open_error(grouping->machine, event, 0, grouping->first_failure);
		/* Why it does not matter: nothing can be counted, and doctor knows more. */
		error->class = HP_ERROR_NOT_PERMITTED;
		advice = error->advice;
		error->advice = NULL;
		error = hp_error_advise(error, "%s%srun: hpcprof doctor", advice ? advice : "",
					advice ? "\n" : "");
		free(advice);
		return hp_error_wrap(error, "nothing can be counted");
	}
	return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
					       "nothing can be counted: %s: %s", event->name,
					       event->absent ? event->absent : "no counter"),
			       "run: hpcprof doctor");
}

/* --- groups of one wheel ---------------------------------------------------------------------- */

static bool items_fit(void *context, const uint32_t *wanted, size_t count)
{
	const struct items *items = context;
	const struct grouping *grouping = items->grouping;
	uint32_t limit = grouping->options->counters;
	size_t asked = 0;

	if (items->wheel->has_ruler)
		items->asked[asked++] = &items->wheel->ruler;
	for (size_t i = 0; i < count; i++)
		for (uint32_t j = items->first[wanted[i]]; j < items->first[wanted[i] + 1]; j++)
			items->asked[asked++] = &grouping->events->events[items->events[j]];
	if (limit && asked - items->wheel->has_ruler > limit)
		return false;
	if (items->wheel->software)
		return true;
	return grouping->trial.runs(grouping->trial.context, items->asked, asked, items->wheel);
}

static bool same_event(const struct hp_event *a, const struct hp_event *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->config3 == b->config3 &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel;
}

/* Cycles, else instructions, in the mode that covers what the wheel's events count. */
static struct hp_error *choose_ruler(struct grouping *grouping, uint32_t number)
{
	static const struct {
		const char *name;
		uint64_t config;
		enum hp_unit unit;
	} rulers[] = {
		{ "cycles", PERF_COUNT_HW_CPU_CYCLES, HP_UNIT_CYCLES },
		{ "instructions", PERF_COUNT_HW_INSTRUCTIONS, HP_UNIT_INSTRUCTIONS },
	};
	struct hp_counter_wheel *wheel = &grouping->wheels->at[number];
	bool instructions_first = grouping->options->ruler == HP_UNIT_INSTRUCTIONS;
	struct hp_event ruler = { .type = PERF_TYPE_HARDWARE, .group = -1 };
	const struct hp_event *asked = &ruler;
	const struct hp_event *example = NULL;

	ruler.exclude_user = ruler.exclude_kernel = ruler.exclude_hypervisor = true;
	for (size_t i = 0; i < grouping->events->count; i++) {
		const struct hp_event *event = &grouping->events->events[i];

		if (grouping->wheel_of[i] != number || event->absent)
			continue;
		example = event;
		ruler.exclude_user &= event->exclude_user;
		ruler.exclude_kernel &= event->exclude_kernel;
		ruler.exclude_hypervisor &= event->exclude_hypervisor;
	}
	if (wheel->software || wheel->whole_cpus || !example)
		return NULL;
	for (size_t i = 0; i < HP_ARRAY_COUNT(rulers); i++) {
		size_t which = instructions_first ? HP_ARRAY_COUNT(rulers) - 1 - i : i;

		ruler.config = rulers[which].config;
		ruler.unit = rulers[which].unit;
		/* Where cores differ, generic events name their PMU. */
		if (wheel->cpus)
			ruler.config |= (uint64_t)hp_wheel_pmu_type(example) << PERF_PMU_TYPE_SHIFT;
		if (!grouping->trial.runs(grouping->trial.context, &asked, 1, wheel))
			continue;
		wheel->ruler = ruler;
		wheel->has_ruler = true;
		wheel->ruler.name = strdup(rulers[which].name);
		return wheel->ruler.name ? NULL : hp_error_create_no_memory();
	}
	return NULL;
}

static struct hp_error *push_index(uint32_t **at, uint32_t *count, uint32_t index)
{
	uint32_t *longer = reallocarray(*at, *count + 1, sizeof(*longer));

	if (!longer)
		return hp_error_create_no_memory();
	*at = longer;
	longer[(*count)++] = index;
	return NULL;
}

/* The ruler is counted anyway: an event that is the same needs no counter. */
static struct hp_error *take_ruler_event(const struct grouping *grouping,
					 struct hp_counter_wheel *wheel, size_t index)
{
	if (!wheel->has_ruler || wheel->ruler_event >= 0 ||
	    !same_event(&grouping->events->events[index], &wheel->ruler))
		return NULL;
	wheel->ruler_event = (int64_t)index;
	return push_index(&wheel->always, &wheel->always_count, (uint32_t)index);
}

/* The wheel's events as items; {groups} stay together if they can. */
static struct hp_error *make_items(struct grouping *grouping, uint32_t number, struct items *items,
				   bool whole_groups)
{
	struct hp_counter_wheel *wheel = &grouping->wheels->at[number];
	const struct hp_event_list *events = grouping->events;
	size_t used = 0;

	items->count = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct hp_event *event = &events->events[i];
		bool grouped = whole_groups && event->group >= 0;
		bool first = true;

		if (grouping->wheel_of[i] != number || event->absent ||
		    wheel->ruler_event == (int64_t)i)
			continue;
		for (size_t j = 0; grouped && first && j < i; j++)
			first = events->events[j].group != event->group ||
				grouping->wheel_of[j] != number || events->events[j].absent ||
				wheel->ruler_event == (int64_t)j;
		if (!first)
			continue;
		items->first[items->count++] = (uint32_t)used;
		for (size_t j = i; j < (grouped ? events->count : i + 1); j++)
			if (j == i ||
			    (events->events[j].group == event->group &&
			     grouping->wheel_of[j] == number && !events->events[j].absent &&
			     wheel->ruler_event != (int64_t)j))
				items->events[used++] = (uint32_t)j;
	}
	items->first[items->count] = (uint32_t)used;
	return NULL;
}

static struct hp_error *fill_groups(const struct grouping *grouping, struct hp_counter_wheel *wheel,
				    const struct items *items, const uint32_t *group_of,
				    uint32_t group_count)
{
	wheel->groups = calloc(group_count + 1, sizeof(*wheel->groups));
	if (!wheel->groups)
		return hp_error_create_no_memory();
	wheel->group_count = group_count;
	for (size_t i = 0; i < items->count; i++) {
		struct hp_counter_group *group = &wheel->groups[group_of[i]];

		if (group_of[i] == HP_NO_GROUP)
			continue;
		for (uint32_t j = items->first[i]; j < items->first[i + 1]; j++) {
			uint32_t event = items->events[j];
			uint32_t share = grouping->events->events[event].share;
			struct hp_error *error = push_index(&group->events, &group->count, event);

			if (error)
				return error;
			group->share = share > group->share ? share : group->share;
		}
	}
	return NULL;
}

/* An event that gets no counter even alone: others hold them all. */
static struct hp_error *mark_unschedulable(struct grouping *grouping, const struct items *items,
					   const uint32_t *group_of)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; !error && i < items->count; i++) {
		struct hp_event *event = &grouping->events->events[items->events[items->first[i]]];

		if (group_of[i] != HP_NO_GROUP || items->first[i + 1] - items->first[i] > 1)
			continue;
		error = set_absent(event, items->wheel->has_ruler
						  ? "it opens but gets no counter beside the "
						    "cycles': others hold them"
						  : "it opens but never gets a counter: others "
						    "hold them");
	}
	return error;
}

static bool any_group_is_split(const struct grouping *grouping, const struct items *items,
			       const uint32_t *group_of)
{
	bool split = false;

	for (size_t i = 0; i < items->count; i++) {
		if (group_of[i] != HP_NO_GROUP || items->first[i + 1] - items->first[i] < 2)
			continue;
		split = true;
		notice(grouping->wheels,
		       "the {group} of %s and %u more does not fit the counters at once: it is "
		       "split",
		       grouping->events->events[items->events[items->first[i]]].name,
		       items->first[i + 1] - items->first[i] - 1);
	}
	return split;
}

/* What was remembered may no longer hold. */
static bool groups_still_run(const struct grouping *grouping, struct items *items,
			     const uint32_t *group_of, uint32_t group_count)
{
	const struct hp_counter_wheel *wheel = items->wheel;

	if (!grouping->memory || wheel->software)
		return true;
	for (uint32_t group = 0; group < group_count; group++) {
		size_t asked = 0;

		if (wheel->has_ruler)
			items->asked[asked++] = &wheel->ruler;
		for (size_t i = 0; i < items->count; i++)
			for (uint32_t j = items->first[i];
			     group_of[i] == group && j < items->first[i + 1]; j++)
				items->asked[asked++] = &grouping->events->events[items->events[j]];
		if (!hp_trial_run(items->asked, asked, wheel))
			return false;
	}
	return true;
}

/* An event that every group has room for is counted all the time, like the ruler. */
static struct hp_error *promote(struct hp_counter_wheel *wheel, struct items *items,
				uint32_t *group_of, uint32_t group_count)
{
	_cleanup_free_ uint32_t *members = calloc(items->count + 1, sizeof(*members));
	struct hp_error *error = NULL;

	if (!members)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; !error && group_count > 1 && !wheel->software && i < items->count;
	     i++) {
		bool everywhere = group_of[i] != HP_NO_GROUP &&
				  items->first[i + 1] - items->first[i] == 1;

		for (uint32_t group = 0; everywhere && group < group_count; group++) {
			size_t count = 0;

			/* Those promoted before belong to every group. */
			for (uint32_t j = 0; j < items->count; j++)
				if (j == i || group_of[j] == group || group_of[j] == group_count)
					members[count++] = j;
			everywhere = items_fit(items, members, count);
		}
		if (!everywhere)
			continue;
		group_of[i] = group_count;
		error = push_index(&wheel->always, &wheel->always_count,
				   items->events[items->first[i]]);
	}
	/* They are in no group of their own. */
	for (size_t i = 0; i < items->count; i++)
		if (group_of[i] == group_count)
			group_of[i] = HP_NO_GROUP;
	return error;
}

/* Groups that lost all their events to `always` are gone. */
static void drop_empty_groups(struct hp_counter_wheel *wheel)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < wheel->group_count; i++) {
		if (wheel->groups[i].count)
			wheel->groups[kept++] = wheel->groups[i];
		else
			free(wheel->groups[i].events);
	}
	/* Something has to carry the ruler. */
	wheel->group_count = kept || !wheel->always_count ? kept : 1;
	if (!kept && wheel->group_count)
		wheel->groups[0] = (struct hp_counter_group){ 0 };
}

static struct hp_error *divide_items(struct grouping *grouping, struct items *items,
				     uint32_t *group_of, uint32_t *group_count)
{
	uint32_t number = (uint32_t)(items->wheel - grouping->wheels->at);
	bool alike = true;
	struct hp_error *error = make_items(grouping, number, items, true);

	for (size_t i = 0; i < items->count; i++)
		alike &= items->first[i + 1] - items->first[i] == 1;
	if (!error)
		error = hp_partition(items->count, alike, items_fit, items, group_of, group_count);
	if (!error && any_group_is_split(grouping, items, group_of)) {
		error = make_items(grouping, number, items, false);
		if (!error)
			error = hp_partition(items->count, true, items_fit, items, group_of,
					     group_count);
	}
	return error;
}

static struct hp_error *divide_wheel(struct grouping *grouping, uint32_t number)
{
	struct hp_counter_wheel *wheel = &grouping->wheels->at[number];
	size_t room = grouping->events->count + 2;
	_cleanup_free_ uint32_t *scratch = calloc(3 * room, sizeof(*scratch));
	_cleanup_free_ const struct hp_event **asked = calloc(room, sizeof(*asked));
	struct items items = {
		.grouping = grouping,
		.wheel = wheel,
		.asked = asked,
		.events = scratch,
		.first = scratch + room,
	};
	uint32_t *group_of = scratch + 2 * room;
	uint32_t group_count = 0;
	struct hp_error *error;

	if (!scratch || !asked)
		return hp_error_create_no_memory();
	error = choose_ruler(grouping, number);
	for (size_t i = 0; !error && i < grouping->events->count; i++)
		if (grouping->wheel_of[i] == number && !grouping->events->events[i].absent)
			error = take_ruler_event(grouping, wheel, i);
	if (!error)
		error = divide_items(grouping, &items, group_of, &group_count);
	if (!error && !groups_still_run(grouping, &items, group_of, group_count)) {
		hp_trial_forget(grouping->memory);
		error = divide_items(grouping, &items, group_of, &group_count);
	}
	if (!error)
		error = mark_unschedulable(grouping, &items, group_of);
	if (!error)
		error = promote(wheel, &items, group_of, group_count);
	if (!error)
		error = fill_groups(grouping, wheel, &items, group_of, group_count);
	if (!error)
		drop_empty_groups(wheel);
	return error;
}

/* --- all together ----------------------------------------------------------------------------- */

static struct hp_error *make_wheels(struct grouping *grouping)
{
	struct hp_event_list *events = grouping->events;
	struct hp_error *error = NULL;

	for (size_t i = 0; !error && i < events->count; i++) {
		if (events->events[i].absent)
			continue;
		error = assign_wheel(grouping, i);
		if (!error)
			error = try_event(grouping, i);
	}
	for (uint32_t i = 0; !error && i < grouping->wheels->count; i++)
		error = divide_wheel(grouping, i);
	for (size_t i = 0; i < events->count; i++)
		grouping->countable += !events->events[i].absent;
	if (!error && !grouping->countable)
		error = nothing_left(grouping);
	return error;
}

static void drop_empty_wheels(struct hp_counter_wheels *wheels)
{
	size_t kept = 0;

	for (size_t i = 0; i < wheels->count; i++) {
		if (wheels->at[i].group_count)
			wheels->at[kept++] = wheels->at[i];
		else
			hp_wheel_clear(&wheels->at[i]);
	}
	wheels->count = kept;
}

struct hp_error *hp_counter_wheels_create(struct hp_event_list *events,
					  const struct hp_machine *machine,
					  const struct hp_grouping_options *options,
					  struct hp_counter_wheels *wheels)
{
	_cleanup_free_ uint32_t *wheel_of = calloc(events->count + 1, sizeof(*wheel_of));
	_cleanup_(hp_trial_memory_destroy_scope) struct hp_trial_memory *memory = NULL;
	struct grouping grouping = {
		.events = events,
		.machine = machine,
		.options = options,
		.wheels = wheels,
		.wheel_of = wheel_of,
	};
	struct hp_error *error = NULL;

	if (!wheel_of)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < events->count; i++)
		wheel_of[i] = UINT32_MAX;
	if (options->trial) {
		grouping.trial = *options->trial;
	} else {
		error = hp_trial_memory_create(machine, &memory);
		if (!error)
			grouping.trial = hp_trial_of(memory);
		grouping.memory = memory;
	}
	if (!error)
		error = make_wheels(&grouping);
	if (error)
		hp_counter_wheels_clear(wheels);
	else
		drop_empty_wheels(wheels);
	return error;
}
