/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a table; and the generic one. */
#include "tables.h"
#include "tuning.h"

#include <hpcprof/isa/machine.h>

#include <string.h>

/* clang-format off */

/* --- any core ---------------------------------------------------------------------------------- */

static const struct hp_stack_event generic_events[] = {
	{ "cycles",	"cycles",			"cycles",			0, false },
	{ "instructions", "instructions",		"instructions",			0, false },
	{ "front_cycles", "stalled-cycles-frontend",	"stalled-cycles-frontend",	1, false },
	{ "back_cycles", "stalled-cycles-backend",	"stalled-cycles-backend",	1, false },
};

static const struct hp_stack_term generic_terms[] = {
	{ "most",	"min(cycles, instructions)",			NULL },
};

/* What one instruction per cycle completes is the most that completion can take; of a wider core
 * it takes less. */
static const struct hp_stack_row generic_rows[] = {
	{ HP_STACK_BASE, HP_STACK_OTHER, BY(NULL, "most", NULL, NULL),
	  0, "none", "at most a cycle per instruction" },
	{ HP_STACK_FETCH, HP_STACK_OTHER, BY("front_cycles", NULL, NULL, NULL),
	  FRONT_END_DOUBT, "branch-mispredict", "the kernel's stalled-cycles-frontend" },
	{ HP_STACK_CORE, HP_STACK_OTHER, BY("back_cycles", NULL, NULL, NULL),
	  UNTESTED_DOUBT, "dcache, dtlb, store-buffer", "the kernel's stalled-cycles-backend" },
};

static const char *const generic_sums[] = { NULL };

const struct hp_stack_table stack_table_generic = {
	.name = "generic", .title = "a core that hpcprof has no table of", .width = 1, PARTS(generic),
};

/* clang-format on */

/* --- finding ---------------------------------------------------------------------------------- */

const struct hp_stack_table *hp_stack_table_at(size_t number)
{
	const struct {
		const struct hp_stack_table *at;
		size_t count;
	} all[] = {
		{ stack_tables_intel, stack_tables_intel_count },
		{ stack_tables_amd, stack_tables_amd_count },
		{ stack_tables_arm, stack_tables_arm_count },
		{ &stack_table_generic, 1 },
	};

	for (size_t i = 0; i < HP_ARRAY_COUNT(all); i++) {
		if (number < all[i].count)
			return &all[i].at[number];
		number -= all[i].count;
	}
	return NULL;
}

const struct hp_stack_table *hp_stack_table_named(const char *name)
{
	const struct hp_stack_table *table;

	for (size_t i = 0; (table = hp_stack_table_at(i)); i++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

bool hp_stack_table_is_generic(const struct hp_stack_table *table)
{
	return table == &stack_table_generic;
}

/* Cores of one table of isa/machine that have different event lists. */
static const char *intel_name(const struct hp_cpu *cpu, const char *core)
{
	enum { SERVER = 0x55, CASCADE_LAKE_STEPPING = 5, SPARE_SERVERS = 0x6c };

	if (strcmp(core, "skylake-sp") == 0 && cpu->model != SERVER)
		return "skylake";
	if (strcmp(core, "skylake-sp") == 0 && cpu->stepping >= CASCADE_LAKE_STEPPING)
		return "cascade-lake";
	if (strcmp(core, "ice-lake-sp") == 0 && (cpu->model == 0x8c || cpu->model == 0x8d))
		return "tiger-lake";
	if (strcmp(core, "ice-lake-sp") == 0 && cpu->model > SPARE_SERVERS)
		return "ice-lake";
	return core;
}

static const char *arm_name(const struct hp_cpu *cpu)
{
	enum { ARM = 0x41, N2_CORRECTED = 3 };

	if (cpu->implementer != ARM)
		return "generic";
	switch (cpu->part) {
	case 0xd0c:
		return "neoverse-n1";
	case 0xd40:
		return "neoverse-v1";
	case 0xd49:
		return cpu->stepping < N2_CORRECTED ? "neoverse-n2-r0p0" : "neoverse-n2";
	case 0xd4f:
		return "neoverse-v2";
	default:
		return "generic";
	}
}

const struct hp_stack_table *hp_stack_table_of(const struct hp_cpu *cpu)
{
	const char *name = cpu->vendor ? intel_name(cpu, hp_core_of_cpu(cpu)->name) : arm_name(cpu);
	const struct hp_stack_table *table = hp_stack_table_named(name);

	return table ? table : &stack_table_generic;
}

const struct hp_stack_table *hp_stack_table_sampled(const struct hp_cpu *cpu)
{
	const struct hp_stack_table *table = hp_stack_table_of(cpu);
	const struct hp_stack_table *sampled = table->sampled ? hp_stack_table_named(table->sampled)
							      : NULL;

	return sampled ? sampled : table;
}

/* --- names ------------------------------------------------------------------------------------ */

const char *hp_stack_component_name(enum hp_stack_component component)
{
	static const char *const names[HP_STACK_COMPONENTS] = {
		[HP_STACK_BASE] = "base",
		[HP_STACK_MISPREDICT] = "branch-mispredict",
		[HP_STACK_RESTART] = "restart",
		[HP_STACK_ICACHE] = "icache",
		[HP_STACK_ITLB] = "itlb",
		[HP_STACK_FETCH] = "fetch",
		[HP_STACK_L1] = "l1",
		[HP_STACK_L2] = "l2",
		[HP_STACK_L3] = "l3",
		[HP_STACK_MEMORY] = "memory",
		[HP_STACK_DCACHE] = "dcache",
		[HP_STACK_DTLB] = "dtlb",
		[HP_STACK_STORE] = "store-buffer",
		[HP_STACK_LONG] = "long-latency",
		[HP_STACK_CORE] = "dependency",
		[HP_STACK_SMT] = "smt",
		[HP_STACK_OTHER] = "other",
	};

	return (unsigned)component < HP_STACK_COMPONENTS ? names[component] : "?";
}

const char *hp_stack_component_word(enum hp_stack_component component)
{
	static const char *const words[HP_STACK_COMPONENTS] = {
		[HP_STACK_BASE] = "completion",
		[HP_STACK_MISPREDICT] = "mispredicts",
		[HP_STACK_RESTART] = "restarts",
		[HP_STACK_ICACHE] = "code cache",
		[HP_STACK_ITLB] = "code TLB",
		[HP_STACK_FETCH] = "fetch, decode",
		[HP_STACK_L1] = "L1 hits",
		[HP_STACK_L2] = "L2",
		[HP_STACK_L3] = "L3",
		[HP_STACK_MEMORY] = "memory",
		[HP_STACK_DCACHE] = "data cache",
		[HP_STACK_DTLB] = "data TLB",
		[HP_STACK_STORE] = "store buffer",
		[HP_STACK_LONG] = "long latency",
		[HP_STACK_CORE] = "dependences",
		[HP_STACK_SMT] = "other thread",
		[HP_STACK_OTHER] = "other",
	};

	return (unsigned)component < HP_STACK_COMPONENTS ? words[component] : "?";
}

static const struct {
	const char *name;
	const char *says;
} accountings[HP_STACK_ACCOUNTINGS] = {
	[HP_STACK_INTERVAL] = { "interval", "slots that nothing was dispatched in, and the refill "
					    "after a branch "
					    "charged to the branch" },
	[HP_STACK_MULTI_STAGE] = { "multi-stage",
				   "the same cycles seen at execution or completion: a later stage "
				   "still works while an earlier one has stalled" },
	[HP_STACK_POWER5] = { "power5",
			      "cycles in which nothing completes: a miss in the front end counts "
			      "only once the reorder buffer has run empty" },
	[HP_STACK_NAIVE] = { "naive",
			     "events times latency: what misses hide of each other is counted for "
			     "each, and events of wrong paths count, too" },
};

const char *hp_stack_accounting_name(enum hp_stack_accounting accounting)
{
	return (unsigned)accounting < HP_STACK_ACCOUNTINGS ? accountings[accounting].name : "?";
}

const char *hp_stack_accounting_says(enum hp_stack_accounting accounting)
{
	return (unsigned)accounting < HP_STACK_ACCOUNTINGS ? accountings[accounting].says : "?";
}
