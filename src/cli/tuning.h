/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of the command line that somebody had to choose: how `check` runs two commands, and
 * how much of a result is printed. Widths and digits, which only lay out what is shown, are beside
 * their use.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * [shown]: chosen for readers; no figure depends on it. [chosen]: nobody has measured it;
 * scripts/sensitivity does not judge it, as it only decides how runs are made that have not begun.
 */
#ifndef HPCPROF_SRC_CLI_TUNING_H
#define HPCPROF_SRC_CLI_TUNING_H

#include <stdint.h>

/* --- how check runs: check_runs.c, work.c ---------------------------------------------------- */

/* A run that waits this much is not compared by its CPU time alone, … */
static const double much_waiting = 0.2; /* share of the time that it took [chosen] */
/* … and less CPU time than neighbours would leave it, several to a CPU, is that of one that waits,
 * where it is not known how long it was ready to run. */
static const double hardly_any = 0.2; /* share of the time that it took [chosen] */
/* One that used more than a CPU needs several. */
static const double several_cpus = 1.2; /* CPUs [chosen] */

enum {
	/* Where neither options nor an event say otherwise. Of 5 runs of 3 s a side 1000 Hz cannot
	 * see a change by 5 % in a procedure that has 30 % of them: by chance alone its ratio has a
	 * deviation of 1.8 %. With 4000 Hz it is 0.9 %, and what that takes of the runs' time, 8 %
	 * where a sample costs 20 us (bzip2 in a VM; 2 % with 1000 Hz), is the same on both sides. */
	CHECK_RUNS_FREQUENCY_HZ = 4000, /* samples per second; scripts/check-accuracy */
};

/* A file that the run did not write is an older run's. Times of files come in ticks of 4 to 10 ms
 * (HZ of Linux). */
static const uint64_t file_tick_ns = 20000000; /* ns of wall time; twice the longest tick */

/* --- absolute counts: record_shadow.c -------------------------------------------------------- */

enum {
	/* With fewer, time alone tells how often code ran, and intervals are wide; … */
	ENOUGH_WINDOWS = 2, /* windows; src/infer/counts.c: their scatter is the error */
	/* … of so many one may go wrong. */
	WANTED_WINDOWS = 3, /* windows [shown] */
	/* No larger budget is advised. */
	MOST_PERCENT = 30, /* % of CPU time [shown] */
};

/* --- traces: cmd_model.c --------------------------------------------------------------------- */

enum {
	/* Of a trace, this part warms the caches if the user does not say, … */
	WARMING_PART = 5, /* parts of the trace; as src/shadow/tuning.h does (WARMING_INSNS) */
	/* … and no more than this: second-level caches are warm by then. */
	WARMING_MOST = 1000000, /* instructions; the same */
};

/* --- what is printed: cmd_diff.c, cmd_doctor.c, cmd_stat.c, stat_*.c -------------------------- */

enum {
	/* Rows of a comparison, unless the user says otherwise. */
	TOP_BY_DEFAULT = 30, /* rows [shown] */
	/* Places where samples of a kernel of known skid lie. */
	SHOWN_PLACES = 4, /* places [shown] */
	/* An interval of what is drawn, unless the user says otherwise: ten points per second. */
	PLOT_INTERVAL_NS = 100000000, /* ns of wall time [shown] */
	/* Intervals from one heading to the next, as on a long listing. */
	HEADING_EVERY = 25, /* lines [shown] */
	/* Phases of a run. */
	PHASES_MOST_ROWS = 40, /* rows [shown] */
	/* The largest components that a line has room for. */
	LINE_COMPONENTS = 3, /* components [shown] */
};

/* Components that may have more than this are shown. */
static const double least_component = 0.005; /* share of cycles [shown] */
/* A bar is drawn for more than this: three digits are printed. */
static const double least_shown = 0.0005; /* cycles per instruction [shown] */
/* An axis goes as far as the largest value, but where that is beyond so many times the mean it is
 * one wild interval, which would hide all others. */
static const double wild = 4; /* times the mean [shown] */

#endif
