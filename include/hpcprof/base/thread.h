/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts threads of hpcprof, in which all signals are blocked so that the main thread receives
 * them. Also sets the time slices of threads, reads what the kernel counts of them, and defers job
 * control.
 */
#ifndef HPCPROF_BASE_THREAD_H
#define HPCPROF_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* As pthread_create(): 0 or an errno value. Every signal is blocked in the thread from its first
 * instruction on. */
int hp_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Asks the scheduler for time slices of this length for a thread (0: the calling one) of a fair
 * policy. Of two threads that are owed the same, the one with the shorter slice runs first. Before
 * Linux 6.12, and where it is forbidden, it does nothing. */
void hp_thread_set_slice(pid_t tid, uint64_t slice_ns);
/* The shortest slice that Linux permits (kernel/sched/fair.c, custom slices). */
enum { HP_SHORTEST_SLICE_NS = 100000 };

/* The same for the calling thread, which also gets this niceness if it has the default one and is
 * permitted to. Threads and processes that it starts inherit both. */
void hp_thread_hurry(uint64_t slice_ns, int nice);

/* Whether the calling thread, of a fair policy, is one of long computation (SCHED_BATCH): it then never
 * takes a CPU from another thread as it wakes up, but waits for that one's slice to end. Its slice is
 * the usual one afterwards. Anybody may undo it. Returns what it was. */
bool hp_thread_set_batch(bool is_batch);

/* Gives the calling thread, and those that it starts, the lowest priority that nice(2) knows. An
 * ordinary user cannot undo it. */
void hp_thread_give_way(void);

struct hp_thread_times {
	uint64_t ran_ns;
	uint64_t delayed_ns; /* time ready to run without a CPU */
};
/* Reads the times of a thread of any process. False: the kernel does not report them, or the thread
 * has ended. */
bool hp_thread_times(pid_t pid, pid_t tid, struct hp_thread_times *times);
/* How often such a thread has called read(), write() and their variants, by the kernel's count.
 * False: the kernel does not tell, or the thread has ended. */
bool hp_thread_transfers(pid_t pid, pid_t tid, uint64_t *calls);
/* How often such a thread has waited: given up its CPU although it might have kept it. False: it has
 * ended. */
bool hp_thread_waits(pid_t pid, pid_t tid, uint64_t *waits);

/* Between these two calls job control (Ctrl-Z) does not stop the process, because another process
 * waits for it. Any thread may call them; they do not nest. Nothing delays SIGSTOP. */
void hp_thread_begin_unstoppable(void);
void hp_thread_end_unstoppable(void);
/* For a thread that has blocked SIGTSTP and received one: stops the process as SIGTSTP would, until
 * it is continued. */
void hp_thread_stop_process(void);

#endif
