/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inference from loaded profiles. It converts evidence of every kind (windows, registers, branch
 * records, sampled instructions, breakpoints, exact counts) into weighted terms, and analyses the
 * code of rows when a view first asks for it. src/infer/README has the mathematics.
 *
 *	hp_profiles_open ... hp_inference_create	reads the counts of windows
 *	hp_profiles_load ... hp_inference_prepare	reads exact counts
 *	hp_profiles_attribute ... the rest		weighs windows by the samples of time, when asked
 */
#ifndef HPCPROF_INFER_INFERENCE_H
#define HPCPROF_INFER_INFERENCE_H

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/infer/stalled.h>
#include <hpcprof/model/evidence.h>
#include <hpcprof/profile/rows.h>

struct hp_inference_options {
	enum hp_estimator estimator; /* of frequencies */
	const char *exact_counts;    /* counts:FILE: exact executions of blocks; NULL: none */
	bool frequencies_only;	     /* analyses have no causes of stalls */
	uint64_t resizes; /* cycles of which core with other sizes are wanted (uarch/resize.h) */
};

/* The number of sets of procedures for cross-validation: each set is judged by weights of
 * windows that were computed without it. Fewer sets leave too little data for the weights; each
 * set costs one more solution. [chosen] */
enum { HP_BALANCE_FOLDS = 8 };

/* The distribution, over the procedures of all images, of the instructions that they execute in
 * the same time (infer/throughput.h). */
struct hp_throughput {
	double log;	  /* mean of the logarithm of instructions in the whole time */
	double deviation; /* of that logarithm, per procedure; INFINITY: nothing is known */
	double ticks;	  /* samples in windows that the estimate is based on */
};

/*
 * The counts of shadow windows in all epochs, and what one count stands for.
 *
 * The windows of a command of a recording cover a share of its running time, so one count stands
 * for the inverse of that share. If there is only one window or effectively one (hp_grouped_ratio),
 * or if too many are truncated, executions are estimated from time, by the samples within windows.
 * Counts are relative only without such samples, if the running time is unknown, or if a filter
 * selects something that windows do not distinguish.
 */
struct hp_windows {
	struct hp_window_evidence sum;
	double *scales;	  /* of each stratum: executions per count; 0: unknown */
	bool is_absolute; /* some scale is known */
	/* There is only one window, or too many were truncated: absolute numbers of executions
	 * are estimated from time alone (infer/throughput.h), and truncated windows count like
	 * others. */
	bool is_by_time;
	uint64_t truncated_windows;
	struct hp_grouped time; /* ns that the counts stand for; the sum is the whole time */
	double seen;		/* the share of this time that was in windows */
	/* Estimates by windows are computed from these and the counts of groups: see balance.h. */
	double values[HP_EVIDENCE_WINDOWS][HP_EVIDENCE_GROUPS];
	/* For each fold, the weights of groups that were computed without its procedures. The
	 * weight multiplied by the executions per count is the share of all time that one tick
	 * stands for. */
	double apart[HP_BALANCE_FOLDS][HP_EVIDENCE_GROUPS];
	/* By stratum and group: infer/event_weights.h. NULL until some event is asked for. */
	double (*event_weights)[HP_EVIDENCE_GROUPS];
	double count; /* number of absolute windows that pass --comm */
	/* The variance of the logarithm of a procedure's real executions over those that windows
	 * suggest (infer/moved.h), estimated from the procedures of all images. */
	double moved;
	struct hp_throughput throughput;
	/* User time of commands with windows, in the windows' strata; see covered_ns of the
	 * profiles. A recording without --shadow contributes none. */
	double told_ns;
	double passing_ns; /* the part that passes --comm */
	/* A relative standard deviation of all counts. The first moments of a process are seldom in
	 * a window, and may run other code. `young` is the share of running time within these
	 * moments, of the command where it is largest, times `youth_deviation`. */
	double young;
	/* The share of a command's time without absolute counts, of the command where it is
	 * largest. Only commands with a share of at most `most_without` count; the others have no
	 * scale. The scales assume that a command ran the same code in that time. */
	double without;
	double truncated;	  /* share of relative windows */
	const char *why_relative; /* why no scale is known, or NULL */
};

struct inferred_image;

struct hp_inference {
	struct hp_profiles *profiles;		    /* borrowed */
	const struct hp_inference_options *options; /* borrowed */
	struct hp_windows windows;
	/* The core of the profiles, with the latencies that windows were simulated with. */
	struct hp_core core;
	struct inferred_image *images;	  /* by index */
	bool has_counts;		  /* counts of all images are made */
	struct hp_arena *arena;		  /* of graphs and analyses. Borrowed */
	const struct hp_stalled *stalled; /* bounds causes; NULL: no events of stalls. Borrowed */
	struct hp_schedules *schedules;	  /* of all code, made when it is analysed */
};

/* requires: hp_profiles_open, before hp_profiles_load. Reads the counts of windows; damage is a
 * warning. The profiles and the options must outlive it. */
struct hp_error *hp_inference_create(struct hp_profiles *profiles,
				     const struct hp_inference_options *options,
				     struct hp_inference **inference);
void hp_inference_destroy(struct hp_inference *inference);
HP_DEFINE_CLEANUP(struct hp_inference, hp_inference_destroy);
/* requires: hp_profiles_load. Reads the exact counts. */
struct hp_error *hp_inference_prepare(struct hp_inference *inference);

/* Whether there are counts, possibly only relative ones. */
bool hp_windows_exist(const struct hp_inference *inference);
/* Whether a recording had --shadow. */
bool hp_windows_tried(const struct hp_inference *inference);
/* The sum of the counts of all items of a kind, over all groups. `kind` 0: items of all kinds. */
uint64_t hp_sum_of_items(const struct hp_counted *items, size_t count, uint8_t kind);

/* Graphs and analyses made after this call live in `arena`. It must live longer than their
 * users, or hp_inference_forget must be called first. NULL, the initial value: they live as long
 * as the profiles. */
void hp_inference_make_in(struct hp_inference *inference, struct hp_arena *arena);
/* Forgets the graph and the analysis of the code. The next request makes them again. */
void hp_inference_forget(struct hp_row_code *code);

/*
 * Out: the analysis, owned by the profiles, or NULL for code that cannot be analysed: without a
 * file, a graph, or an event that measures time. `code->refusal` then has the reason.
 */
struct hp_error *hp_inference_analyse(struct hp_inference *inference, struct hp_row_code *code,
				      const struct hp_analysis **analysis);

/* The graph of the code, owned by the profiles, or NULL if there is none. */
struct hp_error *hp_inference_graph(struct hp_inference *inference, struct hp_row_code *code,
				    const struct hp_cfg **cfg);

/* The same as hp_inference_analyse of a row that stands for one procedure; NULL for
 * others. */
struct hp_error *hp_inference_row(struct hp_inference *inference, const struct hp_row *row,
				  const struct hp_analysis **analysis);

/* The instruction that starts at the address, or NULL; also NULL without an analysis. */
const struct hp_analysed_insn *hp_analysis_insn(const struct hp_analysis *analysis,
						uint64_t address);

/* hp_loop_trips: the iterations per entry of the loop. hp_edge_probability: the share of its
 * block's executions that take the edge, 0 to 1. Both: NAN for code that was not executed, or if
 * hp_interval_suffices is false. */
double hp_loop_trips(const struct hp_analysis *analysis, uint32_t loop);
double hp_edge_probability(const struct hp_analysis *analysis, uint32_t edge);

/* Fills `counts` of the rows of procedures from windows, or else from sampled instructions.
 * requires: files open, code of rows known. */
struct hp_error *hp_inference_fill_rows(struct hp_inference *inference);

/* For each block, the mean cycles of one execution. Only executions that fill the whole stretch
 * between two taken branches count; NAN without any, or if the hardware does not record cycles.
 * The result lives in the arena. */
struct hp_error *hp_recorded_cycles(const struct hp_inference *inference,
				    const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				    struct hp_arena *arena, double **cycles);

#endif
