/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What windows counted, for the whole program: calls between procedures, calls and instructions of
 * each procedure, executions of each line. Code without a sample is included if it was counted.
 */
#ifndef REPORT_EXECUTIONS_EXECUTIONS_H
#define REPORT_EXECUTIONS_EXECUTIONS_H

#include "../common/state.h"

/* A call edge, a procedure, or a line. Its row has image, name and address; that of a line has file
 * and line. */
struct executed {
	struct hp_row row;
	/* for call edges; otherwise NULL, like the following ones */
	const struct hp_loaded_image *callee_image;
	const char *callee;
	uint64_t callee_address;
	bool has_callee_address;
	bool is_jump; /* the caller jumps to the callee, which returns to the caller's caller */
	/* call sites: link-time address of the instruction after the call; otherwise 0 */
	uint64_t returns;
	struct hp_counted_figure runs;	       /* number of calls, or executions of a line */
	struct hp_counted_figure instructions; /* of a procedure */
	/* no window executed the procedure: its instructions are estimated from its time */
	bool is_by_time;
	double weight; /* calls, instructions or executions: determines order and share */
};

struct executions {
	HP_VECTOR(struct executed) at; /* in descending order, with limits applied */
	double whole;		       /* sum of all weights */
	size_t hidden;
	bool is_absolute; /* at least one figure that is shown is absolute */
	bool is_partial;  /* not all of these are */
	bool has_jumps;	  /* some calls are jumps */
	bool has_unseen;  /* some procedures are is_by_time */
};
void executions_clear(struct executions *executions);

/* requires: hp_profiles_attribute, of a view that keeps files open, and images without samples that
 * windows know loaded. INSUFFICIENT when nothing was counted. */
struct hp_error *executions_of_calls(struct report *report, struct executions *executions);
/* The same for each call site; without jumps. */
struct hp_error *executions_of_call_sites(struct report *report, struct executions *executions);
struct hp_error *executions_of_procedures(struct report *report, struct executions *executions);
/* requires: line numbers. Code without them is left out. */
struct hp_error *executions_of_lines(struct report *report, struct executions *executions);

/* Calls `add` for each part; `counted` is NULL if windows counted nothing there. Then sorts, and
 * applies limits. */
struct hp_image_counts;
struct hp_error *executions_each_part(struct report *report, struct executions *executions,
				      struct hp_error *(*add)(struct report *report,
							      const struct hp_loaded_part *part,
							      struct hp_image_counts *counted,
							      struct executions *executions));

#endif
