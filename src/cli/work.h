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
	double units;	   /* per run */
	const char *given; /* the option's argument; not owned */
	regex_t pattern;
	FILE *output; /* output of the command in this run; NULL between runs */
};

/* Parses the option's argument; `given` stays the caller's. USAGE if it is invalid. */
struct hp_error *work_parse(const char *given, struct work *work);
void work_clear(struct work *work);

/* Call before a run: sets a descriptor for the command's output if that is to be read, else 0. */
struct hp_error *work_begin(struct work *work, int *output);
/* Call after a run: returns the units of work, or 0 if it does not say. */
double work_measure(struct work *work, const struct hp_run *run);
/* Copies the output of the run to `to`, or nowhere (NULL), and forgets it. */
void work_end(struct work *work, FILE *to);
/* Returns the error for a run that did not say its work, with advice. */
struct hp_error *work_missing(const struct work *work);

#endif
