/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * AMD's cores. Zen 4 and Zen 5 count empty dispatch slots; formulas are those of the kernel's event
 * lists (pipeline.json), with one difference. Slots that the front end left empty contain those of
 * the refill after a mispredicted branch. These are charged to the branch here: a constant for
 * each, as in Arm's formulas, but no more than the cycles in which the front end supplied nothing
 * at all.
 *
 * So is what it lost on wrong paths (`beside`, tables.h); of these the back end has a part (`held`).
 *
 * Zen 2 and Zen 3 count no slots. Two events count cycles in which dispatch lacked a token. How
 * often both count the same cycle is not known, so the back end is between the larger of them and
 * their sum.
 */
#include "tables.h"
#include "tuning.h"

/* clang-format off */

#define OWN HP_STACK_OTHER
#define LIST "pmu-events: pipeline.json"
#define PPR "pmu-events"

/* --- Zen 4 and Zen 5 --------------------------------------------------------------------------- */

#define SLOT_EVENTS(no_ops_at_all, by_width, resync, resync_name) \
	/* symbol	encoding	name						group rare */ \
	{ "cycles",	"cycles",	"ls_not_halted_cyc",				0, false }, \
	{ "instructions", "instructions", "ex_ret_instr",				0, false }, \
	{ "retired",	"r00c1",	"ex_ret_ops",					1, false }, \
	{ "dispatched",	"r07aa",	"de_src_op_disp.all",				1, false }, \
	{ "misp",	"r00c3",	"ex_ret_brn_misp",				1, true }, \
	{ "resync",	resync,		resync_name,					1, true }, \
	{ "fe",		"r1000001a0",	"de_no_dispatch_per_slot.no_ops_from_frontend",	2, false }, \
	{ "no_ops",	no_ops_at_all,	by_width,					2, true }, \
	{ "be",		"r100001ea0",	"de_no_dispatch_per_slot.backend_stalls",	2, false }, \
	{ "smt",	"r1000060a0",	"de_no_dispatch_per_slot.smt_contention",	2, true }, \
	{ "not_complete", "r02d6",	"ex_no_retire.not_complete",			3, true }, \
	{ "load",	"ra2d6",	"ex_no_retire.load_not_complete",		3, true }, \
	{ "empty",	"r01d6",	"ex_no_retire.empty",				3, true }, \
	{ "no_retire",	"r1bd6",	"ex_no_retire.all",				3, false }, \
	{ "divider",	"r00d3",	"ex_div_busy",					4, true }, \
	{ "ic_l2",	"r0082",	"ic_cache_fill_l2",				4, true }, \
	{ "ic_far",	"r0083",	"ic_cache_fill_sys",				4, true }, \
	{ "itlb_hit",	"r0084",	"bp_l1_tlb_miss_l2_tlb_hit",			4, true }, \
	{ "itlb_walk",	"r0f85",	"bp_l1_tlb_miss_l2_tlb_miss.all",		5, true }, \
	{ "dtlb_walk",	"rf045",	"ls_l1_d_tlb_miss.all_l2_miss",			5, true }, \
	{ "fill_l2",	"r0143",	"ls_dmnd_fills_from_sys.local_l2",		5, true }, \
	{ "fill_l3",	"r0243",	"ls_dmnd_fills_from_sys.local_ccx",		5, true }, \
	{ "fill_near",	"r0843",	"ls_dmnd_fills_from_sys.dram_io_near",		6, true }, \
	{ "fill_far",	"r4043",	"ls_dmnd_fills_from_sys.dram_io_far",		6, true }

static const struct hp_stack_event zen_4_events[] = {
	SLOT_EVENTS("r1060001a0", "de_no_dispatch_per_slot.no_ops_from_frontend:c6",
		    "r0096", "resyncs_or_nc_redirects"),
	{ "store_queue", "r04ae", "de_dis_dispatch_token_stalls1.store_queue_rsrc_stall", 6, true },
};

static const struct hp_stack_event zen_5_events[] = {
	SLOT_EVENTS("r1080001a0", "de_no_dispatch_per_slot.no_ops_from_frontend:c8",
		    "r019f", "bp_redirects.resync"),
	{ "store_queue", "r04ae",
	  "de_dispatch_stall_cycle_dynamic_tokens_part1.store_queue_rsrc_stall",	6, true },
};

#define SLOT_TERMS(mispredicts, restarts, latency, bandwidth, memory, cpu) \
	{ "frontend",	"fe / W",				"frontend_bound" }, \
	{ "bad",	"(dispatched - retired) / W",		"bad_speculation" }, \
	{ "backend",	"be / W",				"backend_bound" }, \
	{ "contention",	"smt / W",				"smt_contention" }, \
	{ "retiring",	"retired / W",				"retiring" }, \
	{ "by_branch",	"share(misp, misp + resync)",		NULL }, \
	{ "wrong_path",	"bad * by_branch",			mispredicts }, \
	{ "restarted",	"bad * (1 - by_branch)",		restarts }, \
	{ "nothing",	"no_ops",				latency }, \
	{ "too_little",	"frontend - no_ops",			bandwidth }, \
	{ "loads",	"backend * share(load, not_complete)",	memory }, \
	{ "core",	"backend * (1 - share(load, not_complete))", cpu }, \
	{ "refilled",	"min(refill * misp, no_ops)",		NULL }, \
	{ "lost",	"frontend - refilled",			NULL }, \
	{ "strayed",	"(1 - share(retired, dispatched)) * by_branch",	NULL }, \
	{ "beside",	"lost * strayed * (1 - lost / cycles)",	NULL }, \
	{ "front",	"lost - beside",			NULL }, \
	{ "held",	"wrong_path * backend / cycles / 2",	NULL }, \
	{ "held_loads",	"held * share(load, not_complete)",	NULL }

static const struct hp_stack_term zen_4_terms[] = {
	SLOT_TERMS("bad_speculation_mispredicts", "bad_speculation_pipeline_restarts",
		   "frontend_bound_latency", "frontend_bound_bandwidth",
		   "backend_bound_memory", "backend_bound_cpu"),
};

static const struct hp_stack_term zen_5_terms[] = {
	SLOT_TERMS("bad_speculation_from_mispredicts", "bad_speculation_from_pipeline_restarts",
		   "frontend_bound_by_latency", "frontend_bound_by_bandwidth",
		   "backend_bound_by_memory", "backend_bound_by_cpu"),
};

static const struct hp_stack_row slot_rows[] = {
	{ HP_STACK_BASE, OWN, BY("retiring", "cycles - no_retire", "cycles - no_retire", NULL),
	  SLOTS_DOUBT, "none", LIST ": retiring" },
	{ HP_STACK_MISPREDICT, OWN,
	  BY("wrong_path - known(held) + refilled + beside", "wrong_path", NULL, "misp * mispredict"),
	  REFILL_DOUBT, "icache, itlb", LIST ": bad_speculation_mispredicts; Arm's refill" },
	{ HP_STACK_RESTART, OWN, BY("restarted", NULL, NULL, NULL),
	  REFILL_DOUBT, "branch-mispredict", LIST ": bad_speculation_pipeline_restarts" },
	{ HP_STACK_ICACHE, HP_STACK_FETCH,
	  BY(NULL, "min(front, ic_l2 * l2 + ic_far * memory)", NULL, "ic_l2 * l2 + ic_far * l3"),
	  0, "branch-mispredict, itlb, fetch", PPR ": fills times latency" },
	{ HP_STACK_ITLB, HP_STACK_FETCH,
	  BY(NULL, "min(front, itlb_hit * tlb + itlb_walk * walk)", NULL,
	     "itlb_hit * tlb + itlb_walk * walk"),
	  0, "branch-mispredict, icache, fetch", PPR ": misses times latency" },
	{ HP_STACK_FETCH, OWN, BY("front", "empty", "empty", NULL),
	  FRONT_SLOTS_DOUBT, "branch-mispredict", LIST ": frontend_bound less the refill" },
	{ HP_STACK_L2, HP_STACK_DCACHE,
	  BY(NULL, "min(loads, fill_l2 * l2)", NULL, "fill_l2 * l2"),
	  0, "l3, memory, dtlb", PPR ": fills times latency" },
	{ HP_STACK_L3, HP_STACK_DCACHE,
	  BY(NULL, "min(loads, fill_l3 * l3)", NULL, "fill_l3 * l3"),
	  0, "l2, memory, dtlb", PPR ": fills times latency" },
	{ HP_STACK_MEMORY, HP_STACK_DCACHE,
	  BY(NULL, "min(loads, (fill_near + fill_far) * memory)", NULL,
	     "(fill_near + fill_far) * memory"),
	  0, "l2, l3, dtlb", PPR ": fills times latency" },
	{ HP_STACK_DCACHE, OWN, BY("loads + known(held_loads)", "load", "load", NULL),
	  LOADS_DOUBT, "core", LIST ": backend_bound_memory" },
	{ HP_STACK_DTLB, HP_STACK_DCACHE,
	  BY(NULL, "min(loads, dtlb_walk * walk)", NULL, "dtlb_walk * walk"),
	  0, "l2, l3, memory", PPR ": walks times latency" },
	{ HP_STACK_STORE, HP_STACK_CORE, BY(NULL, "min(core, store_queue)", NULL, NULL),
	  0, "core", PPR ": cycles without a token" },
	{ HP_STACK_LONG, HP_STACK_CORE, BY(NULL, "min(core, divider)", NULL, NULL),
	  0, "core", PPR ": cycles with a busy divider" },
	{ HP_STACK_CORE, OWN,
	  BY("core + known(held) - known(held_loads)", "not_complete - load", "not_complete - load", NULL),
	  LOADS_DOUBT, "dcache", LIST ": backend_bound_cpu" },
	{ HP_STACK_SMT, OWN, BY("contention", NULL, NULL, NULL),
	  SLOTS_DOUBT, "none", LIST ": smt_contention" },
};
#define zen_4_rows slot_rows
#define zen_5_rows slot_rows

static const char *const slot_sums[] = {
	"dispatched + fe + be + smt = W * cycles", "retired <= dispatched", "load <= not_complete",
	"not_complete + empty <= no_retire", "no_retire <= cycles", NULL,
};
#define zen_4_sums slot_sums
#define zen_5_sums slot_sums

/* --- Zen 2 and Zen 3 --------------------------------------------------------------------------- */

#define TOKEN_EVENTS(retired_name) \
	{ "cycles",	"cycles",	"ls_not_halted_cyc",				0, false }, \
	{ "instructions", "instructions", "ex_ret_instr",				0, false }, \
	{ "retired",	"r00c1",	retired_name,					1, false }, \
	{ "misp",	"r00c3",	"ex_ret_brn_misp",				1, true }, \
	{ "no_queue",	"r00a9",	"de_dis_uop_queue_empty_di0",			2, true }, \
	{ "divider",	"r00d3",	"ex_div_busy",					3, true }, \
	{ "ic_l2",	"r0082",	"ic_cache_fill_l2",				3, true }, \
	{ "ic_far",	"r0083",	"ic_cache_fill_sys",				3, true }, \
	{ "dtlb_walk",	"rf045",	"l2_dtlb_misses",				3, true }

static const struct hp_stack_event zen_2_events[] = {
	TOKEN_EVENTS("ex_ret_cops"),
	{ "dispatched",	"r03aa",	"uops_dispatched",				1, false },
	{ "tokens_1",	"rf7ae",	"de_dis_dispatch_token_stalls1.*",		2, true },
	{ "tokens_2",	"r27af",	"de_dis_dispatch_token_stalls0.*",		2, true },
	{ "fill_l2",	"r0143",	"ls_refills_from_sys.ls_mabresp_lcl_l2",	4, true },
	{ "fill_l3",	"r0243",	"ls_refills_from_sys.ls_mabresp_lcl_cache",	4, true },
	{ "fill_near",	"r0843",	"ls_refills_from_sys.ls_mabresp_lcl_dram",	4, true },
	{ "fill_far",	"r4043",	"ls_refills_from_sys.ls_mabresp_rmt_dram",	4, true },
};

static const struct hp_stack_event zen_3_events[] = {
	TOKEN_EVENTS("ex_ret_ops"),
	{ "dispatched",	"r08ab", "de_dis_cops_from_decoder.disp_op_type.any_integer_dispatch", 1, false },
	{ "dispatched_fp", "r04ab", "de_dis_cops_from_decoder.disp_op_type.any_fp_dispatch", 1, true },
	{ "tokens_1",	"rf7ae",	"de_dis_dispatch_token_stalls1.*",		2, true },
	{ "tokens_2",	"r27af",	"de_dis_dispatch_token_stalls2.*",		2, true },
	{ "fill_l2",	"r0143",	"ls_dmnd_fills_from_sys.lcl_l2",		4, true },
	{ "fill_l3",	"r0243",	"ls_dmnd_fills_from_sys.int_cache",		4, true },
	{ "fill_near",	"r0843",	"ls_dmnd_fills_from_sys.mem_io_local",		4, true },
	{ "fill_far",	"r4043",	"ls_dmnd_fills_from_sys.mem_io_remote",		4, true },
};

#define TOKEN_TERMS \
	{ "retiring",	"retired / W",					"retiring" }, \
	{ "refilled",	"min(refill * misp, no_queue)",			NULL }, \
	{ "lost",	"no_queue - refilled",				NULL }, \
	{ "beside",	"lost * share(bad, bad + retiring) * (1 - lost / cycles)", NULL }, \
	{ "tokens",	"max(tokens_1, tokens_2)",			NULL }, \
	{ "held",	"bad * tokens / cycles / 2",			NULL }, \
	{ "rest",	"cycles - retiring - bad",			NULL }, \
	{ "all_tokens",	"min(tokens_1 + tokens_2, rest - no_queue)",	NULL }

static const struct hp_stack_term zen_2_terms[] = {
	{ "bad",	"(dispatched - retired) / W",			"bad_speculation" },
	TOKEN_TERMS,
};

static const struct hp_stack_term zen_3_terms[] = {
	{ "bad",	"(dispatched + dispatched_fp - retired) / W",	"bad_speculation" },
	TOKEN_TERMS,
};

static const struct hp_stack_row token_rows[] = {
	{ HP_STACK_BASE, OWN, BY("retiring", NULL, NULL, NULL), SLOTS_DOUBT, "none", PPR ": slots" },
	{ HP_STACK_MISPREDICT, OWN,
	  BY("bad - known(held) + refilled + beside", "bad", NULL, "misp * mispredict"),
	  REFILL_DOUBT, "icache, restart", PPR ": ops of wrong paths; Arm's refill" },
	{ HP_STACK_RESTART, HP_STACK_MISPREDICT, BY(NULL, "bad", NULL, NULL),
	  0, "branch-mispredict", PPR ": not counted apart" },
	{ HP_STACK_ICACHE, HP_STACK_FETCH,
	  BY(NULL, "min(no_queue, ic_l2 * l2 + ic_far * memory)", NULL, "ic_l2 * l2 + ic_far * l3"),
	  0, "branch-mispredict, fetch", PPR ": fills times latency" },
	{ HP_STACK_FETCH, OWN, BY("lost - beside", "rest - tokens", NULL, NULL),
	  UNTESTED_DOUBT, "branch-mispredict, core", PPR ": cycles without ops; partial slots" },
	{ HP_STACK_L2, HP_STACK_CORE, BY(NULL, "min(all_tokens, fill_l2 * l2)", NULL, "fill_l2 * l2"),
	  0, "l3, memory, core", PPR ": fills times latency" },
	{ HP_STACK_L3, HP_STACK_CORE, BY(NULL, "min(all_tokens, fill_l3 * l3)", NULL, "fill_l3 * l3"),
	  0, "l2, memory, core", PPR ": fills times latency" },
	{ HP_STACK_MEMORY, HP_STACK_CORE,
	  BY(NULL, "min(all_tokens, (fill_near + fill_far) * memory)", NULL,
	     "(fill_near + fill_far) * memory"),
	  0, "l2, l3, core", PPR ": fills times latency" },
	{ HP_STACK_DTLB, HP_STACK_CORE,
	  BY(NULL, "min(all_tokens, dtlb_walk * walk)", NULL, "dtlb_walk * walk"),
	  0, "l2, l3, memory", PPR ": walks times latency" },
	{ HP_STACK_LONG, HP_STACK_CORE, BY(NULL, "min(all_tokens, divider)", NULL, NULL),
	  0, "core", PPR ": cycles with a busy divider" },
	{ HP_STACK_CORE, OWN, BY("tokens + known(held)", "all_tokens", NULL, NULL),
	  UNTESTED_DOUBT, "fetch", PPR ": cycles without a token, data cache and all" },
};
#define zen_2_rows token_rows
#define zen_3_rows token_rows

static const char *const zen_2_sums[] = { "retired <= dispatched", "no_queue <= cycles", NULL };
static const char *const zen_3_sums[] = { "retired <= dispatched + dispatched_fp",
					  "no_queue <= cycles", NULL };

/* --- all --------------------------------------------------------------------------------------- */

const struct hp_stack_table stack_tables_amd[] = {
	{ .name = "zen-2", .title = "AMD Zen 2", .list = "x86/amdzen2", .core = "zen-2",
	  .width = 6, .refill = ZEN_2_REFILL, PARTS(zen_2) },
	{ .name = "zen-3", .title = "AMD Zen 3", .list = "x86/amdzen3", .core = "zen-3",
	  .width = 6, .refill = ZEN_3_REFILL, PARTS(zen_3) },
	{ .name = "zen-4", .title = "AMD Zen 4", .list = "x86/amdzen4", .core = "zen-4",
	  .width = 6, .refill = ZEN_4_REFILL, PARTS(zen_4) },
	{ .name = "zen-5", .title = "AMD Zen 5", .list = "x86/amdzen5", .core = "zen-5",
	  .width = 8, .refill = ZEN_5_REFILL, PARTS(zen_5) },
};
const size_t stack_tables_amd_count = HP_ARRAY_COUNT(stack_tables_amd);
