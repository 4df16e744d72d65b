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
	pid_t child;				    /* 0: no pager */
	HP_VECTOR(struct hp_held_warning) warnings; /* held while the pager runs */
};

/* Starts the pager. `out` is standard output if that is no terminal or if no pager could be
 * started. */
void hp_pager_start(struct hp_pager *pager);
void hp_pager_warn(struct hp_pager *pager, const char *message, const char *advice);
/* Keeps a hint, which is printed after the warnings. */
void hp_pager_hint(struct hp_pager *pager, const char *message);
/* Waits until the pager exits, then prints the warnings. It is no error if the reader left
 * early. */
void hp_pager_end(struct hp_pager *pager);

#endif
