/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of ours beside those that a program's signals are for. */
#ifndef HPCPROF_BASE_THREAD_H
#define HPCPROF_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create(): 0 or an errno value. Every signal is blocked in the thread from its first
 * instruction on. */
int hp_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Between these two the process does not stop for job control (Ctrl-Z), as somebody else waits for
 * us. By any threads, not nested. Nothing holds off SIGSTOP. */
void hp_thread_begin_unstoppable(void);
void hp_thread_end_unstoppable(void);
/* For who has SIGTSTP blocked and has taken one: stops, as that would, until we are continued. */
void hp_thread_stop_process(void);

#endif
