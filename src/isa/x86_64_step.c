/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What x86-64 instructions do to general registers, flags and memory, as far as it is known. */
#include "machines.h"
#include "partial.h"

#include <Zydis/Zydis.h>

enum { RAX, RCX, RDX, RSP = 4, RBP };
enum {
	CARRY = HP_FLAG_CARRY,
	ZERO = HP_FLAG_ZERO,
	SIGN = HP_FLAG_SIGN,
	OVERFLOW = HP_FLAG_OVERFLOW,
	PARITY = HP_FLAG_PARITY,
	ADJUST = HP_FLAG_ADJUST,
	OF_RESULT = ZERO | SIGN | PARITY,
	ARITHMETIC = OF_RESULT | CARRY | OVERFLOW | ADJUST,
};
static const uint64_t red_zone_bytes = 128;
static const uint64_t frame_bytes = 4096; /* of the stack: what a frame's spills are within */

/* One instruction under way. */
struct run {
	const struct hp_insn *insn;
	uint64_t shift;
	const struct hp_step_memory *memory;
	struct hp_state *state;
};

/* --- flags -------------------------------------------------------------------------------------
 */

static void set_flag(struct hp_state *state, uint8_t flag, bool value)
{
	state->known_flags |= flag;
	state->flags = (uint8_t)((state->flags & ~flag) | (value ? flag : 0));
}

static void forget_flags(struct hp_state *state, uint8_t flags)
{
	state->known_flags &= (uint8_t)~flags;
	state->flags &= (uint8_t)~flags;
}

static bool parity_of(uint64_t value)
{
	return !(__builtin_popcountll(value & 0xff) & 1);
}

/* Zero, sign and parity. */
static void set_result_flags(struct hp_state *state, struct hp_partial result, unsigned width)
{
	uint64_t mask = partial_mask(width);
	uint64_t sign = UINT64_C(1) << (width - 1);

	forget_flags(state, OF_RESULT);
	if (result.value & mask)
		set_flag(state, ZERO, false);
	else if ((result.known & mask) == mask)
		set_flag(state, ZERO, true);
	if (result.known & sign)
		set_flag(state, SIGN, result.value & sign);
	if ((result.known & 0xff) == 0xff)
		set_flag(state, PARITY, parity_of(result.value));
}

static void set_add_flags(struct hp_state *state, struct hp_partial a, struct hp_partial b,
			  struct hp_partial result, uint64_t carry, unsigned width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);
	uint64_t known = a.known & b.known & result.known;

	set_result_flags(state, result, width);
	forget_flags(state, CARRY | OVERFLOW | ADJUST);
	if (partial_is_known(a) && partial_is_known(b)) {
		unsigned __int128 sum = (unsigned __int128)a.value + b.value + carry;

		set_flag(state, CARRY, (sum >> width) & 1);
	}
	if (known & sign)
		set_flag(state, OVERFLOW, ~(a.value ^ b.value) & (a.value ^ result.value) & sign);
	if ((known & 0x1f) == 0x1f)
		set_flag(state, ADJUST, (a.value ^ b.value ^ result.value) & 0x10);
}

/* Of a - b; ranges and single bits tell more than the difference. */
static void set_subtract_flags(struct hp_state *state, struct hp_partial a, struct hp_partial b,
			       struct hp_partial result, uint64_t borrow, unsigned width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);
	uint64_t known = a.known & b.known & result.known;

	set_result_flags(state, result, width);
	forget_flags(state, CARRY | OVERFLOW | ADJUST);
	if (borrow == 0 && ((a.value ^ b.value) & a.known & b.known))
		set_flag(state, ZERO, false);
	if (partial_is_known(a) && partial_is_known(b))
		set_flag(state, CARRY, borrow ? a.value <= b.value : a.value < b.value);
	else if (borrow == 0 && partial_least(a) >= partial_most(b))
		set_flag(state, CARRY, false);
	else if (borrow == 0 && partial_most(a) < partial_least(b))
		set_flag(state, CARRY, true);
	if (known & sign)
		set_flag(state, OVERFLOW, (a.value ^ b.value) & (a.value ^ result.value) & sign);
	/* Neither is negative: no overflow, and the sign is the carry. */
	else if ((a.known & b.known & sign) && !((a.value | b.value) & sign)) {
		set_flag(state, OVERFLOW, false);
		if (state->known_flags & CARRY)
			set_flag(state, SIGN, state->flags & CARRY);
	}
	if ((known & 0x1f) == 0x1f)
		set_flag(state, ADJUST, (a.value ^ b.value ^ result.value) & 0x10);
}

static void set_logic_flags(struct hp_state *state, struct hp_partial result, unsigned width)
{
	set_result_flags(state, result, width);
	set_flag(state, CARRY, false);
	set_flag(state, OVERFLOW, false);
	forget_flags(state, ADJUST);
}

/* 1, 0, or -1 when it is not known. `code`: as in the opcodes. */
static int condition_holds(const struct hp_state *state, unsigned code)
{
	static const uint8_t needed[] = { OVERFLOW,
					  CARRY,
					  ZERO,
					  CARRY | ZERO,
					  SIGN,
					  PARITY,
					  SIGN | OVERFLOW,
					  ZERO | SIGN | OVERFLOW };
	uint8_t flags = state->flags;
	uint8_t known = state->known_flags;
	bool holds = false;
	bool is_less = !!(flags & SIGN) != !!(flags & OVERFLOW);
	bool knows_less = (known & SIGN) && (known & OVERFLOW);
	unsigned kind = code / 2;

	/* One of several may be enough. */
	if (kind == 3 && (flags & (CARRY | ZERO)))
		holds = true;
	else if (kind == 7 && ((flags & ZERO) || (knows_less && is_less)))
		holds = true;
	else if ((known & needed[kind]) != needed[kind])
		return -1;
	else if (kind >= 6)
		holds = is_less;
	else if (kind != 3)
		holds = flags & needed[kind];
	return holds != (code & 1);
}

/* The condition's code of conditional jumps, moves and sets; -1 of everything else. */
static int condition_code(uint16_t mnemonic)
{
#define ALL(code, name)                                                                            \
	case ZYDIS_MNEMONIC_J##name:                                                               \
	case ZYDIS_MNEMONIC_SET##name:                                                             \
	case ZYDIS_MNEMONIC_CMOV##name:                                                            \
		return code
	switch ((unsigned)mnemonic) {
		ALL(0, O);
		ALL(1, NO);
		ALL(2, B);
		ALL(3, NB);
		ALL(4, Z);
		ALL(5, NZ);
		ALL(6, BE);
		ALL(7, NBE);
		ALL(8, S);
		ALL(9, NS);
		ALL(10, P);
		ALL(11, NP);
		ALL(12, L);
		ALL(13, NL);
		ALL(14, LE);
		ALL(15, NLE);
	default:
		return -1;
	}
#undef ALL
}

/* --- memory ------------------------------------------------------------------------------------
 */

/* False for an address that is not known, of thread-local memory among others. */
static bool address_of(const struct run *run, const struct hp_memory *memory, uint64_t *address)
{
	const struct hp_partial *registers = run->state->registers;
	uint64_t sum = (uint64_t)memory->displacement;

	if (memory->segment != HP_REGISTER_NONE)
		return false;
	if (memory->base == HP_REGISTER_PC) {
		sum += run->shift;
	} else if (memory->base != HP_REGISTER_NONE) {
		if (memory->base >= HP_STATE_REGISTERS ||
		    !partial_is_known(registers[memory->base]))
			return false;
		sum += registers[memory->base].value;
	}
	if (memory->index != HP_REGISTER_NONE) {
		if (memory->index >= HP_STATE_REGISTERS ||
		    !partial_is_known(registers[memory->index]))
			return false;
		sum += registers[memory->index].value * memory->scale;
	}
	*address = sum;
	return true;
}

static bool is_near_stack(const struct hp_state *state, uint64_t address)
{
	struct hp_partial stack = state->registers[RSP];

	return partial_is_known(stack) &&
	       address - (stack.value - red_zone_bytes) < red_zone_bytes + frame_bytes;
}

/* Somewhere: what is near the stack's end stays. */
static void store_anywhere(struct hp_state *state)
{
	for (unsigned i = 0; i < HP_STATE_STORES; i++)
		if (!is_near_stack(state, state->stores[i].address))
			state->stores[i].bytes = 0;
}

/* What is there is not known any more; `bytes` may be many. */
static void forget_at(struct hp_state *state, uint64_t address, uint64_t bytes)
{
	for (uint64_t done = 0; done < bytes; done += 8)
		state->stores[state->store_count++ % HP_STATE_STORES] = (struct hp_stored){
			.address = address + done,
			.bytes = (uint8_t)(bytes - done < 8 ? bytes - done : 8),
		};
}

static void store_at(struct hp_state *state, uint64_t address, unsigned bytes,
		     struct hp_partial value)
{
	state->stores[state->store_count++ % HP_STATE_STORES] =
		(struct hp_stored){ address, value, (uint8_t)bytes };
}

static struct hp_partial load_elsewhere(const struct run *run, uint64_t address, unsigned bytes)
{
	const struct hp_step_memory *memory = run->memory;
	uint8_t held[8] = { 0 };
	uint64_t value = 0;

	/* Stores that no longer fit may have hit anything. */
	if (!memory || !memory->read(memory->context, address, bytes,
				     run->state->store_count > HP_STATE_STORES, held))
		return partial_unknown(bytes * 8);
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)held[i] << 8 * i;
	return partial_of(value);
}

static struct hp_partial load_at(const struct run *run, uint64_t address, unsigned bytes)
{
	const struct hp_state *state = run->state;
	unsigned count = state->store_count < HP_STATE_STORES ? state->store_count
							      : HP_STATE_STORES;

	for (unsigned back = 1; back <= count; back++) {
		const struct hp_stored *stored =
			&state->stores[(state->store_count - back) % HP_STATE_STORES];
		uint64_t into = address - stored->address;

		if (stored->bytes == 0)
			continue;
		if (into < stored->bytes && into + bytes <= stored->bytes)
			return partial_cut(partial_shift_right(stored->value, (unsigned)into * 8),
					   bytes * 8);
		if (into < stored->bytes || stored->address - address < bytes)
			return partial_unknown(bytes * 8);
	}
	return load_elsewhere(run, address, bytes);
}

/* --- operands ----------------------------------------------------------------------------------
 */

static struct hp_partial get_register(const struct hp_state *state, unsigned number, unsigned width)
{
	return number < HP_STATE_REGISTERS ? partial_cut(state->registers[number], width)
					   : partial_unknown(width);
}

/* 32 bits clear the rest of the register, fewer keep it. */
static void set_register(struct hp_state *state, unsigned number, unsigned width, unsigned from,
			 struct hp_partial value)
{
	uint64_t mask = partial_mask(width) << from;
	struct hp_partial *whole;

	if (number >= HP_STATE_REGISTERS)
		return;
	whole = &state->registers[number];
	if (width >= 32) {
		*whole = partial_cut(value, width);
		return;
	}
	whole->value = (whole->value & ~mask) | ((value.value << from) & mask);
	whole->known = (whole->known & ~mask) | ((value.known << from) & mask);
}

static unsigned width_of(const struct hp_operand *operand)
{
	return operand->bytes * 8u;
}

static bool is_general(const struct hp_operand *operand)
{
	return operand->bytes == 1 || operand->bytes == 2 || operand->bytes == 4 ||
	       operand->bytes == 8;
}

static struct hp_partial get(const struct run *run, unsigned number)
{
	const struct hp_operand *operand = &run->insn->operands[number];
	unsigned width = width_of(operand);
	uint64_t address;

	switch ((enum hp_operand_type)operand->type) {
	case HP_OPERAND_REGISTER:
		if (operand->is_high_byte)
			return partial_cut(
				partial_shift_right(get_register(run->state, operand->number, 16),
						    8),
				8);
		return get_register(run->state, operand->number, width);
	case HP_OPERAND_MEMORY:
		if (!address_of(run, &run->insn->memories[operand->number], &address))
			return partial_unknown(width);
		return load_at(run, address, operand->bytes);
	case HP_OPERAND_IMMEDIATE:
		return partial_of((uint64_t)operand->immediate);
	}
	return partial_unknown(width);
}

static void put(const struct run *run, unsigned number, struct hp_partial value)
{
	const struct hp_operand *operand = &run->insn->operands[number];
	uint64_t address;

	if (operand->type == HP_OPERAND_REGISTER) {
		set_register(run->state, operand->number, width_of(operand),
			     operand->is_high_byte ? 8 : 0, value);
	} else if (operand->type == HP_OPERAND_MEMORY) {
		const struct hp_memory *memory = &run->insn->memories[operand->number];

		if (address_of(run, memory, &address))
			store_at(run->state, address, operand->bytes, value);
		else if (memory->segment == HP_REGISTER_NONE)
			store_anywhere(run->state);
	}
}

static void push(const struct run *run, unsigned bytes, struct hp_partial value)
{
	struct hp_state *state = run->state;
	struct hp_partial *stack = &state->registers[RSP];

	*stack = partial_subtract(*stack, partial_of(bytes), 0, 64);
	if (partial_is_known(*stack))
		store_at(state, stack->value, bytes, value);
}

static struct hp_partial pop(const struct run *run, unsigned bytes)
{
	struct hp_partial *stack = &run->state->registers[RSP];
	struct hp_partial value = partial_is_known(*stack) ? load_at(run, stack->value, bytes)
							   : partial_unknown(bytes * 8);

	*stack = partial_add(*stack, partial_of(bytes), 0, 64);
	return value;
}

/* --- everything that is not understood ---------------------------------------------------------
 */

static void forget(const struct run *run)
{
	const struct hp_insn *insn = run->insn;
	struct hp_state *state = run->state;

	for (unsigned i = 0; i < insn->memory_count; i++) {
		const struct hp_memory *memory = &insn->memories[i];
		uint64_t address;

		if (!(memory->access & HP_ACCESS_WRITE) || memory->segment != HP_REGISTER_NONE)
			continue;
		/* What vector registers save is long, and of strings nobody knows how long. */
		if (!insn->is_repeated && !memory->is_implicit && memory->bytes <= 64 &&
		    address_of(run, memory, &address))
			forget_at(state, address, memory->bytes ? memory->bytes : 64);
		else
			store_anywhere(state);
	}
	for (unsigned i = 0; i < HP_STATE_REGISTERS; i++)
		if (hp_register_in(&insn->written, i))
			state->registers[i] = (struct hp_partial){ 0, 0 };
	forget_flags(state, insn->flags_written);
}

/* --- one kind after the other; each false when it is not understood ----------------------------
 */

static bool run_addition(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_state *state = run->state;
	struct hp_partial a = get(run, 0);
	uint16_t mnemonic = run->insn->mnemonic;
	bool is_step = mnemonic == ZYDIS_MNEMONIC_INC || mnemonic == ZYDIS_MNEMONIC_DEC;
	bool adds = mnemonic == ZYDIS_MNEMONIC_ADD || mnemonic == ZYDIS_MNEMONIC_ADC ||
		    mnemonic == ZYDIS_MNEMONIC_INC;
	bool carries = mnemonic == ZYDIS_MNEMONIC_ADC || mnemonic == ZYDIS_MNEMONIC_SBB;
	struct hp_partial b = is_step ? partial_of(1) : partial_cut(get(run, 1), width);
	uint64_t carry = carries && (state->flags & CARRY);
	uint8_t carry_known = state->known_flags & CARRY;
	uint8_t carry_was = state->flags & CARRY;
	struct hp_partial result;

	if (carries && !carry_known)
		return false;
	result = adds ? partial_add(a, b, carry, width) : partial_subtract(a, b, carry, width);
	if (adds)
		set_add_flags(state, a, b, result, carry, width);
	else
		set_subtract_flags(state, a, b, result, carry, width);
	if (is_step) {
		forget_flags(state, CARRY);
		if (carry_known)
			set_flag(state, CARRY, carry_was);
	}
	if (mnemonic == ZYDIS_MNEMONIC_SUB && run->insn->is_zeroing) {
		result = partial_of(0);
		set_subtract_flags(state, result, result, result, 0, width);
	}
	if (mnemonic != ZYDIS_MNEMONIC_CMP)
		put(run, 0, result);
	return true;
}

static bool run_logic(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_partial a = get(run, 0);
	struct hp_partial b = partial_cut(get(run, 1), width);
	struct hp_partial result;

	switch ((unsigned)run->insn->mnemonic) {
	case ZYDIS_MNEMONIC_OR:
		result = partial_or(a, b);
		break;
	case ZYDIS_MNEMONIC_XOR:
		result = run->insn->is_zeroing ? partial_of(0) : partial_xor(a, b);
		break;
	default:
		result = partial_and(a, b);
		break;
	}
	set_logic_flags(run->state, result, width);
	if (run->insn->mnemonic != ZYDIS_MNEMONIC_TEST)
		put(run, 0, result);
	return true;
}

static bool run_negation(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_partial a = get(run, 0);
	struct hp_partial result;

	if (run->insn->mnemonic == ZYDIS_MNEMONIC_NOT) {
		put(run, 0, partial_not(a, width));
		return true;
	}
	result = partial_subtract(partial_of(0), a, 0, width);
	set_subtract_flags(run->state, partial_of(0), a, result, 0, width);
	if (a.value)
		set_flag(run->state, CARRY, true);
	put(run, 0, result);
	return true;
}

static bool run_shift(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	uint16_t mnemonic = run->insn->mnemonic;
	struct hp_partial a = get(run, 0);
	struct hp_partial by = run->insn->operand_count > 1 ? get(run, 1) : partial_of(1);
	uint64_t limit = width == 64 ? 63 : 31;
	struct hp_partial result = a;
	uint64_t last = 0; /* the bit that was shifted out */
	unsigned count;

	if ((by.known & limit) != limit)
		return false;
	count = (unsigned)(by.value & limit);
	if (count == 0) {
		put(run, 0, a); /* clears what is above 32 bits */
		return true;
	}
	if (count >= width)
		return false; /* of 8 and 16 bits */
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
	set_result_flags(run->state, result, width);
	forget_flags(run->state, CARRY | OVERFLOW | ADJUST);
	if (a.known & last)
		set_flag(run->state, CARRY, a.value & last);
	put(run, 0, result);
	return true;
}

static bool run_rotation(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_partial a = get(run, 0);
	struct hp_partial by = run->insn->operand_count > 1 ? get(run, 1) : partial_of(1);
	uint64_t limit = width == 64 ? 63 : 31;
	struct hp_partial result;
	unsigned left;

	if ((by.known & limit) != limit)
		return false;
	if ((by.value & limit) == 0) {
		put(run, 0, a);
		return true;
	}
	left = (unsigned)(by.value & limit) % width;
	if (run->insn->mnemonic == ZYDIS_MNEMONIC_ROR)
		left = (width - left) % width;
	result = left == 0 ? a
			   : partial_or(partial_shift_left(a, left, width),
					partial_shift_right(a, width - left));
	forget_flags(run->state, CARRY | OVERFLOW);
	put(run, 0, result);
	return true;
}

static bool run_multiplication(const struct run *run)
{
	const struct hp_insn *insn = run->insn;
	unsigned width = width_of(&insn->operands[0]);
	unsigned first = insn->operand_count == 3 ? 1 : 0;

	if (insn->mnemonic == ZYDIS_MNEMONIC_IMUL && insn->operand_count >= 2 &&
	    insn->operands[0].type == HP_OPERAND_REGISTER) {
		struct hp_partial result = partial_multiply(
			get(run, first), partial_cut(get(run, first + 1), width), width);

		forget_flags(run->state, ARITHMETIC);
		put(run, 0, result);
		return true;
	}
	return false;
}

static bool run_bits(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_state *state = run->state;
	uint16_t mnemonic = run->insn->mnemonic;
	struct hp_partial a = get(run, 1);
	bool counts = mnemonic == ZYDIS_MNEMONIC_TZCNT || mnemonic == ZYDIS_MNEMONIC_LZCNT;
	uint64_t result = 0;

	if (!partial_is_known(a))
		return false;
	if (mnemonic == ZYDIS_MNEMONIC_POPCNT) {
		result = (uint64_t)__builtin_popcountll(a.value);
		forget_flags(state, ARITHMETIC);
		set_flag(state, ZERO, a.value == 0);
		set_flag(state, CARRY, false);
		put(run, 0, partial_of(result));
		return true;
	}
	if (a.value == 0 && !counts)
		return false; /* the register is then as it was, or not */
	if (a.value == 0)
		result = width;
	else if (mnemonic == ZYDIS_MNEMONIC_BSR)
		result = 63u - (unsigned)__builtin_clzll(a.value);
	else if (mnemonic == ZYDIS_MNEMONIC_LZCNT)
		result = (unsigned)__builtin_clzll(a.value) - (64 - width);
	else
		result = (unsigned)__builtin_ctzll(a.value);
	forget_flags(state, ARITHMETIC);
	set_flag(state, ZERO, counts ? result == 0 : a.value == 0);
	if (counts)
		set_flag(state, CARRY, a.value == 0);
	put(run, 0, partial_of(result));
	return true;
}

static bool run_bit_test(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_partial a;
	struct hp_partial by = get(run, 1);
	uint64_t bit;

	if (run->insn->operands[0].type != HP_OPERAND_REGISTER ||
	    (by.known & (width - 1)) != width - 1)
		return false;
	bit = UINT64_C(1) << (by.value & (width - 1));
	a = get(run, 0);
	forget_flags(run->state, CARRY | OVERFLOW | SIGN | ADJUST | PARITY);
	if (a.known & bit)
		set_flag(run->state, CARRY, a.value & bit);
	switch ((unsigned)run->insn->mnemonic) {
	case ZYDIS_MNEMONIC_BTS:
		put(run, 0, partial_or(a, partial_of(bit)));
		break;
	case ZYDIS_MNEMONIC_BTR:
		put(run, 0, partial_and(a, partial_of(~bit)));
		break;
	case ZYDIS_MNEMONIC_BTC:
		put(run, 0, partial_xor(a, partial_of(bit)));
		break;
	default:
		break;
	}
	return true;
}

/* cbw to cqo: hidden operands. */
static bool run_widening(const struct run *run)
{
	struct hp_state *state = run->state;
	struct hp_partial a = state->registers[RAX];

	switch ((unsigned)run->insn->mnemonic) {
	case ZYDIS_MNEMONIC_CBW:
		set_register(state, RAX, 16, 0, partial_sign_extend(a, 8, 16));
		return true;
	case ZYDIS_MNEMONIC_CWDE:
		set_register(state, RAX, 32, 0, partial_sign_extend(a, 16, 32));
		return true;
	case ZYDIS_MNEMONIC_CDQE:
		set_register(state, RAX, 64, 0, partial_sign_extend(a, 32, 64));
		return true;
	case ZYDIS_MNEMONIC_CDQ:
		a = partial_shift_right(partial_sign_extend(a, 32, 64), 32);
		set_register(state, RDX, 32, 0, a);
		return true;
	case ZYDIS_MNEMONIC_CQO:
		set_register(state, RDX, 64, 0, partial_shift_sign(a, 63));
		return true;
	default:
		return false;
	}
}

static bool run_move(const struct run *run)
{
	const struct hp_operand *operands = run->insn->operands;
	unsigned width = width_of(&operands[0]);

	if (run->insn->operation == HP_OPERATION_SIGN_EXTEND)
		put(run, 0, partial_sign_extend(get(run, 1), width_of(&operands[1]), width));
	else
		put(run, 0, partial_cut(get(run, 1), width));
	return true;
}

static bool run_address(const struct run *run)
{
	const struct hp_memory *memory = &run->insn->memories[0];
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_partial sum = partial_of((uint64_t)memory->displacement);

	if (run->insn->memory_count == 0)
		return false;
	if (memory->base == HP_REGISTER_PC)
		sum = partial_add(sum, partial_of(run->shift), 0, 64);
	else if (memory->base != HP_REGISTER_NONE)
		sum = partial_add(sum, get_register(run->state, memory->base, 64), 0, 64);
	if (memory->index != HP_REGISTER_NONE)
		sum = partial_add(sum,
				  partial_multiply(get_register(run->state, memory->index, 64),
						   partial_of(memory->scale), 64),
				  0, 64);
	put(run, 0, partial_cut(sum, width));
	return true;
}

static bool run_conditional(const struct run *run, unsigned code)
{
	int holds = condition_holds(run->state, code);
	unsigned width = width_of(&run->insn->operands[0]);

	if (run->insn->operand_count == 1) { /* set */
		put(run, 0,
		    holds < 0 ? (struct hp_partial){ 0, ~UINT64_C(1) } : partial_of(holds == 1));
		return true;
	}
	if (holds < 0)
		put(run, 0, partial_either(get(run, 0), partial_cut(get(run, 1), width)));
	else
		put(run, 0, holds ? partial_cut(get(run, 1), width) : get(run, 0));
	return true;
}

static bool run_exchange(const struct run *run)
{
	struct hp_partial a = get(run, 0);
	struct hp_partial b = get(run, 1);

	put(run, 0, b);
	put(run, 1, a);
	return true;
}

static bool run_swap(const struct run *run)
{
	unsigned width = width_of(&run->insn->operands[0]);
	struct hp_partial a = get(run, 0);

	if (width < 32)
		return false;
	a.value = __builtin_bswap64(a.value) >> (64 - width);
	a.known = __builtin_bswap64(a.known) >> (64 - width);
	put(run, 0, partial_cut(a, width));
	return true;
}

static bool run_stack(const struct run *run)
{
	struct hp_state *state = run->state;
	unsigned bytes = run->insn->operand_count ? run->insn->operands[0].bytes : 8;
	struct hp_partial value;

	switch (run->insn->operation) {
	case HP_OPERATION_PUSH:
		if (run->insn->operands[0].type == HP_OPERAND_IMMEDIATE)
			bytes = 8;
		if (bytes != 8)
			return false;
		push(run, 8, get(run, 0));
		return true;
	case HP_OPERATION_POP:
		if (bytes != 8)
			return false;
		value = pop(run, 8);
		put(run, 0, value);
		return true;
	case HP_OPERATION_LEAVE:
		state->registers[RSP] = state->registers[RBP];
		state->registers[RBP] = pop(run, 8);
		return true;
	default:
		return false;
	}
}

static bool run_plain(const struct run *run)
{
	const struct hp_insn *insn = run->insn;
	int code = condition_code(insn->mnemonic);

	if (insn->is_repeated || insn->is_locked)
		return false;
	if (run_widening(run))
		return true;
	if (insn->operation == HP_OPERATION_LEAVE)
		return run_stack(run);
	if (insn->operand_count == 0 || !is_general(&insn->operands[0]) ||
	    (insn->operand_count > 1 && !is_general(&insn->operands[1])) ||
	    (insn->operands[0].type == HP_OPERAND_REGISTER &&
	     insn->operands[0].number >= HP_STATE_REGISTERS))
		return insn->operation == HP_OPERATION_ADDRESS && run_address(run);
	if (code >= 0)
		return run_conditional(run, (unsigned)code);
	switch ((unsigned)insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return run_move(run);
	case ZYDIS_MNEMONIC_LEA:
		return run_address(run);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_CMP:
		return run_addition(run);
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_TEST:
		return run_logic(run);
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
		return run_negation(run);
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR:
		return run_shift(run);
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
		return run_rotation(run);
	case ZYDIS_MNEMONIC_IMUL:
		return run_multiplication(run);
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_TZCNT:
	case ZYDIS_MNEMONIC_LZCNT:
	case ZYDIS_MNEMONIC_POPCNT:
		return run_bits(run);
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		return run_bit_test(run);
	case ZYDIS_MNEMONIC_XCHG:
		return run_exchange(run);
	case ZYDIS_MNEMONIC_BSWAP:
		return run_swap(run);
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
		return run_stack(run);
	default:
		return false;
	}
}

/* --- where it goes on --------------------------------------------------------------------------
 */

/* jrcxz and jecxz; loop and its kin are not understood. */
static int jump_is_taken(const struct run *run)
{
	int code = condition_code(run->insn->mnemonic);
	struct hp_partial counter = run->state->registers[RCX];

	if (code >= 0)
		return condition_holds(run->state, (unsigned)code);
	if (run->insn->mnemonic != ZYDIS_MNEMONIC_JRCXZ &&
	    run->insn->mnemonic != ZYDIS_MNEMONIC_JECXZ)
		return -1;
	if (run->insn->mnemonic == ZYDIS_MNEMONIC_JECXZ)
		counter = partial_cut(counter, 32);
	if (counter.value)
		return 0;
	return partial_is_known(counter) ? 1 : -1;
}

static enum hp_step run_indirect(const struct run *run, bool is_call)
{
	struct hp_state *state = run->state;
	uint64_t next = state->address + run->insn->length;
	struct hp_partial target = run->insn->operand_count ? get(run, 0) : partial_unknown(64);

	if (!partial_is_known(target))
		return HP_STEP_UNKNOWN;
	if (is_call)
		push(run, 8, partial_of(next));
	state->address = target.value;
	return HP_STEP_INDIRECT;
}

static enum hp_step run_return(const struct run *run)
{
	const struct hp_insn *insn = run->insn;
	struct hp_state *state = run->state;
	struct hp_partial stack = state->registers[RSP];
	struct hp_partial target;

	if (insn->mnemonic != ZYDIS_MNEMONIC_RET || !partial_is_known(stack))
		return HP_STEP_UNKNOWN;
	target = load_at(run, stack.value, 8);
	if (!partial_is_known(target))
		return HP_STEP_UNKNOWN;
	stack.value += 8;
	if (insn->operand_count && insn->operands[0].type == HP_OPERAND_IMMEDIATE)
		stack.value += (uint16_t)insn->operands[0].immediate;
	state->registers[RSP] = stack;
	state->address = target.value;
	return HP_STEP_INDIRECT;
}

enum hp_step hp_step_x86_64(const struct hp_insn *insn, uint64_t shift,
			    const struct hp_step_memory *memory, struct hp_state *state)
{
	struct run run = { insn, shift, memory, state };
	uint64_t next = state->address + insn->length;
	int taken;

	switch ((enum hp_insn_kind)insn->kind) {
	case HP_INSN_PLAIN:
		if (!run_plain(&run))
			forget(&run);
		state->address = next;
		return HP_STEP_ON;
	case HP_INSN_CALL:
		push(&run, 8, partial_of(next));
		state->address = insn->target + shift;
		return HP_STEP_ON;
	case HP_INSN_JUMP:
		state->address = insn->target + shift;
		return HP_STEP_ON;
	case HP_INSN_CONDITIONAL:
		taken = jump_is_taken(&run);
		if (taken < 0)
			return HP_STEP_UNKNOWN;
		state->address = taken ? insn->target + shift : next;
		return taken ? HP_STEP_TAKEN : HP_STEP_NOT_TAKEN;
	case HP_INSN_CALL_INDIRECT:
		return run_indirect(&run, true);
	case HP_INSN_JUMP_INDIRECT:
		return run_indirect(&run, false);
	case HP_INSN_RETURN:
		return run_return(&run);
	case HP_INSN_TRAP:
	case HP_INSN_HALT:
	case HP_INSN_SYSCALL:
		break;
	}
	return HP_STEP_END;
}

bool hp_step_over_x86_64(struct hp_state *state)
{
	struct run run = { .state = state };
	struct hp_partial target = pop(&run, 8);

	if (!partial_is_known(target))
		return false;
	state->address = target.value;
	for (unsigned i = 0; i < HP_STATE_REGISTERS; i++)
		if (hp_register_in(&isa_x86_64.call_clobbers, i))
			state->registers[i] = (struct hp_partial){ 0, 0 };
	state->flags = state->known_flags = 0;
	return true;
}
