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

/* Eight bytes of the stack; BEYOND if they lie above its end, NEVER where no stack is. */
enum read_result stack_read(const struct hp_unwind_stack *stack, uint64_t address, uint64_t *value);

/* `cfa`: what is on the expression's stack at first, NULL for nothing. */
enum read_result expression_value(const struct hp_unwind_table *table, int32_t number,
				  const struct hp_unwind_registers *registers,
				  const struct hp_unwind_stack *stack, const uint64_t *cfa,
				  uint64_t *value);

#endif
