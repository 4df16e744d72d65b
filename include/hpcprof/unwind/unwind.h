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

/* Finds the code at an address, of the frame with this number (0: the innermost). False if no
 * executable memory is mapped there: then it is no frame. Mostly called once per frame, in order;
 * not for those that are taken from the past path. */
typedef bool (*hp_unwind_find)(void *context, size_t frame, uint64_t address,
			       struct hp_unwind_place *place);

enum {
	HP_UNWIND_IS_RETURN = 1, /* `address` is behind the call */
	HP_UNWIND_IS_GUESS = 2,	 /* found without a table */
};

/* What a later path of the thread is compared with. rbp and rbx have a bit each. */
struct hp_unwind_trace {
	uint64_t rbp; /* in the frame; 0 where it is not known */
	uint64_t rbx;
	uint32_t known; /* registers, as hp_unwind_registers */
	/* Where the caller's address, rbp and rbx are, from the frame's stack pointer. */
	int32_t read_at[3];
	uint8_t read;	  /* a bit for each of these three */
	uint8_t uses;	  /* registers that are needed to leave the frame */
	uint8_t hands_on; /* registers that are the same in the caller */
	uint8_t matters;  /* registers that are needed to leave the frame or one further out */
	bool is_complete; /* nothing else was needed to leave the frame */
};

/* One frame, innermost first. */
struct hp_unwind_frame {
	uint64_t address;
	uint64_t stack; /* the stack pointer in this frame */
	/* The stack pointer in its caller, which may be known where the caller itself is not; 0:
	 * not known. */
	uint64_t caller_stack;
	struct hp_unwind_trace trace;
	uint32_t past; /* the number of this frame in the past path, plus 1; 0: it is none of it */
	uint8_t flags;
};

/* A path that the same thread had, in the same address space, after hp_unwind_pass. */
struct hp_unwind_past {
	const struct hp_unwind_frame *frames;
	size_t count;
};

enum hp_unwind_end {
	HP_UNWIND_ROOT,	     /* the last frame has no caller: the path is whole */
	HP_UNWIND_TRUNCATED, /* the copied stack, or the room for frames, ends before the path does */
	HP_UNWIND_LOST,	     /* the next address is no code, or the frame cannot be unwound */
};

/*
 * Writes at most `room` frames, of which the first is the thread's own place, and returns how many;
 * at least one if `room` is not 0.
 *
 * `past` may be NULL. It saves time, and changes nothing: from a frame on that is one of the past
 * path, the words of the stack are compared with what they were, as far as they are copied, instead
 * of looking up the code. Of frames that were taken from there, the trace's registers that do not
 * matter are those of an earlier path.
 */
size_t hp_unwind(const struct hp_unwind_registers *registers, const struct hp_unwind_stack *stack,
		 hp_unwind_find find, void *context, const struct hp_unwind_past *past,
		 struct hp_unwind_frame *frames, size_t room, enum hp_unwind_end *end);

/* Prepares the frames of a whole path, whose last frame is the root, to be a past one. */
void hp_unwind_pass(struct hp_unwind_frame *frames, size_t count);

#endif
