/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call path of one moment, from the registers of a thread and a copy of the end of its stack.
 *
 * Each frame is unwound as the table of its image says. Where no table covers the code (generated
 * code, assembly), a frame pointer is assumed if the stack looks like it, and the result is marked
 * as a guess. Only the copied bytes are read. A thread may have forged its registers and its stack;
 * that falsifies only its own path, whose length and time are bounded.
 */
#ifndef HPCPROF_UNWIND_UNWIND_H
#define HPCPROF_UNWIND_UNWIND_H

#include <hpcprof/unwind/table.h>

enum {
	/* By DWARF's numbers (System V ABI, AMD64, "DWARF Register Number Mapping"). */
	HP_UNWIND_RAX = 0,
	HP_UNWIND_RBX = 3,
	HP_UNWIND_RBP = 6,
	HP_UNWIND_RSP = 7,
	HP_UNWIND_RIP = 16,
	HP_UNWIND_REGISTERS = 17,
};

struct hp_unwind_registers {
	uint64_t at[HP_UNWIND_REGISTERS];
	uint32_t known; /* a bit for each; RSP and RIP must be */
};

struct hp_unwind_stack {
	uint64_t address; /* of the first byte */
	const uint8_t *bytes;
	size_t size;
};

/* The code at an address. */
struct hp_unwind_place {
	const struct hp_unwind_table *table;
	const struct hp_unwind_recipe *recipe; /* of this table; NULL: none */
};

/* Finds the code at an address. False if no executable memory is mapped there: then it is no
 * frame. */
typedef bool (*hp_unwind_find)(void *context, uint64_t address, struct hp_unwind_place *place);

enum {
	HP_UNWIND_IS_RETURN = 1, /* `address` is behind the call */
	HP_UNWIND_IS_GUESS = 2,	 /* found without a table */
};

/* One frame, innermost first. */
struct hp_unwind_frame {
	uint64_t address;
	uint64_t stack; /* the stack pointer in this frame */
	/* The stack pointer in its caller, which may be known where the caller itself is not; 0:
	 * not known. */
	uint64_t caller_stack;
	uint8_t flags;
};

enum hp_unwind_end {
	HP_UNWIND_ROOT,	     /* the last frame has no caller: the path is whole */
	HP_UNWIND_TRUNCATED, /* the copied stack, or the room for frames, ends before the path does */
	HP_UNWIND_LOST,	     /* the next address is no code, or the frame cannot be unwound */
};

/* Writes at most `room` frames, of which the first is the thread's own place, and returns how many;
 * at least one if `room` is not 0. */
size_t hp_unwind(const struct hp_unwind_registers *registers, const struct hp_unwind_stack *stack,
		 hp_unwind_find find, void *context, struct hp_unwind_frame *frames, size_t room,
		 enum hp_unwind_end *end);

#endif
