/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each kind of rule, with assembler whose code never runs: only its rules are followed. */
#include "../support.h"
#include "mapped.h"

#include <string.h>

/* Labels are places in the procedures: what holds there is what is said before them. */
__asm__(".pushsection .text\n"
	"rule_by_rsp: .cfi_startproc\n nop\n"
	".cfi_def_cfa_offset 32\n .cfi_offset rbp, -32\n at_rsp: nop\n"
	".cfi_remember_state\n .cfi_def_cfa_offset 8\n .cfi_restore rbp\n at_restored: nop\n"
	".cfi_restore_state\n at_recalled: nop\n"
	".cfi_endproc\n"
	"rule_by_rbp: .cfi_startproc\n .cfi_def_cfa rbp, 16\n .cfi_offset rbp, -16\n at_rbp: nop\n"
	".cfi_endproc\n"
	/* The return address is in another register. */
	"rule_moved: .cfi_startproc\n .cfi_register rip, rdi\n at_moved: nop\n"
	".cfi_endproc\n"
	/* Where a thread begins. */
	"rule_root: .cfi_startproc\n .cfi_undefined rip\n at_root: nop\n"
	".cfi_endproc\n"
	/* What a linker says of a PLT: rsp + 8 + ((rip & 15) >= 11) * 8. */
	"rule_plt: .cfi_startproc\n"
	".cfi_escape 0x0f,0x0b,0x77,0x08,0x80,0x00,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22\n"
	".balign 16\n at_plt: .fill 16, 1, 0x90\n"
	".cfi_endproc\n"
	/* What a compiler says of a stack that it aligned: the CFA is in memory. */
	"rule_aligned: .cfi_startproc\n"
	".cfi_escape 0x0f,0x03,0x76,0x78,0x06\n .cfi_escape 0x10,0x06,0x02,0x76,0x00\n"
	"at_aligned: nop\n"
	".cfi_endproc\n"
	/* The CFA itself is the caller's rbp. */
	"rule_value: .cfi_startproc\n .cfi_def_cfa_offset 16\n .cfi_val_offset rbp, -8\n"
	"at_value: nop\n"
	".cfi_endproc\n"
	/* Registers are where a signal put them; rsp is not the CFA. */
	"rule_signal: .cfi_startproc\n .cfi_signal_frame\n"
	".cfi_escape 0x0f,0x03,0x77,0x20,0x06\n" /* CFA: *(rsp + 32) */
	".cfi_escape 0x10,0x10,0x02,0x77,0x00\n" /* rip: *(rsp) */
	".cfi_escape 0x10,0x06,0x02,0x77,0x08\n" /* rbp: *(rsp + 8) */
	".cfi_escape 0x10,0x0a,0x02,0x77,0x10\n" /* r10: *(rsp + 16) */
	"at_signal: nop\n"
	".cfi_endproc\n"
	"rule_by_r10: .cfi_startproc\n .cfi_def_cfa r10, 8\n at_r10: nop\n"
	".cfi_endproc\n"
	/* An expression that never ends, one that divides nothing by nothing, one that reads
	 * nowhere. */
	"rule_endless: .cfi_startproc\n .cfi_escape 0x0f,0x05,0x77,0x00,0x2f,0xfd,0xff\n"
	"at_endless: nop\n .cfi_endproc\n"
	"rule_empty: .cfi_startproc\n .cfi_escape 0x0f,0x01,0x22\n at_empty: nop\n .cfi_endproc\n"
	"rule_nowhere: .cfi_startproc\n .cfi_escape 0x0f,0x02,0x30,0x06\n at_nowhere: nop\n"
	".cfi_endproc\n"
	/* The last instruction is a call that never returns. */
	"rule_caller: .cfi_startproc\n .cfi_def_cfa_offset 24\n at_caller: nop\n"
	".cfi_endproc\n"
	"rule_next: .cfi_startproc\n .cfi_def_cfa_offset 4096\n at_next: nop\n"
	".cfi_endproc\n"
	".popsection\n");

extern const char at_rsp[], at_restored[], at_recalled[], at_rbp[], at_moved[], at_root[], at_plt[],
	at_aligned[], at_value[], at_signal[], at_r10[], at_endless[], at_empty[], at_nowhere[],
	at_caller[], at_next[];

enum { WORDS = 16, BASE = 0x10000, RDI = 5, R10 = 10 };

static uint64_t words[WORDS]; /* the stack, from BASE up */
static struct hp_unwind_registers registers;
static struct hp_unwind_frame frames[8];
static size_t count;
static enum hp_unwind_end end;

static uint64_t place(const char *label)
{
	return (uint64_t)label;
}

static void begin(const char *label)
{
	memset(words, 0, sizeof(words));
	registers = (struct hp_unwind_registers){ .known = (1u << HP_UNWIND_REGISTERS) - 1 };
	registers.at[HP_UNWIND_RIP] = place(label);
	registers.at[HP_UNWIND_RSP] = BASE;
	registers.at[HP_UNWIND_RBP] = BASE + 64;
}

static void go(void)
{
	const struct hp_unwind_stack stack = { BASE, (const uint8_t *)words, sizeof(words) };

	count = hp_unwind(&registers, &stack, mapped_find, NULL, NULL, frames, 8, &end);
}

/* The second frame is where this label is, with this stack pointer, and a root. */
static void check_caller(uint64_t stack)
{
	go();
	ck_assert_int_eq(end, HP_UNWIND_ROOT);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(frames[0].address, registers.at[HP_UNWIND_RIP]);
	ck_assert_uint_eq(frames[1].stack, stack);
	ck_assert_int_eq(frames[1].flags, HP_UNWIND_IS_RETURN);
}

TEST(offsets_from_the_stack_pointer)
{
	begin(at_rsp);
	words[3] = place(at_root) + 1;
	check_caller(BASE + 32);
	begin(at_restored);
	words[0] = place(at_root) + 1;
	check_caller(BASE + 8);
	begin(at_recalled);
	words[3] = place(at_root) + 1;
	check_caller(BASE + 32);
}

/* Over two frames: the second is found by the rbp that the first had saved. */
TEST(offsets_from_the_frame_pointer)
{
	begin(at_rsp);
	words[0] = BASE + 80;
	words[3] = place(at_rbp) + 1;
	words[11] = place(at_root) + 1;
	go();
	ck_assert_int_eq(end, HP_UNWIND_ROOT);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(frames[2].stack, BASE + 96);
	ck_assert_uint_eq(frames[2].address, place(at_root) + 1);
}

TEST(a_return_address_in_a_register)
{
	begin(at_moved);
	registers.at[RDI] = place(at_root) + 1;
	check_caller(BASE + 8);
}

TEST(expressions)
{
	begin(at_plt);
	words[0] = place(at_root) + 1;
	check_caller(BASE + 8);
	begin(at_plt + 11);
	words[1] = place(at_root) + 1;
	check_caller(BASE + 16);
	begin(at_aligned);
	words[7] = BASE + 96;
	words[11] = place(at_root) + 1;
	check_caller(BASE + 96);
}

TEST(a_register_that_is_computed)
{
	begin(at_value);
	words[1] = place(at_rbp) + 1; /* its rbp is BASE + 8, where it has saved nothing */
	words[2] = place(at_root) + 1;
	go();
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(frames[2].stack, BASE + 24);
}

/* The interrupted place is exact, and all of its registers are known. */
TEST(a_signal_frame)
{
	begin(at_signal);
	words[0] = place(at_r10);
	words[2] = BASE + 104;
	words[4] = BASE + 48;
	words[13] = place(at_root) + 1;
	go();
	ck_assert_int_eq(end, HP_UNWIND_ROOT);
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(frames[1].address, place(at_r10));
	ck_assert_int_eq(frames[1].flags, 0);
	ck_assert_uint_eq(frames[1].stack, BASE + 48);
	ck_assert_uint_eq(frames[2].stack, BASE + 112);
	/* In what was called, r10 is not the caller's. */
	begin(at_rsp);
	words[3] = place(at_r10) + 1;
	go();
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(end, HP_UNWIND_LOST);
}

TEST(expressions_that_give_nothing)
{
	const char *labels[] = { at_endless, at_empty, at_nowhere };

	for (size_t i = 0; i < HP_ARRAY_COUNT(labels); i++) {
		begin(labels[i]);
		go();
		ck_assert_uint_eq(count, 1);
		ck_assert_int_eq(end, HP_UNWIND_LOST);
	}
}

TEST(a_return_address_behind_the_end_of_a_procedure)
{
	begin(at_rsp);
	words[3] = place(at_caller) + 1;
	words[6] = place(at_root) + 1;
	go();
	ck_assert_uint_eq(count, 3);
	ck_assert_uint_eq(frames[2].stack, BASE + 56);
	/* A sample there is in the next one. */
	begin(at_next);
	go();
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(end, HP_UNWIND_TRUNCATED);
}

/* Frames that do not go up are no frames. */
TEST(a_stack_that_goes_nowhere)
{
	begin(at_rbp);
	registers.at[HP_UNWIND_RBP] = BASE - 16;
	go();
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(end, HP_UNWIND_LOST);
	registers.at[HP_UNWIND_RBP] = UINT64_MAX - 8;
	go();
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(end, HP_UNWIND_LOST);
}

TEST(what_is_no_program)
{
	struct hp_unwind_table *table;

	hp_assert_fails(HP_ERROR_DAMAGED, hp_unwind_table_of_bytes("no", 2, &table));
	hp_assert_fails(HP_ERROR_DAMAGED, hp_unwind_table_of_fd(-1, &table));
}

HP_TEST_MAIN("unwind/rules")
