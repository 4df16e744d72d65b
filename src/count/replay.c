/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/count/replay.h>

#include "joined.h"

#include <hpcprof/mux/estimate.h>
#include <hpcprof/mux/scheduler.h>

#include <string.h>

/* State of replaying: a slice gets counts of its group from the text. */
struct replaying {
	const struct hp_replay *replay;
	const size_t *names;
	const struct hp_counting_options *options;
	const struct hp_rotation_set *set;
	bool is_full; /* each slice has every event, so the scheduler chooses the group */
	struct hp_mux_group *groups;
	struct hp_mux_plan plan;
	struct hp_mux_scheduler *scheduler;
	struct hp_mux_estimator *whole;
	struct hp_mux_estimator *interval;
	uint64_t *values; /* of one slice */
	uint64_t interval_begin_ns;
};

static uint64_t count_at(const struct hp_replay *replay, size_t slice, size_t name)
{
	return replay->counts[slice * replay->name_count + name];
}

static bool has(const struct replaying *replaying, size_t slice, uint32_t event)
{
	return count_at(replaying->replay, slice, replaying->names[event]) != HP_REPLAY_NOT_COUNTED;
}

/* --- groups ----------------------------------------------------------------------------------- */

static int opens(void *context, const struct hp_event *event,
		 const struct hp_rotation_set *rotation_set)
{
	(void)context;
	(void)event;
	(void)rotation_set;
	return 0;
}

static bool runs(void *context, const struct hp_event *const *events, size_t count,
		 const struct hp_rotation_set *rotation_set)
{
	(void)context;
	(void)events;
	(void)count;
	(void)rotation_set;
	return true;
}

static bool is_full(const struct hp_replay *replay, const size_t *names,
		    const struct hp_event_list *events)
{
	for (size_t i = 0; i < events->count; i++)
		if (!events->events[i].absent && replay->turns[names[i]] < replay->slice_count)
			return false;
	return true;
}

static struct hp_error *mark_absent(const size_t *names, struct hp_event_list *events)
{
	size_t counted = 0;

	for (size_t i = 0; i < events->count; i++) {
		if (names[i] != HP_REPLAY_NO_NAME) {
			counted++;
			continue;
		}
		events->events[i].absent = strdup("the text has no counts of it");
		if (!events->events[i].absent)
			return hp_error_create_no_memory();
	}
	return counted ? NULL
		       : hp_error_create(HP_ERROR_INSUFFICIENT,
					 "the text has no counts of these events");
}

/* The first event that not all slices have; by it, slices of the same group are recognized. */
static size_t group_event(const struct hp_replay *replay, const size_t *names,
			  const struct hp_event_list *events, size_t slice)
{
	for (size_t i = 0; i < events->count; i++)
		if (!events->events[i].absent &&
		    count_at(replay, slice, names[i]) != HP_REPLAY_NOT_COUNTED &&
		    replay->turns[names[i]] < replay->slice_count)
			return i;
	return events->count;
}

static struct hp_error *take_turn(const struct hp_replay *replay, const size_t *names,
				  struct hp_event_list *events, size_t slice,
				  struct hp_rotation_set *set)
{
	struct hp_counter_group *group;

	for (uint32_t i = 0; i < set->group_count; i++)
		for (uint32_t j = 0; j < set->groups[i].count; j++)
			if (set->groups[i].events[j] == group_event(replay, names, events, slice))
				return NULL;
	group = reallocarray(set->groups, set->group_count + 1, sizeof(*group));
	if (!group)
		return hp_error_create_no_memory();
	set->groups = group;
	group += set->group_count++;
	*group = (struct hp_counter_group){ .events = calloc(events->count + 1, sizeof(uint32_t)) };
	if (!group->events)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < events->count; i++) {
		if (events->events[i].absent || replay->turns[names[i]] == replay->slice_count ||
		    count_at(replay, slice, names[i]) == HP_REPLAY_NOT_COUNTED)
			continue;
		group->events[group->count++] = i;
	}
	return NULL;
}

/* Turns as in the text: a slice's group is the set of its events. */
static struct hp_error *take_turns(const struct hp_replay *replay, const size_t *names,
				   struct hp_event_list *events,
				   struct hp_rotation_sets *rotation_sets)
{
	struct hp_rotation_set *set = calloc(1, sizeof(*set));
	struct hp_error *error = NULL;

	if (!set)
		return hp_error_create_no_memory();
	rotation_sets->at = set;
	rotation_sets->count = rotation_sets->capacity = 1;
	set->reference_event = -1;
	set->pmu = strdup("cpu");
	set->always = calloc(events->count + 1, sizeof(*set->always));
	if (!set->pmu || !set->always)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < events->count; i++) {
		if (events->events[i].absent || replay->turns[names[i]] < replay->slice_count)
			continue;
		set->always[set->always_count++] = i;
		if (events->events[i].unit == HP_UNIT_CYCLES)
			set->reference_event = i;
	}
	for (size_t i = 0; !error && i < replay->slice_count; i++)
		error = take_turn(replay, names, events, i, set);
	return error;
}

/* Slices are as long as their cycles at 1 GHz, so that rates by time and by cycles are equal. */
static void set_times(struct hp_replay *replay, const size_t *names,
		      const struct hp_event_list *events)
{
	const uint64_t usual_ns = 1000000000;
	const uint64_t most_ns = UINT64_MAX / 4 / replay->slice_count;
	size_t cycles = HP_REPLAY_NO_NAME;
	uint64_t at_ns = 0;

	for (size_t i = 0; i < events->count; i++)
		if (events->events[i].unit == HP_UNIT_CYCLES)
			cycles = names[i];
	for (size_t i = 0; i < replay->slice_count && !replay->slices[i].end_ns; i++) {
		uint64_t length_ns = HP_REPLAY_NOT_COUNTED;

		if (cycles != HP_REPLAY_NO_NAME)
			length_ns = count_at(replay, i, cycles);
		if (!length_ns || length_ns > most_ns)
			length_ns = usual_ns;
		replay->slices[i] = (struct hp_replay_slice){ at_ns, at_ns + length_ns };
		at_ns += length_ns;
	}
}

struct hp_error *hp_replay_group(struct hp_replay *replay, const size_t *names,
				 struct hp_event_list *events, const struct hp_machine *machine,
				 const struct hp_grouping_options *options,
				 struct hp_rotation_sets *rotation_sets)
{
	const struct hp_counter_trial trial = { .opens = opens, .runs = runs };
	struct hp_grouping_options replayed = *options;
	struct hp_error *error = mark_absent(names, events);

	replayed.trial = &trial;
	if (error)
		return error;
	set_times(replay, names, events);
	if (is_full(replay, names, events))
		return hp_rotation_sets_create(events, machine, &replayed, rotation_sets);
	if (options->counters)
		return hp_error_create(HP_ERROR_USAGE,
				       "--counters needs a text in which every slice has every "
				       "event: in this one groups have taken turns already");
	error = take_turns(replay, names, events, rotation_sets);
	if (error)
		hp_rotation_sets_clear(rotation_sets);
	return error;
}

/* --- slices ----------------------------------------------------------------------------------- */

/* The group of a slice. */
static uint32_t group_of(const struct replaying *replaying, size_t slice)
{
	const struct hp_rotation_set *set = replaying->set;

	if (replaying->is_full)
		return hp_mux_scheduler_next(replaying->scheduler);
	for (uint32_t i = 0; i < set->group_count; i++)
		if (set->groups[i].count && has(replaying, slice, set->groups[i].events[0]))
			return i;
	return 0;
}

static uint64_t value_of(const struct replaying *replaying, size_t slice, uint32_t event)
{
	uint64_t value = count_at(replaying->replay, slice, replaying->names[event]);

	return value == HP_REPLAY_NOT_COUNTED ? 0 : value;
}

static struct hp_error *take_slice(struct replaying *replaying, size_t number)
{
	const struct hp_rotation_set *set = replaying->set;
	const struct hp_replay_slice *times = &replaying->replay->slices[number];
	uint64_t length_ns = times->end_ns - times->begin_ns;
	struct hp_mux_slice slice = {
		.group = group_of(replaying, number),
		.begin_ns = times->begin_ns,
		.end_ns = times->end_ns,
		.enabled_ns = length_ns,
		.running_ns = length_ns,
		.reference = length_ns,
		.counts = replaying->values,
	};
	const struct hp_counter_group *group = &set->groups[slice.group];
	struct hp_error *error;

	for (uint32_t i = 0; i < group->count; i++)
		replaying->values[i] = value_of(replaying, number, group->events[i]);
	for (uint32_t i = 0; i < set->always_count; i++)
		replaying->values[group->count + i] = value_of(replaying, number, set->always[i]);
	if (set->reference_event >= 0)
		slice.reference = value_of(replaying, number, (uint32_t)set->reference_event);
	error = hp_mux_estimator_add(replaying->whole, &slice);
	if (!error && replaying->interval)
		error = hp_mux_estimator_add(replaying->interval, &slice);
	hp_mux_scheduler_observe(replaying->scheduler, &slice);
	return error;
}

/* --- reports ---------------------------------------------------------------------------------- */

static struct hp_error *report(struct replaying *replaying,
			       const struct hp_mux_estimator *estimator, uint64_t begin_ns,
			       uint64_t end_ns, const struct hp_counting_result *whole)
{
	const struct hp_counting_options *options = replaying->options;
	_cleanup_(hp_mux_estimates_destroy_scope) struct hp_mux_estimates *joined =
		joined_create(options->events->count);
	_cleanup_(hp_mux_estimates_destroy_scope) struct hp_mux_estimates *estimates = NULL;
	struct hp_counting_report made = {
		.begin_ns = begin_ns - replaying->replay->slices[0].begin_ns,
		.duration_ns = end_ns - begin_ns,
		.whole = whole,
	};
	struct hp_error *error = joined ? NULL : hp_error_create_no_memory();

	if (!error)
		error = hp_mux_estimates_create(estimator, options->method, end_ns, &estimates);
	if (error)
		return error;
	joined_add(joined, estimates, replaying->set, 0);
	joined->elapsed_ns = made.duration_ns;
	made.estimates = joined;
	options->report(&made, options->context);
	return NULL;
}

/* Intervals end at the end of a slice. */
static struct hp_error *report_interval(struct replaying *replaying, uint64_t end_ns)
{
	struct hp_error *error =
		report(replaying, replaying->interval, replaying->interval_begin_ns, end_ns, NULL);

	replaying->interval_begin_ns = end_ns;
	hp_mux_estimator_cut(replaying->interval, end_ns);
	return error;
}

static struct hp_error *replay_slices(struct replaying *replaying)
{
	const struct hp_replay *replay = replaying->replay;
	uint64_t interval_ns = replaying->options->interval_ns;
	uint64_t begin_ns = replay->slices[0].begin_ns;
	uint64_t end_ns = replay->slices[replay->slice_count - 1].end_ns;
	struct hp_counting_result whole = {
		.elapsed_ns = end_ns - begin_ns,
		.slices = replay->slice_count,
		.slice_mean_ns = (double)(end_ns - begin_ns) / (double)replay->slice_count,
	};
	struct hp_error *error = NULL;

	for (size_t i = 0; !error && i < replay->slice_count; i++) {
		error = take_slice(replaying, i);
		if (!error && interval_ns &&
		    (i + 1 == replay->slice_count ||
		     replay->slices[i].end_ns - replaying->interval_begin_ns >= interval_ns))
			error = report_interval(replaying, replay->slices[i].end_ns);
	}
	return error ? error : report(replaying, replaying->whole, begin_ns, end_ns, &whole);
}

/* --- all of it -------------------------------------------------------------------------------- */

static struct hp_error *make_estimators(struct replaying *replaying)
{
	const struct hp_counting_options *options = replaying->options;
	const struct hp_mux_scheduler_options scheduler = { options->policy, options->seed };
	uint64_t begin_ns = replaying->replay->slices[0].begin_ns;
	struct hp_error *error;

	for (uint32_t i = 0; i < replaying->set->group_count; i++)
		replaying->groups[i] = (struct hp_mux_group){ replaying->set->groups[i].count,
							      replaying->set->groups[i].share };
	replaying->plan = (struct hp_mux_plan){ replaying->groups, replaying->set->group_count,
						replaying->set->always_count,
						hp_mux_policy_follows_rates(options->policy) };
	error = hp_mux_scheduler_create(&replaying->plan, &scheduler, &replaying->scheduler);
	if (!error)
		error = hp_mux_estimator_create(&replaying->plan, begin_ns, &replaying->whole);
	if (!error && options->interval_ns)
		error = hp_mux_estimator_create(&replaying->plan, begin_ns, &replaying->interval);
	replaying->interval_begin_ns = begin_ns;
	return error;
}

struct hp_error *hp_replay_run(const struct hp_replay *replay, const size_t *names,
			       const struct hp_counting_options *options)
{
	_cleanup_free_ struct hp_mux_group *groups =
		calloc(options->rotation_sets->at[0].group_count + 1, sizeof(*groups));
	_cleanup_free_ uint64_t *values = calloc(options->events->count + 1, sizeof(*values));
	struct replaying replaying = {
		.replay = replay,
		.names = names,
		.options = options,
		.set = &options->rotation_sets->at[0],
		.is_full = is_full(replay, names, options->events),
		.groups = groups,
		.values = values,
	};
	struct hp_error *error;

	if (!groups || !values)
		return hp_error_create_no_memory();
	error = make_estimators(&replaying);
	if (!error)
		error = replay_slices(&replaying);
	if (replaying.scheduler)
		hp_mux_scheduler_destroy(replaying.scheduler);
	if (replaying.whole)
		hp_mux_estimator_destroy(replaying.whole);
	if (replaying.interval)
		hp_mux_estimator_destroy(replaying.interval);
	return error;
}
