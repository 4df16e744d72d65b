/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_emit.h"

#include <string.h>

enum { REX = 0x40, REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

void x86_bytes(struct x86_emitter *emitter, const void *bytes, size_t count)
{
	if (emitter->is_full || (size_t)(emitter->end - emitter->at) < count) {
		emitter->is_full = true;
		return;
	}
	memcpy(emitter->at, bytes, count);
	emitter->at += count;
}

void x86_u8(struct x86_emitter *emitter, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	x86_bytes(emitter, &byte, 1);
}

static void x86_u32(struct x86_emitter *emitter, uint32_t value)
{
	x86_bytes(emitter, &value, sizeof(value));
}

static unsigned rex(unsigned reg, unsigned index, unsigned base)
{
	return REX | REX_W | (reg > 7 ? REX_R : 0U) | (index > 7 ? REX_X : 0U) |
	       (base > 7 ? REX_B : 0U);
}

static unsigned modrm(unsigned mod, unsigned reg, unsigned rm)
{
	return mod << 6 | (reg & 7) << 3 | (rm & 7);
}

/* The displacement must be the end of the instruction, as it is in all uses here. */
static void relative(struct x86_emitter *emitter, unsigned reg, uint64_t address)
{
	x86_u8(emitter, modrm(0, reg, 5));
	x86_u32(emitter, (uint32_t)(address - (x86_address(emitter) + 4)));
}

void x86_move_constant(struct x86_emitter *emitter, unsigned to, uint64_t value)
{
	x86_u8(emitter, rex(0, 0, to));
	x86_u8(emitter, 0xb8 + (to & 7));
	x86_bytes(emitter, &value, sizeof(value));
}

void x86_move(struct x86_emitter *emitter, unsigned to, unsigned from)
{
	x86_u8(emitter, rex(from, 0, to));
	x86_u8(emitter, 0x89);
	x86_u8(emitter, modrm(3, from, to));
}

void x86_load(struct x86_emitter *emitter, unsigned to, uint64_t address)
{
	x86_u8(emitter, rex(to, 0, 0));
	x86_u8(emitter, 0x8b);
	relative(emitter, to, address);
}

void x86_store(struct x86_emitter *emitter, uint64_t address, unsigned from)
{
	x86_u8(emitter, rex(from, 0, 0));
	x86_u8(emitter, 0x89);
	relative(emitter, from, address);
}

/* [base + disp32], with the index byte that rsp and r12 need. */
static void based(struct x86_emitter *emitter, unsigned opcode, unsigned reg, unsigned base,
		  int32_t displacement)
{
	x86_u8(emitter, rex(reg, 0, base));
	x86_u8(emitter, opcode);
	x86_u8(emitter, modrm(2, reg, base));
	if ((base & 7) == X86_RSP)
		x86_u8(emitter, 0x24);
	x86_u32(emitter, (uint32_t)displacement);
}

void x86_load_based(struct x86_emitter *emitter, unsigned to, unsigned base, int32_t displacement)
{
	based(emitter, 0x8b, to, base, displacement);
}

void x86_store_based(struct x86_emitter *emitter, unsigned base, int32_t displacement,
		     unsigned from)
{
	based(emitter, 0x89, from, base, displacement);
}

void x86_store_constant_based(struct x86_emitter *emitter, unsigned base, int32_t displacement,
			      uint32_t value)
{
	based(emitter, 0xc7, 0, base, displacement);
	x86_u32(emitter, value);
}

static void gs(struct x86_emitter *emitter, unsigned opcode, unsigned reg, uint32_t offset)
{
	x86_u8(emitter, 0x65);
	x86_u8(emitter, rex(reg, 0, 0));
	x86_u8(emitter, opcode);
	x86_u8(emitter, modrm(0, reg, 4));
	x86_u8(emitter, 0x25); /* neither base nor index */
	x86_u32(emitter, offset);
}

void x86_load_gs(struct x86_emitter *emitter, unsigned to, uint32_t offset)
{
	gs(emitter, 0x8b, to, offset);
}

void x86_store_gs(struct x86_emitter *emitter, uint32_t offset, unsigned from)
{
	gs(emitter, 0x89, from, offset);
}

void x86_add_shifted(struct x86_emitter *emitter, unsigned to, unsigned base, unsigned index,
		     unsigned shift)
{
	bool has_base = base < X86_REGISTERS;

	x86_u8(emitter, rex(to, index, has_base ? base : 0));
	x86_u8(emitter, 0x8d);
	x86_u8(emitter, modrm(has_base ? 2 : 0, to, 4));
	x86_u8(emitter, modrm(shift, index, has_base ? base : 5));
	x86_u32(emitter, 0);
}

void x86_add_constant(struct x86_emitter *emitter, unsigned to, unsigned base, int32_t displacement)
{
	based(emitter, 0x8d, to, base, displacement);
}

void x86_add(struct x86_emitter *emitter, unsigned to, unsigned base, unsigned index)
{
	x86_u8(emitter, rex(to, index, base));
	x86_u8(emitter, 0x8d);
	/* With an 8-bit displacement of 0, since rbp and r13 cannot be a base without one. */
	x86_u8(emitter, modrm(1, to, 4));
	x86_u8(emitter, modrm(0, index, base));
	x86_u8(emitter, 0);
}

void x86_address_of(struct x86_emitter *emitter, unsigned to, uint64_t address)
{
	x86_u8(emitter, rex(to, 0, 0));
	x86_u8(emitter, 0x8d);
	relative(emitter, to, address);
}

void x86_increment_changing_flags(struct x86_emitter *emitter, uint64_t address)
{
	x86_u8(emitter, REX | REX_W);
	x86_u8(emitter, 0xff);
	relative(emitter, 0, address);
}

void x86_increment(struct x86_emitter *emitter, uint64_t address, unsigned scratch)
{
	x86_load(emitter, scratch, address);
	x86_add_constant(emitter, scratch, scratch, 1);
	x86_store(emitter, address, scratch);
}

void x86_push_memory(struct x86_emitter *emitter, uint64_t address)
{
	x86_u8(emitter, 0xff);
	relative(emitter, 6, address);
}

void x86_jump_memory(struct x86_emitter *emitter, uint64_t address)
{
	x86_u8(emitter, 0xff);
	relative(emitter, 4, address);
}

void x86_trap(struct x86_emitter *emitter, uint32_t number)
{
	x86_u8(emitter, 0xcc);
	x86_u32(emitter, number);
}

static uint8_t *displacement(struct x86_emitter *emitter, size_t bytes)
{
	uint8_t *at = emitter->at;

	x86_bytes(emitter, "\0\0\0", bytes);
	return emitter->is_full ? NULL : at;
}

uint8_t *x86_jump(struct x86_emitter *emitter)
{
	x86_u8(emitter, 0xe9);
	return displacement(emitter, 4);
}

uint8_t *x86_jump_if(struct x86_emitter *emitter, unsigned condition)
{
	x86_u8(emitter, 0x0f);
	x86_u8(emitter, 0x80 | (condition & 15));
	return displacement(emitter, 4);
}

uint8_t *x86_jump_if_no_rcx(struct x86_emitter *emitter)
{
	x86_u8(emitter, 0xe3);
	return displacement(emitter, 1);
}

void x86_patch(uint8_t *at, const uint8_t *target)
{
	int32_t distance;

	if (!at)
		return;
	distance = (int32_t)(target - (at + 4));
	memcpy(at, &distance, sizeof(distance));
}

bool x86_patch_short(uint8_t *at, const uint8_t *target)
{
	ptrdiff_t distance;

	if (!at)
		return false;
	distance = target - (at + 1);
	*at = (uint8_t)distance;
	return distance >= INT8_MIN && distance <= INT8_MAX;
}
