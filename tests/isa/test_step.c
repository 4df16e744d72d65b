/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interpreter against the processor that runs the test: random instructions, register values
 * and flags, of which a random part is withheld. Whatever it claims to know must be what the
 * processor makes of it, however the withheld bits are chosen; and where nothing is withheld, it
 * must know.
 */
#include "../support.h"

#include <hpcprof/base/number.h>
#include <hpcprof/isa/step.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R15 = 15 };

static const struct hp_isa *isa(void)
{
	return hp_isa_of(EM_X86_64);
}

static struct hp_insn decode(const uint8_t *bytes, size_t size, uint64_t address)
{
	struct hp_insn insn;

	ck_assert(isa()->decode(bytes, size, address, &insn));
	return insn;
}

#if defined(__x86_64__)

/* --- the processor ---------------------------------------------------------------------------- */

enum { CODE_BYTES = 4096 };
static const uint64_t status_flags = 0x8d5; /* overflow, sign, zero, adjust, parity, carry */

struct native {
	uint64_t registers[16]; /* by number; that of the stack pointer is not used */
	uint64_t flags;
};

static size_t append(uint8_t *code, size_t at, const char *bytes, size_t size)
{
	memcpy(code + at, bytes, size);
	return at + size;
}

/* What loads all registers and flags from where rdi points to, runs the instruction, and stores
 * them. */
static void write_code(uint8_t *code, const uint8_t *insn, size_t insn_size)
{
	static const uint8_t order[] = { 0, 1, 2, 3, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 7 };
	size_t at = 0;

	/* push rbx, rbp, r12 to r15, rdi; then the flags */
	at = append(code, at, "\x53\x55\x41\x54\x41\x55\x41\x56\x41\x57\x57", 11);
	at = append(code, at, "\xff\xb7\x80\x00\x00\x00\x9d", 7); /* push [rdi+128]; popfq */
	for (size_t i = 0; i < sizeof(order); i++) {		  /* mov reg, [rdi + 8 * number] */
		code[at++] = order[i] >= 8 ? 0x4c : 0x48;
		code[at++] = 0x8b;
		code[at++] = (uint8_t)(0x47 | (order[i] & 7) << 3);
		code[at++] = (uint8_t)(order[i] * 8);
	}
	at = append(code, at, (const char *)insn, insn_size);
	/* push rdi; pushfq; cld; mov rdi, [rsp+16] */
	at = append(code, at, "\x57\x9c\xfc\x48\x8b\x7c\x24\x10", 8);
	for (size_t i = 0; i + 1 < sizeof(order); i++) {
		code[at++] = order[i] >= 8 ? 0x4c : 0x48;
		code[at++] = 0x89;
		code[at++] = (uint8_t)(0x47 | (order[i] & 7) << 3);
		code[at++] = (uint8_t)(order[i] * 8);
	}
	/* pop [rdi+128]; pop rax; mov [rdi+56], rax; pop rdi; and what was saved; ret */
	at = append(code, at, "\x8f\x87\x80\x00\x00\x00\x58\x48\x89\x47\x38\x5f", 12);
	at = append(code, at, "\x41\x5f\x41\x5e\x41\x5d\x41\x5c\x5d\x5b\xc3", 11);
	ck_assert_uint_le(at, CODE_BYTES);
}

static void run_code(const uint8_t *code, struct native *native)
{
	void (*function)(struct native *);

	memcpy(&function, &(const void *){ code }, sizeof(function));
	function(native);
}

/* --- random instructions ---------------------------------------------------------------------- */

enum form { RM_REG, RM, RM_IMM8, RM_IMM, REG_RM, REG_RM_IMM8, REG_RM_IMM, ALONE, OPCODE_REG, LEA };

static const struct {
	const char *name;
	uint8_t opcode[2]; /* behind 0f where the first is that */
	uint8_t from, to;  /* of the ModRM's reg field, for those that are chosen by it */
	enum form form;
	bool is_byte;
} kinds[] = {
	{ "arithmetic r/m8, r8", { 0x00 }, 0, 7, RM_REG, true },
	{ "arithmetic r/m, r", { 0x01 }, 0, 7, RM_REG, false },
	{ "arithmetic r, r/m", { 0x03 }, 0, 7, REG_RM, false },
	{ "arithmetic r/m8, imm8", { 0x80 }, 0, 7, RM_IMM8, true },
	{ "arithmetic r/m, imm", { 0x81 }, 0, 7, RM_IMM, false },
	{ "arithmetic r/m, imm8", { 0x83 }, 0, 7, RM_IMM8, false },
	{ "test r/m8, r8", { 0x84 }, 0, 7, RM_REG, true },
	{ "test r/m, r", { 0x85 }, 0, 7, RM_REG, false },
	{ "xchg r/m8, r8", { 0x86 }, 0, 7, RM_REG, true },
	{ "xchg r/m, r", { 0x87 }, 0, 7, RM_REG, false },
	{ "mov r/m8, r8", { 0x88 }, 0, 7, RM_REG, true },
	{ "mov r, r/m", { 0x8b }, 0, 7, REG_RM, false },
	{ "movsxd", { 0x63 }, 0, 7, REG_RM, false },
	{ "shift r/m8, imm8", { 0xc0 }, 4, 7, RM_IMM8, true },
	{ "shift r/m, imm8", { 0xc1 }, 4, 7, RM_IMM8, false },
	{ "shift r/m, 1", { 0xd1 }, 4, 7, RM, false },
	{ "shift r/m, cl", { 0xd3 }, 4, 7, RM, false },
	{ "rotate r/m8, imm8", { 0xc0 }, 0, 1, RM_IMM8, true },
	{ "rotate r/m, imm8", { 0xc1 }, 0, 1, RM_IMM8, false },
	{ "rotate r/m, cl", { 0xd3 }, 0, 1, RM, false },
	{ "rotate through carry", { 0xc1 }, 2, 3, RM_IMM8, false },
	{ "not, neg r/m8", { 0xf6 }, 2, 3, RM, true },
	{ "not, neg r/m", { 0xf7 }, 2, 3, RM, false },
	{ "mul, imul", { 0xf7 }, 4, 5, RM, false },
	{ "inc, dec r/m8", { 0xfe }, 0, 1, RM, true },
	{ "inc, dec r/m", { 0xff }, 0, 1, RM, false },
	{ "imul r, r/m, imm", { 0x69 }, 0, 7, REG_RM_IMM, false },
	{ "imul r, r/m, imm8", { 0x6b }, 0, 7, REG_RM_IMM8, false },
	{ "imul r, r/m", { 0x0f, 0xaf }, 0, 7, REG_RM, false },
	{ "movzx r, r/m8", { 0x0f, 0xb6 }, 0, 7, REG_RM, true },
	{ "movzx r, r/m16", { 0x0f, 0xb7 }, 0, 7, REG_RM, false },
	{ "movsx r, r/m8", { 0x0f, 0xbe }, 0, 7, REG_RM, true },
	{ "movsx r, r/m16", { 0x0f, 0xbf }, 0, 7, REG_RM, false },
	{ "cmov", { 0x0f, 0x40 }, 0, 15, REG_RM, false },
	{ "set", { 0x0f, 0x90 }, 0, 15, RM, true },
	{ "bt r/m, r", { 0x0f, 0xa3 }, 0, 7, RM_REG, false },
	{ "bts r/m, r", { 0x0f, 0xab }, 0, 7, RM_REG, false },
	{ "btr r/m, r", { 0x0f, 0xb3 }, 0, 7, RM_REG, false },
	{ "btc r/m, r", { 0x0f, 0xbb }, 0, 7, RM_REG, false },
	{ "bt r/m, imm8", { 0x0f, 0xba }, 4, 7, RM_IMM8, false },
	{ "bsf", { 0x0f, 0xbc }, 0, 7, REG_RM, false },
	{ "bsr", { 0x0f, 0xbd }, 0, 7, REG_RM, false },
	{ "xadd", { 0x0f, 0xc1 }, 0, 7, RM_REG, false },
	{ "cmpxchg", { 0x0f, 0xb1 }, 0, 7, RM_REG, false },
	{ "bswap", { 0x0f, 0xc8 }, 0, 7, OPCODE_REG, false },
	{ "cbw, cwde, cdqe", { 0x98 }, 0, 0, ALONE, false },
	{ "cwd, cdq, cqo", { 0x99 }, 0, 0, ALONE, false },
	{ "lea", { 0x8d }, 0, 7, LEA, false },
};

static size_t put_random(struct hp_random *random, uint8_t *into, size_t count)
{
	for (size_t i = 0; i < count; i++)
		into[i] = (uint8_t)hp_random_next(random);
	return count;
}

/* A register that is not the stack pointer: 4 with an extension is r12. */
static uint8_t some_register(struct hp_random *random, bool is_extended)
{
	uint8_t number;

	do {
		number = hp_random_next(random) & 7;
	} while (number == RSP && !is_extended);
	return number;
}

static size_t make(struct hp_random *random, size_t kind, uint8_t *bytes)
{
	enum form form = kinds[kind].form;
	bool is_two = kinds[kind].opcode[0] == 0x0f;
	uint8_t choice = (uint8_t)hp_random_between(random, kinds[kind].from, kinds[kind].to);
	bool has_prefix = !kinds[kind].is_byte && form != OPCODE_REG &&
			  hp_random_next(random) % 6 == 0;
	bool has_rex = hp_random_next(random) & 1;
	uint8_t rex = has_rex ? (uint8_t)(0x40 | (hp_random_next(random) & 0xd)) : 0;
	bool is_by_reg = form == RM || form == RM_IMM8 || form == RM_IMM;
	bool is_condition = is_two && (kinds[kind].opcode[1] & 0xc0) == 0x40;
	bool is_set = is_two && kinds[kind].opcode[1] == 0x90;
	uint8_t opcode = kinds[kind].opcode[is_two];
	size_t size = 0;

	if (is_two && opcode >= 0x80 && is_set)
		opcode = (uint8_t)(opcode + choice);
	else if (is_condition)
		opcode = (uint8_t)(opcode + choice);
	else if (!is_two && opcode < 0x40)
		opcode = (uint8_t)(opcode + choice * 8); /* add, or, adc … */
	if (has_prefix)
		bytes[size++] = 0x66;
	if (has_rex)
		bytes[size++] = rex;
	if (is_two)
		bytes[size++] = 0x0f;
	if (form == OPCODE_REG) {
		bytes[size++] = (uint8_t)(opcode + some_register(random, rex & 1));
		return size;
	}
	bytes[size++] = opcode;
	if (form == ALONE)
		return size;
	if (form == LEA) { /* [base + index * scale + displacement] */
		bytes[size++] = (uint8_t)(0x84 | some_register(random, rex & 4) << 3);
		bytes[size] = (uint8_t)(some_register(random, rex & 1) |
					some_register(random, false) << 3);
		bytes[size++] |= (uint8_t)((hp_random_next(random) & 3) << 6);
		return size + put_random(random, bytes + size, 4);
	}
	bytes[size++] =
		(uint8_t)(0xc0 | some_register(random, rex & 1) |
			  (is_by_reg && !is_set ? choice : some_register(random, rex & 4)) << 3);
	if (form == RM_IMM8 || form == REG_RM_IMM8)
		size += put_random(random, bytes + size, 1);
	if (form == RM_IMM || form == REG_RM_IMM)
		size += put_random(random, bytes + size, has_prefix && !(rex & 8) ? 2 : 4);
	return size;
}

/* --- what is known ---------------------------------------------------------------------------- */

static uint64_t some_value(struct hp_random *random)
{
	uint64_t value = hp_random_next(random);

	switch (hp_random_next(random) % 6) {
	case 0:
		return value & 0xff;
	case 1:
		return value | ~UINT64_C(0xff);
	case 2:
		return value % 3;
	case 3:
		return (uint64_t)(int32_t)value;
	default:
		return value;
	}
}

static uint64_t some_mask(struct hp_random *random)
{
	switch (hp_random_next(random) % 5) {
	case 0:
		return 0;
	case 1:
		return hp_random_next(random) | hp_random_next(random);
	case 2:
		return UINT64_MAX << (hp_random_next(random) & 63);
	default:
		return UINT64_MAX;
	}
}

static const struct {
	uint64_t native;
	uint8_t flag;
} flag_map[] = {
	{ 0x1, HP_FLAG_CARRY }, { 0x4, HP_FLAG_PARITY }, { 0x10, HP_FLAG_ADJUST },
	{ 0x40, HP_FLAG_ZERO }, { 0x80, HP_FLAG_SIGN },	 { 0x800, HP_FLAG_OVERFLOW },
};

static uint8_t flags_of(uint64_t native)
{
	uint8_t flags = 0;

	for (size_t i = 0; i < HP_ARRAY_COUNT(flag_map); i++)
		if (native & flag_map[i].native)
			flags |= flag_map[i].flag;
	return flags;
}

static struct hp_state state_of(const struct native *native, const struct native *known)
{
	struct hp_state state = { .address = 0x1000 };

	for (unsigned i = 0; i < 16; i++)
		state.registers[i] =
			(struct hp_partial){ native->registers[i] & known->registers[i],
					     known->registers[i] };
	state.known_flags = flags_of(known->flags);
	state.flags = flags_of(native->flags) & state.known_flags;
	return state;
}

/* Another choice of what is withheld. */
static struct native vary(struct hp_random *random, const struct native *native,
			  const struct native *known)
{
	struct native varied;

	for (unsigned i = 0; i < 16; i++)
		varied.registers[i] = (native->registers[i] & known->registers[i]) |
				      (some_value(random) & ~known->registers[i]);
	varied.flags = (native->flags & known->flags) |
		       (hp_random_next(random) & status_flags & ~known->flags);
	return varied;
}

static void assert_agrees(const struct hp_state *state, const struct native *after,
			  const char *what, const uint8_t *bytes, size_t size)
{
	char hex[64] = "";

	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, sizeof(hex) - 2 * i, "%02x", bytes[i]);
	for (unsigned i = 0; i < 16; i++) {
		const struct hp_partial *mine = &state->registers[i];

		if (i == RSP)
			continue;
		ck_assert_msg((mine->value & ~mine->known) == 0, "%s %s: register %u", what, hex,
			      i);
		ck_assert_msg((after->registers[i] & mine->known) == mine->value,
			      "%s %s: register %u is %#llx, not %#llx (of %#llx)", what, hex, i,
			      (unsigned long long)after->registers[i],
			      (unsigned long long)mine->value, (unsigned long long)mine->known);
	}
	ck_assert_msg((flags_of(after->flags) & state->known_flags) == state->flags,
		      "%s %s: flags are %#x, not %#x (of %#x)", what, hex, flags_of(after->flags),
		      state->flags, state->known_flags);
}

static void compare(struct hp_random *random, size_t kind, uint8_t *code)
{
	enum { ROUNDS = 2000, VARIATIONS = 4 };

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint8_t bytes[16];
		size_t size = make(random, kind, bytes);
		struct hp_insn insn = decode(bytes, size, 0x1000);
		bool knows_all = round % 2;
		struct native before = { .flags = hp_random_next(random) & status_flags };
		struct native known = { .flags = knows_all
							 ? status_flags
							 : hp_random_next(random) & status_flags };
		struct hp_state state;

		for (unsigned i = 0; i < 16; i++) {
			before.registers[i] = some_value(random);
			known.registers[i] = knows_all ? UINT64_MAX : some_mask(random);
		}
		state = state_of(&before, &known);
		ck_assert_int_eq(hp_step_x86_64(&insn, 0, NULL, &state), HP_STEP_ON);
		ck_assert_uint_eq(state.address, 0x1000 + size);
		/* Once: writing to code that runs is slow. */
		write_code(code, bytes, size);
		for (unsigned i = 0; i < VARIATIONS; i++) {
			struct native after = vary(random, &before, &known);

			run_code(code, &after);
			assert_agrees(&state, &after, kinds[kind].name, bytes, size);
		}
	}
}

TEST(what_is_known_is_what_the_processor_makes_of_it)
{
	struct hp_random random = hp_random_seeded(0x5eed);
	uint8_t *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return; /* a hardened kernel: nothing to compare with */
	for (size_t kind = 0; kind < HP_ARRAY_COUNT(kinds); kind++)
		compare(&random, kind, code);
	munmap(code, CODE_BYTES);
}

#else

TEST(what_is_known_is_what_the_processor_makes_of_it)
{
}

#endif

/* --- by hand ---------------------------------------------------------------------------------- */

static struct hp_state known_state(void)
{
	struct hp_state state = { .address = 0x1000, .known_flags = 0xff };

	for (unsigned i = 0; i < 16; i++)
		state.registers[i] = (struct hp_partial){ 0x100 * (i + 1), UINT64_MAX };
	state.registers[RSP].value = 0x7ff000;
	return state;
}

static enum hp_step step_with(struct hp_state *state, const struct hp_step_memory *memory,
			      const char *bytes, size_t size)
{
	struct hp_insn insn = decode((const uint8_t *)bytes, size, state->address);

	ck_assert_uint_eq(insn.length, size);
	return hp_step_x86_64(&insn, 0, memory, state);
}
#define STEP(state, text) step_with(state, NULL, text, sizeof(text) - 1)

#define assert_register(state, number, expected)                                                   \
	do {                                                                                       \
		ck_assert_uint_eq((state)->registers[number].known, UINT64_MAX);                   \
		ck_assert_uint_eq((state)->registers[number].value, expected);                     \
	} while (0)

TEST(with_everything_known_ordinary_results_are_known)
{
	struct hp_state state = known_state();

	STEP(&state, "\x48\x01\xc8"); /* add rax, rcx */
	assert_register(&state, RAX, 0x300);
	STEP(&state, "\x48\x8d\x44\x98\x07"); /* lea rax, [rax + rbx * 4 + 7] */
	assert_register(&state, RAX, 0x300 + 0x400 * 4 + 7);
	STEP(&state, "\x0f\xaf\xc1"); /* imul eax, ecx */
	assert_register(&state, RAX, 0x1307 * 0x200);
	STEP(&state, "\xc1\xe8\x09"); /* shr eax, 9 */
	assert_register(&state, RAX, 0x1307);
	STEP(&state, "\x0f\xb6\xc0"); /* movzx eax, al */
	assert_register(&state, RAX, 0x07);
	STEP(&state, "\x3c\x07");     /* cmp al, 7 */
	STEP(&state, "\x0f\x94\xc2"); /* sete dl */
	assert_register(&state, RDX, 0x301);
}

TEST(what_was_pushed_is_popped)
{
	struct hp_state state = known_state();

	STEP(&state, "\x50");	      /* push rax */
	STEP(&state, "\x6a\xff");     /* push -1 */
	STEP(&state, "\x48\x89\x0b"); /* mov [rbx], rcx: elsewhere */
	STEP(&state, "\x5a");	      /* pop rdx */
	STEP(&state, "\x5e");	      /* pop rsi */
	assert_register(&state, RDX, UINT64_MAX);
	assert_register(&state, RSI, 0x100);
	assert_register(&state, RSP, 0x7ff000);
}

TEST(a_load_of_what_was_stored_is_known_and_of_more_is_not)
{
	struct hp_state state = known_state();

	STEP(&state, "\x89\x4b\x04");	  /* mov [rbx+4], ecx */
	STEP(&state, "\x0f\xb7\x43\x04"); /* movzx eax, word [rbx+4] */
	assert_register(&state, RAX, 0x200);
	STEP(&state, "\x0f\xb6\x43\x05"); /* movzx eax, byte [rbx+5] */
	assert_register(&state, RAX, 0x2);
	STEP(&state, "\x48\x8b\x03"); /* mov rax, [rbx]: half of it is not known */
	ck_assert_uint_ne(state.registers[RAX].known, UINT64_MAX);
	STEP(&state, "\x8b\x43\x20"); /* mov eax, [rbx+32] */
	ck_assert_uint_eq(state.registers[RAX].known, ~UINT64_C(0xffffffff));
}

TEST(a_store_nobody_knows_where_leaves_only_the_stack)
{
	struct hp_state state = known_state();

	STEP(&state, "\x48\x89\x0b"); /* mov [rbx], rcx */
	STEP(&state, "\x51");	      /* push rcx */
	STEP(&state, "\x48\x8b\x06"); /* mov rax, [rsi]: unknown */
	STEP(&state, "\x48\x89\x10"); /* mov [rax], rdx */
	STEP(&state, "\x48\x8b\x13"); /* mov rdx, [rbx] */
	ck_assert_uint_ne(state.registers[RDX].known, UINT64_MAX);
	STEP(&state, "\x5a"); /* pop rdx */
	assert_register(&state, RDX, 0x200);
}

static bool read_constant(void *context, uint64_t address, size_t bytes, bool is_constant,
			  uint8_t *into)
{
	(void)is_constant;
	if (address != 0x5000 || bytes > 8)
		return false;
	memcpy(into, context, bytes);
	return true;
}

TEST(branches_go_where_what_is_known_sends_them)
{
	struct hp_state state = known_state();
	uint8_t held[8] = { 0x34, 0x12 };
	struct hp_step_memory memory = { read_constant, held };

	STEP(&state, "\x48\x39\xc1");				   /* cmp rcx, rax: above */
	ck_assert_int_eq(STEP(&state, "\x77\x10"), HP_STEP_TAKEN); /* ja */
	ck_assert_uint_eq(state.address, 0x1003 + 2 + 0x10);
	ck_assert_int_eq(STEP(&state, "\x74\x10"), HP_STEP_NOT_TAKEN);	    /* je */
	ck_assert_int_eq(STEP(&state, "\xe8\x00\x01\x00\x00"), HP_STEP_ON); /* call */
	ck_assert_uint_eq(state.address, 0x1017 + 5 + 0x100);
	ck_assert_int_eq(STEP(&state, "\xc3"), HP_STEP_INDIRECT); /* ret */
	ck_assert_uint_eq(state.address, 0x1017 + 5);
	ck_assert_int_eq(STEP(&state, "\xc3"), HP_STEP_UNKNOWN);
	ck_assert_uint_eq(state.address, 0x1017 + 5);
	ck_assert_int_eq(step_with(&state, &memory, "\xff\x24\x25\x00\x50\x00\x00", 7),
			 HP_STEP_INDIRECT); /* jmp [0x5000] */
	ck_assert_uint_eq(state.address, 0x1234);
	STEP(&state, "\x8b\x03"); /* mov eax, [rbx] */
	STEP(&state, "\x85\xc0"); /* test eax, eax */
	ck_assert_int_eq(STEP(&state, "\x74\x10"), HP_STEP_UNKNOWN);
	STEP(&state, "\x83\xc8\x01"); /* or eax, 1 */
	ck_assert_int_eq(STEP(&state, "\x74\x10"), HP_STEP_NOT_TAKEN);
	STEP(&state, "\x0f\xb6\x03");				       /* movzx eax, byte [rbx] */
	STEP(&state, "\x3d\x00\x01\x00\x00");			       /* cmp eax, 256 */
	ck_assert_int_eq(STEP(&state, "\x77\x10"), HP_STEP_NOT_TAKEN); /* ja */
	ck_assert_int_eq(STEP(&state, "\x0f\x05"), HP_STEP_END);       /* syscall */
}

HP_TEST_MAIN("isa/step")
