/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads of ours beside those that a program's signals are for. */
#ifndef HPCPROF_BASE_THREAD_H
#define HPCPROF_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create(): 0 or an errno value. Every signal is blocked in the thread from its first
 * instruction on. */
int hp_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
