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
	ANNOTATED_BLOCK, /* "*** …": two of them begin a block */
	ANNOTATED_INLINED,
	ANNOTATED_SOURCE,
	ANNOTATED_STALL,
	ANNOTATED_FOLD,
	ANNOTATED_BLANK,
};

struct annotated_line {
	uint8_t kind; /* enum annotated_kind */
	bool is_on_path;
	bool shows_frequency; /* of an instruction: its block's, which are all the same */
	size_t row;	      /* in the listing; of a fold its first */
	size_t rows;	      /* of a fold: how many */
	const char *text;     /* NULL for instructions */
};

struct annotation {
	struct report *report;
	const struct hp_row *row;
	const struct listing *listing;	       /* of all instructions */
	const struct hp_analysis *analysis;    /* NULL where there is none */
	double cycles;			       /* of all blocks */
	struct hp_arena *arena;		       /* the listing's */
	bool shows_all;			       /* nothing is folded */
	const struct hp_analysed_insn **insns; /* of each row, or NULL */
	size_t *by_address;		       /* rows of instructions, sorted */
	size_t addressed;
	bool *shown;		  /* each row */
	struct hp_frames *frames; /* of each row that is shown */
	struct hot_path path;
	double *recorded; /* of each block, what branch records timed; NULL: nothing can have */
	struct sources sources;
	HP_VECTOR(struct annotated_line) lines;
	HP_VECTOR(struct arrow) arrows; /* between lines */
};

/* requires: `listing` made with all instructions and their blocks. The listing and the analysis
 * must outlive the annotation. */
struct hp_error *annotation_make(struct report *report, const struct hp_row *row,
				 const struct listing *listing, const struct hp_analysis *analysis,
				 struct annotation *annotation);
void annotation_clear(struct annotation *annotation);

/* --- the steps, each in a file of its own ---------------------------------------------------- */

/* provides: shown */
struct hp_error *annotate_choose(struct annotation *annotation);
/* requires: shown. provides: frames */
struct hp_error *annotate_frames(struct annotation *annotation);
/* What stands above the row's instruction because of its place in the source, `before` being the
 * row shown before it (SIZE_MAX: none). */
struct hp_error *annotate_source(struct annotation *annotation, size_t row, size_t before);
/* What the row's instruction waits for, a line each. */
struct hp_error *annotate_stalls(struct annotation *annotation, size_t row);
/* The two lines at the beginning of a block. */
struct hp_error *annotate_block(struct annotation *annotation, uint32_t block);

/* Adds a line; takes the buffer's text into the arena. */
struct hp_error *annotation_add(struct annotation *annotation, enum annotated_kind kind, size_t row,
				const struct hp_buffer *text);

/* Row of the instruction at the address, SIZE_MAX if it is not in the listing. */
size_t annotation_find(const struct annotation *annotation, uint64_t address);
/* Share of the procedure's time that the row has, 0 to 1: moved samples where there is an analysis,
 * else as recorded. */
double annotation_share(const struct annotation *annotation, size_t row);

#endif
