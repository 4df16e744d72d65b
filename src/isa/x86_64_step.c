/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interprets one instruction: its results, and the address of the next one. */
#include "x86_64_step.h"

#include <Zydis/Zydis.h>

/* jrcxz and jecxz; loop and its variants are not supported. */
static int jump_is_taken(const struct step *step)
{
	int condition = flags_condition(step->insn->mnemonic);
	struct hp_partial counter = step->state->registers[RCX];

	if (condition >= 0)
		return flags_hold(step->state, (unsigned)condition);
	if (step->insn->mnemonic != ZYDIS_MNEMONIC_JRCXZ &&
	    step->insn->mnemonic != ZYDIS_MNEMONIC_JECXZ)
		return -1;
	if (step->insn->mnemonic == ZYDIS_MNEMONIC_JECXZ)
		counter = partial_cut(counter, 32);
	if (counter.value)
		return 0;
	return partial_is_known(counter) ? 1 : -1;
}

static enum hp_step run_indirect(const struct step *step, bool is_call)
{
	struct hp_state *state = step->state;
	uint64_t next = state->address + step->insn->length;
	struct hp_partial target = step->insn->operand_count ? step_get(step, 0)
							     : partial_unknown(64);

	if (!partial_is_known(target))
		return HP_STEP_UNKNOWN;
	if (is_call)
		step_push(step, 8, partial_of(next));
	state->address = target.value;
	return HP_STEP_INDIRECT;
}

static enum hp_step run_return(const struct step *step)
{
	const struct hp_insn *insn = step->insn;
	struct hp_state *state = step->state;
	struct hp_partial stack = state->registers[RSP];
	struct hp_partial target;

	if (insn->mnemonic != ZYDIS_MNEMONIC_RET || !partial_is_known(stack))
		return HP_STEP_UNKNOWN;
	target = step_load(step, stack.value, 8);
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
	struct step step = { insn, shift, memory, state };
	uint64_t next = state->address + insn->length;
	int taken;

	switch ((enum hp_insn_kind)insn->kind) {
	case HP_INSN_PLAIN:
		if (!step_operate(&step))
			step_forget(&step);
		state->address = next;
		return HP_STEP_ON;
	case HP_INSN_CALL:
		step_push(&step, 8, partial_of(next));
		state->address = insn->target + shift;
		return HP_STEP_ON;
	case HP_INSN_JUMP:
		state->address = insn->target + shift;
		return HP_STEP_ON;
	case HP_INSN_CONDITIONAL:
		taken = jump_is_taken(&step);
		if (taken < 0)
			return HP_STEP_UNKNOWN;
		state->address = taken ? insn->target + shift : next;
		return taken ? HP_STEP_TAKEN : HP_STEP_NOT_TAKEN;
	case HP_INSN_CALL_INDIRECT:
		return run_indirect(&step, true);
	case HP_INSN_JUMP_INDIRECT:
		return run_indirect(&step, false);
	case HP_INSN_RETURN:
		return run_return(&step);
	case HP_INSN_TRAP:
	case HP_INSN_HALT:
	case HP_INSN_SYSCALL:
		break;
	}
	return HP_STEP_END;
}
