/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Evaluates expressions of call frame information (DWARF 5, section 2.5), which PLT entries,
 * signal frames and assembly use. The number of steps is bounded, and only the copied stack is
 * read.
 */
#ifndef UNWIND_EXPRESSION_H
#define UNWIND_EXPRESSION_H

#include "table.h"

enum read_result { READ_OK, READ_BEYOND, READ_NEVER };

/* Reads eight bytes of the stack; BEYOND if they lie above the end of the copy, NEVER if no stack
 * is there. */
enum read_result stack_read(const struct hp_unwind_stack *stack, uint64_t address, uint64_t *value);

/* Evaluates an expression. `cfa`: the initial value on its stack; NULL for none. */
enum read_result expression_value(const struct hp_unwind_table *table, int32_t number,
				  const struct hp_unwind_registers *registers,
				  const struct hp_unwind_stack *stack, const uint64_t *cfa,
				  uint64_t *value);

#endif
