/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of the memory that each system call writes in its process, by its arguments and result.
 */
#ifndef SHADOW_COPY_CALL_OUTPUTS_H
#define SHADOW_COPY_CALL_OUTPUTS_H

#include "areas.h"
#include "call_log.h"

/* Whether everything that the call does to its process is known, except for the kernel's own
 * state. `has_locked`: some of the memory of the process is locked. */
bool call_is_loggable(int64_t number, const uint64_t a[6], bool has_locked);
/* Whether the call changes the address space: then the copy has to make it, too, with the same
 * result. */
bool call_is_carried_out(int64_t number);
/* The arguments that determine what the call does (bit 0: the first); others, such as how long it
 * may wait, are not compared. */
unsigned call_compared(int64_t number);

/* Reads what the newest call of the log has written to the memory of the thread, which is held
 * after it. `areas`: of its process. Memory outside of these, and secret memory, is not read.
 * False: it cannot be read, or it is too much. */
bool call_outputs_read(struct call_log *log, pid_t tid, const struct areas *areas);

#endif
