/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of the memory that each system call writes in its process, by its arguments and result.
 */
#ifndef SHADOW_COPY_CALL_OUTPUTS_H
#define SHADOW_COPY_CALL_OUTPUTS_H

#include "areas.h"
#include "call_log.h"

/* Whether all that the call does to its process is known, but for what the kernel keeps of it. */
bool call_is_loggable(int64_t number, const uint64_t a[6]);
/* It changes the address space: the copy has to make it itself, with the same result. */
bool call_is_carried_out(int64_t number);
/* The arguments that say what the call is to do, bit 0 being the first: not, say, how long it may wait. */
unsigned call_compared(int64_t number);

/* Reads what the newest call of the log has written to the memory of the thread, which is held behind
 * it. `areas`: of its process; memory elsewhere, and what is secret, is not read. False: it cannot be
 * read, or is too much. */
bool call_outputs_read(struct call_log *log, pid_t tid, const struct areas *areas);

#endif
