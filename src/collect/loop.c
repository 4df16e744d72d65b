/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loop.h"

#include "tuning.h"

#include <hpcprof/base/text.h>

#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

void session_notify(const struct hp_session_options *options, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (text && options->notify)
		options->notify(text, options->notify_context);
	free(text);
}

struct hp_error *loop_create(struct loop *loop, const struct hp_session_options *options,
			     struct recorder *recorder, struct hp_turns *turns,
			     struct hp_command *command, const struct hp_signals *signals)
{
	const struct hp_ring_set *rings = &recorder->sampler->rings;
	struct hp_error *error;

	*loop = (struct loop){
		.options = options,
		.recorder = recorder,
		.turns = turns,
		.ring_count = rings->count,
		.windows_fd = -1,
	};
	error = hp_watch_create(&loop->watch, command, signals, options->pids, options->pid_count,
				options->tids, options->tid_count);
	if (error)
		return error;
	if (!hp_session_records_command(options))
		hp_cpu_meter_create(&loop->meter, options->system_wide, options->cpus,
				    options->pids, options->pid_count, options->tids,
				    options->tid_count);
	loop->polls =
		calloc(rings->count + hp_watch_poll_count(&loop->watch) + 1, sizeof(*loop->polls));
	if (!loop->polls)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < rings->count; i++)
		loop->polls[i] = (struct pollfd){
			.fd = rings->rings[i].control ? rings->rings[i].fd : -1,
			.events = POLLIN,
		};
	return NULL;
}

bool loop_begins_disabled(const struct hp_session_options *options)
{
	return options->delay_ns || (options->command && !hp_session_records_command(options));
}

void loop_clear(struct loop *loop)
{
	hp_watch_clear(&loop->watch);
	hp_cpu_meter_clear(&loop->meter);
	free(loop->polls);
	*loop = (struct loop){ 0 };
}

/* --- the loop --------------------------------------------------------------------------------- */

/* Ticks are frequent at first, so that a short run gets new periods, too; later they are rare. */
static uint64_t tick_mean_ms(const struct loop *loop, uint64_t now_ns)
{
	uint64_t mean_ms = (now_ns - loop->start_ns) / TICK_PART / 1000000;

	if (mean_ms < FIRST_TICKS_MEAN_MS)
		return FIRST_TICKS_MEAN_MS;
	return mean_ms < TICK_MEAN_MS ? mean_ms : TICK_MEAN_MS;
}

/* The longest time between two reads of the rings in which none can overflow, even one whose event
 * has ended and wakes nobody; at most a tick where samples say how much of the stack to copy next. */
static uint64_t drain_ms(const struct loop *loop, uint64_t now_ns)
{
	struct hp_record_layout layout = loop->recorder->sampler->rings.layout;
	double record_bytes = 64 + (layout.callchain ? 8 + 8 * USUAL_CALLCHAIN : 0) +
			      (layout.branches ? 8 + 24 * USUAL_BRANCHES : 0) +
			      8 * (double)__builtin_popcountll(layout.registers) +
			      (layout.stack_bytes ? layout.stack_bytes + 16 : 0);
	size_t ring_bytes = loop->recorder->sampler->ring_pages * (size_t)sysconf(_SC_PAGESIZE);
	uint64_t most_ms = loop->recorder->sampler->stack_count > 1 ? tick_mean_ms(loop, now_ns)
								    : TICK_MEAN_MS;
	double fill_hz = 0;
	double half_full_ms;

	for (size_t i = 0; i < loop->options->events->count; i++)
		fill_hz += loop->recorder->rates[i].frequency_hz;
	half_full_ms = fill_hz > 0 ? 1000 * (double)ring_bytes / 2 / record_bytes / fill_hz : 1;
	return half_full_ms < (double)most_ms ? (uint64_t)half_full_ms + 1 : most_ms;
}

static uint64_t next_tick_ns(struct loop *loop, uint64_t now_ns)
{
	uint64_t mean_ns = tick_mean_ms(loop, now_ns) * UINT64_C(1000000);

	return now_ns +
	       hp_random_between(&loop->recorder->sampler->random, mean_ns / 2, mean_ns * 3 / 2);
}

static uint64_t flush_interval_ns(const struct hp_session_options *options)
{
	return options->flush_ns ? options->flush_ns : HP_DEFAULT_FLUSH_S * 1000000000ull;
}

void loop_begin(struct loop *loop)
{
	const struct hp_session_options *options = loop->options;
	uint64_t now_ns = hp_clock_monotonic_ns();

	loop->start_ns = now_ns;
	loop->enable_ns = loop_begins_disabled(options) ? now_ns + options->delay_ns : 0;
	loop->end_ns = options->duration_ns ? now_ns + options->delay_ns + options->duration_ns
					    : UINT64_MAX;
	loop->flush_ns = now_ns + flush_interval_ns(options);
	loop->tick_ns = next_tick_ns(loop, now_ns);
	loop->progress_ns = options->progress ? now_ns + FIRST_PROGRESS_S * UINT64_C(1000000000)
					      : UINT64_MAX;
	hp_cpu_meter_begin(&loop->meter);
	if (!loop->enable_ns)
		hp_turns_begin(loop->turns, loop->recorder->sampler, now_ns);
}

void loop_look_at_times(struct loop *loop)
{
	hp_cpu_meter_look(&loop->meter);
	loop->recorder->target = hp_cpu_meter_times(&loop->meter);
}

static void flush(struct loop *loop)
{
	struct hp_error *error = recorder_flush(loop->recorder, false);

	if (error && !loop->write_failed)
		session_notify(loop->options,
			       "%s; the samples stay in memory, and hpcprof will try again",
			       error->message);
	loop->write_failed = error != NULL;
	hp_error_destroy(error);
}

static void tell_progress(struct loop *loop, uint64_t now_ns)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < loop->recorder->event_count; i++)
		samples += loop->recorder->totals[i].samples;
	loop->options->progress(now_ns - loop->start_ns, samples, loop->options->progress_context);
	loop->progress_ns = now_ns + PROGRESS_S * UINT64_C(1000000000);
}

/* Does what is due by now. After a tick the caller also drains, so that files are identified
 * soon. */
static void do_what_is_due(struct loop *loop, uint64_t now_ns)
{

	if (loop->enable_ns && now_ns >= loop->enable_ns) {
		hp_sampler_enable(loop->recorder->sampler);
		hp_cpu_meter_begin(&loop->meter);
		hp_turns_begin(loop->turns, loop->recorder->sampler, now_ns);
		loop->enable_ns = 0;
	}
	hp_turns_go(loop->turns, now_ns);
	if (now_ns >= loop->tick_ns) {
		for (size_t i = 0; i < loop->options->events->count; i++)
			hp_sampler_redraw(loop->recorder->sampler, i, now_ns,
					  loop->recorder->totals[i].samples);
		recorder_meter_clock(loop->recorder, false);
		loop_look_at_times(loop);
		/* At the end, records must arrive within a limited time. */
		if (loop->end_ns != UINT64_MAX)
			recorder_prepare(loop->recorder);
		loop->tick_ns = next_tick_ns(loop, now_ns);
	}
	if (now_ns >= loop->flush_ns || (!loop->write_failed && recorder_is_full(loop->recorder))) {
		flush(loop);
		loop->flush_ns = now_ns + flush_interval_ns(loop->options);
	}
	if (loop->recorder->probes)
		probes_go(loop->recorder->probes, now_ns);
	if (now_ns >= loop->progress_ns)
		tell_progress(loop, now_ns);
	if (now_ns >= loop->end_ns)
		loop->watch.stop = true;
}

static int poll_timeout_ms(const struct loop *loop, uint64_t now_ns)
{
	uint64_t due_ns = now_ns + drain_ms(loop, now_ns) * 1000000;

	if (loop->end_ns < due_ns)
		due_ns = loop->end_ns;
	if (loop->enable_ns && loop->enable_ns < due_ns)
		due_ns = loop->enable_ns;
	if (loop->tick_ns < due_ns)
		due_ns = loop->tick_ns;
	if (loop->flush_ns < due_ns)
		due_ns = loop->flush_ns;
	if (loop->turns->turn_ns < due_ns)
		due_ns = loop->turns->turn_ns;
	if (loop->progress_ns < due_ns)
		due_ns = loop->progress_ns;
	if (loop->recorder->probes && probes_due_ns(loop->recorder->probes) < due_ns)
		due_ns = probes_due_ns(loop->recorder->probes);
	return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns + 999999) / 1000000);
}

static void look_at_rings(struct loop *loop)
{
	for (size_t i = 0; i < loop->ring_count; i++) {
		/* All of its tasks have ended; its records are drained nevertheless. */
		if (loop->polls[i].revents & (POLLHUP | POLLERR))
			loop->polls[i].fd = -1;
	}
}

static void look_at_windows(struct loop *loop, const struct pollfd *polled)
{
	if (polled->fd >= 0 && polled->revents)
		loop->take_windows(loop->windows_context);
}

void loop_run(struct loop *loop)
{
	size_t count = loop->ring_count + hp_watch_poll_count(&loop->watch) + 1;

	while (!loop->watch.stop) {
		struct pollfd *watched = loop->polls + loop->ring_count;
		uint64_t now_ns = hp_clock_monotonic_ns();

		hp_watch_fill(&loop->watch, watched);
		loop->polls[count - 1] =
			(struct pollfd){ .fd = loop->windows_fd, .events = POLLIN };
		poll(loop->polls, count, poll_timeout_ms(loop, now_ns));
		now_ns = hp_clock_monotonic_ns();
		look_at_rings(loop);
		hp_watch_look(&loop->watch, watched);
		look_at_windows(loop, &loop->polls[count - 1]);
		recorder_drain(loop->recorder, now_ns - ARRIVAL_NS);
		do_what_is_due(loop, now_ns);
	}
}
