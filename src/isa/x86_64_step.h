/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interprets one x86-64 instruction in a partly known state.
 *
 *   x86_64_flags.c       flags after arithmetic, and the conditions that read them
 *   x86_64_operands.c    registers, memory and the stack, as operands name them
 *   x86_64_operations.c  the results of instructions that do not branch
 *   x86_64_step.c        the entry, and the address of the next instruction: <hpcprof/isa/step.h>
 *
 * As step.h promises, known values are correct whatever the unknown ones are. Widths are in bits,
 * 8 to 64; values are truncated to them (partial.h). Nothing allocates or fails: results that
 * cannot be computed are unknown.
 */
#ifndef HPCPROF_SRC_ISA_X86_64_STEP_H
#define HPCPROF_SRC_ISA_X86_64_STEP_H

#include "partial.h"

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

struct step {
	const struct hp_insn *insn;
	uint64_t shift;			     /* run-time address minus link-time address */
	const struct hp_step_memory *memory; /* may be NULL */
	struct hp_state *state;		     /* being changed */
};

/* --- flags: x86_64_flags.c ------------------------------------------------------------------- */

/* `flag` may be several flags, which become equal. */
static inline void flags_set(struct hp_state *state, uint8_t flag, bool value)
{
	state->known_flags |= flag;
	state->flags = (uint8_t)((state->flags & ~flag) | (value ? flag : 0));
}

static inline void flags_forget(struct hp_state *state, uint8_t flags)
{
	state->known_flags &= (uint8_t)~flags;
	state->flags &= (uint8_t)~flags;
}

/* Sets the flags of OF_RESULT only. */
void flags_of_result(struct hp_state *state, struct hp_partial result, unsigned width);

/* Sets all flags of ARITHMETIC: for result = a + b + carry; for result = a - b - borrow; for the
 * result of and, or and xor. */
void flags_of_sum(struct hp_state *state, struct hp_partial a, struct hp_partial b,
		  struct hp_partial result, uint64_t carry, unsigned width);
void flags_of_difference(struct hp_state *state, struct hp_partial a, struct hp_partial b,
			 struct hp_partial result, uint64_t borrow, unsigned width);
void flags_of_logic(struct hp_state *state, struct hp_partial result, unsigned width);

/* The condition of a jump, move or set, 0 to 15 as in opcodes; -1 for other instructions. */
int flags_condition(uint16_t mnemonic);
/* Whether a condition holds: 1, 0, or -1 if unknown. */
int flags_hold(const struct hp_state *state, unsigned condition);

/* --- operands: x86_64_operands.c ------------------------------------------------------------- */

/* Sets the bits [from, from + width). A width of 32 clears the rest of the register, smaller ones
 * keep it. */
void step_set_register(struct hp_state *state, unsigned number, unsigned width, unsigned from,
		       struct hp_partial value);

/* Base, index and displacement, without the base of the segment. */
struct hp_partial step_address(const struct step *step, const struct hp_memory *memory);
/* Loads 1 to 8 bytes at a run-time address: what was stored there, otherwise what step->memory
 * has. */
struct hp_partial step_load(const struct step *step, uint64_t address, unsigned bytes);

/* An explicit operand, which must exist; its width is that of a general register. Immediates have
 * 64 bits, and must be cut. */
unsigned step_width(const struct step *step, unsigned number);
struct hp_partial step_get(const struct step *step, unsigned number);
void step_put(const struct step *step, unsigned number, struct hp_partial value);

/* The stack pointer moves whether it is known or not. */
void step_push(const struct step *step, unsigned bytes, struct hp_partial value);
struct hp_partial step_pop(const struct step *step, unsigned bytes);

/* Makes everything unknown that the instruction may write. */
void step_forget(const struct step *step);

/* --- operations: x86_64_operations.c --------------------------------------------------------- */

/* Computes what a plain instruction writes. False if it is not supported: the state is unchanged,
 * and the caller must use step_forget(). */
bool step_operate(const struct step *step);

#endif
