/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes the results of instructions that do not branch. */
#include "x86_64_step.h"

#include <Zydis/Zydis.h>

static bool run_addition(const struct step *step)
{
	unsigned width = step_width(step, 0);
	struct hp_state *state = step->state;
	struct hp_partial a = step_get(step, 0);
	uint16_t mnemonic = step->insn->mnemonic;
	bool is_step = mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC;
	bool adds = mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_ADC ||
		    mnemonic == ZYDIS_MNEMONIC_INC;
	bool carries = mnemonic == ZYDIS_MNEMONIC_ADC || mnemonic == ZYDIS_MNEMONIC_SBB;
	struct hp_partial b = is_step ? partial_of(1) : partial_cut(step_get(step, 1), width);
	uint64_t carry = carries && (state->flags & CARRY);
	uint8_t carry_known = state->known_flags & CARRY;
	uint8_t carry_was = state->flags & CARRY;
	struct hp_partial result;

	if (carries && !carry_known)
		return false;
	result = adds ? partial_add(a, b, carry, width) : partial_subtract(a, b, carry, width);
	if (adds)
		flags_of_sum(state, a, b, result, carry, width);
	else
		flags_of_difference(state, a, b, result, carry, width);
	if (is_step) {
		flags_forget(state, CARRY);
		if (carry_known)
			flags_set(state, CARRY, carry_was);
	}
	if (mnemonic == ZYDIS_MNEMONIC_SUB && step->insn->is_zeroing) {
		result = partial_of(0);
		flags_of_difference(state, result, result, result, 0, width);
	}
	if (mnemonic != ZYDIS_MNEMONIC_CMP)
		step_put(step, 0, result);
	return true;
}

static bool run_logic(const struct step *step)
{
	unsigned width = step_width(step, 0);
	struct hp_partial a = step_get(step, 0);
	struct hp_partial b = partial_cut(step_get(step, 1), width);
	struct hp_partial result;

	switch ((unsigned)step->insn->mnemonic) {
	case ZYDIS_MNEMONIC_OR:
		result = partial_or(a, b);
		break;
	case ZYDIS_MNEMONIC_XOR:
		result = step->insn->is_zeroing ? partial_of(0) : partial_xor(a, b);
		break;
	default:
		result = partial_and(a, b);
		break;
	}
	flags_of_logic(step->state, result, width);
	if (step->insn->mnemonic != ZYDIS_MNEMONIC_TEST)
		step_put(step, 0, result);
	return true;
}

static bool run_negation(const struct step *step)
{
	unsigned width = step_width(step, 0);
	struct hp_partial a = step_get(step, 0);
	struct hp_partial result;

	if (step->insn->mnemonic == ZYDIS_MNEMONIC_NOT) {
		step_put(step, 0, partial_not(a, width));
		return true;
	}
	result = partial_subtract(partial_of(0), a, 0, width);
	flags_of_difference(step->state, partial_of(0), a, result, 0, width);
	if (a.value)
		flags_set(step->state, CARRY, true);
	step_put(step, 0, result);
	return true;
}

static bool run_shift(const struct step *step)
{
	unsigned width = step_width(step, 0);
	uint16_t mnemonic = step->insn->mnemonic;
	struct hp_partial a = step_get(step, 0);
	struct hp_partial by = step->insn->operand_count > 1 ? step_get(step, 1) : partial_of(1);
	uint64_t limit = width == 64 ? 63 : 31;
	struct hp_partial result = a;
	uint64_t last = 0; /* the bit shifted out last */
	unsigned count;

	if ((by.known & limit) != limit)
		return false;
	count = (unsigned)(by.value & limit);
	if (count == 0) {
		step_put(step, 0, a); /* clears what is above 32 bits */
		return true;
	}
	if (count >= width)
		return false; /* for 8 and 16 bits */
	if (mnemonic == ZYDIS_MNEMONIC_SHL) {
		result = partial_shift_left(a, count, width);
		last = UINT64_C(1) << (width - count);
	} else {
		result = mnemonic == ZYDIS_MNEMONIC_SAR
				 ? partial_cut(partial_shift_sign(partial_sign_extend(a, width, 64),
								  count),
					       width)
				 : partial_shift_right(a, count);
		last = UINT64_C(1) << (count - 1);
	}
	flags_of_result(step->state, result, width);
	flags_forget(step->state, CARRY | OVERFLOW | ADJUST);
	if (a.known & last)
		flags_set(step->state, CARRY, a.value & last);
	step_put(step, 0, result);
	return true;
}

static bool run_rotation(const struct step *step)
{
	unsigned width = step_width(step, 0);
	struct hp_partial a = step_get(step, 0);
	struct hp_partial by = step->insn->operand_count > 1 ? step_get(step, 1) : partial_of(1);
	uint64_t limit = width == 64 ? 63 : 31;
	struct hp_partial result;
	unsigned left;

	if ((by.known & limit) != limit)
		return false;
	if ((by.value & limit) == 0) {
		step_put(step, 0, a);
		return true;
	}
	left = (unsigned)(by.value & limit) % width;
	if (step->insn->mnemonic == ZYDIS_MNEMONIC_ROR)
		left = (width - left) % width;
	result = left == 0 ? a
			   : partial_or(partial_shift_left(a, left, width),
					partial_shift_right(a, width - left));
	flags_forget(step->state, CARRY | OVERFLOW);
	step_put(step, 0, result);
	return true;
}

static bool run_multiplication(const struct step *step)
{
	const struct hp_insn *insn = step->insn;
	unsigned width = step_width(step, 0);
	unsigned first = insn->operand_count == 3 ? 1 : 0;

	if (insn->mnemonic == ZYDIS_MNEMONIC_IMUL && insn->operand_count >= 2 &&
	    insn->operands[0].type == HP_OPERAND_REGISTER) {
		struct hp_partial result =
			partial_multiply(step_get(step, first),
					 partial_cut(step_get(step, first + 1), width), width);

		flags_forget(step->state, ARITHMETIC);
		step_put(step, 0, result);
		return true;
	}
	return false;
}

static bool run_bits(const struct step *step)
{
	unsigned width = step_width(step, 0);
	struct hp_state *state = step->state;
	uint16_t mnemonic = step->insn->mnemonic;
	struct hp_partial a = step_get(step, 1);
	bool counts = mnemonic == ZYDIS_MNEMONIC_TZCNT || mnemonic == ZYDIS_MNEMONIC_LZCNT;
	uint64_t result = 0;

	if (!partial_is_known(a))
		return false;
	if (mnemonic == ZYDIS_MNEMONIC_POPCNT) {
		result = (uint64_t)__builtin_popcountll(a.value);
		flags_forget(state, ARITHMETIC);
		flags_set(state, ZERO, a.value == 0);
		flags_set(state, CARRY, false);
		step_put(step, 0, partial_of(result));
		return true;
	}
	if (a.value == 0 && !counts)
		return false; /* the register may be unchanged */
	if (a.value == 0)
		result = width;
	else if (mnemonic == ZYDIS_MNEMONIC_BSR)
		result = 63u - (unsigned)__builtin_clzll(a.value);
	else if (mnemonic == ZYDIS_MNEMONIC_LZCNT)
		result = (unsigned)__builtin_clzll(a.value) - (64 - width);
	else
		result = (unsigned)__builtin_ctzll(a.value);
	flags_forget(state, ARITHMETIC);
	flags_set(state, ZERO, counts ? result == 0 : a.value == 0);
	if (counts)
		flags_set(state, CARRY, a.value == 0);
	step_put(step, 0, partial_of(result));
	return true;
}

static bool run_bit_test(const struct step *step)
{
	unsigned width = step_width(step, 0);
	struct hp_partial a;
	struct hp_partial by = step_get(step, 1);
	uint64_t bit;

	if (step->insn->operands[0].type != HP_OPERAND_REGISTER ||
	    (by.known & (width - 1)) != width - 1)
		return false;
	bit = UINT64_C(1) << (by.value & (width - 1));
	a = step_get(step, 0);
	flags_forget(step->state, CARRY | OVERFLOW | SIGN | ADJUST | PARITY);
	if (a.known & bit)
		flags_set(step->state, CARRY, a.value & bit);
	switch ((unsigned)step->insn->mnemonic) {
	case ZYDIS_MNEMONIC_BTS:
		step_put(step, 0, partial_or(a, partial_of(bit)));
		break;
	case ZYDIS_MNEMONIC_BTR:
		step_put(step, 0, partial_and(a, partial_of(~bit)));
		break;
	case ZYDIS_MNEMONIC_BTC:
		step_put(step, 0, partial_xor(a, partial_of(bit)));
		break;
	default:
		break;
	}
	return true;
}

/* cbw to cqo, whose operands are hidden. */
static bool run_widening(const struct step *step)
{
	struct hp_state *state = step->state;
	struct hp_partial a = state->registers[RAX];

	switch ((unsigned)step->insn->mnemonic) {
	case ZYDIS_MNEMONIC_CBW:
		step_set_register(state, RAX, 16, 0, partial_sign_extend(a, 8, 16));
		return true;
	case ZYDIS_MNEMONIC_CWDE:
		step_set_register(state, RAX, 32, 0, partial_sign_extend(a, 16, 32));
		return true;
	case ZYDIS_MNEMONIC_CDQE:
		step_set_register(state, RAX, 64, 0, partial_sign_extend(a, 32, 64));
		return true;
	case ZYDIS_MNEMONIC_CDQ:
		a = partial_shift_right(partial_sign_extend(a, 32, 64), 32);
		step_set_register(state, RDX, 32, 0, a);
		return true;
	case ZYDIS_MNEMONIC_CQO:
		step_set_register(state, RDX, 64, 0, partial_shift_sign(a, 63));
		return true;
	default:
		return false;
	}
}

static bool run_move(const struct step *step)
{
	unsigned width = step_width(step, 0);

	if (step->insn->operation == HP_OPERATION_SIGN_EXTEND)
		step_put(step, 0,
			 partial_sign_extend(step_get(step, 1), step_width(step, 1), width));
	else
		step_put(step, 0, partial_cut(step_get(step, 1), width));
	return true;
}

static bool run_address(const struct step *step)
{
	if (step->insn->memory_count == 0)
		return false;
	step_put(step, 0,
		 partial_cut(step_address(step, &step->insn->memories[0]), step_width(step, 0)));
	return true;
}

static bool run_conditional(const struct step *step, unsigned condition)
{
	int holds = flags_hold(step->state, condition);
	unsigned width = step_width(step, 0);

	if (step->insn->operand_count == 1) { /* set */
		step_put(step, 0,
			 holds < 0 ? (struct hp_partial){ 0, ~UINT64_C(1) }
				   : partial_of(holds == 1));
		return true;
	}
	if (holds < 0)
		step_put(step, 0,
			 partial_either(step_get(step, 0), partial_cut(step_get(step, 1), width)));
	else
		step_put(step, 0,
			 holds ? partial_cut(step_get(step, 1), width) : step_get(step, 0));
	return true;
}

static bool run_exchange(const struct step *step)
{
	struct hp_partial a = step_get(step, 0);
	struct hp_partial b = step_get(step, 1);

	step_put(step, 0, b);
	step_put(step, 1, a);
	return true;
}

static bool run_swap(const struct step *step)
{
	unsigned width = step_width(step, 0);
	struct hp_partial a = step_get(step, 0);

	if (width < 32)
		return false;
	a.value = __builtin_bswap64(a.value) >> (64 - width);
	a.known = __builtin_bswap64(a.known) >> (64 - width);
	step_put(step, 0, partial_cut(a, width));
	return true;
}

static bool run_stack(const struct step *step)
{
	struct hp_state *state = step->state;
	unsigned bytes = step->insn->operand_count ? step->insn->operands[0].bytes : 8;
	struct hp_partial value;

	switch (step->insn->operation) {
	case HP_OPERATION_PUSH:
		if (step->insn->operands[0].type == HP_OPERAND_IMMEDIATE)
			bytes = 8;
		if (bytes != 8)
			return false;
		step_push(step, 8, step_get(step, 0));
		return true;
	case HP_OPERATION_POP:
		if (bytes != 8)
			return false;
		value = step_pop(step, 8);
		step_put(step, 0, value);
		return true;
	case HP_OPERATION_LEAVE:
		state->registers[RSP] = state->registers[RBP];
		state->registers[RBP] = step_pop(step, 8);
		return true;
	default:
		return false;
	}
}

static bool is_general(const struct hp_operand *operand)
{
	return operand->bytes == 1 || operand->bytes == 2 || operand->bytes == 4 ||
	       operand->bytes == 8;
}

/* For whole general registers, and memory of their sizes. */
static bool run_general(const struct step *step)
{
	switch ((unsigned)step->insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return run_move(step);
	case ZYDIS_MNEMONIC_LEA:
		return run_address(step);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_CMP:
		return run_addition(step);
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_TEST:
		return run_logic(step);
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
		return run_negation(step);
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		return run_shift(step);
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
		return run_rotation(step);
	case ZYDIS_MNEMONIC_IMUL:
		return run_multiplication(step);
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_POPCNT:
		return run_bits(step);
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		return run_bit_test(step);
	case ZYDIS_MNEMONIC_XCHG:
		return run_exchange(step);
	case ZYDIS_MNEMONIC_BSWAP:
		return run_swap(step);
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
		return run_stack(step);
	default:
		return false;
	}
}

bool step_operate(const struct step *step)
{
	const struct hp_insn *insn = step->insn;
	int condition = flags_condition(insn->mnemonic);

	if (insn->is_repeated || insn->is_locked)
		return false;
	if (run_widening(step))
		return true;
	if (insn->operation == HP_OPERATION_LEAVE)
		return run_stack(step);
	if (insn->operand_count == 0 || !is_general(&insn->operands[0]) ||
	    (insn->operand_count > 1 && !is_general(&insn->operands[1])) ||
	    (insn->operands[0].type == HP_OPERAND_REGISTER &&
	     insn->operands[0].number >= HP_STATE_REGISTERS))
		return insn->operation == HP_OPERATION_ADDRESS && run_address(step);
	if (condition >= 0)
		return run_conditional(step, (unsigned)condition);
	return run_general(step);
}
