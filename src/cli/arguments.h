/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses option arguments that several commands have. On an error, argp prints the reason and
 * exits. */
#ifndef HPCPROF_CLI_ARGUMENTS_H
#define HPCPROF_CLI_ARGUMENTS_H

#include <hpcprof/mux/scheduler.h>

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns the long name of the option with that key, without dashes, or NULL if the table has
 * none. */
const char *hp_argument_name(const struct argp_option *table, int key);

/*
 * The options --db, --symfs and --no-debuginfo, which several commands have: rows for their option
 * tables, and the function that takes them. A command that reads no files has the first row only.
 */
enum { HP_KEY_DB = 0x300, HP_KEY_SYMFS, HP_KEY_NO_DEBUGINFO };
#define HP_DB_OPTION(key, group)                                                                   \
	{                                                                                          \
		"db", (key), "DIR", 0,                                                             \
			"The profile database (default: $HPCPROF_DB if it is set, else "           \
			"./hpcprof.db)",                                                           \
			(group)                                                                    \
	}
#define HP_FILE_OPTIONS(group)                                                                     \
	{ "symfs", HP_KEY_SYMFS, "DIR", 0, "Look for all files below DIR", (group) },              \
	{                                                                                          \
		"no-debuginfo", HP_KEY_NO_DEBUGINFO, NULL, 0,                                      \
			"Take names and lines from the recorded files only: no separate debug "    \
			"files, no debuginfod",                                                    \
			(group)                                                                    \
	}
/* ARGP_ERR_UNKNOWN for other keys. */
error_t hp_argument_place(int key, char *argument, const char **db, const char **symfs,
			  bool *no_debuginfo);

/* Process or thread numbers; several options add to one list. free(at). */
struct hp_ids {
	pid_t *at;
	size_t count;
	size_t capacity;
};

/* What is recorded or counted, on which CPUs and how long: -p, -t, -a, -C and --duration. */
struct hp_targets {
	struct hp_ids pids;
	struct hp_ids tids;
	bool system_wide;
	const char *cpus;     /* NULL: all */
	uint64_t duration_ns; /* 0: until the target ends */
};
enum { HP_KEY_DURATION = 0x310 };
/* ARGP_ERR_UNKNOWN for other keys. */
error_t hp_argument_target(int key, char *argument, struct argp_state *state,
			   struct hp_targets *targets);

/* Returns the rest of the command line, which is the command to run, or NULL if nothing is left.
 * Prints a usage error and exits unless there is a target: a command, processes or threads (-p,
 * -t), or the whole system (-a); with one of the latter two the command only sets the duration.
 * `name` is the subcommand's name, and `verb` says what it does to targets. */
char **hp_argument_command(struct argp_state *state, const char *name, const char *verb,
			   const struct hp_targets *targets);

/* Parses a time with a unit: 10s, 500ms, 5m. It must be more than 0. */
uint64_t hp_argument_time(struct argp_state *state, const char *option, const char *text);
/* Parses -D and -I: a number is in milliseconds, as in perf; a time may have a unit. */
uint64_t hp_argument_milliseconds(struct argp_state *state, const char *option, const char *text);

/* Returns the index of the word in `words`, which has the form of an option table
 * ("text|json|csv"). */
size_t hp_argument_choice(struct argp_state *state, const char *option, const char *text,
			  const char *words);
/* Parses an integer above 0. */
uint64_t hp_argument_number(struct argp_state *state, const char *option, const char *text);

/* Parses a number above 0; it may have a fraction. */
double hp_argument_amount(struct argp_state *state, const char *option, const char *text);

/* Parses a percentage above 0 and up to `most`; `most` may be INFINITY. */
double hp_argument_percent(struct argp_state *state, const char *option, const char *text,
			   double most);

/* Parses --counters: the number of counters to use, above 0. */
void hp_argument_counters(struct argp_state *state, const char *text, uint32_t *counters);

/* --scheduler */
enum hp_mux_policy hp_argument_policy(struct argp_state *state, const char *text);

#endif
