/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code.h"

#include "tuning.h"

#include <hpcprof/isa/duty.h>

#include <stdlib.h>

/* --- what instructions cost where only their kind matters -------------------------------------- */

enum {
	LOADS = (1 << LOAD_UNITS) - 1,
	MULTIPLIES = ((1 << MULTIPLY_UNITS) - 1) << LOAD_UNITS,
	FPS = ((1 << FP_UNITS) - 1) << (LOAD_UNITS + MULTIPLY_UNITS),
	DIVIDER = 1 << (LOAD_UNITS + MULTIPLY_UNITS + FP_UNITS),
};

static bool loads(const struct hp_insn *insn)
{
	for (size_t i = 0; i < insn->memory_count; i++)
		if (insn->memories[i].access & HP_ACCESS_READ)
			return true;
	return false;
}

static void use(struct hp_timed_insn *timed, uint32_t units, unsigned cycles)
{
	timed->units[timed->use_count] = units;
	timed->busy[timed->use_count++] = (uint16_t)cycles;
}

static void make_plain(const struct hp_core *core, const struct hp_insn *insn,
		       struct hp_timed_insn *timed)
{
	bool is_load_only = loads(insn) && !timed->operand_count;
	unsigned cycles = 1;

	timed->use_count = 0;
	timed->slots = 1;
	timed->is_eliminated = timed->is_serializing = timed->is_fencing = false;
	if (loads(insn))
		use(timed, LOADS, 1);
	switch ((enum hp_duty)timed->duty) {
	case HP_DUTY_MULTIPLY:
		use(timed, MULTIPLIES, 1);
		cycles = MULTIPLY_CYCLES;
		break;
	case HP_DUTY_DIVIDE:
		use(timed, DIVIDER, DIVIDE_CYCLES);
		cycles = DIVIDE_CYCLES;
		break;
	case HP_DUTY_FP:
		use(timed, FPS, 1);
		cycles = FP_CYCLES;
		break;
	case HP_DUTY_PLAIN:
	case HP_DUTY_SYNC:
		timed->duty = HP_DUTY_PLAIN;
		cycles = is_load_only ? 0 : 1;
		break;
	}
	timed->late = loads(insn) ? core->l1_cycles : 0;
	timed->latency = (uint16_t)(timed->late + cycles);
}

/* --- decoding ---------------------------------------------------------------------------------- */

static bool branch_kind(enum hp_insn_kind kind, enum hp_uarch_branch_kind *result)
{
	switch (kind) {
	case HP_INSN_CALL:
		*result = HP_UARCH_CALL;
		return true;
	case HP_INSN_CALL_INDIRECT:
		*result = HP_UARCH_CALL_INDIRECT;
		return true;
	case HP_INSN_JUMP:
		*result = HP_UARCH_JUMP;
		return true;
	case HP_INSN_CONDITIONAL:
		*result = HP_UARCH_CONDITIONAL;
		return true;
	case HP_INSN_JUMP_INDIRECT:
		*result = HP_UARCH_JUMP_INDIRECT;
		return true;
	case HP_INSN_RETURN:
		*result = HP_UARCH_RETURN;
		return true;
	case HP_INSN_PLAIN:
	case HP_INSN_TRAP:
	case HP_INSN_HALT:
	case HP_INSN_SYSCALL:
		break;
	}
	return false;
}

static void decode_block(const struct hp_trace_block *block, const struct hp_isa *isa,
			 const struct hp_cycle_config *config, struct insn *made)
{
	const uint8_t *bytes = block->code;
	uint64_t address = block->address;
	struct hp_insn insns[2];

	for (size_t i = 0; i < block->insn_count; i++, made++) {
		struct hp_insn *insn = &insns[i % 2];
		const struct hp_insn *before = i && !config->is_plain ? &insns[(i + 1) % 2] : NULL;

		made->address = address;
		made->length = block->lengths[i];
		made->next = address + block->lengths[i];
		if (!isa->decode(bytes, block->lengths[i], address, insn))
			*insn = (struct hp_insn){ .address = address, .length = made->length };
		made->is_branch = branch_kind((enum hp_insn_kind)insn->kind, &made->kind);
		made->target = insn->target;
		hp_timed_insn_make(&config->core, isa, before, insn, &made->timed);
		if (config->is_plain)
			make_plain(&config->core, insn, &made->timed);
		bytes += made->length;
		address = made->next;
	}
}

/* --- by address -------------------------------------------------------------------------------- */

static uint32_t *place_of(const struct cycle_code *code, uint64_t address)
{
	size_t at = (address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & code->mask;

	while (code->places[at] && code->insns[code->places[at] - 1].address != address)
		at = (at + 1) & code->mask;
	return &code->places[at];
}

const struct insn *cycle_code_at(const struct cycle_code *code, uint64_t address)
{
	uint32_t number = *place_of(code, address);

	return number ? &code->insns[number - 1] : NULL;
}

struct hp_error *cycle_code_create(const struct hp_trace *trace,
				   const struct hp_cycle_config *config, struct cycle_code *code)
{
	const struct hp_isa *isa = hp_isa_of(trace->machine);
	size_t places = 2;

	*code = (struct cycle_code){ 0 };
	if (!isa)
		return hp_error_create(HP_ERROR_USAGE,
				       "its code is of a machine that cannot be decoded here (%u)",
				       trace->machine);
	for (size_t i = 0; i < trace->block_count; i++)
		code->count += trace->blocks[i].insn_count;
	while (places < 2 * code->count)
		places *= 2;
	code->mask = places - 1;
	code->insns = calloc(code->count + 1, sizeof(*code->insns));
	code->first = calloc(trace->block_count + 1, sizeof(*code->first));
	code->places = calloc(places, sizeof(*code->places));
	if (!code->insns || !code->first || !code->places) {
		cycle_code_clear(code);
		return hp_error_create_no_memory();
	}
	for (size_t i = 0, first = 0; i < trace->block_count; i++) {
		const struct hp_trace_block *block = &trace->blocks[i];

		decode_block(block, isa, config, code->insns + first);
		code->first[i] = first;
		for (size_t end = first + block->insn_count; first < end; first++)
			*place_of(code, code->insns[first].address) = (uint32_t)first + 1;
	}
	return NULL;
}

void cycle_code_clear(struct cycle_code *code)
{
	free(code->insns);
	free(code->first);
	free(code->places);
	*code = (struct cycle_code){ 0 };
}

/* --- the path ---------------------------------------------------------------------------------- */

bool walk_begin(struct walk *walk, const struct hp_trace *trace, const struct cycle_code *code)
{
	*walk = (struct walk){ .trace = trace, .code = code };
	walk->cursor = hp_trace_cursor_create(trace);
	if (!walk->cursor)
		return false;
	walk->is_over = !hp_trace_next(walk->cursor, &walk->runs[0]);
	walk->has_next = !walk->is_over && hp_trace_next(walk->cursor, &walk->runs[1]);
	return true;
}

void walk_end(struct walk *walk)
{
	hp_trace_cursor_destroy(walk->cursor);
	walk->cursor = NULL;
}

static void take_accesses(struct walk *walk, const struct hp_trace_block *block, struct step *step)
{
	const struct hp_trace_run *run = &walk->runs[walk->now];

	step->access_count = 0;
	for (; walk->access < block->access_count; walk->access++) {
		const struct hp_trace_access *access = &block->accesses[walk->access];
		uint64_t elements = run->elements[walk->access];

		if (access->insn != walk->insn)
			break;
		if (!elements || step->access_count == STEP_ACCESSES)
			continue;
		if (elements > HP_UARCH_BYTES_MOST)
			elements = HP_UARCH_BYTES_MOST;
		step->accesses[step->access_count].address = run->addresses[walk->access];
		step->accesses[step->access_count].bytes = (uint32_t)(elements * access->bytes);
		step->accesses[step->access_count++].kind = (enum hp_trace_access_kind)access->kind;
	}
}

bool walk_step(struct walk *walk, struct step *step)
{
	const struct hp_trace_block *block;
	const struct hp_trace_run *next = &walk->runs[!walk->now];

	if (walk->is_over)
		return false;
	block = &walk->trace->blocks[walk->runs[walk->now].block];
	step->insn =
		&walk->code->insns[walk->code->first[walk->runs[walk->now].block] + walk->insn];
	step->begins = walk->insn == 0;
	take_accesses(walk, block, step);
	if (++walk->insn < block->insn_count) {
		step->has_next = true;
		step->next = step->insn->next;
		return true;
	}
	step->has_next = walk->has_next && !next->is_apart;
	step->next = walk->has_next ? walk->trace->blocks[next->block].address : 0;
	walk->is_over = !walk->has_next;
	walk->now = !walk->now;
	walk->insn = walk->access = 0;
	walk->has_next = !walk->is_over && hp_trace_next(walk->cursor, &walk->runs[!walk->now]);
	return true;
}
