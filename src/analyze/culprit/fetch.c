/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes in fetching instructions: instruction cache, instruction TLB, jumps and decoding.
 *
 * Cache and TLB are cleared if all code that can be executed just before is in the same line or
 * page (DCPI 6.3). They are bounded by how often the code can have been evicted: for code that fits
 * and calls nothing, once per call of the procedure.
 */
#include "causes.h"
#include "witness.h"
#include "../tuning.h"

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

static void add_arrivals(const struct facts *facts, uint32_t block, enum arrival_unit unit,
			 struct arrivals *into)
{
	const struct hp_analysis *analysis = facts->analysis;
	const struct hp_cfg *cfg = facts->cfg;
	const struct hp_insn *insn = facts_insn(facts, analysis->blocks[block].first_insn)->insn;
	const struct hp_block *node = &cfg->blocks[block];
	double runs = facts_relative(facts, block);

	for (uint32_t i = 0; i < node->in_count && runs > 0; i++) {
		uint32_t edge = cfg->in_edges[node->first_in + i];
		const struct hp_edge *one = &cfg->edges[edge];
		double weight = analysis->edges[edge].relative / runs;

		if (!(weight > 0))
			continue;
		if (one->from < cfg->block_count &&
		    is_same_unit(facts_insn(facts, facts_last_insn(facts, one->from))->insn, insn,
				 unit))
			continue;
		into->all += weight;
		into->jumps += one->kind == HP_EDGE_FALL ? 0 : weight;
	}
	into->all = into->all > 1 ? 1 : into->all;
	into->jumps = into->jumps > 1 ? 1 : into->jumps;
}

/* Relies on the blocks' order, which is by address. */
static void measure_code(struct facts *facts)
{
	const struct hp_cfg *cfg = facts->cfg;
	uint64_t line = UINT64_MAX;
	uint64_t page = UINT64_MAX;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		uint64_t first = cfg->blocks[i].address.value;
		uint64_t last = first + cfg->blocks[i].bytes - (cfg->blocks[i].bytes > 0);

		if (!(facts_relative(facts, i) > hot_block))
			continue;
		facts->hot_blocks++;
		facts->code_bytes +=
			(last / LINE_BYTES - first / LINE_BYTES + (first / LINE_BYTES != line)) *
			LINE_BYTES;
		facts->code_pages +=
			last / PAGE_BYTES - first / PAGE_BYTES + (first / PAGE_BYTES != page);
		line = last / LINE_BYTES;
		page = last / PAGE_BYTES;
	}
}

/* Done once for all blocks, because thousands of blocks that jump to one ask for it. */
struct hp_error *fetch_prepare(struct facts *facts, struct hp_arena *arena)
{
	uint32_t count = facts->cfg->block_count;
	struct arrivals *arrivals =
		hp_arena_array(arena, (size_t)count * ARRIVAL_UNITS + 1, sizeof(*arrivals));

	if (!arrivals)
		return hp_error_create_no_memory();
	for (uint32_t i = 0; i < count; i++) {
		if (facts->analysis->blocks[i].insn_count == 0)
			continue;
		for (unsigned unit = 0; unit < ARRIVAL_UNITS; unit++)
			add_arrivals(facts, i, (enum arrival_unit)unit,
				     &arrivals[(size_t)i * ARRIVAL_UNITS + unit]);
		facts->effort += (double)ARRIVAL_UNITS * facts->cfg->blocks[i].in_count;
	}
	facts->arrivals = arrivals;
	measure_code(facts);
	return NULL;
}

/* The arrivals at one instruction. */
static struct arrivals arrivals_of(const struct facts *facts, uint32_t at, enum arrival_unit unit)
{
	uint32_t block = facts_insn(facts, at)->block;
	struct arrivals inside = { 0 };
	const struct hp_insn *before;

	if (at == facts->analysis->blocks[block].first_insn)
		return facts->arrivals[(size_t)block * ARRIVAL_UNITS + unit];
	before = facts_insn(facts, at - 1)->insn;
	if (before->kind == HP_INSN_CALL || before->kind == HP_INSN_CALL_INDIRECT)
		inside.all = inside.jumps = 1;
	else
		inside.all = !is_same_unit(before, facts_insn(facts, at)->insn, unit);
	return inside;
}

/* The share of executions before which the code may have been evicted from the cache. */
static double forgotten(const struct facts *facts, const struct path *path, bool fits)
{
	uint32_t block = facts_insn(facts, path->insns[0])->block;
	double calls = facts->analysis->entry.relative;
	double runs = facts_relative(facts, block);
	uint32_t loop = facts->cfg->blocks[block].loop;

	if (!fits || path->meets_call || loop == HP_CFG_NONE || !(runs > 0))
		return 1;
	return calls < runs ? calls / runs : 1;
}

static double beyond(uint64_t used, uint64_t room)
{
	return used > room ? (double)(used - room) / (double)used : 0;
}

/* Two levels of what holds code: of caches, or of TLBs. */
struct levels {
	enum arrival_unit unit;
	uint64_t used;
	uint64_t first, second; /* capacity of each level, in the unit of `used` */
};

struct lateness {
	bool fits; /* the code fits into the first level */
	struct arrivals arrivals;
	double share; /* of executions before which it may have been evicted */
	double cycles_expected;
};

/* `second_cycles` and `beyond_cycles`: the latency of the second level, and of what lies behind
 * it. */
static struct lateness lateness_of(const struct facts *facts, const struct path *path,
				   const struct levels *levels, double second_cycles,
				   double beyond_cycles)
{
	struct lateness late = { .fits = levels->used <= levels->first };

	late.arrivals = arrivals_of(facts, path->insns[0], levels->unit);
	late.share = late.arrivals.all * forgotten(facts, path, late.fits);
	late.cycles_expected = cold_share * second_cycles +
			       beyond(levels->used, levels->first) * second_cycles +
			       beyond(levels->used, levels->second) * beyond_cycles;
	return late;
}

/* Whether events of these kinds are to be reckoned with: where code just before is in the same line or page
 * there are none, but for code that the graph does not show. */
static bool can_have(const struct hp_happened *seen, const struct lateness *late,
		     const enum hp_event_kind kinds[4])
{
	bool has_any = late->arrivals.all > 0;

	for (size_t i = 0; i < 4; i++)
		has_any |= seen->mean[kinds[i]] > 0;
	return has_any;
}

static void judge_seen(const struct facts *facts, const struct path *path,
		       const struct hp_happened *seen, struct suspects *found)
{
	const struct hp_core *core = facts->core;
	double first = witness_most(seen, HP_EVENT_L1I_MISS, HP_EVENT_L1I_UNKNOWN);
	double second = witness_most(seen, HP_EVENT_L2I_MISS, HP_EVENT_L2I_UNKNOWN);

	add_suspect(found, HP_CAUSE_ICACHE, path->insns[0],
		    first * l2_margin * witness_l2_cycles(core) +
			    second * miss_margin * core->memory_cycles,
		    seen->mean[HP_EVENT_L1I_MISS] * core->l2_cycles +
			    seen->mean[HP_EVENT_L2I_MISS] * core->l3_cycles);
}

static void judge_seen_pages(const struct facts *facts, const struct path *path,
			     const struct hp_happened *seen, struct suspects *found)
{
	const struct hp_core *core = facts->core;
	double first = witness_most(seen, HP_EVENT_ITLB_MISS, HP_EVENT_ITLB_UNKNOWN);
	double second = witness_most(seen, HP_EVENT_TLB2I_MISS, HP_EVENT_TLB2I_UNKNOWN);

	add_suspect(found, HP_CAUSE_ITLB, path->insns[0],
		    first * l2_margin * core->l2_tlb_cycles +
			    second * (l2_margin * core->walk_cycles + core->memory_cycles),
		    seen->mean[HP_EVENT_ITLB_MISS] * core->l2_tlb_cycles +
			    seen->mean[HP_EVENT_TLB2I_MISS] * core->walk_cycles);
}

void suspect_icache(const struct facts *facts, const struct path *path, struct suspects *found)
{
	const struct hp_core *core = facts->core;
	const struct hp_happened *seen = witness_of(facts, path->insns[0]);
	static const enum hp_event_kind misses[] = {
		HP_EVENT_L1I_MISS,
		HP_EVENT_L1I_UNKNOWN,
		HP_EVENT_L2I_MISS,
		HP_EVENT_L2I_UNKNOWN,
	};
	const struct levels levels = { ARRIVAL_LINE, facts->code_bytes, FIRST_CACHE, SECOND_CACHE };
	struct lateness late = lateness_of(facts, path, &levels, core->l2_cycles, core->l3_cycles);

	if (seen && can_have(seen, &late, misses))
		judge_seen(facts, path, seen, found);
	else if (!seen && late.arrivals.all > 0)
		add_suspect(found, HP_CAUSE_ICACHE, path->insns[0],
			    late.share * (late.fits ? core->l3_cycles : core->memory_cycles),
			    late.share * late.cycles_expected *
				    (late.arrivals.jumps > 0 ? 1 : next_line_doubt));
}

void suspect_itlb(const struct facts *facts, const struct path *path, struct suspects *found)
{
	const struct hp_core *core = facts->core;
	static const enum hp_event_kind misses[] = {
		HP_EVENT_ITLB_MISS,
		HP_EVENT_ITLB_UNKNOWN,
		HP_EVENT_TLB2I_MISS,
		HP_EVENT_TLB2I_UNKNOWN,
	};
	const struct levels levels = { ARRIVAL_PAGE, facts->code_pages, FIRST_PAGES, SECOND_PAGES };
	struct lateness late =
		lateness_of(facts, path, &levels, core->l2_tlb_cycles, core->walk_cycles);
	const struct hp_happened *seen = witness_of(facts, path->insns[0]);

	if (seen && can_have(seen, &late, misses))
		judge_seen_pages(facts, path, seen, found);
	else if (!seen && late.arrivals.all > 0)
		add_suspect(found, HP_CAUSE_ITLB, path->insns[0],
			    late.share *
				    (core->l2_tlb_cycles + most_code_walks * core->walk_cycles),
			    late.share * late.cycles_expected);
}

/* Three ways in which fetch is slow: a taken jump ends the fetch of its cycle; a target that the
 * predictor does not hold is found only at decode; and code that the micro-op cache does not hold
 * is decoded again. */
void suspect_fetch(const struct facts *facts, const struct path *path, struct suspects *found)
{
	const struct hp_core *core = facts->core;
	uint32_t here = path->insns[0];
	const struct hp_insn *insn = facts_insn(facts, here)->insn;
	double jumps = arrivals_of(facts, here, ARRIVAL_BYTE).jumps;
	double most = 0;
	double expected = 0;

	if (jumps > 0) {
		double strange = beyond(facts->hot_blocks, KNOWN_BRANCHES);

		most += jumps * (most_jump_cycles + (strange > 0 ? core->mispredict_cycles : 0));
		expected +=
			jumps * (jump_cycles + strange * strange_jumps * core->mispredict_cycles);
	}
	if (facts->code_bytes > MICRO_OP_CACHE || path->meets_call) {
		double each = 1.0 / core->decode_width + insn->length / decode_bytes;

		most += each;
		expected += decode_share * each * beyond(facts->code_bytes, MICRO_OP_CACHE);
	}
	add_suspect(found, HP_CAUSE_FETCH, here, most, expected);
}
