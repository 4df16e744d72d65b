/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Relations between events: names, metrics and invariants, as tables. */
#include <hpcprof/base/number.h>
#include <hpcprof/mux/metric.h>

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum hp_mux_role role;
} names[] = {
	{ "cycles", HP_MUX_ROLE_CYCLES },
	{ "cpu-cycles", HP_MUX_ROLE_CYCLES },
	{ "ref-cycles", HP_MUX_ROLE_REF_CYCLES },
	{ "instructions", HP_MUX_ROLE_INSTRUCTIONS },
	{ "task-clock", HP_MUX_ROLE_CPU_TIME_NS },
	{ "cpu-clock", HP_MUX_ROLE_CPU_TIME_NS },
	{ "branches", HP_MUX_ROLE_BRANCHES },
	{ "branch-instructions", HP_MUX_ROLE_BRANCHES },
	{ "branch-misses", HP_MUX_ROLE_BRANCH_MISSES },
	{ "cache-references", HP_MUX_ROLE_CACHE_REFERENCES },
	{ "cache-misses", HP_MUX_ROLE_CACHE_MISSES },
	{ "L1-dcache-loads", HP_MUX_ROLE_L1D_LOADS },
	{ "L1-dcache-load-misses", HP_MUX_ROLE_L1D_LOAD_MISSES },
	{ "L1-dcache-stores", HP_MUX_ROLE_L1D_STORES },
	{ "L1-icache-loads", HP_MUX_ROLE_L1I_LOADS },
	{ "L1-icache-load-misses", HP_MUX_ROLE_L1I_LOAD_MISSES },
	{ "LLC-loads", HP_MUX_ROLE_LLC_LOADS },
	{ "LLC-load-misses", HP_MUX_ROLE_LLC_LOAD_MISSES },
	{ "dTLB-loads", HP_MUX_ROLE_DTLB_LOADS },
	{ "dTLB-load-misses", HP_MUX_ROLE_DTLB_LOAD_MISSES },
	{ "iTLB-loads", HP_MUX_ROLE_ITLB_LOADS },
	{ "iTLB-load-misses", HP_MUX_ROLE_ITLB_LOAD_MISSES },
	{ "stalled-cycles-frontend", HP_MUX_ROLE_STALLED_FRONTEND },
	{ "idle-cycles-frontend", HP_MUX_ROLE_STALLED_FRONTEND },
	{ "stalled-cycles-backend", HP_MUX_ROLE_STALLED_BACKEND },
	{ "idle-cycles-backend", HP_MUX_ROLE_STALLED_BACKEND },
	{ "page-faults", HP_MUX_ROLE_PAGE_FAULTS },
	{ "faults", HP_MUX_ROLE_PAGE_FAULTS },
	{ "minor-faults", HP_MUX_ROLE_MINOR_FAULTS },
	{ "major-faults", HP_MUX_ROLE_MAJOR_FAULTS },
	{ "context-switches", HP_MUX_ROLE_CONTEXT_SWITCHES },
	{ "cs", HP_MUX_ROLE_CONTEXT_SWITCHES },
};

enum hp_mux_role hp_mux_role_of(const char *name)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		if (strcmp(name, names[i].name) == 0)
			return names[i].role;
	}
	return HP_MUX_ROLE_NONE;
}

/* part / whole * scale; without a whole: the elapsed time in ns. */
static const struct figure {
	const char *name, *unit;
	enum hp_mux_role part, whole; /* the figure is shown beside the part */
	double scale;
} figures[] = {
	{ "CPUs used", "CPUs", HP_MUX_ROLE_CPU_TIME_NS, HP_MUX_ROLE_NONE, 1 },
	{ "clock", "GHz", HP_MUX_ROLE_CYCLES, HP_MUX_ROLE_CPU_TIME_NS, 1 },
	{ "CPI", "cycles/instruction", HP_MUX_ROLE_CYCLES, HP_MUX_ROLE_INSTRUCTIONS, 1 },
	{ "IPC", "instructions/cycle", HP_MUX_ROLE_INSTRUCTIONS, HP_MUX_ROLE_CYCLES, 1 },
	{ "branch-miss rate", "%", HP_MUX_ROLE_BRANCH_MISSES, HP_MUX_ROLE_BRANCHES, 100 },
	{ "branch MPKI", "misses/1000 instructions", HP_MUX_ROLE_BRANCH_MISSES,
	  HP_MUX_ROLE_INSTRUCTIONS, 1000 },
	{ "cache miss ratio", "%", HP_MUX_ROLE_CACHE_MISSES, HP_MUX_ROLE_CACHE_REFERENCES, 100 },
	{ "cache MPKI", "misses/1000 instructions", HP_MUX_ROLE_CACHE_MISSES,
	  HP_MUX_ROLE_INSTRUCTIONS, 1000 },
	{ "L1d miss ratio", "%", HP_MUX_ROLE_L1D_LOAD_MISSES, HP_MUX_ROLE_L1D_LOADS, 100 },
	{ "L1d MPKI", "misses/1000 instructions", HP_MUX_ROLE_L1D_LOAD_MISSES,
	  HP_MUX_ROLE_INSTRUCTIONS, 1000 },
	{ "L1i miss ratio", "%", HP_MUX_ROLE_L1I_LOAD_MISSES, HP_MUX_ROLE_L1I_LOADS, 100 },
	{ "L1i MPKI", "misses/1000 instructions", HP_MUX_ROLE_L1I_LOAD_MISSES,
	  HP_MUX_ROLE_INSTRUCTIONS, 1000 },
	{ "LLC miss ratio", "%", HP_MUX_ROLE_LLC_LOAD_MISSES, HP_MUX_ROLE_LLC_LOADS, 100 },
	{ "LLC MPKI", "misses/1000 instructions", HP_MUX_ROLE_LLC_LOAD_MISSES,
	  HP_MUX_ROLE_INSTRUCTIONS, 1000 },
	{ "dTLB miss ratio", "%", HP_MUX_ROLE_DTLB_LOAD_MISSES, HP_MUX_ROLE_DTLB_LOADS, 100 },
	{ "dTLB MPKI", "misses/1000 instructions", HP_MUX_ROLE_DTLB_LOAD_MISSES,
	  HP_MUX_ROLE_INSTRUCTIONS, 1000 },
	{ "iTLB miss ratio", "%", HP_MUX_ROLE_ITLB_LOAD_MISSES, HP_MUX_ROLE_ITLB_LOADS, 100 },
	{ "iTLB MPKI", "misses/1000 instructions", HP_MUX_ROLE_ITLB_LOAD_MISSES,
	  HP_MUX_ROLE_INSTRUCTIONS, 1000 },
	{ "frontend stalled", "% of cycles", HP_MUX_ROLE_STALLED_FRONTEND, HP_MUX_ROLE_CYCLES,
	  100 },
	{ "backend stalled", "% of cycles", HP_MUX_ROLE_STALLED_BACKEND, HP_MUX_ROLE_CYCLES, 100 },
	{ "page faults", "per CPU second", HP_MUX_ROLE_PAGE_FAULTS, HP_MUX_ROLE_CPU_TIME_NS, 1e9 },
	{ "context switches", "per CPU second", HP_MUX_ROLE_CONTEXT_SWITCHES,
	  HP_MUX_ROLE_CPU_TIME_NS, 1e9 },
};

size_t hp_mux_metrics(const struct hp_mux_estimates *estimates,
		      const uint32_t events[HP_MUX_ROLE_COUNT], struct hp_mux_metric *metrics,
		      size_t room)
{
	size_t count = 0;

	for (size_t i = 0; i < HP_ARRAY_COUNT(figures); i++) {
		const struct figure *figure = &figures[i];
		struct hp_mux_term part = { events[figure->part], 1 };
		struct hp_mux_term whole = { events[figure->whole], 1 };
		bool by_time = figure->whole == HP_MUX_ROLE_NONE;

		if (part.event == HP_MUX_NO_EVENT || (!by_time && whole.event == HP_MUX_NO_EVENT))
			continue;
		if (count < room)
			metrics[count] = (struct hp_mux_metric){
				.name = figure->name,
				.unit = figure->unit,
				.about = figure->part,
				.ratio = hp_mux_ratio_of(estimates, &part, 1, &whole, !by_time,
							 (double)estimates->elapsed_ns,
							 figure->scale),
			};
		count++;
	}
	return count;
}

/* left <= right, or left = right + more. Where one instruction can be both a load and a store, the
 * two together may exceed instructions, so that is no law here. */
static const struct law {
	const char *text;
	enum hp_mux_relation relation;
	enum hp_mux_role left, right, more;
} laws[] = {
	{ "branch-misses <= branches", HP_MUX_AT_MOST, HP_MUX_ROLE_BRANCH_MISSES,
	  HP_MUX_ROLE_BRANCHES, HP_MUX_ROLE_NONE },
	{ "branches <= instructions", HP_MUX_AT_MOST, HP_MUX_ROLE_BRANCHES,
	  HP_MUX_ROLE_INSTRUCTIONS, HP_MUX_ROLE_NONE },
	{ "cache-misses <= cache-references", HP_MUX_AT_MOST, HP_MUX_ROLE_CACHE_MISSES,
	  HP_MUX_ROLE_CACHE_REFERENCES, HP_MUX_ROLE_NONE },
	{ "L1-dcache-load-misses <= L1-dcache-loads", HP_MUX_AT_MOST, HP_MUX_ROLE_L1D_LOAD_MISSES,
	  HP_MUX_ROLE_L1D_LOADS, HP_MUX_ROLE_NONE },
	{ "L1-icache-load-misses <= L1-icache-loads", HP_MUX_AT_MOST, HP_MUX_ROLE_L1I_LOAD_MISSES,
	  HP_MUX_ROLE_L1I_LOADS, HP_MUX_ROLE_NONE },
	{ "LLC-load-misses <= LLC-loads", HP_MUX_AT_MOST, HP_MUX_ROLE_LLC_LOAD_MISSES,
	  HP_MUX_ROLE_LLC_LOADS, HP_MUX_ROLE_NONE },
	{ "dTLB-load-misses <= dTLB-loads", HP_MUX_AT_MOST, HP_MUX_ROLE_DTLB_LOAD_MISSES,
	  HP_MUX_ROLE_DTLB_LOADS, HP_MUX_ROLE_NONE },
	{ "iTLB-load-misses <= iTLB-loads", HP_MUX_AT_MOST, HP_MUX_ROLE_ITLB_LOAD_MISSES,
	  HP_MUX_ROLE_ITLB_LOADS, HP_MUX_ROLE_NONE },
	{ "stalled-cycles-frontend <= cycles", HP_MUX_AT_MOST, HP_MUX_ROLE_STALLED_FRONTEND,
	  HP_MUX_ROLE_CYCLES, HP_MUX_ROLE_NONE },
	{ "stalled-cycles-backend <= cycles", HP_MUX_AT_MOST, HP_MUX_ROLE_STALLED_BACKEND,
	  HP_MUX_ROLE_CYCLES, HP_MUX_ROLE_NONE },
	{ "page-faults = minor-faults + major-faults", HP_MUX_EQUAL, HP_MUX_ROLE_PAGE_FAULTS,
	  HP_MUX_ROLE_MINOR_FAULTS, HP_MUX_ROLE_MAJOR_FAULTS },
};

#define TERMS 3

struct hp_error *hp_mux_invariants_create(const uint32_t events[HP_MUX_ROLE_COUNT],
					  struct hp_mux_invariant **invariants, size_t *count)
{
	struct block {
		struct hp_mux_invariant invariants[HP_ARRAY_COUNT(laws)];
		struct hp_mux_term terms[HP_ARRAY_COUNT(laws)][TERMS];
	} *block = calloc(1, sizeof(*block));

	*count = 0;
	if (!block)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < HP_ARRAY_COUNT(laws); i++) {
		const struct law *law = &laws[i];
		struct hp_mux_term *terms = block->terms[*count];
		size_t term_count = law->more == HP_MUX_ROLE_NONE ? 2 : 3;

		terms[0] = (struct hp_mux_term){ events[law->left], 1 };
		terms[1] = (struct hp_mux_term){ events[law->right], -1 };
		if (term_count == 3)
			terms[2] = (struct hp_mux_term){ events[law->more], -1 };
		if (terms[0].event == HP_MUX_NO_EVENT || terms[1].event == HP_MUX_NO_EVENT ||
		    (term_count == 3 && terms[2].event == HP_MUX_NO_EVENT))
			continue;
		block->invariants[(*count)++] = (struct hp_mux_invariant){
			.text = law->text,
			.relation = law->relation,
			.terms = terms,
			.term_count = term_count,
		};
	}
	*invariants = block->invariants;
	return NULL;
}
