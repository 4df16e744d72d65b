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
	HEADER_ALWAYS,	 /* of what, and by what */
	HEADER_WARNINGS, /* something went wrong */
	HEADER_LIMITS,	 /* the rows are not to be read without it */
	HEADER_REMARKS,	 /* the rows are right, and there is something to do */
	HEADER_DETAILS,	 /* of the recording; not missed where it is left out */
};

struct header_line {
	uint8_t rank;	   /* enum header_rank */
	const char *label; /* "" goes on with the one before; not owned */
	char *text;	   /* escaped; owned */
};

struct header {
	HP_VECTOR(struct header_line) lines;
	bool failed; /* short of memory */
};

void header_clear(struct header *header);
/* The text is escaped here. */
void header_put(struct header *header, enum header_rank rank, const char *label, const char *format,
		...) __attribute__((format(printf, 4, 5)));
/* `most` lines, none of details (0: all lines), each cut to so many columns (0: not). Returns how
 * many were left out that are more than details. */
size_t header_write(const struct header *header, size_t most, size_t columns, FILE *out);

#endif
