/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes flags after arithmetic, and evaluates the conditions that read them. */
#include "x86_64_step.h"

#include <Zydis/Zydis.h>

static bool parity_of(uint64_t value)
{
	return !(__builtin_popcountll(value & 0xff) & 1);
}

void flags_of_result(struct hp_state *state, struct hp_partial result, unsigned width)
{
	uint64_t mask = partial_mask(width);
	uint64_t sign = UINT64_C(1) << (width - 1);

	flags_forget(state, OF_RESULT);
	if (result.value & mask)
		flags_set(state, ZERO, false);
	else if ((result.known & mask) == mask)
		flags_set(state, ZERO, true);
	if (result.known & sign)
		flags_set(state, SIGN, result.value & sign);
	if ((result.known & 0xff) == 0xff)
		flags_set(state, PARITY, parity_of(result.value));
}

void flags_of_sum(struct hp_state *state, struct hp_partial a, struct hp_partial b,
		  struct hp_partial result, uint64_t carry, unsigned width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);
	uint64_t known = a.known & b.known & result.known;

	flags_of_result(state, result, width);
	flags_forget(state, CARRY | OVERFLOW | ADJUST);
	if (partial_is_known(a) && partial_is_known(b)) {
		unsigned __int128 sum = (unsigned __int128)a.value + b.value + carry;

		flags_set(state, CARRY, (sum >> width) & 1);
	}
	if (known & sign)
		flags_set(state, OVERFLOW, ~(a.value ^ b.value) & (a.value ^ result.value) & sign);
	if ((known & 0x1f) == 0x1f)
		flags_set(state, ADJUST, (a.value ^ b.value ^ result.value) & 0x10);
}

/* Ranges and single known bits tell more than the difference. */
void flags_of_difference(struct hp_state *state, struct hp_partial a, struct hp_partial b,
			 struct hp_partial result, uint64_t borrow, unsigned width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);
	uint64_t known = a.known & b.known & result.known;

	flags_of_result(state, result, width);
	flags_forget(state, CARRY | OVERFLOW | ADJUST);
	if (borrow == 0 && ((a.value ^ b.value) & a.known & b.known))
		flags_set(state, ZERO, false);
	if (partial_is_known(a) && partial_is_known(b))
		flags_set(state, CARRY, borrow ? a.value <= b.value : a.value < b.value);
	else if (borrow == 0 && partial_least(a) >= partial_most(b))
		flags_set(state, CARRY, false);
	else if (borrow == 0 && partial_most(a) < partial_least(b))
		flags_set(state, CARRY, true);
	if (known & sign)
		flags_set(state, OVERFLOW, (a.value ^ b.value) & (a.value ^ result.value) & sign);
	/* Neither is negative, so there is no overflow, and the sign equals the carry. */
	else if ((a.known & b.known & sign) && !((a.value | b.value) & sign)) {
		flags_set(state, OVERFLOW, false);
		if (state->known_flags & CARRY)
			flags_set(state, SIGN, state->flags & CARRY);
	}
	if ((known & 0x1f) == 0x1f)
		flags_set(state, ADJUST, (a.value ^ b.value ^ result.value) & 0x10);
}

void flags_of_logic(struct hp_state *state, struct hp_partial result, unsigned width)
{
	flags_of_result(state, result, width);
	flags_set(state, CARRY, false);
	flags_set(state, OVERFLOW, false);
	flags_forget(state, ADJUST);
}

int flags_hold(const struct hp_state *state, unsigned condition)
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
	unsigned kind = condition / 2;

	/* One of several flags may suffice. */
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
	return holds != (condition & 1);
}

int flags_condition(uint16_t mnemonic)
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
