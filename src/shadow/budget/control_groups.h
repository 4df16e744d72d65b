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

/* The bytes of memory that may still be used under all limits; UINT64_MAX without a limit. */
uint64_t control_groups_memory(void);
/* The lowest quota in whole CPUs, at least 1; UINT64_MAX without a quota. */
uint64_t control_groups_cpus(void);

/* Finds the group of a controller ("memory") in the text of /proc/PID/cgroup; "" stands for
 * version 2. False: there is no such group, or its name does not fit into `size`. */
bool control_group_find(const char *text, const char *controller, char *group, size_t size);
/* The quota in the text of cpu.max ("50000 100000") in whole CPUs, at least 1; UINT64_MAX without a
 * quota. */
uint64_t control_group_quota(const char *text);

#endif
