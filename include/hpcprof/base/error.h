/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors as values.
 *
 * A fallible function returns `struct hp_error *`; NULL is success. The receiver owns the error: it
 * returns the error to its own caller (usually wrapped with context), or frees it. Messages are
 * sentences for a person, without a final full stop; context is prepended on the way up:
 *
 *	reading profile X: record 12 at offset 0x40: varint runs past the end
 *
 * `advice` says what to do next ("run: sudo sysctl kernel.perf_event_paranoid=2") and may be NULL.
 * Creating an error never fails: if memory is short, a static out-of-memory error is returned.
 */
#ifndef HPCPROF_BASE_ERROR_H
#define HPCPROF_BASE_ERROR_H

#include <stdarg.h>

/* The classes decide the exit status (design: CLI conventions), nothing finer. */
enum hp_error_class {
	HP_ERROR_SYSTEM,	/* the kernel or the machine refused: I/O, memory, resources */
	HP_ERROR_USAGE,		/* the command line is wrong or contradictory */
	HP_ERROR_INSUFFICIENT,	/* too little data for the question, or too poor */
	HP_ERROR_NOT_PERMITTED, /* privilege or policy forbids it */
	HP_ERROR_DAMAGED,	/* the input is not in the expected format */
	HP_ERROR_NOT_FOUND,	/* a named thing does not exist; callers often try elsewhere */
};

struct hp_error {
	enum hp_error_class class;
	int errno_value; /* 0 when no system call was involved */
	char *message;
	char *advice; /* NULL or a sentence */
};

struct hp_error *hp_error_create(enum hp_error_class class, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

/* A system call failed: appends strerror(errno_value). EACCES and EPERM become NOT_PERMITTED,
 * ENOENT NOT_FOUND, the rest SYSTEM. */
struct hp_error *hp_error_create_errno(int errno_value, const char *format, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

struct hp_error *hp_error_create_no_memory(void)
	__attribute__((returns_nonnull, warn_unused_result));

/* Prepends "context: ". Takes and returns ownership; NULL stays NULL. */
struct hp_error *hp_error_wrap(struct hp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* Replaces the advice. Takes and returns ownership; NULL stays NULL. */
struct hp_error *hp_error_advise(struct hp_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

void hp_error_destroy(struct hp_error *error);

#endif
