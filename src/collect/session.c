/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a recording ready: rates, rings, the command held before its first instruction, the
 * epoch. */
#include "session.h"

#include "tuning.h"

#include <hpcprof/base/thread.h>
#include <hpcprof/collect/session.h>
#include <hpcprof/pmu/registers.h>
#include <hpcprof/sample/branches.h>
#include <hpcprof/target/shared_cpu.h>
#include <hpcprof/unwind/table.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- creating --------------------------------------------------------------------------------- */

/* Bytes of stack copied with each sample at first; 0 without call paths. */
static uint32_t path_stack_bytes(const struct hp_session_options *options)
{
	if (options->call_paths != HP_CALL_PATHS_CFI)
		return 0;
	return options->call_path_stack_bytes ? options->call_path_stack_bytes : PATH_STACK_BYTES;
}

static struct hp_error *choose_rates(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	size_t count = options->events->count;
	struct hp_rate_wishes wishes = {
		.frequency_hz = options->frequency_hz,
		.default_hz = options->default_frequency_hz,
		.period = options->period,
		.no_cap = options->no_cap,
		.overhead_percent = options->overhead_percent / (double)count,
	};

	session->rates = calloc(count, sizeof(*session->rates));
	session->events = calloc(count, sizeof(*session->events));
	if (!session->rates || !session->events)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct hp_sample_cost cost =
			hp_measure_cost(&options->events->events[i], path_stack_bytes(options));
		enum hp_rate_limit limit;

		session->events[i] = options->events->events[i];
		limit = hp_rate_decide(&session->events[i], &wishes, cost, &session->rates[i]);
		if (cost.sample_ns > session->recorder.cost.sample_ns)
			session->recorder.cost = cost;
		if (limit == HP_RATE_CAPPED)
			session_notify(&session->options,
				       "%s: capped at %d Hz; --no-cap removes the limit",
				       session->events[i].name, HP_FREQUENCY_CAP_HZ);
		else if (limit == HP_RATE_IN_BUDGET)
			session_notify(
				&session->options,
				"%s: lowered to %.0f Hz: a sample costs %.1f us here, and the "
				"budget is %.3g %%",
				session->events[i].name, session->rates[i].frequency_hz,
				cost.sample_ns / 1000, options->overhead_percent);
	}
	return NULL;
}

static struct hp_error *find_threads(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;

	if (options->pid_count || options->tid_count)
		return hp_threads_of(options->pids, options->pid_count, options->tids,
				     options->tid_count, &session->threads, &session->thread_count);
	session->threads = malloc(sizeof(*session->threads));
	if (!session->threads)
		return hp_error_create_no_memory();
	session->thread_count = 1;
	session->threads[0] = options->system_wide ? -1 : session->command.pid;
	return NULL;
}

/* Starts the command, and stops it before its exec. */
static struct hp_error *start_command(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	struct hp_error *error;

	if (!options->command)
		return NULL;
	error = hp_command_start(&session->command, options->command, options->command_input,
				 options->command_output, &session->signals);
	if (!error && options->shares_cpu)
		error = hp_shared_cpu_enter(session->command.pid, options->shared_cpu);
	return error;
}

static bool wants_registers(const struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	bool any = false;

	for (size_t i = 0; i < options->events->count; i++)
		any |= recorder_is_of_time(&session->events[i]);
	return any && !options->no_registers && hp_sampled_registers();
}

/* The kernel's part of a path comes with samples that may be in the kernel. */
static bool samples_kernel(const struct hp_session *session)
{
	for (size_t i = 0; i < session->options.events->count; i++)
		if (!session->events[i].exclude_kernel)
			return true;
	return false;
}

static void ask_for_paths(const struct hp_session *session, struct hp_sampler_options *sampler)
{
	const struct hp_session_options *options = &session->options;

	if (options->call_paths == HP_CALL_PATHS_NONE)
		return;
	sampler->no_user_callchain = options->call_paths != HP_CALL_PATHS_FP;
	sampler->callchain = !sampler->no_user_callchain || samples_kernel(session);
	if (options->call_paths == HP_CALL_PATHS_LBR)
		sampler->branches = sampler->call_branches = true;
	if (options->call_paths != HP_CALL_PATHS_CFI)
		return;
	sampler->registers = hp_sampled_registers();
	sampler->stack_bytes = path_stack_bytes(options);
	if (!options->call_path_stack_bytes) {
		sampler->stacks = path_stacks;
		sampler->stack_count = HP_ARRAY_COUNT(path_stacks);
	}
	sampler->deep_stack_bytes = DEEP_STACK_BYTES;
	sampler->deep_period_ns = DEEP_PERIOD_NS;
}

/* Chooses a way to find call paths that this machine supports. */
static struct hp_error *choose_paths(struct hp_session *session)
{
	struct hp_session_options *options = &session->options;

	if (options->call_paths == HP_CALL_PATHS_AUTO)
		options->call_paths = hp_unwind_is_offered() ? HP_CALL_PATHS_CFI : HP_CALL_PATHS_FP;
	if (options->call_paths == HP_CALL_PATHS_CFI && !hp_unwind_is_offered())
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"call paths by unwind tables are for x86-64 only"),
			"use -g=fp with programs compiled with -fno-omit-frame-pointer");
	if (options->call_paths == HP_CALL_PATHS_LBR && !hp_call_branches_offered(options->events))
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
						       "call paths by branch records: this "
						       "machine's events have no records of calls"),
				       "use -g=cfi, which needs no hardware");
	return NULL;
}

static struct hp_error *open_events(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	struct hp_sampler_options sampler = {
		.events = options->events,
		.rates = session->rates,
		.threads = session->threads,
		.thread_count = session->thread_count,
		.enable_on_exec = hp_session_records_command(options) && !options->delay_ns,
		.start_disabled = loop_begins_disabled(options),
		.cpus = options->cpus,
		.ring_pages = options->ring_pages,
		.on = session->turns.count ? session->turns.on : NULL,
		.turn_of = session->turns.count ? session->turns.group_of : NULL,
	};
	struct hp_error *error;

	if (wants_registers(session) && options->call_paths != HP_CALL_PATHS_LBR) {
		/* Prefer branch records: they report past branches exactly, registers only
		 * predict future ones. */
		sampler.branches = hp_branches_offered(options->events);
		sampler.registers = sampler.branches ? 0 : hp_sampled_registers();
		sampler.stack_bytes = sampler.branches ? 0 : OUTCOMES_STACK_BYTES;
	}
	ask_for_paths(session, &sampler);
	error = hp_sampler_open(&session->sampler, &sampler, session->machine, session->events);
	if (!error && session->sampler.rings_shrunk)
		session_notify(&session->options,
			       "rings shrunk to %zu KiB per CPU to fit the locked-memory budget; "
			       "samples may "
			       "be lost in bursts (see hpcprof doctor)",
			       session->sampler.ring_pages * (size_t)sysconf(_SC_PAGESIZE) / 1024);
	return error;
}

static struct hp_error *create_epoch(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;

	if (options->append)
		return hp_epoch_append(options->db, options->append, &session->writer);
	return hp_epoch_create(options->db, options->label, &session->writer);
}

/* Without calibrations, defaults are used. */
static void load_skids(struct hp_session *session)
{
	struct hp_error *error = hp_skid_load(&session->recorder.skids);

	if (error && !session->options.is_repeated)
		session_notify(&session->options,
			       "%s: the default skid of samples is assumed; hpcprof doctor "
			       "--calibrate-skid measures it again",
			       error->message);
	hp_error_destroy(error);
}

static void expect_windows(struct hp_session *session)
{
	struct recorder *recorder = &session->recorder;

	recorder_expect_windows(recorder);
	/* For events that take turns, the total is unknown. */
	if (session->turns.count && recorder->time_event < recorder->event_count &&
	    session->turns.group_of[recorder->time_event] != HP_NO_TURN)
		recorder->time_event = recorder->event_count;
}

/* If windows have counted for this epoch before, it must be told how long commands run now, too, so
 * that counts still stand for all of it. */
static struct hp_error *expect_counted(struct hp_session *session)
{
	struct hp_window_evidence evidence;
	struct hp_error *error = hp_epoch_writer_read_windows(session->writer, &evidence);

	if (!error && hp_window_evidence_counted(&evidence).windows)
		expect_windows(session);
	hp_window_evidence_clear(&evidence);
	return error;
}

static struct hp_error *create_recorder(struct hp_session *session)
{
	struct hp_sample_cost cost = session->recorder.cost;
	struct hp_error *error = recorder_create(&session->recorder, &session->options,
						 session->machine, session->events, session->rates,
						 &session->sampler);

	if (error)
		return error;
	session->recorder.cost = cost;
	load_skids(session);
	session->recorder.writer = session->writer;
	if (session->sampler.rings_shrunk)
		recorder_warn(&session->recorder, "rings had to be shrunk to %zu pages per CPU",
			      session->sampler.ring_pages);
	if (session->options.probes_percent > 0)
		error = recorder_begin_probes(&session->recorder,
					      session->options.probes_percent / 100);
	if (!error && session->options.append)
		error = expect_counted(session);
	if (error)
		return error;
	return recorder_describe(&session->recorder, false, &session->recorder.meta);
}

/* Reads the maps of processes that ran before the events were opened. */
static struct hp_error *adopt_running(struct hp_session *session)
{
	uint64_t now_ns = hp_clock_monotonic_ns();
	pid_t *pids = NULL;
	size_t count = 0;

	if (session->options.system_wide) {
		struct hp_error *error = hp_all_processes(&pids, &count);

		if (error)
			return error;
		for (size_t i = 0; i < count; i++)
			processes_adopt(&session->recorder.processes, (uint32_t)pids[i], now_ns);
		free(pids);
		return NULL;
	}
	for (size_t i = 0; i < session->thread_count; i++) {
		pid_t process = hp_process_of_thread(session->threads[i]);

		if (process)
			processes_adopt(&session->recorder.processes, (uint32_t)process, now_ns);
	}
	return NULL;
}

struct hp_error *hp_session_create(const struct hp_session_options *options,
				   const struct hp_machine *machine, struct hp_session **result)
{
	struct hp_session *session = calloc(1, sizeof(*session));
	struct hp_error *error;

	if (!session)
		return hp_error_create_no_memory();
	session->options = *options;
	session->machine = machine;
	session->command.go_fd = session->command.go_reader_fd = -1;
	session->command.failure_fd = -1;
	session->signals.fd = -1;
	session->windows.fd = -1;
	error = hp_turns_create(&session->turns, options->rotation_sets, options->events->count,
				options->policy, options->slice_ns);
	if (!error)
		error = choose_paths(session);
	if (!error)
		error = choose_rates(session);
	if (!error)
		error = hp_signals_take(&session->signals);
	session->has_signals = !error;
	if (!error)
		error = start_command(session);
	if (!error)
		error = find_threads(session);
	if (!error)
		error = open_events(session);
	if (!error)
		error = create_epoch(session);
	if (!error)
		error = create_recorder(session);
	/* Now, since it may end at any time, and sampling has begun. */
	if (!error && !hp_session_records_command(options))
		error = adopt_running(session);
	if (error) {
		hp_session_destroy(session);
		return error;
	}
	*result = session;
	return NULL;
}

void hp_session_destroy(struct hp_session *session)
{
	if (!session)
		return;
	loop_clear(&session->loop);
	hp_command_abandon(&session->command);
	recorder_clear(&session->recorder);
	hp_sampler_close(&session->sampler);
	hp_turns_clear(&session->turns);
	hp_epoch_writer_destroy(session->writer);
	if (session->has_signals)
		hp_signals_restore(&session->signals);
	free(session->threads);
	free(session->rates);
	free(session->events);
	free(session);
}

const struct hp_epoch_meta *hp_session_meta(const struct hp_session *session)
{
	return &session->recorder.meta;
}

const char *hp_session_stamp(const struct hp_session *session)
{
	return hp_epoch_writer_stamp(session->writer);
}

/* --- shadow windows --------------------------------------------------------------------------- */

void hp_session_set_windows(struct hp_session *session, const struct hp_window_source *source)
{
	session->windows = *source;
	expect_windows(session);
}

void hp_session_add_window(struct hp_session *session, struct hp_window *window)
{
	windows_add(&session->recorder.windows, window);
}

struct hp_error *hp_session_add_window_figures(struct hp_session *session,
					       const struct hp_window_evidence *figures)
{
	struct hp_window_evidence bare = *figures;

	bare.strata = NULL;
	bare.images = NULL;
	bare.stratum_count = bare.image_count = 0;
	return hp_window_evidence_add(&session->recorder.windows.counted, &bare);
}

pid_t hp_session_command_pid(const struct hp_session *session)
{
	return hp_session_records_command(&session->options) ? session->command.pid : 0;
}

const bool *hp_session_core_is_shared(const struct hp_session *session)
{
	return &session->recorder.core_is_shared;
}

uint64_t hp_session_command_cpu_ns(const struct hp_session *session)
{
	const struct hp_run *run = &session->command.run;

	return hp_session_command_pid(session) && session->command.ended
		       ? run->user_ns + run->system_ns
		       : 0;
}
