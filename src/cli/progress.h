/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A progress line on standard error, erased at the end. There is none unless standard error is a
 * terminal that can return to the beginning of a line.
 */
#ifndef HPCPROF_CLI_PROGRESS_H
#define HPCPROF_CLI_PROGRESS_H

/* Instead of the line before; cut to the terminal's width. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same where another program writes to the terminal, too: the line has the last row, and what
 * the others write scrolls above it. Nothing is shown in the background, and while a program draws
 * on the whole screen. */
void progress_show_below(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Before anything else is written there. */
void progress_hide(void);

#endif
