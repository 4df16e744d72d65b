/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When data and code arrive. Whether an access misses is decided in the order of the path; the time
 * at which its line arrives, in the order of execution.
 */
#include "pipeline.h"

static bool is_far(unsigned events)
{
	return events & (HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN);
}

/* If it is unknown whether the third level has a line, it is assumed that it has, as in
 * uarch/timing.c. */
static unsigned far_cycles(const struct pipeline *pipeline, unsigned events)
{
	const struct hp_core *core = &pipeline->config->core;

	return events & (HP_UARCH_L3_MISS | HP_UARCH_L3_LIKELY_MISS) ? core->memory_cycles
								     : core->l3_cycles;
}

/* Cycles beyond the first level, and what waits for them. BASE: none. */
static unsigned data_cycles(const struct pipeline *pipeline, unsigned events,
			    enum hp_cycle_part *part)
{
	const struct hp_core *core = &pipeline->config->core;
	unsigned cycles = core->l2_cycles;

	*part = HP_CYCLE_BASE;
	if (!(events & (HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN)) ||
	    ((events & HP_UARCH_PREFETCHED) && !(events & HP_UARCH_PREFETCHED_LATE)))
		return 0;
	*part = HP_CYCLE_UNITS;
	if (is_far(events) && !is_perfect(pipeline, HP_CYCLE_L2D)) {
		*part = HP_CYCLE_L2D;
		cycles = far_cycles(pipeline, events);
	} else if (is_perfect(pipeline, HP_CYCLE_UNITS)) {
		*part = HP_CYCLE_BASE;
		return 0;
	}
	return events & HP_UARCH_PREFETCHED ? (cycles - core->l1_cycles) / 2
					    : cycles - core->l1_cycles;
}

static unsigned code_cycles(const struct pipeline *pipeline, unsigned events,
			    enum hp_cycle_part *part)
{
	*part = HP_CYCLE_BASE;
	if (!(events & (HP_UARCH_L1I_MISS | HP_UARCH_L1I_UNKNOWN)))
		return 0;
	if (is_far(events) && !is_perfect(pipeline, HP_CYCLE_L2I)) {
		*part = HP_CYCLE_L2I;
		return far_cycles(pipeline, events);
	}
	if (is_perfect(pipeline, HP_CYCLE_L1I))
		return 0;
	*part = HP_CYCLE_L1I;
	return pipeline->config->core.l2_cycles;
}

unsigned memory_page_cycles(const struct pipeline *pipeline, unsigned events,
			    enum hp_cycle_part part)
{
	const struct hp_core *core = &pipeline->config->core;
	unsigned miss = (unsigned)(part == HP_CYCLE_ITLB ? HP_UARCH_ITLB_MISS : HP_UARCH_DTLB_MISS);

	/* the bit after a miss's is that of the unknown */
	if (!(events & (miss | miss << 1)) || is_perfect(pipeline, part))
		return 0;
	if (!(events & (HP_UARCH_TLB2_MISS | HP_UARCH_TLB2_UNKNOWN)))
		return core->l2_tlb_cycles;
	if (!(events & (HP_UARCH_WALK_MISS | HP_UARCH_WALK_UNKNOWN)))
		return core->walk_cycles;
	return (unsigned)core->walk_cycles + core->l3_cycles;
}

void memory_count(struct pipeline *pipeline, enum hp_cycle_part part, unsigned cycles)
{
	struct hp_cycle_counts *counts = &pipeline->run->counts;
	bool is_strayed = pipeline->mispredicted;

	if (!cycles)
		return;
	(is_strayed ? counts->strayed_misses : counts->misses)[part]++;
	(is_strayed ? counts->strayed_latencies : counts->latencies)[part] += cycles;
}

/* --- data -------------------------------------------------------------------------------------- */

static struct fill *fill_of(struct fill *fills, uint64_t line)
{
	return &fills[(line * UINT64_C(0x9e3779b97f4a7c15) >> 40) % FILLS];
}

static void follow(struct pipeline *pipeline, const struct step *step, unsigned number,
		   struct flight *flight)
{
	uint64_t address = step->accesses[number].address;
	enum hp_trace_access_kind kind = step->accesses[number].kind;
	enum hp_uarch_access_kind as = kind == HP_TRACE_STORE	   ? HP_UARCH_STORE
				       : kind == HP_TRACE_PREFETCH ? HP_UARCH_PREFETCH
								   : HP_UARCH_LOAD;
	unsigned events = hp_uarch_access(pipeline->uarch, step->insn->address, address,
					  step->accesses[number].bytes, as) &
			  ~pipeline->config->ignores;
	enum hp_cycle_part part;
	unsigned cycles = data_cycles(pipeline, events, &part);

	if (part != HP_CYCLE_BASE && kind != HP_TRACE_PREFETCH)
		*fill_of(pipeline->fills, address / LINE) =
			(struct fill){ address / LINE, NEVER, events };
	if (kind == HP_TRACE_LOAD || kind == HP_TRACE_MODIFY) {
		flight->loads = true;
		flight->load_line = address / LINE;
		flight->load_place = address / PLACE;
		flight->load_events |= events;
		memory_count(pipeline, part, cycles);
		memory_count(pipeline, HP_CYCLE_DTLB,
			     memory_page_cycles(pipeline, events, HP_CYCLE_DTLB));
	}
	if (kind == HP_TRACE_STORE || kind == HP_TRACE_MODIFY) {
		flight->stores = true;
		flight->store_line = address / LINE;
		flight->store_place = address / PLACE;
	}
}

void memory_follow(struct pipeline *pipeline, const struct step *step, struct flight *flight)
{
	hp_uarch_pointers_follow(&pipeline->pointers, pipeline->uarch, &step->insn->timed,
				 step->insn->address,
				 step->access_count ? &step->accesses[0].address : NULL);
	for (unsigned i = 0; i < step->access_count; i++)
		follow(pipeline, step, i, flight);
}

/* The first access to a missing line requests it, and a buffer waits for it. */
static void ask(struct pipeline *pipeline, struct fill *fill, uint64_t from)
{
	enum hp_cycle_part part;
	unsigned cycles = data_cycles(pipeline, fill->events, &part);
	uint64_t *buffer =
		&pipeline->buffers[pipeline->buffer++ % pipeline->config->core.miss_buffers];

	from = *buffer > from ? *buffer : from;
	fill->comes = *buffer = from + cycles;
}

uint64_t memory_load(struct pipeline *pipeline, struct flight *flight)
{
	unsigned page = memory_page_cycles(pipeline, flight->load_events, HP_CYCLE_DTLB);
	struct fill *fill = fill_of(pipeline->fills, flight->load_line);
	uint64_t at = pipeline->now + page;

	flight->waits = page ? HP_CYCLE_DTLB : HP_CYCLE_BASE;
	flight->paged = at;
	if (flight->load_events & HP_UARCH_LINE_SPLIT)
		at++;
	if (!flight->loads || fill->line != flight->load_line)
		return at;
	if (fill->comes == NEVER)
		ask(pipeline, fill, at);
	if (fill->comes > at) {
		enum hp_cycle_part part;

		(void)data_cycles(pipeline, fill->events, &part);
		if (part == HP_CYCLE_L2D || !page)
			flight->waits = part;
		flight->is_in_memory = part == HP_CYCLE_L2D &&
				       far_cycles(pipeline, fill->events) ==
					       pipeline->config->core.memory_cycles;
		at = fill->comes;
	}
	return at;
}

void memory_store(struct pipeline *pipeline, const struct flight *flight)
{
	struct fill *fill = fill_of(pipeline->fills, flight->store_line);
	uint64_t before = pipeline->drains[(pipeline->stored_count - 1) % DRAINS];
	uint64_t leaves = pipeline->now;

	if (!flight->stores)
		return;
	if (fill->line == flight->store_line && fill->comes == NEVER)
		ask(pipeline, fill, pipeline->now);
	if (fill->line == flight->store_line && fill->comes > leaves)
		leaves = fill->comes;
	leaves = (leaves > before ? leaves : before) + 1;
	pipeline->drains[pipeline->stored_count++ % DRAINS] = leaves;
}

unsigned memory_stores(struct pipeline *pipeline)
{
	while (pipeline->drained < pipeline->stored_count &&
	       pipeline->drains[pipeline->drained % DRAINS] <= pipeline->now)
		pipeline->drained++;
	return pipeline->stores + (unsigned)(pipeline->stored_count - pipeline->drained);
}

/* --- code -------------------------------------------------------------------------------------- */

uint64_t memory_fetch(struct pipeline *pipeline, uint64_t line, unsigned events, uint64_t asked,
		      enum hp_cycle_part *part)
{
	unsigned cycles = code_cycles(pipeline, events, part);
	struct fill *fill = fill_of(pipeline->code_fills, line);

	if (cycles) {
		memory_count(pipeline, *part, cycles);
		*fill = (struct fill){ line, asked + cycles, events };
		return asked + cycles;
	}
	/* it may have been requested on a path that was left */
	if (fill->line != line || fill->comes <= asked)
		return asked;
	(void)code_cycles(pipeline, fill->events, part);
	return fill->comes;
}
