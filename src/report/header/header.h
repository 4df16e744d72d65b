/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines that begin with "#", above the first row. If there are more than fit, the least
 * important ones are left out; the others keep their order. A screen has 24 lines, and users want
 * the rows.
 */
#ifndef REPORT_HEADER_HEADER_H
#define REPORT_HEADER_HEADER_H

#include "../common/text.h"

#include <hpcprof/base/vector.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum header_rank {
	HEADER_ALWAYS,	 /* what was recorded, and how */
	HEADER_WARNINGS, /* something went wrong */
	HEADER_LIMITS,	 /* needed to read the rows correctly */
	HEADER_REMARKS,	 /* the rows are correct, but something should be done */
	HEADER_DETAILS,	 /* details of the recording, which may be left out */
};

struct header_line {
	uint8_t rank;	   /* enum header_rank */
	const char *label; /* "": it continues the line before; borrowed */
	char *text;	   /* escaped; owned */
};

struct header {
	HP_VECTOR(struct header_line) lines;
	bool failed; /* out of memory */
};

void header_clear(struct header *header);
/* Adds a line; escapes the text. */
void header_put(struct header *header, enum header_rank rank, const char *label, const char *format,
		...) __attribute__((format(printf, 4, 5)));
/* Writes at most `most` lines, without details (0: all lines), each cut to so many columns (0: not
 * cut). Returns the number of lines left out, without details. */
size_t header_write(const struct header *header, size_t most, size_t columns, FILE *out);

#endif
