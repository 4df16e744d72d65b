/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes writes to a pipe without a reader fail instead of ending the process. */
#ifndef HPCPROF_BASE_BROKEN_PIPE_H
#define HPCPROF_BASE_BROKEN_PIPE_H

/* After this call a write to a pipe without a reader fails with EPIPE and does not end the process:
 * the process may run a command that somebody waits for. Call it before the first thread starts. */
void hp_broken_pipe_ignore(void);
/* Restores the disposition that SIGPIPE had before. Async-signal-safe: for a child process before
 * exec. */
void hp_broken_pipe_restore(void);

#endif
