/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a printed report from a database: epochs are summed; samples are attributed to images,
 * procedures, lines or instructions, sorted, cut and written as text, JSON or CSV.
 *
 * Counts are raw samples. Percentages are shares of the event's weight (samples times period), so
 * that epochs with different rates add up correctly; 100 % is always everything recorded, before
 * any filter.
 */
#ifndef HPCPROF_REPORT_REPORT_H
#define HPCPROF_REPORT_REPORT_H

#include <hpcprof/base/error.h>
#include <hpcprof/infer/inference.h>
#include <hpcprof/isa/text.h>
#include <hpcprof/profile/profiles.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct hp_db;

enum hp_report_view {
	HP_VIEW_PROCEDURES,
	HP_VIEW_IMAGES,
	HP_VIEW_LINES,
	HP_VIEW_INSTRUCTIONS,
	HP_VIEW_ANNOTATE, /* one procedure: `of.listed` */
	HP_VIEW_STALLS,	  /* of the whole profile, worst first */
	HP_VIEW_MEMORY,	  /* loads and stores by what they cost, where windows were simulated */
	HP_VIEW_BRANCHES, /* branches, likewise */
	HP_VIEW_STACK, /* what cycles were spent on: the program's, procedures', loops'; likewise, or
			* where stalls were sampled */
	HP_VIEW_WHAT_IF,    /* how long it would take if `what_if` were so; likewise */
	HP_VIEW_CALLS,	    /* callers, callees and the number of calls, counted by windows */
	HP_VIEW_EXECUTIONS, /* of procedures and lines, likewise */
	HP_VIEW_BREAKDOWN,  /* by the keys of `of.by` */
	/* Of call paths, which need record -g. */
	HP_VIEW_CHILDREN, /* procedures with what they cost over all they call */
	HP_VIEW_CALLERS,
	HP_VIEW_CALLEES,
	HP_VIEW_TREE,
	HP_VIEW_FLAME_GRAPH, /* written as SVG, whatever the format */
	HP_VIEW_SUMMARY,
};

enum hp_report_format {
	HP_FORMAT_TEXT,
	HP_FORMAT_JSON,
	HP_FORMAT_CSV,
	HP_FORMAT_DOT, /* of instructions: the control-flow graph, for Graphviz */
	HP_FORMAT_SVG, /* of HP_VIEW_STACK: a picture of bars */
};

/* Whose stacks HP_VIEW_STACK shows. */
enum hp_stacks {
	HP_STACKS_THERE_ARE, /* by counters if events of stalls were sampled, else by windows */
	HP_STACKS_OF_COUNTERS,
	HP_STACKS_OF_WINDOWS,
};

/* Zeroed selects a report of all procedures as text. */
struct hp_report_options {
	enum hp_report_view view;
	enum hp_report_format format;
	struct hp_profiles_options of; /* what is reported; the view adds what it needs */
	struct hp_inference_options how;
	enum hp_stacks stacks;	    /* of HP_VIEW_STACK */
	const char *what_if;	    /* of that view: branch:perfect,memory:0.5x,l2:2M */
	const char *path_procedure; /* whose callers or callees; NULL: of all procedures */
	bool bottom_up;		    /* the tree: callers below what they call */
	bool all;		    /* --annotate does not fold anything */
	const char *sort;	    /* samples, name, image, address, line, or an event's name */
	double percent_limit;	    /* rows with a smaller share are counted, not shown */
	size_t limit;		    /* rows; 0 for all */
	enum hp_isa_syntax syntax;
	size_t terminal_columns; /* lines are cut to it; 0: never */
	bool colour;
};

/* Writes the report of the named epochs (none: the latest). USAGE for contradicting options,
 * INSUFFICIENT if there is nothing to report, DAMAGED for a damaged database. */
struct hp_error *hp_report(struct hp_db *db, char *const *epochs, size_t epoch_count,
			   const struct hp_report_options *options,
			   const struct hp_notices *notices, FILE *out);

#endif
