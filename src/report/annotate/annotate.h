/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One annotated procedure as a list of lines: instructions in order of address, with notes above
 * them (start of a block, inlined functions, source, stalls). Long stretches with little time are
 * folded into one line. Texts are raw; the writer escapes and truncates them.
 */
#ifndef REPORT_ANNOTATE_ANNOTATE_H
#define REPORT_ANNOTATE_ANNOTATE_H

#include "arrows.h"
#include "hot_path.h"
#include "listing.h"
#include "source.h"
#include "../common/text.h"

enum annotated_kind {
	ANNOTATED_INSTRUCTION,
	ANNOTATED_BLOCK, /* "*** …"; two of these begin a block */
	ANNOTATED_INLINED,
	ANNOTATED_SOURCE,
	ANNOTATED_STALL,
	ANNOTATED_FOLD,
	ANNOTATED_BLANK,
};

struct annotated_line {
	uint8_t kind; /* enum annotated_kind */
	bool is_on_path;
	/* of an instruction: its block's frequency, which all instructions of the block share */
	bool shows_frequency;
	size_t row;	  /* index in the listing; for a fold, that of its first row */
	size_t rows;	  /* for a fold: number of rows */
	const char *text; /* NULL for instructions */
};

struct annotation {
	struct report *report;
	const struct hp_row *row;
	const struct listing *listing;	       /* of all instructions */
	const struct hp_analysis *analysis;    /* NULL: there is none */
	double cycles;			       /* sum over all blocks */
	struct hp_arena *arena;		       /* that of the listing */
	bool shows_all;			       /* nothing is folded */
	const struct hp_analysed_insn **insns; /* by row; may be NULL */
	size_t *by_address;		       /* rows of instructions, sorted */
	size_t addressed;
	bool *shown;		  /* by row */
	struct hp_frames *frames; /* by row that is shown */
	struct hot_path path;
	/* by block: cycles timed by branch records; NULL: there are no such records */
	double *recorded;
	struct sources sources;
	HP_VECTOR(struct annotated_line) lines;
	HP_VECTOR(struct arrow) arrows; /* between lines */
};

/* requires: `listing` was made with all instructions and their blocks. The listing and the analysis
 * must outlive the annotation. */
struct hp_error *annotation_make(struct report *report, const struct hp_row *row,
				 const struct listing *listing, const struct hp_analysis *analysis,
				 struct annotation *annotation);
void annotation_clear(struct annotation *annotation);

/* --- the steps, each in a file of its own ----------------------------------------------------- */

/* provides: shown */
struct hp_error *annotate_choose(struct annotation *annotation);
/* requires: shown. provides: frames */
struct hp_error *annotate_frames(struct annotation *annotation);
/* Adds what is shown above the row's instruction because of its position in the source. `before`:
 * the row shown before it (SIZE_MAX: none). */
struct hp_error *annotate_source(struct annotation *annotation, size_t row, size_t before);
/* Adds what the row's instruction waits for, one line per cause. */
struct hp_error *annotate_stalls(struct annotation *annotation, size_t row);
/* Adds the two lines at the beginning of a block. */
struct hp_error *annotate_block(struct annotation *annotation, uint32_t block);

/* Adds a line, and copies the buffer's text into the arena. */
struct hp_error *annotation_add(struct annotation *annotation, enum annotated_kind kind, size_t row,
				const struct hp_buffer *text);

/* The row of the instruction at the address; SIZE_MAX if it is not in the listing. */
size_t annotation_find(const struct annotation *annotation, uint64_t address);
/* The row's share of the procedure's time, 0 to 1: by moved samples if there is an analysis,
 * otherwise by samples as recorded. */
double annotation_share(const struct annotation *annotation, size_t row);

#endif
