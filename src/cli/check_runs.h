/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hpcprof check --runs: records two commands at the same time, side by side on one CPU, so that
 * whatever slows one down slows the other; or in turns, A B B A A B B A, where they cannot run so.
 * Each run is an epoch; epochs stay.
 */
#ifndef HPCPROF_CLI_CHECK_RUNS_H
#define HPCPROF_CLI_CHECK_RUNS_H

#include "recording.h"

#include <hpcprof/compare/comparison.h>
#include <hpcprof/target/run_delay.h>

enum check_way {
	CHECK_WAY_TO_CHOOSE, /* side by side, unless something speaks against it */
	CHECK_IN_TURNS,
	CHECK_SIDE_BY_SIDE,
};

/* One run of a side without the other side beside it. */
struct check_alone {
	struct hp_run run;
	/* Idle time of all CPUs during the run; UINT64_MAX: unknown. */
	uint64_t idle_ns;
	struct hp_thread_times delay; /* unknown if its `ran` is 0 */
};

struct check_runs {
	struct recording recording;
	struct work candidate_work; /* if it has its own; else the recording's is for both */
	uint64_t runs;		    /* per side; 0: epochs are given, and nothing is recorded */
	uint64_t warm_up;	    /* runs per side that come first and are not kept */
	const char
		*label; /* epochs are labelled LABEL-base and LABEL-candidate; NULL: one is made */
	enum check_way way; /* as requested; after the choice, as it is done */
	bool shows_output;  /* the commands' output goes to standard error */
	bool ignores_status;
	char **commands[HP_SIDES];	    /* NULL-terminated, of argv */
	struct check_alone alone[HP_SIDES]; /* the last warm-up run of each side, in turns */
	/* What was recorded, oldest first. */
	struct {
		char *label;
		char **stamps;
		size_t count;
	} sides[HP_SIDES];
};

/* Divides the words of a command line at the first "--versus". USAGE when a side is missing. */
struct hp_error *check_runs_divide(struct check_runs *runs, char **words, size_t count);

/* Whether both sides read their work from one file, which runs at the same time cannot share. */
bool check_runs_share_work(const struct check_runs *runs);

/*
 * Records the runs and fills in `sides`. Stops with an error that names the run when a command
 * cannot be started, fails, or does not tell its work. *interrupted is the exit status of a run
 * that was asked to end (by a signal from the terminal), else 0. What was recorded so far stays in
 * the database.
 */
struct hp_error *check_runs_record(struct check_runs *runs, struct hp_db *db, int *interrupted);
void check_runs_clear(struct check_runs *runs);

#endif
