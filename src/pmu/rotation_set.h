/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the PMU that counts an event, which is also the rotation set that the event belongs to. */
#ifndef HPCPROF_PMU_ROTATION_SET_H
#define HPCPROF_PMU_ROTATION_SET_H

#include <hpcprof/pmu/groups.h>

/* The number of the PMU in sysfs; PERF_TYPE_RAW stands for "the cores'". */
uint32_t hp_rotation_set_pmu_type(const struct hp_event *event);

/* The rotation set an event needs, without groups yet. Two rotation sets of one name are the
 * same. */
struct hp_error *hp_rotation_set_describe(const struct hp_machine *machine,
					  const struct hp_event *event,
					  struct hp_rotation_set *rotation_set);
void hp_rotation_set_clear(struct hp_rotation_set *rotation_set);

#endif
