/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The data behind <hpcprof/image/code.h>: read on first use, kept with the image. */
#ifndef HPCPROF_IMAGE_PRIVATE_CODE_H
#define HPCPROF_IMAGE_PRIVATE_CODE_H

#include "extent.h"

#include <hpcprof/image/code.h>

struct code;

struct code *code_create(const struct elf_file *file); /* NULL when memory is short */
void code_destroy(struct code *code);

void code_landings(struct code *code, uint64_t address, uint64_t size, struct hp_arena *arena,
		   const struct hp_landing **landings, size_t *count);
void code_pointers(struct code *code, uint64_t low, uint64_t high,
		   const struct hp_code_pointer **pointers, size_t *count);

const char *code_import(struct code *code, uint64_t where);

typedef HP_VECTOR(struct hp_landing) landing_list;

/* Adds the landing pads of the function's exception table. Reads at most `budget` entries, and
 * subtracts them. False when memory is short; reading stops at damage. */
bool exceptions_read(const struct elf_file *file, const struct extent *function, uint64_t *budget,
		     landing_list *found);

#endif
