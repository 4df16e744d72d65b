/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of a process's memory before one of its threads is stopped for it, so that the stop is
 * short: most pages stay as they are for a while.
 *
 * Everything is read twice while the process runs. Pages that have changed between the two readings, and
 * those beside them, are read once more in the stop, as are pages that are new by then. A page that
 * changes only between the second reading and the stop is missed: of 10,000 to 270,000 pages of g++,
 * clang, rustc and sqlite3, some tens to hundreds were, of which most are written anew before they are
 * read. A copy that lacks one that matters does not come to the state that its window ends with, and
 * is not counted (match/matches.h).
 */
#ifndef SHADOW_COPY_AHEAD_H
#define SHADOW_COPY_AHEAD_H

#include "runs.h"

#include <hpcprof/base/error.h>

struct ahead {
	struct runs runs; /* that were read, each at its place in the buffer */
	bool *is_due;	  /* by page of the buffer: to be read in the stop */
	size_t capacity;
	uint64_t due_bytes; /* of these pages */
};

/* Nothing has been read ahead. */
void ahead_begin(struct ahead *ahead);
void ahead_clear(struct ahead *ahead);

/* Reads what was found into `buffer`, each run at its place, with RUN_BYTES of room in `scratch`. Gives up,
 * with an error, when `stop_fd` becomes readable (-1: never). */
struct hp_error *ahead_read(struct ahead *ahead, pid_t pid, const struct runs *found,
			    uint8_t *buffer, uint8_t *scratch, int stop_fd);

/* Of the pages that are found in the stop: where the buffer has each of them or is to have it (`all`; new
 * ones behind those that were read ahead, up to `end`), and which are to be read now (`due`). False:
 * no memory. */
bool ahead_merge(const struct ahead *ahead, const struct runs *found, struct runs *all,
		 struct runs *due, uint64_t *end);

#endif
