/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The analysis of one procedure's samples: how often its blocks and edges were executed, what each
 * instruction cost beyond its best case, and why. DCPI section 6, redesigned for out-of-order
 * cores.
 *
 * A pure function of a graph, its code, samples and other evidence; it uses no file, database or
 * output. hp_analysis_create is the list of passes. Each pass is a file in src/analyze that begins
 * with what it requires and provides. Everything lives in the given arena.
 *
 * Units: cycles are core cycles. `cycles` are those of the whole epoch, over all executions; names
 * contain `per execution` otherwise. Intervals are 90 % intervals.
 *
 * There are two scales. Relative frequencies are 1 for the procedure's hottest block; time and flow
 * determine them. Absolute frequencies are executions in the whole epoch and need evidence that
 * counts. Without it they are NAN, and only an upper limit is known, because nothing runs faster
 * than its best case; see `scale`.
 */
#ifndef HPCPROF_ANALYZE_ANALYSIS_H
#define HPCPROF_ANALYZE_ANALYSIS_H

#include <hpcprof/analyze/range_sum.h>
#include <hpcprof/analyze/schedule.h>
#include <hpcprof/cfg/cfg.h>
#include <hpcprof/model/window.h>

/* --- in --------------------------------------------------------------------------------------- */

/* Samples of the event that measures time, at one address. */
struct hp_sampled {
	hp_link_address address;
	double samples;
	double cycles; /* that the samples stand for */
};

/* Evidence other than time; each kind is one more weighted term of the estimate. */
enum hp_evidence_kind {
	HP_EVIDENCE_COUNT, /* executions of the block at `address`, in the whole epoch */
	HP_EVIDENCE_EDGE,  /* traversals of the edge from the block that ends with `address` to
			      the block at `to`, in the whole epoch */
	HP_EVIDENCE_PROBABILITY, /* that the conditional jump at `address` is taken */
	HP_EVIDENCE_RETIRED,	 /* instructions retired in the block at `address`, whole epoch */
	/* how often the jump through a table at `address` was seen to go to `to`, in any part of
	 * its executions. The deviation is not that of `value`: it is the error of the shares,
	 * however many there are, as a logarithm */
	HP_EVIDENCE_OUTCOMES,
};

/* The source of evidence. The counts of one source may have a common error. */
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

/* What happened to one instruction where windows were simulated: events per execution. */
struct hp_happened {
	double runs; /* executions that were simulated, > 0 */
	double mean[HP_EVENT_KINDS];
	/* Lower and upper ends of 90 % intervals, by how windows differ, by chance, and by the time
	 * that no window speaks for. */
	double least[HP_EVENT_KINDS], most[HP_EVENT_KINDS];
	double apart; /* share of the executions that `most` holds anything for */
	/* HP_LANES core cycles that a model of the core spent in all these runs; NULL: it was not
	 * timed. Of the instruction, and of what was translated as one block and begins with it: up
	 * to the next branch. Borrowed from who tells. */
	const double *cycles;
	const double *block_cycles;
	const double *resized_cycles; /* of the block, on a core with other sizes */
	/* The distance in bytes between successive accesses that is most frequent;
	 * mean[HP_EVENT_STRIDE] is the share of executions with it. Then the distinct lines and
	 * pages per window; 0: unknown. */
	int64_t stride;
	double lines, pages;
};

/* Misses of the second cache per execution, with those that are likely. */
static inline double hp_happened_l2_misses(const struct hp_happened *happened)
{
	return happened->mean[HP_EVENT_L2_MISS] + happened->mean[HP_EVENT_L2_LIKELY_MISS];
}

/* Page walks per execution, with those that are likely. */
static inline double hp_happened_walks(const struct hp_happened *happened)
{
	return happened->mean[HP_EVENT_TLB2_MISS] + happened->mean[HP_EVENT_TLB2_LIKELY_MISS];
}

enum hp_estimator {
	HP_ESTIMATOR_FLOW,    /* one flow-consistent estimate of the whole procedure */
	HP_ESTIMATOR_DCPI,    /* sections 6.1.3 and 6.1.4 as printed: correct for in-order cores */
	HP_ESTIMATOR_CONTROL, /* graph and flow without time: the baseline for the others */
};

struct hp_analysis_options {
	const struct hp_core *core;
	enum hp_estimator estimator;
	unsigned skid_instructions; /* skid of the samples */
	bool frequencies_only;	    /* no culprits */
	bool is_clock_unknown;	    /* only the ratios of the samples' `cycles` are valid */
	struct hp_schedules
		*schedules; /* of earlier procedures (schedule.h); NULL: none are kept */
};

struct hp_analysis_input {
	const struct hp_cfg *cfg;
	struct hp_image *image;		  /* that the code is read from */
	const struct hp_sampled *samples; /* by address; those outside the blocks are ignored */
	size_t sample_count;
	const struct hp_evidence *evidence; /* in any order */
	size_t evidence_count;
	/* By source: the standard deviation of the logarithm of the common error of its counts in
	 * this procedure, in addition to the error of each. 0: none. INFINITY: unknown, so that its
	 * counts are relative only. */
	double shared_deviation[HP_SOURCE_COUNT];
	/* Phases are loops of the procedure that ran at different times. By block: the number of
	 * its phase, from 1; 0: none. NULL: no phases are told apart. */
	const uint16_t *phase_of;
	/* By phase, from the first: the common error of all counts of the phase, in addition to
	 * that of their source. 0: nothing of it was counted. */
	const double *phase_deviation;
	size_t phase_count;
	/* By block: it ran while nobody counted, although others were counted. What is known of
	 * these, their pace and how often loops go round, is not known of it. NULL: none. */
	const bool *missed;
	/* By cause: the most cycles of the whole epoch that it can have taken in this procedure, as
	 * counters say; INFINITY: not known. NULL: they say nothing. */
	const double *most_cycles;
	/* Returns what happened to the instruction; false if it was not simulated. NULL: nothing
	 * was simulated. */
	bool (*happened)(const void *context, hp_link_address address,
			 struct hp_happened *happened);
	const void *happened_context;
	/* The share of the procedure's time, at least, that is in other moments than windows saw: so
	 * much more of the time than of theirs is in it. Nothing is known of what happened then. */
	double apart;
};

/* --- out -------------------------------------------------------------------------------------- */

enum hp_confidence {
	HP_CONFIDENCE_NONE, /* nothing is known: `relative` is NAN */
	HP_CONFIDENCE_LOW,
	HP_CONFIDENCE_MEDIUM, /* the error is below 10 % in more than two of three cases */
	HP_CONFIDENCE_HIGH,   /* … in 95 of 100 cases */
};

struct hp_frequency {
	/* Relative to the hottest block; never negative. The interval excludes the uncertainty of
	 * the procedure's scale, which is the mean of its blocks weighted by samples. The hottest
	 * block has an interval too, because it may itself be uncertain. */
	double relative;
	double relative_low;
	double relative_high;
	double executions; /* NAN unless the analysis is absolute */
	double executions_low;
	double executions_high;
	uint8_t relative_confidence; /* enum hp_confidence: of `relative` */
	uint8_t confidence; /* of `executions` in an absolute analysis, else of `relative` */
};

/* Why cycles were lost; hp_cause_name has the names. Stalls of the best case have the same
 * names: a chain of divisions waits for the divider, statically. DEPENDENCY is for what has no
 * better name. Latency of a plain instruction that the best case hides but the code does not is
 * DEPENDENCY, too. */
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
	HP_CAUSE_DYNAMIC_COUNT, /* the following are of the best case only, or nearly */
	HP_CAUSE_ISSUE_WIDTH = HP_CAUSE_DYNAMIC_COUNT,
	HP_CAUSE_DEPENDENCY,
	HP_CAUSE_PORT,
	HP_CAUSE_UNEXPLAINED,
	HP_CAUSE_COUNT,
};

/* One possible cause of the stall before one instruction. Ranges of different causes may overlap:
 * `low` is what the cause explains if the others explain as much as they can, `high` if they
 * explain nothing. */
struct hp_cause {
	uint8_t kind;		 /* enum hp_cause_kind */
	bool has_culprit;	 /* `culprit` is the responsible instruction */
	hp_link_address culprit; /* may be in another block */
	double low;		 /* shares of the stalled instruction's cycles, 0 to 1 */
	double high;
	double likely; /* between the two: for ranking */
};

/* Causes that one access to data, or one fetch of code, may have at the same time. How much of a
 * wait each took is often known less well than what they took together. */
enum hp_cause_family {
	HP_FAMILY_DATA, /* data cache, data TLB, store buffer */
	HP_FAMILY_CODE, /* instruction cache, instruction TLB, fetch */
	HP_FAMILY_COUNT,
};

/* Several causes of the stall before one instruction, taken together. */
struct hp_joint_cause {
	uint32_t kinds;		 /* two or more: a bit each, 1 << enum hp_cause_kind */
	bool has_culprit;	 /* `culprit` is that of the likeliest of them */
	hp_link_address culprit; /* may be in another block */
	double low;		 /* shares of the stalled instruction's cycles, 0 to 1 */
	double high;
	double likely; /* the sum over the causes; between the two */
};

struct hp_analysed_insn {
	const struct hp_insn *insn;
	uint32_t block;
	double samples; /* as recorded at its address */
	double moved;	/* after moving them back by the skid */
	double cycles;	/* cycles of `moved` */
	/* Per execution, in the block's schedule. */
	double best_case_cycles;
	double stall_cycles;  /* static, of these */
	uint32_t producer;    /* the instruction that it waits for, in `insns`; HP_SCHEDULE_NONE */
	uint32_t units;	      /* of the core, when it waits for a port */
	uint8_t static_stall; /* enum hp_stall */
	/* The part of `cycles` in which it stalls, static stalls included, over all possible
	 * frequencies. */
	struct hp_range stalled;
	/* What happened to it where windows were simulated; NULL: it was not. */
	const struct hp_happened *happened;
	uint32_t first_cause; /* in `causes`, the likeliest first */
	uint32_t cause_count;
	/* The likeliest family whose range is narrower than that of its likeliest cause; NULL: there is
	 * none. */
	const struct hp_joint_cause *joint;
};

struct hp_analysed_block {
	uint32_t first_insn; /* in `insns` */
	uint32_t insn_count;
	struct hp_frequency frequency;
	double samples; /* moved */
	double cycles;
	double best_case_cycles; /* of one execution, in its loop */
	/* Cycles of one execution: cycles / executions. With relative frequencies only the lower
	 * end is known (scale.high), the upper is INFINITY and the estimate NAN. */
	double cycles_per_execution;
	double cycles_per_execution_low;
	double cycles_per_execution_high;
};

/* Of the blocks whose runs were timed by a model of the core: cycles on a core of each lane, and
 * what else there is to compare these with. Of all executions; unless the analysis is absolute,
 * only ratios among what is not `measured` mean anything. */
struct hp_prediction {
	double predicted[HP_LANES];
	bool has_resized;
	double resized
		[HP_LANES]; /* on the core with other sizes; what was not timed on it as it is */
	double low, high;   /* of the first lane, at either end of the executions' intervals */
	double instructions;
	double best_case;
	double far_lines; /* accesses that the second cache misses, or may */
	double measured;
	double apart; /* cycles of `measured`, at least, in other moments than windows saw */
	/* Share by which predictions of parts of windows are off; 0: not known. */
	double error;
	/* Cycles by which a fitted factor makes the core without events slower than its table does. Any of
	 * the components of that core may have them. */
	double stretched;
	/* What a cause can have taken at most: its events, at the upper end, times the largest cost of
	 * one; INFINITY: its events are not counted. DCACHE is what the second level serves; what is
	 * behind it is apart. */
	double most[HP_CAUSE_COUNT];
	double most_far;
	/* The same of instructions that had no such event while they were simulated. As none of them had,
	 * all together can have had no more than one of them alone: this is the most that one can have
	 * taken, and comes on top of the above. */
	double unseen[HP_CAUSE_COUNT];
	double unseen_far;
};

/* The most that events of a cause, and misses behind the second-level cache, can have taken in all. */
double hp_prediction_most(const struct hp_prediction *prediction, enum hp_cause_kind kind);
double hp_prediction_most_far(const struct hp_prediction *prediction);

/* How the cycles of a procedure, or of many, were spent: DCPI's figure 4. In cycles; sheets add up.
 * Execution and the `likely` of all causes, less the gain, are `cycles`. Each range is for its line
 * alone, at the most favourable frequency, so the ends need not add up; only that of execution can
 * exceed `cycles`. Ranges cover the frequencies. The sampling error, in `sampling_error`, widens
 * them further. */
struct hp_stall_sheet {
	double samples;	       /* analysed samples */
	double medium_samples; /* those whose relative frequency has at least medium confidence */
	double executions_medium_samples; /* those whose executions have */
	double cycles;
	double counted_cycles; /* those in procedures whose executions were counted */
	double execution;      /* the best case without its stalls */
	struct hp_range execution_range;
	struct hp_range causes[HP_CAUSE_COUNT];
	double likely[HP_CAUSE_COUNT];
	struct hp_range families[HP_FAMILY_COUNT]; /* what hp_summed_kinds took together */
	/* What the events of a cause in these procedures can have taken at most, wherever they show;
	 * INFINITY: they are not counted. `unseen` is as in struct hp_prediction. */
	double most[HP_CAUSE_DYNAMIC_COUNT], unseen[HP_CAUSE_DYNAMIC_COUNT];
	/* Faster than the best case, beyond what may have been executed while loads waited: tables or
	 * frequencies are wrong. The other part of the gain is off `likely` and `low` of what hp_summed_kinds
	 * has of HP_FAMILY_DATA. */
	double unexplained_gain;
	struct hp_range gain_range; /* its high end has all of the gain */
	double sampling_error; /* standard deviation of `cycles` */
	/* Of a sum of sheets: the ranges of causes and families, whose ends do not happen all at once. */
	struct hp_range_sum cause_sums[HP_CAUSE_COUNT], family_sums[HP_FAMILY_COUNT];
};

enum hp_analysis_problem {
	HP_PROBLEM_MISSING_EDGES = 1 << 0,
	HP_PROBLEM_UNDECODABLE = 1 << 1,
	HP_PROBLEM_NOT_CONVERGED = 1 << 2,
	HP_PROBLEM_FEW_SAMPLES = 1 << 3,
	HP_PROBLEM_GENERIC_CORE = 1 << 4,
	HP_PROBLEM_CONTRADICTION = 1 << 5, /* counts contradict the graph or each other */
	/* The code cannot have been executed as often as was counted, in so little time. */
	HP_PROBLEM_TOO_FAST = 1 << 8,
	/* Too many or too irregular flows to solve: each class is estimated from its own time, so
	 * flows do not balance. */
	HP_PROBLEM_NOT_SOLVED = 1 << 7,
	/* The clock is unknown. `cycles` are proportional only, cycles per execution NAN, and there
	 * are neither causes nor a sheet beyond its samples. */
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
	struct hp_prediction prediction; /* `measured` is 0 where nothing was timed */
	/* Per loop of the graph, inner loops included; NULL if nothing of the procedure was
	 * timed. */
	struct hp_prediction *loop_predictions;
	bool is_absolute;
	unsigned sources; /* the sources used, one bit each, in addition to time */
	/* Executions per `relative`. Absolute: estimate and interval. Otherwise `estimate` is NAN,
	 * `low` 0, and `high` the limit by the best case. */
	double scale;
	double scale_low;
	double scale_high;
	unsigned iterations; /* of the solve */
	/* The work done: multiplications of the estimate, or equivalent work, and edges examined
	 * for culprits. */
	double effort;
	unsigned problems; /* enum hp_analysis_problem */
};

/* INSUFFICIENT for a graph without code. Too few samples are not an error; the confidence is then
 * low. */
struct hp_error *hp_analysis_create(const struct hp_analysis_input *input,
				    const struct hp_analysis_options *options,
				    struct hp_arena *arena, struct hp_analysis **created);

/* For views: sets executions to NAN for which hp_interval_suffices is false, and with them cycles
 * per execution and the scale. If none remains, the analysis is not absolute. */
void hp_analysis_withhold(struct hp_analysis *analysis);

/* `unknown`: cycles of `from` in moments, or code, of which it is not known what happened. */
void hp_stall_sheet_add(struct hp_stall_sheet *into, const struct hp_stall_sheet *from,
			double unknown);
/* Ends a sum, that of a whole program: limits causes to what all procedures together are off by, and to their
 * events. Of a part of a program these may show elsewhere. */
void hp_stall_sheet_limit(struct hp_stall_sheet *sheet);

const char *hp_cause_name(enum hp_cause_kind kind);    /* "dcache", as in JSON */
uint32_t hp_family_kinds(enum hp_cause_family family); /* a bit each, 1 << enum hp_cause_kind */
/* Those of a family that are added up over many instructions. A full store buffer is not, as it waits for
 * other accesses than those that miss. */
uint32_t hp_summed_kinds(enum hp_cause_family family);
const char *hp_confidence_name(enum hp_confidence confidence); /* "none", "low" … */

#endif
