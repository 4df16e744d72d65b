/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel's cores. Formulas are Intel's own top-down formulas (perfmon, TMA 4.8 and later, level 1 to
 * 3), with these differences. The refill after a branch is charged to the branch, not to the front
 * end, and so is what was lost on wrong paths (`beside`, tables.h), of which the back end has a part
 * (`held`). Of the cycles of a resteer no more
 * are the branch's than the refill takes: in others, code behind the branch is waited for. Cycles
 * stalled by misses are charged to the misses, up to what the back end lost (MISSES_FIRST). On
 * Sapphire Rapids, where an event counts what was lost to memory, the levels of the data cache divide
 * that among them in proportion to their stalled cycles. Causes in the front end divide what the
 * front end lost if they claim more than that.
 *
 * If both threads of a core run, a thread's cycles have the slots of both: `own` are as many cycles as
 * the core had for this thread alone, the rest is the other thread's. From Ice Lake on an event counts a
 * thread's own slots or cycles. Before, a core is taken to give each of two threads half, and how long
 * both ran is told by two slow clocks, of which one stops then (TMA: CORE_CLKS); it may have given the
 * other less, so that component reaches down to 0. A cycle in which a thread is stalled costs it `each`
 * of its own cycles.
 */
#include "tables.h"
#include "tuning.h"

/* clang-format off */

/* --- Skylake, Cascade Lake: 4 slots ----------------------------------------------------------- */

#define SKYLAKE_EVENTS \
	/* symbol	encoding	name						group rare */ \
	{ "cycles",	"cycles",	"cpu_clk_unhalted.thread",			0, false }, \
	{ "instructions", "instructions", "inst_retired.any",				0, false }, \
	{ "retired",	"r02c2",	"uops_retired.retire_slots",			1, false }, \
	{ "issued",	"r010e",	"uops_issued.any",				1, false }, \
	{ "fe",		"r019c",	"idq_uops_not_delivered.core",			1, false }, \
	{ "recovery",	"r010d",	"int_misc.recovery_cycles",			1, true }, \
	{ "misp",	"r00c5",	"br_misp_retired.all_branches",			2, true }, \
	{ "clears",	"r10401c3",	"machine_clears.count",				2, true }, \
	{ "resteer",	"r800d",	"int_misc.clear_resteer_cycles",		2, true }, \
	{ "icache",	"r0480",	"icache_16b.ifdata_stall",			3, true }, \
	{ "icache_edge", "r1040480",	"icache_16b.ifdata_stall:c1:e",			3, true }, \
	{ "itlb",	"r0483",	"icache_tag.stalls",				3, true }, \
	{ "stalls_mem",	"r140014a3",	"cycle_activity.stalls_mem_any",		4, true }, \
	{ "stalls_total", "r40004a3",	"cycle_activity.stalls_total",			4, true }, \
	{ "stalls_l1d",	"rc000ca3",	"cycle_activity.stalls_l1d_miss",		4, true }, \
	{ "stores",	"r40a6",	"exe_activity.bound_on_stores",			4, true }, \
	{ "stalls_l2",	"r50005a3",	"cycle_activity.stalls_l2_miss",		5, true }, \
	{ "stalls_l3",	"r60006a3",	"cycle_activity.stalls_l3_miss",		5, true }, \
	{ "ports1",	"r02a6",	"exe_activity.1_ports_util",			5, true }, \
	{ "ports2",	"r04a6",	"exe_activity.2_ports_util",			5, true }, \
	{ "dtlb_hit",	"r1002008",	"dtlb_load_misses.stlb_hit:c1",			6, true }, \
	{ "dtlb_walk",	"r1001008",	"dtlb_load_misses.walk_active",			6, true }, \
	{ "cycles_mem",	"r100010a3",	"cycle_activity.cycles_mem_any",		6, true }, \
	{ "cycles_l1d",	"r80008a3",	"cycle_activity.cycles_l1d_miss",		6, true }, \
	{ "l2_hits",	"r02d1",	"mem_load_retired.l2_hit",			8, true }, \
	{ "l3_hits",	"r04d1",	"mem_load_retired.l3_hit",			8, true }, \
	{ "l3_misses",	"r20d1",	"mem_load_retired.l3_miss",			8, true }, \
	{ "walked",	"r11d0",	"mem_inst_retired.stlb_miss_loads",		8, true }

static const struct hp_stack_event skylake_events[] = {
	SKYLAKE_EVENTS,
	{ "no_retire",	"r18002c2",	"uops_retired.stall_cycles",			7, false },
	{ "divider",	"r1000114",	"arith.divider_active",				7, true },
	{ "serial",	"r0159",	"partial_rat_stalls.scoreboard",		7, true },
	{ "clock",	"r013c",	"cpu_clk_unhalted.ref_xclk",			9, true },
	{ "alone",	"r023c",	"cpu_clk_unhalted.one_thread_active",		9, true },
	{ "recovery_any", "r20010d",	"int_misc.recovery_cycles_any",			9, true },
};

/* What the front end lost, without the refill: shared by what claims it. */
#define FRONT_END \
	{ "by_branch",	"share(misp, misp + clears)",					NULL }, \
	{ "refilled",	"min(min(resteer, refill * (misp + known(clears))), frontend)",	NULL }, \
	{ "lost",	"frontend - refilled",						NULL }, \
	{ "beside",	"lost * share(bad, bad + retiring) * (1 - lost / own)",		NULL }, \
	{ "front",	"lost - beside",						NULL }, \
	{ "fit",	"share(front, max(front, known(icache_stalls) + known(itlb_stalls)))", NULL }
/* What the branch waited for on wrong paths (tables.h). */
#define HELD { "held", "bad * backend / own / 2", NULL }
/* Stalled cycles with a load that hits, and those of them that a TLB may explain. */
#define HITS \
	{ "l1_stalls",	"max(stalls_mem - stalls_l1d, 0)",				NULL }, \
	{ "walks",	"min(tlb * dtlb_hit + dtlb_walk, max(cycles_mem - cycles_l1d, 0))", NULL }
/* What the back end lost, where an event says how much of it is memory's: `per` slots' worth of cycles
 * for each stalled one. */
#define BACK_END \
	{ "core_bound",	"backend - memory_bound",				"tma_core_bound" }, \
	HELD, \
	{ "with_held",	"1 + share(known(held), backend)",					NULL }, \
	{ "core",	"core_bound * with_held",					NULL }, \
	{ "per",	"share(memory_bound * with_held, stalls_mem + stores)",		NULL }, \
	HITS, \
	{ "stored",	"stores * per",							NULL }, \
	{ "hits",	"l1_stalls * per",						NULL }, \
	{ "tlb_stalls",	"min(walks, l1_stalls) * per",					NULL }
/*
 * Where none does. TMA takes the share of stalled cycles that have a load; but cycles in which little
 * began are no less memory's while a miss is outstanding. On the reference core (scripts/stack-accuracy
 * --emulated) that left 6 % of the cycles on average to others, 11 % at most. So misses come first, as
 * they are counted, as far as the back end lost anything; then stores, then loads that hit; the rest is
 * the core's. TMA's figures are metrics, and the other end of the core's range.
 */
#define MISSES_FIRST \
	{ "tma_memory", \
	  "backend * (stalls_mem + stores) / (stalls_total + ports1 + retiring / cycles * ports2 + stores)", \
									"tma_memory_bound" }, \
	{ "tma_core",	"backend - tma_memory",					"tma_core_bound" }, \
	HELD, \
	{ "behind",	"backend + known(held)",						NULL }, \
	{ "missed",	"min(behind, stalls_l1d * each)",				NULL }, \
	{ "per",	"share(missed, stalls_l1d)",					NULL }, \
	HITS, \
	{ "stored",	"min(stores * each, behind - missed)",				NULL }, \
	{ "hits",	"min(l1_stalls * each, behind - missed - known(stored))",	NULL }, \
	{ "tlb_stalls",	"min(walks * each, hits)",					NULL }, \
	{ "core",	"behind - missed - known(stored) - hits",				NULL }

/* TMA takes half of both threads' recovery, also where the other one sleeps. */
static const struct hp_stack_term skylake_terms[] = {
	{ "others",	"max(cycles * (clock - alone) / clock / 2, 0)",	NULL },
	{ "own",	"cycles - known(others)",			NULL },
	{ "each",	"own / cycles",					NULL },
	{ "recovered",	"first(recovery, recovery_any * each)",		NULL },
	{ "halved",	"first(recovery, recovery_any / 2)",		NULL },
	{ "frontend",	"fe / W",					"tma_frontend_bound" },
	{ "bad",	"(issued - retired) / W + recovered",		NULL },
	{ "backend",	"own - frontend - issued / W - recovered",	NULL },
	{ "retiring",	"retired / W",					"tma_retiring" },
	{ "tma_bad",	"(issued - retired) / W + halved",		"tma_bad_speculation" },
	{ "tma_back",	"own - frontend - issued / W - halved",		"tma_backend_bound" },
	{ "icache_stalls", "(icache + 2 * icache_edge) * each",		NULL },
	{ "itlb_stalls", "itlb * each",					NULL },
	{ "long",	"(divider + serial) * each",			NULL },
	FRONT_END,
	MISSES_FIRST,
};

#define OWN HP_STACK_OTHER
#define TMA "perfmon, TMA metrics"

/* All of Intel's cores: the terms differ, and how far off those of misses are. */
#define INTEL_ROWS(miss_doubt, core_seen, others_seen) \
	{ HP_STACK_BASE, OWN, BY("retiring", NULL, "cycles - no_retire", NULL), \
	  SLOTS_DOUBT, "none", TMA ": Retiring" }, \
	{ HP_STACK_MISPREDICT, OWN, \
	  BY("by_branch * (bad - known(held) + refilled + beside)", "by_branch * bad", NULL, \
	     "misp * mispredict"), \
	  RECOVERY_DOUBT, "icache, itlb", TMA ": Branch_Mispredicts, Mispredicts_Resteers" }, \
	{ HP_STACK_RESTART, OWN, \
	  BY("(1 - by_branch) * (bad - known(held) + refilled + beside)", "(1 - by_branch) * bad", NULL, \
	     NULL), \
	  RECOVERY_DOUBT, "branch-mispredict", TMA ": Machine_Clears, Clears_Resteers" }, \
	{ HP_STACK_SMT, OWN, BY("others", others_seen, NULL, NULL), \
	  0, "none", TMA ": CORE_CLKS, SLOTS" }, \
	{ HP_STACK_ICACHE, OWN, BY("icache_stalls * fit", "icache_stalls", NULL, NULL), \
	  FRONT_SLOTS_DOUBT, "branch-mispredict, itlb, fetch, back end", TMA ": ICache_Misses" }, \
	{ HP_STACK_ITLB, OWN, BY("itlb_stalls * fit", "itlb_stalls", NULL, NULL), \
	  FRONT_SLOTS_DOUBT, "branch-mispredict, icache, fetch, back end", TMA ": ITLB_Misses" }, \
	{ HP_STACK_FETCH, OWN, \
	  BY("front - known(icache_stalls * fit) - known(itlb_stalls * fit)", "front", NULL, NULL), \
	  FRONT_SLOTS_DOUBT, "icache, itlb", TMA ": Frontend_Bound less the above" }, \
	{ HP_STACK_L1, OWN, BY("hits - known(tlb_stalls)", "l1_stalls", NULL, NULL), \
	  STALLS_DOUBT, "dtlb, store, core", TMA ": L1_Bound" }, \
	{ HP_STACK_L2, OWN, \
	  BY("(stalls_l1d - stalls_l2) * per", "stalls_l1d - stalls_l2", "stalls_l1d - stalls_l2", \
	     "l2_hits * l2"), miss_doubt, "core", TMA ": L2_Bound" }, \
	{ HP_STACK_L3, OWN, \
	  BY("(stalls_l2 - stalls_l3) * per", "stalls_l2 - stalls_l3", "stalls_l2 - stalls_l3", \
	     "l3_hits * l3"), miss_doubt, "core", TMA ": L3_Bound" }, \
	{ HP_STACK_MEMORY, OWN, \
	  BY("stalls_l3 * per", "stalls_l3", "stalls_l3", "l3_misses * memory"), \
	  miss_doubt, "core", TMA ": DRAM_Bound" }, \
	{ HP_STACK_DTLB, OWN, BY("tlb_stalls", "walks", NULL, "walked * walk"), \
	  UNTESTED_DOUBT, "l1, l2, l3, memory", TMA ": DTLB_Load" }, \
	{ HP_STACK_STORE, OWN, BY("stored", "stores", NULL, NULL), \
	  UNTESTED_DOUBT, "l1, core", TMA ": Store_Bound" }, \
	{ HP_STACK_LONG, OWN, BY("min(core, long)", "long", NULL, NULL), \
	  UNTESTED_DOUBT, "core", TMA ": Divider, Serializing_Operation" }, \
	{ HP_STACK_CORE, OWN, BY("core - known(min(core, long))", core_seen, NULL, NULL), \
	  STALLS_DOUBT, "long-latency, l1", TMA ": Core_Bound less the above" }

static const struct hp_stack_row skylake_rows[] = {
	INTEL_ROWS(MISS_DOUBT, "tma_core", "0 * others")
};
static const struct hp_stack_row ice_lake_rows[] = { INTEL_ROWS(MISS_DOUBT, "tma_core", NULL) };
#define ice_lake_sampled_rows ice_lake_rows
static const struct hp_stack_row sapphire_rapids_rows[] = { INTEL_ROWS(STALLS_DOUBT, "core_bound", NULL) };
#define sapphire_rapids_sampled_rows sapphire_rapids_rows

#define STALL_SUMS \
	"stalls_l3 <= stalls_l2", "stalls_l2 <= stalls_l1d", "stalls_l1d <= stalls_mem", \
	"stalls_mem <= stalls_total", "stalls_total <= cycles"

static const char *const skylake_sums[] = { "retired <= issued", STALL_SUMS, NULL };

/* --- Ice Lake, Tiger Lake: 5 slots, level 1 from PERF_METRICS ---------------------------------- */

/* The kernel wants the slots to lead the group of their parts. */
#define METRIC_EVENTS \
	{ "cycles",	"cycles",	"cpu_clk_unhalted.thread",			0, false }, \
	{ "instructions", "instructions", "inst_retired.any",				0, false }, \
	{ "slots",	"r0400",	"topdown.slots",				1, false }, \
	{ "perf_ret",	"r8000",	"topdown-retiring",				1, false }, \
	{ "perf_bad",	"r8100",	"topdown-bad-spec",				1, true }, \
	{ "perf_fe",	"r8200",	"topdown-fe-bound",				1, true }, \
	{ "perf_be",	"r8300",	"topdown-be-bound",				1, true }

/* PERF_METRICS cannot be sampled: the slots that events of counters count. */
#define SLOT_EVENTS \
	{ "cycles",	"cycles",	"cpu_clk_unhalted.thread",			0, false }, \
	{ "instructions", "instructions", "inst_retired.any",				0, false }, \
	{ "distributed", "r02ec",	"cpu_clk_unhalted.distributed",			1, false }, \
	{ "retired",	"r02c2",	"uops_retired.slots",				1, false }, \
	{ "fe",		"r019c",	"idq_uops_not_delivered.core",			1, false }, \
	{ "be",		"r02a4",	"topdown.backend_bound_slots",			1, true }

#define ICE_LAKE_EVENTS \
	{ "misp",	"r00c5",	"br_misp_retired.all_branches",			2, true }, \
	{ "clears",	"r10401c3",	"machine_clears.count",				2, true }, \
	{ "resteer",	"r800d",	"int_misc.clear_resteer_cycles",		2, true }, \
	{ "icache",	"r0480",	"icache_data.stalls",				3, true }, \
	{ "itlb",	"r0483",	"icache_tag.stalls",				3, true }, \
	{ "stalls_mem",	"r140014a3",	"cycle_activity.stalls_mem_any",		4, true }, \
	{ "stalls_total", "r40004a3",	"cycle_activity.stalls_total",			4, true }, \
	{ "stalls_l1d",	"rc000ca3",	"cycle_activity.stalls_l1d_miss",		4, true }, \
	{ "stores",	"r20040a6",	"exe_activity.bound_on_stores",			4, true }, \
	{ "ports1",	"r02a6",	"exe_activity.1_ports_util",			4, true }, \
	{ "ports2",	"r04a6",	"exe_activity.2_ports_util",			4, true }, \
	{ "stalls_l2",	"r50005a3",	"cycle_activity.stalls_l2_miss",		4, true }, \
	{ "stalls_l3",	"r60006a3",	"cycle_activity.stalls_l3_miss",		4, true }, \
	{ "dtlb_hit",	"r1002008",	"dtlb_load_misses.stlb_hit:c1",			5, true }, \
	{ "dtlb_walk",	"r1001008",	"dtlb_load_misses.walk_active",			5, true }, \
	{ "cycles_mem",	"r100010a3",	"cycle_activity.cycles_mem_any",		5, true }, \
	{ "cycles_l1d",	"r80008a3",	"cycle_activity.cycles_l1d_miss",		5, true }, \
	{ "divider",	"r1000914",	"arith.divider_active",				6, true }, \
	{ "serial",	"r02a2",	"resource_stalls.scoreboard",			6, true }, \
	{ "no_retire",	"r18002c2",	"uops_retired.stall_cycles",			6, false }, \
	{ "l2_hits",	"r02d1",	"mem_load_retired.l2_hit",			7, true }, \
	{ "l3_hits",	"r04d1",	"mem_load_retired.l3_hit",			7, true }, \
	{ "l3_misses",	"r20d1",	"mem_load_retired.l3_miss",			7, true }, \
	{ "walked",	"r11d0",	"mem_inst_retired.stlb_miss_loads",		7, true }

static const struct hp_stack_event ice_lake_events[] = {
	METRIC_EVENTS,
	{ "drop",	"r100d",	"int_misc.uop_dropping",			1, true },
	{ "clearings",	"r104010d",	"int_misc.clears_count",			1, true },
	ICE_LAKE_EVENTS,
};
static const struct hp_stack_event ice_lake_sampled_events[] = { SLOT_EVENTS, ICE_LAKE_EVENTS };

/* Their sum, of which each has its share: the hardware has eight bits for each. */
#define ALL_METRICS { "all", "perf_ret + perf_bad + perf_fe + perf_be", NULL }, \
	{ "own",	"min(slots / W, cycles)",			NULL }, \
	{ "frontend",	"own * (share(perf_fe, all) - drop / slots)",	"tma_frontend_bound" }, \
	{ "retiring",	"own * share(perf_ret, all)",			"tma_retiring" }, \
	OTHERS

#define OTHERS \
	{ "others",	"cycles - own",					NULL }, \
	{ "each",	"own / cycles",					NULL }, \
	{ "itlb_stalls", "itlb * each",					NULL }, \
	{ "icache_stalls", "icache * each",				NULL }

#define ALL_SLOTS \
	{ "own",	"first(min(distributed, cycles), cycles)",	NULL }, \
	OTHERS, \
	{ "frontend",	"fe / W",					"tma_frontend_bound" }, \
	{ "retiring",	"retired / W",					"tma_retiring" }, \
	{ "backend",	"be / W",					"tma_backend_bound" }

#define ICE_LAKE_TERMS \
	{ "bad",	"max(own - frontend - backend - retiring, 0)",	"tma_bad_speculation" }, \
	{ "dividing",	"divider * each",				"tma_divider" }, \
	{ "long",	"(divider + serial) * each",			NULL }, \
	FRONT_END, \
	MISSES_FIRST

static const struct hp_stack_term ice_lake_terms[] = {
	ALL_METRICS,
	{ "backend",	"own * (share(perf_be, all) + W * clearings / slots)", "tma_backend_bound" },
	ICE_LAKE_TERMS,
};
static const struct hp_stack_term ice_lake_sampled_terms[] = { ALL_SLOTS, ICE_LAKE_TERMS };

static const char *const ice_lake_sums[] = {
	"perf_ret + perf_bad + perf_fe + perf_be = slots", STALL_SUMS, NULL,
};
static const char *const ice_lake_sampled_sums[] = { STALL_SUMS, NULL };

/* --- Sapphire Rapids: 6 slots, level 2 from PERF_METRICS, too ---------------------------------- */

#define SAPPHIRE_RAPIDS_EVENTS \
	{ "misp",	"r00c5",	"br_misp_retired.all_branches",			2, true }, \
	{ "resteer",	"r80ad",	"int_misc.clear_resteer_cycles",		2, true }, \
	{ "icache",	"r0480",	"icache_data.stalls",				2, true }, \
	{ "itlb",	"r0483",	"icache_tag.stalls",				2, true }, \
	{ "stalls_mem",	"r50021a6",	"exe_activity.bound_on_loads",			3, true }, \
	{ "stalls_l1d",	"r3000347",	"memory_activity.stalls_l1d_miss",		3, true }, \
	{ "stalls_l2",	"r5000547",	"memory_activity.stalls_l2_miss",		3, true }, \
	{ "stalls_l3",	"r9000947",	"memory_activity.stalls_l3_miss",		3, true }, \
	{ "stores",	"r20040a6",	"exe_activity.bound_on_stores",			3, true }, \
	{ "dtlb_hit",	"r1002012",	"dtlb_load_misses.stlb_hit:c1",			4, true }, \
	{ "dtlb_walk",	"r1001012",	"dtlb_load_misses.walk_active",			4, true }, \
	{ "cycles_mem",	"r100010a3",	"cycle_activity.cycles_mem_any",		4, true }, \
	{ "cycles_l1d",	"r2000247",	"memory_activity.cycles_l1d_miss",		4, true }, \
	{ "divider",	"r10009b0",	"arith.div_active",				5, true }, \
	{ "serial",	"r02a2",	"resource_stalls.scoreboard",			5, true }, \
	{ "light_sleep", "r20ec",	"cpu_clk_unhalted.c02",				5, true }, \
	{ "no_retire",	"r18002c2",	"uops_retired.stalls",				5, false }, \
	{ "l2_hits",	"r02d1",	"mem_load_retired.l2_hit",			6, true }, \
	{ "l3_hits",	"r04d1",	"mem_load_retired.l3_hit",			6, true }, \
	{ "l3_misses",	"r20d1",	"mem_load_retired.l3_miss",			6, true }, \
	{ "walked",	"r11d0",	"mem_inst_retired.stlb_miss_loads",		6, true }

static const struct hp_stack_event sapphire_rapids_events[] = {
	METRIC_EVENTS,
	{ "perf_misp",	"r8500",	"topdown-br-mispredict",			1, true },
	{ "perf_mem",	"r8700",	"topdown-mem-bound",				1, true },
	{ "drop",	"r10ad",	"int_misc.uop_dropping",			1, true },
	SAPPHIRE_RAPIDS_EVENTS,
};
static const struct hp_stack_event sapphire_rapids_sampled_events[] = {
	SLOT_EVENTS,
	{ "misp_slots",	"r08a4",	"topdown.br_mispredict_slots",			1, true },
	{ "mem_slots",	"r10a4",	"topdown.memory_bound_slots",			1, true },
	SAPPHIRE_RAPIDS_EVENTS,
};

#define SAPPHIRE_RAPIDS_TERMS \
	{ "by_branch",	"share(min(mispredicted, bad), bad)",		NULL }, \
	{ "refilled",	"min(min(resteer, refill * share(misp, by_branch)), frontend)", NULL }, \
	{ "lost",	"frontend - refilled",				NULL }, \
	{ "beside",	"lost * share(bad, bad + retiring) * (1 - lost / own)", NULL }, \
	{ "front",	"lost - beside",				NULL }, \
	{ "fit",	"share(front, max(front, known(icache_stalls) + known(itlb_stalls)))", NULL }, \
	{ "long",	"(divider + serial + known(light_sleep)) * each", NULL }, \
	BACK_END

static const struct hp_stack_term sapphire_rapids_terms[] = {
	ALL_METRICS,
	{ "backend",	"own * share(perf_be, all)",			"tma_backend_bound" },
	{ "bad",	"max(own - frontend - backend - retiring, 0)", "tma_bad_speculation" },
	{ "memory_bound", "own * share(perf_mem, all)",		"tma_memory_bound" },
	{ "mispredicted", "own * share(perf_misp, all)",		"tma_branch_mispredicts" },
	SAPPHIRE_RAPIDS_TERMS,
};
static const struct hp_stack_term sapphire_rapids_sampled_terms[] = {
	ALL_SLOTS,
	{ "bad",	"max(own - frontend - backend - retiring, 0)", "tma_bad_speculation" },
	{ "memory_bound", "min(mem_slots / W, backend)",		"tma_memory_bound" },
	{ "mispredicted", "misp_slots / W",				"tma_branch_mispredicts" },
	SAPPHIRE_RAPIDS_TERMS,
};

static const char *const sapphire_rapids_sums[] = {
	"perf_ret + perf_bad + perf_fe + perf_be = slots", "perf_misp <= perf_bad",
	"perf_mem <= perf_be", "stalls_l3 <= stalls_l2", "stalls_l2 <= stalls_l1d",
	NULL,
};
static const char *const sapphire_rapids_sampled_sums[] = {
	"mem_slots <= be", "stalls_l3 <= stalls_l2", "stalls_l2 <= stalls_l1d", NULL,
};

/* --- all --------------------------------------------------------------------------------------- */

#define INTEL(prefix)                                                                              \
	.refill = INTEL_REFILL, .whole = "own",                                                    \
	.events = prefix##_events, .event_count = HP_ARRAY_COUNT(prefix##_events),                 \
	.terms = prefix##_terms, .term_count = HP_ARRAY_COUNT(prefix##_terms),                     \
	.sums = prefix##_sums, .rows = prefix##_rows, .row_count = HP_ARRAY_COUNT(prefix##_rows)

const struct hp_stack_table stack_tables_intel[] = {
	{ .name = "skylake", .title = "Intel Skylake to Comet Lake", .list = "x86/skylake",
	  .core = "skylake-sp", .width = 4, INTEL(skylake) },
	{ .name = "skylake-sp", .title = "Intel Skylake-SP", .list = "x86/skylakex",
	  .core = "skylake-sp", .width = 4, INTEL(skylake) },
	{ .name = "cascade-lake", .title = "Intel Cascade Lake, Cooper Lake",
	  .list = "x86/cascadelakex", .core = "skylake-sp", .width = 4, INTEL(skylake) },
	{ .name = "ice-lake", .title = "Intel Ice Lake, Rocket Lake", .list = "x86/icelake",
	  .core = "ice-lake-sp", .width = 5, .sampled = "ice-lake-sampled", INTEL(ice_lake) },
	{ .name = "tiger-lake", .title = "Intel Tiger Lake", .list = "x86/tigerlake",
	  .core = "ice-lake-sp", .width = 5, .sampled = "tiger-lake-sampled", INTEL(ice_lake) },
	{ .name = "ice-lake-sp", .title = "Intel Ice Lake-SP", .list = "x86/icelakex",
	  .core = "ice-lake-sp", .width = 5, .sampled = "ice-lake-sp-sampled", INTEL(ice_lake) },
	{ .name = "sapphire-rapids", .title = "Intel Sapphire Rapids", .list = "x86/sapphirerapids",
	  .core = "sapphire-rapids", .width = 6, .sampled = "sapphire-rapids-sampled",
	  INTEL(sapphire_rapids) },
	{ .name = "ice-lake-sampled", .title = "Intel Ice Lake, Rocket Lake", .list = "x86/icelake",
	  .core = "ice-lake-sp", .width = 5, INTEL(ice_lake_sampled) },
	{ .name = "tiger-lake-sampled", .title = "Intel Tiger Lake", .list = "x86/tigerlake",
	  .core = "ice-lake-sp", .width = 5, INTEL(ice_lake_sampled) },
	{ .name = "ice-lake-sp-sampled", .title = "Intel Ice Lake-SP", .list = "x86/icelakex",
	  .core = "ice-lake-sp", .width = 5, INTEL(ice_lake_sampled) },
	{ .name = "sapphire-rapids-sampled", .title = "Intel Sapphire Rapids",
	  .list = "x86/sapphirerapids", .core = "sapphire-rapids", .width = 6,
	  INTEL(sapphire_rapids_sampled) },
};
const size_t stack_tables_intel_count = HP_ARRAY_COUNT(stack_tables_intel);
