/* SPDX-License-Identifier: GPL-2.0-or-later */
/* While the target runs: slices, intervals, signals. */
#include "counting.h"
#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/mux/ramp.h>

#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

bool counting_turns(const struct hp_counting *counting)
{
	for (size_t i = 0; i < counting->rotation_count; i++)
		if (rotation_turns(&counting->rotations[i]))
			return true;
	return false;
}

static uint32_t most_groups(const struct hp_counting *counting)
{
	uint32_t most = 1;

	for (size_t i = 0; i < counting->rotation_count; i++)
		if (counting->rotations[i].plan.group_count > most)
			most = counting->rotations[i].plan.group_count;
	return most;
}

/* The rotation set whose time line is the target's; NULL: there is none. */
static const struct rotation *timed_by_target(const struct hp_counting *counting)
{
	for (size_t i = 0; i < counting->rotation_count; i++)
		if (counting->rotations[i].clock)
			return &counting->rotations[i];
	return NULL;
}

/* How long the target has run, as far as known without reading the counter. */
static uint64_t ran_ns(const struct hp_counting *counting, uint64_t now_ns)
{
	const struct rotation *timed = timed_by_target(counting);

	return timed ? timed->position_ns : now_ns - counting->start_ns;
}

/* The length of a slice with which rotation stays within its budget. Later slices pay for what
 * short ones at the beginning have cost. */
static uint64_t affordable_ns(const struct hp_counting *counting, uint64_t now_ns)
{
	double percent = counting->options.overhead_percent > 0 ? counting->options.overhead_percent
								: HP_DEFAULT_ROTATION_PERCENT;
	double length_ns = counting->rotation_mean_ns * 100 / percent;

	if ((double)counting->rotation_ns * 100 > percent * (double)(now_ns - counting->start_ns))
		length_ns /= paying_back;
	return length_ns < HP_MUX_LONGEST_SLICE_NS ? (uint64_t)length_ns : HP_MUX_LONGEST_SLICE_NS;
}

static uint64_t full_length_ns(const struct hp_counting *counting, uint64_t now_ns)
{
	const struct hp_counting_options *options = &counting->options;
	uint64_t full_ns = options->slice_ns ? options->slice_ns : DEFAULT_SLICE_NS;
	uint64_t affordable = affordable_ns(counting, now_ns);

	if ((!options->slice_ns || options->overhead_percent > 0) && full_ns < affordable)
		full_ns = affordable;
	return full_ns;
}

static void begin_slice(struct hp_counting *counting, uint64_t now_ns)
{
	const struct hp_counting_options *options = &counting->options;
	uint64_t shortest_ns = (uint64_t)(SHORTEST_ROTATIONS * counting->rotation_mean_ns);
	const struct hp_mux_ramp ramp = {
		.group_count = most_groups(counting),
		.shortest_ns = shortest_ns > SHORTEST_SLICE_NS ? shortest_ns : SHORTEST_SLICE_NS,
		.full_ns = full_length_ns(counting, now_ns),
	};
	uint64_t ran = ran_ns(counting, now_ns);
	uint64_t length_ns = options->slice_ns ? ramp.full_ns : hp_mux_ramp_slice_ns(&ramp, ran);

	if (options->slice_units)
		length_ns = pace_patience_ns;
	counting->is_ramping = length_ns < ramp.full_ns;
	pace_begin(&counting->pace, now_ns, ran, length_ns);
}

/* Whether the slice, which is due by wall time, is over. Reading how long the target ran interrupts
 * it, so that is done only if it matters, or if the target has hardly run recently. */
static bool is_slice_over(struct hp_counting *counting, uint64_t now_ns)
{
	const struct rotation *timed = timed_by_target(counting);
	uint64_t before_ns = hp_clock_thread_ns();
	bool over;

	if (!timed || counting->options.slice_units ||
	    (!counting->is_ramping && timed->rate > mostly_runs))
		return true;
	over = pace_is_over(&counting->pace, now_ns, rotation_clock_ns(timed->clock));
	counting->rotation_ns += hp_clock_thread_ns() - before_ns;
	return over;
}

/* Ends the current slices and begins the next ones. Rotation sets that do not take turns are left
 * alone. */
static void turn(struct hp_counting *counting)
{
	/* Our CPU time, including waiting for the target's CPUs to answer, but not waiting for a
	 * CPU of our own, which costs the target nothing. */
	uint64_t before_ns = hp_clock_thread_ns();
	uint64_t after_ns;
	uint64_t took_ns;

	if (counting->agents) {
		took_ns = agents_turn(counting->agents);
	} else {
		for (size_t i = 0; i < counting->rotation_count; i++)
			if (rotation_turns(&counting->rotations[i]))
				rotation_turn(&counting->rotations[i]);
		took_ns = hp_clock_thread_ns() - before_ns;
	}
	after_ns = hp_clock_monotonic_ns();
	counting->rotations_done++;
	counting->rotation_ns += took_ns;
	counting->rotation_mean_ns =
		counting->rotations_done == 1
			? (double)took_ns
			: counting->rotation_mean_ns +
				  ((double)took_ns - counting->rotation_mean_ns) /
					  HP_MUX_COSTS_AVERAGED;
	begin_slice(counting, after_ns);
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Where cores differ, a task's events of one kind are also enabled on cores of the other kind,
 * where they do not run, so its time does not measure theirs. */
static const struct counters *clock_of(const struct hp_counting *counting, size_t rotation_set)
{
	if (!counting->clock.place_count ||
	    counting->options.rotation_sets->at[rotation_set].cpus ||
	    !rotation_turns(&counting->rotations[rotation_set]))
		return NULL;
	return &counting->clock;
}

static struct hp_error *begin(struct hp_counting *counting, bool switch_on)
{
	struct hp_error *error = NULL;
	/* events enabled by exec count from then on */
	uint64_t now_ns = switch_on ? hp_clock_monotonic_ns() : counting->command.start_ns;

	counting->start_ns = counting->interval_begin_ns = now_ns;
	hp_cpu_meter_begin(&counting->meter);
	for (size_t i = 0; !error && i < counting->rotation_count; i++)
		error = rotation_begin(&counting->rotations[i], now_ns, clock_of(counting, i),
				       counting->options.interval_ns > 0, switch_on);
	if (switch_on && counting->clock.place_count)
		counters_switch(&counting->clock, 0, 0, counting->clock.place_count, true);
	if (switch_on && counting->truth.place_count)
		counters_switch(&counting->truth, 0, 0, counting->truth.place_count, true);
	counting->pace.due_ns = UINT64_MAX;
	if (counting_turns(counting))
		begin_slice(counting, hp_clock_monotonic_ns());
	return error;
}

static uint64_t next_interval_ns(const struct hp_counting *counting)
{
	if (!counting->options.interval_ns)
		return UINT64_MAX;
	/* Relative to the start, since times relative to the last interval's end would drift. */
	return counting->start_ns + (counting->interval_number + 1) * counting->options.interval_ns;
}

static struct hp_error *end_interval(struct hp_counting *counting)
{
	uint64_t now_ns;
	struct hp_error *error;

	/* The interval ends with a slice. Rotation sets that do not take turns are only read. */
	if (counting_turns(counting))
		turn(counting);
	for (size_t i = 0; i < counting->rotation_count; i++)
		if (!rotation_turns(&counting->rotations[i]))
			rotation_look(&counting->rotations[i]);
	hp_cpu_meter_look(&counting->meter);
	now_ns = hp_clock_monotonic_ns();
	error = counting_report_interval(counting, now_ns);
	/* Slices that passed while hpcprof was stopped count as one. */
	do {
		counting->interval_number++;
	} while (next_interval_ns(counting) <= now_ns);
	return error;
}

static void drain_overflows(const struct hp_counting *counting)
{
	char infos[16 * 128];

	while (read(counting->overflow_fd, infos, sizeof(infos)) > 0)
		;
}

static struct timespec until(uint64_t due_ns, uint64_t now_ns)
{
	uint64_t left_ns = due_ns > now_ns ? due_ns - now_ns : 0;
	/* Long enough, and within time_t everywhere. */
	const uint64_t day_ns = UINT64_C(86400000000000);

	if (left_ns > day_ns)
		left_ns = day_ns;
	return (struct timespec){ .tv_sec = (time_t)(left_ns / 1000000000),
				  .tv_nsec = (long)(left_ns % 1000000000) };
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Waits until the delay or the target has ended. */
static void wait_for_the_delay(struct hp_counting *counting, struct pollfd *polls)
{
	uint64_t due_ns = hp_clock_monotonic_ns() + counting->options.delay_ns;

	while (!counting->watch.stop) {
		uint64_t now_ns = hp_clock_monotonic_ns();
		struct timespec left = until(due_ns, now_ns);

		if (now_ns >= due_ns)
			return;
		hp_watch_fill(&counting->watch, polls);
		ppoll(polls, (nfds_t)hp_watch_poll_count(&counting->watch), &left, NULL);
		hp_watch_look(&counting->watch, polls);
	}
}

static struct hp_error *run(struct hp_counting *counting, struct pollfd *polls)
{
	size_t watched = hp_watch_poll_count(&counting->watch);
	uint64_t end_ns = counting->options.duration_ns
				  ? counting->start_ns + counting->options.duration_ns
				  : UINT64_MAX;
	struct hp_error *error = NULL;

	while (!counting->watch.stop && !error) {
		uint64_t now_ns = hp_clock_monotonic_ns();
		uint64_t interval_ns = next_interval_ns(counting);
		struct timespec left =
			until(least(counting->pace.due_ns, least(interval_ns, end_ns)), now_ns);
		bool overflow;

		hp_watch_fill(&counting->watch, polls);
		polls[watched] = (struct pollfd){ .fd = counting->overflow_fd, .events = POLLIN };
		ppoll(polls, (nfds_t)watched + 1, &left, NULL);
		hp_watch_look(&counting->watch, polls);
		overflow = polls[watched].revents & POLLIN;
		if (overflow)
			drain_overflows(counting);
		now_ns = hp_clock_monotonic_ns();
		if (counting->watch.stop || now_ns >= end_ns)
			break;
		if (now_ns >= interval_ns)
			error = end_interval(counting);
		else if ((now_ns >= counting->pace.due_ns && is_slice_over(counting, now_ns)) ||
			 (overflow && counting_turns(counting)))
			turn(counting);
	}
	return error;
}

struct hp_error *counting_turn_until_the_end(struct hp_counting *counting)
{
	bool with_exec = hp_counting_counts_command(&counting->options) &&
			 !counting->options.delay_ns;
	struct pollfd *polls = calloc(hp_watch_poll_count(&counting->watch) + 1, sizeof(*polls));
	struct hp_error *error = NULL;

	if (!polls)
		return hp_error_create_no_memory();
	if (counting->options.delay_ns)
		wait_for_the_delay(counting, polls);
	error = begin(counting, !with_exec);
	if (!error)
		error = run(counting, polls);
	for (size_t i = 0; i < counting->rotation_count && !error; i++)
		rotation_end(&counting->rotations[i]);
	hp_cpu_meter_look(&counting->meter);
	counting->end_ns = hp_clock_monotonic_ns();
	/* The command's end is known more precisely than the time at which it was noticed. */
	if (counting->command.ended &&
	    counting->command.start_ns + counting->command.run.elapsed_ns > counting->start_ns)
		counting->end_ns = counting->command.start_ns + counting->command.run.elapsed_ns;
	free(polls);
	return error;
}
