/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the database to the data that views and exports use. */
#ifndef REPORT_COMMON_LOAD_H
#define REPORT_COMMON_LOAD_H

#include "state.h"

struct report_wants {
	bool counts; /* of windows, also in code that was not sampled */
	bool paths;
};

/* Opens and loads the epochs, weighs the windows, and reads the call paths, if any. What there is
 * belongs to the report, in failure too: see report_clear. */
struct hp_error *report_load(struct report *report, struct hp_db *db, char *const *epochs,
			     size_t epoch_count, const struct report_wants *wants);
/* Of all call paths. */
uint64_t report_path_samples(const struct report *report);
/* requires: report_load. Loads the extra profile of stalls, where one was recorded, which bounds
 * the causes that inference finds. */
struct hp_error *report_load_stalls(struct report *report, struct hp_db *db, char *const *epochs,
				    size_t epoch_count);
void report_clear(struct report *report);

#endif
