/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says whether this user may sample here: exit 0 after opening a sampling event, else 1 and the
 * kernel's reason on standard output. Asks the kernel itself, not hpcprof, which is under test.
 *
 *	can_sample [user|kernel|system|cycles]
 */
#include <linux/perf_event.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool asked_for(int argc, char **argv, const char *what)
{
	return argc > 1 && strcmp(argv[1], what) == 0;
}

int main(int argc, char **argv)
{
	bool system_wide = asked_for(argc, argv, "system");
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = !asked_for(argc, argv, "kernel") && !system_wide,
		.exclude_hv = 1,
	};

	if (asked_for(argc, argv, "cycles")) {
		attr.type = PERF_TYPE_HARDWARE;
		attr.config = PERF_COUNT_HW_CPU_CYCLES;
	}
	if (syscall(SYS_perf_event_open, &attr, system_wide ? -1 : 0, system_wide ? 0 : -1, -1,
		    PERF_FLAG_FD_CLOEXEC) >= 0)
		return EXIT_SUCCESS;
	printf("perf_event_open: %s\n", strerror(errno));
	return EXIT_FAILURE;
}
