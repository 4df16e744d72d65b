/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a database to a printed report: epochs summed, samples attributed to images, procedures,
 * lines or instructions, sorted, cut and written as text, JSON or CSV.
 *
 * Counts are raw samples; percentages are shares of the event's weight (samples times period), so
 * that epochs of different rates add up right, and always of everything recorded, filtered or not.
 */
#ifndef HPCPROF_REPORT_REPORT_H
#define HPCPROF_REPORT_REPORT_H

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/base/error.h>
#include <hpcprof/isa/text.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct hp_db;

enum hp_report_view {
	HP_VIEW_PROCEDURES,
	HP_VIEW_IMAGES,
	HP_VIEW_LINES,
	HP_VIEW_INSTRUCTIONS,
	HP_VIEW_ANNOTATE,   /* one procedure: `listed` */
	HP_VIEW_STALLS,	    /* of the whole profile, the worst first */
	HP_VIEW_CALLS,	    /* who calls whom how often, as windows counted it */
	HP_VIEW_EXECUTIONS, /* of procedures and lines, likewise */
	HP_VIEW_BREAKDOWN,  /* by what `by` says */
	HP_VIEW_SUMMARY,
};

enum hp_report_format {
	HP_FORMAT_TEXT,
	HP_FORMAT_JSON,
	HP_FORMAT_CSV,
	HP_FORMAT_DOT, /* of instructions: the control-flow graph, for Graphviz */
};

/* Zeroed is a report of all procedures as text. Patterns are globs; one that equals a name also
 * matches it ("[vdso]", "operator[]"). NULL lets everything pass. */
struct hp_report_options {
	enum hp_report_view view;
	enum hp_report_format format;
	const char *event;
	const char *image;     /* full path or its last part */
	const char *procedure; /* as shown, or as in the symbol table */
	const char *comm;
	const char *pid;      /* needs epochs recorded with --per-process */
	const char *listed;   /* PROC of --instructions, --annotate: all its instructions */
	bool all;	      /* --annotate folds nothing away */
	const char *by;	      /* comm,pid,image,procedure,line: what rows are told apart by */
	const char *sort;     /* samples, name, image, address, line, or an event's name */
	double percent_limit; /* rows below it are counted, not shown */
	size_t limit;	      /* rows; 0 for all */
	bool full_names;      /* text: with the arguments of templates and functions */
	bool inlines;	      /* an inlined function's samples are its own */
	bool no_debuginfo;    /* names and lines from the recorded files alone */
	const char *symfs;    /* prefix of every file looked up */
	enum hp_estimator estimator; /* of frequencies */
	const char *evidence;	     /* counts:FILE: exact executions of blocks */
	enum hp_isa_syntax syntax;
	size_t terminal_columns; /* lines are cut to it; 0: never */
	bool colour;
};

/* Things to tell the reader that are no part of the report itself. `advice` may be NULL. */
struct hp_report_notices {
	void (*warn)(const char *message, const char *advice, void *context);
	/* What would make it better; at most once a report. May be NULL. */
	void (*hint)(const char *message, void *context);
	void *context;
};

/* Writes the report of the named epochs (none: the latest). USAGE for options that make no sense
 * together, INSUFFICIENT when there is nothing to report, DAMAGED for a damaged database. */
struct hp_error *hp_report(struct hp_db *db, char *const *epochs, size_t epoch_count,
			   const struct hp_report_options *options,
			   const struct hp_report_notices *notices, FILE *out);

#endif
