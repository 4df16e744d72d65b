/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "window_record.h"

#include "copy/recorder.h"
#include "tuning.h"
#include "window_plan.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/thread.h>

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

/* Shared by the two threads. */
struct apart {
	struct window_maker *maker;
	const struct window_order *order;
	struct window_result *result;
	window_copier *copy;
	bool is_copied;
};

static void *run(void *context)
{
	struct apart *apart = context;

	/* The thread may be cancelled only where it waits for the target (recorder_run). */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	apart->is_copied = apart->copy(apart->maker, apart->order, apart->result);
	return NULL;
}

static bool joins(pthread_t thread, uint64_t until_ns)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
					.tv_nsec = (long)(until_ns % NS_PER_S) };

	return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}

/* Waits until the target is no longer traced: a joined thread may not have detached from it yet. */
static void await_release(pid_t tid)
{
	const struct timespec pause = { .tv_nsec = SHORTEST_PAUSE_NS };

	for (unsigned i = 0; i < RELEASE_LOOKS && hold_tracer(tid); i++)
		nanosleep(&pause, NULL);
}

bool window_copy_apart(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result, window_copier *copy)
{
	struct apart apart = { maker, order, result, copy, false };
	uint64_t until_ns;
	pthread_t thread;

	__atomic_store_n(&maker->recorded_until_ns, 0, __ATOMIC_RELAXED);
	if (hp_thread_start(&thread, run, &apart)) {
		result->outcome = WINDOW_NOT_NOW;
		return false;
	}
	while (!joins(thread, hp_clock_monotonic_ns() + RECORDING_LOOK_NS)) {
		until_ns = __atomic_load_n(&maker->recorded_until_ns, __ATOMIC_ACQUIRE);
		if (!until_ns || (hp_clock_monotonic_ns() < until_ns && !window_is_stopping(maker)))
			continue;
		pthread_cancel(thread);
		pthread_join(thread, NULL);
		await_release(order->tid);
		return true;
	}
	return apart.is_copied;
}

/* Moves the calling thread to the CPU of the target. Two threads that take turns are fastest on one
 * CPU, because no other CPU has to be woken. */
static void move_to(int cpu)
{
	cpu_set_t cpus;

	if (cpu < 0)
		return;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

void window_record(struct window_maker *maker, const struct window_order *order)
{
	const struct price_terms terms = window_terms(order, 0, 0);
	struct recorder recorder = {
		.tid = order->tid,
		.areas = &maker->snapshot.areas,
		.user_ns = order->window_ns,
		.calls = ledger_most_calls(maker->ledger, &terms, order->slot_end_ns),
		.clock_fd = maker->sampler.fd,
		.has_locked = snapshot_has_locked(order->pid),
		.log = &maker->log,
	};
	uint64_t patience_ns = SAMPLING_PATIENCE * order->window_ns + RECORDING_PATIENCE_NS;

	struct hp_thread_times before = { 0 }, after = { 0 };
	struct hp_thread_times target_before = { 0 }, target_after = { 0 };

	move_to(cpu_of_thread(order->tid));
	__atomic_store_n(&maker->recorded_until_ns, hp_clock_monotonic_ns() + patience_ns,
			 __ATOMIC_RELEASE);
	(void)hp_thread_times(getpid(), gettid(), &before);
	(void)hp_thread_times(order->pid, order->tid, &target_before);
	recorder_run(&recorder);
	if (hp_thread_times(getpid(), gettid(), &after) &&
	    hp_thread_times(order->pid, order->tid, &target_after)) {
		maker->log.own_cpu_ns = after.ran_ns - before.ran_ns;
		maker->log.delayed_ns = after.delayed_ns - before.delayed_ns +
					target_after.delayed_ns - target_before.delayed_ns;
	}
	recorder_release(&recorder);
}

/* What ended the recording before its time, or, if that was no call and no signal, time did. */
static void set_end(struct hp_window *window, const struct call_log *log)
{
	const struct logged_call *last;

	window->end = log->end == CALL_LOG_SIGNAL ? HP_WINDOW_SIGNAL : HP_WINDOW_TIME;
	if (log->end != CALL_LOG_CALL)
		return;
	last = &log->calls[log->call_count - 1];
	window->end = HP_WINDOW_SYSTEM_CALL;
	window->end_detail = last->number;
	shadow_call_name(last->number, window->end_call, sizeof(window->end_call));
}

bool window_end_record(struct window_maker *maker, const struct window_order *order,
		       struct window_result *result)
{
	struct call_pace *pace = &maker->replayer->pace;
	struct call_log *log = &maker->log;
	struct price_terms terms = window_terms(order, 0, 0);
	double factor;

	(void)state_sampler_disable(&maker->sampler);
	call_log_time(log);
	maker->wanted = log->call_count;
	if (log->call_count > 1) {
		terms.window_ns = log->calls[log->call_count - 1].user_ns;
		ledger_recorded(maker->ledger, log->call_count - 1, log->lost_ns, &terms);
		result->recording_ns += log->lost_ns * (order->threads ? order->threads : 1);
	}
	factor = call_pace_apply(pace, log, order->pid, order->tid, maker->stop_fd);
	ledger_other(maker->ledger, (double)(order->threads ? order->threads : 1) * pace->lost_ns);
	result->is_paced = factor > 0;
	result->wanted_ns = order->window_ns;
	if (result->is_paced)
		result->wanted_ns = (uint64_t)(factor * (double)order->window_ns);
	result->was_recorded = true;
	if (log->call_count > 1 && log->calls[log->call_count - 1].user_ns > 0)
		return true;
	if (log->end == CALL_LOG_CALL || log->end == CALL_LOG_SIGNAL)
		set_end(&result->window, log);
	return false;
}

void window_count_log(const struct call_log *log, struct window_result *result)
{
	uint64_t matched = result->matched;

	result->samples = 1 + log->calls[log->call_count - 1].user_ns / MATCH_PERIOD_NS;
	result->matched = 0;
	if (matched)
		result->matched = 1 + log->calls[matched - 1].user_ns / MATCH_PERIOD_NS;
}

void window_judge_log(const struct call_log *log, struct window_result *result)
{
	struct hp_window *window = &result->window;

	result->may_wait = false;
	if (window->end != HP_WINDOW_COMPLETE || log->end == CALL_LOG_LENGTH)
		return;
	/* The end depends on the program, not only on time. */
	result->is_cut = result->is_cut_by_call = true;
	set_end(window, log);
}
