/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables whose rows are made when they are asked for, procedure by procedure: .eh_frame_hdr says where
 * the entry of each is (LSB core, "Exception Frames", .eh_frame_hdr). A recording sees few of the
 * procedures of a large library.
 */
#ifndef UNWIND_INDEX_H
#define UNWIND_INDEX_H

#include "entries.h"

#include <sys/stat.h>

/* A procedure. */
struct indexed {
	uint32_t place; /* of its code, from the index's first */
	uint32_t at;	/* of its entry in the section; or is_made, and of its rows in the table */
};

struct index {
	int fd;
	struct stat status; /* of the file when the index was read */
	unsigned char ident[EI_NIDENT];
	struct entries entries;
	struct section section;
	uint64_t offset; /* of the section in the file */
	uint64_t bytes;	 /* of the section */
	uint64_t first;	 /* offset of the first procedure in the image */
	HP_VECTOR(struct indexed) at;
	/* How many procedures begin before each multiple of 2^begins_shift, from `first`; the last is
	 * behind all. A look-up is mostly of an address that was not looked up lately, and so waits
	 * for each part of `at` that it compares. */
	HP_VECTOR(uint32_t) begins;
	unsigned begins_shift;
	HP_VECTOR(uint8_t) read; /* of the file, last */
};

void index_destroy(struct index *index);

/* As hp_unwind_recipe_at, of a table with an index. */
const struct hp_unwind_recipe *index_recipe_at(struct hp_unwind_table *table, uint64_t offset);

/* As hp_unwind_procedure_at. */
uint64_t index_procedure_at(const struct index *index, uint64_t offset);

/* Memory of the index itself. */
size_t index_bytes(const struct index *index);

#endif
