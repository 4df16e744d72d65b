/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The target of a recording: a command that hpcprof starts, or existing threads.
 *
 * A command is forked first and held before its exec, so that events can be attached to it. It then
 * gets exactly what hpcprof was started with: signal mask and dispositions, descriptors, limits,
 * environment. All descriptors of hpcprof are close-on-exec.
 */
#ifndef HPCPROF_TARGET_TARGET_H
#define HPCPROF_TARGET_TARGET_H

#include <hpcprof/base/error.h>
#include <hpcprof/model/epoch.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Signals that hpcprof blocks and reads from a descriptor; restored for the command and at the
 * end. */
struct hp_signals {
	int fd;
	sigset_t saved_mask;
	struct sigaction saved_child;
};
struct hp_error *hp_signals_take(struct hp_signals *signals);
void hp_signals_restore(struct hp_signals *signals);

struct hp_command {
	pid_t pid;	   /* 0: none */
	int go_fd;	   /* writing a byte lets it exec */
	int go_reader_fd;  /* the reading end, kept: see hp_command_release */
	int failure_fd;	   /* its errno, if exec fails */
	uint64_t start_ns; /* monotonic, at release */
	bool ended;
	struct hp_run run; /* filled when it has ended */
};

/* Forks the command and holds it before its exec. `input` and `output` replace its standard input
 * and output; 0: they do not. */
struct hp_error *hp_command_start(struct hp_command *command, char *const *argv, int input,
				  int output, const struct hp_signals *signals);
/* Lets the command run; a command that was killed meanwhile has ended. Fails if exec fails:
 * NOT_FOUND (127 in a shell), else NOT_PERMITTED (126). */
struct hp_error *hp_command_release(struct hp_command *command, const char *name);
/* Reaps the command if it has ended; with `wait`, waits for its end. */
void hp_command_reap(struct hp_command *command, bool wait);
/* Kills a command that was not released; forgets one that was. */
void hp_command_abandon(struct hp_command *command);

/* Every thread of the processes, and the single threads; malloc'ed. ESRCH becomes NOT_FOUND. */
struct hp_error *hp_threads_of(const pid_t *pids, size_t pid_count, const pid_t *tids,
			       size_t tid_count, pid_t **threads, size_t *count);
/* The thread's process. 0 when it is gone. */
pid_t hp_process_of_thread(pid_t tid);

/* Running processes, all of them; malloc'ed. */
struct hp_error *hp_all_processes(pid_t **pids, size_t *count);

#endif
