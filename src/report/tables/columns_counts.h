/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Columns with the counts of windows for a procedure; empty where no window counted it. */
#ifndef REPORT_TABLES_COLUMNS_COUNTS_H
#define REPORT_TABLES_COLUMNS_COUNTS_H

#include "columns.h"

/* Whether any row has counts. */
bool columns_have_counts(const struct report *report);

/* The last element of both has no title. */
extern const struct column columns_of_counts[];	      /* for people */
extern const struct column columns_of_exact_counts[]; /* for machines */

/* Of a procedure's row: cycles of its own code per call, and executed instructions per cycle. NAN
 * if unknown. */
double counts_cycles_per_call(const struct report *report, const struct hp_row *row);
double counts_instructions_per_cycle(const struct report *report, const struct hp_row *row);

#endif
