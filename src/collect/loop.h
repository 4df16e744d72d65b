/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting while a target runs: for rings that fill, signals, the target's end, and the clock
 * (delay, duration, flushes, new periods).
 *
 * Signals to end (INT, TERM, HUP) stop a recording of running processes at once. A command is meant
 * to end by itself: a signal that the terminal sent has reached it too, any other is passed on, and
 * recording goes on until it has ended; a second one stops the recording at once.
 */
#ifndef HPCPROF_COLLECT_LOOP_H
#define HPCPROF_COLLECT_LOOP_H

#include "recorder.h"
#include "target.h"

#include <hpcprof/collect/session.h>

struct pollfd;

struct loop {
	const struct hp_session_options *options; /* all four borrowed */
	struct recorder *recorder;
	struct command *command;
	const struct signals *signals;

	struct pollfd *polls; /* rings, then the signals, then pidfds of the targets */
	size_t poll_count;
	size_t first_pidfd;
	size_t live_targets;

	uint64_t start_ns;
	uint64_t enable_ns; /* end of the delay; 0: enabled */
	uint64_t end_ns;    /* UINT64_MAX: no limit */
	uint64_t flush_ns;  /* next */
	uint64_t tick_ns;   /* next */
	uint64_t tick_mean_ms;

	bool stop;
	bool write_failed;
	unsigned interrupts;   /* signals to end, while a command runs */
	uint64_t interrupt_ns; /* when the last one came */
};

/* Before the target starts. */
struct hp_error *loop_create(struct loop *loop, const struct hp_session_options *options,
			     struct recorder *recorder, struct command *command,
			     const struct signals *signals);
void loop_clear(struct loop *loop);

/* Records until the target has ended, the time is up, or somebody says so. */
void loop_run(struct loop *loop);

/* The recording is over but its command may not be (--duration): waits for it, passing signals on.
 * A second signal ends the waiting. */
void loop_wait_for_command(struct loop *loop);

/* Tells the user, through the session's notify. */
void session_notify(const struct hp_session_options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
