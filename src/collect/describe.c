/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an epoch's meta says of a recording. */
#include "config.h"
#include "recorder.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

uint64_t recorder_own_cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

/* A NULL-terminated copy of `count` strings. */
static char **copy_strings(char *const *strings, size_t count)
{
	char **copy = calloc(count + 1, sizeof(*copy));

	if (!copy)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		copy[i] = strdup(strings[i]);
		if (copy[i])
			continue;
		while (i-- > 0)
			free(copy[i]);
		free(copy);
		return NULL;
	}
	return copy;
}

static char *format_ids(const char *what, const pid_t *ids, size_t count)
{
	_cleanup_free_ char *text = strdup(what);

	for (size_t i = 0; text && i < count; i++) {
		char *longer;

		if (asprintf(&longer, "%s%c%d", text, i ? ',' : ' ', (int)ids[i]) < 0)
			return NULL;
		free(text);
		text = longer;
	}
	return hp_steal(text);
}

/* Turns "pid 12" into "pid 12, while sleep 10 ran". */
static char *add_timing_command(char *target, char *const *command)
{
	_cleanup_free_ char *words = hp_text_join(command, " ");
	char *text;

	if (!target || !words || asprintf(&text, "%s, while %s ran", target, words) < 0)
		text = NULL;
	free(target);
	return text;
}

static char *format_target(const struct hp_session_options *options)
{
	char *target;

	if (options->imported)
		return strdup("imported");
	if (hp_session_records_command(options))
		return strdup("command");
	if (options->system_wide)
		target = strdup("system");
	else if (options->pid_count)
		target = format_ids("pid", options->pids, options->pid_count);
	else
		target = format_ids("tid", options->tids, options->tid_count);
	return options->command ? add_timing_command(target, options->command) : target;
}

/* Sets texts of the place and the machine. False: out of memory. */
static bool describe_place(const struct recorder *recorder, struct hp_epoch_meta *meta)
{
	const struct hp_session_options *options = recorder->options;
	const struct hp_machine *machine = recorder->machine;
	size_t arguments = 0;

	meta->version = strdup(PACKAGE_VERSION);
	meta->host = strdup(machine->host);
	meta->cpu_model = strdup(machine->cpu_model);
	meta->architecture = strdup(machine->architecture);
	meta->kernel = strdup(machine->kernel);
	meta->target = format_target(options);
	meta->label = options->label ? strdup(options->label) : NULL;
	meta->warnings = copy_strings(recorder->warnings, recorder->warning_count);
	if (hp_session_records_command(options)) {
		while (options->command[arguments])
			arguments++;
		meta->command_line = copy_strings(options->command, arguments);
	}
	return meta->version && meta->host && meta->cpu_model && meta->architecture &&
	       meta->kernel && meta->target && meta->warnings && (!options->label || meta->label) &&
	       (!hp_session_records_command(options) || meta->command_line);
}

static bool describe_skid(const struct recorder *recorder, const struct hp_event *event,
			  struct hp_event_info *info)
{
	const struct hp_skid_entry *calibrated =
		hp_skid_find(&recorder->skids, &recorder->machine->cpu, event);
	char *source;

	if (!calibrated)
		return true;
	if (asprintf(&source, "calibrated %s", calibrated->date) < 0)
		return false;
	free(info->skid_source);
	info->skid_source = source;
	info->skid_instructions = calibrated->instructions;
	return true;
}

static struct hp_error *describe_events(const struct recorder *recorder, struct hp_epoch_meta *meta)
{
	meta->events = calloc(recorder->event_count, sizeof(*meta->events));
	if (!meta->events)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < recorder->event_count; i++) {
		const struct recorder_event *totals = &recorder->totals[i];
		uint64_t dropped = recorder->attributor.dropped[i];
		struct hp_event_totals *event = &meta->events[i];
		struct hp_error *error = hp_event_describe(&recorder->events[i], &event->info);

		if (error)
			return error;
		meta->event_count++;
		if (!describe_skid(recorder, &recorder->events[i], &event->info))
			return hp_error_create_no_memory();
		event->frequency_hz = recorder->rates[i].frequency_hz;
		/* Samples dropped for lack of memory count as lost, like those that the kernel
		 * dropped. */
		event->samples = totals->samples - dropped;
		event->lost = totals->lost + dropped;
		event->period_total = totals->period_total;
		event->throttled = totals->throttled;
		event->enabled_ns = totals->enabled_ns;
		event->running_ns = totals->running_ns;
		event->unattributed = recorder->attributor.unattributed[i];
	}
	return NULL;
}

static int compare_commands(const void *left, const void *right)
{
	return strcmp(((const struct hp_command_times *)left)->command,
		      ((const struct hp_command_times *)right)->command);
}

static bool describe_commands(const struct recorder *recorder, struct hp_epoch_meta *meta)
{
	const struct names *names = &recorder->processes.commands;
	uint64_t now_ns = recorder->last_ns ? recorder->last_ns : hp_clock_monotonic_ns();

	meta->commands = calloc(names->count, sizeof(*meta->commands));
	if (!meta->commands)
		return false;
	for (uint32_t i = 0; i < names->count; i++) {
		struct command_times times = processes_times(&recorder->processes, i, now_ns);

		if (!times.processes)
			continue;
		meta->commands[meta->command_count] = (struct hp_command_times){
			.command = strdup(names->text[i]),
			.processes = times.processes,
			.samples = times.samples,
			.elapsed_ns = times.elapsed_ns,
		};
		if (!meta->commands[meta->command_count++].command)
			return false;
	}
	qsort(meta->commands, meta->command_count, sizeof(*meta->commands), compare_commands);
	return true;
}

static bool describe_run(const struct recorder *recorder, struct hp_epoch_meta *meta)
{
	if (!recorder->run) {
		meta->target_cpu_ns = recorder->target.user_ns + recorder->target.system_ns;
		meta->target_system_ns = recorder->target.system_ns;
		return true;
	}
	meta->runs = malloc(sizeof(*meta->runs));
	if (!meta->runs)
		return false;
	meta->runs[0] = *recorder->run;
	meta->run_count = 1;
	meta->target_cpu_ns = recorder->run->user_ns + recorder->run->system_ns;
	meta->target_system_ns = recorder->run->system_ns;
	return true;
}

struct hp_error *recorder_describe(const struct recorder *recorder, bool complete,
				   struct hp_epoch_meta *meta)
{
	const struct hp_epoch_meta *previous =
		recorder->writer ? hp_epoch_writer_previous(recorder->writer) : NULL;
	struct hp_error *error;

	*meta = (struct hp_epoch_meta){
		.complete = complete,
		.cpus = recorder->machine->cpus,
		.start_ns = recorder->start_ns,
		.end_ns = recorder->end_ns ? recorder->end_ns : hp_clock_realtime_ns(),
		.per_process = recorder->attributor.per_process,
		.per_thread = recorder->options->per_thread,
		.per_cpu = recorder->options->per_cpu,
		.sample_cost_ns = (uint64_t)recorder->cost.sample_ns,
		.own_cpu_ns = recorder_own_cpu_ns(),
		.damaged_records = recorder->sampler->rings.damaged,
	};
	error = describe_events(recorder, meta);
	if (!error)
		error = hp_cpu_copy(&recorder->machine->cpu, &meta->cpu);
	if (!error)
		error = hp_clock_add(&meta->clock, &recorder->clock);
	if (!error && (!describe_place(recorder, meta) || !describe_commands(recorder, meta) ||
		       !describe_run(recorder, meta)))
		error = hp_error_create_no_memory();
	if (!error && previous)
		error = hp_epoch_meta_add(meta, previous);
	if (error)
		hp_epoch_meta_clear(meta);
	return error;
}
