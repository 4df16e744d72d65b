/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints: their numbers and names, from tracefs wherever it is mounted. */
#ifndef HPCPROF_PMU_TRACEFS_H
#define HPCPROF_PMU_TRACEFS_H

#include "sysfs.h"

enum hp_tracefs_state { HP_TRACEFS_READABLE, HP_TRACEFS_CLOSED, HP_TRACEFS_ABSENT };

/* The directory of events, NULL unless READABLE. `*path` is malloc'ed. */
enum hp_tracefs_state hp_tracefs_events(const struct hp_machine *machine, char **path);

/* `name` is "group:event"; the event may hold `*` and `?` and then gives several ids, names
 * sorted. Fails with NOT_FOUND, or NOT_PERMITTED and advice where tracefs is closed or absent. */
struct hp_tracepoint {
	char *name; /* "group:event" */
	uint64_t id;
};
struct hp_tracepoints {
	struct hp_tracepoint *at;
	size_t count;
	size_t capacity;
};
struct hp_error *hp_tracefs_find(const struct hp_machine *machine, const char *name,
				 struct hp_tracepoints *found);
void hp_tracepoints_clear(struct hp_tracepoints *found);
static inline void hp_tracepoints_scope(struct hp_tracepoints *found)
{
	hp_tracepoints_clear(found);
}

#endif
