/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The amount of work that a command did, so that its cost can be given per unit of work.
 *
 *	--work=N		the same amount each time
 *	--work=REGEX		with one group: the last number that the group matches in a line of
 *				the command's standard output, which goes through a file for that
 *	--work=FILE		the number in a file that each run writes
 */
#ifndef HPCPROF_CLI_WORK_H
#define HPCPROF_CLI_WORK_H

#include <hpcprof/base/error.h>
#include <hpcprof/model/epoch.h>

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

struct work {
	enum { WORK_NOT_ASKED, WORK_SAME, WORK_IN_OUTPUT, WORK_IN_FILE } kind;
	double units;	   /* each time */
	const char *given; /* the option's argument; not owned */
	regex_t pattern;
	FILE *output; /* what the command printed in this run; NULL between runs */
};

/* What the option's argument means; `given` stays the caller's. USAGE when it means nothing. */
struct hp_error *work_parse(const char *given, struct work *work);
void work_clear(struct work *work);

/* Before a run: a descriptor for its output where that has to be read, else 0. */
struct hp_error *work_begin(struct work *work, int *output);
/* After it: the units of work, or 0 when it does not say. */
double work_measure(struct work *work, const struct hp_run *run);
/* Hands what it printed on to `to`, or nowhere (NULL), and forgets it. */
void work_end(struct work *work, FILE *to);
/* What to do when a run did not say. */
struct hp_error *work_missing(const struct work *work);

#endif
