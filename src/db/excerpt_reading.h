/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a layer of an excerpt: numbers and texts that anybody may have written.
 *
 * The first error is kept in `error` (DAMAGED, or no memory), and all later reads return 0.
 */
#ifndef HPCPROF_SRC_DB_EXCERPT_READING_H
#define HPCPROF_SRC_DB_EXCERPT_READING_H

#include "container.h"

#include <hpcprof/base/vector.h>

struct reading {
	const struct hp_section *section;
	struct hp_reader reader;
	struct hp_error *error;
};

void reading_refuse(struct reading *reading, const char *what);
/* Reads a number of entries, which take at least `least` bytes each. */
size_t reading_count(struct reading *reading, size_t least, size_t most, const char *what);
uint64_t reading_number(struct reading *reading);
uint8_t reading_byte(struct reading *reading);
char *reading_text(struct reading *reading);
uint64_t reading_sum(struct reading *reading, uint64_t a, uint64_t b);
/* Reads a size, which is written minus 1. Its end must fit, too, as hp_excerpt_check requires. */
uint64_t reading_size(struct reading *reading, uint64_t address);

#define reading_reserve(reading, vector, wanted)                                                   \
	do {                                                                                       \
		if (!(reading)->error && !hp_vector_reserve(vector, (wanted) + 1))                 \
			(reading)->error = hp_error_create_no_memory();                            \
	} while (0)

#endif
