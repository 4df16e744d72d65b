/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the start of the target to the last samples on disk, and what is said of the recording
 * then. */
#include "session.h"

#include "tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>
#include <hpcprof/base/thread.h>
#include <hpcprof/calibrate/reference.h>

#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

enum {
	/* exit codes as shells use them */
	EXIT_OWN_FAILURE = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

static void take_windows(void *context)
{
	struct hp_session *session = context;

	session->windows.take(session, false, session->windows.context);
}

static void start_windows(struct hp_session *session)
{
	if (session->windows.fd < 0)
		return;
	session->loop.windows_fd = session->windows.fd;
	session->loop.take_windows = take_windows;
	session->loop.windows_context = session;
	session->windows.start(session, session->windows.context);
}

/* --- starting --------------------------------------------------------------------------------- */

/* If the command cannot be executed, nothing has been flushed, and the writer removes the epoch. */
static struct hp_error *start_target(struct hp_session *session)
{
	if (!session->options.command)
		return NULL;
	/* When everything is recorded, hpcprof would sample itself. */
	if (!session->options.system_wide)
		session->command.run.reference_begin_ns = hp_reference_measure();
	return hp_command_release(&session->command, session->options.command[0]);
}

/* --- ending ----------------------------------------------------------------------------------- */

static void fill_probes(const struct recorder *recorder, struct hp_session_result *result)
{
	struct probes_figures figures = probes_figures(recorder->probes);

	result->probe_moments = figures.moments;
	result->probe_hits = figures.hits;
	result->probe_kept = figures.kept;
	result->probe_refusal = figures.refusal;
	if (figures.time_ns > 0)
		result->probe_cost_percent = 100 * figures.lost_ns / figures.time_ns;
}

/* The epoch's totals include earlier recordings if this one was appended. */
static void fill_totals(const struct recorder *recorder, struct hp_session_result *result)
{
	result->least_period = UINT64_MAX;
	for (size_t i = 0; i < recorder->event_count; i++) {
		const struct recorder_event *totals = &recorder->totals[i];
		uint64_t dropped = recorder->attributor.dropped[i];
		/* With a frequency, the kernel's first period is 1. */
		uint64_t period = recorder->rates[i].period ? recorder->rates[i].period : 1;

		result->samples += totals->samples - dropped;
		result->lost += totals->lost + dropped;
		result->unattributed += recorder->attributor.unattributed[i];
		result->throttled |= totals->throttled > 0;
		if (period < result->least_period)
			result->least_period = period;
	}
	result->images = recorder->attributor.images_written;
	result->own_cpu_ns = recorder_own_cpu_ns();
}

static void fill_paths(const struct recorder *recorder, struct hp_session_result *result)
{
	struct call_path_figures figures = call_paths_figures(recorder->call_paths);

	result->path_samples = figures.samples;
	result->path_whole = figures.whole;
	result->path_joined = figures.joined;
	result->path_truncated = figures.truncated;
	result->path_frames = figures.frames;
	result->path_guesses = figures.guesses;
	result->path_checked = figures.checked;
	result->path_wrong = figures.wrong;
	if (recorder->options->call_paths == HP_CALL_PATHS_CFI)
		result->path_stack_bytes = figures.stack_bytes ? figures.stack_bytes
							       : recorder->sampler->stack_bytes[0];
}

/* The CPU time that the samples are of, in ns. That of the run is only of the processes that were waited
 * for: not of those that daemons leave. */
static double sampled_cpu_ns(const struct recorder *recorder)
{
	double run_ns = (double)(recorder->run->user_ns + recorder->run->system_ns);
	double sampled_ns = recorder->events[0].unit == HP_UNIT_NS
				    ? (double)recorder->totals[0].period_total
				    : 0;

	return fmax(run_ns, sampled_ns);
}

static void fill_result(struct hp_session *session, struct hp_session_result *result)
{
	const struct recorder *recorder = &session->recorder;
	double elapsed_ns = (double)(recorder->meta.end_ns - recorder->start_ns);
	const struct hp_run *run = recorder->run;

	fill_totals(recorder, result);
	result->hidden = recorder->processes.hidden.count;
	result->own_cpu_percent = 100 * (double)result->own_cpu_ns / elapsed_ns;
	result->target_cost_percent = -1;
	if (run && recorder->cost.sample_ns > 0 && run->user_ns + run->system_ns)
		result->target_cost_percent = 100 * (double)result->samples *
					      recorder->cost.sample_ns / sampled_cpu_ns(recorder);
	hp_error_destroy(hp_epoch_writer_size(session->writer, &result->database_bytes));
	if (recorder->call_paths)
		fill_paths(recorder, result);
	if (recorder->probes)
		fill_probes(recorder, result);
}

/* Adds how long events were counted. */
static void take_times(struct hp_session *session)
{
	for (size_t i = 0; i < session->recorder.event_count; i++) {
		struct recorder_event *totals = &session->recorder.totals[i];
		double share;

		uint64_t all_ns;

		hp_sampler_times(&session->sampler, i, &totals->enabled_ns, &totals->running_ns);
		if (hp_turns_enabled_ns(&session->turns, i, &all_ns) && all_ns > totals->enabled_ns)
			totals->enabled_ns = all_ns;
		share = (double)totals->running_ns / (double)totals->enabled_ns;
		if (totals->enabled_ns && share < counted_noticeably)
			session_notify(&session->options,
				       "%s had a counter for %.0f %% of the time%s",
				       session->recorder.events[i].name, 100 * share,
				       session->turns.count ? "" : ": record fewer events at once");
	}
}

static void take_work(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;

	if (options->work)
		session->command.run.work =
			options->work(&session->command.run, options->work_context);
}

/* Warns of what the epoch lacks, now and in the epoch. */
static void lacks(struct hp_session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void lacks(struct hp_session *session, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!text)
		return;
	recorder_warn(&session->recorder, "%s", text);
	session_notify(&session->options, "%s", text);
}

static void warn_of_hidden(struct hp_session *session)
{
	const struct processes *processes = &session->recorder.processes;
	struct hidden hidden = processes->hidden;
	_cleanup_free_ char *command = NULL;

	/* The kernel never ends system-wide events: a process that maps nothing has failed before
	 * that. */
	if (!hidden.count || session->options.system_wide)
		return;
	command = hp_text_printable(processes->commands.text[hidden.command]);
	lacks(session,
	      "%" PRIu64 " program%s not in this recording (latest: %s): the kernel ends the "
	      "recording of a program that runs with another user's rights, or whose "
	      "file this user may not read; %s",
	      hidden.count, hidden.count == 1 ? " is" : "s are", command ? command : "",
	      geteuid() == 0 ? "-a records it" : "root can record it");
}

/* What a daemon does after the command that started it has ended is not in the recording. */
static void warn_of_left(struct hp_session *session)
{
	const struct processes *processes = &session->recorder.processes;
	_cleanup_free_ char *command = NULL;
	uint64_t running = 0;
	uint32_t pid = 0;

	if (!hp_session_command_pid(session) || !session->command.ended)
		return;
	for (uint32_t i = 0; i < processes->commands.count; i++) {
		struct command_times times =
			processes_times(processes, i, session->recorder.end_ns);

		if (!times.running)
			continue;
		running += times.running;
		pid = times.running_pid;
		free(command);
		command = hp_text_printable(processes->commands.text[i]);
	}
	if (running)
		lacks(session,
		      "the command ended, and so did the recording, but %" PRIu64
		      " process%s that it started still run%s (%s, pid %" PRIu32
		      "): hpcprof record -p PID records a running process",
		      running, running == 1 ? "" : "es", running == 1 ? "s" : "",
		      command ? command : "", pid);
}

static void warn_of_names(struct hp_session *session)
{
	uint32_t pid = session->recorder.attributor.jit.beyond_pid;

	if (pid)
		lacks(session,
		      "names of code that process %" PRIu32
		      " generated are missing: its perf-PID.map has more than %d MiB or %d names, "
		      "the most that hpcprof reads",
		      pid, JIT_MAP_MIB, PERF_MAP_SYMBOLS);
}

static void warn_of_lanes(struct hp_session *session)
{
	const struct lanes *lanes = &session->recorder.processes.lanes;

	if (lanes->refused)
		lacks(session,
		      "%" PRIu64
		      " samples are of threads or CPUs beyond the first %d that are told "
		      "apart",
		      lanes->refused, LANES_LIMIT - 1);
}

/* The CPU time of the target in the modes that samples are taken in, in ns; 0 if unknown. */
static uint64_t sampled_modes_ns(const struct recorder *recorder)
{
	const struct hp_run *run = recorder->run;
	uint64_t system_ns = run ? run->system_ns : recorder->target.system_ns;

	return (run ? run->user_ns : recorder->target.user_ns) +
	       (recorder->has_kernel ? system_ns : 0);
}

/* Whether samples and CPU time are of the same tasks, CPUs and moments. */
static bool samples_all(const struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	const struct recorder *recorder = &session->recorder;

	return !options->system_wide && !options->tid_count && !options->cpus &&
	       !options->delay_ns && !options->duration_ns && !recorder->processes.hidden.count &&
	       !recorder->totals[0].lost;
}

/* The clock of a task begins with a whole period, so tasks that are shorter have no sample. */
static void warn_of_short(struct hp_session *session)
{
	const struct recorder *recorder = &session->recorder;
	const double cpu_ns = (double)sampled_modes_ns(recorder);
	const double sampled_ns = (double)recorder->totals[0].period_total;
	const double hz = recorder->rates[0].frequency_hz;

	if (recorder->event_count != 1 || recorder->events[0].unit != HP_UNIT_NS || hz <= 0 ||
	    hz >= HP_FREQUENCY_CAP_HZ || !samples_all(session) ||
	    cpu_ns < short_least_samples / hz * 1e9 || sampled_ns > short_least_sampled * cpu_ns)
		return;
	lacks(session,
	      "the samples stand for %.0f of %.0f ms of CPU time: most processes and threads end "
	      "before they get one; a higher rate sees them, for instance -F %.0f",
	      sampled_ns / 1e6, cpu_ns / 1e6, fmin(hz * SHORT_HIGHER_RATE, HP_FREQUENCY_CAP_HZ));
}

static struct hp_error *finish(struct hp_session *session)
{
	struct hp_error *error;

	hp_sampler_stop(&session->sampler);
	session->recorder.end_ns = hp_clock_realtime_ns();
	if (session->windows.fd >= 0)
		session->windows.stop(session, session->windows.context);
	loop_look_at_times(&session->loop);
	take_times(session);
	recorder_drain(&session->recorder, UINT64_MAX);
	recorder_attribute(&session->recorder);
	if (session->windows.fd >= 0) {
		session->windows.take(session, true, session->windows.context);
		windows_place(&session->recorder.windows, UINT64_MAX);
	}
	warn_of_hidden(session);
	warn_of_left(session);
	warn_of_names(session);
	warn_of_lanes(session);
	recorder_meter_clock(&session->recorder, true);
	if (hp_session_command_pid(session) && session->command.ended) {
		if (session->command.run.reference_begin_ns)
			session->command.run.reference_end_ns = hp_reference_measure();
		take_work(session);
		session->recorder.run = &session->command.run;
	}
	warn_of_short(session);
	error = recorder_flush(&session->recorder, true);
	error = hp_error_wrap(error, "the last samples could not be written");
	return error && !error->advice
		       ? hp_error_advise(error,
					 "what was written before can be reported; free some "
					 "space, or give another --db DIR, and record again")
		       : error;
}

/* Returns memory to the system after each time that files are read, extended and written. Otherwise
 * glibc keeps ever larger free blocks between small ones. */
static void bound_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
#endif
}

struct hp_error *hp_session_run(struct hp_session *session, struct hp_session_result *result)
{
	struct hp_error *error;

	*result = (struct hp_session_result){
		.had_command = session->command.pid,
		.exit_status = EXIT_OWN_FAILURE,
	};
	bound_memory();
	error = loop_create(&session->loop, &session->options, &session->recorder, &session->turns,
			    &session->command, &session->signals);
	if (error)
		return error;
	recorder_meter_clock(&session->recorder, false);
	session->recorder.meter =
		hp_clock_meter_create(hp_core_of_cpu(&session->recorder.machine->cpu));
	error = start_target(session);
	if (error) {
		if (result->had_command)
			result->exit_status = error->class == HP_ERROR_NOT_FOUND
						      ? EXIT_NOT_FOUND
						      : EXIT_NOT_EXECUTABLE;
		return error;
	}
	/* On busy CPUs, making the tables of a large program may take so long that rings overflow,
	 * so hpcprof gets a higher priority. */
	if (session->options.system_wide)
		hp_thread_hurry(HP_SHORTEST_SLICE_NS, OWN_NICE);
	/* Events before the first read of the rings are part of the requested time. */
	loop_begin(&session->loop);
	/* Written now, so that an epoch whose recorder is killed early still describes itself. */
	error = hp_epoch_writer_commit(session->writer, &session->recorder.meta);
	if (error)
		session_notify(&session->options,
			       "%s; the samples stay in memory, and hpcprof will try again",
			       error->message);
	hp_error_destroy(error);
	start_windows(session);
	loop_run(&session->loop);
	hp_thread_hurry(HP_SHORTEST_SLICE_NS, OWN_NICE);
	error = finish(session);
	if (!error)
		fill_result(session, result);
	/* Closed before anything else, so that nothing of ours slows the command any longer. */
	hp_sampler_close(&session->sampler);
	if (session->loop.watch.pidfd_count && !session->loop.watch.live && session->command.pid &&
	    !session->command.ended)
		session_notify(&session->options,
			       "the recorded processes have ended; waiting for %s",
			       session->options.command[0]);
	hp_watch_wait_for_command(&session->loop.watch);
	if (!error)
		result->exit_status = session->command.ended ? session->command.run.exit_status
							     : 128 + SIGINT;
	return error;
}
