/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions by their bytes; what they do is from the manuals of the processors. */
#include "../support.h"

#include <hpcprof/isa/duty.h>
#include <hpcprof/isa/insn.h>
#include <hpcprof/isa/text.h>

#include <elf.h>
#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R12 = 12 };
enum { XMM0 = HP_REGISTER_VECTOR, XMM1, XMM2, XMM3 };

static const struct hp_isa *isa(void)
{
	const struct hp_isa *found = hp_isa_of(EM_X86_64);

	ck_assert(found != NULL);
	return found;
}

static struct hp_insn decode(const char *bytes, size_t size)
{
	struct hp_insn insn;

	ck_assert(isa()->decode((const uint8_t *)bytes, size, 0x1000, &insn));
	ck_assert_uint_eq(insn.length, size);
	ck_assert_uint_eq(insn.address, 0x1000);
	return insn;
}
#define DECODE(text) decode(text, sizeof(text) - 1)

static struct hp_register_set set_of(size_t count, const unsigned *numbers)
{
	struct hp_register_set set = { { 0 } };

	for (size_t i = 0; i < count; i++)
		hp_register_add(&set, numbers[i]);
	return set;
}
#define assert_set(actual, ...)                                                                    \
	do {                                                                                       \
		const unsigned numbers[] = { __VA_ARGS__ };                                        \
		struct hp_register_set wanted = set_of(HP_ARRAY_COUNT(numbers), numbers);          \
		ck_assert_mem_eq(&(actual), &wanted, sizeof(wanted));                              \
	} while (0)
#define assert_no_register(actual) ck_assert_uint_eq((actual).bits[0] | (actual).bits[1], 0)

/* --- kinds and targets ------------------------------------------------------------------------ */

static const struct {
	const char *text;
	const char *bytes;
	size_t size;
	enum hp_insn_kind kind;
	uint64_t target; /* 0 none */
	bool names_memory;
} flows[] = {
#define B(text) text, sizeof(text) - 1
	{ "nop", B("\x90"), HP_INSN_PLAIN, 0, false },
	{ "mov rax, rbx", B("\x48\x89\xd8"), HP_INSN_PLAIN, 0, false },
	{ "call +0x10", B("\xe8\x10\x00\x00\x00"), HP_INSN_CALL, 0x1015, false },
	{ "call rax", B("\xff\xd0"), HP_INSN_CALL_INDIRECT, 0, false },
	{ "call [rip+8]", B("\xff\x15\x08\x00\x00\x00"), HP_INSN_CALL_INDIRECT, 0x100e, true },
	{ "jmp -2", B("\xeb\xfe"), HP_INSN_JUMP, 0x1000, false },
	{ "jmp -0x100", B("\xe9\x00\xff\xff\xff"), HP_INSN_JUMP, 0xf05, false },
	{ "jmp rax", B("\xff\xe0"), HP_INSN_JUMP_INDIRECT, 0, false },
	{ "notrack jmp rax", B("\x3e\xff\xe0"), HP_INSN_JUMP_INDIRECT, 0, false },
	{ "jmp [rax*8+0x1000]", B("\xff\x24\xc5\x00\x10\x00\x00"), HP_INSN_JUMP_INDIRECT, 0,
	  false },
	{ "jmp [rip-1]", B("\xff\x25\xff\xff\xff\xff"), HP_INSN_JUMP_INDIRECT, 0x1005, true },
	{ "je +4", B("\x74\x04"), HP_INSN_CONDITIONAL, 0x1006, false },
	{ "ja +0x200", B("\x0f\x87\x00\x02\x00\x00"), HP_INSN_CONDITIONAL, 0x1206, false },
	{ "loop -3", B("\xe2\xfd"), HP_INSN_CONDITIONAL, 0xfff, false },
	{ "jrcxz +1", B("\xe3\x01"), HP_INSN_CONDITIONAL, 0x1003, false },
	{ "ret", B("\xc3"), HP_INSN_RETURN, 0, false },
	{ "rep ret", B("\xf3\xc3"), HP_INSN_RETURN, 0, false },
	{ "ret 8", B("\xc2\x08\x00"), HP_INSN_RETURN, 0, false },
	{ "ud2", B("\x0f\x0b"), HP_INSN_TRAP, 0, false },
	{ "int3", B("\xcc"), HP_INSN_TRAP, 0, false },
	{ "hlt", B("\xf4"), HP_INSN_HALT, 0, false },
	{ "syscall", B("\x0f\x05"), HP_INSN_SYSCALL, 0, false },
	{ "vaddps zmm1, zmm2, zmm3", B("\x62\xf1\x6c\x48\x58\xcb"), HP_INSN_PLAIN, 0, false },
};

TEST(kind_and_target_of_every_transfer_of_control)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(flows); i++) {
		const uint8_t *bytes = (const uint8_t *)flows[i].bytes;
		struct hp_flow flow;

		ck_assert_msg(isa()->flow(bytes, flows[i].size, 0x1000, &flow), "%s",
			      flows[i].text);
		ck_assert_msg(flow.length == flows[i].size, "%s: length", flows[i].text);
		ck_assert_msg(flow.kind == flows[i].kind, "%s: kind %d", flows[i].text, flow.kind);
		ck_assert_msg(flow.target == flows[i].target, "%s: target %#lx", flows[i].text,
			      (unsigned long)flow.target);
		ck_assert_msg(flow.names_memory == flows[i].names_memory, "%s", flows[i].text);
	}
}

TEST(both_depths_agree)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(flows); i++) {
		struct hp_insn insn = decode(flows[i].bytes, flows[i].size);

		ck_assert_msg(insn.kind == flows[i].kind, "%s", flows[i].text);
		if (!flows[i].names_memory)
			ck_assert_uint_eq(insn.target, flows[i].target);
	}
}

TEST(bytes_that_end_too_early_do_not_decode)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(flows); i++) {
		for (size_t size = 0; size < flows[i].size; size++) {
			uint8_t *copy = malloc(size + 1);
			struct hp_flow flow;
			struct hp_insn insn;

			memcpy(copy, flows[i].bytes, size);
			/* A prefix of "rep ret" is no instruction, one of "ret 8" neither. */
			ck_assert_msg(!isa()->flow(copy, size, 0, &flow), "%s", flows[i].text);
			ck_assert_msg(!isa()->decode(copy, size, 0, &insn), "%s", flows[i].text);
			free(copy);
		}
	}
}

TEST(what_is_no_instruction_does_not_decode)
{
	static const uint8_t bad[][2] = { { 0x06, 0x00 }, { 0xd6, 0x00 }, { 0xff, 0xff } };
	struct hp_flow flow;

	for (size_t i = 0; i < HP_ARRAY_COUNT(bad); i++)
		ck_assert(!isa()->flow(bad[i], 2, 0, &flow));
}

TEST(an_unknown_machine_has_no_decoder)
{
	ck_assert(hp_isa_of(EM_NONE) == NULL);
	ck_assert(hp_isa_of(EM_SPARC) == NULL);
}

TEST(exit_system_calls_are_told_by_their_numbers)
{
	static const uint8_t exit_group[] = { 0x90, 0xb8, 231, 0, 0, 0 };
	static const uint8_t exit_one[] = { 0xb8, 60, 0, 0, 0 };
	static const uint8_t write_one[] = { 0xb8, 1, 0, 0, 0 };

	ck_assert(isa()->is_exit(exit_group, sizeof(exit_group)));
	ck_assert(isa()->is_exit(exit_one, sizeof(exit_one)));
	ck_assert(!isa()->is_exit(write_one, sizeof(write_one)));
	ck_assert(!isa()->is_exit(exit_one + 1, 4));
}

/* --- registers and flags ---------------------------------------------------------------------- */

TEST(an_addition_reads_both_and_writes_one_and_the_flags)
{
	struct hp_insn insn = DECODE("\x48\x01\xd8"); /* add rax, rbx */

	assert_set(insn.read, RAX, RBX);
	assert_set(insn.written, RAX);
	ck_assert_uint_eq(insn.flags_read, 0);
	ck_assert_uint_eq(insn.flags_written, HP_FLAG_CARRY | HP_FLAG_ZERO | HP_FLAG_SIGN |
						      HP_FLAG_OVERFLOW | HP_FLAG_PARITY |
						      HP_FLAG_ADJUST);
	ck_assert_uint_eq(insn.operation, HP_OPERATION_ADD);
}

TEST(a_division_has_hidden_operands)
{
	struct hp_insn insn = DECODE("\x48\xf7\xf1"); /* div rcx */

	assert_set(insn.read, RAX, RDX, RCX);
	assert_set(insn.written, RAX, RDX);
}

TEST(a_narrow_write_keeps_the_rest_of_its_register)
{
	struct hp_insn byte = DECODE("\x88\xd8");  /* mov al, bl */
	struct hp_insn dword = DECODE("\x89\xd8"); /* mov eax, ebx */

	assert_set(byte.read, RAX, RBX);
	assert_set(dword.read, RBX);
	assert_set(dword.written, RAX);
}

TEST(a_conditional_move_reads_what_it_may_keep)
{
	struct hp_insn insn = DECODE("\x48\x0f\x44\xc3"); /* cmove rax, rbx */

	assert_set(insn.read, RAX, RBX);
	ck_assert_uint_eq(insn.flags_read, HP_FLAG_ZERO);
	ck_assert_uint_eq(insn.condition, HP_CONDITION_EQUAL);
}

TEST(zeroing_is_told_from_exclusive_or)
{
	ck_assert(DECODE("\x31\xc0").is_zeroing);	  /* xor eax, eax */
	ck_assert(!DECODE("\x31\xd8").is_zeroing);	  /* xor eax, ebx */
	ck_assert(!DECODE("\x30\xc0").is_zeroing);	  /* xor al, al */
	ck_assert(DECODE("\x66\x0f\xef\xc0").is_zeroing); /* pxor xmm0, xmm0 */
	ck_assert(DECODE("\xc5\xf1\xef\xd1").is_zeroing); /* vpxor xmm2, xmm1, xmm1 */
}

TEST(a_vector_register_is_one_whatever_its_width)
{
	struct hp_insn narrow = DECODE("\x0f\x58\xca");		  /* addps xmm1, xmm2 */
	struct hp_insn wide = DECODE("\x62\xf1\x6c\x48\x58\xcb"); /* vaddps zmm1, zmm2, zmm3 */

	assert_set(narrow.read, XMM1, XMM2);
	assert_set(narrow.written, XMM1);
	ck_assert(hp_register_in(&wide.read, XMM2) && hp_register_in(&wide.read, XMM3));
	ck_assert(!hp_register_in(&wide.read, XMM1) && hp_register_in(&wide.written, XMM1));
}

TEST(conditions_are_those_of_the_manual)
{
	static const uint8_t wanted[16] = {
		HP_CONDITION_OTHER,	  HP_CONDITION_OTHER,	      HP_CONDITION_BELOW,
		HP_CONDITION_ABOVE_EQUAL, HP_CONDITION_EQUAL,	      HP_CONDITION_NOT_EQUAL,
		HP_CONDITION_BELOW_EQUAL, HP_CONDITION_ABOVE,	      HP_CONDITION_OTHER,
		HP_CONDITION_OTHER,	  HP_CONDITION_OTHER,	      HP_CONDITION_OTHER,
		HP_CONDITION_LESS,	  HP_CONDITION_GREATER_EQUAL, HP_CONDITION_LESS_EQUAL,
		HP_CONDITION_GREATER,
	};

	for (int i = 0; i < 16; i++) {
		char near[] = { (char)(0x70 + i), 0 };
		char far[] = { 0x0f, (char)(0x80 + i), 0, 0, 0, 0 };

		ck_assert_uint_eq(decode(near, sizeof(near)).condition, wanted[i]);
		ck_assert_uint_eq(decode(far, sizeof(far)).condition, wanted[i]);
	}
}

/* --- memory ----------------------------------------------------------------------------------- */

TEST(a_load_names_base_index_scale_and_displacement)
{
	struct hp_insn insn = DECODE("\x8b\x44\x8b\x10"); /* mov eax, [rbx+rcx*4+0x10] */
	const struct hp_memory *memory = &insn.memories[0];

	ck_assert_uint_eq(insn.memory_count, 1);
	ck_assert_uint_eq(memory->base, RBX);
	ck_assert_uint_eq(memory->index, RCX);
	ck_assert_uint_eq(memory->scale, 4);
	ck_assert_int_eq(memory->displacement, 0x10);
	ck_assert_uint_eq(memory->bytes, 4);
	ck_assert_uint_eq(memory->access, HP_ACCESS_READ);
	ck_assert(!memory->is_implicit);
	assert_set(insn.read, RBX, RCX);
	ck_assert_uint_eq(insn.operands[1].type, HP_OPERAND_MEMORY);
	ck_assert_uint_eq(insn.operands[1].number, 0);
}

TEST(an_address_relative_to_the_program_counter_is_worked_out)
{
	struct hp_insn insn = DECODE("\x48\x8d\x05\x00\x01\x00\x00"); /* lea rax, [rip+0x100] */

	ck_assert_uint_eq(insn.memories[0].base, HP_REGISTER_PC);
	ck_assert_int_eq(insn.memories[0].displacement, 0x1107);
	ck_assert_uint_eq(insn.memories[0].access, 0);
	assert_no_register(insn.read);
}

TEST(a_no_op_names_memory_and_accesses_none)
{
	struct hp_insn insn = DECODE("\x0f\x1f\x07"); /* nop [rdi] */

	ck_assert_uint_eq(insn.memory_count, 1);
	ck_assert_uint_eq(insn.memories[0].access, 0);
}

TEST(an_update_in_memory_reads_and_writes_it)
{
	struct hp_insn insn = DECODE("\xf0\x83\x07\x01"); /* lock add dword [rdi], 1 */

	ck_assert_uint_eq(insn.memories[0].access, HP_ACCESS_READ | HP_ACCESS_WRITE);
	ck_assert(insn.is_locked);
	ck_assert(DECODE("\x87\x07").is_locked); /* xchg [rdi], eax */
	ck_assert(!DECODE("\x83\x07\x01").is_locked);
}

TEST(a_prefetch_is_told_from_a_load)
{
	struct hp_insn insn = DECODE("\x0f\x18\x0f"); /* prefetcht0 [rdi] */

	ck_assert(insn.is_prefetch);
	ck_assert_uint_eq(insn.memories[0].access, HP_ACCESS_READ);
	ck_assert(DECODE("\x0f\x0d\x0f").is_prefetch);	/* prefetchw [rdi] */
	ck_assert(!DECODE("\x8b\x07").is_prefetch);	/* mov eax, [rdi] */
	ck_assert(!DECODE("\x0f\x1f\x07").is_prefetch); /* nop [rdi] */
}

TEST(a_call_pushes_and_a_push_from_memory_does_both)
{
	struct hp_insn call = DECODE("\xe8\x00\x00\x00\x00");
	struct hp_insn push = DECODE("\xff\x33"); /* push qword [rbx] */

	ck_assert_uint_eq(call.memory_count, 1);
	ck_assert(call.memories[0].is_implicit);
	ck_assert_uint_eq(call.memories[0].access, HP_ACCESS_WRITE);
	ck_assert(hp_register_in(&call.written, RSP));
	ck_assert_uint_eq(push.memory_count, 2);
	ck_assert_uint_eq(push.memories[0].base, RBX);
	ck_assert_uint_eq(push.memories[0].access, HP_ACCESS_READ);
	ck_assert_uint_eq(push.memories[1].base, RSP);
	ck_assert_uint_eq(push.memories[1].access, HP_ACCESS_WRITE);
}

TEST(a_string_move_has_two_memories_and_may_be_repeated)
{
	struct hp_insn insn = DECODE("\xf3\x48\xa5"); /* rep movsq */

	ck_assert(insn.is_repeated);
	ck_assert_uint_eq(insn.memory_count, 2);
	ck_assert(hp_register_in(&insn.read, RCX) && hp_register_in(&insn.written, RCX));
	ck_assert(hp_register_in(&insn.written, RSI) && hp_register_in(&insn.written, RDI));
}

TEST(thread_local_memory_has_its_segment)
{
	/* mov rax, fs:[0x28] */
	struct hp_insn insn = DECODE("\x64\x48\x8b\x04\x25\x28\x00\x00\x00");

	ck_assert_uint_ne(insn.memories[0].segment, HP_REGISTER_NONE);
	ck_assert_uint_eq(insn.memories[0].base, HP_REGISTER_NONE);
	ck_assert_int_eq(insn.memories[0].displacement, 0x28);
	ck_assert_uint_eq(DECODE("\x8b\x07").memories[0].segment, HP_REGISTER_NONE);
}

TEST(immediates_are_sign_extended)
{
	struct hp_insn insn = DECODE("\x48\x83\xc0\xff"); /* add rax, -1 */

	ck_assert_uint_eq(insn.operands[1].type, HP_OPERAND_IMMEDIATE);
	ck_assert_int_eq(insn.operands[1].immediate, -1);
}

TEST(calls_clobber_what_the_convention_does_not_keep)
{
	const struct hp_register_set *clobbers = &isa()->call_clobbers;

	ck_assert(hp_register_in(clobbers, RAX) && hp_register_in(clobbers, R8));
	ck_assert(hp_register_in(clobbers, XMM0));
	ck_assert(!hp_register_in(clobbers, RBX) && !hp_register_in(clobbers, RBP));
	ck_assert(!hp_register_in(clobbers, RSP) && !hp_register_in(clobbers, R12));
}

TEST(mnemonics_have_names)
{
	ck_assert_str_eq(isa()->mnemonic(DECODE("\x48\x01\xd8").mnemonic), "add");
	ck_assert_str_eq(isa()->mnemonic(UINT16_MAX), "(bad)");
}

/* --- duties ----------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	const char *bytes;
	size_t size;
	enum hp_duty duty;
} duties[] = {
#define B(text) text, sizeof(text) - 1
	{ "mov rax, rbx", B("\x48\x89\xd8"), HP_DUTY_PLAIN },
	{ "add rax, rbx", B("\x48\x01\xd8"), HP_DUTY_PLAIN },
	{ "cmp rax, rbx", B("\x48\x39\xd8"), HP_DUTY_PLAIN },
	{ "call", B("\xe8\x00\x00\x00\x00"), HP_DUTY_PLAIN },
	{ "ret", B("\xc3"), HP_DUTY_PLAIN },
	{ "jz", B("\x74\x00"), HP_DUTY_PLAIN },
	{ "js", B("\x78\x00"), HP_DUTY_PLAIN },
	{ "sete al", B("\x0f\x94\xc0"), HP_DUTY_PLAIN },
	{ "lock add [rdi], eax", B("\xf0\x01\x07"), HP_DUTY_SYNC },
	{ "xchg [rdi], eax", B("\x87\x07"), HP_DUTY_SYNC },
	{ "xbegin", B("\xc7\xf8\x00\x00\x00\x00"), HP_DUTY_SYNC },
	{ "syscall", B("\x0f\x05"), HP_DUTY_SYNC },
	{ "pause", B("\xf3\x90"), HP_DUTY_SYNC },
	{ "mfence", B("\x0f\xae\xf0"), HP_DUTY_SYNC },
	{ "div rcx", B("\x48\xf7\xf1"), HP_DUTY_DIVIDE },
	{ "sqrtsd xmm0, xmm1", B("\xf2\x0f\x51\xc1"), HP_DUTY_DIVIDE },
	{ "mul rcx", B("\x48\xf7\xe1"), HP_DUTY_MULTIPLY },
	{ "imul rax, rcx", B("\x48\x0f\xaf\xc1"), HP_DUTY_MULTIPLY },
	{ "addsd xmm0, xmm1", B("\xf2\x0f\x58\xc1"), HP_DUTY_FP },
	{ "cvtsi2sd xmm0, rax", B("\xf2\x48\x0f\x2a\xc0"), HP_DUTY_FP },
	{ "ucomisd xmm0, xmm1", B("\x66\x0f\x2e\xc1"), HP_DUTY_FP },
	{ "fadd st0, st1", B("\xd8\xc1"), HP_DUTY_FP },
#undef B
};

TEST(what_may_take_long_has_a_duty)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(duties); i++) {
		struct hp_insn insn = decode(duties[i].bytes, duties[i].size);

		ck_assert_msg(hp_duty_of(isa(), &insn) == duties[i].duty, "%s", duties[i].text);
	}
}

TEST(lengths_alone_are_those_of_decoded_instructions)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(duties); i++) {
		const uint8_t *bytes = (const uint8_t *)duties[i].bytes;

		ck_assert_uint_eq(hp_isa_length(EM_X86_64, bytes, duties[i].size), duties[i].size);
		ck_assert_uint_eq(hp_isa_length(EM_X86_64, bytes, duties[i].size - 1), 0);
	}
	/* lock is not allowed with mov; push es exists with 32 bits only */
	ck_assert_uint_eq(hp_isa_length(EM_X86_64, (const uint8_t *)"\xf0\x89\xd8", 3), 0);
	ck_assert_uint_eq(hp_isa_length(EM_X86_64, (const uint8_t *)"\x06", 1), 0);
	ck_assert_uint_eq(hp_isa_length(EM_386, (const uint8_t *)"\x06", 1), 1);
}

HP_TEST_MAIN("isa/insn")
