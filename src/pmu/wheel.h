/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which PMU an event goes to: the wheel it will turn on. */
#ifndef HPCPROF_PMU_WHEEL_H
#define HPCPROF_PMU_WHEEL_H

#include <hpcprof/pmu/groups.h>

/* The number of the PMU in sysfs; PERF_TYPE_RAW stands for "the cores'". */
uint32_t hp_wheel_pmu_type(const struct hp_event *event);

/* The wheel an event needs, without groups yet. Two wheels of one name are the same. */
struct hp_error *hp_wheel_describe(const struct hp_machine *machine, const struct hp_event *event,
				   struct hp_counter_wheel *wheel);
void hp_wheel_clear(struct hp_counter_wheel *wheel);

#endif
