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
	struct hp_cpu_meter meter; /* of targets that are no command of ours */

	struct pollfd *polls; /* rings, then the watch's, then windows */
	size_t ring_count;
	int windows_fd; /* readable when there are shadow windows; -1 */
	void (*take_windows)(void *context);
	void *windows_context;

	uint64_t start_ns;
	uint64_t enable_ns;   /* end of the delay; 0: enabled */
	uint64_t end_ns;      /* UINT64_MAX: no limit */
	uint64_t flush_ns;    /* next */
	uint64_t tick_ns;     /* next */
	uint64_t progress_ns; /* next; UINT64_MAX: nobody wants to know */

	bool write_failed;
};

/* Before the target starts. */
struct hp_error *loop_create(struct loop *loop, const struct hp_session_options *options,
			     struct recorder *recorder, struct hp_turns *turns,
			     struct hp_command *command, const struct hp_signals *signals);
void loop_clear(struct loop *loop);

/* Whether events count only from when the loop enables them: after a delay, or when a command that
 * says how long has begun. Else they do from the target's exec, or at once. */
bool loop_begins_disabled(const struct hp_session_options *options);

/* From now on the time counts. */
void loop_begin(struct loop *loop);

/* After loop_begin: records until the target ends, the time is up, or a signal says so. */
void loop_run(struct loop *loop);

/* What the target has used by now goes to the recorder. */
void loop_look_at_times(struct loop *loop);

/* Tells the user, through the session's notify. */
void session_notify(const struct hp_session_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
