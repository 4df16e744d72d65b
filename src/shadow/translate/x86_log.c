/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_log.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = 8, MOST_ACCESSES = CODE_BLOCK_INSNS * X86_ACCESSES };

/* --- planning -------------------------------------------------------------------------------- */

/* The values of base and index when they were logged last. */
struct known {
	uint8_t base, index, shift;
	uint8_t word;
	uint16_t base_version, index_version;
	int64_t stack; /* changes of the stack pointer before it */
};

struct planner {
	struct x86_log *log;
	struct path_access accesses[MOST_ACCESSES];
	uint8_t access_count;
	struct known known[MOST_ACCESSES];
	size_t known_count;
	uint16_t versions[X86_NO_REGISTER + 1]; /* how often each register has changed */
	int64_t stack; /* sum of pushes and pops since the stack pointer changed otherwise */
	bool is_full;
};

static uint8_t add_word(struct planner *planner, const struct x86_log_word *word)
{
	if (planner->log->word_count == PATH_MOST_WORDS) {
		planner->is_full = true;
		return PATH_NO_WORD;
	}
	planner->log->words[planner->log->word_count] = *word;
	return planner->log->word_count++;
}

static bool is_known(const struct planner *planner, const struct known *known,
		     const struct x86_access *access)
{
	return known->base == access->base && known->index == access->index &&
	       known->shift == access->shift &&
	       known->base_version == planner->versions[access->base] &&
	       known->index_version == planner->versions[access->index];
}

/* The word from which the access's base and index follow, and what to add to it. */
static uint8_t word_of(struct planner *planner, uint8_t insn, const struct x86_access *access,
		       int64_t *more)
{
	struct known *known = planner->known;
	bool is_stack = access->base == X86_RSP;

	for (size_t i = 0; i < planner->known_count; i++, known++)
		if (is_known(planner, known, access)) {
			*more = is_stack ? planner->stack - known->stack : 0;
			return known->word;
		}
	*more = 0;
	*known = (struct known){
		.base = access->base,
		.index = access->index,
		.shift = access->shift,
		.base_version = planner->versions[access->base],
		.index_version = planner->versions[access->index],
		.stack = planner->stack,
		.word = add_word(planner, &(struct x86_log_word){ .insn = insn,
								  .base = access->base,
								  .index = access->index,
								  .shift = access->shift }),
	};
	planner->known_count++;
	return known->word;
}

static uint8_t add_count(struct planner *planner, uint8_t insn, bool is_behind)
{
	return add_word(planner, &(struct x86_log_word){ .insn = insn,
							 .is_behind = is_behind,
							 .base = X86_RCX,
							 .index = X86_NO_REGISTER });
}

static void plan_access(struct planner *planner, uint8_t number, const struct x86_block *decoded,
			const struct x86_access *access)
{
	const struct x86_insn *insn = &decoded->insns[number];
	struct path_access *planned = &planner->accesses[planner->access_count++];
	int64_t more = 0;

	*planned = (struct path_access){
		.displacement = access->displacement,
		.bytes = access->bytes,
		.insn = number,
		.kind = access->kind,
		.word = PATH_NO_WORD,
		.count_word = PATH_NO_WORD,
		.left_word = PATH_NO_WORD,
		.is_fs = access->is_fs,
	};
	if (access->is_relative) {
		planned->displacement = (int64_t)(insn->relative_to - decoded->insns[0].address);
	} else if (access->base == X86_NO_REGISTER && access->index == X86_NO_REGISTER) {
		planned->is_absolute = true;
	} else {
		planned->word = word_of(planner, number, access, &more);
		planned->displacement += more;
	}
	if (access->repeats != X86_ONCE)
		planned->count_word = add_count(planner, number, false);
	if (access->repeats == X86_MAY_REPEAT)
		planned->left_word = add_count(planner, number, true);
}

/* Whether the instruction changes the stack pointer by a known amount and in no other way. */
static bool moves_stack(const struct x86_insn *insn, int64_t *by)
{
	const struct x86_access *stack = NULL;

	for (size_t i = 0; i < insn->access_count; i++)
		if (insn->accesses[i].base == X86_RSP && insn->accesses[i].is_stack)
			stack = &insn->accesses[i];
	if (!stack)
		return false;
	*by = stack->kind == X86_STORE ? -(int64_t)stack->bytes : stack->bytes;
	return true;
}

static void note_changes(struct planner *planner, const struct x86_insn *insn)
{
	uint16_t changed = insn->writes;
	int64_t by;

	if (moves_stack(insn, &by)) {
		planner->stack += by;
		changed &= (uint16_t) ~(1U << X86_RSP);
	}
	for (unsigned reg = 0; reg < X86_REGISTERS; reg++)
		planner->versions[reg] += changed >> reg & 1;
}

/* Two registers that the block does not use. */
static void choose_registers(const struct x86_block *decoded, struct x86_log *log)
{
	uint16_t used = 1U << X86_RSP;
	unsigned found[2], count = 0;

	for (size_t i = 0; i < decoded->count; i++)
		used |= decoded->insns[i].uses;
	for (unsigned reg = 0; reg < X86_REGISTERS && count < 2; reg++)
		if (!(used >> reg & 1))
			found[count++] = reg;
	log->keeps_registers = count == 2;
	if (log->keeps_registers) {
		log->pointer = (uint8_t)found[0];
		log->scratch = (uint8_t)found[1];
	}
}

static struct path_plan *make_plan(const struct planner *planner, const struct x86_block *decoded)
{
	size_t bytes = planner->access_count * sizeof(struct path_access);
	const struct x86_insn *last = x86_block_last(decoded);
	uint64_t code_bytes = last->address + last->length - decoded->insns[0].address;
	struct path_plan *plan = malloc(sizeof(*plan) + bytes + decoded->count + code_bytes);
	uint8_t *code;

	if (!plan)
		return NULL;
	*plan = (struct path_plan){
		.address = decoded->insns[0].address,
		.target = last->target,
		.kind = last->kind,
		.word_count = planner->log->word_count,
		.insn_count = (uint8_t)decoded->count,
		.access_count = planner->access_count,
		.lengths = (uint8_t *)plan->accesses + bytes,
	};
	code = plan->code = plan->lengths + decoded->count;
	if (bytes)
		memcpy(plan->accesses, planner->accesses, bytes);
	for (size_t i = 0; i < decoded->count; i++) {
		plan->lengths[i] = decoded->insns[i].length;
		memcpy(code, decoded->insns[i].bytes, decoded->insns[i].length);
		code += decoded->insns[i].length;
		plan->is_partial |= decoded->insns[i].has_other_accesses;
	}
	return plan;
}

bool x86_log_plan(const struct x86_block *decoded, uint32_t number, struct x86_log *log,
		  struct path_plan **plan)
{
	struct planner planner = { .log = log };

	log->number = number;
	log->word_count = 0;
	for (size_t i = 0; i < decoded->count; i++) {
		const struct x86_insn *insn = &decoded->insns[i];

		if (insn->uses_gs)
			return false;
		for (size_t j = 0; j < insn->access_count; j++)
			plan_access(&planner, (uint8_t)i, decoded, &insn->accesses[j]);
		note_changes(&planner, insn);
	}
	choose_registers(decoded, log);
	*plan = planner.is_full ? NULL : make_plan(&planner, decoded);
	return !planner.is_full;
}

/* --- emission -------------------------------------------------------------------------------- */

static void load_word(struct x86_emitter *emitter, unsigned to, enum path_log_word word)
{
	x86_load_gs(emitter, to, WORD * (uint32_t)word);
}

static void store_word(struct x86_emitter *emitter, enum path_log_word word, unsigned from)
{
	x86_store_gs(emitter, WORD * (uint32_t)word, from);
}

static void take_registers(struct x86_emitter *emitter, unsigned pointer, unsigned scratch)
{
	store_word(emitter, PATH_LOG_POINTER, pointer);
	store_word(emitter, PATH_LOG_SCRATCH, scratch);
	load_word(emitter, pointer, PATH_LOG_NEXT);
}

static void give_registers(struct x86_emitter *emitter, unsigned pointer, unsigned scratch)
{
	load_word(emitter, pointer, PATH_LOG_POINTER);
	load_word(emitter, scratch, PATH_LOG_SCRATCH);
}

/* For one word: two registers that it does not use. */
static void choose_spare(const struct x86_log_word *word, unsigned *pointer, unsigned *scratch)
{
	unsigned found[2], count = 0;

	for (unsigned reg = X86_RAX; count < 2; reg++)
		if (reg != X86_RSP && (!word || (reg != word->base && reg != word->index)))
			found[count++] = reg;
	*pointer = found[0];
	*scratch = found[1];
}

static void emit_word(struct x86_emitter *emitter, const struct x86_log_word *word, int32_t place,
		      unsigned pointer, unsigned scratch)
{
	if (word->index == X86_NO_REGISTER) {
		x86_store_based(emitter, pointer, place, word->base);
		return;
	}
	x86_add_shifted(emitter, scratch, word->base, word->index, word->shift);
	x86_store_based(emitter, pointer, place, scratch);
}

void x86_log_begin(const struct x86_log *log, struct x86_emitter *emitter)
{
	unsigned pointer = log->pointer, scratch = log->scratch;

	if (!log->keeps_registers)
		choose_spare(NULL, &pointer, &scratch);
	take_registers(emitter, pointer, scratch);
	x86_store_constant_based(emitter, pointer, 0, log->number);
	if (!log->keeps_registers)
		give_registers(emitter, pointer, scratch);
}

void x86_log_insn(const struct x86_log *log, struct x86_emitter *emitter, size_t insn,
		  bool is_behind)
{
	for (size_t i = 0; i < log->word_count; i++) {
		const struct x86_log_word *word = &log->words[i];
		unsigned pointer = log->pointer, scratch = log->scratch;

		if (word->insn != insn || word->is_behind != is_behind)
			continue;
		if (!log->keeps_registers) {
			choose_spare(word, &pointer, &scratch);
			take_registers(emitter, pointer, scratch);
		}
		emit_word(emitter, word, WORD * (int32_t)(i + 1), pointer, scratch);
		if (!log->keeps_registers)
			give_registers(emitter, pointer, scratch);
	}
}

void x86_log_end(const struct x86_log *log, struct x86_emitter *emitter)
{
	unsigned pointer = log->pointer, scratch = log->scratch;

	if (!log->keeps_registers) {
		choose_spare(NULL, &pointer, &scratch);
		take_registers(emitter, pointer, scratch);
	}
	x86_add_constant(emitter, pointer, pointer, WORD * (log->word_count + 1));
	store_word(emitter, PATH_LOG_NEXT, pointer);
	give_registers(emitter, pointer, scratch);
}

bool x86_log_pointer_of(const uint8_t *code, size_t bytes, unsigned *reg)
{
	/* It has REX.W, the opcode of a store, and a base with a 32-bit displacement. */
	if (bytes < 3 || (code[0] & 0xf8) != 0x48 || (code[1] != 0x89 && code[1] != 0xc7) ||
	    code[2] >> 6 != 2)
		return false;
	*reg = (code[2] & 7) | (code[0] & 1) << 3;
	return *reg != X86_RSP;
}
