/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of hpcprof, which must not take the signals of the main thread. */
#ifndef HPCPROF_BASE_THREAD_H
#define HPCPROF_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create(): 0 or an errno value. Every signal is blocked in the thread from its first
 * instruction on. */
int hp_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Asks the scheduler to run this thread soon whenever it wakes, for short whiles at a time: threads
 * that were made to wait for it wait less on a busy machine. Linux 6.12 and later; elsewhere it does
 * nothing. */
void hp_thread_hasten(void);

/* Between these two calls job control (Ctrl-Z) does not stop the process, because another process
 * waits for it. Any thread may call them; they do not nest. Nothing delays SIGSTOP. */
void hp_thread_begin_unstoppable(void);
void hp_thread_end_unstoppable(void);
/* For a thread that has blocked SIGTSTP and received one: stops the process as SIGTSTP would, until
 * it is continued. */
void hp_thread_stop_process(void);

#endif
