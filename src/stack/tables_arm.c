/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arm's Neoverse cores. Formulas are those of Arm's telemetry specifications and the kernel's event
 * lists: lost slots, and a constant number of cycles per mispredicted branch, which the slots of
 * the front end and of the back end contain. Before revision r0p3, Neoverse N2 counted a slot too
 * many in each cycle for `stall_slot` and `stall_slot_frontend` (erratum; neoverse-n2-r0p0).
 *
 * Neoverse N1 counts no slots, only cycles in which nothing was dispatched. So slots that are lost
 * in partly filled cycles stay in `other`. Instructions that were speculated and not retired are
 * what it dispatched beside the path.
 *
 * Metrics of the name sbsa_ are those of Arm's Server Base System Architecture 7.0, which know no
 * cycles per mispredicted branch; perf printed these before it had the others.
 *
 * `beside`: what the front end lost on wrong paths is the branch's, too; `held`: a part of wrong paths is
 * the back end's (tables.h).
 */
#include "tables.h"
#include "tuning.h"

/* clang-format off */

#define OWN HP_STACK_OTHER
#define LIST "pmu-events: metrics.json"
#define GUIDE "pmu-events"

#define COMMON_EVENTS \
	/* symbol	encoding	name						group rare */ \
	{ "cycles",	"cycles",	"cpu_cycles",					0, false }, \
	{ "instructions", "instructions", "inst_retired",				0, false }, \
	{ "misp",	"r0010",	"br_mis_pred",					1, true }, \
	{ "front_cycles", "r0023",	"stall_frontend",				2, false }, \
	{ "back_cycles", "r0024",	"stall_backend",				2, false }, \
	{ "l1i_refill",	"r0001",	"l1i_cache_refill",				3, true }, \
	{ "itlb_walk",	"r0035",	"itlb_walk",					3, true }, \
	{ "l1d_refill",	"r0003",	"l1d_cache_refill",				3, true }, \
	{ "l2d_refill",	"r0017",	"l2d_cache_refill",				3, true }, \
	{ "ll_miss",	"r0037",	"ll_cache_miss_rd",				3, true }, \
	{ "dtlb_walk",	"r0034",	"dtlb_walk",					3, true }

static const struct hp_stack_event neoverse_events[] = {
	COMMON_EVENTS,
	{ "retired",	"r003a",	"op_retired",					1, false },
	{ "ops",	"r003b",	"op_spec",					1, false },
	{ "slots",	"r003f",	"stall_slot",					1, false },
	{ "back_slots",	"r003d",	"stall_slot_backend",				1, false },
	{ "front_slots", "r003e",	"stall_slot_frontend",				1, false },
	{ "back_memory", "r4005",	"stall_backend_mem",				2, true },
};

/* `extra`: cycles to take from events that count too many. */
#define SLOT_TERMS(extra, front_refill, back_refill) \
	{ "useful",	"share(retired, ops)",					NULL }, \
	{ "used",	"cycles - (slots" extra ") / W",			NULL }, \
	{ "wrong_path",	"(1 - useful) * used",			"sbsa_bad_speculation" }, \
	{ "front_lost",	"(front_slots" extra ") / W",		"sbsa_frontend_bound" }, \
	{ "back_lost",	"back_slots / W",			"sbsa_backend_bound" }, \
	{ "retiring",	"useful * used",			"retiring" }, \
	{ "frontend",	"front_lost" front_refill,		"frontend_bound" }, \
	{ "backend",	"back_lost" back_refill,		"backend_bound" }, \
	{ "bad",	"wrong_path + 4 * misp",				"bad_speculation" }, \
	{ "beside",	"frontend * (1 - useful) * (1 - frontend / cycles)",	NULL }, \
	{ "beyond_l2",	"min(backend, back_memory)",				NULL }, \
	{ "core",	"backend - known(beyond_l2)",				NULL }, \
	{ "held",	"wrong_path * backend / cycles / 2",			NULL }, \
	{ "held_beyond", "held * share(beyond_l2, backend)",			NULL }

static const struct hp_stack_term n2_terms[] = { SLOT_TERMS("", " - misp", " - 3 * misp") };
static const struct hp_stack_term n2_r0p0_terms[] = {
	SLOT_TERMS(" - cycles", " - misp", " - 3 * misp"),
};
static const struct hp_stack_term v1_terms[] = { SLOT_TERMS("", " - 4 * misp", "") };

static const struct hp_stack_row neoverse_rows[] = {
	{ HP_STACK_BASE, OWN, BY("retiring", NULL, NULL, NULL), SLOTS_DOUBT, "none", LIST ": retiring" },
	{ HP_STACK_MISPREDICT, OWN, BY("bad - known(held) + beside", "wrong_path", NULL, "misp * mispredict"),
	  REFILL_DOUBT, "icache, restart", LIST ": bad_speculation" },
	{ HP_STACK_RESTART, HP_STACK_MISPREDICT, BY(NULL, "wrong_path", NULL, NULL),
	  0, "branch-mispredict", GUIDE ": not counted apart" },
	{ HP_STACK_ICACHE, HP_STACK_FETCH,
	  BY(NULL, "min(frontend, l1i_refill * memory)", NULL, "l1i_refill * l2"),
	  0, "branch-mispredict, itlb, fetch", GUIDE ": refills times latency" },
	{ HP_STACK_ITLB, HP_STACK_FETCH,
	  BY(NULL, "min(frontend, itlb_walk * walk)", NULL, "itlb_walk * walk"),
	  0, "icache, fetch", GUIDE ": walks times latency" },
	{ HP_STACK_FETCH, OWN, BY("frontend - beside", "front_cycles", NULL, NULL),
	  FRONT_SLOTS_DOUBT, "branch-mispredict", LIST ": frontend_bound" },
	{ HP_STACK_L2, HP_STACK_CORE,
	  BY(NULL, "min(core, l1d_refill * l2)", NULL, "(l1d_refill - l2d_refill) * l2"),
	  0, "core", GUIDE ": refills times latency" },
	{ HP_STACK_L3, HP_STACK_DCACHE,
	  BY(NULL, "min(beyond_l2, l2d_refill * l3)", NULL, "(l2d_refill - ll_miss) * l3"),
	  0, "memory", GUIDE ": refills times latency" },
	{ HP_STACK_MEMORY, HP_STACK_DCACHE,
	  BY(NULL, "min(beyond_l2, ll_miss * memory)", NULL, "ll_miss * memory"),
	  0, "l3", GUIDE ": misses times latency" },
	{ HP_STACK_DCACHE, OWN, BY("beyond_l2 + known(held_beyond)", "back_memory", NULL, NULL),
	  MISS_DOUBT, "core", GUIDE ": stall_backend_mem" },
	{ HP_STACK_DTLB, HP_STACK_CORE, BY(NULL, "min(core, dtlb_walk * walk)", NULL, "dtlb_walk * walk"),
	  0, "core, dcache", GUIDE ": walks times latency" },
	{ HP_STACK_CORE, OWN,
	  BY("core + known(held) - known(held_beyond)", "back_cycles - known(back_memory)", NULL, NULL),
	  LOADS_DOUBT, "dcache", LIST ": backend_bound less the above" },
};
#define n2_rows neoverse_rows
#define n2_r0p0_rows neoverse_rows
#define v1_rows neoverse_rows
#define n2_events neoverse_events
#define n2_r0p0_events neoverse_events
#define v1_events neoverse_events

static const char *const n2_sums[] = {
	"front_slots + back_slots = slots", "retired <= ops", "back_memory <= back_cycles",
	"front_cycles + back_cycles <= cycles", NULL,
};
#define n2_r0p0_sums n2_sums
#define v1_sums n2_sums

/* --- Neoverse N1 ------------------------------------------------------------------------------- */

static const struct hp_stack_event n1_events[] = {
	COMMON_EVENTS,
	{ "speculated",	"r001b",	"inst_spec",					1, false },
};

static const struct hp_stack_term n1_terms[] = {
	{ "wrong_path",	"(speculated - instructions) / W",			NULL },
	{ "refilled",	"min(refill * misp, front_cycles)",			NULL },
	{ "frontend",	"front_cycles",						"frontend_bound" },
	{ "backend",	"back_cycles",						"backend_bound" },
	{ "lost",	"front_cycles - refilled",				NULL },
	{ "beside",	"lost * (1 - share(instructions, speculated)) * (1 - lost / cycles)", NULL },
	{ "front",	"lost - beside",					NULL },
	{ "held",	"wrong_path * back_cycles / cycles / 2",		NULL },
};

static const struct hp_stack_row n1_rows[] = {
	{ HP_STACK_BASE, OWN, BY("instructions / W", "cycles - front_cycles - back_cycles", NULL, NULL),
	  SLOTS_DOUBT, "none", GUIDE ": instructions; cycles with a dispatch" },
	{ HP_STACK_MISPREDICT, OWN,
	  BY("wrong_path - known(held) + refilled + beside", "wrong_path", NULL, "misp * mispredict"),
	  REFILL_DOUBT, "icache, fetch", GUIDE ": inst_spec less inst_retired; branches times refill" },
	{ HP_STACK_ICACHE, HP_STACK_FETCH,
	  BY(NULL, "min(front, l1i_refill * memory)", NULL, "l1i_refill * l2"),
	  0, "branch-mispredict, itlb, fetch", GUIDE ": refills times latency" },
	{ HP_STACK_ITLB, HP_STACK_FETCH,
	  BY(NULL, "min(front, itlb_walk * walk)", NULL, "itlb_walk * walk"),
	  0, "icache, fetch", GUIDE ": walks times latency" },
	{ HP_STACK_FETCH, OWN, BY("front", "front_cycles", NULL, NULL),
	  FRONT_END_DOUBT, "branch-mispredict", GUIDE ": stall_frontend" },
	{ HP_STACK_L2, HP_STACK_CORE,
	  BY(NULL, "min(back_cycles, l1d_refill * l2)", NULL, "(l1d_refill - l2d_refill) * l2"),
	  0, "l3, memory, core", GUIDE ": refills times latency" },
	{ HP_STACK_L3, HP_STACK_CORE,
	  BY(NULL, "min(back_cycles, l2d_refill * l3)", NULL, "(l2d_refill - ll_miss) * l3"),
	  0, "l2, memory, core", GUIDE ": refills times latency" },
	{ HP_STACK_MEMORY, HP_STACK_CORE,
	  BY(NULL, "min(back_cycles, ll_miss * memory)", NULL, "ll_miss * memory"),
	  0, "l2, l3, core", GUIDE ": misses times latency" },
	{ HP_STACK_DTLB, HP_STACK_CORE,
	  BY(NULL, "min(back_cycles, dtlb_walk * walk)", NULL, "dtlb_walk * walk"),
	  0, "l2, l3, memory", GUIDE ": walks times latency" },
	{ HP_STACK_CORE, OWN, BY("back_cycles + known(held)", "back_cycles", NULL, NULL),
	  UNTESTED_DOUBT, "fetch", GUIDE ": stall_backend, data cache and all" },
};

static const char *const n1_sums[] = {
	"instructions <= speculated", "front_cycles + back_cycles <= cycles", NULL,
};

/* --- all --------------------------------------------------------------------------------------- */

#define LATENCIES \
	{ .mispredict = NEOVERSE_MISPREDICT, .l2 = NEOVERSE_L2, .l3 = NEOVERSE_L3, \
	  .memory = NEOVERSE_MEMORY, .tlb = NEOVERSE_L2_TLB, .walk = NEOVERSE_WALK }

const struct hp_stack_table stack_tables_arm[] = {
	{ .name = "neoverse-n1", .title = "Arm Neoverse N1", .list = "arm64/arm/neoverse-n1",
	  .latencies = LATENCIES, .width = 4, .refill = NEOVERSE_N1_REFILL, PARTS(n1) },
	{ .name = "neoverse-n2", .title = "Arm Neoverse N2", .list = "arm64/arm/neoverse-n2-v2",
	  .latencies = LATENCIES, .width = 5, .refill = NEOVERSE_REFILL, PARTS(n2) },
	{ .name = "neoverse-n2-r0p0", .title = "Arm Neoverse N2 before r0p3",
	  .list = "arm64/arm/neoverse-n2-v2",
	  .latencies = LATENCIES, .width = 5, .refill = NEOVERSE_REFILL, PARTS(n2_r0p0) },
	{ .name = "neoverse-v1", .title = "Arm Neoverse V1", .list = "arm64/arm/neoverse-v1",
	  .latencies = LATENCIES, .width = 8, .refill = NEOVERSE_REFILL, PARTS(v1) },
	{ .name = "neoverse-v2", .title = "Arm Neoverse V2", .list = "arm64/arm/neoverse-n2-v2",
	  .latencies = LATENCIES, .width = 8, .refill = NEOVERSE_REFILL, PARTS(n2) },
};
const size_t stack_tables_arm_count = HP_ARRAY_COUNT(stack_tables_arm);
