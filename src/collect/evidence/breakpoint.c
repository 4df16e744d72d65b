/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "breakpoint.h"

#include "../tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/pmu/open.h>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

int breakpoint_open(pid_t tid, uint64_t address, unsigned most)
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

bool breakpoint_take(int fd, struct breakpoint_count *count)
{
	uint64_t values[3] = { 0 }; /* count, enabled, running */
	bool is_fine = read(fd, values, sizeof(values)) == sizeof(values);

	close(fd);
	*count = (struct breakpoint_count){ .hits = values[0], .running_ns = values[2] };
	return is_fine;
}

/* --- price -------------------------------------------------------------------------------------
 */

__attribute__((noinline)) static void hit(void)
{
	__asm__ volatile("" ::: "memory");
}

double breakpoint_cost_ns(void)
{
	struct breakpoint_count count;
	double taken;
	int fd = breakpoint_open(0, (uintptr_t)hit, PROBE_COST_HITS);

	if (fd < 0)
		return 0;
	taken = -(double)hp_clock_thread_ns();
	for (unsigned i = 0; i < PROBE_COST_HITS; i++)
		hit();
	taken += (double)hp_clock_thread_ns();
	if (!breakpoint_take(fd, &count) || count.hits != PROBE_COST_HITS || !(taken > 0))
		return 0;
	return taken / PROBE_COST_HITS;
}
