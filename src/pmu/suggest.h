/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Suggests the event name that a mistyped name may have meant. */
#ifndef HPCPROF_PMU_SUGGEST_H
#define HPCPROF_PMU_SUGGEST_H

#include <hpcprof/pmu/event.h>

/* "cycles", "cycles or branches": the closest names, malloc'ed; NULL when nothing is close. */
char *hp_suggest_events(const struct hp_machine *machine, const char *name);

#endif
