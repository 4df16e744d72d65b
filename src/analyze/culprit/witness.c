/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "witness.h"

#include "../tuning.h"
#include "duty.h"

#include <hpcprof/base/number.h>

#include <math.h>

/* Of executions that were not simulated: each event that the instruction can have, in each. */
static struct hp_happened all_events(const struct hp_insn *insn)
{
	static const uint8_t of_data[] = {
		HP_EVENT_L1_MISS,   HP_EVENT_L2_MISS,	     HP_EVENT_DTLB_MISS, HP_EVENT_TLB2_MISS,
		HP_EVENT_WALK_MISS, HP_EVENT_FORWARD_FAILED, HP_EVENT_ALIAS_4K,
	};
	struct hp_happened all = { 0 };

	for (unsigned kind = 0; kind < HP_EVENT_KINDS; kind++)
		all.most[kind] = 1;
	for (size_t i = 0; i < HP_ARRAY_COUNT(of_data); i++)
		all.most[of_data[i]] = insn->memory_count;
	if (insn->kind == HP_INSN_PLAIN)
		all.most[HP_EVENT_MISPREDICTED] = 0;
	return all;
}

/* In moments that no window saw, anything may have happened. */
static void allow_for_others(const struct hp_insn *insn, double apart, struct hp_happened *seen)
{
	const struct hp_happened all = all_events(insn);

	seen->apart = apart;
	for (unsigned kind = 0; kind < HP_EVENT_KINDS && apart > 0; kind++) {
		seen->least[kind] *= 1 - apart;
		if (all.most[kind] > seen->most[kind])
			seen->most[kind] += apart * (all.most[kind] - seen->most[kind]);
	}
}

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
		allow_for_others(insn->insn, input->apart, &seen);
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

/* --- what all executions can have taken ------------------------------------------------------ */

struct levels {
	enum hp_event_kind miss, unknown;
};

static double many(const struct hp_happened *seen, struct levels level)
{
	return witness_most(seen, level.miss, level.unknown);
}

#define LEVEL(name)                                                                                \
	(struct levels)                                                                            \
	{                                                                                          \
		HP_EVENT_##name##_MISS, HP_EVENT_##name##_UNKNOWN                                  \
	}

/* Where cycles of events are added: of instructions that were seen to have any, and of others. */
struct sum {
	double *most, *unseen;
};

static void add_most(struct sum sum, const struct hp_happened *seen, struct levels level,
		     double cycles)
{
	bool is_unseen = seen->runs >= least_simulated_runs && !(seen->apart > 0) &&
			 !(seen->mean[level.miss] > 0) && !(seen->mean[level.unknown] > 0);

	if (is_unseen)
		*sum.unseen = fmax(*sum.unseen, cycles);
	else
		*sum.most += cycles;
}

/* `seen->runs` is 0 of what was not simulated. */
static void add_events(const struct hp_core *core, const struct hp_happened *seen, double runs,
		       struct hp_prediction *prediction)
{
	const struct levels mispredicted = { HP_EVENT_MISPREDICTED, HP_EVENT_BRANCH_UNKNOWN };
	const struct levels failed = { HP_EVENT_FORWARD_FAILED, HP_EVENT_FORWARD_FAILED };
	const struct levels alias = { HP_EVENT_ALIAS_4K, HP_EVENT_ALIAS_4K };
	double near = runs * l2_margin * witness_l2_cycles(core);
	double far = runs * miss_margin * core->memory_cycles;
	double page = runs * l2_margin * core->l2_tlb_cycles;
	double walk = runs * seen_walk_margin * core->walk_cycles;
	double walks = many(seen, LEVEL(TLB2));
	double blocked = runs * ((double)core->mispredict_cycles + core->blocked_cycles);
	struct sum sums[HP_CAUSE_DYNAMIC_COUNT];
	struct sum behind = { &prediction->most_far, &prediction->unseen_far };

	for (unsigned kind = 0; kind < HP_CAUSE_DYNAMIC_COUNT; kind++)
		sums[kind] = (struct sum){ &prediction->most[kind], &prediction->unseen[kind] };
	add_most(sums[HP_CAUSE_MISPREDICT], seen, mispredicted,
		 runs * predictor_margin * many(seen, mispredicted) * resolution_margin *
			 core->mispredict_cycles);
	add_most(sums[HP_CAUSE_ICACHE], seen, LEVEL(L1I), near * many(seen, LEVEL(L1I)));
	add_most(sums[HP_CAUSE_ICACHE], seen, LEVEL(L2I), far * many(seen, LEVEL(L2I)));
	add_most(sums[HP_CAUSE_ITLB], seen, LEVEL(ITLB), page * many(seen, LEVEL(ITLB)));
	add_most(sums[HP_CAUSE_ITLB], seen, LEVEL(TLB2I), (walk + far) * many(seen, LEVEL(TLB2I)));
	add_most(sums[HP_CAUSE_DCACHE], seen, LEVEL(L1), near * many(seen, LEVEL(L1)));
	add_most(behind, seen, LEVEL(L2), far * many(seen, LEVEL(L2)));
	add_most(sums[HP_CAUSE_DTLB], seen, LEVEL(DTLB), page * many(seen, LEVEL(DTLB)));
	add_most(sums[HP_CAUSE_DTLB], seen, LEVEL(TLB2),
		 walk * walks + far * fmin(walks, many(seen, LEVEL(WALK))));
	add_most(sums[HP_CAUSE_STORE_FORWARD], seen, failed, blocked * seen->most[failed.miss]);
	add_most(sums[HP_CAUSE_STORE_FORWARD], seen, alias, blocked * seen->most[alias.miss]);
}

/* What its own unit takes: no instruction is the oldest for longer than its latency. */
static double most_of_unit(const struct hp_core *core, const struct hp_insn *insn,
			   enum hp_cause_kind kind)
{
	struct hp_cost cost;

	if (kind == HP_CAUSE_SYNC)
		return INFINITY;
	hp_core_cost(core, NULL, insn, &cost);
	return kind == HP_CAUSE_DIVIDER ? divide_margin * cost.latency : cost.latency;
}

void witness_add_most(const struct hp_core *core, const struct hp_isa *isa,
		      const struct hp_insn *insn, const struct hp_happened *seen, double runs,
		      struct hp_prediction *prediction)
{
	enum hp_cause_kind kind = duty_cause(hp_duty_of(isa, insn));

	if (!(runs > 0))
		return;
	if (kind != HP_CAUSE_DEPENDENCY)
		prediction->most[kind] += runs * most_of_unit(core, insn, kind);
	if (seen && seen->runs >= least_simulated_runs) {
		add_events(core, seen, runs, prediction);
		return;
	}
	if (!insn->is_repeated) {
		const struct hp_happened all = all_events(insn);

		add_events(core, &all, runs, prediction);
		return;
	}
	for (unsigned i = 0; i < HP_CAUSE_COUNT; i++)
		prediction->most[i] = INFINITY;
	prediction->most_far = INFINITY;
}
