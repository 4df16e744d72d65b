/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line as users of perf type it. Commands and options that mean the same are accepted;
 * options that only change how perf draws are ignored; for the others one line says how hpcprof
 * does it. For an option that neither has, the line names the closest one.
 */
#ifndef HPCPROF_CLI_PERF_WORDS_H
#define HPCPROF_CLI_PERF_WORDS_H

#include "command.h"

#include <hpcprof/base/arena.h>

#include <stdio.h>

/* Returns hpcprof's name for a command of perf, or NULL if it has no equivalent. */
const char *perf_words_command(const char *word);
/* Returns the error that names the equivalent, or NULL if perf has no such command. */
struct hp_error *perf_words_refuse_command(const char *word);
/* Returns the command, hpcprof's or perf's, that was probably meant, or NULL. */
const char *perf_words_closest_command(const char *word);

/* Translates the arguments for `command`, argv[0] and the final NULL included, into the arena.
 * `said` is the command as it was typed: "annotate" for report. -h becomes --help. */
struct hp_error *perf_words_translate(const struct hp_command *command, const char *said, int argc,
				      char **argv, struct hp_arena *arena, int *count,
				      char ***translated);

/* Prints the table for its test: "COMMAND \t WORD \t takes \t how \t TEXT" per line. */
void perf_words_print(FILE *stream);

#endif
