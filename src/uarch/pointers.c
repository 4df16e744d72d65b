/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/uarch/pointers.h>

static uint64_t loaded_by(const struct hp_uarch_pointers *pointers, unsigned number)
{
	return number < HP_REGISTER_VECTOR ? pointers->loaded_by[number] : 0;
}

void hp_uarch_pointers_follow(struct hp_uarch_pointers *pointers, struct hp_uarch *uarch,
			      const struct hp_timed_insn *insn, uint64_t ip,
			      const uint64_t *address)
{
	uint64_t load = loaded_by(pointers, insn->pointer), value = 0;

	if (load && address)
		hp_uarch_lead(uarch, load, *address - (uint64_t)insn->displacement);
	if (insn->moves == HP_MOVES_MEMORY && address)
		value = ip;
	else if (insn->moves == HP_MOVES_REGISTER && insn->operand_count)
		value = loaded_by(pointers, insn->operands[0]);
	for (unsigned i = 0; i < insn->result_count; i++)
		if (insn->results[i] < HP_REGISTER_VECTOR)
			pointers->loaded_by[insn->results[i]] = value;
}
