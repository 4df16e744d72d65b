/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The meaning of one kind of core's counters for stalls: a table of events, formulas and
 * components. Constant data that does not depend on libpfm4 or on the kernel's knowledge of the
 * CPU.
 *
 * Events are encodings that `-e` understands ("r019c"), under the name that public lists give them;
 * scripts/stack-tables compares each with these lists. Formulas (src/stack/formula.h) name events,
 * terms before them, and constants: W (slots per cycle), refill (cycles from a redirected fetch to
 * dispatch), and the latencies in cycles: mispredict, l2, l3, memory, tlb, walk. Each gives cycles.
 *
 * Components are in the order of interval analysis (Eyerman et al. 2006, 2007): cycles lost before
 * dispatch come first, because they hide cycles that would be lost behind dispatch.
 */
#ifndef HPCPROF_STACK_TABLE_H
#define HPCPROF_STACK_TABLE_H

#include <hpcprof/model/cpu.h>

#include <stdbool.h>
#include <stddef.h>

enum hp_stack_component {
	HP_STACK_BASE,	     /* instructions completed, at the core's width */
	HP_STACK_MISPREDICT, /* wrong paths, and filling the pipeline again */
	HP_STACK_RESTART,    /* the same without a branch: machine clears */
	HP_STACK_ICACHE,
	HP_STACK_ITLB,
	HP_STACK_FETCH, /* fetch and decode: the rest of the front end */
	HP_STACK_L1,	/* loads that hit the first level */
	HP_STACK_L2,
	HP_STACK_L3,
	HP_STACK_MEMORY,
	HP_STACK_DCACHE, /* loads where the level is not counted */
	HP_STACK_DTLB,
	HP_STACK_STORE,
	HP_STACK_LONG, /* units of long latency: dividers, serializing instructions */
	HP_STACK_CORE, /* dependences and busy units: the rest of the back end */
	HP_STACK_SMT,  /* the other thread of the core had the slots */
	HP_STACK_OTHER,
	HP_STACK_COMPONENTS,
};
/* "branch-mispredict": a word of machine-readable output. Never NULL. */
const char *hp_stack_component_name(enum hp_stack_component component);
const char *hp_stack_component_word(enum hp_stack_component component); /* "mispredicts" */

enum hp_stack_accounting {
	HP_STACK_INTERVAL,    /* by slots at dispatch, the refill charged to the branch */
	HP_STACK_MULTI_STAGE, /* the same cycles, charged where they are seen last */
	HP_STACK_POWER5,      /* by cycles without completion: what the oldest instruction lacks */
	HP_STACK_NAIVE,	      /* events times latency */
	HP_STACK_ACCOUNTINGS,
};
const char *hp_stack_accounting_name(enum hp_stack_accounting accounting);
/* A sentence that says why its stack differs from that of HP_STACK_INTERVAL. */
const char *hp_stack_accounting_says(enum hp_stack_accounting accounting);

/* Events that formulas divide by each other have the same group. */
struct hp_stack_event {
	const char *symbol; /* in formulas */
	const char *encoding;
	const char *name; /* in public lists, in lower case */
	unsigned group;
	bool is_rare; /* a count of 0 is plausible; else it means a dead event */
};

struct hp_stack_term {
	const char *symbol;
	const char *formula;
	const char *metric; /* the vendor's name of its share of `whole`; NULL without */
};

/*
 * One component. `formulas` by accounting; NULL where the events say nothing. Those of
 * HP_STACK_INTERVAL add up to the cycles, with `other`. A component without that formula is a part
 * of the component `within`, of unknown size: its HP_STACK_MULTI_STAGE formula is an upper limit.
 */
struct hp_stack_row {
	enum hp_stack_component component;
	enum hp_stack_component within; /* HP_STACK_OTHER unless it is a part of another */
	const char *formulas[HP_STACK_ACCOUNTINGS];
	unsigned doubt;	      /* its range is widened by so many thousandths of the cycles */
	const char *overlaps; /* components that hide it, or that it hides */
	const char *source;
};

/* Cycles. */
struct hp_stack_latencies {
	double mispredict, l2, l3, memory, tlb, walk;
};

struct hp_stack_table {
	const char *name; /* "zen-4" */
	const char *title;
	const char *list; /* the folder of the kernel's event lists: "x86/amdzen4"; NULL: none */
	const char
		*sampled; /* the table for sampling, if these events only count; NULL: this one */
	const char *core; /* core of isa/machine with its latencies; NULL: `latencies` */
	struct hp_stack_latencies latencies;
	double width;
	double refill;
	const struct hp_stack_event *events; /* begin with cycles and instructions */
	size_t event_count;
	const struct hp_stack_term *terms;
	size_t term_count;
	const struct hp_stack_row *rows;
	size_t row_count;
	const char *whole;	 /* the term that metrics are shares of; NULL: the cycles */
	const char *const *sums; /* "a + b = c", "a <= b": they hold for counts; NULL ends */
};

/* By number from 0; NULL past the last. The last is the generic one. */
const struct hp_stack_table *hp_stack_table_at(size_t number);
const struct hp_stack_table *hp_stack_table_named(const char *name); /* NULL: none */
/* Never NULL: the generic table, which has cycles and instructions only, for other CPUs. */
const struct hp_stack_table *hp_stack_table_of(const struct hp_cpu *cpu);
/* The same for events that are sampled. */
const struct hp_stack_table *hp_stack_table_sampled(const struct hp_cpu *cpu);
bool hp_stack_table_is_generic(const struct hp_stack_table *table);
/* Whether a formula needs the table's event of this number, directly or through terms. */
bool hp_stack_formula_needs(const struct hp_stack_table *table, const char *formula, size_t event);

#endif
