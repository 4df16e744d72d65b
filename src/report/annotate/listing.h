/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions of one row of the instruction view, made when the row is written. */
#ifndef REPORT_ANNOTATE_LISTING_H
#define REPORT_ANNOTATE_LISTING_H

#include "../common/state.h"

struct listing {
	struct hp_arena *arena;
	/* the procedure's rows by address, followed by those of its split-off parts */
	HP_VECTOR(struct hp_row) rows;
	const struct hp_cfg *cfg; /* after listing_add_blocks, if there is one */
	const char *no_graph;	  /* why there is no graph, if that is worth showing */
	/* from listing_add_caveats: sentences without a full stop */
	HP_VECTOR(const char *) caveats;
};
void listing_clear(struct listing *listing);

enum listing_choice {
	LISTING_SAMPLED,
	/* also those that take time by the analysis, which assigns time to the instruction before
	 * the one with the samples, and branches that were mispredicted where they were simulated */
	LISTING_COSTLY,
	LISTING_ALL,
};

/*
 * Each sample of `row` is in exactly one row of the listing: that of the instruction that starts
 * there, or a row of its own (length 0) for a place inside an instruction. Instructions without
 * samples are listed as `chosen` says.
 */
struct hp_error *listing_make(struct report *report, const struct hp_row *row,
			      enum listing_choice choice, struct listing *listing);

/* Whether the row's code is analysed. In views of all procedures, those with few samples are not:
 * nothing would be known of their instructions, and they would be most of the work. */
bool listing_is_analysed(const struct report *report, const struct hp_row *row);

/* Makes the procedure's control-flow graph, and sets the block of each instruction. A row for
 * several procedures, or for code that cannot be analysed, gets no graph. */
struct hp_error *listing_add_blocks(struct report *report, const struct hp_row *row,
				    struct listing *listing);

/* Sets the results of the analysis for each instruction, if there is one. */
struct hp_error *listing_add_analysis(struct report *report, const struct hp_row *row,
				      struct listing *listing);

/* Adds what could not be analysed, and why. Requires listing_add_blocks. */
struct hp_error *listing_add_caveats(const struct report *report, const struct hp_row *row,
				     struct listing *listing);

#endif
