/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "witness.h"

#include "../tuning.h"

struct hp_error *witness_prepare(struct hp_analysis *analysis,
				 const struct hp_analysis_input *input, struct hp_arena *arena)
{
	for (size_t i = 0; input->happened && i < analysis->insn_count; i++) {
		struct hp_analysed_insn *insn = &analysis->insns[i];
		struct hp_happened seen, *kept;

		if (!input->happened(input->happened_context,
				     (hp_link_address){ insn->insn->address }, &seen))
			continue;
		kept = hp_arena_alloc(arena, sizeof(*kept));
		if (!kept)
			return hp_error_create_no_memory();
		*kept = seen;
		insn->happened = kept;
	}
	return NULL;
}

const struct hp_happened *witness_of(const struct facts *facts, uint32_t at)
{
	const struct hp_happened *seen = facts_insn(facts, at)->happened;

	return seen && seen->runs >= least_simulated_runs ? seen : NULL;
}
