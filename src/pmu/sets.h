/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of events that answer one question together, such as `@cache`. A static table. */
#ifndef HPCPROF_PMU_SETS_H
#define HPCPROF_PMU_SETS_H

#include <stddef.h>

struct hp_event_set {
	const char *name; /* without the '@' */
	const char *description;
	const char *events; /* names separated by blanks */
};
extern const struct hp_event_set hp_event_sets[];
extern const size_t hp_event_set_count;

/* By the name up to `length`; NULL when there is none. */
const struct hp_event_set *hp_event_set_find(const char *name, size_t length);

#endif
