/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the memory that can be reached from the registers of a held thread: its stack, the memory
 * that its registers point to, and the memory that pointers in there point to. Registers alone do
 * not identify a moment: in an interpreter's loop they are the same in each iteration, and the
 * counters are two pointers away; and where a function calls itself, only the frames of its callers
 * tell where in the recursion it is.
 *
 * Only memory that has the same contents in the copy is read: memory that the program wrote, that
 * is private, is not secret (secrets.h), and is not near the thread control block, where the kernel
 * and the C library store values that differ in the copy. If the process has several threads, only
 * the stack of this thread is read, because the other threads write to the rest.
 */
#ifndef SHADOW_COPY_REACHED_H
#define SHADOW_COPY_REACHED_H

#include "areas.h"
#include "../tuning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reached_piece {
	uint64_t address;
	uint32_t bytes; /* a multiple of 8, as is `address` */
	uint32_t offset;
};

struct reached {
	struct reached_piece pieces[REACHED_PIECES]; /* some of them overlap */
	size_t count;
	uint32_t used_bytes;
	uint8_t bytes[REACHED_BYTES];
};

/* Reads what the registers point to; unreadable memory is left out. `areas` are those of the copy,
 * `general` the registers by their numbers in instructions. */
void reached_read(struct reached *reached, pid_t tid, const struct areas *areas,
		  const uint64_t general[16], uint64_t thread_pointer, bool is_alone);

#endif
