/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/breakpoints.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/open.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { HITS = 4 };

__attribute__((noinline)) static void called(void)
{
	__asm__ volatile("" ::: "memory");
}

enum hp_breakpoints hp_breakpoints_try(uint32_t bp_type)
{
	volatile uint32_t written __attribute__((aligned(8))) = 0;
	const bool is_execution = bp_type == HW_BREAKPOINT_X;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.bp_type = bp_type,
		.bp_addr = is_execution ? (uintptr_t)called : (uintptr_t)&written,
		.bp_len = is_execution ? sizeof(long) : HW_BREAKPOINT_LEN_4,
	};
	_cleanup_close_ int fd = hp_perf_event_open(&attr, 0, -1, -1);
	uint64_t hits = 0;

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return HP_BREAKPOINTS_NONE;
	for (uint32_t i = 0; i < HITS; i++) {
		called();
		written = i;
	}
	if (read(fd, &hits, sizeof(hits)) != sizeof(hits))
		return HP_BREAKPOINTS_NONE;
	return hits ? HP_BREAKPOINTS_FIRE : HP_BREAKPOINTS_SILENT;
}

struct hp_error *hp_breakpoints_check(const struct hp_event_list *events)
{
	for (size_t i = 0; i < events->count; i++) {
		const struct hp_event *event = &events->events[i];

		if (event->type != PERF_TYPE_BREAKPOINT ||
		    hp_breakpoints_try(event->bp_type) != HP_BREAKPOINTS_SILENT)
			continue;
		return hp_error_advise(
			hp_error_create(HP_ERROR_SYSTEM,
					"%s would count nothing: breakpoints open on this machine, "
					"but never fire",
					event->name),
			"run this on bare metal, or under a hypervisor that passes debug "
			"exceptions on; cpu-clock:u works without breakpoints");
	}
	return NULL;
}
