/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that others wrote, made fit to be shown; and how far one name is from another.
 */
#ifndef HPCPROF_PMU_TEXT_H
#define HPCPROF_PMU_TEXT_H

#include <stddef.h>

enum { HP_PMU_SHOWN_BYTES = 96 };

struct hp_pmu_shown {
	char text[HP_PMU_SHOWN_BYTES];
};

/* Control and non-ASCII bytes become '?', a long text ends in "...". Used in messages by value:
 * hp_pmu_show(name, length).text */
struct hp_pmu_shown hp_pmu_show(const char *text, size_t length);
struct hp_pmu_shown hp_pmu_show_string(const char *text);

/* Insertions, deletions, substitutions and swaps of neighbours, without regard to case, between
 * two names; `limit + 1` when there are more than `limit` or a name is too long to be one. */
size_t hp_pmu_name_distance(const char *a, const char *b, size_t limit);

#endif
