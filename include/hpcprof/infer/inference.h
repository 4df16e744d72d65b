/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What loaded profiles mean: evidence of every kind (windows, registers, branch records, sampled
 * instructions, breakpoints, exact counts) turned into weighted terms, and the analysis of the code
 * that rows stand for, made when a view first asks and then kept. src/infer/README has the
 * mathematics.
 *
 *	hp_profiles_open ... hp_inference_create	reads what windows counted
 *	hp_profiles_load ... hp_inference_weigh		weighs windows by the samples of time
 */
#ifndef HPCPROF_INFER_INFERENCE_H
#define HPCPROF_INFER_INFERENCE_H

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/model/evidence.h>
#include <hpcprof/profile/rows.h>

struct hp_inference_options {
	enum hp_estimator estimator; /* of frequencies */
	const char *exact_counts;    /* counts:FILE: exact executions of blocks; NULL: none */
};

/*
 * What shadow windows counted, in all epochs, and what one count stands for.
 *
 * Each command of each recording ran for some time, of which its windows cover a share: one count
 * stands for one over that share. Without a time to be a share of, with one window alone or as good
 * as one (hp_grouped_ratio), with most windows truncated, or behind a filter that windows know
 * nothing of, counts are counts to each other only.
 */
struct hp_windows {
	struct hp_window_evidence sum;
	double *scales;	  /* of each stratum: executions that one count stands for; 0: not known */
	bool is_absolute; /* for some stratum it is known */
	struct hp_grouped time; /* that the counted stand for, ns: adds up to all of it */
	/* Estimates by windows are made of these and what groups counted: see balance.h. */
	double values[HP_EVIDENCE_WINDOWS][HP_EVIDENCE_GROUPS];
	double counted_ns; /* that windows cover */
	double count;	   /* of those that count absolutely and pass --comm */
	/* User time of commands with windows that the windows' strata tell of, see covered_ns of the
	 * profiles. A recording that never meant to count anything tells of none. */
	double told_ns;
	double passing_ns;	  /* of the latter, what passes --comm */
	double young;		  /* what counts are off by, processes having just begun */
	double without;		  /* of a command's time the share without windows: the greatest */
	double truncated;	  /* share of the windows that only count relatively */
	const char *why_relative; /* why nothing absolute comes of them, or NULL */
};

struct inferred_image;

struct hp_inference {
	struct hp_profiles *profiles;		    /* borrowed */
	const struct hp_inference_options *options; /* borrowed */
	struct hp_windows windows;
	struct inferred_image *images; /* by their numbers, once weighed */
};

/* requires: hp_profiles_open, and not yet hp_profiles_load. Reads what windows counted; damage is a
 * warning. Outlived by the profiles and the options. */
struct hp_error *hp_inference_create(struct hp_profiles *profiles,
				     const struct hp_inference_options *options,
				     struct hp_inference **inference);
void hp_inference_destroy(struct hp_inference *inference);
HP_DEFINE_CLEANUP(struct hp_inference, hp_inference_destroy);
/* requires: hp_profiles_load. Weighs the windows, and reads the exact counts. */
struct hp_error *hp_inference_weigh(struct hp_inference *inference);

/* There are counts, if only to each other. */
bool hp_windows_exist(const struct hp_inference *inference);
/* Somebody wanted some. */
bool hp_windows_tried(const struct hp_inference *inference);
/* Counts of all groups of the items of that kind; 0: of any. */
uint64_t hp_sum_of_items(const struct hp_counted *items, size_t count, uint8_t kind);

/*
 * Out: the analysis, owned by the profiles, or NULL for code that cannot be analysed: without a file,
 * a graph, or an event that measures time. Why not is then in `code->refusal`.
 */
struct hp_error *hp_inference_analyse(struct hp_inference *inference, struct hp_row_code *code,
				      const struct hp_analysis **analysis);

/* The graph of the code, owned by the profiles, or NULL where there can be none. */
struct hp_error *hp_inference_graph(struct hp_inference *inference, struct hp_row_code *code,
				    const struct hp_cfg **cfg);

/* The same as hp_inference_analyse of a row that stands for one procedure; NULL for
 * others. */
struct hp_error *hp_inference_row(struct hp_inference *inference, const struct hp_row *row,
				  const struct hp_analysis **analysis);

/* The instruction that starts at the address, or NULL; so without an analysis. */
const struct hp_analysed_insn *hp_analysis_insn(const struct hp_analysis *analysis,
						uint64_t address);

/* How often the loop's header runs each time the loop is entered; of the edge's block how often it
 * goes this way, 0 to 1. NAN of what never ran, or where hp_interval_suffices does not. */
double hp_loop_trips(const struct hp_analysis *analysis, uint32_t loop);
double hp_edge_probability(const struct hp_analysis *analysis, uint32_t edge);

/* Of the rows of procedures, `counts`: what windows counted, else what sampled instructions tell.
 * requires: files open, code of rows known. */
struct hp_error *hp_inference_fill_rows(struct hp_inference *inference);

/* Of each block the cycles of one execution, the mean of those that were all that ran between two
 * taken branches; NAN when none were, or hardware does not say. Lives in the arena. */
struct hp_error *hp_recorded_cycles(const struct hp_inference *inference,
				    const struct hp_loaded_part *part, const struct hp_cfg *cfg,
				    struct hp_arena *arena, double **cycles);

#endif
