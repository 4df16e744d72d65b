/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines for people, broken between words where the terminal ends.
 *
 * A wrapped stream writes to another one, which it does not own, line by line. What it holds of a line that
 * has not ended is written by fclose(). When the other stream fails, so does this one.
 */
#ifndef HPCPROF_BASE_WRAPPED_H
#define HPCPROF_BASE_WRAPPED_H

#include <stddef.h>
#include <stdio.h>

enum hp_wrapped_lines {
	HP_WRAP_ALL,	  /* what does not fit is indented */
	HP_WRAP_COMMENTS, /* only lines that begin with "#", after blanks or not; and so does the rest */
};

/* NULL: out of memory. */
FILE *hp_wrapped_open(FILE *to, size_t columns, enum hp_wrapped_lines lines);

#endif
