/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets up the core of each lane: which causes it has, and what they cost. */
#include "lane_groups.h"
#include "timing_state.h"

#include <stdlib.h>
#include <string.h>

#define BIT(part) (UINT32_C(1) << (part))

enum {
	EVENTS = BIT(MISPREDICT) | BIT(ICACHE) | BIT(ITLB) | BIT(FETCH) | BIT(DCACHE) |
		 BIT(FAR_DATA) | BIT(DTLB) | BIT(STORE_BUFFER) | BIT(STORE_FORWARD),
	REST = BIT(DIVIDER) | BIT(MULTIPLIER) | BIT(FP) | BIT(SYNC) | BIT(PORT) | BIT(DEPENDENCY),
	AS_IS = EVENTS | REST,
};

static const uint32_t parts[HP_LANES] = {
	[HP_LANE_AS_IS] = AS_IS,
	[HP_LANE_NO_MISPREDICT] = AS_IS & ~BIT(MISPREDICT),
	[HP_LANE_NO_ICACHE] = AS_IS & ~BIT(ICACHE),
	[HP_LANE_NO_ITLB] = AS_IS & ~BIT(ITLB),
	[HP_LANE_NO_FETCH] = AS_IS & ~BIT(FETCH),
	[HP_LANE_NO_DCACHE] = AS_IS & ~BIT(DCACHE),
	[HP_LANE_NO_FAR] = AS_IS & ~BIT(FAR_DATA),
	[HP_LANE_NO_DTLB] = AS_IS & ~BIT(DTLB),
	[HP_LANE_NO_STORE_BUFFER] = AS_IS & ~BIT(STORE_BUFFER),
	[HP_LANE_NO_STORE_FORWARD] = AS_IS & ~BIT(STORE_FORWARD),
	[HP_LANE_NO_DIVIDER] = AS_IS & ~BIT(DIVIDER),
	[HP_LANE_NO_MULTIPLIER] = AS_IS & ~BIT(MULTIPLIER),
	[HP_LANE_NO_FP] = AS_IS & ~BIT(FP),
	[HP_LANE_NO_SYNC] = AS_IS & ~BIT(SYNC),
	[HP_LANE_NO_PORT] = AS_IS & ~BIT(PORT),
	[HP_LANE_WIDTH] = BIT(PORT),
	[HP_LANE_MEMORY] = AS_IS | BIT(MEMORY),
	[HP_LANE_THIRD] = AS_IS | BIT(NEAR),
	[HP_LANE_IDEAL] = REST,
	[HP_LANE_ONLY_MISPREDICT] = REST | BIT(MISPREDICT),
	[HP_LANE_ONLY_CODE] = REST | BIT(ICACHE) | BIT(ITLB) | BIT(FETCH),
	[HP_LANE_ONLY_DCACHE] = REST | BIT(DCACHE) | BIT(FAR_DATA),
	[HP_LANE_ONLY_DTLB] = REST | BIT(DTLB),
	[HP_LANE_ONLY_STORE] = REST | BIT(STORE_BUFFER) | BIT(STORE_FORWARD),
};

static bool has(unsigned lane, enum part part)
{
	return parts[lane] & BIT(part);
}

static void set_widths(struct hp_timing *timing)
{
	const struct hp_core *core = timing->core;

	EACH_LANE
	{
		timing->issue.at[lane] = core->issued_in_ten ? 10 * TICKS / core->issued_in_ten
							     : TICKS / core->issue_width;
		timing->retire.at[lane] = TICKS / core->retire_width;
		if (has(lane, FETCH)) {
			timing->fetch[0].at[lane] = TICKS / core->fetch_width;
			timing->fetch[1].at[lane] = TICKS / core->decode_width;
		}
		for (unsigned part = 0; part < PARTS; part++)
			timing->has[part].at[lane] = -(int32_t)has(lane, part);
	}
}

static void set_latencies(struct hp_timing *timing)
{
	const struct hp_core *core = timing->core;
	int32_t second = (core->l2_cycles - core->l1_cycles) * TICKS;
	int32_t third = (core->l3_cycles - core->l1_cycles) * TICKS;
	int32_t memory = (core->memory_cycles - core->l1_cycles) * TICKS;

	EACH_LANE
	{
		bool is_far = has(lane, FAR_DATA);
		int32_t by_level[LEVELS] = {
			[SECOND] = second,
			[LIKELY_SECOND] = is_far && has(lane, MEMORY) ? memory : second,
			[THIRD] = is_far ? third : second,
			[LIKELY_MEMORY] = !is_far	    ? second
					  : has(lane, NEAR) ? third
							    : memory,
			[LIKELY_THIRD] = !is_far	     ? second
					 : has(lane, MEMORY) ? memory
							     : third,
			[IN_MEMORY] = is_far ? memory : second,
		};

		for (unsigned level = 0; level < LEVELS; level++) {
			int32_t whole = has(lane, DCACHE) ? by_level[level] : 0;
			timing->loads[level][COMES_ASKED].at[lane] = whole;
			timing->loads[level][COMES_LATE].at[lane] = whole / 2;
			timing->loads[level][COMES_IN_TIME].at[lane] = 0;
			timing->stores[level].at[lane] = has(lane, STORE_BUFFER) ? by_level[level]
										 : 0;
		}
	}
}

struct hp_timing *hp_timing_create(const struct hp_core *core,
				   const struct hp_uarch_geometry *geometry)
{
	struct hp_timing *timing = aligned_alloc(64, (sizeof(*timing) + 63) / 64 * 64);

	if (!timing)
		return NULL;
	memset(timing, 0, sizeof(*timing));
	timing->core = core;
	timing->reorder_slots = core->reorder_slots < SLOTS ? core->reorder_slots : SLOTS - 1;
	timing->store_entries = geometry->store_entries < STORES ? geometry->store_entries
								 : STORES - 1;
	timing->drain = TICKS / (core->stored_width ? core->stored_width : 1);
	timing->miss_buffers = core->miss_buffers;
	timing->walkers = core->page_walkers && core->page_walkers < WALKS ? core->page_walkers : 1;
	timing->has_third = geometry->l3.ways;
	set_widths(timing);
	set_latencies(timing);
	if (!uarch_forwards_create(&timing->forwards, core)) {
		hp_timing_destroy(timing);
		return NULL;
	}
	hp_timing_reset(timing);
	return timing;
}

void hp_timing_destroy(struct hp_timing *timing)
{
	if (timing)
		uarch_forwards_destroy(&timing->forwards);
	free(timing);
}
