/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The analysis of the code that a row stands for: made when a view first asks, then kept. */
#ifndef REPORT_ANALYSE_H
#define REPORT_ANALYSE_H

#include "model.h"

#include <hpcprof/analyze/analysis.h>

/*
 * Out: the analysis, owned by the report, or NULL for code that cannot be analysed: without a file,
 * a graph, or an event that measures time. Why not is then in `code->refusal`.
 */
struct hp_error *analyse_code(struct report *report, struct row_code *code,
			      const struct hp_analysis **analysis);

/* The graph of the code, owned by the report, or NULL where there can be none. */
struct hp_error *analyse_graph(struct report *report, struct row_code *code,
			       const struct hp_cfg **cfg);

/* The same as analyse_code of a row that stands for one procedure; NULL
 * for others. */
struct hp_error *analyse_row(struct report *report, const struct row *row,
			     const struct hp_analysis **analysis);

/* The instruction that starts at the address, or NULL; so without an analysis. */
const struct hp_analysed_insn *analyse_insn(const struct hp_analysis *analysis, uint64_t address);

/* How often the loop's header runs each time the loop is entered; of the edge's block how often it
 * goes this way, 0 to 1. NAN of what never ran, or where hp_interval_suffices does not. */
double loop_trips(const struct hp_analysis *analysis, uint32_t loop);
double edge_probability(const struct hp_analysis *analysis, uint32_t edge);

/* The event that measures time: in cycles, else in nanoseconds; events.count when there is none. */
size_t analyse_event(const struct report *report);

/* Core cycles that one unit of that event is, in the mean of all its samples; 0 when the clock of
 * any of them is not known. */
double analyse_cycles_per_unit(const struct report *report);

/* Whose tables best cases come from: epochs of different CPUs have no one core. */
const struct hp_core *analyse_core(const struct report *report);

/* Warns of epochs that differ in what the analysis takes from them: CPU, skid, or a clock at all.
 */
void analyse_check_epochs(const struct report *report);

/* The part's first sampled place at or after the address. */
size_t analyse_first_located(const struct report_part *part, uint64_t address);

/* Reads what --evidence names, for the images that have been loaded. */
struct hp_error *evidence_load(struct report *report);
/* What there is between the graph's first block and its last, by address. */
const struct hp_evidence *evidence_of(const struct report_image *image, const struct hp_cfg *cfg,
				      size_t *count);

#endif
