/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions of one row of the instruction view, made when the row is written. */
#ifndef REPORT_ANNOTATE_LISTING_H
#define REPORT_ANNOTATE_LISTING_H

#include "../common/state.h"

struct listing {
	struct hp_arena *arena;
	HP_VECTOR(struct hp_row) rows;	 /* a procedure by address, then its split-off parts */
	const struct hp_cfg *cfg;	 /* after listing_add_blocks, if there is one */
	const char *no_graph;		 /* then: why there is none, where that is worth telling */
	HP_VECTOR(const char *) caveats; /* after listing_add_caveats: sentences without a stop */
};
void listing_clear(struct listing *listing);

enum listing_choice {
	LISTING_SAMPLED,
	/* and what takes time, as far as the analysis says: time is of the instruction before the
	 * one that samples are at */
	LISTING_COSTLY,
	LISTING_ALL,
};

/*
 * Every sample of `row` is in exactly one of the listing's rows: on the instruction that starts
 * there, or on a row of its own (length 0) that says where inside an instruction it fell.
 * Instructions without samples are listed as chosen.
 */
struct hp_error *listing_make(struct report *report, const struct hp_row *row,
			      enum listing_choice choice, struct listing *listing);

/* Whether the code of a row is analysed: where all procedures are listed, most have so few samples
 * that nothing would be known of single instructions, and are most of the work. */
bool listing_is_analysed(const struct report *report, const struct hp_row *row);

/* Makes the procedure's control-flow graph and says of each instruction which block it is in. A row
 * that stands for several procedures, or for code that cannot be analysed, goes without. */
struct hp_error *listing_add_blocks(struct report *report, const struct hp_row *row,
				    struct listing *listing);

/* Says of each instruction what the analysis found of it, where there is one. */
struct hp_error *listing_add_analysis(struct report *report, const struct hp_row *row,
				      struct listing *listing);

/* What could not be analysed, and why. Requires listing_add_blocks. */
struct hp_error *listing_add_caveats(const struct report *report, const struct hp_row *row,
				     struct listing *listing);

#endif
