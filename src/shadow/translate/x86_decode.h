/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One instruction as the translator needs it: where control goes, what cannot be replayed, which
 * general registers and flags it leaves alone, and where its instruction-relative operand sits.
 *
 * Decoding never reads past `size`; all bytes are fair.
 */
#ifndef SHADOW_TRANSLATE_X86_DECODE_H
#define SHADOW_TRANSLATE_X86_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X86_INSN_BYTES = 15 };

enum x86_kind {
	X86_PLAIN,	   /* copied */
	X86_JUMP,	   /* direct, to `target` */
	X86_JUMP_IF,	   /* by `condition`, to `target` */
	X86_JUMP_COUNTED,  /* loop, loope, loopne, jrcxz, jecxz */
	X86_CALL,	   /* direct */
	X86_JUMP_INDIRECT, /* through a register or memory: `names_memory` */
	X86_CALL_INDIRECT,
	X86_RETURN,
	X86_SYSTEM_CALL,
	X86_END, /* cannot be replayed: `end` says why */
};

struct x86_insn {
	uint64_t address;
	uint64_t target; /* of direct branches */
	uint8_t bytes[X86_INSN_BYTES];
	uint8_t length;
	uint8_t kind;		/* enum x86_kind */
	uint8_t end;		/* enum hp_window_end */
	uint8_t condition;	/* as encoded, 0 … 15 */
	uint16_t returns_bytes; /* of a return: what it takes off the stack besides the address */
	/* Operand relative to the instruction pointer. */
	bool is_relative;
	bool is_short_address;	  /* with a 32-bit address size */
	bool is_address_only;	  /* lea: its result is `relative_to` */
	uint8_t address_register; /* … of lea: where it goes */
	uint8_t address_bytes;	  /* … of lea: how much of it, 2, 4, 8 */
	uint64_t relative_to;	  /* the address it names, before segments and truncation */
	/* Where parts of the encoding are; 0 none (an opcode comes first) except for prefixes,
	 * which are X86_INSN_BYTES where there are none. */
	uint8_t modrm_at, displacement_at;
	uint8_t rex_at, vex3_at, evex_at;
	bool names_memory;	 /* of indirect branches */
	uint8_t target_register; /* of indirect branches through a register */
	/* General registers, by number. */
	uint16_t uses;	   /* named in any way, hidden ones too */
	uint16_t reads;	   /* whose old value matters */
	uint16_t replaces; /* whose old value is gone afterwards, all 64 bits */
	/* The flags that `inc` changes: parity, adjust, zero, sign, overflow. */
	bool reads_flags;
	bool replaces_flags; /* all five, always */
};

static inline bool x86_is_indirect(enum x86_kind kind)
{
	return kind == X86_JUMP_INDIRECT || kind == X86_CALL_INDIRECT || kind == X86_RETURN;
}

/* False: no instruction. `size` may be more than it needs. */
bool x86_decode(const uint8_t *bytes, size_t size, uint64_t address, struct x86_insn *insn);

#endif
