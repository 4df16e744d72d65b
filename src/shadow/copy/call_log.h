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
	uint64_t behind; /* address of the instruction after `syscall` */
	uint64_t stack;	 /* the stack pointer */
	int64_t number;
	uint64_t a[6];
	int64_t result;
	uint64_t entered_ns, left_ns; /* CLOCK_MONOTONIC: when the recorder saw the thread stop */
	/* CPU time of the thread at that moment, including what stopping takes; 0: unknown */
	uint64_t entered_cpu_ns, left_cpu_ns;
	uint64_t
		/* user CPU time from the entry of the first call to the entry of this one: see
		 * call_log_time */
		user_ns;
	uint32_t first_piece, piece_count;
	bool is_complete; /* it has returned, as all but the last have */
};

/* The contents of memory that a call wrote, after the call. */
struct logged_piece {
	uint64_t address;
	uint32_t bytes, offset;
};

enum call_log_end {
	CALL_LOG_LENGTH,   /* the wanted length was reached */
	CALL_LOG_CALL,	   /* the last call is one that cannot be answered from a log */
	CALL_LOG_SIGNAL,   /* a signal, or a stop by another process */
	CALL_LOG_LIMIT,	   /* too many calls or bytes */
	CALL_LOG_PATIENCE, /* the thread waited too long in a call, or made none */
	CALL_LOG_GONE,	   /* the thread has ended */
};

struct call_log {
	/* LOGGED_CALLS of them. All three arrays are in one mapping, owned */
	struct logged_call *calls;
	struct logged_piece *pieces;
	uint8_t *bytes;
	size_t call_count, piece_count, used_bytes;
	enum call_log_end end;
	/* Time in which the threads or the recorder were ready to run, but others had the CPU. It
	 * is not counted as lost. 0: unknown. */
	uint64_t delayed_ns;
	uint64_t own_cpu_ns; /* CPU time of the recorder */
	uint64_t lost_ns;    /* time that the thread lost by its stops: see call_log_time */
};

/* Empties the log; its memory is reused. False: out of memory. */
bool call_log_begin(struct call_log *log);
void call_log_clear(struct call_log *log);
/* Room for a piece of memory that the newest call wrote; NULL: a limit is reached. */
uint8_t *call_log_add(struct call_log *log, uint64_t address, uint64_t bytes);
/*
 * Sets user_ns of all calls, and lost_ns, from the times of the stops. A call that does almost
 * nothing takes, from entry to return, the CPU time of one stop; so that time is a low quantile
 * over all calls, and at most most_stop_ns. What a stretch between two calls takes beyond it is the
 * program's own CPU time. The rest of the stretch's wall time is lost, except delayed_ns; where the
 * rest is far above the median, others had the CPU, and the excess is not counted either. At least
 * the CPU time of both threads is lost.
 */
void call_log_time(struct call_log *log);

#endif
