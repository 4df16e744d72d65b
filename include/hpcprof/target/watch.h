/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a target still runs, and what signals to end mean for it.
 *
 * Signals to end (INT, TERM, HUP) stop the watching of running processes at once. A command is
 * meant to end by itself: a signal that the terminal sent has reached it too, any other is passed
 * on, and it is watched until it has ended; a second one stops at once. Ctrl-Z stops us, but for
 * moments in which the target waits for us.
 */
#ifndef HPCPROF_TARGET_WATCH_H
#define HPCPROF_TARGET_WATCH_H

#include <hpcprof/target/target.h>

struct pollfd;

struct hp_watch {
	struct hp_command *command; /* both borrowed */
	const struct hp_signals *signals;
	int *pidfds; /* of processes that are not ours; -1 when they have ended */
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

/* What to poll for: watch_poll_count entries. */
size_t hp_watch_poll_count(const struct hp_watch *watch);
void hp_watch_fill(const struct hp_watch *watch, struct pollfd *polls);
/* Takes what poll() found; `stop` says whether the target has ended or somebody wants us to. */
void hp_watch_look(struct hp_watch *watch, const struct pollfd *polls);

/* We are done but the command may not be (--duration): waits for it, passing signals on. A second
 * signal ends the waiting. */
void hp_watch_wait_for_command(struct hp_watch *watch);

#endif
