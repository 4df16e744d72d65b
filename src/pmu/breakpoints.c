/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/pmu/breakpoints.h>

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
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

int hp_breakpoint_open(pid_t tid, uint64_t address, unsigned most)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.sample_period = 1, /* only sampling events stop by themselves */
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = address,
		.bp_len = sizeof(long),
	};
	int fd = hp_perf_event_open(&attr, tid, -1, -1);

	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_REFRESH, (int)most) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool hp_breakpoint_read(int fd, struct hp_breakpoint_count *count)
{
	uint64_t values[3] = { 0 }; /* count, enabled, running */
	bool is_fine = read(fd, values, sizeof(values)) == sizeof(values);

	*count = (struct hp_breakpoint_count){ .hits = values[0], .running_ns = values[2] };
	return is_fine;
}

double hp_breakpoint_cost_ns(unsigned hits)
{
	_cleanup_close_ int fd = hp_breakpoint_open(0, (uintptr_t)called, hits);
	struct hp_breakpoint_count count;
	double taken;

	if (fd < 0)
		return 0;
	taken = -(double)hp_clock_thread_ns();
	for (unsigned i = 0; i < hits; i++)
		called();
	taken += (double)hp_clock_thread_ns();
	if (!hp_breakpoint_read(fd, &count) || count.hits != hits || !(taken > 0))
		return 0;
	return taken / hits;
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
