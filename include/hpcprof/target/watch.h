/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a target still runs, and the handling of signals that end the recording.
 *
 * For running processes, INT, TERM and HUP end the recording immediately. A command should end by
 * itself: a signal from the terminal has also reached the command, and any other signal is passed
 * on to it. The recording continues until the command has ended; a second signal ends it
 * immediately. Ctrl-Z stops hpcprof, except while the target waits for it.
 */
#ifndef HPCPROF_TARGET_WATCH_H
#define HPCPROF_TARGET_WATCH_H

#include <hpcprof/target/target.h>

struct pollfd;

struct hp_watch {
	struct hp_command *command; /* both borrowed */
	const struct hp_signals *signals;
	int *pidfds; /* of other processes; -1 when they have ended */
	size_t pidfd_count;
	size_t live;
	bool stop;
	unsigned interrupts;   /* signals to end, while a command runs */
	uint64_t interrupt_ns; /* when the last one came */
};

/* Before the target starts. `pids` and `tids` are of a target that is not a command. */
struct hp_error *hp_watch_create(struct hp_watch *watch, struct hp_command *command,
				 const struct hp_signals *signals, const pid_t *pids,
				 size_t pid_count, const pid_t *tids, size_t tid_count);
void hp_watch_clear(struct hp_watch *watch);

/* What to poll for: hp_watch_poll_count entries. */
size_t hp_watch_poll_count(const struct hp_watch *watch);
void hp_watch_fill(const struct hp_watch *watch, struct pollfd *polls);
/* Handles the result of poll(); `stop` is true when the target has ended or the recording must
 * end. */
void hp_watch_look(struct hp_watch *watch, const struct pollfd *polls);

/* The recording has ended, but the command may not have (--duration): waits for it and passes
 * signals on. A second signal ends the waiting. */
void hp_watch_wait_for_command(struct hp_watch *watch);

#endif
