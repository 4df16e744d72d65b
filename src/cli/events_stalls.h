/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof events @stalls: the events of this core's stall stack, and which of them open here. */
#ifndef HPCPROF_CLI_EVENTS_STALLS_H
#define HPCPROF_CLI_EVENTS_STALLS_H

#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

#define HP_STALLS_SET "@stalls"

/* Like hp_event_enumerate. The description is the encoding and the components that need the
 * event. */
struct hp_error *hp_stalls_enumerate(const struct hp_machine *machine,
				     bool (*each)(const struct hp_event_entry *entry,
						  void *context),
				     void *context);

#endif
