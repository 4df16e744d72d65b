/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "duty.h"

struct hp_error *duty_prepare(struct facts *facts, struct hp_arena *arena)
{
	size_t count = facts->analysis->insn_count;
	struct insn_facts *insns = hp_arena_array(arena, count + 1, sizeof(*insns));

	if (!insns)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		const struct hp_insn *insn = facts_insn(facts, i)->insn;
		struct hp_cost cost;

		hp_core_cost(facts->core, NULL, insn, &cost);
		insns[i].latency = cost.latency;
		insns[i].duty = (uint8_t)hp_duty_of(facts->cfg->isa, insn);
	}
	facts->insns = insns;
	return NULL;
}

enum hp_cause_kind duty_cause(enum hp_duty duty)
{
	switch (duty) {
	case HP_DUTY_DIVIDE:
		return HP_CAUSE_DIVIDER;
	case HP_DUTY_MULTIPLY:
		return HP_CAUSE_MULTIPLIER;
	case HP_DUTY_FP:
		return HP_CAUSE_FP_LATENCY;
	case HP_DUTY_SYNC:
		return HP_CAUSE_SYNC;
	case HP_DUTY_PLAIN:
		break;
	}
	return HP_CAUSE_DEPENDENCY;
}

/* A static wait for a result is the latency of this instruction: the producers have retired
 * already. */
enum hp_cause_kind duty_static_cause(const struct facts *facts, uint32_t at)
{
	const struct hp_analysed_insn *insn = facts_insn(facts, at);
	const struct insn_facts *one = &facts->insns[at];

	if (one->duty == HP_DUTY_SYNC || one->duty == HP_DUTY_DIVIDE)
		return duty_cause((enum hp_duty)one->duty);
	switch ((enum hp_stall)insn->static_stall) {
	case HP_STALL_DEPENDENCY:
		return one->latency > 1 ? duty_cause((enum hp_duty)one->duty) : HP_CAUSE_DEPENDENCY;
	case HP_STALL_PORT:
		return HP_CAUSE_PORT;
	case HP_STALL_NONE:
	case HP_STALL_WIDTH:
		break;
	}
	return HP_CAUSE_ISSUE_WIDTH;
}
