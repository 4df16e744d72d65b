/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A progress line on standard error, erased at the end. There is none unless standard error is a
 * terminal that can return to the beginning of a line.
 */
#ifndef HPCPROF_CLI_PROGRESS_H
#define HPCPROF_CLI_PROGRESS_H

/* Replaces the line; cut to the terminal's width. */
void progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same when another program writes to the terminal, too: the line is on the last row, and the
 * output of others scrolls above it. Nothing is shown while hpcprof is in the background or a
 * program draws on the whole screen. */
void progress_show_below(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Erases the line. Call it before writing anything else to the terminal. */
void progress_hide(void);

#endif
