/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shadow windows counted, all epochs of a report together, and what one count stands for.
 *
 * Each command of each recording ran for some time, of which its windows cover a share: one count
 * stands for one over that share. Without a time to be a share of, with one window alone or as good
 * as one (hp_grouped_ratio), with most windows truncated, or
 * behind a filter that windows know nothing of, counts are counts to each other only.
 */
#ifndef REPORT_WINDOWS_H
#define REPORT_WINDOWS_H

#include "model.h"

/* requires: epochs opened. Reads what their windows counted; damage is a warning. */
struct hp_error *report_windows_load(struct report *report);
void report_windows_clear(struct report_windows *windows);

/* There are counts, if only to each other. */
bool report_windows_exist(const struct report *report);
/* Somebody wanted some. */
bool report_windows_tried(const struct report *report);
/* Counts of all groups of the items of that kind; 0: of any. */
uint64_t report_sum_of_items(const struct hp_counted *items, size_t count, uint8_t kind);
/* A command of an epoch had windows. */
bool report_windows_cover(const struct report *report, size_t epoch, const char *command);

#endif
