/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes text from other sources safe to print in messages. */
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

#endif
