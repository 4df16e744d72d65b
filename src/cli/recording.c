/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording.h"

#include "command.h"
#include "progress.h"
#include "record_stalls.h"

#include <hpcprof/pmu/breakpoints.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- what people see ---------------------------------------------------------------------- */

static void say(const char *message, void *context)
{
	(void)context;
	progress_hide();
	fprintf(hp_cli_messages(), "hpcprof: %s\n", message);
}

void recording_print_substitutes(const struct recording *recording)
{
	for (size_t i = 0; i < recording->events.count; i++) {
		const struct hp_event *event = &recording->events.events[i];

		if (event->instead_of)
			fprintf(hp_cli_messages(),
				"hpcprof: %s instead of %s: %s; see hpcprof doctor\n", event->name,
				event->instead_of, event->reason);
	}
}

static void print_progress(uint64_t elapsed_ns, uint64_t samples, void *context)
{
	const struct recording *recording = context;
	const struct hp_event_list *events = &recording->events;
	uint64_t seconds = elapsed_ns / 1000000000;

	/* The command may write to this terminal at any time. */
	(recording->session.command ? progress_show_below : progress_show)(
		"hpcprof: %" PRIu64 ":%02" PRIu64 ", %" PRIu64 " sample%s of %s%s", seconds / 60,
		seconds % 60, samples, samples == 1 ? "" : "s", events->events[0].name,
		events->count > 1 ? " and others" : "");
}

static void print_banner(const struct recording *recording, const struct hp_session *session)
{
	const struct hp_epoch_meta *meta = hp_session_meta(session);

	recording_print_substitutes(recording);
	fputs("hpcprof: sampling", hp_cli_messages());
	for (size_t i = 0; i < meta->event_count; i++) {
		const struct hp_event_totals *event = &meta->events[i];

		fprintf(hp_cli_messages(), "%s %s", i ? "," : "", event->info.name);
		if (event->frequency_hz > 0)
			fprintf(hp_cli_messages(), " at %.0f Hz per CPU", event->frequency_hz);
	}
	fprintf(hp_cli_messages(), "%s into %s/%s\n",
		recording->machine->user_only ? " (user mode only)" : "",
		hp_db_path(recording->session.db), hp_session_stamp(session));
}

static void print_bytes(uint64_t bytes)
{
	if (bytes < 10240)
		fprintf(hp_cli_messages(), "%" PRIu64 " B", bytes);
	else if (bytes < 10 << 20)
		fprintf(hp_cli_messages(), "%.1f KiB", (double)bytes / 1024);
	else
		fprintf(hp_cli_messages(), "%.1f MiB", (double)bytes / (1 << 20));
}

/* Prints what a profile of user mode does not show. */
static void print_left_out(const struct hp_epoch_meta *meta)
{
	char text[HP_USER_ONLY_BYTES];
	double cpu_ns;
	double system_ns;

	for (size_t i = 0; i < meta->event_count; i++) {
		const struct hp_event_info *info = &meta->events[i].info;

		if (info->unit == HP_UNIT_EVENTS)
			continue;
		if (hp_event_modes(info->name).has_kernel)
			return;
		hp_epoch_cpu_times(meta, &cpu_ns, &system_ns);
		hp_user_only_say(cpu_ns, system_ns, hp_epoch_processes(meta), text);
		fprintf(hp_cli_messages(), "hpcprof: %s\n", text);
		return;
	}
}

/* Prints the same number of hits as the report. */
static void print_probes(const struct hp_session_result *result)
{
	uint64_t left_out = result->probe_hits - result->probe_kept;

	fprintf(hp_cli_messages(),
		"hpcprof: probes: %" PRIu64 " hit%s counted in %" PRIu64
		" moment%s, %.2f %% of the target's time",
		result->probe_kept, result->probe_kept == 1 ? "" : "s", result->probe_moments,
		result->probe_moments == 1 ? "" : "s", result->probe_cost_percent);
	if (left_out)
		fprintf(hp_cli_messages(),
			"; left out: %" PRIu64 " hit%s of code that runs too often or in bursts",
			left_out, left_out == 1 ? "" : "s");
	fputc('\n', hp_cli_messages());
}

/* "hpcprof: 4012 samples (0 lost, 3 unattributed) in 7 images, epoch …, 12.1 KiB, …" */
static void print_totals(const struct recording *recording, const struct hp_session *session,
			 const struct hp_session_result *result)
{
	const struct hp_epoch_meta *meta = hp_session_meta(session);

	fprintf(hp_cli_messages(),
		"hpcprof: %" PRIu64 " sample%s (%" PRIu64 " lost, %" PRIu64 " unattributed%s) in "
		"%zu image%s, %s %s, ",
		result->samples, result->samples == 1 ? "" : "s", result->lost,
		result->unattributed, result->throttled ? ", throttled" : "", result->images,
		result->images == 1 ? "" : "s",
		recording->session.append ? "added to epoch" : "epoch", hp_session_stamp(session));
	print_bytes(result->database_bytes);
	fputs("; overhead: ", hp_cli_messages());
	if (result->target_cost_percent >= 0)
		fprintf(hp_cli_messages(), "target %.2f %% (%.1f us per sample), ",
			result->target_cost_percent, (double)meta->sample_cost_ns / 1000);
	fprintf(hp_cli_messages(), "hpcprof %.0f ms of CPU (%.1f %%)\n",
		(double)result->own_cpu_ns / 1e6, result->own_cpu_percent);
}

static void print_why_none(const struct hp_event_list *events,
			   const struct hp_session_result *result)
{
	const char *name = events->count == 1 ? events->events[0].name : "these events";
	bool has_time = false;

	for (size_t i = 0; i < events->count; i++)
		has_time |= events->events[i].unit != HP_UNIT_EVENTS;
	if (has_time)
		fputs("hpcprof: no samples: the target used too little CPU time in this mode; try "
		      "a longer run or a higher -F\n",
		      hp_cli_messages());
	else if (result->least_period == 1)
		fprintf(hp_cli_messages(), "hpcprof: no samples: %s never happened in the target\n",
			name);
	else
		fprintf(hp_cli_messages(),
			"hpcprof: no samples: %s happened fewer than %" PRIu64
			" times, which is the sampling period; try a longer run or a smaller -c\n",
			name, result->least_period);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_paths(const struct hp_session_result *result)
{
	uint64_t samples = result->path_samples;

	fprintf(hp_cli_messages(),
		"hpcprof: call paths: %.1f frames per sample; %.1f %% of samples reach the root "
		"(%.1f %% joined to an earlier path), %.1f %% end with the copied stack; %.1f %% "
		"of frames are guesses",
		(double)result->path_frames / (double)samples, percent(result->path_whole, samples),
		percent(result->path_joined, samples), percent(result->path_truncated, samples),
		percent(result->path_guesses, result->path_frames));
	if (result->path_stack_bytes)
		fprintf(hp_cli_messages(), "; %" PRIu32 " bytes of stack per sample",
			result->path_stack_bytes);
	if (result->path_checked)
		fprintf(hp_cli_messages(),
			"; %" PRIu64 " of %" PRIu64 " joins that were checked are wrong",
			result->path_wrong, result->path_checked);
	fputc('\n', hp_cli_messages());
}

static void print_closing(const struct recording *recording, const struct hp_session *session,
			  const struct hp_session_result *result)
{
	print_totals(recording, session, result);
	print_left_out(hp_session_meta(session));
	if (result->path_samples)
		print_paths(result);
	if (result->probe_moments)
		print_probes(result);
	if (!result->probe_moments && result->probe_refusal)
		fprintf(hp_cli_messages(), "hpcprof: no probes: %s\n", result->probe_refusal);
	if (!result->samples && !result->hidden)
		print_why_none(&recording->events, result);
}

/* --- the events -------------------------------------------------------------------------- */

static struct hp_error *parse_events(struct recording *recording)
{
	struct hp_error *error = NULL;

	if (!recording->events_asked.count)
		return hp_event_default(recording->machine, &recording->events);
	for (size_t i = 0; !error && i < recording->events_asked.count; i++)
		error = hp_event_parse(recording->events_asked.at[i], recording->machine,
				       &recording->events);
	return error ? error : hp_breakpoints_check(&recording->events);
}

/* Checks that the event can have a profile, which is stored by event name; with --strict it must be
 * the requested one. */
static struct hp_error *check_event(const struct hp_event_list *events, size_t index, bool strict)
{
	const struct hp_event *event = &events->events[index];

	if (strict && event->instead_of)
		return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
						       "cannot sample %s: %s", event->instead_of,
						       event->reason),
				       "%s", event->advice ? event->advice : "leave out --strict");
	for (size_t i = 0; i < index; i++) {
		if (strcmp(events->events[i].name, event->name) == 0)
			return hp_error_create(HP_ERROR_USAGE, "event %s is named twice",
					       event->name);
	}
	return NULL;
}

static struct hp_error *find_events(struct recording *recording)
{
	struct hp_error *error = parse_events(recording);

	if (!error && recording->wants_stalls)
		error = record_stalls_add(recording->machine, recording->session.frequency_hz,
					  &recording->events);
	for (size_t i = 0; !error && i < recording->events.count; i++)
		error = check_event(&recording->events, i, recording->is_strict);
	return error;
}

/* Drops events of a set that this machine lacks, with a message; the others are sampled. */
static void drop_absent(struct hp_event_list *events, bool quiet)
{
	struct hp_event_list absent = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < events->count; i++) {
		struct hp_event *event = &events->events[i];

		if (!event->set || !event->absent) {
			events->events[kept++] = *event;
			continue;
		}
		if (!quiet)
			fprintf(hp_cli_messages(), "hpcprof: not sampled: %s: %s\n", event->name,
				event->absent);
		absent = (struct hp_event_list){ malloc(sizeof(*event)), 1 };
		if (absent.events)
			absent.events[0] = *event;
		else
			absent.count = 0;
		hp_event_list_clear(&absent);
	}
	events->count = kept;
}

/* Divides the events into groups that take turns, if there are more events than counters. Sampling
 * opens them again, and reports those that fail. */
static struct hp_error *find_turns(struct recording *recording)
{
	struct hp_event_list *events = &recording->events;
	struct hp_rotation_sets *rotation_sets = &recording->rotation_sets;
	struct hp_grouping_options options = {
		.counters = recording->counters,
		.system_wide = recording->session.system_wide,
	};
	bool whole = true;

	if (events->count < 2)
		return NULL;
	hp_error_destroy(
		hp_rotation_sets_create(events, recording->machine, &options, rotation_sets));
	for (size_t i = 0; i < events->count; i++)
		whole &= !events->events[i].absent || events->events[i].set;
	if (!whole)
		hp_rotation_sets_clear(rotation_sets);
	drop_absent(events, recording->is_quiet);
	if (!events->count)
		return hp_error_advise(hp_error_create(HP_ERROR_NOT_PERMITTED,
						       "none of these events can be sampled here"),
				       "run: hpcprof doctor");
	/* Indices have changed: divide again. */
	hp_rotation_sets_clear(rotation_sets);
	if (whole && events->count > 1)
		return hp_rotation_sets_create(events, recording->machine, &options, rotation_sets);
	return NULL;
}

struct hp_error *recording_prepare(struct recording *recording)
{
	struct hp_error *error = hp_machine_create(&recording->machine);

	if (!error)
		error = find_events(recording);
	if (!error)
		error = find_turns(recording);
	return error;
}

void recording_clear(struct recording *recording)
{
	hp_rotation_sets_clear(&recording->rotation_sets);
	hp_event_list_clear(&recording->events);
	if (recording->machine)
		hp_machine_destroy(hp_steal(recording->machine));
	hp_vector_free(&recording->events_asked);
	work_clear(&recording->work);
}

/* --- one epoch ---------------------------------------------------------------------------- */

/* Prints nothing unless groups take turns. */
static void print_turns(const struct hp_session_options *options)
{
	for (size_t i = 0; i < options->rotation_sets->count; i++) {
		const struct hp_rotation_set *rotation_set = &options->rotation_sets->at[i];

		if (rotation_set->group_count > 1)
			fprintf(hp_cli_messages(),
				"hpcprof: %s: %u groups of events take turns (%s)\n",
				rotation_set->pmu, rotation_set->group_count,
				hp_mux_policy_name(options->policy));
	}
}

/* Without windows, sampling still works: failures are warnings. */
static struct hp_error *make_shadows(struct recording *recording, struct hp_session *session)
{
	struct hp_error *error;

	recording->shadow.quiet = recording->is_quiet;
	error = record_shadow_attach(&recording->shadow, session, &recording->session,
				     recording->machine);
	if (!error || recording->is_strict)
		return error;
	if (!recording->is_quiet)
		fprintf(hp_cli_messages(), "hpcprof: %s%s%s\n", error->message,
			error->advice ? "; " : "", error->advice ? error->advice : "");
	hp_error_destroy(error);
	return NULL;
}

/* Unless work is read from it, the output stays as the caller set it. */
static struct hp_error *begin_work(struct recording *recording)
{
	int output;
	struct hp_error *error = work_begin(&recording->work, &output);

	if (output)
		recording->session.command_output = output;
	return error;
}

static double measure_work(const struct hp_run *run, void *context)
{
	return work_measure(context, run);
}

static void fill_result(const struct hp_session *session, const struct hp_session_result *found,
			struct recording_result *result)
{
	const struct hp_epoch_meta *meta = hp_session_meta(session);

	result->exit_status = found->had_command ? found->exit_status : HP_EXIT_OK;
	result->stamp = strdup(hp_session_stamp(session));
	result->has_run = meta->run_count > 0;
	if (result->has_run)
		result->run = meta->runs[meta->run_count - 1];
}

static bool is_silent(const struct recording *recording)
{
	return recording->is_quiet || recording->is_brief;
}

struct hp_error *recording_run(struct recording *recording, struct recording_result *result)
{
	struct hp_session_options *options = &recording->session;
	_cleanup_(hp_session_destroy_scope) struct hp_session *session = NULL;
	struct hp_session_result found = { .exit_status = HP_EXIT_RECORDER };
	struct hp_error *error;

	options->events = &recording->events;
	options->rotation_sets = &recording->rotation_sets;
	options->notify = recording->is_quiet ? NULL : say;
	if (recording->work.kind != WORK_NOT_ASKED) {
		options->work = measure_work;
		options->work_context = &recording->work;
	}
	*result = (struct recording_result){ .exit_status = HP_EXIT_RECORDER };
	error = begin_work(recording);
	options->progress = is_silent(recording) ? NULL : print_progress;
	options->progress_context = recording;
	if (!error)
		error = hp_session_create(options, recording->machine, &session);
	if (!error)
		error = make_shadows(recording, session);
	if (!error && !is_silent(recording)) {
		print_turns(options);
		print_banner(recording, session);
		record_shadow_print_banner(&recording->shadow);
	}
	if (!error && recording->ready)
		error = recording->ready(recording->ready_context);
	if (!error)
		error = hp_session_run(session, &found);
	progress_hide();
	if (!error && !is_silent(recording)) {
		print_closing(recording, session, &found);
		record_shadow_print_closing(&recording->shadow);
	}
	record_shadow_clear(&recording->shadow);
	work_end(&recording->work, recording->output);
	result->exit_status = found.exit_status;
	if (!error)
		fill_result(session, &found, result);
	return error;
}
