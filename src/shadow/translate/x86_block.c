/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_block.h"

#include <string.h>

/* --- decoding --------------------------------------------------------------------------------- */

static uint8_t end_of(enum shadow_text_state state)
{
	switch (state) {
	case SHADOW_TEXT_UNREADABLE:
		return HP_WINDOW_UNREADABLE;
	case SHADOW_TEXT_WRITABLE:
		return HP_WINDOW_WRITABLE_CODE;
	case SHADOW_TEXT_FULL:
		return HP_WINDOW_CACHE_FULL;
	case SHADOW_TEXT_READ:
	default:
		return HP_WINDOW_UNDECODABLE;
	}
}

bool x86_block_decode(struct shadow_text *text, uint64_t address, struct x86_block *block)
{
	block->count = 0;
	block->end = HP_WINDOW_COMPLETE;
	while (block->count < CODE_BLOCK_INSNS) {
		struct x86_insn *insn = &block->insns[block->count];
		uint8_t bytes[X86_INSN_BYTES];
		size_t got;
		enum shadow_text_state state =
			shadow_text_read(text, address, bytes, sizeof(bytes), &got);

		if (state != SHADOW_TEXT_READ || !x86_decode(bytes, got, address, insn)) {
			block->end = end_of(state);
			break;
		}
		block->count++;
		address += insn->length;
		if (insn->kind != X86_PLAIN)
			break;
	}
	return block->count > 0;
}

/* --- copying ---------------------------------------------------------------------------------- */

/* Clears the bit that would turn a base register 0 … 7 into 8 … 15. In an operand relative to the
 * instruction pointer it has no effect, but may be set. */
static void clear_base_extension(const struct x86_insn *insn, uint8_t *bytes)
{
	if (insn->rex_at < X86_INSN_BYTES)
		bytes[insn->rex_at] &= 0xfe;
	if (insn->vex3_at < X86_INSN_BYTES)
		bytes[insn->vex3_at + 1] |= 0x20; /* stored inverted */
	if (insn->evex_at < X86_INSN_BYTES)
		bytes[insn->evex_at + 1] |= 0x20;
}

/* A base register that needs neither an index byte nor a displacement (not rsp or rbp), and that
 * the instruction does not use. */
static unsigned spare_register(const struct x86_insn *insn)
{
	static const uint8_t candidates[] = {
		X86_RSI, X86_RDI, X86_RAX, X86_RCX, X86_RDX, X86_RBX
	};

	for (size_t i = 0; i < sizeof(candidates); i++)
		if (!(insn->uses >> candidates[i] & 1))
			return candidates[i];
	return X86_RSI; /* no instruction with a relative operand uses five registers */
}

/* Emits an address in this process. */
static void emit_address(struct x86_emitter *emitter, unsigned to, uint64_t address)
{
	x86_move_constant(emitter, to, address);
	emitter->is_fixed = true;
}

/* The operand is out of reach, so a register holds its address. */
static void emit_far(const struct code_zone *zone, struct x86_emitter *emitter,
		     const struct x86_insn *insn, uint64_t operand)
{
	uint64_t spill = code_spill_address(zone, CODE_SPILL_SCRATCH);
	unsigned spare = spare_register(insn);
	uint8_t bytes[X86_INSN_BYTES];
	size_t behind = (size_t)insn->displacement_at + 4;

	memcpy(bytes, insn->bytes, insn->length);
	clear_base_extension(insn, bytes);
	bytes[insn->modrm_at] = (uint8_t)((bytes[insn->modrm_at] & 0x38) | spare);
	x86_store(emitter, spill, spare);
	emit_address(emitter, spare, operand);
	x86_bytes(emitter, bytes, insn->displacement_at);
	x86_bytes(emitter, bytes + behind, insn->length - behind);
	x86_load(emitter, spare, spill);
}

void x86_emit_plain(const struct code_zone *zone, struct x86_emitter *emitter,
		    const struct x86_insn *insn)
{
	uint64_t operand = insn->relative_to;
	int64_t distance = (int64_t)(operand - (x86_address(emitter) + insn->length));
	uint8_t bytes[X86_INSN_BYTES];
	int32_t displacement;

	if (!insn->is_relative) {
		x86_bytes(emitter, insn->bytes, insn->length);
		return;
	}
	/* With 32-bit addresses, everything is within reach, modulo 2^32. */
	if (distance == (int32_t)distance || insn->is_short_address) {
		displacement = (int32_t)distance;
		memcpy(bytes, insn->bytes, insn->length);
		memcpy(bytes + insn->displacement_at, &displacement, sizeof(displacement));
		x86_bytes(emitter, bytes, insn->length);
	} else if (insn->is_address_only && insn->address_bytes >= 4) {
		emit_address(emitter, insn->address_register,
			     insn->address_bytes == 4 ? (uint32_t)operand : operand);
	} else {
		emit_far(zone, emitter, insn, operand);
	}
}

/* --- targets of indirect branches ------------------------------------------------------------- */

/* Copies segment and address-size prefixes; not those that change the operand's size or mark a
 * branch. */
static void emit_address_prefixes(struct x86_emitter *emitter, const struct x86_insn *insn)
{
	for (size_t i = 0; i < insn->modrm_at; i++) {
		uint8_t byte = insn->bytes[i];

		if (byte == 0x64 || byte == 0x65 || byte == 0x67)
			x86_u8(emitter, byte);
	}
}

static bool is_in_reach(const struct x86_emitter *emitter, uint64_t address)
{
	const int64_t longest = X86_INSN_BYTES;
	int64_t distance = (int64_t)(address - x86_address(emitter));

	return distance > INT32_MIN + longest && distance < INT32_MAX - longest;
}

void x86_emit_target(struct x86_emitter *emitter, const struct x86_insn *insn)
{
	uint8_t extension = insn->rex_at < X86_INSN_BYTES ? insn->bytes[insn->rex_at] & 3 : 0;
	uint64_t operand = insn->relative_to;

	if (!insn->names_memory) {
		if (insn->target_register != X86_R11)
			x86_move(emitter, X86_R11, insn->target_register);
		return;
	}
	if (insn->is_relative && !insn->is_short_address && is_in_reach(emitter, operand)) {
		emit_address_prefixes(emitter, insn);
		x86_load(emitter, X86_R11, operand);
		return;
	}
	if (insn->is_relative) {
		if (insn->is_short_address)
			operand = (uint32_t)operand;
		emit_address(emitter, X86_R11, operand);
		emit_address_prefixes(emitter, insn);
		x86_bytes(emitter, "\x4d\x8b\x1b", 3); /* mov r11, [r11] */
		return;
	}
	emit_address_prefixes(emitter, insn);
	x86_u8(emitter, 0x4cU | extension);
	x86_u8(emitter, 0x8b);
	/* The destination becomes r11: three bits of its number here, one in the prefix. */
	x86_u8(emitter, (insn->bytes[insn->modrm_at] & 0xc7U) | (X86_R11 & 7) << 3);
	x86_bytes(emitter, insn->bytes + insn->modrm_at + 1, insn->length - insn->modrm_at - 1U);
}

/* --- counting --------------------------------------------------------------------------------- */

/* Directly before an instruction that overwrites the flags, code that changes them does no harm; the
 * same holds for a register. Nearly every block has an instruction of one kind or the other. */
struct x86_count_place x86_count_place(const struct x86_block *block)
{
	for (size_t i = 0; i < block->count; i++)
		if (block->insns[i].kind == X86_PLAIN && block->insns[i].replaces_flags)
			return (struct x86_count_place){ .before = i, .how = X86_COUNT_FLAGS_DEAD };
	for (size_t i = 0; i < block->count; i++) {
		uint16_t dead = block->insns[i].replaces & (uint16_t) ~(1U << X86_RSP);

		if (block->insns[i].kind == X86_PLAIN && dead)
			return (struct x86_count_place){ .before = i,
							 .how = X86_COUNT_REGISTER_DEAD,
							 .scratch = (unsigned)__builtin_ctz(dead) };
	}
	return (struct x86_count_place){ .how = X86_COUNT_SPILLING };
}

void x86_emit_count(const struct code_zone *zone, struct x86_emitter *emitter, uint32_t counter,
		    const struct x86_count_place *place)
{
	uint64_t address = code_counter_address(zone, counter);
	uint64_t spill = code_spill_address(zone, CODE_SPILL_SCRATCH);

	switch (place->how) {
	case X86_COUNT_FLAGS_DEAD:
		x86_increment_changing_flags(emitter, address);
		break;
	case X86_COUNT_REGISTER_DEAD:
		x86_increment(emitter, address, place->scratch);
		break;
	case X86_COUNT_SPILLING:
		x86_store(emitter, spill, X86_RAX);
		x86_increment(emitter, address, X86_RAX);
		x86_load(emitter, X86_RAX, spill);
		break;
	}
}

void x86_emit_nothing(uint8_t *start, const struct x86_emitter *emitter)
{
	static const uint8_t long_one[] = { 0x0f, 0x1f, 0x80, 0, 0, 0, 0 };
	size_t left = emitter->is_full ? 0 : (size_t)(emitter->at - start);

	for (; left >= sizeof(long_one); left -= sizeof(long_one)) {
		memcpy(start, long_one, sizeof(long_one));
		start += sizeof(long_one);
	}
	memset(start, 0x90, left);
}
