/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells how to find the caller's registers, for each place in the code of an image.
 *
 * A table is made once per image from its call frame information (DWARF 5, section 6.4; LSB core,
 * "Exception Frames"): .eh_frame, and .debug_frame for code that it does not cover. It takes two
 * to three bytes per place where a rule changes. Places are image offsets, as in profiles: file
 * offsets.
 *
 * Files are not trusted; of a damaged one, the readable entries are used. A table is made by one
 * thread, and may be used by any.
 */
#ifndef HPCPROF_UNWIND_TABLE_H
#define HPCPROF_UNWIND_TABLE_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hp_unwind_table;
struct hp_unwind_recipe;

/* Whether tables can be made and used for the code that this machine runs: x86-64. */
bool hp_unwind_is_offered(void);

/* Makes the table of a 64-bit ELF file of this machine. The descriptor stays the caller's; the file
 * is read, not mapped, as it may shrink. DAMAGED if it is no such file; without call frame
 * information the table is empty. */
struct hp_error *hp_unwind_table_of_fd(int fd, struct hp_unwind_table **table);
/* The same for a file in memory (the vdso), which is not needed afterwards. */
struct hp_error *hp_unwind_table_of_bytes(const void *bytes, size_t size,
					  struct hp_unwind_table **table);
/* Makes a table of a file without rows: they are made when they are asked for, procedure by procedure,
 * by the file's index (.eh_frame_hdr). The table keeps a descriptor of its own; once the file has
 * changed no rows are made. Only one thread may use it. NOT_FOUND if there is no index that can be
 * relied on, if there is .debug_frame too, or if .eh_frame has fewer bytes than `least_bytes`. */
struct hp_error *hp_unwind_table_of_index(int fd, uint64_t least_bytes,
					  struct hp_unwind_table **table);
void hp_unwind_table_destroy(struct hp_unwind_table *table);
HP_DEFINE_CLEANUP(struct hp_unwind_table, hp_unwind_table_destroy);

/* Returns how the caller is found from an offset; NULL if that is unknown or cannot be followed.
 * Lives as long as the table. */
const struct hp_unwind_recipe *hp_unwind_recipe_at(struct hp_unwind_table *table, uint64_t offset);
/* Returns where the procedure with the code at an offset begins, as its call frame information says;
 * the offset itself where there is none. */
uint64_t hp_unwind_procedure_at(const struct hp_unwind_table *table, uint64_t offset);
/* Whether the code has no caller, as at the beginning of a thread. False for NULL. */
bool hp_unwind_is_root(const struct hp_unwind_recipe *recipe);

struct hp_unwind_facts {
	size_t rows;	     /* places where a rule changes; of an index: those made so far */
	size_t recipes;	     /* different rules */
	size_t unsupported;  /* rows whose rule cannot be followed: there a frame is guessed */
	size_t bytes;	     /* of the table in memory */
	size_t source_bytes; /* of the sections it was made from */
};
struct hp_unwind_facts hp_unwind_table_facts(const struct hp_unwind_table *table);

#endif
