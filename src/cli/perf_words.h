/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What somebody who comes from perf types, in our words: commands and options that mean the same are
 * taken, what only changes how perf draws is ignored, and of the rest one line says the way here. An
 * option that is nobody's gets the nearest one of ours.
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
