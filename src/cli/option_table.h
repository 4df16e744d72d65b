/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The option tables as text, for what is made from them: shell completions (when hpcprof is built;
 * nothing runs when a shell starts) and the test that every option is in its manual page.
 *
 * One line a command or option, fields separated by tabs, empty where there is nothing:
 *
 *	command NAME ARGUMENTS SUMMARY
 *	option  COMMAND -S --long VALUE required|optional|none DESCRIPTION
 */
#ifndef HPCPROF_CLI_OPTION_TABLE_H
#define HPCPROF_CLI_OPTION_TABLE_H

#include <stdio.h>

void hp_option_table_print(FILE *stream);

#endif
