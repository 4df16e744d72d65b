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
	CHECK_WAY_TO_CHOOSE, /* side by side where nothing stands against it */
	CHECK_IN_TURNS,
	CHECK_SIDE_BY_SIDE,
};

/* One run of a side with nothing of ours beside it. */
struct check_alone {
	struct hp_run run;
	/* Idle CPU time meanwhile, of all CPUs; UINT64_MAX: unknown. */
	uint64_t idle_ns;
	struct hp_thread_times delay; /* ran 0: not known */
};

struct check_runs {
	struct recording recording;
	struct work
		candidate_work; /* its own, where it has one; else the recording's is for both */
	uint64_t runs;		/* of each side; 0: epochs are given, nothing is recorded */
	uint64_t warm_up;	/* runs of each side before, of which nothing is kept */
	const char
		*label; /* epochs are labelled LABEL-base and LABEL-candidate; NULL: one is made */
	enum check_way way; /* as it was asked for; once it is chosen, as it is done */
	bool shows_output;  /* of the commands, on standard error */
	bool ignores_status;
	char **commands[HP_SIDES];	    /* NULL-terminated, of argv */
	struct check_alone alone[HP_SIDES]; /* the last run of warming up in turns */
	/* What was recorded, oldest first. */
	struct {
		char *label;
		char **stamps;
		size_t count;
	} sides[HP_SIDES];
};

/* Divides the words of a command line at the first "--versus". USAGE when a side is missing. */
struct hp_error *check_runs_divide(struct check_runs *runs, char **words, size_t count);

/* Both take what they did from one file, which runs at the same time cannot share. */
bool check_runs_share_work(const struct check_runs *runs);

/*
 * Fills in `sides`. A command that cannot be started, that fails or that does not say its work ends
 * it, with an error that names the run; *interrupted is the status of one that was asked to end (a
 * signal from the terminal), else 0. What was recorded by then stays in the database.
 */
struct hp_error *check_runs_record(struct check_runs *runs, struct hp_db *db, int *interrupted);
void check_runs_clear(struct check_runs *runs);

#endif
