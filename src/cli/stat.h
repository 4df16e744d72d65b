/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data that writers of `hpcprof stat` get: one interval, one run, or the sum of several. */
#ifndef HPCPROF_CLI_STAT_H
#define HPCPROF_CLI_STAT_H

#include <hpcprof/count/counting.h>
#include <hpcprof/count/figures.h>
#include <hpcprof/model/epoch.h>

#include <stdio.h>

struct hp_stack;
struct stat_history;
struct stat_stalls;

/* The data that is the same in all views. */
struct stat_subject {
	const struct hp_event_list *events;
	const struct hp_rotation_sets *rotation_sets;
	char *const *command; /* NULL for other targets */
	const char *target; /* of other targets: "process 123", "the system, while sleep 10 ran" */
	bool user_only;	    /* no event counts in the kernel */
	uint64_t interval_ns; /* 0: none */
	uint32_t runs;	      /* of -r, else 1; fewer if they were ended early */
	const char *scheduler;
	const char *estimator;
	const struct stat_stalls *stalls; /* NULL without --stalls */
	bool is_replayed;		  /* the counts come from a text */
};

struct stat_view {
	const struct stat_subject *subject;
	const struct hp_counting_report *report;
	const struct hp_figures *figures;
	const struct hp_stack *stack; /* NULL without --stalls */
	const struct stat_history
		*history; /* NULL without --stalls; the stacks of the intervals so far */
	uint32_t run;	  /* from 1 */
};

/* Times that -r reports beside the events, in seconds; their rows follow those of the events. */
enum stat_time { STAT_ELAPSED, STAT_USER, STAT_SYSTEM, STAT_TIMES };

/* One event, or time, over several runs. */
struct stat_spread {
	uint32_t runs; /* in which it was counted and estimated */
	double mean;
	double deviation; /* standard deviation between runs; NaN if there is one run */
	double low, high; /* 95 % interval of the mean, by Student's t; NaN if there is one run */
};

/* Prints a table per view; intervals are lines under one heading. For several runs only the table
 * of means is printed. `spreads`: per event, then STAT_TIMES. */
void stat_text_view(FILE *stream, const struct stat_view *view);
void stat_text_spread(FILE *stream, const struct stat_subject *subject,
		      const struct stat_spread *spreads);

/* Prints one JSON object per line (hpcprof-stat/1) and flushes. False when memory is short. */
bool stat_json_view(FILE *stream, const struct stat_view *view);
bool stat_json_spread(FILE *stream, const struct stat_subject *subject,
		      const struct stat_spread *spreads);

void stat_csv_header(FILE *stream, const struct stat_subject *subject);
void stat_csv_view(FILE *stream, const struct stat_view *view);

/* Rates over time, for --plot. */
struct stat_plot;
struct stat_plot *stat_plot_create(const struct stat_subject *subject);
void stat_plot_destroy(struct stat_plot *plot);
/* Adds an interval; false when memory is short. */
bool stat_plot_add(struct stat_plot *plot, const struct hp_counting_report *report);
void stat_plot_write(FILE *stream, const struct stat_plot *plot);

#endif
