/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the core of a CPU, and the cost of an instruction on it. */
#include "cores.h"
#include "tables.h"

#include <hpcprof/base/search.h>

#include <Zydis/Zydis.h>
#include <string.h>

/* --- cores ------------------------------------------------------------------------------------ */

static enum core intel_core(const struct hp_cpu_id *id)
{
	/* Matrix tiles came with Golden Cove, whatever the model number; the core after it has an
	 * instruction cache of twice the size. */
	if (id->has_amx && id->instruction_cache_bytes > 32 << 10)
		return CORE_GRANITE_RAPIDS;
	if (id->has_amx)
		return id->model == 0xad || id->model == 0xae ? CORE_GRANITE_RAPIDS
							      : CORE_SAPPHIRE_RAPIDS;
	if (id->family != 6)
		return CORE_GENERIC;
	switch (id->model) {
	case 0x4e: /* Skylake and its like, for desks and servers */
	case 0x5e:
	case 0x55:
	case 0x8e:
	case 0x9e:
	case 0xa5:
	case 0xa6:
		return CORE_SKYLAKE;
	case 0x6a: /* Ice Lake, Tiger Lake, Rocket Lake */
	case 0x6c:
	case 0x7d:
	case 0x7e:
	case 0x8c:
	case 0x8d:
	case 0xa7:
		return CORE_ICE_LAKE;
	case 0x8f: /* Sapphire, Emerald Rapids */
	case 0xcf:
		return CORE_SAPPHIRE_RAPIDS;
	case 0xad:
	case 0xae:
		return CORE_GRANITE_RAPIDS;
	default:
		return CORE_GENERIC;
	}
}

static enum core amd_core(const struct hp_cpu_id *id)
{
	unsigned model = id->model;

	switch (id->family) {
	case 0x17:
		return model >= 0x30 ? CORE_ZEN_2 : CORE_GENERIC;
	case 0x19:
		if (model < 0x10 || (model >= 0x20 && model < 0x60))
			return CORE_ZEN_3;
		return CORE_ZEN_4;
	case 0x1a:
		return CORE_ZEN_5;
	default:
		return CORE_GENERIC;
	}
}

const struct hp_core *hp_core_of(const struct hp_cpu_id *id)
{
	enum core core = CORE_GENERIC;

	if (id->vendor && strcmp(id->vendor, "GenuineIntel") == 0)
		core = intel_core(id);
	else if (id->vendor && strcmp(id->vendor, "AuthenticAMD") == 0)
		core = amd_core(id);
	return &cores[core];
}

const struct hp_core *hp_core_of_cpu(const struct hp_cpu *cpu)
{
	return hp_core_of(&(struct hp_cpu_id){
		.vendor = cpu->vendor,
		.family = cpu->family,
		.model = cpu->model,
		.has_amx = cpu->has_amx,
		.instruction_cache_bytes = cpu->instruction_cache_bytes,
	});
}

const struct hp_core *hp_core_named(const char *name)
{
	for (size_t i = 0; i < CORE_COUNT; i++)
		if (strcmp(cores[i].name, name) == 0)
			return &cores[i];
	return NULL;
}

const struct hp_core *hp_core_at(size_t number)
{
	return number < CORE_COUNT ? &cores[number] : NULL;
}

const char *hp_core_unit(const struct hp_core *machine, unsigned unit)
{
	const char *name = unit < HP_CORE_UNITS ? machine->unit_names[unit] : NULL;

	return name ? name : "?";
}

/* --- costs ------------------------------------------------------------------------------------ */

/* The form for this shape, otherwise the one for any shape, otherwise NULL. */
static const struct table_form *find_form(uint16_t mnemonic, uint16_t shape)
{
	uint32_t wanted = (uint32_t)mnemonic << 16 | shape;
	size_t first = hp_bisect(i, table_form_count,
				 ((uint32_t)table_forms[i].mnemonic << 16 | table_forms[i].shape) <
					 wanted);

	if (first < table_form_count && table_forms[first].mnemonic == mnemonic &&
	    table_forms[first].shape == shape)
		return &table_forms[first];
	while (first < table_form_count && table_forms[first].mnemonic == mnemonic)
		first++;
	return first > 0 && table_forms[first - 1].mnemonic == mnemonic ? &table_forms[first - 1]
									: NULL;
}

static uint8_t explicit_access(const struct hp_insn *insn)
{
	uint8_t access = 0;

	for (size_t i = 0; i < insn->memory_count; i++)
		access |= insn->memories[i].access;
	return access;
}

/* Narrow moves merge into the old register. */
static bool is_eliminated(const struct hp_core *machine, const struct hp_insn *insn)
{
	const struct hp_operand *to = &insn->operands[0];
	const struct hp_operand *from = &insn->operands[1];

	if (insn->operand_count != 2 || to->type != HP_OPERAND_REGISTER ||
	    from->type != HP_OPERAND_REGISTER)
		return false;
	/* A move of a register to itself is not eliminated. */
	if (to->number == from->number)
		return false;
	switch ((unsigned)insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return machine->eliminates_general_moves && to->bytes >= 4 &&
		       to->number < HP_REGISTER_VECTOR && from->number < HP_REGISTER_VECTOR;
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVDQU:
		return machine->eliminates_vector_moves;
	default:
		return false;
	}
}

/* Additions of a small constant to full registers, which some cores execute at rename. */
static bool is_small_addition(const struct hp_insn *insn)
{
	enum { LEAST = -1024, MOST = 1023 };
	const struct hp_operand *from = &insn->operands[1];

	if (insn->operand_count == 0 || insn->operands[0].type != HP_OPERAND_REGISTER ||
	    insn->operands[0].bytes != 8)
		return false;
	switch ((unsigned)insn->mnemonic) {
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		return true;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		return from->type == HP_OPERAND_IMMEDIATE && from->immediate >= LEAST &&
		       from->immediate <= MOST;
	case ZYDIS_MNEMONIC_LEA:
		return insn->memory_count == 1 && insn->memories[0].base < HP_REGISTER_VECTOR &&
		       insn->memories[0].index == HP_REGISTER_NONE &&
		       insn->memories[0].displacement >= LEAST &&
		       insn->memories[0].displacement <= MOST;
	default:
		return false;
	}
}

static bool is_serializing(const struct hp_insn *insn)
{
	switch ((unsigned)insn->mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_PAUSE:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_SERIALIZE:
		return true;
	default:
		return insn->kind == HP_INSN_SYSCALL;
	}
}

/* What may fuse with a conditional jump, on the core that fuses least. */
static enum hp_fusion fusion_class(const struct hp_insn *insn, bool *keeps_carry)
{
	*keeps_carry = false;
	switch ((unsigned)insn->mnemonic) {
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
		return HP_FUSION_COMPARE;
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		*keeps_carry = true;
		return HP_FUSION_ARITHMETIC;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
		return HP_FUSION_ARITHMETIC;
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
		return HP_FUSION_LOGIC;
	default:
		return HP_FUSION_NONE;
	}
}

bool hp_core_fuses(const struct hp_core *machine, const struct hp_insn *before,
		   const struct hp_insn *insn)
{
	bool keeps_carry;
	bool has_immediate = false;
	enum hp_fusion class;

	if (!before || insn->kind != HP_INSN_CONDITIONAL || !insn->flags_read)
		return false;
	class = fusion_class(before, &keeps_carry);
	if (class == HP_FUSION_NONE || class > machine->fusion ||
	    (explicit_access(before) & HP_ACCESS_WRITE))
		return false;
	for (size_t i = 0; i < before->operand_count; i++)
		has_immediate |= before->operands[i].type == HP_OPERAND_IMMEDIATE;
	if (has_immediate && before->memory_count)
		return false;
	if (before->operation == HP_OPERATION_TEST || before->mnemonic == ZYDIS_MNEMONIC_AND ||
	    machine->fusion == HP_FUSION_LOGIC)
		return true;
	/* Jumps on sign, overflow and parity only fuse with test and and. */
	if (insn->condition == HP_CONDITION_OTHER)
		return false;
	return !keeps_carry || !(insn->flags_read & HP_FLAG_CARRY);
}

/* For instructions that are not in the tables: one slot, one cycle, any unit; memory operands cost
 * their latency. */
static void guess(const struct hp_core *machine, uint8_t access, struct hp_cost *cost)
{
	cost->is_guess = true;
	cost->slots = 1;
	cost->latency = (uint16_t)(1 + (access & HP_ACCESS_READ ? machine->l1_cycles : 0));
	cost->late = access & HP_ACCESS_READ ? machine->l1_cycles : 0;
}

/* Tables may say that a move costs nothing, which is not true for a move to itself. */
static bool is_move_to_itself(const struct hp_insn *insn)
{
	return (insn->operation == HP_OPERATION_MOVE ||
		insn->operation == HP_OPERATION_SIGN_EXTEND) &&
	       insn->operand_count == 2 && insn->operands[1].type == HP_OPERAND_REGISTER &&
	       insn->operands[0].number == insn->operands[1].number;
}

static struct hp_unit_use use_of(const struct hp_core *machine, struct hp_unit_use use)
{
	for (const struct hp_other_units *one = machine->other_units; one->of_table; one++) {
		if (one->of_table != use.units)
			continue;
		use.units = one->units;
		use.cycles = one->cycles ? one->cycles : use.cycles;
		break;
	}
	return use;
}

static bool is_address_slow(const struct hp_insn *insn)
{
	for (size_t i = 0; i < insn->memory_count; i++)
		if (insn->memories[i].index != HP_REGISTER_NONE &&
		    (insn->memories[i].scale > 1 || insn->memories[i].displacement))
			return true;
	return false;
}

/* Of a store: until its bytes are known. */
static uint16_t latency_of(const struct hp_core *machine, const struct table_row *row,
			   uint8_t access)
{
	unsigned store = machine->table_store_cycles;
	unsigned operation;

	if (!store || !(access & HP_ACCESS_WRITE) || row->latency < store)
		return row->latency;
	operation = row->latency > store ? row->latency - store : 1;
	return (uint16_t)(operation + (access & HP_ACCESS_READ ? machine->l1_cycles : 0));
}

static void take_row(const struct hp_core *machine, const struct table_row *row,
		     const struct hp_insn *insn, struct hp_cost *cost)
{
	uint8_t access = explicit_access(insn);
	unsigned slots = row->micro_ops;

	/* A load belongs to the micro-op of its operation, and a store's address to that of its
	 * data. */
	if (machine->counts_unfused && slots > 1 && slots <= 4) {
		if (access & HP_ACCESS_READ)
			slots--;
		if ((access & HP_ACCESS_WRITE) && slots > 1)
			slots--;
	}
	cost->slots = (uint16_t)slots;
	cost->latency = latency_of(machine, row, access);
	cost->late = row->late;
	if (machine->indexes_late && access == HP_ACCESS_READ && !row->late &&
	    insn->operation != HP_OPERATION_SIGN_EXTEND && !is_address_slow(insn) &&
	    row->latency == machine->l1_cycles + 1)
		cost->latency = machine->l1_cycles;
	while (cost->use_count < HP_CORE_USES && row->uses[cost->use_count].cycles) {
		cost->uses[cost->use_count] = use_of(machine, row->uses[cost->use_count]);
		cost->use_count++;
	}
}

void hp_core_cost(const struct hp_core *machine, const struct hp_insn *before,
		  const struct hp_insn *insn, struct hp_cost *cost)
{
	uint8_t access = explicit_access(insn);
	const struct table_form *form = find_form(insn->mnemonic, hp_insn_shape(insn));
	const struct table_row *row =
		form ? &table_rows[machine->table][table_classes[form->class][machine->table]]
		     : NULL;

	*cost = (struct hp_cost){
		.is_serializing = is_serializing(insn),
		/* For an operand of zero they leave the destination unchanged. */
		.is_merging = insn->mnemonic == ZYDIS_MNEMONIC_BSF ||
			      insn->mnemonic == ZYDIS_MNEMONIC_BSR,
	};
	if (is_eliminated(machine, insn) ||
	    (machine->eliminates_small_additions && is_small_addition(insn)) || insn->is_zeroing ||
	    insn->is_padding || insn->mnemonic == ZYDIS_MNEMONIC_ENDBR64) {
		cost->slots = 1;
		cost->is_eliminated = true;
		cost->is_independent = insn->is_zeroing;
		return;
	}
	if (row && row->micro_ops)
		take_row(machine, row, insn, cost);
	else
		guess(machine, access, cost);
	if (cost->latency == 0 && is_move_to_itself(insn))
		cost->latency = 1;
	if (hp_core_fuses(machine, before, insn))
		cost->slots = 0;
	if (insn->is_locked && cost->latency < machine->locked_cycles)
		cost->latency = machine->locked_cycles;
	if (insn->mnemonic == ZYDIS_MNEMONIC_MFENCE && cost->latency < machine->fence_cycles)
		cost->latency = machine->fence_cycles;
	/* Tables may have that of another core of the family, which may be longer. */
	if (insn->mnemonic == ZYDIS_MNEMONIC_PAUSE && machine->pause_cycles)
		cost->latency = machine->pause_cycles;
}
