/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_access.h"

/* False: not a whole general register. */
static bool number_of(ZydisRegister reg, uint8_t *number)
{
	*number = X86_NO_REGISTER;
	if (reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP)
		return true;
	if (ZydisRegisterGetClass(reg) != ZYDIS_REGCLASS_GPR64)
		return false;
	*number = (uint8_t)ZydisRegisterGetId(reg);
	return true;
}

static enum x86_access_kind kind_of(const ZydisDecodedInstruction *raw,
				    const ZydisDecodedOperand *operand)
{
	bool reads = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	bool writes = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;

	if (raw->meta.category == ZYDIS_CATEGORY_PREFETCH)
		return X86_PREFETCH;
	return !writes ? X86_LOAD : reads ? X86_MODIFY : X86_STORE;
}

static enum x86_access_repeats repeats_of(const ZydisDecodedInstruction *raw)
{
	if (raw->attributes & ZYDIS_ATTRIB_HAS_REP)
		return X86_REPEATS;
	if (raw->attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return X86_MAY_REPEAT;
	return X86_ONCE;
}

/* The operand names memory without accessing it (lea, prefetch hints), or flushes it. */
static bool accesses_nothing(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operand)
{
	switch ((unsigned)raw->meta.category) {
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return true;
	default:
		return operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN || operand->size == 0 ||
		       raw->mnemonic == ZYDIS_MNEMONIC_CLFLUSH;
	}
}

/* A push, or an instruction that pushes implicitly. */
static bool is_hidden_stack(const ZydisDecodedOperand *operand)
{
	return operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	       operand->mem.base == ZYDIS_REGISTER_RSP;
}

static bool moves_stack_by_size(const ZydisDecodedInstruction *raw)
{
	switch ((unsigned)raw->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		return true;
	default:
		return false;
	}
}

static bool decode_access(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operand,
			  const struct x86_insn *insn, struct x86_access *access)
{
	*access = (struct x86_access){
		.shift = (uint8_t)(operand->mem.scale ? __builtin_ctz(operand->mem.scale) : 0),
		.kind = (uint8_t)kind_of(raw, operand),
		.repeats = (uint8_t)repeats_of(raw),
		.is_stack = is_hidden_stack(operand) && moves_stack_by_size(raw),
		.is_relative = operand->mem.base == ZYDIS_REGISTER_RIP,
		.is_fs = operand->mem.segment == ZYDIS_REGISTER_FS,
		.bytes = (uint16_t)(operand->size / 8),
		.displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0,
	};
	if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM || insn->is_short_address ||
	    !number_of(operand->mem.base, &access->base) ||
	    !number_of(operand->mem.index, &access->index))
		return false;
	/* Stored below the stack pointer's old value. */
	if (is_hidden_stack(operand) && access->kind == X86_STORE)
		access->displacement -= access->bytes;
	return true;
}

/* The instruction reads or changes gs itself. */
static bool names_gs(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operand)
{
	return raw->mnemonic == ZYDIS_MNEMONIC_RDGSBASE ||
	       raw->mnemonic == ZYDIS_MNEMONIC_WRGSBASE ||
	       (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		operand->reg.value == ZYDIS_REGISTER_GS);
}

void x86_decode_accesses(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operands,
			 struct x86_insn *insn)
{
	for (size_t i = 0; i < raw->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		insn->uses_gs |= names_gs(raw, operand);
		if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || accesses_nothing(raw, operand))
			continue;
		insn->uses_gs |= operand->mem.segment == ZYDIS_REGISTER_GS;
		if (insn->access_count < X86_ACCESSES &&
		    decode_access(raw, operand, insn, &insn->accesses[insn->access_count]))
			insn->access_count++;
		else
			insn->has_other_accesses = true;
	}
	/* Loads come before stores: a push or a call through memory reads first. */
	if (insn->access_count == 2 && insn->accesses[0].kind == X86_STORE &&
	    insn->accesses[1].kind == X86_LOAD) {
		struct x86_access store = insn->accesses[0];

		insn->accesses[0] = insn->accesses[1];
		insn->accesses[1] = store;
	}
}
