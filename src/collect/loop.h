/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits while a target runs: for rings that fill, for signals, for the target's end, and for points
 * in time (delay, duration, flushes, changes of the sampling period).
 */
#ifndef HPCPROF_COLLECT_LOOP_H
#define HPCPROF_COLLECT_LOOP_H

#include "recorder.h"

#include <hpcprof/collect/session.h>
#include <hpcprof/sample/turns.h>
#include <hpcprof/target/cpu_times.h>
#include <hpcprof/target/watch.h>

struct pollfd;

struct loop {
	const struct hp_session_options *options; /* both borrowed */
	struct recorder *recorder;
	struct hp_turns *turns; /* borrowed, too */
	struct hp_watch watch;
	struct hp_cpu_meter meter; /* of targets other than a command that we have started */

	struct pollfd *polls; /* first the rings, then the watch's, then the one of windows */
	size_t ring_count;
	int windows_fd; /* readable when there are shadow windows; -1: none */
	void (*take_windows)(void *context);
	void *windows_context;

	uint64_t start_ns;
	uint64_t enable_ns;   /* end of the delay; 0: events are enabled */
	uint64_t end_ns;      /* end of the recording; UINT64_MAX: no limit */
	uint64_t flush_ns;    /* time of the next flush */
	uint64_t tick_ns;     /* time of the next tick */
	uint64_t progress_ns; /* time of the next line of progress; UINT64_MAX: none is wanted */

	bool write_failed;
};

/* Called before the target starts. */
struct hp_error *loop_create(struct loop *loop, const struct hp_session_options *options,
			     struct recorder *recorder, struct hp_turns *turns,
			     struct hp_command *command, const struct hp_signals *signals);
void loop_clear(struct loop *loop);

/* Whether the loop has to enable events: after a delay, or when a command that sets the duration
 * has begun. Otherwise they count from the target's exec, or at once. */
bool loop_begins_disabled(const struct hp_session_options *options);

/* The recording's time begins now. */
void loop_begin(struct loop *loop);

/* After loop_begin: records until the target ends, the time is over, or a signal arrives. */
void loop_run(struct loop *loop);

/* Passes the CPU time that the target has used until now to the recorder. */
void loop_look_at_times(struct loop *loop);

/* Shows a message to the user, by the session's notify. */
void session_notify(const struct hp_session_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
