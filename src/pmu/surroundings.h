/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Restrictions of this process, found in /proc: seccomp filters, containers, kernel lockdown. */
#ifndef HPCPROF_PMU_SURROUNDINGS_H
#define HPCPROF_PMU_SURROUNDINGS_H

#include <hpcprof/pmu/machine.h>

struct hp_surroundings {
	bool seccomp;		    /* a filter is on */
	bool user_namespace;	    /* not the first one: capabilities do not count for perf */
	const char *container;	    /* "docker", "podman", …; NULL for none seen. Static */
	bool lockdown_integrity;    /* kernel memory must not be written */
	bool lockdown_confidential; /* nor read: kernel registers are refused */
};
struct hp_surroundings hp_surroundings_look(const struct hp_machine *machine);

/* ROOT/PATH as a number. */
bool hp_surroundings_number(const struct hp_machine *machine, const char *path, int64_t *value);

#endif
