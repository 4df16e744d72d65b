/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Says whether this user may sample here: exit 0 after opening a sampling event, else 1 and the
 * kernel's reason on standard output. Asks the kernel itself, not hpcprof, which is under test.
 *
 *	can_sample [user|kernel|system|cycles]
 *	can_sample breakpoints		whether breakpoints on code and on data open, and are hit
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool asked_for(int argc, char **argv, const char *what)
{
	return argc > 1 && strcmp(argv[1], what) == 0;
}

static volatile uint32_t written __attribute__((aligned(8)));

static __attribute__((noinline)) void called(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Under some hypervisors breakpoints open, and are never hit. */
static bool is_hit(bool on_code)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_BREAKPOINT,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.bp_type = on_code ? HW_BREAKPOINT_X : HW_BREAKPOINT_W,
		.bp_addr = on_code ? (uintptr_t)called : (uintptr_t)&written,
		.bp_len = on_code ? sizeof(long) : HW_BREAKPOINT_LEN_4,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t hits = 0;

	if (fd < 0) {
		printf("breakpoints: %s\n", strerror(errno));
		return false;
	}
	for (uint32_t i = 0; i < 100; i++) {
		called();
		written = i;
	}
	if (read(fd, &hits, sizeof(hits)) == sizeof(hits) && hits > 0)
		return true;
	puts("breakpoints open here, but never fire");
	return false;
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

	if (asked_for(argc, argv, "breakpoints"))
		return is_hit(true) && is_hit(false) ? EXIT_SUCCESS : EXIT_FAILURE;
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
