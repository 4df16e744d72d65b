/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the samples of one procedure mean: how often its blocks and edges ran, what each
 * instruction cost beyond its best case, and why. DCPI section 6, rebuilt for cores that run out
 * of order.
 *
 * A pure function of a graph, its code, samples and other evidence; no file, database or output.
 * hp_analysis_create is the list of passes; each pass is a file of its own in src/analyze that
 * opens with what it requires and provides. Everything lives in the arena that was passed in.
 *
 * Units: cycles are core cycles. `cycles` of anything are those of the whole epoch, all executions
 * together; `per execution` says so in its name. Intervals are 90 % ones, ends included.
 *
 * Two scales. Relative frequencies are 1 for the procedure's hottest block, and time and flow give
 * them. Absolute ones, executions in the whole epoch, need evidence that counts: without it they
 * are NAN, and only an upper bound is known (nothing runs faster than its best case), see `scale`.
 */
#ifndef HPCPROF_ANALYZE_ANALYSIS_H
#define HPCPROF_ANALYZE_ANALYSIS_H

#include <hpcprof/analyze/schedule.h>
#include <hpcprof/cfg/cfg.h>

/* --- in --------------------------------------------------------------------------------------- */

/* Samples of the event that measures time, at one address. */
struct hp_sampled {
	hp_link_address address;
	double samples;
	double cycles; /* that they stand for */
};

/* What is known beside time, each kind one more weighted term of the estimate. */
enum hp_evidence_kind {
	HP_EVIDENCE_COUNT, /* executions of the block at `address`, in the whole epoch */
	HP_EVIDENCE_EDGE,  /* traversals of the edge from the block that ends with `address` to
			      the block at `to`, in the whole epoch */
	HP_EVIDENCE_PROBABILITY, /* that the conditional jump at `address` is taken */
	HP_EVIDENCE_RETIRED,	 /* instructions retired in the block at `address`, whole epoch */
	HP_EVIDENCE_OUTCOMES,	 /* that the jump through a table at `address` was seen to go to
				    `to`, of any part of its executions. The deviation is no
				    number's: what shares of them are off by however many they are,
				    as a logarithm */
};

/* Who says so. What one source counted may all be off together. */
enum hp_evidence_source {
	HP_SOURCE_GIVEN,     /* --evidence */
	HP_SOURCE_SHADOW,    /* shadow windows */
	HP_SOURCE_PROBES,    /* breakpoints */
	HP_SOURCE_REGISTERS, /* sampled with the time */
	HP_SOURCE_COUNTERS,  /* of hardware: instructions retired, branch records */
	HP_SOURCE_COUNT,
};

struct hp_evidence {
	uint8_t kind;	/* enum hp_evidence_kind */
	uint8_t source; /* enum hp_evidence_source */
	hp_link_address address;
	hp_link_address to;
	double value;
	double deviation; /* standard deviation of `value`, same unit; 0: exact */
};

enum hp_estimator {
	HP_ESTIMATOR_FLOW,    /* one flow-consistent estimate of the whole procedure */
	HP_ESTIMATOR_DCPI,    /* sections 6.1.3 and 6.1.4 as printed: right for in-order cores */
	HP_ESTIMATOR_CONTROL, /* graph and flow without any time: what the others must beat */
};

struct hp_analysis_options {
	const struct hp_core *core;
	enum hp_estimator estimator;
	unsigned skid_instructions; /* how much later than their cause samples land */
	bool frequencies_only;	    /* no culprits */
	bool is_clock_unknown;	    /* only shares of the samples' `cycles` mean anything */
};

struct hp_analysis_input {
	const struct hp_cfg *cfg;
	struct hp_image *image;		  /* that the code is read from */
	const struct hp_sampled *samples; /* by address; those outside the blocks are ignored */
	size_t sample_count;
	const struct hp_evidence *evidence; /* in any order */
	size_t evidence_count;
	/* By source: standard deviation of the logarithm of what everything that it counted in this
	 * procedure is off by together, on top of what each is by itself. 0: nothing. INFINITY:
	 * anything; its counts are counts to each other only. */
	double shared_deviation[HP_SOURCE_COUNT];
};

/* --- out -------------------------------------------------------------------------------------- */

enum hp_confidence {
	HP_CONFIDENCE_NONE, /* nothing is known: `relative` is NAN */
	HP_CONFIDENCE_LOW,
	HP_CONFIDENCE_MEDIUM, /* within 10 % more often than in two cases of three */
	HP_CONFIDENCE_HIGH,
};

struct hp_frequency {
	/* Of the hottest block's; never negative. The interval is what is known beside the scale
	 * of the procedure as a whole, the mean of its blocks by samples: of the hottest block too
	 * it has a width, since that may be the one that is off. */
	double relative;
	double relative_low;
	double relative_high;
	double executions; /* NAN unless the analysis is absolute */
	double executions_low;
	double executions_high;
	uint8_t relative_confidence; /* enum hp_confidence: of `relative` */
	uint8_t confidence; /* of `executions` in an absolute analysis, else of `relative` */
};

/* Why cycles were lost: the names of CLI.md's contract. What is known of the best case already goes
 * by the same names: a chain of divisions waits for the divider, statically; only what has no
 * better name is DEPENDENCY. And what the best case hides and the code did not, of a plain
 * instruction's latency, is DEPENDENCY too. */
enum hp_cause_kind {
	HP_CAUSE_ICACHE,
	HP_CAUSE_ITLB,
	HP_CAUSE_MISPREDICT,
	HP_CAUSE_DCACHE,
	HP_CAUSE_DTLB,
	HP_CAUSE_STORE_BUFFER,
	HP_CAUSE_STORE_FORWARD,
	HP_CAUSE_DIVIDER,
	HP_CAUSE_MULTIPLIER,
	HP_CAUSE_FP_LATENCY,
	HP_CAUSE_SYNC,
	HP_CAUSE_FETCH,
	HP_CAUSE_DYNAMIC_COUNT, /* those below are of the best case alone, or nearly */
	HP_CAUSE_ISSUE_WIDTH = HP_CAUSE_DYNAMIC_COUNT,
	HP_CAUSE_DEPENDENCY,
	HP_CAUSE_PORT,
	HP_CAUSE_UNEXPLAINED,
	HP_CAUSE_COUNT,
};

/* One suspect of the stall before one instruction. Ranges of different suspects may overlap: each
 * says what it explains when the others do not (low) and when they explain nothing (high). */
struct hp_cause {
	uint8_t kind;		 /* enum hp_cause_kind */
	bool has_culprit;	 /* `culprit` is the instruction that did it */
	hp_link_address culprit; /* may be in another block */
	double low;		 /* shares of the stalled instruction's cycles, 0 to 1 */
	double high;
	double likely; /* between the two: for ranking */
};

struct hp_range {
	double low;
	double high;
};

struct hp_analysed_insn {
	const struct hp_insn *insn;
	uint32_t block;
	double samples; /* as they were recorded at its address */
	double moved;	/* after moving them back by the skid */
	double cycles;	/* that `moved` stands for */
	/* One execution of it, in the block's schedule. */
	double best_case_cycles;
	double stall_cycles;  /* static, of these */
	uint32_t producer;    /* that it waits for, in `insns`; HP_SCHEDULE_NONE */
	uint32_t units;	      /* of the core, when it waits for a port */
	uint8_t static_stall; /* enum hp_stall */
	/* Cycles of `cycles` that it stalls, static stalls too, at every possible frequency. */
	struct hp_range stalled;
	uint32_t first_cause; /* in `causes`, the likeliest first */
	uint32_t cause_count;
};

struct hp_analysed_block {
	uint32_t first_insn; /* in `insns` */
	uint32_t insn_count;
	struct hp_frequency frequency;
	double samples; /* moved */
	double cycles;
	double best_case_cycles; /* of one execution, in its loop */
	/* Of one execution: cycles / executions. With relative frequencies alone only the lower end
	 * is known (scale.high), the upper is INFINITY and the estimate NAN. */
	double cycles_per_execution;
	double cycles_per_execution_low;
	double cycles_per_execution_high;
};

/* Where the cycles of a procedure, or of many, went: DCPI's figure 4. In cycles; sums of sheets are
 * sheets. Execution and the `likely` of all causes, less the gain, are `cycles`. A range is of the
 * line alone, each at the frequency that suits it, so that ends need not add up to anything; none
 * but that of execution is beyond `cycles`. Ranges are of the frequencies: chance in the samples,
 * which `sampling_error` tells, widens them further. */
struct hp_stall_sheet {
	double samples;	       /* that were analysed */
	double medium_samples; /* of these, whose relative frequency has at least medium confidence */
	double executions_medium_samples; /* likewise, whose executions have */
	double cycles;
	double counted_cycles; /* of these, in procedures whose executions were counted */
	double execution;      /* the best case without its stalls */
	struct hp_range execution_range;
	struct hp_range causes[HP_CAUSE_COUNT];
	double likely[HP_CAUSE_COUNT];
	double unexplained_gain; /* ran faster than the best case: tables or frequencies are off */
	struct hp_range gain_range;
	double sampling_error; /* standard deviation of `cycles` */
};

enum hp_analysis_problem {
	HP_PROBLEM_MISSING_EDGES = 1 << 0,
	HP_PROBLEM_UNDECODABLE = 1 << 1,
	HP_PROBLEM_NOT_CONVERGED = 1 << 2,
	HP_PROBLEM_FEW_SAMPLES = 1 << 3,
	HP_PROBLEM_GENERIC_CORE = 1 << 4,
	HP_PROBLEM_CONTRADICTION = 1 << 5, /* counts and the graph, or each other, do not agree */
	/* As often as was counted, code cannot run in so little time. */
	HP_PROBLEM_TOO_FAST = 1 << 8,
	/* Flows too many or too tangled to solve for: each class by its own time, out of balance.
	 */
	HP_PROBLEM_NOT_SOLVED = 1 << 7,
	/* What a unit of time is in cycles is not known. `cycles` are in proportion only, cycles
	 * per execution NAN, and there are neither causes nor a sheet beyond its samples. */
	HP_PROBLEM_NO_CLOCK = 1 << 6,
};

struct hp_analysis {
	const struct hp_cfg *cfg;
	const struct hp_core *core;
	struct hp_analysed_insn *insns; /* block by block, in their order */
	size_t insn_count;
	struct hp_analysed_block *blocks; /* cfg->block_count */
	struct hp_frequency *edges;	  /* cfg->edge_count */
	struct hp_frequency entry;	  /* of the procedure: calls of it */
	struct hp_cause *causes;
	size_t cause_count;
	struct hp_stall_sheet sheet;
	bool is_absolute;
	unsigned sources; /* whose evidence the estimate is of: one bit each, beside time */
	/* Executions for one of `relative`. Absolute: estimate and interval. Else `estimate` is
	 * NAN, `low` 0, and `high` what the best case allows. */
	double scale;
	double scale_low;
	double scale_high;
	unsigned iterations; /* of the solve */
	/* What it took: multiplications of the estimate, or what takes as long, and edges that were
	 * looked at for culprits. */
	double effort;
	unsigned problems; /* enum hp_analysis_problem */
};

/* INSUFFICIENT for a graph without code. Few samples are no error: confidence says it. */
struct hp_error *hp_analysis_create(const struct hp_analysis_input *input,
				    const struct hp_analysis_options *options,
				    struct hp_arena *arena, struct hp_analysis **created);

/* For showing: executions of which hp_interval_suffices says no become NAN, and with them cycles per
 * execution and the scale; where nothing is left, the analysis is not absolute. */
void hp_analysis_withhold(struct hp_analysis *analysis);

void hp_stall_sheet_add(struct hp_stall_sheet *into, const struct hp_stall_sheet *from);

const char *hp_cause_name(enum hp_cause_kind kind);	       /* "dcache", as in CLI.md */
const char *hp_confidence_name(enum hp_confidence confidence); /* "none", "low" … */

#endif
