/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory that the registers of a held thread lead to: its stack, what its registers point to, and
 * what pointers in there point to. An interpreter's loop has the same registers in each round; its
 * counters are two pointers away.
 *
 * Only memory that a copy has as the thread left it: written by the program, private, no secret
 * (secrets.h), not near the thread's control block, where the kernel and the C library keep what a
 * copy has otherwise. Of a process of several threads only the stack of this one, since the others
 * write to the rest.
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
	uint32_t bytes; /* a multiple of 8, as is the address */
	uint32_t offset;
};

struct reached {
	struct reached_piece pieces[REACHED_PIECES]; /* some overlap */
	size_t count;
	uint32_t used_bytes;
	uint8_t bytes[REACHED_BYTES];
};

/* Reads it; what cannot be read is left out. `areas` are those of the copy, `general` the registers
 * as instructions number them. */
void reached_read(struct reached *reached, pid_t tid, const struct areas *areas,
		  const uint64_t general[16], uint64_t thread_pointer, bool is_alone);

#endif
