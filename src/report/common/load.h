/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the database to the data that views and exports use. */
#ifndef REPORT_COMMON_LOAD_H
#define REPORT_COMMON_LOAD_H

#include "state.h"

struct report_wants {
	bool counts; /* counts of windows, also in code without samples */
	bool paths;
};

/* Opens and loads the epochs, weighs the windows, and reads the call paths, if any. The results
 * belong to the report, after a failure too: see report_clear. */
struct hp_error *report_load(struct report *report, struct hp_db *db, char *const *epochs,
			     size_t epoch_count, const struct report_wants *wants);
/* The number of samples with call paths. */
uint64_t report_path_samples(const struct report *report);
/* requires: report_load. Loads the extra profile of stalls, if one was recorded. It limits the
 * causes that inference finds. */
struct hp_error *report_load_stalls(struct report *report, struct hp_db *db, char *const *epochs,
				    size_t epoch_count);
void report_clear(struct report *report);

#endif
