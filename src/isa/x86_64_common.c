/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By the opcode maps of the manuals (Intel, "Software Developer's Manual", volume 2, appendix A).
 * Instructions have at most one prefix besides REX here, and none that is invalid in some form or
 * whose length depends on the prefix: those, and everything that VEX and EVEX introduce, are left
 * to Zydis.
 */
#include "x86_64_common.h"

#include <string.h>

enum form {
	RARE = 0, /* not decoded here */
	ALONE,
	ALONE_NO_REX,
	WITH_OPERANDS, /* a ModRM byte, of any value */
	WITH_MEMORY,   /* no register in its place */
	GROUP,	       /* what it is depends on the ModRM byte */
	JUMPS,	       /* an offset follows the opcode */
};

/* Besides, what follows all that. */
enum {
	FORM = 0x0f,
	IMM8 = 0x10,
	IMM32 = 0x20,
	IMM_WIDE = 0x40, /* four bytes, or eight with REX.W */
};

static const uint8_t one_byte[256] = {
	[0x00 ... 0x03] = WITH_OPERANDS, [0x08 ... 0x0b] = WITH_OPERANDS,
	[0x10 ... 0x13] = WITH_OPERANDS, [0x18 ... 0x1b] = WITH_OPERANDS,
	[0x20 ... 0x23] = WITH_OPERANDS, [0x28 ... 0x2b] = WITH_OPERANDS,
	[0x30 ... 0x33] = WITH_OPERANDS, [0x38 ... 0x3b] = WITH_OPERANDS,
	[0x04] = ALONE | IMM8,		 [0x05] = ALONE | IMM32,
	[0x0c] = ALONE | IMM8,		 [0x0d] = ALONE | IMM32,
	[0x14] = ALONE | IMM8,		 [0x15] = ALONE | IMM32,
	[0x1c] = ALONE | IMM8,		 [0x1d] = ALONE | IMM32,
	[0x24] = ALONE | IMM8,		 [0x25] = ALONE | IMM32,
	[0x2c] = ALONE | IMM8,		 [0x2d] = ALONE | IMM32,
	[0x34] = ALONE | IMM8,		 [0x35] = ALONE | IMM32,
	[0x3c] = ALONE | IMM8,		 [0x3d] = ALONE | IMM32,
	[0x50 ... 0x5f] = ALONE,	 [0x63] = WITH_OPERANDS,
	[0x68] = ALONE | IMM32,		 [0x69] = WITH_OPERANDS | IMM32,
	[0x6a] = ALONE | IMM8,		 [0x6b] = WITH_OPERANDS | IMM8,
	[0x70 ... 0x7f] = JUMPS | IMM8,	 [0x80] = WITH_OPERANDS | IMM8,
	[0x81] = WITH_OPERANDS | IMM32,	 [0x83] = WITH_OPERANDS | IMM8,
	[0x84 ... 0x8b] = WITH_OPERANDS, [0x8d] = WITH_MEMORY,
	[0x90] = ALONE_NO_REX,		 [0x98 ... 0x99] = ALONE,
	[0xa8] = ALONE | IMM8,		 [0xa9] = ALONE | IMM32,
	[0xb0 ... 0xb7] = ALONE | IMM8,	 [0xb8 ... 0xbf] = ALONE | IMM_WIDE,
	[0xc0 ... 0xc1] = GROUP | IMM8,	 [0xc3] = ALONE_NO_REX,
	[0xc6] = GROUP | IMM8,		 [0xc7] = GROUP | IMM32,
	[0xc9] = ALONE_NO_REX,		 [0xcc] = ALONE_NO_REX,
	[0xd0 ... 0xd3] = GROUP,	 [0xe8 ... 0xe9] = JUMPS | IMM32,
	[0xeb] = JUMPS | IMM8,		 [0xf6 ... 0xf7] = GROUP,
	[0xfe ... 0xff] = GROUP,
};

/* After 0x0f, without another prefix. */
static const uint8_t two_bytes[256] = {
	[0x10 ... 0x11] = WITH_OPERANDS, [0x1f] = GROUP,
	[0x28 ... 0x29] = WITH_OPERANDS, [0x2e ... 0x2f] = WITH_OPERANDS,
	[0x40 ... 0x4f] = WITH_OPERANDS, [0x51] = WITH_OPERANDS,
	[0x54] = WITH_OPERANDS,		 [0x57 ... 0x59] = WITH_OPERANDS,
	[0x5c ... 0x5f] = WITH_OPERANDS, [0x80 ... 0x8f] = JUMPS | IMM32,
	[0x90 ... 0x9f] = WITH_OPERANDS, [0xa3] = WITH_OPERANDS,
	[0xaf] = WITH_OPERANDS,		 [0xb6 ... 0xb7] = WITH_OPERANDS,
	[0xba] = GROUP | IMM8,		 [0xbe ... 0xbf] = WITH_OPERANDS,
};

/* After 0x66 and 0x0f. */
static const uint8_t two_bytes_66[256] = {
	[0x28 ... 0x29] = WITH_OPERANDS, [0x2e ... 0x2f] = WITH_OPERANDS,
	[0x54] = WITH_OPERANDS,		 [0x57] = WITH_OPERANDS,
	[0x6e ... 0x6f] = WITH_OPERANDS, [0x7e ... 0x7f] = WITH_OPERANDS,
	[0xd6] = WITH_OPERANDS,		 [0xef] = WITH_OPERANDS,
};

/* After 0xf2 or 0xf3, and 0x0f. */
static const uint8_t two_bytes_scalar[256] = {
	[0x10 ... 0x11] = WITH_OPERANDS, [0x2a] = WITH_OPERANDS,
	[0x2c ... 0x2d] = WITH_OPERANDS, [0x51] = WITH_OPERANDS,
	[0x58 ... 0x5a] = WITH_OPERANDS, [0x5c ... 0x5f] = WITH_OPERANDS,
};

enum { LONGEST = 15 };

struct common {
	const uint8_t *bytes;
	size_t at;   /* behind the opcode; then behind everything */
	uint8_t rex; /* 0: none */
	uint8_t opcode;
	bool is_two_bytes;
	uint8_t form; /* enum form */
	uint8_t modrm;
};

static unsigned reg_of(uint8_t modrm)
{
	return modrm >> 3 & 7;
}

/* Reads prefixes and opcode. */
static bool read_opcode(struct common *common)
{
	const uint8_t *bytes = common->bytes;
	size_t at = 0;
	uint8_t prefix = bytes[0];

	if (prefix == 0x66 || prefix == 0xf2 || prefix == 0xf3)
		at = 1;
	else
		prefix = 0;
	if ((bytes[at] & 0xf0) == 0x40)
		common->rex = bytes[at++];
	common->opcode = bytes[at++];
	if (common->opcode == 0x0f) {
		common->is_two_bytes = true;
		common->opcode = bytes[at++];
		common->form = !prefix		? two_bytes[common->opcode]
			       : prefix == 0x66 ? two_bytes_66[common->opcode]
						: two_bytes_scalar[common->opcode];
	} else if (!prefix) {
		common->form = one_byte[common->opcode];
	}
	common->at = at;
	return common->form != RARE;
}

/* Passes the ModRM byte and what belongs to it. */
static void pass_operands(struct common *common)
{
	uint8_t modrm = common->bytes[common->at++];
	unsigned mod = modrm >> 6;
	unsigned base = modrm & 7;

	common->modrm = modrm;
	if (mod == 3)
		return;
	if (base == 4)
		base = common->bytes[common->at++] & 7;
	if (mod == 1)
		common->at += 1;
	else if (mod == 2 || base == 5)
		common->at += 4;
}

static enum hp_insn_kind kind_of_jump(const struct common *common)
{
	if (common->is_two_bytes || common->opcode < 0x80)
		return HP_INSN_CONDITIONAL;
	return common->opcode == 0xe8 ? HP_INSN_CALL : HP_INSN_JUMP;
}

static bool take_jump(struct common *common, uint64_t address, struct hp_flow *flow)
{
	const uint8_t *offset = common->bytes + common->at;
	int32_t distance;

	if (common->rex)
		return false;
	if (common->form & IMM8) {
		distance = (int8_t)*offset;
		common->at += 1;
	} else {
		memcpy(&distance, offset, sizeof(distance));
		common->at += 4;
	}
	flow->kind = (uint8_t)kind_of_jump(common);
	flow->target = address + common->at + (uint64_t)(int64_t)distance;
	return true;
}

/* call and jmp by a pointer. */
static void take_indirect(const struct common *common, uint64_t address, struct hp_flow *flow)
{
	int32_t distance;

	flow->kind = reg_of(common->modrm) == 2 ? HP_INSN_CALL_INDIRECT : HP_INSN_JUMP_INDIRECT;
	if ((common->modrm & 0xc7) != 5)
		return;
	memcpy(&distance, common->bytes + common->at - 4, sizeof(distance));
	flow->names_memory = true;
	flow->target = address + common->at + (uint64_t)(int64_t)distance;
}

static bool take_group(struct common *common, uint64_t address, struct hp_flow *flow)
{
	unsigned reg = reg_of(common->modrm);

	if (common->is_two_bytes) {
		flow->is_padding = common->opcode == 0x1f;
		return flow->is_padding ? reg == 0 : reg >= 4;
	}
	switch (common->opcode) {
	case 0xc6:
	case 0xc7:
		return reg == 0;
	case 0xf6:
	case 0xf7:
		if (reg == 0)
			common->form |= common->opcode == 0xf6 ? IMM8 : IMM32;
		return reg != 1;
	case 0xfe:
		return reg < 2;
	case 0xff:
		if (reg == 2 || reg == 4)
			take_indirect(common, address, flow);
		return reg < 3 || reg == 4 || reg == 6;
	default: /* shifts */
		return reg != 6;
	}
}

static bool take_alone(const struct common *common, struct hp_flow *flow)
{
	if (common->rex)
		return false;
	if (common->opcode == 0xc3)
		flow->kind = HP_INSN_RETURN;
	else if (common->opcode == 0xcc)
		flow->kind = HP_INSN_TRAP;
	flow->is_padding = common->opcode == 0x90 || common->opcode == 0xcc;
	return true;
}

static bool take(struct common *common, uint64_t address, struct hp_flow *flow)
{
	switch ((enum form)(common->form & FORM)) {
	case ALONE:
		return true;
	case ALONE_NO_REX:
		return take_alone(common, flow);
	case JUMPS:
		return take_jump(common, address, flow);
	case WITH_OPERANDS:
		pass_operands(common);
		return true;
	case WITH_MEMORY:
		pass_operands(common);
		return common->modrm < 0xc0;
	case GROUP:
		pass_operands(common);
		return take_group(common, address, flow);
	case RARE:
		break;
	}
	return false;
}

bool x86_64_common_flow(const uint8_t *bytes, size_t size, uint64_t address, struct hp_flow *flow)
{
	struct common common = { .bytes = bytes };

	/* No check of the size is needed below: none of them is longer. */
	if (size < LONGEST || !read_opcode(&common))
		return false;
	*flow = (struct hp_flow){ .kind = HP_INSN_PLAIN };
	if (!take(&common, address, flow))
		return false;
	if ((common.form & FORM) != JUMPS) {
		if (common.form & IMM8)
			common.at += 1;
		if (common.form & IMM32)
			common.at += 4;
		if (common.form & IMM_WIDE)
			common.at += common.rex & 8 ? 8 : 4;
	}
	flow->length = (uint8_t)common.at;
	return true;
}
