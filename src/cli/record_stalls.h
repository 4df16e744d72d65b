/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hpcprof record --stalls: samples the events of the core's table (hpcprof/stack/table.h) in
 * addition to the other events.
 */
#ifndef HPCPROF_CLI_RECORD_STALLS_H
#define HPCPROF_CLI_RECORD_STALLS_H

#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

/*
 * Adds cycles and instructions, unless they are in the list, and the events that stacks and their
 * ranges need (HP_STALLS_PREFIX), in the mode in which the list's cycles count. Each is sampled
 * about `frequency_hz` times per second while it counts (0: the usual rate); what cannot be sampled
 * is marked as absent. NOT_PERMITTED without counters.
 */
struct hp_error *record_stalls_add(const struct hp_machine *machine, double frequency_hz,
				   struct hp_event_list *events);

#endif
