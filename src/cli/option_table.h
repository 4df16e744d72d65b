/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option tables of all commands, option by option and as text. The text is read when hpcprof is
 * built, to make the shell completions (no shell runs hpcprof for them), and by the test that every
 * option is in its manual page.
 *
 * One line per command or option; fields are separated by tabs, and may be empty:
 *
 *	command NAME ARGUMENTS SUMMARY
 *	option  COMMAND -S --long VALUE required|optional|none DESCRIPTION
 */
#ifndef HPCPROF_CLI_OPTION_TABLE_H
#define HPCPROF_CLI_OPTION_TABLE_H

#include "command.h"

#include <stdio.h>

/* `described` is the option, or the option that it is an alias of; it has the argument and the
 * description. Returns true to end the walk. */
typedef bool hp_option_visit(const struct argp_option *option, const struct argp_option *described,
			     void *context);

/* Visits the options of a command, of its children, and those that argp adds. Returns true if a
 * visit ended the walk. */
bool hp_options_walk(const struct hp_command *command, hp_option_visit *visit, void *context);

void hp_option_table_print(FILE *stream);

#endif
