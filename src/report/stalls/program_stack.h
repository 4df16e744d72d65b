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
	const struct hp_row *row;   /* the procedure; NULL: the whole program */
	const struct hp_loop *loop; /* a loop in it; NULL: the whole procedure */
	uint64_t address;	    /* of the loop's first block */
	const char *file;	    /* file of the loop's line; NULL: unknown */
	uint32_t line;
	double share;  /* share of the whole profile's cycles */
	double cycles; /* of all its code; prediction->measured has those that were simulated */
	const struct hp_prediction *prediction;
	struct hp_cpi_stack stack;
	/* Too small to be drawn, or nearly all of what contains it. */
	bool is_minor;
};

struct program_stack {
	struct survey survey;
	struct hp_row **rows;
	HP_VECTOR(struct stacked) all; /* the program comes first */
};

/* The program includes procedures that limits hide. INSUFFICIENT if nothing was timed. */
struct hp_error *program_stack_make(struct report *report, struct program_stack *program);
void program_stack_clear(struct program_stack *program);

/* Adds the procedure's name, or the loop and its line, escaped for people. */
void stacked_name(const struct stacked *one, struct hp_buffer *text);
/* Adds "file.c:12", not escaped; nothing if it is unknown. */
void stacked_line(const struct stacked *one, struct hp_buffer *text);

#endif
