/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "expression.h"

#include <hpcprof/base/encoded.h>

#include <dwarf.h>
#include <string.h>

static const struct hp_encoded_form form = { .is_64 = true };

struct machine {
	const struct hp_unwind_registers *registers;
	const struct hp_unwind_stack *stack;
	struct hp_cursor cursor;
	const uint8_t *begin;
	uint64_t values[MOST_VALUES];
	size_t count;
	enum read_result result;
};

enum read_result stack_read(const struct hp_unwind_stack *stack, uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack->address;

	if (address < stack->address)
		return READ_NEVER;
	if (stack->size < sizeof(*value) || at > stack->size - sizeof(*value))
		return at < most_frame_bytes ? READ_BEYOND : READ_NEVER;
	memcpy(value, stack->bytes + at, sizeof(*value));
	return READ_OK;
}

static bool push(struct machine *machine, uint64_t value)
{
	if (machine->count == MOST_VALUES)
		return false;
	machine->values[machine->count++] = value;
	return true;
}

static bool push_register(struct machine *machine, uint64_t number)
{
	uint64_t offset;

	return hp_encoded_leb128(&machine->cursor, true, &offset) && number < HP_UNWIND_REGISTERS &&
	       machine->registers->known >> number & 1 &&
	       push(machine, machine->registers->at[number] + offset);
}

static bool push_constant(struct machine *machine, size_t size, bool is_signed)
{
	uint64_t value;

	return hp_encoded_fixed(form, &machine->cursor, size, is_signed, &value) &&
	       push(machine, value);
}

static bool pick(struct machine *machine, uint64_t depth)
{
	return depth < machine->count && push(machine, machine->values[machine->count - 1 - depth]);
}

static bool dereference(struct machine *machine)
{
	uint64_t *top = &machine->values[machine->count - 1];

	machine->result = stack_read(machine->stack, *top, top);
	return machine->result == READ_OK;
}

static bool jump(struct machine *machine, bool is_taken)
{
	uint64_t delta;
	ptrdiff_t at;

	if (!hp_encoded_fixed(form, &machine->cursor, 2, true, &delta))
		return false;
	at = machine->cursor.at - machine->begin;
	if (!is_taken)
		return true;
	at += (int16_t)delta;
	if (at < 0 || at > machine->cursor.end - machine->begin)
		return false;
	machine->cursor.at = machine->begin + at;
	return true;
}

/* Combines the two topmost values. Returns false if there is no such operation. */
static bool combine(uint8_t operation, uint64_t a, uint64_t b, uint64_t *value)
{
	switch (operation) {
	case DW_OP_and:
		*value = a & b;
		return true;
	case DW_OP_or:
		*value = a | b;
		return true;
	case DW_OP_xor:
		*value = a ^ b;
		return true;
	case DW_OP_plus:
		*value = a + b;
		return true;
	case DW_OP_minus:
		*value = a - b;
		return true;
	case DW_OP_mul:
		*value = a * b;
		return true;
	case DW_OP_shl:
		*value = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*value = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_eq:
		*value = a == b;
		return true;
	case DW_OP_ne:
		*value = a != b;
		return true;
	case DW_OP_ge:
		*value = (int64_t)a >= (int64_t)b;
		return true;
	case DW_OP_gt:
		*value = (int64_t)a > (int64_t)b;
		return true;
	case DW_OP_le:
		*value = (int64_t)a <= (int64_t)b;
		return true;
	case DW_OP_lt:
		*value = (int64_t)a < (int64_t)b;
		return true;
	default:
		return false;
	}
}

static bool run_two(struct machine *machine, uint8_t operation)
{
	uint64_t *values = machine->values;

	if (machine->count < 2 || !combine(operation, values[machine->count - 2],
					   values[machine->count - 1], &values[machine->count - 2]))
		return false;
	machine->count--;
	return true;
}

/* Runs an operation that takes a value from the stack. */
static bool run_one(struct machine *machine, uint8_t operation)
{
	uint64_t *top = &machine->values[machine->count - 1];
	uint64_t value;

	switch (operation) {
	case DW_OP_deref:
		return dereference(machine);
	case DW_OP_dup:
		return pick(machine, 0);
	case DW_OP_drop:
		machine->count--;
		return true;
	case DW_OP_neg:
		*top = -*top;
		return true;
	case DW_OP_not:
		*top = ~*top;
		return true;
	case DW_OP_plus_uconst:
		if (!hp_encoded_leb128(&machine->cursor, false, &value))
			return false;
		*top += value;
		return true;
	case DW_OP_bra:
		machine->count--;
		return jump(machine, *top != 0);
	case DW_OP_over:
		return pick(machine, 1);
	case DW_OP_swap:
		if (machine->count < 2)
			return false;
		value = top[0];
		top[0] = top[-1];
		top[-1] = value;
		return true;
	case DW_OP_pick:
		return hp_encoded_fixed(form, &machine->cursor, 1, false, &value) &&
		       pick(machine, value);
	default:
		return run_two(machine, operation);
	}
}

/* Runs an operation. False if it fails or is unknown. */
static bool run(struct machine *machine, uint8_t operation)
{
	uint64_t value;

	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
		return push(machine, operation - DW_OP_lit0);
	if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
		return push_register(machine, operation - DW_OP_breg0);
	switch (operation) {
	case DW_OP_nop:
		return true;
	case DW_OP_bregx:
		return hp_encoded_leb128(&machine->cursor, false, &value) &&
		       push_register(machine, value);
	case DW_OP_const1u:
		return push_constant(machine, 1, false);
	case DW_OP_const1s:
		return push_constant(machine, 1, true);
	case DW_OP_const2u:
		return push_constant(machine, 2, false);
	case DW_OP_const2s:
		return push_constant(machine, 2, true);
	case DW_OP_const4u:
		return push_constant(machine, 4, false);
	case DW_OP_const4s:
		return push_constant(machine, 4, true);
	case DW_OP_const8u:
	case DW_OP_const8s:
		return push_constant(machine, 8, false);
	case DW_OP_constu:
	case DW_OP_consts:
		return hp_encoded_leb128(&machine->cursor, operation == DW_OP_consts, &value) &&
		       push(machine, value);
	case DW_OP_skip:
		return jump(machine, true);
	default:
		return machine->count && run_one(machine, operation);
	}
}

enum read_result expression_value(const struct hp_unwind_table *table, int32_t number,
				  const struct hp_unwind_registers *registers,
				  const struct hp_unwind_stack *stack, const uint64_t *cfa,
				  uint64_t *value)
{
	const struct expression *expression = &table->expressions.at[number];
	const uint8_t *bytes = table->bytes.at + expression->at;
	struct machine machine = {
		.registers = registers,
		.stack = stack,
		.cursor = { bytes, bytes + expression->size },
		.begin = bytes,
		.result = READ_OK,
	};

	if (cfa)
		push(&machine, *cfa);
	for (size_t steps = 0; machine.cursor.at < machine.cursor.end; steps++) {
		if (steps == MOST_OPERATIONS || !run(&machine, *machine.cursor.at++))
			return machine.result == READ_OK ? READ_NEVER : machine.result;
	}
	if (!machine.count)
		return READ_NEVER;
	*value = machine.values[machine.count - 1];
	return READ_OK;
}
