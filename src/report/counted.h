/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shadow windows counted in one image, by link-time address: how often each instruction ran,
 * and which way branches, calls and jumps went. In estimates of the whole recording: counts by
 * group, each times what one count stands for.
 */
#ifndef REPORT_COUNTED_H
#define REPORT_COUNTED_H

#include "model.h"

struct counted_block {
	uint64_t address;
	uint32_t bytes;
	uint32_t instructions;
	struct hp_grouped runs;
};

struct counted_edge {
	uint64_t from;
	uint8_t kind;	   /* enum hp_counted_kind, but for BLOCK */
	bool is_inside;	   /* `to` is in the same image, and a link-time address */
	uint32_t to_image; /* of the windows' images */
	uint64_t to;	   /* else an image offset */
	struct hp_grouped runs;
};

/* Samples of time within windows, at an instruction. */
struct counted_tick {
	uint64_t address;
	double count;
};

struct counted_procedure {
	const struct hp_procedure *owner;
	struct hp_grouped instructions; /* that ran in all its parts */
};

struct counted_clock;

struct counted {
	/* False: counts to each other only, and `why` not. */
	bool is_absolute;
	const char *why_relative;
	/* What all of it may be off by, as a logarithm, beside what windows vary by. */
	double deviation;
	uint32_t longest;			/* block, bytes */
	HP_VECTOR(struct counted_block) blocks; /* by address */
	HP_VECTOR(struct counted_edge) edges;	/* by `from`, kind, `to`; distinct */
	uint32_t *by_target;			/* edges that stay inside, by `to` */
	size_t target_count;
	HP_VECTOR(struct counted_procedure) procedures; /* by their owners' addresses */
	bool has_procedures;
	double one;				/* what one count stands for, at most */
	struct hp_image *file;			/* the part's */
	HP_VECTOR(struct counted_clock) clocks; /* see counted_clock.h; by address, distinct */
	HP_VECTOR(struct counted_tick) ticks;	/* by address */
	double ticks_per_sample;		/* of all the samples of time, how many they are */
};

/* Counts of the part's image; NULL when windows counted nothing there. The report's. */
struct hp_error *counted_of(struct report *report, const struct report_part *part,
			    const struct counted **counted);
void counted_destroy(struct counted *counted);

/* Recordings may have been added that never meant to count: the share of the time that is told of. */
double counted_told_share(const struct report *report);

/* How often the instruction at the address ran. */
struct hp_grouped counted_runs(const struct counted *counted, uint64_t address);
/* Whether any window saw it run. */
bool counted_saw(const struct counted *counted, uint64_t address);
/* The edges from the branch at the address: the first, and how many. */
const struct counted_edge *counted_edges_from(const struct counted *counted, uint64_t from,
					      size_t *count);
/* How often the procedure part [start, end) was entered at its beginning, by calls, its own too,
 * and by jumps out of other code. */
struct hp_grouped counted_calls(const struct counted *counted, uint64_t start, uint64_t end);

void grouped_add(struct hp_grouped *into, const struct hp_grouped *from);

/* Of a sum of counts of the procedure at the address; NAN where hp_interval_suffices does not. */
struct counted_figure counted_figure(const struct report *report, const struct counted *counted,
				     uint64_t address, const struct hp_grouped *runs);

/* Of the rows of procedures, `counts`. requires: files open, code of rows known. */
struct hp_error *counted_fill_rows(struct report *report);
/* All procedures of the part's image in which anything was counted. */
struct hp_error *counted_procedures(const struct report_part *part, struct counted *counted);

/* --- for the analysis of a procedure --------------------------------------------------------- */

typedef HP_VECTOR(struct hp_evidence) evidence_vector;

struct counted_terms {
	evidence_vector terms;
	double shared_deviation; /* see hp_analysis_input */
};
/* What the windows say of the graph's blocks and edges; none where they never came by. Of the input
 * graph and samples are known. */
struct hp_error *counted_terms_of(const struct report *report, const struct counted *counted,
				  const struct hp_analysis_input *input,
				  struct counted_terms *terms);

#endif
