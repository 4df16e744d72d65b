/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder.h"
#include "target.h"

#include <hpcprof/collect/session.h>

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
	/* A record is in its ring at most this long after its time: see ring.h. */
	ARRIVAL_NS = 5000000,
	TICK_MEAN_MS = 250,
	/* timeout(1) and the like signal us and then our whole process group: that is one wish. */
	SAME_INTERRUPT_NS = 200000000,
	/* As shells say it. */
	EXIT_OWN_FAILURE = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

struct session_clock {
	uint64_t enable_ns; /* end of the delay; 0: enabled */
	uint64_t end_ns;    /* UINT64_MAX: no limit */
	uint64_t flush_ns;  /* next */
	uint64_t tick_ns;   /* next */
};

struct hp_session {
	struct hp_session_options options;
	const struct hp_machine *machine;
	struct hp_event *events; /* shallow copies: precise levels as granted */
	struct rate *rates;
	struct signals signals;
	bool has_signals;
	struct command command;
	pid_t *threads;
	size_t thread_count;
	struct sampler sampler;
	struct recorder recorder;
	struct hp_epoch_writer *writer;
	struct pollfd *polls; /* rings, then the signals, then pidfds of the targets */
	size_t poll_count;
	size_t first_pidfd;
	size_t live_targets;
	struct session_clock clock;
	bool stop;
	unsigned interrupts; /* signals to end, while a command runs */
	uint64_t interrupt_ns;
	bool write_failed;
	uint64_t tick_mean_ms;
};

static void notify(const struct hp_session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void notify(const struct hp_session *session, const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text && session->options.notify)
		session->options.notify(text, session->options.notify_context);
	free(text);
}

/* --- creating --------------------------------------------------------------------------------- */

static struct hp_error *choose_rates(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	size_t count = options->events->count;
	struct rate_wishes wishes = {
		.frequency_hz = options->frequency_hz,
		.period = options->period,
		.no_cap = options->no_cap,
		.overhead_percent = options->overhead_percent / (double)count,
	};

	session->rates = calloc(count, sizeof(*session->rates));
	session->events = calloc(count, sizeof(*session->events));
	if (!session->rates || !session->events)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++) {
		struct cost cost = measure_cost(&options->events->events[i]);
		enum rate_limit limit;

		session->events[i] = options->events->events[i];
		limit = rate_decide(&session->events[i], &wishes, cost, &session->rates[i]);
		if (cost.sample_ns > session->recorder.cost.sample_ns)
			session->recorder.cost = cost;
		if (limit == RATE_CAPPED)
			notify(session, "%s: capped at %d Hz; --no-cap lifts that",
			       session->events[i].name, HP_FREQUENCY_CAP_HZ);
		else if (limit == RATE_IN_BUDGET)
			notify(session,
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
	struct hp_error *error;

	if (!options->command && !options->system_wide)
		return threads_of(options->pids, options->pid_count, options->tids,
				  options->tid_count, &session->threads, &session->thread_count);
	session->threads = malloc(sizeof(*session->threads));
	if (!session->threads)
		return hp_error_create_no_memory();
	session->thread_count = 1;
	session->threads[0] = -1;
	if (options->system_wide)
		return NULL;
	error = command_start(&session->command, options->command, &session->signals);
	session->threads[0] = session->command.pid;
	return error;
}

static struct hp_error *open_events(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	struct sampler_options sampler = {
		.events = options->events,
		.rates = session->rates,
		.threads = session->threads,
		.thread_count = session->thread_count,
		.enable_on_exec = options->command && !options->delay_ns,
		.start_disabled = options->delay_ns > 0,
		.cpus = options->cpus,
		.ring_pages = options->ring_pages,
	};
	struct hp_error *error =
		sampler_open(&session->sampler, &sampler, session->machine, session->events);

	if (!error && session->sampler.rings_shrunk)
		notify(session,
		       "rings shrunk to %zu KiB a CPU to fit the locked-memory budget; samples may "
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

static struct hp_error *create_recorder(struct hp_session *session)
{
	struct cost cost = session->recorder.cost;
	struct hp_error *error = recorder_create(&session->recorder, &session->options,
						 session->machine, session->events, session->rates,
						 &session->sampler);

	if (error)
		return error;
	session->recorder.cost = cost;
	session->recorder.writer = session->writer;
	if (session->sampler.rings_shrunk)
		recorder_warn(&session->recorder, "rings had to be shrunk to %zu pages a CPU",
			      session->sampler.ring_pages);
	return recorder_describe(&session->recorder, false, &session->recorder.meta);
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
	error = choose_rates(session);
	if (!error)
		error = signals_take(&session->signals);
	session->has_signals = !error;
	if (!error)
		error = find_threads(session);
	if (!error)
		error = open_events(session);
	if (!error)
		error = create_epoch(session);
	if (!error)
		error = create_recorder(session);
	if (error) {
		hp_session_destroy(session);
		return error;
	}
	*result = session;
	return NULL;
}

static void close_pidfds(struct hp_session *session)
{
	for (size_t i = session->first_pidfd; session->polls && i < session->poll_count; i++) {
		if (session->polls[i].fd >= 0)
			close(session->polls[i].fd);
	}
	free(session->polls);
	session->polls = NULL;
}

void hp_session_destroy(struct hp_session *session)
{
	if (!session)
		return;
	close_pidfds(session);
	command_abandon(&session->command);
	recorder_clear(&session->recorder);
	sampler_close(&session->sampler);
	hp_epoch_writer_destroy(session->writer);
	if (session->has_signals)
		signals_restore(&session->signals);
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

/* --- starting --------------------------------------------------------------------------------- */

/* The maps of what was running before the events were. */
static struct hp_error *adopt_running(struct hp_session *session)
{
	uint64_t now_ns = hp_clock_monotonic_ns();
	pid_t *pids = NULL;
	size_t count = 0;

	if (session->options.system_wide) {
		struct hp_error *error = all_processes(&pids, &count);

		if (error)
			return error;
		for (size_t i = 0; i < count; i++)
			processes_adopt(&session->recorder.processes, (uint32_t)pids[i], now_ns);
		free(pids);
		return NULL;
	}
	for (size_t i = 0; i < session->thread_count; i++) {
		pid_t process = process_of_thread(session->threads[i]);

		if (process)
			processes_adopt(&session->recorder.processes, (uint32_t)process, now_ns);
	}
	return NULL;
}

/* When the command cannot be executed nothing has been flushed, and the epoch goes with its writer.
 */
static struct hp_error *start_target(struct hp_session *session)
{
	if (!session->options.command)
		return adopt_running(session);
	return command_release(&session->command, session->options.command[0]);
}

static void watch(struct hp_session *session, int fd)
{
	session->polls[session->poll_count++] = (struct pollfd){ .fd = fd, .events = POLLIN };
}

/* Processes that are recorded by pid end without a word to us but for their pidfds. */
static void watch_targets(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;

	for (size_t i = 0; i < options->pid_count + options->tid_count; i++) {
		bool is_pid = i < options->pid_count;
		pid_t pid = is_pid ? options->pids[i]
				   : process_of_thread(options->tids[i - options->pid_count]);
		int fd = pid > 0 ? pidfd_open(pid, 0) : -1;

		if (fd < 0)
			continue;
		watch(session, fd);
		session->live_targets++;
	}
}

static struct hp_error *prepare_polls(struct hp_session *session)
{
	size_t rings = session->sampler.rings.count;
	size_t targets = session->options.pid_count + session->options.tid_count;

	session->polls = calloc(rings + 1 + targets, sizeof(*session->polls));
	if (!session->polls)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < rings; i++)
		watch(session, session->sampler.rings.rings[i].control
				       ? session->sampler.rings.rings[i].fd
				       : -1);
	watch(session, session->signals.fd);
	session->first_pidfd = session->poll_count;
	watch_targets(session);
	if (targets && !session->live_targets)
		session->stop = true;
	return NULL;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Between two looks at the rings: seldom, but never so that one could overflow meanwhile. */
static uint64_t tick_mean_ms(const struct hp_session *session)
{
	const double record_bytes = 64;
	size_t ring_bytes = session->sampler.ring_pages * (size_t)sysconf(_SC_PAGESIZE);
	double fill_hz = 0;
	double half_full_ms;

	for (size_t i = 0; i < session->options.events->count; i++)
		fill_hz += session->rates[i].frequency_hz;
	half_full_ms = fill_hz > 0 ? 1000 * (double)ring_bytes / 2 / record_bytes / fill_hz : 1;
	return half_full_ms < TICK_MEAN_MS ? (uint64_t)half_full_ms + 1 : TICK_MEAN_MS;
}

static uint64_t next_tick_ns(struct hp_session *session, uint64_t now_ns)
{
	uint64_t mean_ns = session->tick_mean_ms * 1000000;

	return now_ns + hp_random_between(&session->sampler.random, mean_ns / 2, mean_ns * 3 / 2);
}

static uint64_t flush_interval_ns(const struct hp_session_options *options)
{
	return options->flush_ns ? options->flush_ns : HP_DEFAULT_FLUSH_S * 1000000000ull;
}

static void start_clock(struct hp_session *session)
{
	const struct hp_session_options *options = &session->options;
	uint64_t now_ns = hp_clock_monotonic_ns();

	session->tick_mean_ms = tick_mean_ms(session);
	session->clock = (struct session_clock){
		.enable_ns = options->delay_ns ? now_ns + options->delay_ns : 0,
		.end_ns = options->duration_ns ? now_ns + options->delay_ns + options->duration_ns
					       : UINT64_MAX,
		.flush_ns = now_ns + flush_interval_ns(options),
		.tick_ns = next_tick_ns(session, now_ns),
	};
}

static void flush(struct hp_session *session)
{
	struct hp_error *error = recorder_flush(&session->recorder, false);

	if (error && !session->write_failed)
		notify(session, "%s; keeping the samples in memory, will try again",
		       error->message);
	session->write_failed = error != NULL;
	hp_error_destroy(error);
}

/* What is due by now; a tick also drains (see the caller), so that files are identified while they
 * are fresh. */
static void do_what_is_due(struct hp_session *session, uint64_t now_ns)
{
	struct session_clock *clock = &session->clock;

	if (clock->enable_ns && now_ns >= clock->enable_ns) {
		sampler_enable(&session->sampler);
		clock->enable_ns = 0;
	}
	if (now_ns >= clock->tick_ns) {
		for (size_t i = 0; i < session->options.events->count; i++)
			sampler_redraw(&session->sampler, i, now_ns,
				       session->recorder.totals[i].samples);
		clock->tick_ns = next_tick_ns(session, now_ns);
	}
	if (now_ns >= clock->flush_ns ||
	    (!session->write_failed && recorder_is_full(&session->recorder))) {
		flush(session);
		clock->flush_ns = now_ns + flush_interval_ns(&session->options);
	}
	if (now_ns >= clock->end_ns)
		session->stop = true;
}

static int poll_timeout_ms(const struct session_clock *clock, uint64_t now_ns)
{
	uint64_t due_ns = clock->end_ns;

	if (clock->enable_ns && clock->enable_ns < due_ns)
		due_ns = clock->enable_ns;
	if (clock->tick_ns < due_ns)
		due_ns = clock->tick_ns;
	if (clock->flush_ns < due_ns)
		due_ns = clock->flush_ns;
	return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns + 999999) / 1000000);
}

/* A signal for us. With a command: one that the terminal sent reached it too, any other is passed
 * on, and recording goes on until it ends; a second one ends the recording at once. */
static void take_signal(struct hp_session *session, const struct signalfd_siginfo *info)
{
	static const int from_terminal = 0x80; /* SI_KERNEL */
	uint64_t now_ns;

	if (info->ssi_signo == SIGCHLD) {
		command_reap(&session->command, false);
		session->stop |= session->command.ended;
		return;
	}
	if (!session->command.pid || session->command.ended) {
		session->stop = true;
		return;
	}
	now_ns = hp_clock_monotonic_ns();
	if (session->interrupts && now_ns - session->interrupt_ns < SAME_INTERRUPT_NS)
		return;
	session->interrupt_ns = now_ns;
	if (info->ssi_code != from_terminal)
		kill(session->command.pid, (int)info->ssi_signo);
	session->stop = ++session->interrupts > 1;
}

static void take_signals(struct hp_session *session)
{
	struct signalfd_siginfo info;

	while (read(session->signals.fd, &info, sizeof(info)) == sizeof(info))
		take_signal(session, &info);
}

static void look_at_polls(struct hp_session *session)
{
	for (size_t i = 0; i < session->poll_count; i++) {
		struct pollfd *poll = &session->polls[i];

		if (!poll->revents)
			continue;
		if (poll->fd == session->signals.fd) {
			take_signals(session);
		} else if (i >= session->first_pidfd) {
			close(poll->fd);
			poll->fd = -1;
			if (--session->live_targets == 0)
				session->stop = true;
		} else if (poll->revents & (POLLHUP | POLLERR)) {
			/* Its tasks are gone for good; what it holds is drained all the same. */
			poll->fd = -1;
		}
	}
}

static void record_until_stopped(struct hp_session *session)
{
	while (!session->stop) {
		uint64_t now_ns = hp_clock_monotonic_ns();

		poll(session->polls, session->poll_count, poll_timeout_ms(&session->clock, now_ns));
		now_ns = hp_clock_monotonic_ns();
		look_at_polls(session);
		recorder_drain(&session->recorder, now_ns - ARRIVAL_NS);
		do_what_is_due(session, now_ns);
	}
}

/* --- ending ----------------------------------------------------------------------------------- */

/* The recording is over but its command is not (--duration): its exit status is ours to pass on.
 * A signal goes on to it; a second one ends the waiting. */
static void wait_for_command(struct hp_session *session)
{
	struct pollfd poll_signals = { .fd = session->signals.fd, .events = POLLIN };

	session->stop = false;
	command_reap(&session->command, false);
	session->stop = session->command.ended || !session->command.pid || session->interrupts > 1;
	while (!session->stop) {
		poll(&poll_signals, 1, -1);
		take_signals(session);
	}
}

static void fill_result(struct hp_session *session, struct hp_session_result *result)
{
	const struct recorder *recorder = &session->recorder;
	double elapsed_ns = (double)(recorder->meta.end_ns - recorder->start_ns);
	double samples = 0;

	for (size_t i = 0; i < recorder->event_count; i++)
		samples += (double)recorder->totals[i].samples;
	result->images = recorder->attributor.images_written;
	result->own_cpu_percent = 100 * (double)recorder->meta.own_cpu_ns / elapsed_ns;
	result->target_cost_percent = -1;
	if (recorder->run && recorder->cost.sample_ns > 0 && recorder->meta.target_cpu_ns)
		result->target_cost_percent = 100 * samples * recorder->cost.sample_ns /
					      (double)recorder->meta.target_cpu_ns;
	hp_error_destroy(hp_epoch_writer_size(session->writer, &result->database_bytes));
}

static struct hp_error *finish(struct hp_session *session)
{
	struct hp_error *error;

	sampler_disable(&session->sampler);
	recorder_drain(&session->recorder, UINT64_MAX);
	if (session->command.ended)
		session->recorder.run = &session->command.run;
	error = recorder_flush(&session->recorder, true);
	return hp_error_wrap(error, "%zu places with samples could not be written",
			     session->recorder.attributor.placed_count);
}

struct hp_error *hp_session_run(struct hp_session *session, struct hp_session_result *result)
{
	struct hp_error *error;

	*result = (struct hp_session_result){
		.had_command = session->command.pid,
		.exit_status = EXIT_OWN_FAILURE,
	};
	error = prepare_polls(session);
	if (error)
		return error;
	error = start_target(session);
	if (error) {
		if (result->had_command)
			result->exit_status = error->class == HP_ERROR_NOT_FOUND
						      ? EXIT_NOT_FOUND
						      : EXIT_NOT_EXECUTABLE;
		return error;
	}
	/* Now, so that an epoch whose recorder is killed early says what it was. */
	error = hp_epoch_writer_commit(session->writer, &session->recorder.meta);
	if (error)
		notify(session, "%s; keeping the samples in memory, will try again",
		       error->message);
	hp_error_destroy(error);
	start_clock(session);
	record_until_stopped(session);
	error = finish(session);
	if (!error)
		fill_result(session, result);
	/* Nothing of ours may slow the command down any longer. */
	sampler_close(&session->sampler);
	wait_for_command(session);
	if (!error)
		result->exit_status = session->command.ended ? session->command.run.exit_status
							     : 128 + SIGINT;
	return error;
}
