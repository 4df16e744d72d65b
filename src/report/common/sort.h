/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of a view in order, cut by the limits. */
#ifndef REPORT_COMMON_SORT_H
#define REPORT_COMMON_SORT_H

#include "state.h"

enum sort_key { SORT_SAMPLES, SORT_NAME, SORT_IMAGE, SORT_ADDRESS, SORT_LINE };
/* Parses --sort: one of the view's keys, or an event. */
struct hp_error *rows_parse_sort(struct report *report, enum sort_key *key);

/* Sorts by `key`, sets cumulative values, and drops rows beyond the limits. */
void rows_select(struct report *report, enum sort_key key);

#endif
