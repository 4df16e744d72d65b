/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses option arguments that several commands take. On an error argp says why, and exits. */
#ifndef HPCPROF_CLI_ARGUMENTS_H
#define HPCPROF_CLI_ARGUMENTS_H

#include <hpcprof/mux/scheduler.h>

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The long name of the option with that key, without dashes; NULL: the table has none. */
const char *hp_argument_name(const struct argp_option *table, int key);

/*
 * The options that say where profiles and files lie, which several commands have: rows for their
 * tables, in any group, and what takes them. A command without files has the first row only.
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

/* Process or thread numbers, of several options one after the other. free(at). */
struct hp_ids {
	pid_t *at;
	size_t count;
	size_t capacity;
};

/* Who is recorded or counted, where and for how long: -p, -t, -a, -C and --duration. */
struct hp_targets {
	struct hp_ids pids;
	struct hp_ids tids;
	bool system_wide;
	const char *cpus;     /* NULL: all */
	uint64_t duration_ns; /* 0: to the end */
};
enum { HP_KEY_DURATION = 0x310 };
/* ARGP_ERR_UNKNOWN for other keys. */
error_t hp_argument_target(int key, char *argument, struct argp_state *state,
			   struct hp_targets *targets);

/* What is left of the command line, the command to run, or NULL where nothing is. There must be
 * a target: that, processes and threads, or the whole system; with one of the latter the command
 * says how long. `name` is the subcommand's, and `verb` what it does to targets. */
char **hp_argument_command(struct argp_state *state, const char *name, const char *verb,
			   const struct hp_targets *targets);

/* 10s, 500ms, 5m; more than 0. */
uint64_t hp_argument_time(struct argp_state *state, const char *option, const char *text);
/* Milliseconds as in perf, or a time with its unit: -D, -I. */
uint64_t hp_argument_milliseconds(struct argp_state *state, const char *option, const char *text);

/* Which of the words, as an option table has them ("text|json|csv"), from 0. */
size_t hp_argument_choice(struct argp_state *state, const char *option, const char *text,
			  const char *words);
/* More than 0, and no fraction. */
uint64_t hp_argument_number(struct argp_state *state, const char *option, const char *text);

/* More than 0. */
double hp_argument_amount(struct argp_state *state, const char *option, const char *text);

/* A percentage above 0, up to `most`, or INFINITY. */
double hp_argument_percent(struct argp_state *state, const char *option, const char *text,
			   double most);

/* --counters: how many there are to be, more than none. */
void hp_argument_counters(struct argp_state *state, const char *text, uint32_t *counters);

/* --scheduler */
enum hp_mux_policy hp_argument_policy(struct argp_state *state, const char *text);

#endif
