/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pipe whose reader has gone away. */
#ifndef HPCPROF_BASE_BROKEN_PIPE_H
#define HPCPROF_BASE_BROKEN_PIPE_H

/* From here on a write to one fails with EPIPE and does not end the process, which runs a command
 * that somebody else waits for. Before there are threads. */
void hp_broken_pipe_ignore(void);
/* SIGPIPE as it was found. Async-signal-safe: for a child before its exec. */
void hp_broken_pipe_restore(void);

#endif
