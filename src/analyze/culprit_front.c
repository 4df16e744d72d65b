/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes in the front end: mispredicted branches, instruction cache, instruction TLB, fetch.
 *
 * Mispredictions are cleared where the block before can end in one way only. They are bounded by the
 * frequency of the less frequent way: always predicting the other way would not miss more often. The
 * penalty shows on the first instructions after the branch. After it the core is empty, so latencies
 * that are otherwise hidden show as well.
 *
 * Cache and TLB are cleared if all code that can be executed just before is in the same line or page
 * (6.3). They are bounded by how often the code can have been evicted: for code that fits and calls
 * nothing, once per call of the procedure.
 */
#include "culprit.h"
#include "tuning.h"

/* --- mispredicted branches ---------------------------------------------------------------------
 */

static uint32_t last_of(const struct search *search, uint32_t block)
{
	const struct hp_analysed_block *one = &search->analysis->blocks[block];

	return one->first_insn + one->insn_count - 1;
}

static bool is_varying(const struct place *place)
{
	return place->kind >= PLACE_STRIDE;
}

/* Whether the value was loaded, a few steps back, from a place that changes. */
static bool is_loaded(struct search *search, const struct path *path, uint32_t position,
		      unsigned number)
{
	for (unsigned steps = 0; steps < LOADED_STEPS; steps++) {
		uint32_t at = path_writer(search, path, position, number);
		const struct hp_insn *insn;
		unsigned next = HP_REGISTER_NONE;

		if (at == 0 || at - position > DRAINED)
			return false;
		insn = search_insn(search, path->insns[at])->insn;
		for (size_t i = 0; i < insn->memory_count; i++) {
			struct place place;

			if (!(insn->memories[i].access & HP_ACCESS_READ))
				continue;
			place = place_of(search, path, at, &insn->memories[i]);
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

/* The branch at the path's first place decides by data: its own operands, or those of what made the
 * flags. */
static bool decides_on_data(struct search *search, const struct path *path)
{
	const struct hp_insn *branch = search_insn(search, path->insns[0])->insn;
	uint32_t at = 0;
	const struct hp_insn *insn = branch;

	if (branch->flags_read && branch->kind == HP_INSN_CONDITIONAL) {
		for (uint32_t i = 1; i < path->count && i < DRAINED && at == 0; i++)
			if (search_insn(search, path->insns[i])->insn->flags_written &
			    branch->flags_read)
				at = i;
		if (at == 0)
			return false;
		insn = search_insn(search, path->insns[at])->insn;
	}
	for (size_t i = 0; i < insn->memory_count; i++) {
		struct place place;

		if (!(insn->memories[i].access & HP_ACCESS_READ))
			continue;
		place = place_of(search, path, at, &insn->memories[i]);
		if (is_varying(&place))
			return true;
	}
	for (unsigned number = 0; number < HP_REGISTER_SEGMENT; number++)
		if (hp_register_in(&insn->read, number) && number != HP_REGISTER_PC &&
		    is_loaded(search, path, at, number))
			return true;
	return false;
}

static const struct branch_facts *branch_of(struct search *search, uint32_t block)
{
	struct branch_facts *facts = &search->branches[block];
	struct path *path;

	if (facts->is_known)
		return facts;
	facts->is_known = true;
	path = hp_arena_alloc(search->analyzer->arena, sizeof(*path));
	if (!path) {
		search->out_of_memory = true;
		return facts;
	}
	path_find(search, last_of(search, block), 2 * DRAINED, path);
	facts->is_on_data = decides_on_data(search, path);
	return facts;
}

static struct redirect redirect_of(struct search *search, uint32_t edge)
{
	const struct hp_edge *one = &search->cfg->edges[edge];
	const struct hp_frequency *along = &search->analysis->edges[edge];
	struct redirect redirect = { .branch = HP_SCHEDULE_NONE };
	const struct hp_frequency *from;
	double others;
	double fewest;

	if (one->from >= search->cfg->block_count) {
		/* A call: through a pointer, perhaps. */
		redirect.most = 1;
		redirect.expected = mispredicts_of_call;
		return redirect;
	}
	from = &search->analysis->blocks[one->from].frequency;
	switch ((enum hp_block_end)search->cfg->blocks[one->from].end) {
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
	redirect.branch = last_of(search, one->from);
	others = from->relative - along->relative;
	fewest = others < along->relative ? others : along->relative;
	redirect.expected = fewest > 0 && along->relative > 0 ? fewest / along->relative : 0;
	/* What the intervals allow. */
	others = from->relative_high - along->relative_low;
	fewest = others < along->relative_high ? others : along->relative_high;
	redirect.most = fewest > 0 && along->relative > 0 ? fewest / along->relative : 0;
	if (redirect.most > 1)
		redirect.most = 1;
	if (redirect.most < redirect.expected)
		redirect.most = redirect.expected;
	redirect.expected *= branch_of(search, one->from)->is_on_data ? mispredicts_on_data
								      : mispredicts_by_shape;
	return redirect;
}

/* Of one execution of the block. */
static struct redirect redirect_into(struct search *search, uint32_t block)
{
	const struct hp_block *node = &search->cfg->blocks[block];
	double runs = search_relative(search, block);
	struct redirect sum = { .branch = HP_SCHEDULE_NONE };
	double largest = 0;

	if (search->redirects[block].is_known)
		return search->redirects[block];
	sum.is_known = true;
	for (uint32_t i = 0; i < node->in_count && runs > 0; i++) {
		uint32_t edge = search->cfg->in_edges[node->first_in + i];
		double weight = search->analysis->edges[edge].relative / runs;
		struct redirect one;

		if (!(weight > 0))
			continue;
		one = redirect_of(search, edge);
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
	search->redirects[block] = sum;
	return sum;
}

/* Time that the core needs to begin anew shows at once; latencies show for a while. */
void suspect_mispredict(struct search *search)
{
	const struct path *path = &search->path;
	uint32_t here = path->insns[0];
	uint32_t block = search_insn(search, here)->block;
	uint32_t into = here - search->analysis->blocks[block].first_insn;
	double price = search->core->mispredict_cycles;
	struct redirect at_once = { .branch = HP_SCHEDULE_NONE };
	struct redirect drained = { .branch = HP_SCHEDULE_NONE };
	double latency = facts_of(search, here)->latency + 1.0;

	if (into < 2)
		at_once = redirect_into(search, block);
	if (at_once.most > 0) {
		double doubt = into == 0 ? 1 : second_insn_doubt;

		add_marked(search, HP_CAUSE_MISPREDICT, at_once.branch,
			   at_once.most * (resolution_margin * price + latency),
			   at_once.expected * price * doubt, mark_at(search, here));
	}
	for (uint32_t i = 0; i < path->count && i < DRAINED; i++) {
		uint32_t at = path->insns[i];
		uint32_t other = search_insn(search, at)->block;
		struct redirect one;

		if (at != search->analysis->blocks[other].first_insn)
			continue;
		one = redirect_into(search, other);
		if (one.expected > drained.expected && one.branch != HP_SCHEDULE_NONE)
			drained = one;
	}
	if (drained.branch != HP_SCHEDULE_NONE) {
		/* So many mispredicts at most have left their mark. */
		double times =
			mark_of_branch(search, search_insn(search, drained.branch)->block) / price;

		add_marked(search, HP_CAUSE_MISPREDICT, drained.branch, drained.most * latency,
			   drained.expected * latency * drained_share, times * latency);
	}
}

/* --- instruction cache and TLB, fetch ----------------------------------------------------------
 */

static uint64_t bytes_of(enum arrival_unit unit)
{
	static const uint64_t bytes[ARRIVAL_UNITS] = {
		[ARRIVAL_LINE] = LINE_BYTES,
		[ARRIVAL_PAGE] = PAGE_BYTES,
		[ARRIVAL_BYTE] = 1,
	};

	return bytes[unit];
}

static bool is_same_unit(const struct hp_insn *before, const struct hp_insn *insn,
			 enum arrival_unit unit)
{
	return before->address / bytes_of(unit) ==
	       (insn->address + insn->length - 1) / bytes_of(unit);
}

static void add_arrivals(const struct search *search, uint32_t block, enum arrival_unit unit,
			 struct arrivals *into)
{
	const struct hp_analysis *analysis = search->analysis;
	const struct hp_cfg *cfg = search->cfg;
	const struct hp_insn *insn = search_insn(search, analysis->blocks[block].first_insn)->insn;
	const struct hp_block *node = &cfg->blocks[block];
	double runs = search_relative(search, block);

	search->analysis->effort += node->in_count;
	for (uint32_t i = 0; i < node->in_count && runs > 0; i++) {
		uint32_t edge = cfg->in_edges[node->first_in + i];
		const struct hp_edge *one = &cfg->edges[edge];
		double weight = analysis->edges[edge].relative / runs;

		if (!(weight > 0))
			continue;
		if (one->from < cfg->block_count &&
		    is_same_unit(search_insn(search, last_of(search, one->from))->insn, insn, unit))
			continue;
		into->all += weight;
		into->jumps += one->kind == HP_EDGE_FALL ? 0 : weight;
	}
	into->all = into->all > 1 ? 1 : into->all;
	into->jumps = into->jumps > 1 ? 1 : into->jumps;
}

/* Of the path's first instruction. Of blocks they are kept: the end of each of thousands that lead
 * to one block asks for it. */
static struct arrivals arrivals_of(const struct search *search, enum arrival_unit unit)
{
	uint32_t here = search->path.insns[0];
	uint32_t block = search_insn(search, here)->block;
	struct arrivals *known = &search->arrivals[(size_t)block * ARRIVAL_UNITS + unit];
	struct arrivals inside = { .is_known = true };

	if (here != search->analysis->blocks[block].first_insn) {
		const struct hp_insn *before = search_insn(search, here - 1)->insn;

		if (before->kind == HP_INSN_CALL || before->kind == HP_INSN_CALL_INDIRECT)
			inside.all = inside.jumps = 1;
		else
			inside.all = !is_same_unit(before, search_insn(search, here)->insn, unit);
		return inside;
	}
	if (!known->is_known)
		add_arrivals(search, block, unit, known);
	known->is_known = true;
	return *known;
}

/* Share of executions between which the code can have left the cache. */
static double forgotten(const struct search *search, bool fits)
{
	uint32_t block = search_insn(search, search->path.insns[0])->block;
	double calls = search->analysis->entry.relative;
	double runs = search_relative(search, block);
	uint32_t loop = search->cfg->blocks[block].loop;

	if (!fits || search->path.meets_call || loop == HP_CFG_NONE || !(runs > 0))
		return 1;
	return calls < runs ? calls / runs : 1;
}

static double beyond(uint64_t used, uint64_t room)
{
	return used > room ? (double)(used - room) / (double)used : 0;
}

/* What holds code, in two levels: cache lines, or translations of pages. */
struct levels {
	enum arrival_unit unit;
	uint64_t used;
	uint64_t first, second; /* how much of it they hold */
};

struct lateness {
	bool fits; /* in the first level */
	struct arrivals arrivals;
	double share; /* of executions to which it may have been forgotten */
	double cycles_expected;
};

/* `second_cycles` and `beyond_cycles`: what it takes to come from the second level, and from behind
 * it. */
static struct lateness lateness_of(const struct search *search, const struct levels *levels,
				   double second_cycles, double beyond_cycles)
{
	struct lateness late = { .fits = levels->used <= levels->first };

	late.arrivals = arrivals_of(search, levels->unit);
	late.share = late.arrivals.all * forgotten(search, late.fits);
	late.cycles_expected = cold_share * second_cycles +
			       beyond(levels->used, levels->first) * second_cycles +
			       beyond(levels->used, levels->second) * beyond_cycles;
	return late;
}

void suspect_icache(struct search *search)
{
	const struct hp_core *core = search->core;
	const struct levels levels = { ARRIVAL_LINE, search->code_bytes, FIRST_CACHE,
				       SECOND_CACHE };
	struct lateness late = lateness_of(search, &levels, core->l2_cycles, core->l3_cycles);

	if (late.arrivals.all > 0)
		add_suspect(search, HP_CAUSE_ICACHE, search->path.insns[0],
			    late.share * (late.fits ? core->l3_cycles : core->memory_cycles),
			    late.share * late.cycles_expected *
				    (late.arrivals.jumps > 0 ? 1 : next_line_doubt));
}

void suspect_itlb(struct search *search)
{
	const struct hp_core *core = search->core;
	const struct levels levels = { ARRIVAL_PAGE, search->code_pages, FIRST_PAGES,
				       SECOND_PAGES };
	struct lateness late = lateness_of(search, &levels, core->l2_tlb_cycles, core->walk_cycles);

	if (late.arrivals.all > 0)
		add_suspect(search, HP_CAUSE_ITLB, search->path.insns[0],
			    late.share *
				    (core->l2_tlb_cycles + most_code_walks * core->walk_cycles),
			    late.share * late.cycles_expected);
}

/* Jumps that are taken end what is fetched in a cycle, a target that is not remembered is found
 * only when the jump is decoded; code that the micro-op cache cannot hold is decoded again. */
void suspect_fetch(struct search *search)
{
	const struct hp_core *core = search->core;
	uint32_t here = search->path.insns[0];
	const struct hp_insn *insn = search_insn(search, here)->insn;
	double jumps = arrivals_of(search, ARRIVAL_BYTE).jumps;
	double most = 0;
	double expected = 0;

	if (jumps > 0) {
		double strange = beyond(search->hot_blocks, KNOWN_BRANCHES);

		most += jumps * (most_jump_cycles + (strange > 0 ? core->mispredict_cycles : 0));
		expected +=
			jumps * (jump_cycles + strange * strange_jumps * core->mispredict_cycles);
	}
	if (search->code_bytes > MICRO_OP_CACHE || search->path.meets_call) {
		double each = 1.0 / core->decode_width + insn->length / decode_bytes;

		most += each;
		expected += decode_share * each * beyond(search->code_bytes, MICRO_OP_CACHE);
	}
	add_suspect(search, HP_CAUSE_FETCH, here, most, expected);
}
