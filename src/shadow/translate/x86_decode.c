/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_access.h"

#include <hpcprof/model/window.h>

#include <Zydis/Zydis.h>
#include <string.h>

/* The result of ZydisDecoderInit, as a constant. */
static const ZydisDecoder decoder = {
	.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
	.stack_width = ZYDIS_STACK_WIDTH_64,
	.decoder_mode = { [ZYDIS_DECODER_MODE_MPX] = ZYAN_TRUE,
			  [ZYDIS_DECODER_MODE_CET] = ZYAN_TRUE,
			  [ZYDIS_DECODER_MODE_LZCNT] = ZYAN_TRUE,
			  [ZYDIS_DECODER_MODE_TZCNT] = ZYAN_TRUE,
			  [ZYDIS_DECODER_MODE_WBNOINVD] = ZYAN_TRUE,
			  [ZYDIS_DECODER_MODE_CLDEMOTE] = ZYAN_TRUE },
};

static const ZydisAccessedFlagsMask five = ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
					   ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;

/* --- what cannot be replayed --------------------------------------------------------------------
 *
 * A replay is worth something only while it does what the original did. These do not: they read
 * what differs between two runs, wait for others, or leave user mode on purpose.
 */

static bool ends(ZydisMnemonic mnemonic, uint8_t *end)
{
	switch ((unsigned)mnemonic) {
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPMC:
		*end = HP_WINDOW_CLOCK;
		return true;
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
		*end = HP_WINDOW_RANDOM;
		return true;
	/* cpuid is not among them: except for the number of the CPU, which hardly any program reads
	 * there, it returns the same everywhere. */
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_RDPRU:
	case ZYDIS_MNEMONIC_LSL: /* the vdso reads the number of the CPU by it */
		*end = HP_WINDOW_PROCESSOR;
		return true;
	case ZYDIS_MNEMONIC_XBEGIN:
		*end = HP_WINDOW_TRANSACTION;
		return true;
	case ZYDIS_MNEMONIC_UMWAIT:
	case ZYDIS_MNEMONIC_TPAUSE:
	case ZYDIS_MNEMONIC_MWAITX:
	case ZYDIS_MNEMONIC_MWAIT:
		*end = HP_WINDOW_WAIT;
		return true;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
		*end = HP_WINDOW_INTERRUPT;
		return true;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_UIRET:
		*end = HP_WINDOW_FAR;
		return true;
	default:
		return false;
	}
}

/* --- where control goes ----------------------------------------------------------------------- */

/* AMD's cores obey an operand-size prefix on near branches (16-bit targets), Intel's ignore it.
 * With REX.W, as linkers emit for calls of __tls_get_addr, both ignore it. */
static bool is_16_bit_branch(const ZydisDecodedInstruction *raw)
{
	return (raw->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) &&
	       !((raw->attributes & ZYDIS_ATTRIB_HAS_REX) && raw->raw.rex.W);
}

static void decode_indirect(const ZydisDecodedOperand *operand, struct x86_insn *insn)
{
	insn->names_memory = operand->type == ZYDIS_OPERAND_TYPE_MEMORY;
	if (!insn->names_memory)
		insn->target_register = (uint8_t)ZydisRegisterGetId(operand->reg.value);
}

static void decode_branch(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operands,
			  struct x86_insn *insn)
{
	bool is_direct = raw->raw.imm[0].is_relative;

	if (is_direct)
		insn->target = insn->address + raw->length + (uint64_t)raw->raw.imm[0].value.s;
	switch ((unsigned)raw->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		if (raw->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && raw->opcode >= 0xe0) {
			insn->kind = X86_JUMP_COUNTED;
		} else {
			insn->kind = X86_JUMP_IF;
			insn->condition = raw->opcode & 15;
		}
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		insn->kind = is_direct ? X86_JUMP : X86_JUMP_INDIRECT;
		break;
	case ZYDIS_CATEGORY_CALL:
		insn->kind = is_direct ? X86_CALL : X86_CALL_INDIRECT;
		break;
	default:
		insn->kind = X86_RETURN;
		if (raw->raw.imm[0].size)
			insn->returns_bytes = (uint16_t)raw->raw.imm[0].value.u;
	}
	if (insn->kind == X86_JUMP_INDIRECT || insn->kind == X86_CALL_INDIRECT)
		decode_indirect(&operands[0], insn);
	if (raw->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || is_16_bit_branch(raw)) {
		insn->kind = X86_END;
		insn->end = HP_WINDOW_FAR;
	}
}

/* --- registers and flags ---------------------------------------------------------------------- */

static uint16_t general(ZydisRegister reg)
{
	ZydisRegister widest = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (ZydisRegisterGetClass(widest) != ZYDIS_REGCLASS_GPR64)
		return 0;
	return (uint16_t)(1U << ZydisRegisterGetId(widest));
}

/* Instructions that may leave their destination unchanged, whatever tables say: bsf and bsr do so
 * for an operand of 0; and for instructions that user mode may not execute, the kernel may emulate
 * only a part. */
static bool may_leave_register(ZydisMnemonic mnemonic)
{
	switch ((unsigned)mnemonic) {
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_LAR:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_SMSW:
	case ZYDIS_MNEMONIC_STR:
		return true;
	default:
		return false;
	}
}

static void decode_registers(const ZydisDecodedInstruction *raw,
			     const ZydisDecodedOperand *operands, struct x86_insn *insn)
{
	uint16_t written = 0;

	for (size_t i = 0; i < raw->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			insn->reads |= general(operand->mem.base) | general(operand->mem.index);
		} else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			uint16_t bit = general(operand->reg.value);

			if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
				insn->writes |= bit;
			/* A narrower write keeps the rest of the register. */
			if (operand->actions == ZYDIS_OPERAND_ACTION_WRITE && operand->size >= 32)
				written |= bit;
			else
				insn->reads |= bit;
		}
	}
	/* xor r, r does not depend on the register's value. */
	if (raw->mnemonic == ZYDIS_MNEMONIC_XOR && raw->operand_count_visible == 2 &&
	    operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[0].size >= 32 &&
	    operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	    operands[0].reg.value == operands[1].reg.value) {
		written |= insn->reads;
		insn->reads = 0;
	}
	insn->uses = insn->reads | written;
	/* With a repeat prefix the instruction may do nothing. */
	if (!may_leave_register(raw->mnemonic) &&
	    !(raw->attributes &
	      (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
		insn->replaces = written & (uint16_t)~insn->reads;
}

static void decode_flags(const ZydisDecodedInstruction *raw, struct x86_insn *insn)
{
	const ZydisAccessedFlags *flags = raw->cpu_flags;
	ZydisAccessedFlagsMask written;

	/* r11 receives the flags. */
	if (raw->mnemonic == ZYDIS_MNEMONIC_SYSCALL)
		insn->reads_flags = true;
	if (!flags || insn->reads_flags)
		return;
	insn->reads_flags = (flags->tested & five) != 0;
	written = flags->modified | flags->set_0 | flags->set_1;
	/* The manual says undefined, but every core clears it: and, or, xor, test. */
	if (raw->meta.category == ZYDIS_CATEGORY_LOGICAL)
		written |= flags->undefined & ZYDIS_CPUFLAG_AF;
	insn->replaces_flags = (written & five) == five && !insn->reads_flags &&
			       /* A shift by 0 changes no flags. */
			       raw->meta.category != ZYDIS_CATEGORY_SHIFT &&
			       raw->meta.category != ZYDIS_CATEGORY_ROTATE &&
			       raw->meta.category != ZYDIS_CATEGORY_X87_ALU &&
			       !(raw->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
						    ZYDIS_ATTRIB_HAS_REPNE));
}

/* --- the operand relative to the instruction pointer ------------------------------------------ */

static void decode_relative(const ZydisDecodedInstruction *raw, const ZydisDecodedOperand *operands,
			    struct x86_insn *insn)
{
	const ZydisDecodedInstructionRaw *parts = &raw->raw;

	insn->modrm_at = parts->modrm.offset;
	insn->is_short_address = raw->address_width == 32;
	insn->rex_at = insn->vex3_at = insn->evex_at = X86_INSN_BYTES;
	if (raw->attributes & ZYDIS_ATTRIB_HAS_REX)
		insn->rex_at = parts->rex.offset;
	if (raw->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
		insn->vex3_at = parts->xop.offset;
	else if (raw->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX && parts->vex.size == 3)
		insn->vex3_at = parts->vex.offset;
	else if (raw->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		insn->evex_at = parts->evex.offset;
	if (!parts->modrm.offset || parts->modrm.mod != 0 || parts->modrm.rm != 5 ||
	    parts->disp.size != 32)
		return;
	insn->is_relative = true;
	insn->displacement_at = parts->disp.offset;
	insn->relative_to = insn->address + raw->length + (uint64_t)parts->disp.value;
	if (raw->mnemonic == ZYDIS_MNEMONIC_LEA) {
		insn->is_address_only = true;
		insn->address_register = (uint8_t)ZydisRegisterGetId(operands[0].reg.value);
		insn->address_bytes = (uint8_t)(operands[0].size / 8);
	}
}

bool x86_decode(const uint8_t *bytes, size_t size, uint64_t address, struct x86_insn *insn)
{
	ZydisDecodedInstruction raw;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &raw, operands)))
		return false;
	*insn = (struct x86_insn){ .address = address, .length = raw.length };
	memcpy(insn->bytes, bytes, raw.length);
	decode_relative(&raw, operands, insn);
	decode_registers(&raw, operands, insn);
	decode_flags(&raw, insn);
	x86_decode_accesses(&raw, operands, insn);
	if (ends(raw.mnemonic, &insn->end)) {
		insn->kind = X86_END;
		return true;
	}
	switch ((unsigned)raw.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
		decode_branch(&raw, operands, insn);
		break;
	case ZYDIS_CATEGORY_SYSCALL:
		insn->kind = X86_SYSTEM_CALL;
		break;
	case ZYDIS_CATEGORY_INTERRUPT:
		insn->kind = X86_END;
		insn->end = HP_WINDOW_INTERRUPT;
		break;
	default:
		insn->kind = X86_PLAIN;
	}
	return true;
}
