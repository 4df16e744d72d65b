/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One flow-consistent estimate of a whole procedure.
 *
 * The unknowns are logarithms: the frequency of each class of equally frequent blocks and edges,
 * and the ratio of the procedure's cycles to its best case (`stretch`). Each piece of knowledge is
 * a term: the logarithm of the likelihood of a sum of a few unknowns. It is normal, gamma for
 * counts, or that of samples drawn from an uncertain time. That inflow equals outflow is not a term
 * but a constraint, which holds exactly. The estimate is the maximum of the likelihood; the
 * curvature there gives its variance. src/infer/README has the formulas.
 */
#ifndef HPCPROF_ANALYZE_FLOW_H
#define HPCPROF_ANALYZE_FLOW_H

#include "passes.h"
#include "sparse.h"

#include <hpcprof/base/vector.h>

enum { TERM_UNKNOWNS = 3 };

enum term_kind {
	TERM_VALUE, /* the sum is normally distributed around `expected` */
	TERM_COUNT, /* the sum is the logarithm of a rate or a share; `expected`: that of what was counted */
	TERM_TIME, /* the sum is the logarithm of the samples that the block would get */
};

/* Whether there is evidence of executions. */
enum looked_at {
	LOOKED_NOT,
	LOOKED_NONE_SEEN,
	LOOKED_SEEN,
};

struct term {
	uint8_t kind;  /* enum term_kind */
	bool is_count; /* evidence of executions */
	uint8_t count;
	int unknowns[TERM_UNKNOWNS];
	double factors[TERM_UNKNOWNS]; /* 1 or -1 */
	double expected;	       /* TIME: added to the sum */
	double samples;		       /* TIME */
	double deviation;	       /* TIME: downwards, less time than thought */
	double upward;		       /* TIME: upwards, since stalls only add */
	double unseen;		       /* COUNT of nothing: what one would have counted; else 0 */
	double freedom;	 /* degrees of Student's distribution, for outliers; 0: normal */
	double spread;	 /* squared deviation in use, after reweighting of outliers */
	double distance; /* of the sum from `expected`, at the last evaluation */
	int slots[TERM_UNKNOWNS * (TERM_UNKNOWNS + 1) / 2];
};

/* The flows of `parts` add up to that of `whole`. */
struct balance {
	int whole;	/* unknowns */
	uint32_t first; /* into balance_parts */
	uint32_t count;
	int whole_slot;
	int own_slot;
};

/* Blocks that jump to the very same targets: flow_hubs.c. */
struct hub {
	int whole;	   /* unknown: the flow of all of them together */
	uint32_t *sources; /* blocks; the edges of the first stand for the arcs */
	uint32_t source_count;
};

struct flow {
	struct analyzer *analyzer;
	const struct hp_cfg *cfg;
	int *unknown_of; /* of a class; -1: it never runs; of a hub's edges the arc's */
	int *hub_of;	 /* of a node that jumps through one; -1: it does not */
	HP_VECTOR(struct hub) hubs;
	int *slack_of;		       /* of a node; -1: it has no slack arc */
	int stretch;		       /* unknown */
	int level_of[HP_SOURCE_COUNT]; /* unknown: what a source's counts are off by; -1: nothing.
					  They follow the stretch */
	int first_phase; /* unknown: what the first phase's are off by; then the others' */
	int last_shift;	 /* the last of these unknowns */
	int unknown_count;
	double *x;
	HP_VECTOR(struct term) terms;
	uint8_t *looked_at;  /* of unknowns: enum looked_at */
	double unseen_share; /* of one count, what anything may be that was not seen */
	HP_VECTOR(struct balance) balances;
	HP_VECTOR(int) balance_parts; /* unknowns */
	int *part_slots;
	int *ridge_slots; /* the unknowns' own */
	struct sparse *system;
	double *step;	    /* unknowns, then one multiplier a balance */
	double cost;	    /* of the terms, at the last system */
	double *slopes;	    /* of the terms, by each unknown */
	double look_effort; /* of all terms once: analysis->effort */
	bool is_absolute;
	bool has_counts; /* if only to each other */
	bool is_contradictory;
	bool trusts_counts; /* none of them is taken for an outlier yet */
	bool has_converged;
	unsigned iterations;
	/* flow_apart, instead of a solve */
	double *variances;	 /* of the unknowns, beside the level; else NULL */
	double level_deviation;	 /* of frequencies that were not counted */
	double shared_deviation; /* of those that were */
	bool *is_counted;	 /* which those are, by unknown */
};

/* Unknowns and balances of the graph, without what evidence says never runs. */
struct hp_error *flow_unknowns(struct flow *flow);
/* Hubs, and then numbers for their unknowns; `is_dead` of classes: never runs. */
bool flow_find_hubs(struct flow *flow, const bool *is_dead);
void flow_number_hubs(struct flow *flow, const bool *is_dead);
/* Terms of directions, time and evidence. */
struct hp_error *flow_terms(struct flow *flow, bool uses_time);
/* Sets start values of the unknowns at which every balance holds. */
struct hp_error *flow_begin(struct flow *flow);
/* Solves; if that would take too long, returns the result of flow_apart. */
struct hp_error *flow_solve(struct flow *flow);
/* Instead of a solution: estimates each class alone; flows do not balance. */
struct hp_error *flow_apart(struct flow *flow);
/* Whether the estimate is far from some counts: they contradict other evidence or the graph. */
bool flow_contradicts(const struct flow *flow);
void flow_clear(struct flow *flow);

/* Whether the evidence is of executions, not of directions. */
static inline bool flow_is_of_executions(const struct hp_evidence *one)
{
	return one->kind != HP_EVIDENCE_PROBABILITY && one->kind != HP_EVIDENCE_OUTCOMES;
}

/* Whether the unknown is no frequency, but a shift that is added to other logarithms. */
static inline bool flow_is_shift(const struct flow *flow, int unknown)
{
	return unknown >= flow->stretch && unknown <= flow->last_shift;
}

static inline int flow_block(const struct flow *flow, uint32_t node)
{
	return flow->unknown_of[flow->cfg->blocks[node].class];
}

static inline int flow_edge(const struct flow *flow, uint32_t edge)
{
	return flow->unknown_of[flow->cfg->edges[edge].class];
}

/* The hub that the edge goes through, or NULL. */
static inline const struct hub *flow_hub(const struct flow *flow, uint32_t edge)
{
	int hub = flow->hub_of[flow->cfg->edges[edge].from];

	return hub >= 0 ? &flow->hubs.at[hub] : NULL;
}

#endif
