/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The logged path against the processor: each form of forms.S, one instruction after another
 * natively, and through the engine, with its log. Blocks, addresses, sizes and kinds of accesses
 * are the same, and logging changes nothing.
 */
#include "../support.h"

#include "../../src/shadow/translate/x86_decode.h"
#include "states.h"

#include <hpcprof/base/vector.h>

#include <Zydis/Zydis.h>
#include <string.h>
#include <sys/ptrace.h>

enum { SLOT_BYTES = 128, ROUNDS = 4, MOST_STEPS = 2000 };

extern const uint8_t forms[], forms_end[];
extern const char *const form_names[], *const form_names_end[];

struct access {
	uint64_t ip, address;
	uint32_t bytes;
	enum x86_access_kind kind;
};
struct path {
	HP_VECTOR(struct access) accesses;
	HP_VECTOR(uint64_t) insns;
	bool is_partial;
};

static void forget(struct path *path)
{
	hp_vector_free(&path->accesses);
	hp_vector_free(&path->insns);
	*path = (struct path){ 0 };
}

/* --- natively ---------------------------------------------------------------------------------- */

static ZydisRegisterContext context_of(const struct puppet_state *state)
{
	ZydisRegisterContext context = { 0 };

	for (unsigned i = 0; i < 16; i++)
		context.values[ZYDIS_REGISTER_RAX + i] =
			*state_register((struct puppet_state *)(uintptr_t)state, i);
	return context;
}

static void add_operand(struct path *path, const ZydisDecodedInstruction *insn,
			const ZydisDecodedOperand *operand, const struct puppet_state *state)
{
	const ZydisRegisterContext context = context_of(state);
	bool reads = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
	bool writes = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	struct access access = {
		.ip = state->registers.rip,
		.bytes = operand->size / 8,
		.kind = !writes ? X86_LOAD
			: reads ? X86_MODIFY
				: X86_STORE,
	};

	if (insn->meta.category == ZYDIS_CATEGORY_PREFETCH)
		access.kind = X86_PREFETCH;
	ck_assert(ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(insn, operand, state->registers.rip,
							  &context, &access.address)));
	if (operand->mem.segment == ZYDIS_REGISTER_FS)
		access.address += state->registers.fs_base;
	/* What is pushed lies below. */
	if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && access.kind == X86_STORE &&
	    operand->mem.base == ZYDIS_REGISTER_RSP)
		access.address -= access.bytes;
	hp_assert_ok(hp_vector_push(&path->accesses, access) ? NULL : hp_error_create_no_memory());
}

/* Of the instruction that comes next. False: it has accesses that are not logged. */
static bool add_native(struct path *path, const struct puppet_state *state)
{
	const uint8_t *code = forms + (state->registers.rip - PUPPET_CODE);
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	struct x86_insn known;
	ZydisDecoder decoder;
	bool does_nothing;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, 15, &insn, operands)) ||
	    !x86_decode(code, 15, state->registers.rip, &known) || known.has_other_accesses ||
	    known.uses_gs)
		return false;
	does_nothing = known.access_count == 0 ||
		       (known.accesses[0].repeats != X86_ONCE && state->registers.rcx == 0);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; !does_nothing && i < insn.operand_count; i++) {
			const ZydisDecodedOperand *operand = &operands[i];
			bool reads = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;

			if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->size &&
			    operand->mem.type == ZYDIS_MEMOP_TYPE_MEM && reads == (pass == 0))
				add_operand(path, &insn, operand, state);
		}
	return hp_vector_push(&path->insns, (uint64_t)state->registers.rip);
}

/* False: it faults, or does what is not logged. */
static bool run_native(struct puppet *puppet, const struct puppet_state *start, struct path *path)
{
	static struct puppet_state state;
	size_t end = (size_t)(forms_end - forms);

	state = *start;
	puppet_put(puppet, &state);
	for (size_t step = 0; step < MOST_STEPS; step++) {
		uint64_t offset = state.registers.rip - PUPPET_CODE;

		if (offset >= end || forms[offset] == 0xcc)
			return offset < end;
		if (!add_native(path, &state) || !puppet_step(puppet, &state))
			return false;
	}
	return false;
}

/* --- logged ------------------------------------------------------------------------------------ */

struct reader {
	struct puppet *puppet;
	struct path *path;
	uint64_t fs_base;
	HP_VECTOR(uint64_t) words;
};

static bool keep(void *context, const uint64_t *words, size_t count)
{
	struct reader *reader = context;

	for (size_t i = 0; i < count; i++)
		if (!hp_vector_push(&reader->words, words[i]))
			return false;
	return true;
}

static void add_access(struct reader *reader, const struct path_plan *plan,
		       const struct path_access *planned, const uint64_t *words, uint64_t ip)
{
	uint64_t address = path_access_address(plan, planned, words, reader->fs_base);
	uint64_t elements = path_access_elements(planned, words);

	for (uint64_t i = 0; i < elements && i < MOST_STEPS; i++) {
		struct access access = { ip, address + i * planned->bytes, planned->bytes,
					 planned->kind };

		ck_assert(hp_vector_push(&reader->path->accesses, access));
	}
}

static void read_block(struct reader *reader, const struct path_plan *plan, const uint64_t *words)
{
	uint64_t ip = plan->address;

	reader->path->is_partial |= plan->is_partial;
	for (size_t i = 0, access = 0; i < plan->insn_count; i++) {
		ck_assert(hp_vector_push(&reader->path->insns, ip));
		for (; access < plan->access_count && plan->accesses[access].insn == i; access++)
			add_access(reader, plan, &plan->accesses[access], words, ip);
		ip += plan->lengths[i];
	}
}

static void run_logged(struct puppet *puppet, struct puppet_state *state, struct path *path)
{
	struct reader reader = { .puppet = puppet,
				 .path = path,
				 .fs_base = state->registers.fs_base };
	const struct hp_engine_log log = { keep, &reader, NULL };
	enum hp_window_end end;

	puppet->log = &log;
	puppet_run_engine(puppet, state, &end);
	puppet->log = NULL;
	for (size_t i = 0; i < reader.words.count;) {
		const struct path_plan *plan = hp_engine_plan(puppet->engine, reader.words.at[i]);

		ck_assert_ptr_nonnull(plan);
		read_block(&reader, plan, reader.words.at + i + 1);
		i += 1U + plan->word_count;
	}
	hp_vector_free(&reader.words);
}

/* --- compared ---------------------------------------------------------------------------------- */

/* A repeated instruction is one logged, and many that are stepped; its accesses come one kind after
 * the other there, and by turns here. */
static bool is_repeated(const struct path *native)
{
	for (size_t i = 1; i < native->insns.count; i++)
		if (native->insns.at[i] == native->insns.at[i - 1])
			return true;
	return false;
}

static int by_address(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct access));
}

static void compare_accesses(const char *name, struct path *native, struct path *logged)
{
	ck_assert_msg(native->accesses.count == logged->accesses.count,
		      "%s: %zu accesses, %zu logged", name, native->accesses.count,
		      logged->accesses.count);
	if (is_repeated(native)) {
		qsort(native->accesses.at, native->accesses.count, sizeof(struct access),
		      by_address);
		qsort(logged->accesses.at, logged->accesses.count, sizeof(struct access),
		      by_address);
	}
	for (size_t i = 0; i < native->accesses.count; i++) {
		struct access a = native->accesses.at[i], b = logged->accesses.at[i];

		ck_assert_msg(
			a.ip == b.ip && a.address == b.address && a.bytes == b.bytes &&
				a.kind == b.kind,
			"%s: access %zu at 0x%lx to 0x%lx (%u bytes, kind %d), logged at 0x%lx "
			"to 0x%lx (%u, %d)",
			name, i, a.ip, a.address, a.bytes, (int)a.kind, b.ip, b.address, b.bytes,
			(int)b.kind);
	}
}

static void compare_insns(const char *name, const struct path *native, const struct path *logged)
{
	size_t at = 0;

	for (size_t i = 0; i < native->insns.count; i++) {
		if (i && native->insns.at[i] == native->insns.at[i - 1] && is_repeated(native))
			continue;
		ck_assert_msg(at < logged->insns.count &&
				      logged->insns.at[at] == native->insns.at[i],
			      "%s: instruction %zu", name, i);
		at++;
	}
}

static bool compare_one(struct puppet *puppet, size_t form, struct hp_random *random)
{
	static struct puppet_state start, engine, plain;
	struct path native = { 0 }, logged = { 0 };
	const char *difference;
	enum hp_window_end end;
	bool is_comparable;

	state_randomise(&start, puppet, random);
	start.registers.rip = PUPPET_CODE + form * SLOT_BYTES;
	is_comparable = run_native(puppet, &start, &native);
	if (is_comparable) {
		plain = engine = start;
		run_logged(puppet, &engine, &logged);
		puppet_run_engine(puppet, &plain, &end);
		engine.registers.gs_base = plain.registers.gs_base;
		difference = state_difference(&engine, &plain);
		ck_assert_msg(!difference, "%s: %s", form_names[form], difference);
		compare_insns(form_names[form], &native, &logged);
		if (!logged.is_partial)
			compare_accesses(form_names[form], &native, &logged);
	}
	forget(&native);
	forget(&logged);
	return is_comparable;
}

TEST(forms_are_logged_as_they_run)
{
	struct hp_random random = hp_random_seeded(22);
	size_t count = (size_t)(form_names_end - form_names), compared = 0;
	struct puppet puppet;

	puppet_create(&puppet, 0);
	puppet_set_code(&puppet, forms, (size_t)(forms_end - forms));
	for (size_t form = 0; form < count; form++)
		for (unsigned round = 0; round < ROUNDS; round++)
			compared += compare_one(&puppet, form, &random);
	ck_assert_uint_ge(compared, count * ROUNDS / 2);
	puppet_destroy(&puppet);
}

/* A log that is handed on in the midst of blocks loses no word. */
TEST(a_long_path_is_logged_in_pieces)
{
	static const uint8_t code[] = {
		0x48, 0x8b, 0x03,	      /* loop: mov rax, [rbx] */
		0x0f, 0xb6, 0xd1,	      /* movzx edx, cl */
		0x48, 0x89, 0x44, 0xd5, 0x10, /* mov [rbp + 8 * rdx + 16], rax */
		0x53,			      /* push rbx */
		0x5e,			      /* pop rsi */
		0x48, 0xff, 0xc9,	      /* dec rcx */
		0x75, 0xee,		      /* jnz loop */
	};
	enum { TURNS = 100000, INSNS = 7, ACCESSES = 4 };
	static struct puppet_state state;
	struct hp_random random = hp_random_seeded(23);
	struct path path = { 0 };
	struct puppet puppet;
	uint64_t stack;

	puppet_create(&puppet, 0);
	puppet_set_code(&puppet, code, sizeof(code));
	state_randomise(&state, &puppet, &random);
	state.registers.rip = PUPPET_CODE;
	state.registers.rcx = TURNS;
	state.registers.rbp = PUPPET_DATA;
	stack = state.registers.rsp;
	run_logged(&puppet, &state, &path);
	puppet_destroy(&puppet);
	ck_assert_uint_eq(path.insns.count, INSNS * TURNS + 1); /* the trap behind it */
	ck_assert_uint_eq(path.accesses.count, ACCESSES * TURNS);
	for (size_t i = 0; i < TURNS; i++) {
		const struct access *turn = &path.accesses.at[i * ACCESSES];

		ck_assert_uint_eq(turn[0].address, state.registers.rbx);
		ck_assert_uint_eq(turn[1].address, PUPPET_DATA + 8 * ((TURNS - i) & 255) + 16);
		ck_assert_uint_eq(turn[2].address, stack - 8);
		ck_assert_uint_eq(turn[3].address, stack - 8);
	}
	forget(&path);
}

HP_TEST_MAIN_UNLESS(PUPPET_REASON, "shadow/path_log")
