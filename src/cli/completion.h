/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shell completions written from the option tables, so that they cannot disagree with them. The
 * build stores what `hpcprof --completion=SHELL` prints; nothing runs when a shell starts.
 */
#ifndef HPCPROF_CLI_COMPLETION_H
#define HPCPROF_CLI_COMPLETION_H

#include <stdbool.h>
#include <stdio.h>

/* `shell` is "bash" or "zsh"; false for any other. */
bool hp_completion_print(FILE *stream, const char *shell);

#endif
