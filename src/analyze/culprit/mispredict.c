/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mispredicted branches.
 *
 * Cleared where the block before can end in one way only. Bounded by the frequency of the less
 * frequent way: always predicting the other way would not miss more often. The penalty shows on the
 * first instructions after the branch. After it the core is empty, so latencies that are otherwise
 * hidden show as well.
 */
#include "causes.h"
#include "marks.h"
#include "place.h"
#include "witness.h"
#include "../tuning.h"

#include <math.h>

static bool is_varying(const struct place *place)
{
	return place->kind >= PLACE_STRIDE;
}

/* Whether the value was loaded, a few instructions back, from an address that varies. */
static bool is_loaded(const struct facts *facts, const struct path *path, uint32_t position,
		      unsigned number)
{
	for (unsigned steps = 0; steps < LOADED_STEPS; steps++) {
		uint32_t at = path_writer(facts, path, position, number);
		const struct hp_insn *insn;
		unsigned next = HP_REGISTER_NONE;

		if (at == 0 || at - position > DRAINED)
			return false;
		insn = facts_insn(facts, path->insns[at])->insn;
		for (size_t i = 0; i < insn->memory_count; i++) {
			struct place place;

			if (!(insn->memories[i].access & HP_ACCESS_READ))
				continue;
			place = place_of(facts, path, at, &insn->memories[i]);
			return is_varying(&place);
		}
		for (unsigned other = 0; other < HP_REGISTER_SEGMENT; other++)
			if (hp_register_in(&insn->read, other) && next == HP_REGISTER_NONE)
				next = other;
		if (next == HP_REGISTER_NONE || insn->is_zeroing)
			return false;
		position = at;
		number = next;
	}
	return false;
}

/* Whether the branch at the head of the path depends on data: its own operands, or those of the
 * instruction that set its flags. */
static bool decides_on_data(const struct facts *facts, const struct path *path)
{
	const struct hp_insn *branch = facts_insn(facts, path->insns[0])->insn;
	uint32_t at = 0;
	const struct hp_insn *insn = branch;

	if (branch->flags_read && branch->kind == HP_INSN_CONDITIONAL) {
		for (uint32_t i = 1; i < path->count && i < DRAINED && at == 0; i++)
			if (facts_insn(facts, path->insns[i])->insn->flags_written &
			    branch->flags_read)
				at = i;
		if (at == 0)
			return false;
		insn = facts_insn(facts, path->insns[at])->insn;
	}
	for (size_t i = 0; i < insn->memory_count; i++) {
		struct place place;

		if (!(insn->memories[i].access & HP_ACCESS_READ))
			continue;
		place = place_of(facts, path, at, &insn->memories[i]);
		if (is_varying(&place))
			return true;
	}
	for (unsigned number = 0; number < HP_REGISTER_SEGMENT; number++)
		if (hp_register_in(&insn->read, number) && number != HP_REGISTER_PC &&
		    is_loaded(facts, path, at, number))
			return true;
	return false;
}

/* Of each block: whether the branch at its end depends on data loaded from varying addresses. */
static bool *find_on_data(const struct facts *facts, struct hp_arena *arena)
{
	bool *is_on_data = hp_arena_array(arena, facts->cfg->block_count + 1, sizeof(*is_on_data));
	struct path *path = hp_arena_alloc(arena, sizeof(*path));

	if (!is_on_data || !path)
		return NULL;
	for (uint32_t i = 0; i < facts->cfg->block_count; i++) {
		if (facts->analysis->blocks[i].insn_count == 0)
			continue;
		path_find(facts, facts_last_insn(facts, i), 2 * DRAINED, path);
		is_on_data[i] = decides_on_data(facts, path);
	}
	return is_on_data;
}

/* The mispredictions that the simulated predictor had. On which way out is unknown, but on each
 * there are no more than it was taken. */
static struct redirect seen_redirect(const struct hp_happened *seen,
				     const struct hp_frequency *from,
				     const struct hp_frequency *along, uint32_t branch)
{
	double most = predictor_margin *
		      witness_most(seen, HP_EVENT_MISPREDICTED, HP_EVENT_BRANCH_UNKNOWN);
	double share = along->relative > 0 ? from->relative / along->relative : 1;

	return (struct redirect){
		.branch = branch,
		.most = fmin(1, most * share),
		.expected = fmin(1, seen->mean[HP_EVENT_MISPREDICTED]),
	};
}

static struct redirect redirect_of(const struct facts *facts, const bool *is_on_data, uint32_t edge)
{
	const struct hp_edge *one = &facts->cfg->edges[edge];
	const struct hp_frequency *along = &facts->analysis->edges[edge];
	struct redirect redirect = { .branch = HP_SCHEDULE_NONE };
	const struct hp_frequency *from;
	double others;
	double fewest;
	const struct hp_happened *seen;

	if (one->from >= facts->cfg->block_count) {
		/* a call, possibly through a pointer */
		redirect.most = 1;
		redirect.expected = mispredicts_of_call;
		return redirect;
	}
	from = &facts->analysis->blocks[one->from].frequency;
	switch ((enum hp_block_end)facts->cfg->blocks[one->from].end) {
	case HP_END_CONDITIONAL:
	case HP_END_TABLE:
	case HP_END_UNRESOLVED:
		break;
	case HP_END_CALL:
		redirect.most = 1;
		redirect.expected = mispredicts_of_call;
		return redirect;
	case HP_END_FALL:
	case HP_END_JUMP:
	case HP_END_TAIL_CALL:
	case HP_END_RETURN:
	case HP_END_NO_RETURN:
	case HP_END_TRAP:
	case HP_END_UNDECODABLE:
	case HP_END_OUT:
		return redirect;
	}
	redirect.branch = facts_last_insn(facts, one->from);
	seen = witness_of(facts, redirect.branch);
	if (seen)
		return seen_redirect(seen, from, along, redirect.branch);
	others = from->relative - along->relative;
	fewest = others < along->relative ? others : along->relative;
	redirect.expected = fewest > 0 && along->relative > 0 ? fewest / along->relative : 0;
	/* the most that the intervals allow */
	others = from->relative_high - along->relative_low;
	fewest = others < along->relative_high ? others : along->relative_high;
	redirect.most = fewest > 0 && along->relative > 0 ? fewest / along->relative : 0;
	if (redirect.most > 1)
		redirect.most = 1;
	if (redirect.most < redirect.expected)
		redirect.most = redirect.expected;
	redirect.expected *= is_on_data[one->from] ? mispredicts_on_data : mispredicts_by_shape;
	return redirect;
}

/* Mispredictions before one execution of the block. */
static struct redirect redirect_into(const struct facts *facts, const bool *is_on_data,
				     uint32_t block)
{
	const struct hp_block *node = &facts->cfg->blocks[block];
	double runs = facts_relative(facts, block);
	struct redirect sum = { .branch = HP_SCHEDULE_NONE };
	double largest = 0;

	for (uint32_t i = 0; i < node->in_count && runs > 0; i++) {
		uint32_t edge = facts->cfg->in_edges[node->first_in + i];
		double weight = facts->analysis->edges[edge].relative / runs;
		struct redirect one;

		if (!(weight > 0))
			continue;
		one = redirect_of(facts, is_on_data, edge);
		sum.most += weight * one.most;
		sum.expected += weight * one.expected;
		if (one.branch == HP_SCHEDULE_NONE || weight * one.expected <= largest)
			continue;
		largest = weight * one.expected;
		sum.branch = one.branch;
	}
	if (sum.most > 1)
		sum.most = 1;
	if (sum.expected > sum.most)
		sum.expected = sum.most;
	return sum;
}

struct hp_error *mispredict_prepare(struct facts *facts, struct hp_arena *arena)
{
	uint32_t count = facts->cfg->block_count;
	struct redirect *redirects = hp_arena_array(arena, count + 1, sizeof(*redirects));
	const bool *is_on_data = find_on_data(facts, arena);

	if (!redirects || !is_on_data)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++)
		redirects[i] = redirect_into(facts, is_on_data, i);
	facts->redirects = redirects;
	return NULL;
}

/* The time to restart the pipeline shows at the target at once, or, as interrupts are taken where the core
 * can take them, some instructions later: the timing of the path says how much of it there is. Latencies show
 * for some instructions more. */
void suspect_mispredict(const struct facts *facts, const struct path *path, struct suspects *found)
{
	uint32_t here = path->insns[0];
	uint32_t block = facts_insn(facts, here)->block;
	uint32_t into = here - facts->analysis->blocks[block].first_insn;
	double price = facts->core->mispredict_cycles;
	struct redirect at_once = { .branch = HP_SCHEDULE_NONE };
	struct redirect drained = { .branch = HP_SCHEDULE_NONE };
	double latency = facts->insns[here].latency + 1.0;
	const struct hp_happened *seen = witness_of(facts, here);

	if (into < 2 || (seen && seen->cycles))
		at_once = facts->redirects[block];
	if (at_once.most > 0) {
		double doubt = into == 0 ? 1 : later_insn_doubt;

		add_marked(found, HP_CAUSE_MISPREDICT, at_once.branch,
			   at_once.most * (resolution_margin * price + latency),
			   at_once.expected * price * doubt, mark_at(facts, here));
	}
	for (uint32_t i = 0; i < path->count && i < DRAINED; i++) {
		uint32_t at = path->insns[i];
		uint32_t other = facts_insn(facts, at)->block;
		struct redirect one;

		if (at != facts->analysis->blocks[other].first_insn)
			continue;
		one = facts->redirects[other];
		if (one.expected > drained.expected && one.branch != HP_SCHEDULE_NONE)
			drained = one;
	}
	/* What ran in the callee, or before the call, is not known. */
	if (path->meets_call && path->count < DRAINED)
		add_suspect(found, HP_CAUSE_MISPREDICT, HP_SCHEDULE_NONE, latency,
			    mispredicts_of_call * latency * drained_share);
	if (drained.branch != HP_SCHEDULE_NONE) {
		/* the most mispredictions that can have left this mark */
		double times =
			facts->branch_marks[facts_insn(facts, drained.branch)->block] / price;

		add_marked(found, HP_CAUSE_MISPREDICT, drained.branch, drained.most * latency,
			   drained.expected * latency * drained_share, times * latency);
	}
}
