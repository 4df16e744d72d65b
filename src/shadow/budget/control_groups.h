/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the limits of the control groups (v1 and v2) that contain this process, as far as they are
 * visible from here.
 */
#ifndef SHADOW_BUDGET_CONTROL_GROUPS_H
#define SHADOW_BUDGET_CONTROL_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that is left below the lowest limit; UINT64_MAX without one. */
uint64_t control_groups_memory(void);
/* Whole CPUs that the lowest quota comes to, at least 1; UINT64_MAX without one. */
uint64_t control_groups_cpus(void);

/* The group of a controller ("memory") in the text of /proc/PID/cgroup, or, for "", of version 2.
 * False when there is none, or its name is longer than `size`. */
bool control_group_find(const char *text, const char *controller, char *group, size_t size);
/* The text of cpu.max ("50000 100000") in whole CPUs, at least 1; UINT64_MAX without a quota. */
uint64_t control_group_quota(const char *text);

#endif
