/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes x86-64 instructions with Zydis. */
#include "machines.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <string.h>

#define MODES                                                                                      \
	[ZYDIS_DECODER_MODE_MPX] = ZYAN_TRUE, [ZYDIS_DECODER_MODE_CET] = ZYAN_TRUE,                \
	[ZYDIS_DECODER_MODE_LZCNT] = ZYAN_TRUE, [ZYDIS_DECODER_MODE_TZCNT] = ZYAN_TRUE

/* The result of ZydisDecoderInit, as a constant. */
static const ZydisDecoder flow_decoder = {
	.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
	.stack_width = ZYDIS_STACK_WIDTH_64,
	.decoder_mode = { [ZYDIS_DECODER_MODE_MINIMAL] = ZYAN_TRUE, MODES },
};
static const ZydisDecoder full_decoder = {
	.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
	.stack_width = ZYDIS_STACK_WIDTH_64,
	.decoder_mode = { MODES },
};

/* --- kind and target -------------------------------------------------------------------------- */

static enum hp_insn_kind kind_of(const ZydisDecodedInstruction *raw)
{
	bool is_direct = raw->raw.imm[0].is_relative;

	switch ((unsigned)raw->mnemonic) {
	case ZYDIS_MNEMONIC_JMP:
		return is_direct ? HP_INSN_JUMP : HP_INSN_JUMP_INDIRECT;
	case ZYDIS_MNEMONIC_CALL:
		return is_direct ? HP_INSN_CALL : HP_INSN_CALL_INDIRECT;
	case ZYDIS_MNEMONIC_RET:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_SYSEXIT:
		return HP_INSN_RETURN;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_INT3:
		return HP_INSN_TRAP;
	case ZYDIS_MNEMONIC_HLT:
		return HP_INSN_HALT;
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
		return HP_INSN_SYSCALL;
	case ZYDIS_MNEMONIC_XBEGIN: /* an abort jumps to its operand */
		return HP_INSN_CONDITIONAL;
	default:
		/* Conditional jumps, loop and jrcxz are the only other instructions with a relative
		 * operand. */
		return is_direct ? HP_INSN_CONDITIONAL : HP_INSN_PLAIN;
	}
}

static bool is_padding(const ZydisDecodedInstruction *raw)
{
	return raw->mnemonic == ZYDIS_MNEMONIC_NOP || raw->mnemonic == ZYDIS_MNEMONIC_INT3;
}

static uint64_t relative_target(const ZydisDecodedInstruction *raw, uint64_t address)
{
	return address + raw->length + (uint64_t)raw->raw.imm[0].value.s;
}

static bool x86_64_flow(const uint8_t *bytes, size_t size, uint64_t address, struct hp_flow *flow)
{
	ZydisDecodedInstruction raw;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&flow_decoder, NULL, bytes, size, &raw)))
		return false;
	*flow = (struct hp_flow){
		.length = raw.length,
		.kind = (uint8_t)kind_of(&raw),
		.is_padding = is_padding(&raw),
	};
	if (raw.raw.imm[0].is_relative) {
		flow->target = relative_target(&raw, address);
	} else if ((flow->kind == HP_INSN_JUMP_INDIRECT || flow->kind == HP_INSN_CALL_INDIRECT) &&
		   raw.raw.modrm.mod == 0 && raw.raw.modrm.rm == 5) {
		flow->names_memory = true; /* relative to the instruction pointer */
		flow->target = address + raw.length + (uint64_t)raw.raw.disp.value;
	}
	return true;
}

/* mov eax, 60 (exit) or 231 (exit_group), then the syscall. */
static bool x86_64_is_exit(const uint8_t *before, size_t size)
{
	static const uint8_t exits[][5] = { { 0xb8, 60, 0, 0, 0 }, { 0xb8, 231, 0, 0, 0 } };

	for (size_t i = 0; i < 2; i++)
		if (size >= 5 && memcmp(before + size - 5, exits[i], 5) == 0)
			return true;
	return false;
}

/* --- operation and condition ------------------------------------------------------------------ */

static enum hp_operation operation_of(ZydisMnemonic mnemonic)
{
	switch ((unsigned)mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
		return HP_OPERATION_MOVE;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_CWDE:
		return HP_OPERATION_SIGN_EXTEND;
	case ZYDIS_MNEMONIC_LEA:
		return HP_OPERATION_ADDRESS;
	case ZYDIS_MNEMONIC_ADD:
		return HP_OPERATION_ADD;
	case ZYDIS_MNEMONIC_SUB:
		return HP_OPERATION_SUBTRACT;
	case ZYDIS_MNEMONIC_SHL:
		return HP_OPERATION_SHIFT_LEFT;
	case ZYDIS_MNEMONIC_AND:
		return HP_OPERATION_AND;
	case ZYDIS_MNEMONIC_XOR:
		return HP_OPERATION_XOR;
	case ZYDIS_MNEMONIC_CMP:
		return HP_OPERATION_COMPARE;
	case ZYDIS_MNEMONIC_TEST:
		return HP_OPERATION_TEST;
	case ZYDIS_MNEMONIC_PUSH:
		return HP_OPERATION_PUSH;
	case ZYDIS_MNEMONIC_POP:
		return HP_OPERATION_POP;
	case ZYDIS_MNEMONIC_LEAVE:
		return HP_OPERATION_LEAVE;
	default:
		return HP_OPERATION_OTHER;
	}
}

static enum hp_condition condition_of(const ZydisDecodedInstruction *raw)
{
	static const uint8_t by_code[16] = {
		HP_CONDITION_OTHER,	HP_CONDITION_OTHER, /* overflow */
		HP_CONDITION_BELOW,	HP_CONDITION_ABOVE_EQUAL,   HP_CONDITION_EQUAL,
		HP_CONDITION_NOT_EQUAL, HP_CONDITION_BELOW_EQUAL,   HP_CONDITION_ABOVE,
		HP_CONDITION_OTHER,	HP_CONDITION_OTHER, /* sign */
		HP_CONDITION_OTHER,	HP_CONDITION_OTHER, /* parity */
		HP_CONDITION_LESS,	HP_CONDITION_GREATER_EQUAL, HP_CONDITION_LESS_EQUAL,
		HP_CONDITION_GREATER,
	};
	unsigned group = raw->opcode & 0xf0u;

	if (raw->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return HP_CONDITION_NONE;
	if (raw->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && group == 0x70)
		return by_code[raw->opcode & 15];
	if (raw->opcode_map == ZYDIS_OPCODE_MAP_0F &&
	    (group == 0x80 || group == 0x90 || group == 0x40))
		return by_code[raw->opcode & 15];
	return raw->raw.imm[0].is_relative && kind_of(raw) == HP_INSN_CONDITIONAL
		       ? HP_CONDITION_OTHER
		       : HP_CONDITION_NONE;
}

static uint8_t flags_of(ZydisAccessedFlagsMask mask)
{
	static const struct {
		uint32_t zydis;
		uint8_t flag;
	} map[] = {
		{ ZYDIS_CPUFLAG_CF, HP_FLAG_CARRY },	 { ZYDIS_CPUFLAG_ZF, HP_FLAG_ZERO },
		{ ZYDIS_CPUFLAG_SF, HP_FLAG_SIGN },	 { ZYDIS_CPUFLAG_OF, HP_FLAG_OVERFLOW },
		{ ZYDIS_CPUFLAG_PF, HP_FLAG_PARITY },	 { ZYDIS_CPUFLAG_AF, HP_FLAG_ADJUST },
		{ ZYDIS_CPUFLAG_DF, HP_FLAG_DIRECTION },
	};
	uint8_t flags = 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (mask & map[i].zydis)
			flags |= map[i].flag;
	return flags;
}

static void fill_flags(const ZydisDecodedInstruction *raw, struct hp_insn *insn)
{
	const ZydisAccessedFlags *cpu = raw->cpu_flags;
	const ZydisAccessedFlags *fpu = raw->fpu_flags;

	if (cpu) {
		insn->flags_read = flags_of(cpu->tested);
		insn->flags_written =
			flags_of(cpu->modified | cpu->set_0 | cpu->set_1 | cpu->undefined);
	}
	if (fpu) {
		if (fpu->tested)
			insn->flags_read |= HP_FLAG_X87;
		if (fpu->modified | fpu->set_0 | fpu->set_1)
			insn->flags_written |= HP_FLAG_X87;
	}
}

/* --- operands --------------------------------------------------------------------------------- */

static uint8_t register_number(ZydisRegister reg)
{
	ZydisRegister widest = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	ZydisRegister used = widest != ZYDIS_REGISTER_NONE ? widest : reg;
	unsigned id = (unsigned)(uint8_t)ZydisRegisterGetId(used);

	switch ((unsigned)ZydisRegisterGetClass(used)) {
	case ZYDIS_REGCLASS_GPR64:
		return (uint8_t)(HP_REGISTER_GENERAL + (id & 31));
	case ZYDIS_REGCLASS_XMM:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
		return (uint8_t)(HP_REGISTER_VECTOR + (id & 31));
	case ZYDIS_REGCLASS_MASK:
		return (uint8_t)(HP_REGISTER_MASK + (id & 7));
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
		return (uint8_t)(HP_REGISTER_X87 + (id & 7));
	case ZYDIS_REGCLASS_SEGMENT:
		return (uint8_t)(HP_REGISTER_SEGMENT + (id & 7));
	case ZYDIS_REGCLASS_CONTROL:
	case ZYDIS_REGCLASS_DEBUG:
		return (uint8_t)(HP_REGISTER_CONTROL + (id & 15));
	case ZYDIS_REGCLASS_IP:
		return HP_REGISTER_PC;
	case ZYDIS_REGCLASS_INVALID:
	case ZYDIS_REGCLASS_FLAGS:
	default:
		break;
	}
	switch ((unsigned)reg) {
	case ZYDIS_REGISTER_MXCSR:
		return HP_REGISTER_STATUS;
	case ZYDIS_REGISTER_X87CONTROL:
		return HP_REGISTER_STATUS + 1;
	case ZYDIS_REGISTER_X87STATUS:
		return HP_REGISTER_STATUS + 2;
	case ZYDIS_REGISTER_X87TAG:
		return HP_REGISTER_STATUS + 3;
	default:
		return HP_REGISTER_NONE; /* flags have their own field; the rest is for kernels */
	}
}

static uint8_t access_of(ZydisOperandActions actions)
{
	return (uint8_t)((actions & ZYDIS_OPERAND_ACTION_MASK_READ ? HP_ACCESS_READ : 0) |
			 (actions & ZYDIS_OPERAND_ACTION_MASK_WRITE ? HP_ACCESS_WRITE : 0));
}

static void add_register(const ZydisDecodedOperand *from, struct hp_insn *insn)
{
	uint8_t number = register_number(from->reg.value);

	if (number >= HP_REGISTER_COUNT)
		return;
	if (from->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		hp_register_add(&insn->read, number);
	if (!(from->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	hp_register_add(&insn->written, number);
	/* The rest of the register keeps its value; so does all of it if the write is
	 * conditional. */
	if ((number < HP_REGISTER_VECTOR && from->size < 32) ||
	    (from->actions & ZYDIS_OPERAND_ACTION_CONDWRITE))
		hp_register_add(&insn->read, number);
}

static void add_memory(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *from,
		       struct hp_insn *insn)
{
	uint8_t base = register_number(from->mem.base);
	uint8_t index = register_number(from->mem.index);
	struct hp_memory memory = {
		.base = from->mem.base == ZYDIS_REGISTER_NONE ? HP_REGISTER_NONE : base,
		.index = from->mem.index == ZYDIS_REGISTER_NONE ? HP_REGISTER_NONE : index,
		.scale = from->mem.index == ZYDIS_REGISTER_NONE ? 0 : from->mem.scale,
		.access = access_of(from->actions),
		.bytes = (uint16_t)(from->size / 8),
		.segment = HP_REGISTER_NONE,
		.is_implicit = from->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN,
		.displacement = from->mem.disp.has_displacement ? from->mem.disp.value : 0,
	};

	hp_register_add(&insn->read, memory.base);
	hp_register_add(&insn->read, memory.index);
	if (from->mem.segment == ZYDIS_REGISTER_FS || from->mem.segment == ZYDIS_REGISTER_GS)
		memory.segment = register_number(from->mem.segment);
	if (memory.base == HP_REGISTER_PC)
		memory.displacement =
			(int64_t)(insn->address + raw->length + (uint64_t)memory.displacement);
	/* A no-op names memory as lea does. */
	if (from->mem.type == ZYDIS_MEMOP_TYPE_AGEN || is_padding(raw))
		memory.access = 0;
	if (insn->memory_count < HP_INSN_MEMORIES)
		insn->memories[insn->memory_count++] = memory;
}

static bool is_high_byte(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_AH || reg == ZYDIS_REGISTER_BH || reg == ZYDIS_REGISTER_CH ||
	       reg == ZYDIS_REGISTER_DH;
}

static void add_explicit(const ZydisDecodedOperand *from, struct hp_insn *insn)
{
	struct hp_operand operand = {
		.access = access_of(from->actions),
		.bytes = (uint8_t)(from->size / 8 < 255 ? from->size / 8 : 255),
	};

	switch (from->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		operand.type = HP_OPERAND_REGISTER;
		operand.number = register_number(from->reg.value);
		operand.is_high_byte = is_high_byte(from->reg.value);
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		operand.type = HP_OPERAND_MEMORY;
		operand.number = (uint8_t)(insn->memory_count - 1);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		operand.type = HP_OPERAND_IMMEDIATE;
		operand.immediate = from->imm.value.s;
		break;
	case ZYDIS_OPERAND_TYPE_UNUSED:
	case ZYDIS_OPERAND_TYPE_POINTER:
		return;
	}
	if (insn->operand_count < HP_INSN_OPERANDS)
		insn->operands[insn->operand_count++] = operand;
}

static void fill_operands(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operands,
			  struct hp_insn *insn)
{
	/* cdqe and cwde have only hidden operands, which matter here. */
	bool take_hidden = insn->operation == HP_OPERATION_SIGN_EXTEND;

	for (size_t i = 0; i < raw->operand_count; i++) {
		const ZydisDecodedOperand *from = &operands[i];
		size_t before = insn->memory_count;

		if (from->type == ZYDIS_OPERAND_TYPE_REGISTER)
			add_register(from, insn);
		else if (from->type == ZYDIS_OPERAND_TYPE_MEMORY)
			add_memory(raw, from, insn);
		if (from->type == ZYDIS_OPERAND_TYPE_MEMORY && insn->memory_count == before)
			continue; /* no room left */
		if (from->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN || take_hidden)
			add_explicit(from, insn);
	}
}

/* xor, sub, pxor, xorps, pcmpgt … of a register with itself. */
static bool is_zeroing(const ZydisDecodedInstruction *raw, const struct hp_insn *insn)
{
	const struct hp_operand *last;
	const struct hp_operand *before;

	if (insn->operand_count < 2)
		return false;
	last = &insn->operands[insn->operand_count - 1];
	before = last - 1;
	if (last->type != HP_OPERAND_REGISTER || before->type != HP_OPERAND_REGISTER ||
	    last->number != before->number || last->is_high_byte != before->is_high_byte)
		return false;
	switch ((unsigned)raw->mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
		return last->bytes >= 4;
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VPXORD:
	case ZYDIS_MNEMONIC_VPXORQ:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_VXORPD:
		return true;
	default:
		return false;
	}
}

static bool x86_64_decode(const uint8_t *bytes, size_t size, uint64_t address, struct hp_insn *insn)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction raw;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&full_decoder, bytes, size, &raw, operands)))
		return false;
	*insn = (struct hp_insn){
		.address = address,
		.length = raw.length,
		.kind = (uint8_t)kind_of(&raw),
		.operation = (uint8_t)operation_of(raw.mnemonic),
		.condition = (uint8_t)condition_of(&raw),
		.mnemonic = (uint16_t)raw.mnemonic,
		.is_padding = is_padding(&raw),
		.is_locked = (raw.attributes & ZYDIS_ATTRIB_HAS_LOCK) != 0,
		.is_repeated = (raw.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						  ZYDIS_ATTRIB_HAS_REPNE)) != 0,
		.is_prefetch = raw.meta.category == ZYDIS_CATEGORY_PREFETCH,
	};
	if (raw.raw.imm[0].is_relative)
		insn->target = relative_target(&raw, address);
	fill_flags(&raw, insn);
	fill_operands(&raw, operands, insn);
	insn->is_zeroing = is_zeroing(&raw, insn);
	/* xchg with memory is atomic without a prefix. */
	if (raw.mnemonic == ZYDIS_MNEMONIC_XCHG && insn->memory_count)
		insn->is_locked = true;
	return true;
}

static const char *x86_64_mnemonic(uint16_t mnemonic)
{
	const char *text = mnemonic <= ZYDIS_MNEMONIC_MAX_VALUE
				   ? ZydisMnemonicGetString((ZydisMnemonic)mnemonic)
				   : NULL;

	return text ? text : "(bad)";
}

/* The System V convention preserves rbx, rsp, rbp and r12 to r15 across calls, and nothing else. */
const struct hp_isa isa_x86_64 = {
	.machine = EM_X86_64,
	.pointer_bytes = 8,
	.longest = ZYDIS_MAX_INSTRUCTION_LENGTH,
	.stack_pointer = 4,
	.frame_pointer = 5,
	.return_address_bytes = 8,
	.call_clobbers = { { 0xffffffff00000fc7, 0x0000000000ff00ff } },
	.flow = x86_64_flow,
	.decode = x86_64_decode,
	.is_exit = x86_64_is_exit,
	.mnemonic = x86_64_mnemonic,
};
