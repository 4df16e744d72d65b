/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a view: found by what they stand for, added up, sorted, cut. */
#ifndef REPORT_ROWS_H
#define REPORT_ROWS_H

#include "model.h"

/* What a row stands for; texts are interned (compared by pointer). Zero the whole structure before
 * filling it in: its padding is part of the key. */
struct row_key {
	const struct report_image *image;
	const char *name;
	const char *file;
	uint64_t address;
	uint32_t line;
	uint32_t inlined;
	uint32_t group;
};

/* The row for `key`, made when there is none yet; NULL when memory is short. */
struct row *rows_at(struct report *report, const struct row_key *key);
void rows_forget(struct report *report);

enum sort_key { SORT_SAMPLES, SORT_NAME, SORT_IMAGE, SORT_ADDRESS, SORT_LINE };
/* What --sort says: one of the keys the view has, or an event. */
struct hp_error *rows_parse_sort(struct report *report, enum sort_key *key);

/* Sorts by `key`, accumulates, then drops what the limits exclude. */
void rows_select(struct report *report, enum sort_key key);

/* Sets short_file of every row. */
struct hp_error *rows_name_files(struct report *report);

#endif
