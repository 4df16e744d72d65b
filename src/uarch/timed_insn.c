/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts decoded instructions into a form that the timing processes quickly. */
#include <hpcprof/uarch/timing.h>

#include <hpcprof/isa/duty.h>

enum { CARRY = HP_REGISTER_COUNT, OTHER_FLAGS, MOST_SLOTS = 64 };

static void add(uint8_t *registers, uint8_t *count, unsigned number)
{
	if (*count < HP_TIMED_REGISTERS)
		registers[(*count)++] = (uint8_t)number;
}

/* The core tracks the stack pointer at decode. */
static bool moves_stack_only(const struct hp_isa *isa, const struct hp_insn *insn, unsigned number)
{
	return number == isa->stack_pointer &&
	       (insn->operation == HP_OPERATION_PUSH || insn->operation == HP_OPERATION_POP ||
		insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT ||
		insn->kind == HP_INSN_RETURN);
}

static void add_flags(uint8_t *registers, uint8_t *count, unsigned flags)
{
	if (flags & HP_FLAG_CARRY)
		add(registers, count, CARRY);
	if (flags & ~(unsigned)HP_FLAG_CARRY)
		add(registers, count, OTHER_FLAGS);
}

static void find_registers(const struct hp_isa *isa, const struct hp_insn *insn,
			   const struct hp_cost *cost, struct hp_timed_insn *made)
{
	for (unsigned word = 0; word < 2; word++)
		for (uint64_t left = insn->read.bits[word]; left && !cost->is_independent;
		     left &= left - 1) {
			unsigned number = word * 64 + (unsigned)__builtin_ctzll(left);

			if (hp_insn_addresses_with(insn, number))
				add(made->addresses, &made->address_count, number);
			else if (!moves_stack_only(isa, insn, number))
				add(made->operands, &made->operand_count, number);
		}
	if (cost->is_merging && insn->operands[0].type == HP_OPERAND_REGISTER &&
	    insn->operands[0].number < HP_REGISTER_COUNT)
		add(made->operands, &made->operand_count, insn->operands[0].number);
	if (!cost->is_independent)
		add_flags(made->operands, &made->operand_count, insn->flags_read);
	add_flags(made->results, &made->result_count, insn->flags_written);
	for (unsigned word = 0; word < 2; word++)
		for (uint64_t left = insn->written.bits[word]; left; left &= left - 1) {
			unsigned number = word * 64 + (unsigned)__builtin_ctzll(left);

			if (!moves_stack_only(isa, insn, number))
				add(made->results, &made->result_count, number);
		}
}

/* Fuses the pair into one micro-op on the units of the jump. Loads stay with the first. */
static void fuse(struct hp_timed_insn *first, const struct hp_timed_insn *jump)
{
	uint32_t units = 0;
	uint8_t kept = 0;

	for (unsigned i = 0; i < jump->use_count; i++)
		units |= jump->units[i];
	for (unsigned i = 0; i < first->use_count; i++) {
		if (first->units[i] & units)
			continue;
		first->units[kept] = first->units[i];
		first->busy[kept++] = first->busy[i];
	}
	first->use_count = kept;
	first->is_chained = false;
}

/* The core follows the stack pointer, so its name is as good as an address. */
static struct hp_timed_name name_of(const struct hp_core *core, const struct hp_isa *isa,
				    const struct hp_memory *memory)
{
	bool is_byte = memory->bytes == 1 && core->renaming == HP_RENAMING_ALL;
	struct hp_timed_name name = { .base = HP_REGISTER_NONE, .index = HP_REGISTER_NONE };

	name.may_be_renamed = is_byte ||
			      (memory->bytes >= 4 && memory->bytes <= isa->pointer_bytes);
	name.is_known = memory->base < HP_REGISTER_VECTOR && memory->segment == HP_REGISTER_NONE;
	if (memory->base == isa->stack_pointer && memory->index == HP_REGISTER_NONE)
		return name;
	name.base = memory->base;
	name.index = memory->index;
	name.hash = (uint32_t)memory->displacement << 4 | memory->scale;
	return name;
}

/* Values of other registers, and constants, are not renamed. */
static bool moves_general(const struct hp_insn *insn)
{
	if (insn->is_repeated || insn->is_locked)
		return false;
	for (size_t i = 0; i < insn->operand_count; i++)
		if ((insn->operands[i].type == HP_OPERAND_REGISTER &&
		     insn->operands[i].number >= HP_REGISTER_VECTOR) ||
		    (insn->operands[i].type == HP_OPERAND_IMMEDIATE &&
		     insn->operation == HP_OPERATION_MOVE))
			return false;
	return true;
}

/* A core that knows the store of any load renames only what needs nothing but the store's register. */
static bool needs_more(const struct hp_core *core, const struct hp_insn *insn,
		       const struct hp_memory *loaded)
{
	return core->renaming == HP_RENAMING_ALL &&
	       (loaded->index != HP_REGISTER_NONE || insn->operation == HP_OPERATION_SIGN_EXTEND);
}

static void find_names(const struct hp_core *core, const struct hp_isa *isa,
		       const struct hp_insn *insn, struct hp_timed_insn *made)
{
	for (size_t i = 0; i < insn->memory_count && moves_general(insn); i++) {
		const struct hp_memory *memory = &insn->memories[i];

		if ((memory->access & HP_ACCESS_READ) && !needs_more(core, insn, memory))
			made->loaded = name_of(core, isa, memory);
		if (memory->access & HP_ACCESS_WRITE)
			made->stored = name_of(core, isa, memory);
	}
}

static bool is_pointer(const struct hp_isa *isa, const struct hp_operand *operand)
{
	return operand->type == HP_OPERAND_REGISTER && operand->number < HP_REGISTER_VECTOR &&
	       operand->bytes == isa->pointer_bytes;
}

static enum hp_moves moves_of(const struct hp_isa *isa, const struct hp_insn *insn)
{
	if (insn->operation != HP_OPERATION_MOVE || insn->operand_count != 2 ||
	    !is_pointer(isa, &insn->operands[0]))
		return HP_MOVES_NOTHING;
	if (is_pointer(isa, &insn->operands[1]))
		return HP_MOVES_REGISTER;
	return insn->operands[1].type == HP_OPERAND_MEMORY &&
			       insn->operands[1].bytes == isa->pointer_bytes
		       ? HP_MOVES_MEMORY
		       : HP_MOVES_NOTHING;
}

static void find_pointer(const struct hp_isa *isa, const struct hp_insn *insn,
			 struct hp_timed_insn *made)
{
	const struct hp_memory *memory = &insn->memories[0];

	made->moves = (uint8_t)moves_of(isa, insn);
	made->pointer = HP_REGISTER_NONE;
	if (!insn->memory_count || memory->is_implicit || memory->index != HP_REGISTER_NONE ||
	    memory->segment != HP_REGISTER_NONE)
		return;
	made->pointer = memory->base;
	made->displacement = memory->displacement;
}

/* An operation on any of the units whose results are late for what follows at once. */
static bool is_chained(const struct hp_core *core, const struct hp_insn *insn,
		       const struct hp_timed_insn *made)
{
	bool is_of_registers = true;

	for (size_t i = 0; i < insn->memory_count; i++)
		is_of_registers &= !insn->memories[i].access;
	return core->chained_span && is_of_registers && made->use_count == 1 &&
	       made->units[0] == core->chained_units;
}

void hp_timed_insn_make(const struct hp_core *core, const struct hp_isa *isa,
			const struct hp_insn *before, const struct hp_insn *insn,
			struct hp_timed_insn *made)
{
	struct hp_cost cost;

	hp_core_cost(core, before, insn, &cost);
	*made = (struct hp_timed_insn){
		.slots = (uint8_t)(cost.slots < MOST_SLOTS ? cost.slots : MOST_SLOTS),
		.duty = (uint8_t)hp_duty_of(isa, insn),
		.latency = cost.latency,
		.late = cost.late,
		.is_eliminated = cost.is_eliminated,
		.is_serializing = cost.is_serializing,
		.is_at_stack = hp_insn_addresses_with(insn, isa->stack_pointer) ||
			       moves_stack_only(isa, insn, isa->stack_pointer),
		.is_fencing = insn->is_locked || cost.is_serializing,
		.is_call = insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT ||
			   insn->kind == HP_INSN_RETURN,
		.is_indirect = insn->kind == HP_INSN_JUMP_INDIRECT,
		.place = (uint32_t)insn->address,
	};
	for (unsigned i = 0; i < cost.use_count && made->use_count < HP_TIMED_USES; i++) {
		if (!cost.uses[i].units)
			continue;
		made->units[made->use_count] = cost.uses[i].units;
		made->busy[made->use_count++] = cost.uses[i].cycles;
	}
	made->is_chained = is_chained(core, insn, made);
	find_registers(isa, insn, &cost, made);
	find_names(core, isa, insn, made);
	find_pointer(isa, insn, made);
	/* It is fused with the one before, and has its flags at once. */
	if (before && cost.slots == 0) {
		fuse(&made[-1], made);
		made->latency = 0;
	}
}
