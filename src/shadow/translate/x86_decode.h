/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decodes an instruction as far as translation needs it: where control goes, whether it can be
 * replayed, which general registers and flags it does not use, where its operand relative to the
 * instruction pointer is, and which memory it accesses.
 *
 * Decoding never reads past `size`; any bytes are allowed.
 */
#ifndef SHADOW_TRANSLATE_X86_DECODE_H
#define SHADOW_TRANSLATE_X86_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X86_INSN_BYTES = 15, X86_ACCESSES = 2 };

enum x86_kind {
	X86_PLAIN,	   /* copied as it is */
	X86_JUMP,	   /* direct, to `target` */
	X86_JUMP_IF,	   /* depends on `condition`, to `target` */
	X86_JUMP_COUNTED,  /* loop, loope, loopne, jrcxz, jecxz */
	X86_CALL,	   /* direct */
	X86_JUMP_INDIRECT, /* through a register or memory: see `names_memory` */
	X86_CALL_INDIRECT,
	X86_RETURN,
	X86_SYSTEM_CALL,
	X86_END, /* cannot be replayed: see `end` */
};

enum x86_access_kind {
	X86_LOAD,
	X86_STORE,
	X86_MODIFY, /* a load followed by a store */
	X86_PREFETCH,
};

/* How often an access happens with a repeat prefix. */
enum x86_access_repeats {
	X86_ONCE,
	X86_REPEATS,	/* rcx times */
	X86_MAY_REPEAT, /* until a comparison ends it, at most rcx times */
};

enum { X86_NO_REGISTER = 16 };

/* One memory access, at base + (index << shift) + displacement, with register values before the
 * instruction. Without base and index: at `insn->relative_to`, or at an absolute address. */
struct x86_access {
	uint8_t base, index; /* numbers of general registers, or X86_NO_REGISTER */
	uint8_t shift;
	uint8_t kind;	 /* enum x86_access_kind */
	uint8_t repeats; /* enum x86_access_repeats */
	/* by a push, pop, call or return, which moves the stack pointer by `bytes` */
	bool is_stack;
	bool is_relative;
	bool is_fs;	/* relative to the base of fs */
	uint16_t bytes; /* size of one element */
	int64_t displacement;
};

struct x86_insn {
	uint64_t address;
	uint64_t target; /* of direct branches */
	uint8_t bytes[X86_INSN_BYTES];
	uint8_t length;
	uint8_t kind;		/* enum x86_kind */
	uint8_t end;		/* enum hp_window_end */
	uint8_t condition;	/* as encoded, 0 … 15 */
	uint16_t returns_bytes; /* of a return: bytes that it pops besides the address */
	/* an operand is relative to the instruction pointer */
	bool is_relative;
	bool is_short_address;	  /* with 32-bit address size */
	bool is_address_only;	  /* lea: its result is `relative_to` */
	uint8_t address_register; /* lea: the destination */
	uint8_t address_bytes;	  /* lea: bytes of the destination that are written: 2, 4 or 8 */
	/* the address that the operand names, before segments and truncation */
	uint64_t relative_to;
	/* Positions of parts of the encoding; 0: not present (an opcode comes first). Positions of
	 * prefixes are X86_INSN_BYTES if not present. */
	uint8_t modrm_at, displacement_at;
	uint8_t rex_at, vex3_at, evex_at;
	bool names_memory;	 /* of an indirect branch */
	uint8_t target_register; /* of an indirect branch through a register */
	/* Sets of general registers, by number. */
	uint16_t uses;	   /* used in any way, including implicitly */
	uint16_t reads;	   /* whose old value matters */
	uint16_t replaces; /* whose old value is lost completely, all 64 bits */
	uint16_t writes;   /* that may be changed */
	/* The flags that `inc` changes: parity, adjust, zero, sign and overflow. */
	bool reads_flags;
	bool replaces_flags; /* all five, in every case */
	bool uses_gs;
	/* it has accesses that no struct x86_access describes: gathers, scatters, 32-bit
	 * addresses */
	bool has_other_accesses;
	uint8_t access_count;
	struct x86_access accesses[X86_ACCESSES]; /* in the order in which they happen */
};

static inline bool x86_is_indirect(enum x86_kind kind)
{
	return kind == X86_JUMP_INDIRECT || kind == X86_CALL_INDIRECT || kind == X86_RETURN;
}

/* False: not an instruction. `size` may exceed the instruction's length. */
bool x86_decode(const uint8_t *bytes, size_t size, uint64_t address, struct x86_insn *insn);

#endif
