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

/* Our name for a command of perf's, or NULL where it is none that is taken. */
const char *perf_words_command(const char *word);
/* The error that says the way, or NULL where perf has no such command. */
struct hp_error *perf_words_refuse_command(const char *word);
/* The command, ours or perf's, that was probably meant; or NULL. */
const char *perf_words_closest_command(const char *word);

/* The arguments for `command`, argv[0] and the final NULL included, in the arena. `said` is the
 * command as it was typed: "annotate" of report. -h becomes --help. */
struct hp_error *perf_words_translate(const struct hp_command *command, const char *said, int argc,
				      char **argv, struct hp_arena *arena, int *count,
				      char ***translated);

/* The table, for its test: "COMMAND \t WORD \t takes \t how \t TEXT" on each line. */
void perf_words_print(FILE *stream);

#endif
