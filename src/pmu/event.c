/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/event.h>

#include "resolve.h"

#include "config.h"

#include <hpcprof/pmu/machine.h>

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

void hp_event_list_clear(struct hp_event_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		hp_event_clear(&list->events[i]);
	}
	free(list->events);
	*list = (struct hp_event_list){ 0 };
}

void hp_event_to_attr(const struct hp_event *event, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->type = event->type;
	attr->config = event->config;
	attr->config1 = event->config1;
	attr->config2 = event->config2;
#ifdef HAVE_STRUCT_PERF_EVENT_ATTR_CONFIG3
	attr->config3 = event->config3;
#endif
	attr->bp_type = event->bp_type;
	attr->exclude_user = event->exclude_user;
	attr->exclude_kernel = event->exclude_kernel;
	attr->exclude_hv = event->exclude_hypervisor;
	attr->precise_ip = event->precise & 3u;
}

enum { FIRST_PART_CONFIG = 0x8000, LAST_PART_CONFIG = 0x8700 };

static bool is_raw_of_intel(const struct hp_event *event)
{
#if defined(__x86_64__) || defined(__i386__)
	/* AMD has no event 0 with such masks. */
	return event->type == PERF_TYPE_RAW && (event->config & 0xff) == 0;
#else
	(void)event;
	return false;
#endif
}

bool hp_event_is_slots(const struct hp_event *event)
{
	return is_raw_of_intel(event) && event->config == HP_SLOTS_CONFIG;
}

bool hp_event_is_part_of_slots(const struct hp_event *event)
{
	return is_raw_of_intel(event) && event->config >= FIRST_PART_CONFIG &&
	       event->config <= LAST_PART_CONFIG;
}

bool hp_event_is_clock(const struct hp_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE && (event->config == PERF_COUNT_SW_CPU_CLOCK ||
						     event->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* Which of the kernel's PMUs counts it; several need no hardware. */
enum keeper { HARDWARE, SOFTWARE, TRACEPOINTS, BREAKPOINTS, CPU_CLOCK, TASK_CLOCK };

static enum keeper keeper_of(const struct hp_event *event)
{
	switch (event->type) {
	case PERF_TYPE_SOFTWARE:
		return event->config == PERF_COUNT_SW_CPU_CLOCK	   ? CPU_CLOCK
		       : event->config == PERF_COUNT_SW_TASK_CLOCK ? TASK_CLOCK
								   : SOFTWARE;
	case PERF_TYPE_TRACEPOINT:
		return TRACEPOINTS;
	case PERF_TYPE_BREAKPOINT:
		return BREAKPOINTS;
	default:
		return HARDWARE;
	}
}

bool hp_event_same_pmu(const struct hp_event *a, const struct hp_event *b)
{
	enum keeper keeper = keeper_of(a);

	return keeper == keeper_of(b) && (keeper != HARDWARE || a->type == b->type ||
					  (a->type <= PERF_TYPE_RAW && b->type <= PERF_TYPE_RAW));
}

/* x86 reports a data breakpoint after the access, other architectures before it. */
static bool traps_after_access(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return true;
#else
	return false;
#endif
}

const char *hp_event_precision(const struct hp_event *event)
{
	static const char *const levels[] = { "skid", "precise 1", "precise 2", "precise 3" };

	if (hp_event_is_clock(event))
		return "skid+1";
	if (event->type == PERF_TYPE_BREAKPOINT)
		return event->bp_type != HW_BREAKPOINT_X && traps_after_access() ? "skid+1"
										 : "exact";
	if (event->type == PERF_TYPE_SOFTWARE || event->type == PERF_TYPE_TRACEPOINT)
		return "exact";
	return levels[event->precise & 3];
}

static bool copy(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

struct hp_error *hp_event_describe(const struct hp_event *event, struct hp_event_info *info)
{
	*info = (struct hp_event_info){ .unit = event->unit };
	info->skid_instructions = hp_skid_default(hp_event_precision(event));
	if (copy(event->name, &info->name) && copy(hp_event_precision(event), &info->precision) &&
	    copy(event->instead_of, &info->instead_of) && copy(event->reason, &info->reason) &&
	    copy("default", &info->skid_source))
		return NULL;
	hp_event_info_clear(info);
	return hp_error_create_no_memory();
}

static struct hp_error *default_cycles(const struct hp_machine *machine, struct hp_event_list *list)
{
	size_t first = list->count;
	struct hp_error *error =
		hp_event_parse(machine->precise_cycles ? "cycles:P" : "cycles", machine, list);

	for (size_t i = first; !error && i < list->count; i++)
		list->events[i].precise = machine->precise_cycles;
	return error;
}

/* Whether sysfs has a core PMU, although `cycles` did not open. */
static bool shows_core_pmu(const struct hp_machine *machine)
{
	return hp_sysfs_has_pmu(machine, "cpu") || hp_sysfs_has_pmu(machine, "cpu_core") ||
	       hp_sysfs_has_pmu(machine, "armv8_pmuv3") ||
	       hp_sysfs_has_pmu(machine, "armv8_pmuv3_0");
}

const char *hp_event_why_no_cycles(const struct hp_machine *machine, const char **advice)
{
	switch (machine->cycles_errno) {
	case EACCES:
	case EPERM:
		*advice = "run: hpcprof doctor";
		return "this user may not open hardware events";
	case EBUSY:
		*advice = "run: hpcprof doctor";
		return "another program uses the hardware PMU";
	default:
		break;
	}
	if (shows_core_pmu(machine)) {
		*advice = "run: hpcprof doctor";
		return "this machine's PMU does not count cycles";
	}
	*advice = "for hardware events run on bare metal, or give the virtual machine a PMU "
		  "(QEMU/KVM: -cpu host,pmu=on; VMware: virtualize CPU performance counters; "
		  "clouds: a .metal or whole-socket instance)";
	return "this machine offers no hardware PMU (a VM or container?)";
}

struct hp_error *hp_event_default(const struct hp_machine *machine, struct hp_event_list *list)
{
	const char *reason;
	const char *advice = NULL;
	struct hp_event *event;
	struct hp_error *error;

	if (machine->has_cycles)
		return default_cycles(machine, list);
	error = hp_event_parse("cpu-clock", machine, list);
	if (error)
		return error;
	reason = hp_event_why_no_cycles(machine, &advice);
	event = &list->events[list->count - 1];
	if (copy("cycles", &event->instead_of) && copy(reason, &event->reason) &&
	    copy(advice, &event->advice))
		return NULL;
	return hp_error_create_no_memory();
}
