/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "witness.h"

#include "../tuning.h"

struct hp_error *witness_prepare(struct facts *facts, const struct hp_analysis_input *input,
				 struct hp_arena *arena)
{
	size_t count = facts->analysis->insn_count;
	struct hp_happened *happened;

	if (!input->happened)
		return NULL;
	happened = hp_arena_array(arena, count + 1, sizeof(*happened));
	if (!happened)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		hp_link_address address = { facts_insn(facts, i)->insn->address };

		if (!input->happened(input->happened_context, address, &happened[i]))
			happened[i].runs = 0;
	}
	facts->happened = happened;
	return NULL;
}

const struct hp_happened *witness_of(const struct facts *facts, uint32_t at)
{
	return facts->happened && facts->happened[at].runs >= least_simulated_runs
		       ? &facts->happened[at]
		       : NULL;
}
