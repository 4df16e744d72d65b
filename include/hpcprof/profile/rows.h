/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a view, to which samples are attributed. */
#ifndef HPCPROF_PROFILE_ROWS_H
#define HPCPROF_PROFILE_ROWS_H

#include <hpcprof/profile/profiles.h>

struct hp_analysis;
struct hp_analysed_insn;

/* The code of a row of the instruction view. */
struct hp_row_code {
	struct hp_loaded_part *part;
	const struct hp_procedure *procedure; /* the owner; NULL: only the offset is known */
	uint64_t offset;
	struct hp_row_code *next;
	const struct hp_cfg *cfg; /* on request, see infer/inference.h */
	const struct hp_analysis *analysis;
	const char *refusal; /* why there is no graph, or no analysis */
};

/* A sum of window counts, with its 90 % interval. NAN if only relative counts are known. */
struct hp_counted_figure {
	double value;
	double low;
	double high;
};

/* The counts of a row's procedure, in the whole recording. */
struct hp_row_counts {
	struct hp_counted_figure calls;
	struct hp_counted_figure instructions;
};

/* One row of a view. The meaningful fields depend on the view. */
struct hp_row {
	const struct hp_loaded_image *image;
	const char *name;	/* procedure, demangled */
	const char *shown;	/* for people, see hp_profiles_show_names; NULL: not yet */
	const char *linkage;	/* the same in the symbol table; NULL unknown */
	const char *file;	/* full path; NULL unknown */
	const char *short_file; /* its last part, or all of it if that is ambiguous */
	uint32_t line;
	bool inlined;	  /* name is an inlined function, at all places */
	bool has_address; /* address and size are meaningful */
	uint64_t address; /* link-time */
	uint64_t size;
	struct hp_row_code *code;
	/* Instructions only. */
	const uint8_t *bytes;
	size_t length;
	const char *text;
	bool has_block;
	uint32_t block;			    /* of its procedure's graph */
	const struct hp_analysis *analysis; /* NULL if there is none, or none was requested */
	const struct hp_analysed_insn *insn;
	uint32_t group;			    /* in the profiles' groups, of a breakdown */
	const struct hp_row_counts *counts; /* of procedures; NULL: no window counts */
	struct hp_tally *tallies;	    /* one an event */
	double cumulative;		    /* share of the sorting event up to here */
	double local; /* an instruction's share of its row in the sorting event */
};

#endif
