/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks that a report shows: of the program, of each procedure that limits leave, and of the
 * loops in it, as one list in that order. Every writer goes through it.
 */
#ifndef REPORT_STALLS_PROGRAM_STACK_H
#define REPORT_STALLS_PROGRAM_STACK_H

#include <hpcprof/analyze/cpi_stack.h>
#include "survey.h"

#include <hpcprof/base/buffer.h>

struct stacked {
	const struct hp_row *row;   /* the procedure; NULL: the program */
	const struct hp_loop *loop; /* in it; NULL: the whole of it */
	uint64_t address;	    /* of the loop's first block */
	const char *file;	    /* the loop's line; NULL unknown */
	uint32_t line;
	double share; /* of the whole profile's cycles */
	const struct hp_prediction *prediction;
	struct hp_cpi_stack stack;
	/* Much smaller than the least that is worth a picture, or nearly all of what is around
	 * it. */
	bool is_minor;
};

struct program_stack {
	struct survey survey;
	struct hp_row **rows;
	HP_VECTOR(struct stacked) all; /* the program first */
};

/* Procedures that limits hide are part of the program. INSUFFICIENT where nothing was timed. */
struct hp_error *program_stack_make(struct report *report, struct program_stack *program);
void program_stack_clear(struct program_stack *program);

/* For people, escaped: the procedure, or the loop and its line. */
void stacked_name(const struct stacked *one, struct hp_buffer *text);
/* "file.c:12" as it is; nothing where that is not known. */
void stacked_line(const struct stacked *one, struct hp_buffer *text);

#endif
