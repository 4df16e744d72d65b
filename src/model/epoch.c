/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/model/epoch.h>
#include "tuning.h"

#include <hpcprof/base/cleanup.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void free_texts(char **texts)
{
	for (size_t i = 0; texts && texts[i]; i++)
		free(texts[i]);
	free(texts);
}

void hp_epoch_meta_clear(struct hp_epoch_meta *meta)
{
	free(meta->version);
	free(meta->label);
	free(meta->host);
	free(meta->cpu_model);
	hp_cpu_clear(&meta->cpu);
	hp_clock_clear(&meta->clock);
	free(meta->architecture);
	free(meta->kernel);
	free_texts(meta->command_line);
	free(meta->target);
	for (size_t i = 0; i < meta->event_count; i++)
		hp_event_info_clear(&meta->events[i].info);
	free(meta->events);
	for (size_t i = 0; i < meta->command_count; i++)
		free(meta->commands[i].command);
	free(meta->commands);
	free(meta->runs);
	free_texts(meta->warnings);
	*meta = (struct hp_epoch_meta){ 0 };
}

double hp_event_units_for_one(const struct hp_event_totals *totals)
{
	if (!totals->running_ns || totals->running_ns >= totals->enabled_ns)
		return 1;
	return (double)totals->enabled_ns / (double)totals->running_ns;
}

double hp_epoch_sampling_share(const struct hp_epoch_meta *meta)
{
	double cost_ns = (double)meta->sample_cost_ns;
	double share = 0;

	for (size_t i = 0; i < meta->event_count; i++) {
		const struct hp_event_totals *totals = &meta->events[i];

		if (totals->info.unit == HP_UNIT_NS && totals->period_total)
			share += cost_ns * (double)totals->samples / (double)totals->period_total;
	}
	return fmin(share, most_sampling_share);
}

double hp_epoch_cycles_per_unit(const struct hp_epoch_meta *meta, enum hp_unit unit)
{
	double hz = hp_clock_percentile(&meta->clock, 50);

	if (unit == HP_UNIT_CYCLES)
		return 1;
	return unit == HP_UNIT_NS ? hz / 1e9 * (1 - hp_epoch_sampling_share(meta)) : 0;
}

void hp_epoch_cpu_times(const struct hp_epoch_meta *meta, double *cpu_ns, double *system_ns)
{
	*cpu_ns = (double)meta->target_cpu_ns;
	*system_ns = (double)meta->target_system_ns;
	if (meta->target_system_ns || !meta->run_count)
		return;
	*cpu_ns = 0;
	for (size_t i = 0; i < meta->run_count; i++) {
		*cpu_ns += (double)meta->runs[i].user_ns + (double)meta->runs[i].system_ns;
		*system_ns += (double)meta->runs[i].system_ns;
	}
}

uint64_t hp_epoch_processes(const struct hp_epoch_meta *meta)
{
	uint64_t processes = 0;

	for (size_t i = 0; i < meta->command_count; i++)
		if (__builtin_add_overflow(processes, meta->commands[i].processes, &processes))
			return UINT64_MAX;
	return processes;
}

bool hp_system_time_is_least(double cpu_ns, uint64_t processes)
{
	return processes && cpu_ns < short_process_ns * (double)processes;
}

void hp_user_only_say(double cpu_ns, double system_ns, uint64_t processes,
		      char text[HP_USER_ONLY_BYTES])
{
	bool is_least = hp_system_time_is_least(cpu_ns, processes);
	double percent = 100 * system_ns / cpu_ns;

	/* A lower limit that is printed as 0.0 tells nothing. */
	if (cpu_ns > 0 && !(is_least && percent < 0.05))
		snprintf(text, HP_USER_ONLY_BYTES,
			 "user mode only: %s%.1f %% of the CPU time (system) is not in here",
			 is_least ? "at least " : "", percent);
	else
		snprintf(text, HP_USER_ONLY_BYTES,
			 "user mode only: CPU time in the kernel (system) is not in here");
}

static bool add_u64(uint64_t *into, uint64_t from)
{
	return !__builtin_add_overflow(*into, from, into);
}

static struct hp_error *overflowed(void)
{
	return hp_error_create(HP_ERROR_DAMAGED, "the totals add up to more than 64 bits");
}

/* --- events ------------------------------------------------------------------------------- */

static struct hp_event_totals *find_event(struct hp_epoch_meta *meta, const char *name)
{
	for (size_t i = 0; i < meta->event_count; i++) {
		if (strcmp(meta->events[i].info.name, name) == 0)
			return &meta->events[i];
	}
	return NULL;
}

static struct hp_error *append_event(struct hp_epoch_meta *into, const struct hp_event_totals *from)
{
	struct hp_event_totals *grown =
		reallocarray(into->events, into->event_count + 1, sizeof(*grown));
	struct hp_event_info info;
	struct hp_error *error;

	if (!grown)
		return hp_error_create_no_memory();
	into->events = grown;
	error = hp_event_info_copy(&from->info, &info);
	if (error)
		return error;
	grown[into->event_count] = *from;
	grown[into->event_count++].info = info;
	return NULL;
}

static bool is_default(const char *source)
{
	return !source || strcmp(source, "default") == 0;
}

/*
 * The skid of a sum, independent of the order: two different skids leave the default; otherwise a
 * default prevails over calibrations, and the older calibration over the newer.
 */
static bool join_skids(struct hp_event_info *into, const struct hp_event_info *from)
{
	const char *source = into->skid_source;

	if (into->skid_instructions != from->skid_instructions) {
		into->skid_instructions = hp_skid_default(into->precision);
		source = "default";
	} else if (is_default(source) || is_default(from->skid_source)) {
		source = "default";
	} else if (strcmp(from->skid_source, source) < 0) {
		source = from->skid_source;
	}
	if (source == into->skid_source)
		return true;
	free(into->skid_source);
	into->skid_source = strdup(source);
	return into->skid_source;
}

static struct hp_error *add_event(struct hp_epoch_meta *into, const struct hp_event_totals *from)
{
	struct hp_event_totals *event = find_event(into, from->info.name);

	if (!event)
		return append_event(into, from);
	if (event->info.unit != from->info.unit)
		return hp_error_create(HP_ERROR_USAGE,
				       "event %s counts %s in one epoch and %s in the other",
				       from->info.name, hp_unit_name(event->info.unit),
				       hp_unit_name(from->info.unit));
	if (!join_skids(&event->info, &from->info))
		return hp_error_create_no_memory();
	/* Two different rates are no single rate; strata of the profiles keep them apart. */
	if (!(event->frequency_hz <= from->frequency_hz &&
	      event->frequency_hz >= from->frequency_hz))
		event->frequency_hz = 0;
	if (!add_u64(&event->samples, from->samples) ||
	    !add_u64(&event->period_total, from->period_total) ||
	    !add_u64(&event->lost, from->lost) || !add_u64(&event->throttled, from->throttled) ||
	    !add_u64(&event->unattributed, from->unattributed) ||
	    !add_u64(&event->enabled_ns, from->enabled_ns) ||
	    !add_u64(&event->running_ns, from->running_ns))
		return overflowed();
	return NULL;
}

static struct hp_error *add_events(struct hp_epoch_meta *into, const struct hp_epoch_meta *from)
{
	for (size_t i = 0; i < from->event_count; i++) {
		struct hp_error *error = add_event(into, &from->events[i]);

		if (error)
			return error;
	}
	return NULL;
}

/* --- commands ----------------------------------------------------------------------------- */

static struct hp_error *insert_command(struct hp_epoch_meta *into, size_t at,
				       const struct hp_command_times *from)
{
	struct hp_command_times *grown =
		reallocarray(into->commands, into->command_count + 1, sizeof(*grown));
	char *command = strdup(from->command);

	if (grown)
		into->commands = grown;
	if (!grown || !command) {
		free(command);
		return hp_error_create_no_memory();
	}
	memmove(grown + at + 1, grown + at, (into->command_count - at) * sizeof(*grown));
	grown[at] = *from;
	grown[at].command = command;
	into->command_count++;
	return NULL;
}

/* Both lists are sorted, so they are merged in one pass. */
static struct hp_error *add_commands(struct hp_epoch_meta *into, const struct hp_epoch_meta *from)
{
	for (size_t i = 0, at = 0; i < from->command_count; i++) {
		const struct hp_command_times *command = &from->commands[i];
		struct hp_error *error;

		while (at < into->command_count &&
		       strcmp(into->commands[at].command, command->command) < 0)
			at++;
		if (at < into->command_count &&
		    strcmp(into->commands[at].command, command->command) == 0) {
			if (!add_u64(&into->commands[at].processes, command->processes) ||
			    !add_u64(&into->commands[at].samples, command->samples) ||
			    !add_u64(&into->commands[at].elapsed_ns, command->elapsed_ns))
				return overflowed();
			continue;
		}
		error = insert_command(into, at, command);
		if (error)
			return error;
	}
	return NULL;
}

/* --- runs and warnings -------------------------------------------------------------------- */

static int compare_runs(const void *left, const void *right)
{
	const struct hp_run *a = left;
	const struct hp_run *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->elapsed_ns > b->elapsed_ns) - (a->elapsed_ns < b->elapsed_ns);
}

static struct hp_error *add_runs(struct hp_epoch_meta *into, const struct hp_epoch_meta *from)
{
	struct hp_run *grown;

	if (!from->run_count)
		return NULL;
	grown = reallocarray(into->runs, into->run_count + from->run_count, sizeof(*grown));
	if (!grown)
		return hp_error_create_no_memory();
	memcpy(grown + into->run_count, from->runs, from->run_count * sizeof(*grown));
	into->runs = grown;
	into->run_count += from->run_count;
	qsort(into->runs, into->run_count, sizeof(*into->runs), compare_runs);
	return NULL;
}

static bool contains(char *const *texts, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(texts[i], text) == 0)
			return true;
	}
	return false;
}

struct hp_error *hp_epoch_meta_warn(struct hp_epoch_meta *meta, const char *text)
{
	size_t count = 0;
	char **grown;

	while (meta->warnings && meta->warnings[count])
		count++;
	if (contains(meta->warnings, count, text))
		return NULL;
	grown = reallocarray(meta->warnings, count + 2, sizeof(*grown));
	if (!grown)
		return hp_error_create_no_memory();
	meta->warnings = grown;
	grown[count] = strdup(text);
	if (!grown[count])
		return hp_error_create_no_memory();
	grown[++count] = NULL;
	return NULL;
}

/* The sum has the warnings of each part. */
static struct hp_error *add_warnings(struct hp_epoch_meta *into, const struct hp_epoch_meta *from)
{
	struct hp_error *error = NULL;

	for (size_t i = 0; from->warnings && from->warnings[i] && !error; i++)
		error = hp_epoch_meta_warn(into, from->warnings[i]);
	return error;
}

static bool are_same(char *const *left, char *const *right)
{
	while (*left && *right && strcmp(*left, *right) == 0) {
		left++;
		right++;
	}
	return !*left && !*right;
}

static const char several_commands[] = "several commands";

static bool is_of_commands(const struct hp_epoch_meta *meta)
{
	return meta->command_line || strcmp(meta->target, several_commands) == 0;
}

static bool have_one_target(const struct hp_epoch_meta *left, const struct hp_epoch_meta *right)
{
	if (left->command_line && right->command_line)
		return are_same(left->command_line, right->command_line);
	return !left->command_line && !right->command_line &&
	       strcmp(left->target, right->target) == 0;
}

/* A sum of different targets is of neither. */
static struct hp_error *meet_targets(struct hp_epoch_meta *into, const struct hp_epoch_meta *from)
{
	bool are_commands;

	if (!into->target || !from->target || have_one_target(into, from))
		return NULL;
	are_commands = is_of_commands(into) && is_of_commands(from);
	free_texts(into->command_line);
	into->command_line = NULL;
	free(into->target);
	into->target = strdup(are_commands ? several_commands : "several targets");
	return into->target ? NULL : hp_error_create_no_memory();
}

/* --- the whole ---------------------------------------------------------------------------- */

static struct hp_error *add_figures(struct hp_epoch_meta *into, const struct hp_epoch_meta *from)
{
	if (from->start_ns && (!into->start_ns || from->start_ns < into->start_ns))
		into->start_ns = from->start_ns;
	if (from->end_ns > into->end_ns)
		into->end_ns = from->end_ns;
	into->per_process = into->per_process || from->per_process;
	into->per_thread = into->per_thread || from->per_thread;
	into->per_cpu = into->per_cpu || from->per_cpu;
	hp_cpu_meet(&into->cpu, &from->cpu);
	if (!into->sample_cost_ns)
		into->sample_cost_ns = from->sample_cost_ns;
	if (!add_u64(&into->own_cpu_ns, from->own_cpu_ns) ||
	    !add_u64(&into->target_cpu_ns, from->target_cpu_ns) ||
	    !add_u64(&into->target_system_ns, from->target_system_ns) ||
	    !add_u64(&into->damaged_records, from->damaged_records))
		return overflowed();
	return NULL;
}

struct hp_error *hp_epoch_meta_add(struct hp_epoch_meta *into, const struct hp_epoch_meta *from)
{
	struct hp_error *error = add_events(into, from);

	if (!error)
		error = add_commands(into, from);
	if (!error)
		error = add_runs(into, from);
	if (!error)
		error = add_warnings(into, from);
	if (!error)
		error = meet_targets(into, from);
	if (!error)
		error = hp_clock_add(&into->clock, &from->clock);
	if (!error)
		error = add_figures(into, from);
	return error;
}
