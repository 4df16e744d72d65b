/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers to system calls, by subject; call_table.c says which call gets which. Each puts the
 * result into `call` and returns true, or returns false: then the window ends (system_calls.h).
 */
#ifndef SHADOW_SYSCALLS_ANSWERS_H
#define SHADOW_SYSCALLS_ANSWERS_H

#include "system_calls.h"

#include <sys/stat.h>

/* One call of the copy: its arguments and the answer. */
struct call {
	int64_t number;
	uint64_t a[6];
	int64_t result;
	uint64_t guessed_at; /* see hp_engine_call */
	uint64_t guessed_bytes;
};

typedef bool call_answer(struct shadow_calls *calls, struct call *call);

/* NULL: the call ends the window. */
call_answer *shadow_call_answer(int64_t number);

static inline bool call_done(struct call *call, int64_t result)
{
	call->result = result;
	return true;
}

/* Whether the range contains translated code, which must not be unmapped or changed, or memory of
 * the engine, which the copy must not touch. */
bool call_is_sacred(const struct shadow_calls *calls, uint64_t start, uint64_t bytes);

/* Writes to memory that the copy has named. False: the copy may not write there, or has no such
 * memory. */
bool call_write(const struct shadow_calls *calls, uint64_t to, const void *bytes, size_t size);

/* Writes a value that may differ from what the original got. */
static inline bool call_guess(const struct shadow_calls *calls, struct call *call, uint64_t to,
			      const void *bytes, size_t size)
{
	call->guessed_at = to;
	call->guessed_bytes = size;
	return call_write(calls, to, bytes, size);
}

/* The result is 0; nothing is done. */
call_answer answer_success;
/* Returns false. The original may wait in this call for others: see is_truncated. */
call_answer answer_wait;

/* --- memory: memory_calls.c ------------------------------------------------------------------- */

call_answer answer_mmap;
call_answer answer_brk;
call_answer answer_mremap;
call_answer answer_madvise;
call_answer answer_mprotect;
call_answer answer_munmap;

/* --- questions about the process itself: own_calls.c
 * ------------------------------------------- */

call_answer answer_id;
call_answer answer_prctl;
call_answer answer_mask; /* signal masks */
call_answer answer_sigaction;
call_answer answer_sigaltstack;
call_answer answer_futex;
/* returns false; after abort() the copy has left the original's path: see has_aborted */
call_answer answer_signal;
call_answer answer_clock;
call_answer answer_time_of_day;
call_answer answer_time;
call_answer answer_limit;
call_answer answer_affinity;
call_answer answer_usage;
call_answer answer_times;
call_answer answer_system; /* sysinfo */

/* --- descriptors: file_calls.c ---------------------------------------------------------------- */

/* Reads what the original reads there if nothing has changed since. Returns the number of bytes;
 * -1: impossible. */
int64_t read_file(struct shadow_calls *calls, struct descriptor *descriptor, uint64_t to,
		  uint64_t bytes, uint64_t position);
call_answer answer_read;
call_answer answer_readv;
call_answer answer_entries;
call_answer answer_write;
call_answer answer_writev;
call_answer answer_lseek;
call_answer answer_resize;
call_answer answer_fstat;
call_answer answer_close;
call_answer answer_fcntl;
call_answer answer_ioctl;

/* The status of descriptor `number`. */
bool answer_descriptor_status(struct shadow_calls *calls, struct call *call, uint64_t number,
			      uint64_t to);
/* Times in the status change when the original reads and writes, so they do not tell states
 * apart. */
bool answer_status(struct shadow_calls *calls, struct call *call, uint64_t to,
		   const struct stat *status);

/* --- all of them, from a log: logged_calls.c --------------------------------------------------- */

/* Answers the call at `registers`. Sets `moment` as in hp_engine_call. */
bool answer_from_log(struct shadow_calls *calls, struct call *call,
		     const struct user_regs_struct *registers, size_t *moment);

/* --- names: path_calls.c ---------------------------------------------------------------------- */

call_answer answer_named;

#endif
