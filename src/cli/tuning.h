/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The chosen constants of the command line: how `check` runs two commands, and how much of a result
 * is printed. Widths and digits, which only affect the layout, are beside their use.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above
 * it. [shown]: chosen for readers; no figure depends on it. [chosen]: nobody has measured it;
 * scripts/sensitivity does not judge it, as it only decides how the next runs are made.
 */
#ifndef HPCPROF_SRC_CLI_TUNING_H
#define HPCPROF_SRC_CLI_TUNING_H

#include <stdint.h>

/* --- how check runs: check_runs.c, work.c ---------------------------------------------------- */

/* A run that waits for more than this share of its time is not compared by CPU time alone. */
static const double much_waiting = 0.2; /* share of the time that it took [chosen] */
/* A run with less CPU time than this is taken as waiting if the time that it was ready to run is
 * unknown: several busy neighbours on its CPU would leave it more. */
static const double hardly_any = 0.2; /* share of the time that it took [chosen] */
/* A run that used more than this many CPUs needs several. */
static const double several_cpus = 1.2; /* CPUs [chosen] */

enum {
	/* The rate of check unless options or the event set another. With 5 runs of 3 s per side
	 * and 1000 Hz, chance alone varies the ratio of a procedure with 30 % of the samples by 1.8
	 * %, which hides a change of 5 %; with 4000 Hz by 0.9 %. The
	 * overhead is the same on both sides. */
	CHECK_RUNS_FREQUENCY_HZ = 4000, /* samples per second; scripts/check-accuracy */
};

/* A file older than the start of the run is from another run. File times have a resolution of 4 to
 * 10 ms (HZ of Linux). */
static const uint64_t file_tick_ns = 20000000; /* ns of wall time; twice the longest tick */

/* --- absolute counts: record_shadow.c -------------------------------------------------------- */

enum {
	/* With fewer windows, execution counts rest on time alone, and intervals are wide. */
	ENOUGH_WINDOWS = 2, /* windows; src/infer/counts.c: their scatter is the error */
	/* With so many windows, one may fail. */
	WANTED_WINDOWS = 3, /* windows [shown] */
	/* The largest budget that is advised. */
	MOST_PERCENT = 30, /* % of CPU time [shown] */
};

/* --- traces: cmd_model.c --------------------------------------------------------------------- */

enum {
	/* The part of a trace that warms the caches, unless the user sets it. */
	WARMING_PART = 5, /* parts of the trace; as src/shadow/tuning.h does */
	/* The largest part: second-level caches are warm by then. */
	WARMING_MOST = 1000000, /* instructions; the same */
};

/* --- what is printed: cmd_diff.c, cmd_doctor.c, cmd_stat.c, stat_*.c -------------------------- */

enum {
	/* Rows of a comparison, unless the user says otherwise. */
	TOP_BY_DEFAULT = 30, /* rows [shown] */
	/* Places where samples of a kernel of known skid lie. */
	SHOWN_PLACES = 4, /* places [shown] */
	/* The interval of a drawing, unless the user sets one: ten points per second. */
	PLOT_INTERVAL_NS = 100000000, /* ns of wall time [shown] */
	/* Intervals between headings in a long listing. */
	HEADING_EVERY = 25, /* lines [shown] */
	/* Phases of a run that are listed. */
	PHASES_MOST_ROWS = 40, /* rows [shown] */
	/* The largest components that a line has room for. */
	LINE_COMPONENTS = 3, /* components [shown] */
};

/* Components are shown if they may have more than this. */
static const double least_component = 0.005; /* share of cycles [shown] */
/* A bar is drawn for more than this: three digits are printed. */
static const double least_shown = 0.0005; /* cycles per instruction [shown] */
/* An axis ends at the largest value, unless that exceeds this many times the mean: such an outlier
 * would hide all other values. */
static const double wild = 4; /* times the mean [shown] */

#endif
