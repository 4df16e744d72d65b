/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../support.h"

#include <hpcprof/isa/text.h>

#include <elf.h>

/* Bytes and meaning from the Intel manual, volume 2; AT&T order is source first. */
static const struct {
	uint8_t bytes[8];
	size_t length;
	const char *intel;
	const char *att;
} known[] = {
	{ { 0x48, 0x89, 0xe5 }, 3, "mov rbp, rsp", "mov %rsp, %rbp" },
	{ { 0x8b, 0x44, 0x24, 0xfc }, 4, "mov eax, [rsp-0x4]", "mov -0x4(%rsp), %eax" },
	{ { 0xbf, 0xff, 0xab, 0, 0 }, 5, "mov edi, 0xabff", "mov $0xabff, %edi" },
	{ { 0xc3 }, 1, "ret", "ret" },
};

TEST(an_instruction_comes_out_in_the_syntax_asked_for)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(known); i++) {
		char text[64];

		ck_assert_uint_eq(hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, known[i].bytes,
					      sizeof(known[i].bytes), 0x1000, text, sizeof(text)),
				  known[i].length);
		ck_assert_str_eq(text, known[i].intel);
		ck_assert_uint_eq(hp_isa_text(EM_X86_64, HP_SYNTAX_ATT, known[i].bytes,
					      sizeof(known[i].bytes), 0x1000, text, sizeof(text)),
				  known[i].length);
		ck_assert_str_eq(text, known[i].att);
	}
}

TEST(branch_and_memory_targets_are_link_time_addresses)
{
	static const uint8_t call[] = { 0xe8, 0x10, 0, 0, 0 };	     /* next + 0x10 */
	static const uint8_t jump[] = { 0xeb, 0xfe };		     /* to itself */
	static const uint8_t load[] = { 0x8b, 0x05, 0x0a, 0, 0, 0 }; /* [rip + 10] */
	char text[64];

	hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, call, sizeof(call), 0x401000, text, sizeof(text));
	ck_assert_str_eq(text, "call 0x401015");
	hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, jump, sizeof(jump), 0xabc, text, sizeof(text));
	ck_assert_str_eq(text, "jmp 0xabc");
	hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, load, sizeof(load), 0x401000, text, sizeof(text));
	ck_assert_str_eq(text, "mov eax, [0x401010]");
}

TEST(the_length_alone_is_that_of_the_text)
{
	static const uint8_t call[] = { 0xe8, 0x10, 0 };

	for (size_t i = 0; i < HP_ARRAY_COUNT(known); i++)
		ck_assert_uint_eq(hp_isa_length(EM_X86_64, known[i].bytes, sizeof(known[i].bytes)),
				  known[i].length);
	ck_assert_uint_eq(hp_isa_length(EM_X86_64, call, sizeof(call)), 0);
	ck_assert_uint_eq(hp_isa_length(EM_RISCV, known[0].bytes, 4), 0);
}

TEST(a_direct_jump_or_call_has_a_target_and_nothing_else_has)
{
	static const uint8_t call[] = { 0xe8, 0x10, 0, 0, 0 }; /* next + 0x10 */
	static const uint8_t back[] = { 0x75, 0xf0 };	       /* jne next - 0x10 */
	static const uint8_t indirect[] = { 0xff, 0xd0 };      /* call rax */
	static const uint8_t immediate[] = { 0x6a, 0x10 };     /* push 0x10 */
	uint64_t target = 0;

	ck_assert(hp_isa_target(EM_X86_64, call, sizeof(call), 0x401000, &target));
	ck_assert_uint_eq(target, 0x401015);
	ck_assert(hp_isa_target(EM_X86_64, back, sizeof(back), 0x401000, &target));
	ck_assert_uint_eq(target, 0x400ff2);
	ck_assert(!hp_isa_target(EM_X86_64, indirect, sizeof(indirect), 0, &target));
	ck_assert(!hp_isa_target(EM_X86_64, immediate, sizeof(immediate), 0, &target));
	ck_assert(!hp_isa_target(EM_RISCV, call, sizeof(call), 0, &target));
}

TEST(the_same_bytes_mean_something_else_in_32_bits)
{
	static const uint8_t bytes[] = { 0x48, 0x89, 0xe5 }; /* dec eax; mov ebp, esp */
	char text[64];

	ck_assert_uint_eq(
		hp_isa_text(EM_386, HP_SYNTAX_INTEL, bytes, sizeof(bytes), 0, text, sizeof(text)),
		1);
	ck_assert_str_eq(text, "dec eax");
}

/* Assembled by binutils at 0x10000; where there is a target, `.+8` or `.-8`. */
static const struct {
	uint8_t bytes[4];
	const char *text;
	uint64_t target; /* 0: none */
} aarch64[] = {
	{ { 0x1f, 0x20, 0x03, 0xd5 }, "nop", 0 },
	{ { 0xc0, 0x03, 0x5f, 0xd6 }, "ret", 0 },
	{ { 0x00, 0x04, 0x00, 0xf1 }, "subs x0, x0, #1", 0 },
	{ { 0xe0, 0x7b, 0xbf, 0xa9 }, "stp x0, x30, [sp, #-0x10]!", 0 },
	{ { 0x02, 0x00, 0x00, 0x14 }, "b 0x10008", 0x10008 },
	{ { 0xfe, 0xff, 0xff, 0x97 }, "bl 0xfff8", 0xfff8 },
	{ { 0xc1, 0xff, 0xff, 0x54 }, "b.ne 0xfff8", 0xfff8 },
	{ { 0x40, 0x00, 0x00, 0xb4 }, "cbz x0, 0x10008", 0x10008 },
	{ { 0xc0, 0xff, 0x2f, 0x37 }, "tbnz w0, #5, 0xfff8", 0xfff8 },
	{ { 0x40, 0x00, 0x00, 0x10 }, "adr x0, 0x10008", 0 },
	{ { 0x00, 0x00, 0x1f, 0xd6 }, "br x0", 0 },
};

TEST(aarch64_reads_as_binutils_wrote_it)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(aarch64); i++) {
		char text[64];
		uint64_t target = 0;

		ck_assert_uint_eq(hp_isa_text(EM_AARCH64, HP_SYNTAX_INTEL, aarch64[i].bytes, 4,
					      0x10000, text, sizeof(text)),
				  4);
		ck_assert_str_eq(text, aarch64[i].text);
		ck_assert_uint_eq(hp_isa_length(EM_AARCH64, aarch64[i].bytes, 4), 4);
		ck_assert_int_eq(hp_isa_target(EM_AARCH64, aarch64[i].bytes, 4, 0x10000, &target),
				 aarch64[i].target != 0);
		ck_assert_uint_eq(target, aarch64[i].target);
	}
}

TEST(words_that_are_cut_or_not_allocated_are_bad_on_aarch64)
{
	static const uint8_t unallocated[] = { 0, 0, 0, 0x01 };
	uint64_t target;
	char text[64];

	ck_assert_uint_eq(
		hp_isa_text(EM_AARCH64, HP_SYNTAX_INTEL, unallocated, 4, 0, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "(bad)");
	ck_assert_uint_eq(hp_isa_text(EM_AARCH64, HP_SYNTAX_INTEL, aarch64[4].bytes, 3, 0, text,
				      sizeof(text)),
			  0);
	ck_assert_uint_eq(hp_isa_length(EM_AARCH64, aarch64[4].bytes, 3), 0);
	ck_assert(!hp_isa_target(EM_AARCH64, aarch64[4].bytes, 3, 0, &target));
	ck_assert_uint_eq(hp_isa_text(EM_AARCH64, HP_SYNTAX_INTEL, aarch64[2].bytes, 4, 0, text, 8),
			  0);
	ck_assert_str_eq(text, "(bad)");
}

TEST(bytes_that_are_cut_invalid_or_of_an_unknown_machine_are_bad)
{
	static const uint8_t call[] = { 0xe8, 0x10, 0 };
	static const uint8_t invalid[] = { 0x06 }; /* push es: not in 64-bit mode */
	char text[64];

	ck_assert_uint_eq(
		hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, call, sizeof(call), 0, text, sizeof(text)),
		0);
	ck_assert_str_eq(text, "(bad)");
	ck_assert_uint_eq(hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, invalid, sizeof(invalid), 0, text,
				      sizeof(text)),
			  0);
	ck_assert_uint_eq(
		hp_isa_text(EM_NONE, HP_SYNTAX_INTEL, known[0].bytes, 3, 0, text, sizeof(text)), 0);
	ck_assert_str_eq(text, "(bad)");
}

TEST(text_without_room_for_it_stays_terminated)
{
	char text[8];

	text[7] = 'x';
	ck_assert_uint_eq(hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, known[1].bytes, 4, 0, text, 7),
			  0);
	ck_assert_str_eq(text, "(bad)");
	ck_assert_int_eq(text[7], 'x');
}

TEST(fixed_width_machines_step_by_their_width)
{
	ck_assert_uint_eq(hp_isa_step(EM_X86_64), 1);
	ck_assert_uint_eq(hp_isa_step(EM_AARCH64), 4);
	ck_assert_uint_eq(hp_isa_step(EM_RISCV), 2);
}

/* Instructions at two addresses, and whether anything but where code and data lie tells them
 * apart. */
static const struct {
	uint8_t one[8];
	uint8_t other[8];
	bool same;
	bool same_shape;
} moved[] = {
	/* mov rdx, [rip+...]; another register; call, jne elsewhere; another displacement */
	{ { 0x48, 0x8b, 0x15, 0x10, 0, 0, 0 }, { 0x48, 0x8b, 0x15, 0x77, 1, 0, 0 }, true, true },
	{ { 0x48, 0x8b, 0x15, 0x10, 0, 0, 0 }, { 0x48, 0x8b, 0x0d, 0x10, 0, 0, 0 }, false, true },
	{ { 0xe8, 0x10, 0, 0, 0 }, { 0xe8, 0x70, 3, 0, 0 }, true, true },
	{ { 0x75, 0x10 }, { 0x75, 0x22 }, true, true },
	{ { 0x75, 0x10 }, { 0x74, 0x10 }, false, false },
	{ { 0x8b, 0x44, 0x24, 0xfc }, { 0x8b, 0x44, 0x24, 0xf8 }, false, true },
	/* mov eax, ebx; mov eax, [rbx] */
	{ { 0x89, 0xd8 }, { 0x8b, 0x03 }, false, false },
};

static void hash_at(const uint8_t bytes[8], uint64_t address, uint64_t *hash, uint64_t *shape)
{
	char text[64];
	uint64_t target;

	ck_assert_uint_gt(
		hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, bytes, 8, address, text, sizeof(text)), 0);
	*hash = hp_isa_text_hash(text, hp_isa_target(EM_X86_64, bytes, 8, address, &target));
	*shape = hp_isa_text_shape(text);
}

TEST(only_addresses_are_no_difference)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(moved); i++) {
		uint64_t hashes[2];
		uint64_t shapes[2];

		hash_at(moved[i].one, 0x1000, &hashes[0], &shapes[0]);
		hash_at(moved[i].other, 0x23456, &hashes[1], &shapes[1]);
		ck_assert_msg((hashes[0] == hashes[1]) == moved[i].same, "row %zu", i);
		ck_assert_msg((shapes[0] == shapes[1]) == moved[i].same_shape, "row %zu", i);
	}
}

/* Bytes as the Intel manual recommends them for gaps. */
TEST(what_fills_gaps_is_padding)
{
	static const uint8_t gaps[][9] = {
		{ 0x90 },
		{ 0x66, 0x90 },
		{ 0x0f, 0x1f, 0x00 },
		{ 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 },
		{ 0xcc },
	};
	char text[64];

	for (size_t i = 0; i < HP_ARRAY_COUNT(gaps); i++) {
		hp_isa_text(EM_X86_64, HP_SYNTAX_INTEL, gaps[i], sizeof(gaps[i]), 0x1000, text,
			    sizeof(text));
		ck_assert_msg(hp_isa_text_is_padding(text), "%s", text);
	}
	for (size_t i = 0; i < HP_ARRAY_COUNT(known); i++)
		ck_assert(!hp_isa_text_is_padding(known[i].intel));
}

HP_TEST_MAIN("isa/text")
