/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log of the system calls of one thread of the target, in order, and of the memory that they
 * changed. recorder.h writes it; syscalls/logged_calls.c answers the calls of the copy from it.
 *
 * Everything in it comes from the target and is not trusted: its size is bounded, and it is written
 * only to memory that the copy itself may write. It is excluded from core files.
 */
#ifndef SHADOW_COPY_CALL_LOG_H
#define SHADOW_COPY_CALL_LOG_H

#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct logged_call {
	uint64_t behind; /* address of the instruction behind the `syscall` */
	uint64_t stack;	 /* the stack pointer */
	int64_t number;
	uint64_t a[6];
	int64_t result;
	uint64_t entered_ns, left_ns; /* CLOCK_MONOTONIC: when we saw it stop */
	/* CPU time of the thread by then, with what stopping it takes; 0: unknown. */
	uint64_t entered_cpu_ns, left_cpu_ns;
	uint64_t
		user_ns; /* user CPU time from the first call's entry to this one's: see call_log_time */
	uint32_t first_piece, piece_count;
	bool is_complete; /* it has returned; all but the last one have */
};

/* Memory that holds what a call wrote, as it was behind it. */
struct logged_piece {
	uint64_t address;
	uint32_t bytes, offset;
};

enum call_log_end {
	CALL_LOG_LENGTH,   /* as long as was wanted */
	CALL_LOG_CALL,	   /* the last call is one that cannot be answered from a log */
	CALL_LOG_SIGNAL,   /* a signal, or a stop by somebody else */
	CALL_LOG_LIMIT,	   /* of calls or bytes */
	CALL_LOG_PATIENCE, /* it waited in a call for too long, or did not call at all */
	CALL_LOG_GONE,	   /* the thread has ended */
};

struct call_log {
	struct logged_call *calls; /* LOGGED_CALLS of them. All three are of one mapping, owned */
	struct logged_piece *pieces;
	uint8_t *bytes;
	size_t call_count, piece_count, used_bytes;
	enum call_log_end end;
	/* Meanwhile both threads, or whoever records, were ready to run, and others had the CPU: that is
	 * nobody's loss. 0: unknown. */
	uint64_t delayed_ns;
	uint64_t own_cpu_ns; /* of the one that records */
	uint64_t lost_ns;    /* what the thread lost by its stops: see call_log_time */
};

/* Empty. False: no memory. Memory is kept from one time to the next. */
bool call_log_begin(struct call_log *log);
void call_log_clear(struct call_log *log);
/* Room for a piece of the newest call; NULL: a limit. */
uint8_t *call_log_add(struct call_log *log, uint64_t address, uint64_t bytes);
/*
 * Sets user_ns of all calls, and lost_ns, from the times at which the thread stopped. A call that does next
 * to nothing takes, from its entry to its return, what one stop takes; so stops are the same low quantile
 * of all, and what stretches between calls take beyond that is the program's own. What they take by the
 * clock on the wall beyond that is lost, but for delayed_ns; where it is much more than usual others had
 * the CPU, too. No less than the CPU time of both is lost.
 */
void call_log_time(struct call_log *log);

#endif
