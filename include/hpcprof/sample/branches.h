/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branch records with samples (LBR, BRS, BRBE), where the hardware and the kernel offer them. */
#ifndef HPCPROF_SAMPLE_BRANCHES_H
#define HPCPROF_SAMPLE_BRANCHES_H

#include <hpcprof/pmu/event.h>

/* Whether the kernel accepts all of these events with the branches before each sample. Samples that
 * share a ring share a layout, so it is all of them or none. */
bool hp_branches_offered(const struct hp_event_list *events);

/* The same for records of calls that have not returned. */
bool hp_call_branches_offered(const struct hp_event_list *events);

#endif
