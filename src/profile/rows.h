/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a view: found by their key, and added up. */
#ifndef PROFILE_ROWS_H
#define PROFILE_ROWS_H

#include <hpcprof/profile/rows.h>

/* What identifies a row. Texts are interned, and compared by pointer. Clear the whole structure
 * first, since padding is part of the key. */
struct row_key {
	const struct hp_loaded_image *image;
	const char *name;
	const char *file;
	uint64_t address;
	uint32_t line;
	uint32_t inlined;
	uint32_t group;
};

/* The row for `key`, created if necessary; NULL: out of memory. */
struct hp_row *rows_at(struct hp_profiles *profiles, const struct row_key *key);
void rows_forget(struct hp_profiles *profiles);

#endif
