/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the quick decoder says of instructions (src/isa/x86_64_common.c), beside what the full one does. */
#include "../support.h"

#include <hpcprof/isa/insn.h>
#include <hpcprof/isa/text.h>

#include <elf.h>
#include <string.h>

enum { SIZE = 24, PLACE = 0x1000 };

static const struct hp_isa *isa;

static const char *text_of(const uint8_t *bytes)
{
	static char text[3 * SIZE + 1];

	for (size_t i = 0; i < SIZE; i++)
		snprintf(text + 3 * i, 4, "%02x ", bytes[i]);
	return text;
}

/* The address that an indirect jump or call reads its target from, or 0. */
static uint64_t pointer_of(const struct hp_insn *insn)
{
	if (insn->kind != HP_INSN_CALL_INDIRECT && insn->kind != HP_INSN_JUMP_INDIRECT)
		return 0;
	for (size_t i = 0; i < insn->memory_count; i++)
		if (insn->memories[i].base == HP_REGISTER_PC)
			return (uint64_t)insn->memories[i].displacement;
	return 0;
}

static bool is_same(const struct hp_flow *flow, const struct hp_insn *insn, size_t length)
{
	uint64_t pointer = pointer_of(insn);

	return flow->length == insn->length && length == insn->length && flow->kind == insn->kind &&
	       flow->is_padding == insn->is_padding &&
	       flow->target == (pointer ? pointer : insn->target) &&
	       flow->names_memory == (pointer != 0);
}

/* Check notes each assertion that holds, which would take most of the time. */
static void compare(const uint8_t *bytes)
{
	struct hp_insn insn;
	struct hp_flow flow;
	bool is_known = isa->decode(bytes, SIZE, PLACE, &insn);

	if (isa->flow(bytes, SIZE, PLACE, &flow) == is_known &&
	    (!is_known || is_same(&flow, &insn, hp_isa_length(EM_X86_64, bytes, SIZE))))
		return;
	ck_abort_msg(
		"%s: %d bytes of kind %u to %#llx, by the quick decoder %u of kind %u to %#llx",
		text_of(bytes), is_known ? insn.length : 0, insn.kind,
		(unsigned long long)insn.target, flow.length, flow.kind,
		(unsigned long long)flow.target);
}

/* `bytes`: prefixes and 0x0f were written before `at`. */
static void compare_opcodes(uint8_t *bytes, size_t at)
{
	static const uint8_t after[] = {
		0x24, 0x65
	}; /* a ModRM byte: bases of SIB without and with offset */

	for (unsigned opcode = 0; opcode < 256; opcode++)
		for (unsigned modrm = 0; modrm < 256; modrm++)
			for (size_t i = 0; i < HP_ARRAY_COUNT(after); i++) {
				bytes[at] = (uint8_t)opcode;
				bytes[at + 1] = (uint8_t)modrm;
				bytes[at + 2] = after[i];
				compare(bytes);
			}
}

/* Compares all instructions with this prefix (0: none) and each kind of REX. */
static void compare_all(uint8_t prefix)
{
	static const uint8_t rexes[] = { 0, 0x40, 0x41, 0x48, 0x4f };

	for (size_t rex = 0; rex < HP_ARRAY_COUNT(rexes); rex++)
		for (unsigned is_two_bytes = 0; is_two_bytes < 2; is_two_bytes++) {
			uint8_t bytes[SIZE];
			size_t at = 0;

			for (size_t i = 0; i < SIZE; i++)
				bytes[i] = (uint8_t)(0x80 + 13 * i);
			if (prefix)
				bytes[at++] = prefix;
			if (rexes[rex])
				bytes[at++] = rexes[rex];
			if (is_two_bytes)
				bytes[at++] = 0x0f;
			compare_opcodes(bytes, at);
		}
}

SETUP
{
	isa = hp_isa_of(EM_X86_64);
	ck_assert(isa != NULL);
}

TEST(every_opcode_and_operand_is_what_the_full_decoder_says)
{
	compare_all(0);
}

TEST(so_is_every_one_with_a_prefix)
{
	compare_all(0x66);
	compare_all(0xf2);
	compare_all(0xf3);
}

TEST(the_end_of_the_code_is_no_part_of_an_instruction)
{
	static const uint8_t bytes[] = { 0x48, 0x8b, 0x84, 0x24, 0x80, 0, 0, 0 };
	struct hp_flow flow;

	for (size_t size = 0; size < sizeof(bytes); size++)
		ck_assert(!isa->flow(bytes, size, PLACE, &flow));
	ck_assert(isa->flow(bytes, sizeof(bytes), PLACE, &flow));
	ck_assert_uint_eq(flow.length, sizeof(bytes));
}

HP_TEST_MAIN("isa/common")
