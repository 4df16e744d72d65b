/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a target still runs, and what signals to end mean for it.
 *
 * Signals to end (INT, TERM, HUP) stop the watching of running processes at once. A command is
 * meant to end by itself: a signal that the terminal sent has reached it too, any other is passed
 * on, and it is watched until it has ended; a second one stops at once. Ctrl-Z stops us, but for
 * moments in which the target waits for us.
 */
#ifndef HPCPROF_COLLECT_WATCH_H
#define HPCPROF_COLLECT_WATCH_H

#include "target.h"

struct pollfd;

struct watch {
	struct command *command; /* both borrowed */
	const struct signals *signals;
	int *pidfds; /* of processes that are not ours; -1 when they have ended */
	size_t pidfd_count;
	size_t live;
	bool stop;
	unsigned interrupts;   /* signals to end, while a command runs */
	uint64_t interrupt_ns; /* when the last one came */
};

/* Before the target starts. `pids` and `tids` are of a target that is not a command. */
struct hp_error *watch_create(struct watch *watch, struct command *command,
			      const struct signals *signals, const pid_t *pids, size_t pid_count,
			      const pid_t *tids, size_t tid_count);
void watch_clear(struct watch *watch);

/* What to poll for: watch_poll_count entries. */
size_t watch_poll_count(const struct watch *watch);
void watch_fill(const struct watch *watch, struct pollfd *polls);
/* Takes what poll() found; `stop` says whether the target has ended or somebody wants us to. */
void watch_look(struct watch *watch, const struct pollfd *polls);

/* We are done but the command may not be (--duration): waits for it, passing signals on. A second
 * signal ends the waiting. */
void watch_wait_for_command(struct watch *watch);

#endif
