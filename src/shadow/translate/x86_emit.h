/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes x86-64 machine code. No function emits code that changes flags unless its name says so;
 * none emits code that uses the stack.
 *
 * Code is written through hpcprof's mapping and is executed at another address in the shadow;
 * `shift` is the difference. Code addresses its memory (spills, counters, constants) relative to
 * the instruction pointer, so that memory must be within 2 GiB of the code.
 *
 * An emitter that runs out of space sets `is_full` and writes nothing more; check once at the end.
 */
#ifndef SHADOW_TRANSLATE_X86_EMIT_H
#define SHADOW_TRANSLATE_X86_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* By their numbers in instructions. */
enum x86_register {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R11 = 11,
	X86_REGISTERS = 16,
};

struct x86_emitter {
	uint8_t *at;
	uint8_t *end;
	uint64_t shift; /* address in the shadow = (uintptr_t)at + shift */
	bool is_full;
	/* emitted code contains addresses outside of it, so it cannot move with its program */
	bool is_fixed;
};

static inline uint64_t x86_address(const struct x86_emitter *emitter)
{
	return (uint64_t)(uintptr_t)emitter->at + emitter->shift;
}

void x86_bytes(struct x86_emitter *emitter, const void *bytes, size_t count);
void x86_u8(struct x86_emitter *emitter, unsigned value);

void x86_move_constant(struct x86_emitter *emitter, unsigned to, uint64_t value);
void x86_move(struct x86_emitter *emitter, unsigned to, unsigned from);
void x86_load(struct x86_emitter *emitter, unsigned to, uint64_t address);
void x86_store(struct x86_emitter *emitter, uint64_t address, unsigned from);
/* to = [base + displacement] */
void x86_load_based(struct x86_emitter *emitter, unsigned to, unsigned base, int32_t displacement);
/* [base + displacement] = from, or = value; the displacement always has 32 bits */
void x86_store_based(struct x86_emitter *emitter, unsigned base, int32_t displacement,
		     unsigned from);
void x86_store_constant_based(struct x86_emitter *emitter, unsigned base, int32_t displacement,
			      uint32_t value);
/* Words at an offset from gs. */
void x86_load_gs(struct x86_emitter *emitter, unsigned to, uint32_t offset);
void x86_store_gs(struct x86_emitter *emitter, uint32_t offset, unsigned from);
/* to = base + (index << shift), or without a base if it is no register; `index` is not rsp */
void x86_add_shifted(struct x86_emitter *emitter, unsigned to, unsigned base, unsigned index,
		     unsigned shift);
/* to = base + index; `index` is not rsp */
void x86_add(struct x86_emitter *emitter, unsigned to, unsigned base, unsigned index);
/* to = base + displacement */
void x86_add_constant(struct x86_emitter *emitter, unsigned to, unsigned base,
		      int32_t displacement);
void x86_address_of(struct x86_emitter *emitter, unsigned to, uint64_t address);

/* Adds one to the word at `address`. Changes all arithmetic flags except carry. */
void x86_increment_changing_flags(struct x86_emitter *emitter, uint64_t address);
/* The same without changing flags; `scratch` is overwritten. */
void x86_increment(struct x86_emitter *emitter, uint64_t address, unsigned scratch);

void x86_push_memory(struct x86_emitter *emitter, uint64_t address);
void x86_jump_memory(struct x86_emitter *emitter, uint64_t address);
void x86_trap(struct x86_emitter *emitter, uint32_t number); /* int3, then the number as data */

/* Jumps with a 32-bit displacement to be set later by x86_patch. They return its position. */
uint8_t *x86_jump(struct x86_emitter *emitter);
uint8_t *x86_jump_if(struct x86_emitter *emitter, unsigned condition);
/* Jumps if rcx is 0; the 8-bit displacement is set later by x86_patch_short. */
uint8_t *x86_jump_if_no_rcx(struct x86_emitter *emitter);

/* Both pointers are in hpcprof's mapping, since distances within a zone are the same there. A
 * displacement from a full emitter is NULL, and is ignored. */
void x86_patch(uint8_t *displacement, const uint8_t *target);
bool x86_patch_short(uint8_t *displacement, const uint8_t *target);

#endif
