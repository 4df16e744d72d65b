/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Software events of the running process, which need neither a PMU nor privilege, and work of which
 * it is known how many of them it makes. */
#ifndef TESTS_SOFTWARE_H
#define TESTS_SOFTWARE_H

#include "support.h"

#include <hpcprof/pmu/groups.h>

#include <unistd.h>

/* Why none can be counted here; NULL: they can. */
const char *software_reason(void);

struct software {
	struct hp_machine *machine;
	struct hp_event_list events;
	struct hp_rotation_sets rotation_sets; /* one of them */
};

/* As if there were so many counters; 0: all at once. */
struct software software_create(const char *events, uint32_t counters);
void software_clear(struct software *software);

/* Takes `count` page faults of user mode in this thread, all of them minor. */
void software_touch(size_t count);
/* What else happens meanwhile (the stack grows, a library's page is touched) is less than that;
 * sanitizers have pages of their own beside, ThreadSanitizer several for each. */
#if defined(__SANITIZE_THREAD__)
enum { SOFTWARE_STRAY = 8000 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SOFTWARE_STRAY = 320 };
#else
enum { SOFTWARE_STRAY = 64 };
#endif

/* Burns so much CPU time of this thread. */
void software_burn(uint64_t cpu_ns);

/* Of this process. */
size_t software_descriptors(void);
size_t software_threads(void);

#endif
