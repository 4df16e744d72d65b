/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMUs as the kernel describes them in /sys/bus/event_source/devices: their type, the bit fields of
 * their configuration (format/), their named events (events/).
 */
#ifndef HPCPROF_PMU_SYSFS_H
#define HPCPROF_PMU_SYSFS_H

#include "terms.h"

#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

/* Strings that were allocated one by one, sorted. */
struct hp_names {
	char **at;
	size_t count;
	size_t capacity;
};
void hp_names_clear(struct hp_names *names);
static inline void hp_names_scope(struct hp_names *names)
{
	hp_names_clear(names);
}
/* What a directory holds, without names that begin with a dot. A missing directory is empty;
 * `*unreadable` (may be NULL) says that it is there but closed to us. */
struct hp_error *hp_names_read(const char *path, struct hp_names *names, bool *unreadable);

/* All PMUs, the generic ones (software, tracepoint, breakpoint …) included. */
struct hp_error *hp_sysfs_pmus(const struct hp_machine *machine, struct hp_names *pmus);
/* Those that count what cores do, where there are several kinds of core; else none. */
struct hp_error *hp_sysfs_core_pmus(const struct hp_machine *machine, struct hp_names *pmus);
/* The names in the PMU's format/ or events/, files that only hold a scale or a unit left out. */
struct hp_error *hp_sysfs_list(const struct hp_machine *machine, const char *pmu,
			       const char *directory, struct hp_names *names);

bool hp_sysfs_has_pmu(const struct hp_machine *machine, const char *pmu);
bool hp_sysfs_has_event(const struct hp_machine *machine, const char *pmu, const char *event);
struct hp_error *hp_sysfs_type(const struct hp_machine *machine, const char *pmu, uint32_t *type);
/* A one-line file of the PMU ("events/NAME", "caps/branches"); not trimmed beyond the newline. */
struct hp_error *hp_sysfs_read(const struct hp_machine *machine, const char *pmu, const char *file,
			       char **text);

/* Sets type, config* and unit of `event` from the terms; a later value of a field replaces an
 * earlier one, and a field that is given replaces what a named event brought. The terms name,
 * period and freq are left to the caller. */
struct hp_error *hp_sysfs_encode(const struct hp_machine *machine, const char *pmu,
				 const struct hp_event_terms *terms, struct hp_event *event);

#endif
