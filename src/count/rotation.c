/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rotation.h"
#include "tuning.h"

#include <hpcprof/base/number.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct hp_error *make_plan(struct rotation *rotation,
				  const struct hp_rotation_set *rotation_set)
{
	rotation->groups = calloc(rotation_set->group_count, sizeof(*rotation->groups));
	if (!rotation->groups)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < rotation_set->group_count; i++)
		rotation->groups[i] = (struct hp_mux_group){
			.event_count = rotation_set->groups[i].count,
			.share = rotation_set->groups[i].share,
		};
	rotation->plan = (struct hp_mux_plan){
		.groups = rotation->groups,
		.group_count = rotation_set->group_count,
		.always_count = rotation_set->always_count,
	};
	return NULL;
}

/* One reading per group, and one for the present. */
static struct hp_error *make_readings(struct rotation *rotation)
{
	size_t count = rotation->counters.value_count;
	size_t groups = rotation->plan.group_count;

	rotation->values = calloc((groups + 1) * count + 1, sizeof(*rotation->values));
	rotation->last = calloc(groups, sizeof(*rotation->last));
	if (!rotation->values || !rotation->last)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < groups; i++)
		rotation->last[i].values = rotation->values + i * count;
	rotation->now.values = rotation->values + groups * count;
	return NULL;
}

struct hp_error *rotation_open(struct rotation *rotation,
			       const struct hp_rotation_set *rotation_set,
			       const struct counter_options *options,
			       const struct hp_machine *machine,
			       const struct hp_mux_scheduler_options *scheduler)
{
	struct counter_options with_first = *options;
	struct hp_error *error;

	*rotation = (struct rotation){ 0 };
	error = make_plan(rotation, rotation_set);
	rotation->plan.follows_rates = hp_mux_policy_follows_rates(scheduler->policy);
	if (!error)
		error = hp_mux_scheduler_create(&rotation->plan, scheduler, &rotation->scheduler);
	if (error)
		return error;
	rotation->current = hp_mux_scheduler_next(rotation->scheduler);
	with_first.first_group = rotation->current;
	error = counters_open(&rotation->counters, rotation_set, &with_first, machine);
	return error ? error : make_readings(rotation);
}

void rotation_let_go(struct rotation *rotation)
{
	counters_close(&rotation->counters);
}

void rotation_close(struct rotation *rotation)
{
	counters_close(&rotation->counters);
	if (rotation->scheduler)
		hp_mux_scheduler_destroy(rotation->scheduler);
	if (rotation->whole)
		hp_mux_estimator_destroy(rotation->whole);
	if (rotation->interval)
		hp_mux_estimator_destroy(rotation->interval);
	free(rotation->groups);
	free(rotation->last);
	free(rotation->values);
	*rotation = (struct rotation){ 0 };
}

bool rotation_turns(const struct rotation *rotation)
{
	return rotation->plan.group_count > 1;
}

static size_t place_count(const struct rotation *rotation)
{
	return rotation->counters.place_count;
}

uint64_t rotation_clock_ns(const struct counters *clock)
{
	struct counter_reading reading = { .values = (uint64_t[1]){ 0 } };

	counters_read(clock, 0, 0, clock->place_count, &reading);
	return reading.enabled_ns;
}

struct hp_error *rotation_begin(struct rotation *rotation, uint64_t now_ns,
				const struct counters *clock, bool with_intervals, bool switch_on)
{
	uint64_t position_ns = clock ? 0 : now_ns;
	struct hp_error *error =
		hp_mux_estimator_create(&rotation->plan, position_ns, &rotation->whole);

	if (!error && with_intervals)
		error = hp_mux_estimator_create(&rotation->plan, position_ns, &rotation->interval);
	if (error)
		return error;
	rotation->begin_ns = now_ns;
	rotation->position_ns = position_ns;
	rotation->clock = clock;
	rotation->gap_share = 1;
	if (switch_on)
		counters_switch(&rotation->counters, rotation->current, 0, place_count(rotation),
				true);
	return NULL;
}

void rotation_clear_reading(struct rotation *rotation)
{
	struct counter_reading *now = &rotation->now;

	now->enabled_ns = now->running_ns = now->reference = 0;
	memset(now->values, 0, rotation->counters.value_count * sizeof(*now->values));
}

static uint64_t grown(uint64_t now, uint64_t before)
{
	/* a CPU that went offline loses its counts */
	return now > before ? now - before : 0;
}

/* The group's next slice begins at `now`. */
static void keep_reading(struct rotation *rotation)
{
	const struct counter_reading *now = &rotation->now;
	struct counter_reading *last = &rotation->last[rotation->current];

	memcpy(last->values, now->values, rotation->counters.value_count * sizeof(*now->values));
	last->enabled_ns = now->enabled_ns;
	last->running_ns = now->running_ns;
	last->reference = now->reference;
}

/* The difference between `now` and the group's last reading becomes a slice. */
static void add_slice(struct rotation *rotation, uint64_t end_ns)
{
	struct counter_reading *now = &rotation->now;
	struct counter_reading *last = &rotation->last[rotation->current];
	size_t count =
		rotation->plan.groups[rotation->current].event_count + rotation->plan.always_count;
	uint64_t length_ns = grown(end_ns, rotation->begin_ns);
	uint64_t enabled_ns = grown(now->enabled_ns, last->enabled_ns);
	struct hp_mux_slice slice = {
		.group = rotation->current,
		.begin_ns = rotation->position_ns,
		.end_ns = rotation->position_ns + (rotation->clock ? enabled_ns : length_ns),
		.enabled_ns = enabled_ns,
		.running_ns = grown(now->running_ns, last->running_ns),
		.reference = grown(now->reference, last->reference),
		.counts = last->values,
	};

	if (slice.running_ns > slice.enabled_ns)
		slice.running_ns = slice.enabled_ns;
	/* Stores the differences in place of the previous values. */
	for (size_t i = 0; i < count; i++)
		last->values[i] = grown(now->values[i], last->values[i]);
	hp_error_destroy(hp_mux_estimator_add(rotation->whole, &slice));
	if (rotation->interval)
		hp_error_destroy(hp_mux_estimator_add(rotation->interval, &slice));
	hp_mux_scheduler_observe(rotation->scheduler, &slice);
	keep_reading(rotation);
	rotation->slices++;
	rotation->slice_ns += length_ns;
	rotation->enabled_ns += enabled_ns;
	rotation->rate = length_ns ? (double)enabled_ns / (double)length_ns : 0;
	rotation->begin_ns += length_ns;
	rotation->position_ns = slice.end_ns;
}

static bool read_current(struct rotation *rotation)
{
	rotation_clear_reading(rotation);
	return counters_read(&rotation->counters, rotation->current, 0, place_count(rotation),
			     &rotation->now);
}

/* Ends the current slice at this time. False: it cannot be read now, and goes on. */
static bool end_slice(struct rotation *rotation, uint64_t end_ns)
{
	bool is_read = read_current(rotation);

	if (is_read)
		add_slice(rotation, end_ns);
	return is_read;
}

/* Begins the next slice, of a group that is disabled. If it cannot be read, its last reading stands
 * for its beginning, as hardly ever anything was counted since. */
static void begin_slice(struct rotation *rotation)
{
	/* only tasks have children */
	if (rotation->clock && read_current(rotation))
		keep_reading(rotation);
}

void rotation_take(struct rotation *rotation, uint64_t end_ns, uint64_t next_begin_ns,
		   uint32_t next)
{
	add_slice(rotation, end_ns);
	rotation->current = next;
	if (next_begin_ns <= rotation->begin_ns)
		return;
	rotation->position_ns += next_begin_ns - rotation->begin_ns;
	rotation->begin_ns = next_begin_ns;
}

/* Enables or disables the current group. Returns a time within the call. */
static uint64_t switch_current(const struct rotation *rotation, bool on)
{
	uint64_t before_ns = hp_clock_monotonic_ns();

	counters_switch(&rotation->counters, rotation->current, 0, place_count(rotation), on);
	return before_ns + (hp_clock_monotonic_ns() - before_ns) / 2;
}

static bool should_ask(const struct rotation *rotation)
{
	return rotation->slices <= clock_every || rotation->slices % clock_every == 0;
}

/* Between two slices, reads how long the target has run. This corrects the time line, and the
 * estimate of how much of the gaps it runs for. The present gap began at `end_ns`. */
static void ask_the_clock(struct rotation *rotation, uint64_t end_ns)
{
	uint64_t ran_ns = rotation_clock_ns(rotation->clock);
	uint64_t now_ns = hp_clock_monotonic_ns();
	double all_ns = (double)rotation->gaps_ns + (double)grown(now_ns, end_ns) * rotation->rate;

	rotation->ahead_ns = grown(rotation->position_ns, ran_ns);
	if (ran_ns > rotation->position_ns)
		rotation->position_ns = ran_ns;
	rotation->asked_ns = now_ns;
	if (all_ns <= 0)
		return;
	rotation->gap_share = (double)grown(ran_ns, rotation->enabled_ns) / all_ns;
	if (rotation->gap_share > most_gap_share)
		rotation->gap_share = most_gap_share;
}

/* If the time line is ahead, it waits in gaps, since slices keep their lengths. */
static uint64_t without_debt(struct rotation *rotation, uint64_t step_ns)
{
	uint64_t waited_ns = rotation->ahead_ns < step_ns ? rotation->ahead_ns : step_ns;

	rotation->ahead_ns -= waited_ns;
	return step_ns - waited_ns;
}

static void cross_gap(struct rotation *rotation, uint64_t begin_ns)
{
	uint64_t gap_ns = grown(begin_ns, rotation->begin_ns);
	/* not yet on the time line */
	uint64_t left_ns = rotation->asked_ns > rotation->begin_ns
				   ? grown(begin_ns, rotation->asked_ns)
				   : gap_ns;

	rotation->gaps_ns += (uint64_t)((double)gap_ns * rotation->rate);
	if (rotation->clock)
		rotation->position_ns +=
			without_debt(rotation, (uint64_t)((double)left_ns * rotation->rate *
							  rotation->gap_share * gap_caution));
	else
		rotation->position_ns += gap_ns;
	rotation->begin_ns += gap_ns;
}

void rotation_turn(struct rotation *rotation)
{
	uint64_t end_ns = switch_current(rotation, false);

	if (!end_slice(rotation, end_ns)) {
		switch_current(rotation, true);
		return;
	}
	if (rotation->clock && should_ask(rotation))
		ask_the_clock(rotation, end_ns);
	rotation->current = hp_mux_scheduler_next(rotation->scheduler);
	begin_slice(rotation);
	cross_gap(rotation, switch_current(rotation, true));
}

void rotation_look(struct rotation *rotation)
{
	(void)end_slice(rotation, hp_clock_monotonic_ns());
}

void rotation_end(struct rotation *rotation)
{
	const struct timespec pause = { .tv_nsec = ENDING_THREAD_PAUSE_NS };
	uint64_t end_ns = switch_current(rotation, false);

	/* A thread that is ending may need this CPU. */
	for (unsigned i = 0; !end_slice(rotation, end_ns) && i < ENDING_THREAD_PAUSES; i++)
		nanosleep(&pause, NULL);
	if (rotation->clock)
		ask_the_clock(rotation, end_ns);
}

double rotation_doubt(const struct rotation *rotation)
{
	if (!rotation_turns(rotation) || !rotation->enabled_ns)
		return 0;
	return gap_unknown * (double)rotation->gaps_ns / (double)rotation->enabled_ns;
}
