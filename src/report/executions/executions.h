/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows counted, for the whole program: calls between procedures, calls and instructions of
 * each procedure, executions of each line. Code without a sample is included if it was counted.
 */
#ifndef REPORT_EXECUTIONS_EXECUTIONS_H
#define REPORT_EXECUTIONS_EXECUTIONS_H

#include "../common/state.h"

/* A call edge, a procedure, or a line. Its row has image, name, address, and of lines file and
 * line.
 */
struct executed {
	struct hp_row row;
	const struct hp_loaded_image *callee_image; /* call edges; else NULL, as is the rest */
	const char *callee;
	uint64_t callee_address;
	bool has_callee_address;
	bool is_jump;	  /* the callee is jumped to, and returns to the caller's caller */
	uint64_t returns; /* call sites: the instruction behind the call, link-time; else 0 */
	struct hp_counted_figure runs;	       /* calls; executions of a line */
	struct hp_counted_figure instructions; /* procedures */
	bool is_by_time; /* no window saw the procedure run: its instructions are by its time */
	double weight;	 /* calls, instructions, executions: for order and share */
};

struct executions {
	HP_VECTOR(struct executed) at; /* most first, limits applied */
	double whole;		       /* weight of all */
	size_t hidden;
	bool is_absolute; /* of any figure */
	bool is_partial;  /* not of each */
	bool has_jumps;	  /* among calls */
	bool has_unseen;  /* among procedures: is_by_time */
};
void executions_clear(struct executions *executions);

/* requires: attribute_samples of a view that keeps files open, and images without samples loaded
 * that windows know. INSUFFICIENT when nothing was counted. */
struct hp_error *executions_of_calls(struct report *report, struct executions *executions);
/* The same for each place that calls; not of jumps. */
struct hp_error *executions_of_call_sites(struct report *report, struct executions *executions);
struct hp_error *executions_of_procedures(struct report *report, struct executions *executions);
/* requires: lines to be had; those without are left out. */
struct hp_error *executions_of_lines(struct report *report, struct executions *executions);

/* Has `add` add what it finds in each part, `counted` being NULL where windows counted nothing; then
 * sorts and cuts. */
struct hp_image_counts;
struct hp_error *executions_each_part(struct report *report, struct executions *executions,
				      struct hp_error *(*add)(struct report *report,
							      const struct hp_loaded_part *part,
							      struct hp_image_counts *counted,
							      struct executions *executions));

#endif
