/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Long text on a terminal goes through a pager: $HPCPROF_PAGER, else $PAGER, else less, with
 * options to exit at once if the text fits on the screen, and to pass colours on. The command is
 * split into words at blanks; quotes and backslashes keep words together as in a shell; there is no
 * other shell syntax. "" and "cat" mean no pager.
 *
 * While a pager runs, warnings are held back, because two programs on one terminal would overwrite
 * each other's lines.
 */
#ifndef HPCPROF_CLI_PAGER_H
#define HPCPROF_CLI_PAGER_H

#include <hpcprof/base/error.h>
#include <hpcprof/base/vector.h>

#include <stdio.h>
#include <sys/types.h>

struct hp_held_warning {
	char *message;
	char *advice; /* or NULL */
	bool is_hint; /* rather than a warning */
};

struct hp_pager {
	FILE *out;				    /* the pager's input, or standard output */
	pid_t child;				    /* 0: there is none */
	HP_VECTOR(struct hp_held_warning) warnings; /* while there is one */
};

/* Standard output itself unless it is a terminal and a pager could be started. */
void hp_pager_start(struct hp_pager *pager);
void hp_pager_warn(struct hp_pager *pager, const char *message, const char *advice);
/* Said last of all, and quietly: nothing is wrong. */
void hp_pager_hint(struct hp_pager *pager, const char *message);
/* Waits until the reader has seen enough, then says what was to be warned of. That the reader left
 * before the end is no error. */
void hp_pager_end(struct hp_pager *pager);

#endif
