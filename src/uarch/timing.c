/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lane_groups.h"
#include "timing_state.h"
#include "tuning.h"

#include <hpcprof/isa/duty.h>
#include <hpcprof/uarch/path.h>

#include <string.h>

enum {
	/* in ticks: a quarter of the largest time */
	LARGE = 1 << 29,
	/* ticks by which code may be requested before its dispatch, at most: 46,000 cycles */
	LONG_AHEAD = 1 << 24,
};

/* --- code -------------------------------------------------------------------------------------- */

static enum level level_of(const struct hp_timing *timing, unsigned events)
{
	if (!(events & (HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN)))
		return SECOND;
	if ((events & HP_UARCH_L2_UNKNOWN) && !(events & HP_UARCH_L2_LIKELY_MISS))
		return LIKELY_SECOND;
	if (events & HP_UARCH_L3_MISS)
		return IN_MEMORY;
	if (events & HP_UARCH_L3_LIKELY_MISS)
		return LIKELY_MEMORY;
	return events & HP_UARCH_L3_UNKNOWN || !timing->has_third ? LIKELY_THIRD : THIRD;
}

static int32_t line_cycles(const struct hp_timing *timing, unsigned events)
{
	const struct hp_core *core = timing->core;

	if (!(events & (HP_UARCH_L1I_MISS | HP_UARCH_L1I_UNKNOWN)))
		return 0;
	switch (level_of(timing, events)) {
	case SECOND:
	case LIKELY_SECOND:
		return core->l2_cycles;
	case IN_MEMORY:
	case LIKELY_MEMORY:
		return core->memory_cycles;
	case THIRD:
	case LIKELY_THIRD:
	case LEVELS:
		break;
	}
	return core->l3_cycles;
}

static int32_t code_page_cycles(const struct hp_timing *timing, unsigned events)
{
	if (events & (HP_UARCH_TLB2_MISS | HP_UARCH_TLB2_UNKNOWN))
		return timing->core->walk_cycles;
	return events & (HP_UARCH_ITLB_MISS | HP_UARCH_ITLB_UNKNOWN) ? timing->core->l2_tlb_cycles
								     : 0;
}

/* The next fetch begins so much later than after the last turn, unless it does already. */
INLINE void turn(struct hp_timing *timing, int32_t ticks)
{
	if (timing->in_cycle || !timing->core->asks_late)
		raise_where(&timing->fetched, &timing->turned, ticks, &timing->has[FETCH]);
	timing->turned = timing->fetched;
	timing->in_cycle = 0;
}

/* Branch prediction is some lines ahead of fetch, never behind it, and requests them. A line is late
 * by what is left of its latency when fetch needs it. */
WIDE void hp_timing_fetch(struct hp_timing *timing, unsigned events)
{
	struct hp_lanes *oldest = &timing->lines[timing->line++ % LINES];
	int32_t line = line_cycles(timing, events), page = code_page_cycles(timing, events);

	timing->is_decoded = !(events & (HP_UARCH_DECODED_MISS | HP_UARCH_DECODED_UNKNOWN));
	if (timing->core->asks_late) {
		timing->foreseen = timing->turned;
		turn(timing, TICKS);
	} else {
		add_all(&timing->foreseen, TICKS);
		raise_to(&timing->foreseen, oldest);
		lower_to(&timing->foreseen, &timing->fetched);
	}
	if (line || page) {
		struct hp_lanes comes = timing->foreseen;

		add_where(&comes, line * TICKS, &timing->has[ICACHE]);
		add_where(&comes, page * TICKS, &timing->has[ITLB]);
		raise_to(&timing->fetched, &comes);
	}
	if (timing->core->asks_late)
		timing->turned = timing->fetched;
	*oldest = timing->fetched;
}

/* Cycles from one taken branch to the next, at least, … */
static int32_t turn_ticks(const struct hp_timing *timing, unsigned events)
{
	const struct hp_core *core = timing->core;

	if (events & HP_UARCH_TARGET_LATE)
		return TICKS * (1 + core->late_target_cycles);
	if (timing->is_call && core->call_cycles)
		return TICKS * core->call_cycles;
	if (timing->is_indirect)
		return core->indirect_cycles ? TICKS * core->indirect_cycles : TICKS;
	return core->taken_width ? TICKS / core->taken_width : TICKS;
}

WIDE void hp_timing_branch(struct hp_timing *timing, unsigned events, bool is_taken)
{
	const struct hp_core *core = timing->core;
	int32_t before;

	if (is_taken)
		turn(timing, turn_ticks(timing, events));
	if (events & HP_UARCH_TARGET_MISS) {
		add_where(&timing->fetched, TICKS * core->resteer_cycles, &timing->has[FETCH]);
		raise_where(&timing->foreseen, &timing->fetched, 0, &timing->has[FETCH]);
	}
	if (events & HP_UARCH_BRANCH_LATE)
		add_where(&timing->fetched, TICKS * core->late_branch_cycles, &timing->has[FETCH]);
	if (!(events & (HP_UARCH_MISPREDICTED | HP_UARCH_BRANCH_UNKNOWN)))
		return;
	before = timing->fetched.at[HP_LANE_AS_IS];
	/* The measured cost includes the branch's own cycle. */
	raise_where(&timing->fetched, &timing->done, (core->mispredict_cycles - 1) * TICKS,
		    &timing->has[MISPREDICT]);
	raise_where(&timing->foreseen, &timing->fetched, 0, &timing->has[MISPREDICT]);
	timing->strayed = (unsigned)(timing->fetched.at[HP_LANE_AS_IS] - before) / TICKS;
	if (core->asks_late) {
		timing->turned = timing->fetched;
		timing->in_cycle = 0;
	}
}

unsigned hp_timing_strayed(const struct hp_timing *timing)
{
	return timing->strayed;
}

/* --- dispatch ---------------------------------------------------------------------------------- */

INLINE void dispatch(struct hp_timing *timing, const struct hp_timed_insn *insn, bool stores)
{
	int32_t slots = insn->slots;

	add_times(&timing->fetched, &timing->fetch[!timing->is_decoded], slots);
	timing->in_cycle += (unsigned)slots;
	if (timing->core->asks_late && timing->in_cycle >= timing->core->fetch_width) {
		timing->turned = timing->fetched;
		timing->in_cycle = 0;
	}
	raise_to(&timing->fetched, &timing->ahead[timing->instruction % AHEAD]);
	add_times(&timing->dispatched, &timing->issue, slots);
	raise_to(&timing->dispatched, &timing->fetched);
	if (slots)
		raise_to(&timing->dispatched, &timing->slots[(timing->slot + (uint64_t)slots - 1 -
							      timing->reorder_slots) %
							     SLOTS]);
	if (stores)
		raise_where(&timing->dispatched,
			    &timing->drains[(timing->store + 1 - timing->store_entries) % STORES],
			    0, &timing->has[STORE_BUFFER]);
	if (insn->is_serializing)
		raise_where(&timing->dispatched, &timing->retired, 0, &timing->has[SYNC]);
	timing->ahead[timing->instruction++ % AHEAD] = timing->dispatched;
}

/* --- execution --------------------------------------------------------------------------------- */

/* The unit with the least work, by the first lane. */
INLINE unsigned choose(const struct hp_timing *timing, uint32_t units)
{
	unsigned best = (unsigned)__builtin_ctz(units);

	for (units &= units - 1; units; units &= units - 1) {
		unsigned unit = (unsigned)__builtin_ctz(units);

		if (timing->units[unit].at[0] < timing->units[best].at[0])
			best = unit;
	}
	return best;
}

/* Whether it needs a result of one of the last chained operations. */
INLINE bool is_behind(const struct hp_timing *timing, const struct hp_timed_insn *insn)
{
	uint64_t since = timing->instruction;
	bool is_behind = false;

	since = since > timing->core->chained_span ? since - timing->core->chained_span : 0;
	for (unsigned i = 0; i < insn->address_count; i++)
		is_behind |= timing->chains[insn->addresses[i]] > since;
	for (unsigned i = 0; i < insn->operand_count; i++)
		is_behind |= timing->chains[insn->operands[i]] > since;
	return is_behind;
}

INLINE void note_results(struct hp_timing *timing, const struct hp_timed_insn *insn)
{
	for (unsigned i = 0; i < insn->result_count; i++) {
		timing->registers[insn->results[i]] = timing->done;
		timing->chains[insn->results[i]] = insn->is_chained ? timing->instruction : 0;
	}
}

/* A division or fence with a latency of one cycle occupies its unit for no longer. */
INLINE void take_units(struct hp_timing *timing, const struct hp_timed_insn *insn,
		       struct hp_lanes *begin)
{
	enum part part = insn->duty == HP_DUTY_DIVIDE ? DIVIDER
			 : insn->duty == HP_DUTY_SYNC ? SYNC
						      : PORT;
	int32_t more = insn->is_chained && is_behind(timing, insn);

	for (unsigned i = 0; i < insn->use_count; i++) {
		struct hp_lanes *unit = &timing->units[choose(timing, insn->units[i])];
		int32_t least = part == PORT || insn->busy[i] < 1 ? insn->busy[i] : 1;

		raise_to(unit, &timing->dispatched);
		raise_where(begin, unit, 0, &timing->has[part]);
		add_all(unit, (least + more) * TICKS);
		add_where(unit, (insn->busy[i] - least) * TICKS, &timing->has[part]);
	}
}

/* When it requests its data, and when it begins: operands needed late do not delay the request. */
INLINE void find_begin(struct hp_timing *timing, const struct hp_timed_insn *insn, bool loads,
		       struct hp_lanes *asks, struct hp_lanes *begin)
{
	*asks = timing->dispatched;
	for (unsigned i = 0; i < insn->address_count; i++)
		raise_where(asks, &timing->registers[insn->addresses[i]], 0,
			    &timing->has[DEPENDENCY]);
	if (loads)
		raise_where(asks, &timing->fenced, 0, &timing->has[SYNC]);
	take_units(timing, insn, asks);
	*begin = *asks;
	for (unsigned i = 0; i < insn->operand_count; i++)
		raise_where(begin, &timing->registers[insn->operands[i]], -insn->late * TICKS,
			    &timing->has[DEPENDENCY]);
}

/* The latency is one cycle, or that of a load, in lanes in which this kind of unit is fast. */
INLINE void add_latency(const struct hp_timing *timing, const struct hp_timed_insn *insn,
			struct hp_lanes *done)
{
	static const enum part of_duties[] = {
		[HP_DUTY_DIVIDE] = DIVIDER,
		[HP_DUTY_MULTIPLY] = MULTIPLIER,
		[HP_DUTY_FP] = FP,
		[HP_DUTY_SYNC] = SYNC,
	};
	int32_t least = insn->late + 1;

	if (insn->duty == HP_DUTY_PLAIN || insn->latency <= least) {
		add_all(done, insn->latency * TICKS);
		return;
	}
	add_all(done, least * TICKS);
	add_where(done, (insn->latency - least) * TICKS, &timing->has[of_duties[insn->duty]]);
}

/* --- data -------------------------------------------------------------------------------------- */

INLINE struct fill *fill_of(struct hp_timing *timing, uint64_t line, struct hp_lanes **filled)
{
	size_t at = line * UINT64_C(0x9e3779b97f4a7c15) >> 56;

	*filled = &timing->filled[at % FILLS];
	return &timing->fills[at % FILLS];
}

/* Serves a miss by a buffer or page walker, which is free again at its end; lanes without this cost
 * are not delayed. */
INLINE void serve(struct hp_lanes *by, const struct hp_lanes *cost, struct hp_lanes *at)
{
	EACH_GROUP
	{
		lane_group more = CONST_GROUP(cost), begin = GROUP(at), old = GROUP(by);
		lane_group costs = more > 0;
		lane_group waits = (old > begin) & costs;

		GROUP(at) = ((old & waits) | (begin & ~waits)) + more;
		GROUP(by) = (GROUP(at) & costs) | (old & ~costs);
	}
}

INLINE void translate(struct hp_timing *timing, unsigned events, enum part part,
		      struct hp_lanes *begin)
{
	struct hp_lanes cost = { 0 };
	const struct hp_core *core = timing->core;

	if (!(events & (HP_UARCH_DTLB_MISS | HP_UARCH_DTLB_UNKNOWN)))
		return;
	if (!(events & (HP_UARCH_TLB2_MISS | HP_UARCH_TLB2_UNKNOWN))) {
		add_where(begin, core->l2_tlb_cycles * TICKS, &timing->has[part]);
		return;
	}
	add_where(&cost, core->walk_cycles * TICKS, &timing->has[part]);
	/* It is not known whether the third level has the entry. */
	if (events & (HP_UARCH_WALK_MISS | HP_UARCH_WALK_UNKNOWN)) {
		add_where(&cost, core->l3_cycles * TICKS, &timing->has[part]);
		add_where(&cost, (core->memory_cycles - core->l3_cycles) * TICKS,
			  &timing->has[MEMORY]);
	}
	serve(&timing->walks[timing->walk++ % timing->walkers], &cost, begin);
}

static bool misses(const struct hp_timing *timing, unsigned events, enum level *level)
{
	*level = level_of(timing, events);
	return events & (HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN);
}

/* Fills the line, later than a hit in the first level by `cost`. */
INLINE void fill(struct hp_timing *timing, uint64_t line, const struct hp_lanes *cost,
		 struct hp_lanes *at)
{
	struct hp_lanes *filled;
	struct fill *one = fill_of(timing, line, &filled);
	struct hp_lanes *buffer = &timing->misses[timing->miss++ % timing->miss_buffers];

	serve(buffer, cost, at);
	*one = (struct fill){ line, timing->instruction };
	*filled = *at;
}

/* From the end of the store. If memory is renamed, its data is there a cycle earlier: before the store
 * is executed. */
INLINE int32_t forward_cycles(struct hp_timing *timing, const struct hp_timed_insn *insn,
			      const struct hp_timed_access *access)
{
	const struct hp_core *core = timing->core;

	/* What failed would be at best if it did not. */
	if (!core->compared_cycles || (access->events & HP_UARCH_FORWARD_FAILED))
		return core->forward_cycles;
	return uarch_forwards_load(&timing->forwards, insn, access->store)
		       ? core->forward_cycles - 1
		       : core->compared_cycles;
}

/* A load gets the bytes of a store some time after that has them; its consumers follow. */
INLINE void forward(struct hp_timing *timing, const struct hp_timed_insn *insn,
		    const struct hp_lanes *stored, int32_t cycles, enum part part)
{
	int32_t first = insn->latency < timing->core->l1_cycles ? insn->latency
								: timing->core->l1_cycles;
	struct hp_lanes at = *stored;

	add_all(&at, (cycles - first) * TICKS);
	add_latency(timing, insn, &at);
	raise_where(&timing->done, &at, 0, &timing->has[part]);
}

/* When the line comes that an earlier access has requested. NULL: it is not known to be on its way. */
INLINE const struct hp_lanes *on_its_way(struct hp_timing *timing, uint64_t line)
{
	struct hp_lanes *filled;
	const struct fill *one = fill_of(timing, line, &filled);

	return one->line == line &&
			       timing->instruction - one->when < FILL_AGE * timing->reorder_slots
		       ? filled
		       : NULL;
}

INLINE void load(struct hp_timing *timing, const struct hp_timed_insn *insn,
		 const struct hp_timed_access *access, const struct hp_lanes *asks)
{
	const struct hp_core *core = timing->core;
	unsigned events = access->events;
	struct hp_lanes at = *asks;
	const struct hp_lanes *stored = &timing->stored[access->store % STORES];
	const struct hp_lanes *filled = NULL;
	bool is_missing;
	enum level level;

	translate(timing, events, DTLB, &at);
	if (events & HP_UARCH_LINE_SPLIT)
		add_all(&at, TICKS);
	is_missing = misses(timing, events, &level);
	/* What an instruction has prefetched is on its way since then. */
	if (!is_missing || (events & HP_UARCH_PREFETCHED))
		filled = on_its_way(timing, access->line);
	if (filled) {
		raise_where(&at, filled, 0, &timing->has[DCACHE]);
	} else if (is_missing) {
		enum coming coming = !(events & HP_UARCH_PREFETCHED)	 ? COMES_ASKED
				     : events & HP_UARCH_PREFETCHED_LATE ? COMES_LATE
									 : COMES_IN_TIME;

		fill(timing, access->line, &timing->loads[level][coming], &at);
	}
	add_latency(timing, insn, &at);
	raise_to(&timing->done, &at);
	/* The bytes are in the first level once the store has left. */
	if (events & HP_UARCH_FORWARD_FAILED)
		forward(timing, insn, &timing->drains[access->store % STORES], core->blocked_cycles,
			STORE_FORWARD);
	if (events & (HP_UARCH_FORWARDED | HP_UARCH_FORWARD_FAILED))
		forward(timing, insn, stored, forward_cycles(timing, insn, access), DEPENDENCY);
}

/* A store, or a prefetch, ends when its address is translated, which is when it requests its line. */
INLINE void find_page(struct hp_timing *timing, const struct hp_timed_access *access,
		      struct hp_lanes *asks)
{
	if (!(access->events & (HP_UARCH_DTLB_MISS | HP_UARCH_DTLB_UNKNOWN)))
		return;
	translate(timing, access->events, DTLB, asks);
	raise_to(&timing->done, asks);
}

INLINE void prefetch(struct hp_timing *timing, const struct hp_timed_access *access,
		     const struct hp_lanes *asks)
{
	struct hp_lanes at = *asks;
	enum level level;

	if (misses(timing, access->events, &level))
		fill(timing, access->line, &timing->loads[level][COMES_ASKED], &at);
}

/* After it retires it leaves in order, once its line has arrived. */
INLINE void store(struct hp_timing *timing, const struct hp_timed_insn *insn,
		  const struct hp_timed_access *access, const struct hp_lanes *asks)
{
	struct hp_lanes at = *asks;
	enum level level;

	timing->store = access->store;
	if (timing->core->compared_cycles)
		uarch_forwards_store(&timing->forwards, insn, access->store);
	timing->stored[access->store % STORES] = timing->done;
	if (misses(timing, access->events, &level))
		fill(timing, access->line, &timing->stores[level], &at);
	add_all(&timing->drained, timing->drain);
	raise_to(&timing->drained, &timing->retired);
	raise_where(&timing->drained, &at, 0, &timing->has[STORE_BUFFER]);
	timing->drains[access->store % STORES] = timing->drained;
}

/* --- an instruction ---------------------------------------------------------------------------- */

INLINE void retire(struct hp_timing *timing, const struct hp_timed_insn *insn,
		   struct hp_lanes *spent)
{
	struct hp_lanes before = timing->retired;

	add_times(&timing->retired, &timing->retire, insn->slots);
	raise_to(&timing->retired, &timing->done);
	for (unsigned i = 0; i < insn->slots; i++)
		timing->slots[timing->slot++ % SLOTS] = timing->retired;
	EACH_GROUP GROUP(spent) += GROUP(&timing->retired) - GROUP(&before);
}

static bool is_load(const struct hp_timed_access *access)
{
	return !access->is_store && !access->is_prefetch;
}

WIDE void hp_timing_insn(struct hp_timing *timing, const struct hp_timed_insn *insn,
			 const struct hp_timed_access *accesses, unsigned access_count,
			 struct hp_lanes *spent)
{
	struct hp_lanes asks, begin;
	bool loads = false, stores = false;

	for (unsigned i = 0; i < access_count; i++) {
		loads |= is_load(&accesses[i]);
		stores |= accesses[i].is_store;
	}
	dispatch(timing, insn, stores);
	find_begin(timing, insn, loads, &asks, &begin);
	timing->done = begin;
	if (!insn->is_eliminated)
		add_latency(timing, insn, &timing->done);
	for (unsigned i = 0; i < access_count; i++)
		if (is_load(&accesses[i]))
			load(timing, insn, &accesses[i], &asks);
	note_results(timing, insn);
	for (unsigned i = 0; i < access_count; i++) {
		if (!is_load(&accesses[i]))
			find_page(timing, &accesses[i], &asks);
		if (accesses[i].is_prefetch)
			prefetch(timing, &accesses[i], &asks);
	}
	retire(timing, insn, spent);
	for (unsigned i = 0; i < access_count; i++)
		if (accesses[i].is_store)
			store(timing, insn, &accesses[i], &asks);
	timing->is_call = insn->is_call;
	timing->is_indirect = insn->is_indirect;
	if (timing->core->compared_cycles)
		uarch_forwards_insn(&timing->forwards, insn);
	if (insn->is_fencing)
		timing->fenced = timing->done;
	if (insn->is_serializing)
		raise_where(&timing->fetched, &timing->done, 0, &timing->has[SYNC]);
}

/* --- time -------------------------------------------------------------------------------------- */

bool hp_timing_is_due(const struct hp_timing *timing)
{
	int32_t latest = 0;

	EACH_LANE latest = timing->retired.at[lane] > latest ? timing->retired.at[lane] : latest;
	return latest > LARGE;
}

/* Nothing comes before the last requested line, which is shortly before what is dispatched now, so
 * earlier times make no difference. */
void hp_timing_rebase(struct hp_timing *timing)
{
	struct hp_lanes base = timing->foreseen;
	struct hp_lanes *first = &timing->foreseen;
	size_t count = (offsetof(struct hp_timing, fills) - offsetof(struct hp_timing, foreseen)) /
		       sizeof(*first);

	EACH_LANE
	{
		int32_t earliest = timing->fetched.at[lane] < base.at[lane]
					   ? timing->fetched.at[lane]
					   : base.at[lane];
		int32_t least = timing->dispatched.at[lane] - LONG_AHEAD;

		/* A taken branch in the previous cycles still matters. */
		earliest -= TICKS * (1 + timing->core->call_cycles + timing->core->indirect_cycles +
				     timing->core->late_target_cycles);
		earliest = earliest > least ? earliest : least;
		base.at[lane] = earliest > 0 ? earliest : 0;
	}
	for (size_t i = 0; i < count; i++)
		EACH_LANE
		{
			int32_t left = first[i].at[lane] - base.at[lane];

			first[i].at[lane] = left > 0 ? left : 0;
		}
}

void hp_timing_reset(struct hp_timing *timing)
{
	memset(timing, 0, offsetof(struct hp_timing, core));
	uarch_forwards_reset(&timing->forwards);
	timing->is_decoded = true;
}
