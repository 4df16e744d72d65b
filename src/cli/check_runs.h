/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hpcprof check --runs: records two commands in turns, A B B A A B B A, so that whatever drifts on
 * the machine (heat, other load) is the same for both; or both at once, side by side on one CPU, for
 * what changes from one moment to the next. Each run is an epoch; epochs stay.
 */
#ifndef HPCPROF_CLI_CHECK_RUNS_H
#define HPCPROF_CLI_CHECK_RUNS_H

#include "recording.h"

#include <hpcprof/compare/comparison.h>

struct check_runs {
	struct recording recording;
	struct work
		candidate_work; /* its own, where it has one; else the recording's is for both */
	uint64_t runs;		/* of each side; 0: epochs are given, nothing is recorded */
	uint64_t warm_up;	/* runs of each side before, of which nothing is kept */
	const char
		*label; /* epochs are labelled LABEL-base and LABEL-candidate; NULL: one is made */
	bool is_side_by_side; /* both at the same moment, on one CPU */
	bool shows_output;    /* of the commands, on standard error */
	bool ignores_status;
	char **commands[HP_SIDES]; /* NULL-terminated, of argv */
	/* What was recorded, oldest first. */
	struct {
		char *label;
		char **stamps;
		size_t count;
	} sides[HP_SIDES];
};

/* Divides the words of a command line at the first "--versus". USAGE when a side is missing. */
struct hp_error *check_runs_divide(struct check_runs *runs, char **words, size_t count);

/*
 * Samples a second where neither options nor an event say otherwise. Of 5 runs of 3 s a side 1000 Hz
 * cannot see a change by 5 % in a procedure that has 30 % of them: by chance alone its ratio has a
 * deviation of 1.8 %. With 4000 Hz it is 0.9 %, and what that takes of the runs' time, 8 % where a
 * sample costs 20 us (bzip2 in a VM; 2 % with 1000 Hz), is the same on both sides.
 */
#define CHECK_RUNS_FREQUENCY_HZ 4000

/* Which side has the run `at`, counted from 0, of all. */
enum hp_side check_runs_side(uint64_t at);

/*
 * Fills in `sides`. A command that cannot be started, that fails or that does not say its work ends
 * it, with an error that names the run; *interrupted is the status of one that was asked to end (a
 * signal from the terminal), else 0. What was recorded by then stays in the database.
 */
struct hp_error *check_runs_record(struct check_runs *runs, struct hp_db *db, int *interrupted);
void check_runs_clear(struct check_runs *runs);

#endif
