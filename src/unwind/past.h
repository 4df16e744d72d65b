/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames that are the same as in the thread's past path.
 *
 * How a frame is left depends on its code, its stack pointer, rbp and rbx, and on the words of the
 * stack that are read. So a frame whose registers are equal has the same caller if these words are
 * equal, and that has equal registers. Registers and words are not compared if nothing further out
 * depends on them: that is what a register's last value in the frame before mostly is. Frames that
 * need anything else (of signals, with expressions) are never taken to be the same.
 */
#ifndef UNWIND_PAST_H
#define UNWIND_PAST_H

#include "expression.h"

#include <hpcprof/unwind/unwind.h>

/* Notes the registers of a frame that was reached. */
void trace_registers(struct hp_unwind_trace *trace, const struct hp_unwind_registers *registers);
/* Notes that leaving the frame needs a register. */
void trace_use(struct hp_unwind_trace *trace, unsigned number);
/* Notes that the caller has the same value in a register. */
void trace_hand_on(struct hp_unwind_trace *trace, unsigned number);
/* Notes that a register of the caller was looked for at an address. */
void trace_read(struct hp_unwind_frame *frame, unsigned number, uint64_t address,
		enum read_result result);

enum past_end {
	PAST_OTHER,  /* some of the rest is not the same, or may be not */
	PAST_ROOT,   /* it is the same up to the root */
	PAST_BEYOND, /* it is the same as far as the stack is copied, or there is room */
};

/* Finds the frame that was reached in the past path, and how much of the rest is the same. `at` is
 * where it is looked for, and moves on to it, or behind what need not be looked at again. `taken`: how
 * many frames from there on the path has, unless it is another one. */
enum past_end past_find(const struct hp_unwind_past *past, size_t *at,
			const struct hp_unwind_frame *frame, const struct hp_unwind_stack *stack,
			size_t room, size_t *taken);

#endif
