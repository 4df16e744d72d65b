/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/groups.h>

#include "partition.h"
#include "trial.h"
#include "rotation_set.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>
#include <hpcprof/base/vector.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The state that all steps share. */
struct grouping {
	struct hp_event_list *events;
	const struct hp_machine *machine;
	const struct hp_grouping_options *options;
	struct hp_counter_trial trial;
	struct hp_trial_memory *memory; /* NULL in tests */
	struct hp_rotation_sets *rotation_sets;
	uint32_t *rotation_set_of; /* by event */
	int first_failure;	   /* errno of the first event that did not open */
	size_t first_failed;
	size_t countable;
};

/* What is grouped: events, or whole {groups} of the user as one item. */
struct items {
	const struct grouping *grouping;
	const struct hp_rotation_set *rotation_set;
	uint32_t *events; /* item by item */
	uint32_t *first;  /* by item: index of its first event; one more element for the end */
	size_t count;
	const struct hp_event **asked; /* buffer */
};

void hp_rotation_sets_clear(struct hp_rotation_sets *rotation_sets)
{
	for (size_t i = 0; i < rotation_sets->count; i++)
		hp_rotation_set_clear(&rotation_sets->at[i]);
	free(rotation_sets->notice);
	hp_vector_free(rotation_sets);
}

static void notice(struct hp_rotation_sets *rotation_sets, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a notice; if memory is short it is dropped. */
static void notice(struct hp_rotation_sets *rotation_sets, const char *format, ...)
{
	_cleanup_free_ char *line = NULL;
	char *longer = NULL;
	va_list arguments;

	va_start(arguments, format);
	line = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!line)
		return;
	if (asprintf(&longer, "%s%s%s", rotation_sets->notice ? rotation_sets->notice : "",
		     rotation_sets->notice ? "\n" : "", line) < 0)
		return;
	free(rotation_sets->notice);
	rotation_sets->notice = longer;
}

/* --- which events and rotation sets ----------------------------------------------------------- */

static struct hp_error *assign_rotation_set(struct grouping *grouping, size_t index)
{
	struct hp_rotation_sets *rotation_sets = grouping->rotation_sets;
	struct hp_rotation_set rotation_set;
	struct hp_error *error = hp_rotation_set_describe(
		grouping->machine, &grouping->events->events[index], &rotation_set);

	if (error)
		return error;
	for (size_t i = 0; i < rotation_sets->count; i++) {
		if (strcmp(rotation_sets->at[i].pmu, rotation_set.pmu) == 0) {
			grouping->rotation_set_of[index] = (uint32_t)i;
			hp_rotation_set_clear(&rotation_set);
			return NULL;
		}
	}
	grouping->rotation_set_of[index] = (uint32_t)rotation_sets->count;
	if (hp_vector_push(rotation_sets, rotation_set))
		return NULL;
	hp_rotation_set_clear(&rotation_set);
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
	const struct hp_rotation_set *rotation_set =
		&grouping->rotation_sets->at[grouping->rotation_set_of[index]];
	struct hp_error *refusal;
	struct hp_error *error;
	const char *why;
	int failure;

	if (rotation_set->whole_cpus && !grouping->options->system_wide)
		return set_absent(event, "it counts whole CPUs or sockets, not tasks: use -a");
	failure = grouping->trial.opens(grouping->trial.context, event, rotation_set);
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
		/* The reason does not matter: nothing can be counted, and doctor explains why. */
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

/* --- groups of one rotation set ---------------------------------------------------------------------- */

static bool items_fit(void *context, const uint32_t *wanted, size_t count)
{
	const struct items *items = context;
	const struct grouping *grouping = items->grouping;
	uint32_t limit = grouping->options->counters;
	size_t asked = 0;

	if (items->rotation_set->has_reference)
		items->asked[asked++] = &items->rotation_set->reference;
	for (size_t i = 0; i < count; i++)
		for (uint32_t j = items->first[wanted[i]]; j < items->first[wanted[i] + 1]; j++)
			items->asked[asked++] = &grouping->events->events[items->events[j]];
	if (limit && asked - items->rotation_set->has_reference > limit)
		return false;
	if (items->rotation_set->software)
		return true;
	return grouping->trial.runs(grouping->trial.context, items->asked, asked,
				    items->rotation_set);
}

static bool same_event(const struct hp_event *a, const struct hp_event *b)
{
	return a->type == b->type && a->config == b->config && a->config1 == b->config1 &&
	       a->config2 == b->config2 && a->config3 == b->config3 &&
	       a->exclude_user == b->exclude_user && a->exclude_kernel == b->exclude_kernel;
}

/* Cycles, otherwise instructions, in a mode that covers what the rotation set's events count. */
static struct hp_error *choose_reference(struct grouping *grouping, uint32_t number)
{
	static const struct {
		const char *name;
		uint64_t config;
		enum hp_unit unit;
	} references[] = {
		{ "cycles", PERF_COUNT_HW_CPU_CYCLES, HP_UNIT_CYCLES },
		{ "instructions", PERF_COUNT_HW_INSTRUCTIONS, HP_UNIT_INSTRUCTIONS },
	};
	struct hp_rotation_set *rotation_set = &grouping->rotation_sets->at[number];
	bool instructions_first = grouping->options->reference == HP_UNIT_INSTRUCTIONS;
	struct hp_event reference = { .type = PERF_TYPE_HARDWARE, .group = -1 };
	const struct hp_event *asked = &reference;
	const struct hp_event *example = NULL;

	reference.exclude_user = reference.exclude_kernel = reference.exclude_hypervisor = true;
	for (size_t i = 0; i < grouping->events->count; i++) {
		const struct hp_event *event = &grouping->events->events[i];

		if (grouping->rotation_set_of[i] != number || event->absent)
			continue;
		example = event;
		reference.exclude_user &= event->exclude_user;
		reference.exclude_kernel &= event->exclude_kernel;
		reference.exclude_hypervisor &= event->exclude_hypervisor;
	}
	if (rotation_set->software || rotation_set->whole_cpus || !example)
		return NULL;
	for (size_t i = 0; i < HP_ARRAY_COUNT(references); i++) {
		size_t which = instructions_first ? HP_ARRAY_COUNT(references) - 1 - i : i;

		reference.config = references[which].config;
		reference.unit = references[which].unit;
		/* Where cores differ, generic events name their PMU. */
		if (rotation_set->cpus)
			reference.config |= (uint64_t)hp_rotation_set_pmu_type(example)
					    << PERF_PMU_TYPE_SHIFT;
		if (!grouping->trial.runs(grouping->trial.context, &asked, 1, rotation_set))
			continue;
		rotation_set->reference = reference;
		rotation_set->has_reference = true;
		rotation_set->reference.name = strdup(references[which].name);
		return rotation_set->reference.name ? NULL : hp_error_create_no_memory();
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

/* An event equal to the reference event needs no counter of its own. */
static struct hp_error *take_reference_event(const struct grouping *grouping,
					     struct hp_rotation_set *rotation_set, size_t index)
{
	if (!rotation_set->has_reference || rotation_set->reference_event >= 0 ||
	    !same_event(&grouping->events->events[index], &rotation_set->reference))
		return NULL;
	rotation_set->reference_event = (int64_t)index;
	return push_index(&rotation_set->always, &rotation_set->always_count, (uint32_t)index);
}

/* Makes items of the rotation set's events; {groups} stay together if possible. */
static struct hp_error *make_items(struct grouping *grouping, uint32_t number, struct items *items,
				   bool whole_groups)
{
	struct hp_rotation_set *rotation_set = &grouping->rotation_sets->at[number];
	const struct hp_event_list *events = grouping->events;
	size_t used = 0;

	items->count = 0;
	for (size_t i = 0; i < events->count; i++) {
		const struct hp_event *event = &events->events[i];
		bool grouped = whole_groups && event->group >= 0;
		bool first = true;

		if (grouping->rotation_set_of[i] != number || event->absent ||
		    rotation_set->reference_event == (int64_t)i)
			continue;
		for (size_t j = 0; grouped && first && j < i; j++)
			first = events->events[j].group != event->group ||
				grouping->rotation_set_of[j] != number ||
				events->events[j].absent ||
				rotation_set->reference_event == (int64_t)j;
		if (!first)
			continue;
		items->first[items->count++] = (uint32_t)used;
		for (size_t j = i; j < (grouped ? events->count : i + 1); j++)
			if (j == i ||
			    (events->events[j].group == event->group &&
			     grouping->rotation_set_of[j] == number && !events->events[j].absent &&
			     rotation_set->reference_event != (int64_t)j))
				items->events[used++] = (uint32_t)j;
	}
	items->first[items->count] = (uint32_t)used;
	return NULL;
}

static struct hp_error *fill_groups(const struct grouping *grouping,
				    struct hp_rotation_set *rotation_set, const struct items *items,
				    const uint32_t *group_of, uint32_t group_count)
{
	rotation_set->groups = calloc(group_count + 1, sizeof(*rotation_set->groups));
	if (!rotation_set->groups)
		return hp_error_create_no_memory();
	rotation_set->group_count = group_count;
	for (size_t i = 0; i < items->count; i++) {
		struct hp_counter_group *group = &rotation_set->groups[group_of[i]];

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

/* An event that gets no counter even alone, because others use them. */
static struct hp_error *mark_unschedulable(struct grouping *grouping, const struct items *items,
					   const uint32_t *group_of)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; !error && i < items->count; i++) {
		struct hp_event *event = &grouping->events->events[items->events[items->first[i]]];

		if (group_of[i] != HP_NO_GROUP || items->first[i + 1] - items->first[i] > 1)
			continue;
		error = set_absent(event,
				   items->rotation_set->has_reference
					   ? "it opens but gets no counter in addition to that of "
					     "cycles: others use them"
					   : "it opens but never gets a counter: others use them");
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
		notice(grouping->rotation_sets,
		       "the {group} of %s and %u more does not fit the counters: it is split",
		       grouping->events->events[items->events[items->first[i]]].name,
		       items->first[i + 1] - items->first[i] - 1);
	}
	return split;
}

/* Checks whether what was remembered still holds. */
static bool groups_still_run(const struct grouping *grouping, struct items *items,
			     const uint32_t *group_of, uint32_t group_count)
{
	const struct hp_rotation_set *rotation_set = items->rotation_set;

	if (!grouping->memory || rotation_set->software)
		return true;
	for (uint32_t group = 0; group < group_count; group++) {
		size_t asked = 0;

		if (rotation_set->has_reference)
			items->asked[asked++] = &rotation_set->reference;
		for (size_t i = 0; i < items->count; i++)
			for (uint32_t j = items->first[i];
			     group_of[i] == group && j < items->first[i + 1]; j++)
				items->asked[asked++] = &grouping->events->events[items->events[j]];
		if (!hp_trial_run(items->asked, asked, rotation_set))
			return false;
	}
	return true;
}

/* An event for which every group has room is counted all the time, like the reference event. */
static struct hp_error *promote(struct hp_rotation_set *rotation_set, struct items *items,
				uint32_t *group_of, uint32_t group_count)
{
	_cleanup_free_ uint32_t *members = calloc(items->count + 1, sizeof(*members));
	struct hp_error *error = NULL;

	if (!members)
		return hp_error_create_no_memory();
	for (uint32_t i = 0;
	     !error && group_count > 1 && !rotation_set->software && i < items->count; i++) {
		bool everywhere = group_of[i] != HP_NO_GROUP &&
				  items->first[i + 1] - items->first[i] == 1;

		for (uint32_t group = 0; everywhere && group < group_count; group++) {
			size_t count = 0;

			/* Promoted events belong to every group. */
			for (uint32_t j = 0; j < items->count; j++)
				if (j == i || group_of[j] == group || group_of[j] == group_count)
					members[count++] = j;
			everywhere = items_fit(items, members, count);
		}
		if (!everywhere)
			continue;
		group_of[i] = group_count;
		error = push_index(&rotation_set->always, &rotation_set->always_count,
				   items->events[items->first[i]]);
	}
	/* promoted items are in no group of their own */
	for (size_t i = 0; i < items->count; i++)
		if (group_of[i] == group_count)
			group_of[i] = HP_NO_GROUP;
	return error;
}

/* Removes groups whose events were all promoted to `always`. */
static void drop_empty_groups(struct hp_rotation_set *rotation_set)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < rotation_set->group_count; i++) {
		if (rotation_set->groups[i].count)
			rotation_set->groups[kept++] = rotation_set->groups[i];
		else
			free(rotation_set->groups[i].events);
	}
	/* one group must remain for the reference event */
	rotation_set->group_count = kept || !rotation_set->always_count ? kept : 1;
	if (!kept && rotation_set->group_count)
		rotation_set->groups[0] = (struct hp_counter_group){ 0 };
}

static struct hp_error *divide_items(struct grouping *grouping, struct items *items,
				     uint32_t *group_of, uint32_t *group_count)
{
	uint32_t number = (uint32_t)(items->rotation_set - grouping->rotation_sets->at);
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

static struct hp_error *divide_rotation_set(struct grouping *grouping, uint32_t number)
{
	struct hp_rotation_set *rotation_set = &grouping->rotation_sets->at[number];
	size_t room = grouping->events->count + 2;
	_cleanup_free_ uint32_t *scratch = calloc(3 * room, sizeof(*scratch));
	_cleanup_free_ const struct hp_event **asked = calloc(room, sizeof(*asked));
	struct items items = {
		.grouping = grouping,
		.rotation_set = rotation_set,
		.asked = asked,
		.events = scratch,
		.first = scratch + room,
	};
	uint32_t *group_of = scratch + 2 * room;
	uint32_t group_count = 0;
	struct hp_error *error;

	if (!scratch || !asked)
		return hp_error_create_no_memory();
	error = choose_reference(grouping, number);
	for (size_t i = 0; !error && i < grouping->events->count; i++)
		if (grouping->rotation_set_of[i] == number && !grouping->events->events[i].absent)
			error = take_reference_event(grouping, rotation_set, i);
	if (!error)
		error = divide_items(grouping, &items, group_of, &group_count);
	if (!error && !groups_still_run(grouping, &items, group_of, group_count)) {
		hp_trial_forget(grouping->memory);
		error = divide_items(grouping, &items, group_of, &group_count);
	}
	if (!error)
		error = mark_unschedulable(grouping, &items, group_of);
	if (!error)
		error = promote(rotation_set, &items, group_of, group_count);
	if (!error)
		error = fill_groups(grouping, rotation_set, &items, group_of, group_count);
	if (!error)
		drop_empty_groups(rotation_set);
	return error;
}

/* --- all together ----------------------------------------------------------------------------- */

static struct hp_error *make_rotation_sets(struct grouping *grouping)
{
	struct hp_event_list *events = grouping->events;
	struct hp_error *error = NULL;

	for (size_t i = 0; !error && i < events->count; i++) {
		if (events->events[i].absent)
			continue;
		error = assign_rotation_set(grouping, i);
		if (!error)
			error = try_event(grouping, i);
	}
	for (uint32_t i = 0; !error && i < grouping->rotation_sets->count; i++)
		error = divide_rotation_set(grouping, i);
	for (size_t i = 0; i < events->count; i++)
		grouping->countable += !events->events[i].absent;
	if (!error && !grouping->countable)
		error = nothing_left(grouping);
	return error;
}

static void drop_empty_rotation_sets(struct hp_rotation_sets *rotation_sets)
{
	size_t kept = 0;

	for (size_t i = 0; i < rotation_sets->count; i++) {
		if (rotation_sets->at[i].group_count)
			rotation_sets->at[kept++] = rotation_sets->at[i];
		else
			hp_rotation_set_clear(&rotation_sets->at[i]);
	}
	rotation_sets->count = kept;
}

struct hp_error *hp_rotation_sets_create(struct hp_event_list *events,
					 const struct hp_machine *machine,
					 const struct hp_grouping_options *options,
					 struct hp_rotation_sets *rotation_sets)
{
	_cleanup_free_ uint32_t *rotation_set_of =
		calloc(events->count + 1, sizeof(*rotation_set_of));
	_cleanup_(hp_trial_memory_destroy_scope) struct hp_trial_memory *memory = NULL;
	struct grouping grouping = {
		.events = events,
		.machine = machine,
		.options = options,
		.rotation_sets = rotation_sets,
		.rotation_set_of = rotation_set_of,
	};
	struct hp_error *error = NULL;

	if (!rotation_set_of)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < events->count; i++)
		rotation_set_of[i] = UINT32_MAX;
	if (options->trial) {
		grouping.trial = *options->trial;
	} else {
		error = hp_trial_memory_create(machine, &memory);
		if (!error)
			grouping.trial = hp_trial_of(memory);
		grouping.memory = memory;
	}
	if (!error)
		error = make_rotation_sets(&grouping);
	if (error)
		hp_rotation_sets_clear(rotation_sets);
	else
		drop_empty_rotation_sets(rotation_sets);
	return error;
}
