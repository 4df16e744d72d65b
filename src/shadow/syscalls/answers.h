/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The answers to system calls, by subject. Each puts the result into `call` and returns true, or
 * returns false: then the window ends (system_calls.h).
 */
#ifndef SHADOW_SYSCALLS_ANSWERS_H
#define SHADOW_SYSCALLS_ANSWERS_H

#include "system_calls.h"

#include <sys/stat.h>

/* One call: its arguments, and what becomes of it. */
struct call {
	int64_t number;
	uint64_t a[6];
	int64_t result;
	uint64_t guessed_at; /* see hp_engine_call */
	uint64_t guessed_bytes;
};

static inline bool call_done(struct call *call, int64_t result)
{
	call->result = result;
	return true;
}

/* Code that is taken away or may be changed has been translated already; and what is ours the copy
 * must not touch. */
bool call_is_sacred(const struct shadow_calls *calls, uint64_t start, uint64_t bytes);

/* What the copy asked for, where it asked for it. False: that is sacred, or it has no such memory. */
bool call_write(const struct shadow_calls *calls, uint64_t to, const void *bytes, size_t size);

/* Writes what the original may have got somewhat otherwise. */
static inline bool call_guess(const struct shadow_calls *calls, struct call *call, uint64_t to,
			      const void *bytes, size_t size)
{
	call->guessed_at = to;
	call->guessed_bytes = size;
	return call_write(calls, to, bytes, size);
}

/* --- descriptors: file_calls.c ---------------------------------------------------------------- */

/* What the original reads there, if nothing has changed since; how much. -1: cannot be done. */
int64_t read_file(struct shadow_calls *calls, struct descriptor *descriptor, uint64_t to,
		  uint64_t bytes, uint64_t position);
bool answer_read(struct shadow_calls *calls, struct call *call);
bool answer_readv(struct shadow_calls *calls, struct call *call);
bool answer_entries(struct shadow_calls *calls, struct call *call);
bool answer_write(struct shadow_calls *calls, struct call *call);
bool answer_writev(struct shadow_calls *calls, struct call *call);
bool answer_lseek(struct shadow_calls *calls, struct call *call);
bool answer_resize(struct shadow_calls *calls, struct call *call);
bool answer_fstat(struct shadow_calls *calls, struct call *call, uint64_t number, uint64_t to);
bool answer_close(struct shadow_calls *calls, struct call *call);
bool answer_fcntl(struct shadow_calls *calls, struct call *call);
bool answer_ioctl(struct shadow_calls *calls, struct call *call);

/* Its times change when the original reads and writes: they tell no states apart. */
bool answer_status(struct shadow_calls *calls, struct call *call, uint64_t to,
		   const struct stat *status);

/* --- names: path_calls.c ---------------------------------------------------------------------- */

bool answer_named(struct shadow_calls *calls, struct call *call);

#endif
