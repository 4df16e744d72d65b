/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subcommands. Each is in its own cmd_NAME.c: it parses options (argp), calls the library,
 * prints, and returns the exit status. --help and the completions are also made from the argp
 * tables.
 *
 * The `arg` of an option decides what shells complete after the option. EPOCH, EVENT, DIR, FILE,
 * PID and IMAGE are known kinds; "text|json|csv" lists the possible words, and so does "NAME: text
 * | json | csv" in the option's description, where NAME is the argument.
 */
#ifndef HPCPROF_CLI_COMMAND_H
#define HPCPROF_CLI_COMMAND_H

#include <hpcprof/base/error.h>

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses (record and stat pass their command's status through instead). */
enum hp_exit {
	HP_EXIT_OK = 0,
	HP_EXIT_REGRESSION = 1,
	HP_EXIT_USAGE = 2,
	HP_EXIT_INSUFFICIENT = 3,
	HP_EXIT_NOT_PERMITTED = 4,
	HP_EXIT_DAMAGED = 5,
	HP_EXIT_SYSTEM = 125,	/* the machine refused: disk full, out of memory */
	HP_EXIT_RECORDER = 125, /* record's and stat's own failures */
};

struct hp_command {
	const char *name;
	const char *summary; /* one line, for `hpcprof --help` */
	const struct argp *argp;
	int (*run)(int argc, char **argv); /* argv[0] is "hpcprof NAME"; returns the exit status */
	bool runs_command; /* the words after the first argument are another command line */
	int usage_status;  /* exit status of a usage error; 0: HP_EXIT_USAGE */
};

extern const struct hp_command hp_command_record;
extern const struct hp_command hp_command_report;
extern const struct hp_command hp_command_stat;
extern const struct hp_command hp_command_check;
extern const struct hp_command hp_command_diff;
extern const struct hp_command hp_command_stats;
extern const struct hp_command hp_command_export;
extern const struct hp_command hp_command_import;
extern const struct hp_command hp_command_epochs;
extern const struct hp_command hp_command_events;
extern const struct hp_command hp_command_doctor;
extern const struct hp_command hp_command_model;

/* All of them, in the order of `hpcprof --help`; NULL ends the list. */
extern const struct hp_command *const hp_commands[];

/* Prints "hpcprof: MESSAGE" and the advice to standard error, frees the error, and returns the exit
 * status of its class. A name that does not exist is a usage error. */
int hp_cli_fail(struct hp_error *error);

/* Prints "hpcprof: warning: MESSAGE" and the advice, if any, to standard error. */
void hp_cli_warn(const char *message, const char *advice);
/* The same as a callback. */
void hp_cli_tell(const char *message, const char *advice, void *context);
/* Prints a hint: nothing is wrong, but something could be better. */
void hp_cli_hint(const char *message);

/* Returns the width of the terminal that the stream goes to, or 0 if it goes elsewhere. */
size_t hp_cli_columns(FILE *stream);
/* The same for sentences: at most 80 columns. */
size_t hp_cli_line_columns(FILE *stream);
/* Standard error, for whole lines: on a terminal they are broken between words where it ends, and what
 * does not fit is indented. A line is written when it ends. */
FILE *hp_cli_messages(void);

struct hp_compare_epochs;
/* Checks that no epoch of one database is on both sides, which would make them look alike:
 * USAGE. */
struct hp_error *hp_cli_check_apart(const struct hp_compare_epochs *sides);

/* Returns the candidate that `word` probably means, or NULL; `candidates` ends with NULL. */
const char *hp_cli_closest(const char *word, const char *const *candidates);

#endif
