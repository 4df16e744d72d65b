/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counting.h"

#include <hpcprof/base/cpu_list.h>
#include <hpcprof/pmu/open.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	/* exit codes as shells use them */
	EXIT_OWN_FAILURE = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* --- creating --------------------------------------------------------------------------------- */

/* Overflows arrive as SIGIO, which the descriptor of other signals does not include. */
static struct hp_error *take_overflows(struct hp_counting *counting)
{
	sigset_t mask;

	if (!counting->options.slice_units)
		return NULL;
	sigemptyset(&mask);
	sigaddset(&mask, SIGIO);
	sigprocmask(SIG_BLOCK, &mask, &counting->mask_before_overflow);
	counting->overflow_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return counting->overflow_fd < 0 ? hp_error_create_errno(errno, "watching for overflows")
					 : NULL;
}

static struct hp_error *find_threads(struct hp_counting *counting, pid_t **threads, size_t *count)
{
	const struct hp_counting_options *options = &counting->options;

	if (options->pid_count || options->tid_count)
		return hp_threads_of(options->pids, options->pid_count, options->tids,
				     options->tid_count, threads, count);
	*threads = malloc(sizeof(**threads));
	if (!*threads)
		return hp_error_create_no_memory();
	*count = 1;
	(*threads)[0] = options->system_wide ? -1 : counting->command.pid;
	return NULL;
}

static struct hp_error *find_places(struct hp_counting *counting)
{
	const struct hp_counting_options *options = &counting->options;
	int *cpus = NULL;
	size_t cpu_count = 0;
	pid_t *threads = NULL;
	size_t thread_count = 0;
	struct hp_error *error = NULL;
	bool by_cpu = options->system_wide || options->cpus;

	if (by_cpu)
		error = hp_cpu_list_parse(options->cpus, &cpus, &cpu_count);
	if (!error)
		error = find_threads(counting, &threads, &thread_count);
	if (!error) {
		size_t each = by_cpu ? cpu_count : 1;

		counting->places = calloc(thread_count * each + 1, sizeof(*counting->places));
		if (!counting->places)
			error = hp_error_create_no_memory();
		for (size_t i = 0; !error && i < thread_count * each; i++)
			counting->places[counting->place_count++] = (struct counter_place){
				.pid = threads[i / each],
				.cpu = by_cpu ? cpus[i % each] : -1,
			};
	}
	free(cpus);
	free(threads);
	return error;
}

/* The places that the rotation set's PMU has; malloc'ed. */
static struct hp_error *places_of_rotation_set(const struct hp_counting *counting,
					       const struct hp_rotation_set *rotation_set,
					       struct counter_place **places, size_t *count)
{
	int *cpus = NULL;
	size_t cpu_count = 0;
	struct hp_error *error = NULL;

	*count = 0;
	*places = calloc(counting->place_count + 1, sizeof(**places));
	if (!*places)
		return hp_error_create_no_memory();
	if (rotation_set->cpus)
		error = hp_cpu_list_parse(rotation_set->cpus, &cpus, &cpu_count);
	for (size_t i = 0; !error && i < counting->place_count; i++) {
		bool has = !rotation_set->cpus || counting->places[i].cpu < 0;

		for (size_t j = 0; !has && j < cpu_count; j++)
			has = cpus[j] == counting->places[i].cpu;
		if (has)
			(*places)[(*count)++] = counting->places[i];
	}
	free(cpus);
	return error;
}

static struct hp_error *open_rotation_set(struct hp_counting *counting, size_t number)
{
	const struct hp_counting_options *options = &counting->options;
	const struct hp_rotation_set *rotation_set = &options->rotation_sets->at[number];
	struct hp_mux_scheduler_options scheduler = {
		.policy = options->policy,
		.seed = options->seed + number,
	};
	struct counter_place *places = NULL;
	size_t count = 0;
	struct hp_error *error = places_of_rotation_set(counting, rotation_set, &places, &count);
	struct counter_options counters = {
		.events = options->events,
		.places = places,
		.place_count = count,
		.enable_on_exec = hp_counting_counts_command(options) && !options->delay_ns,
		.overflow_units = rotation_set->group_count > 1 ? options->slice_units : 0,
	};

	if (!error)
		error = rotation_open(&counting->rotations[number], rotation_set, &counters,
				      counting->machine, &scheduler);
	free(places);
	return error;
}

/* Opens each event that needs no counter but takes turns a second time, without turns. */
static struct hp_error *open_truth(struct hp_counting *counting)
{
	const struct hp_counting_options *options = &counting->options;
	const struct hp_rotation_sets *rotation_sets = options->rotation_sets;
	struct hp_rotation_set *truth = &counting->truth_rotation_set;
	struct counter_options counters = {
		.events = options->events,
		.places = counting->places,
		.place_count = counting->place_count,
		.enable_on_exec = hp_counting_counts_command(options) && !options->delay_ns,
	};
	size_t events = options->events->count;

	*truth = (struct hp_rotation_set){ .software = true,
					   .group_count = 1,
					   .reference_event = -1 };
	truth->groups = calloc(1, sizeof(*truth->groups));
	counting->truth_values = calloc(2 * events + 1, sizeof(*counting->truth_values));
	if (truth->groups)
		truth->groups[0].events = calloc(events + 1, sizeof(uint32_t));
	if (!truth->groups || !truth->groups[0].events || !counting->truth_values)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < rotation_sets->count; i++)
		for (uint32_t j = 0;
		     rotation_sets->at[i].software && j < rotation_sets->at[i].group_count; j++)
			for (uint32_t k = 0; k < rotation_sets->at[i].groups[j].count; k++)
				truth->groups[0].events[truth->groups[0].count++] =
					rotation_sets->at[i].groups[j].events[k];
	return counters_open(&counting->truth, truth, &counters, counting->machine);
}

/* For tasks with events that take turns, opens a clock of the target's time. */
static struct hp_error *open_clock(struct hp_counting *counting)
{
	static char name[] = "dummy";
	const struct hp_counting_options *options = &counting->options;
	struct counter_options counters = {
		.events = &counting->clock_list,
		.places = counting->places,
		.place_count = counting->place_count,
		.enable_on_exec = hp_counting_counts_command(options) && !options->delay_ns,
	};

	if (options->system_wide || !counting_turns(counting))
		return NULL;
	counting->clock_event = (struct hp_event){
		.name = name,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = true,
		.exclude_hypervisor = true,
		.group = -1,
	};
	counting->clock_list = (struct hp_event_list){ &counting->clock_event, 1 };
	counting->clock_group =
		(struct hp_counter_group){ .events = &counting->clock_index, .count = 1 };
	counting->clock_rotation_set = (struct hp_rotation_set){
		.software = true,
		.groups = &counting->clock_group,
		.group_count = 1,
		.reference_event = -1,
	};
	return counters_open(&counting->clock, &counting->clock_rotation_set, &counters,
			     counting->machine);
}

static struct hp_error *open_counters(struct hp_counting *counting)
{
	size_t rotation_sets = counting->options.rotation_sets->count;
	struct hp_error *error = NULL;
	bool any = false;

	counting->rotations = calloc(rotation_sets + 1, sizeof(*counting->rotations));
	if (!counting->rotations)
		return hp_error_create_no_memory();
	counting->rotation_count = rotation_sets;
	for (size_t i = 0; !error && i < rotation_sets; i++)
		error = open_rotation_set(counting, i);
	if (!error)
		error = open_clock(counting);
	if (!error && counting->options.truth)
		error = open_truth(counting);
	for (size_t i = 0; !error && i < rotation_sets; i++) {
		const struct counters *counters = &counting->rotations[i].counters;

		for (size_t j = 0; j < counters->place_count * counters->fds_each; j++)
			any |= counters->fds[j] >= 0;
	}
	if (!error && !any)
		error = hp_error_create(HP_ERROR_NOT_FOUND,
					"the target ended before it could be counted");
	if (!error && counting->options.system_wide && counting_turns(counting))
		error = agents_create(counting->rotations, rotation_sets, &counting->agents);
	return error;
}

struct hp_error *hp_counting_create(const struct hp_counting_options *options,
				    const struct hp_machine *machine, struct hp_counting **result)
{
	struct hp_counting *counting = calloc(1, sizeof(*counting));
	struct hp_error *error;

	if (!counting)
		return hp_error_create_no_memory();
	counting->options = *options;
	counting->machine = machine;
	counting->command.go_fd = counting->command.go_reader_fd = -1;
	counting->command.failure_fd = -1;
	counting->signals.fd = -1;
	counting->overflow_fd = -1;
	error = hp_signals_take(&counting->signals);
	counting->has_signals = !error;
	if (!error && options->command)
		error = hp_command_start(&counting->command, options->command, 0, 0,
					 &counting->signals);
	if (!error)
		error = find_places(counting);
	if (!error)
		error = take_overflows(counting);
	/* This changes only hpcprof: a command was forked before. */
	hp_raise_descriptor_limit();
	if (!error)
		error = open_counters(counting);
	if (!error)
		error = hp_watch_create(&counting->watch, &counting->command, &counting->signals,
					options->pids, options->pid_count, options->tids,
					options->tid_count);
	if (error) {
		hp_counting_destroy(counting);
		return error;
	}
	if (!hp_counting_counts_command(options))
		hp_cpu_meter_create(&counting->meter, options->system_wide, options->cpus,
				    options->pids, options->pid_count, options->tids,
				    options->tid_count);
	*result = counting;
	return NULL;
}

static void close_truth(struct hp_counting *counting)
{
	if (counting->truth.groups)
		counters_close(&counting->truth);
	if (counting->truth_rotation_set.groups)
		free(counting->truth_rotation_set.groups[0].events);
	free(counting->truth_rotation_set.groups);
	free(counting->truth_values);
	counting->truth_rotation_set.groups = NULL;
	counting->truth_values = NULL;
}

/* Closes everything, so that nothing slows the target any longer. */
static void let_go(struct hp_counting *counting)
{
	agents_destroy(counting->agents);
	counting->agents = NULL;
	for (size_t i = 0; i < counting->rotation_count; i++)
		rotation_let_go(&counting->rotations[i]);
	if (counting->clock.groups)
		counters_close(&counting->clock);
	close_truth(counting);
}

void hp_counting_destroy(struct hp_counting *counting)
{
	if (!counting)
		return;
	hp_watch_clear(&counting->watch);
	hp_cpu_meter_clear(&counting->meter);
	hp_command_abandon(&counting->command);
	let_go(counting);
	for (size_t i = 0; i < counting->rotation_count; i++)
		rotation_close(&counting->rotations[i]);
	if (counting->overflow_fd >= 0) {
		close(counting->overflow_fd);
		sigprocmask(SIG_SETMASK, &counting->mask_before_overflow, NULL);
	}
	if (counting->has_signals)
		hp_signals_restore(&counting->signals);
	free(counting->rotations);
	free(counting->places);
	free(counting);
}

/* --- running ---------------------------------------------------------------------------------- */

/* The CPU time of the target, in all and in the kernel. */
static void fill_times(const struct hp_counting *counting, struct hp_counting_result *result)
{
	struct hp_cpu_times times = hp_cpu_meter_times(&counting->meter);

	if (counting->command.ended && hp_counting_counts_command(&counting->options)) {
		result->user_ns = times.user_ns = counting->command.run.user_ns;
		result->system_ns = times.system_ns = counting->command.run.system_ns;
	}
	result->target_cpu_ns = times.user_ns + times.system_ns;
	result->target_system_ns = times.system_ns;
}

static void fill_result(const struct hp_counting *counting, struct hp_counting_result *result)
{
	uint64_t elapsed_ns = counting->end_ns - counting->start_ns;
	uint64_t slice_ns = 0;

	result->elapsed_ns = elapsed_ns;
	fill_times(counting, result);
	for (size_t i = 0; i < counting->rotation_count; i++) {
		const struct rotation *rotation = &counting->rotations[i];

		if (!rotation_turns(rotation) || rotation->slices <= result->slices)
			continue;
		result->slices = rotation->slices;
		slice_ns = rotation->slice_ns;
	}
	if (result->slices)
		result->slice_mean_ns = (double)slice_ns / (double)result->slices;
	if (counting->rotations_done)
		result->rotation_ns =
			(double)counting->rotation_ns / (double)counting->rotations_done;
	if (elapsed_ns)
		result->rotation_percent = 100 * (double)counting->rotation_ns / (double)elapsed_ns;
}

struct hp_error *hp_counting_run(struct hp_counting *counting, struct hp_counting_result *result)
{
	const struct hp_counting_options *options = &counting->options;
	struct hp_error *error = NULL;

	*result = (struct hp_counting_result){
		.had_command = counting->command.pid,
		.exit_status = EXIT_OWN_FAILURE,
	};
	if (options->command)
		error = hp_command_release(&counting->command, options->command[0]);
	if (error) {
		result->exit_status = error->class == HP_ERROR_NOT_FOUND ? EXIT_NOT_FOUND
									 : EXIT_NOT_EXECUTABLE;
		return error;
	}
	error = counting_turn_until_the_end(counting);
	/* the rest of the last interval */
	if (!error && options->interval_ns && counting->end_ns > counting->interval_begin_ns)
		error = counting_report_interval(counting, counting->end_ns);
	if (!error) {
		fill_result(counting, result);
		error = counting_report_whole(counting, result);
	}
	let_go(counting);
	if (counting->watch.pidfd_count && !counting->watch.live && !counting->command.ended &&
	    counting->command.pid && options->notify)
		options->notify("the counted processes have ended; waiting for the command",
				options->context);
	hp_watch_wait_for_command(&counting->watch);
	if (!error)
		result->exit_status = counting->command.ended ? counting->command.run.exit_status
							      : 128 + SIGINT;
	return error;
}
