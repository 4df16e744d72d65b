/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "examine.h"

#include "sysfs.h"
#include "try.h"

#include <hpcprof/base/number.h>
#include <hpcprof/pmu/breakpoints.h>
#include <hpcprof/pmu/open.h>

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum { MOST_COUNTERS = 32, MOST_BREAKPOINTS = 16, SPIN_STEPS = 200000 };

static const char pmu_advice[] = "bare metal, or a PMU for the virtual machine (QEMU/KVM: -cpu "
				 "host,pmu=on)";

/* Returns whether every kernel has this PMU, with or without hardware for it. */
static bool is_generic(const char *pmu)
{
	static const char *const generic[] = { "software", "tracepoint", "breakpoint", "kprobe",
					       "uprobe" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(generic); i++)
		if (!strcmp(pmu, generic[i]))
			return true;
	return false;
}

static void add_pmus(struct hp_examination *examination, const struct hp_names *pmus)
{
	char list[512] = "";
	size_t used = 0;
	size_t count = 0;

	for (size_t i = 0; i < pmus->count; i++) {
		if (is_generic(pmus->at[i]))
			continue;
		if (used < sizeof(list) - 72)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.60s",
						 count ? ", " : "", pmus->at[i]);
		count++;
	}
	if (examination->machine->has_cycles)
		hp_examination_add(examination, HP_FINDING_OK, "hardware PMU", NULL, NULL,
				   "cycles can be sampled; %zu PMU%s: %s", count,
				   count == 1 ? "" : "s", list);
	else if (examination->machine->cycles_errno == EACCES ||
		 examination->machine->cycles_errno == EPERM)
		hp_examination_add(examination, HP_FINDING_BLOCKED, "hardware PMU",
				   "sudo sysctl kernel.perf_event_paranoid=2",
				   "hpcprof report on profiles from elsewhere",
				   "could not be tested; PMUs: %s", count ? list : "none");
	else
		hp_examination_add(examination, HP_FINDING_ABSENT, "hardware PMU", pmu_advice,
				   "cpu-clock:u and faults: time instead of cycles",
				   "cycles cannot be opened (a VM or container?); other PMUs: %s",
				   count ? list : "none");
}

static struct perf_event_attr hardware(const struct hp_machine *machine, uint64_t config)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.exclude_kernel = machine->user_only,
		.exclude_hv = machine->user_only,
	};
}

/* Runs long enough for a group to get its turn. */
static void spin(void)
{
	for (unsigned i = 0; i < SPIN_STEPS; i++)
		__asm__ volatile("");
}

/* Whether a group of `size` copies counts at once. Some kernels (Arm) accept groups that never run,
 * so the group must have run. */
static bool group_runs(struct perf_event_attr attr, size_t size)
{
	struct {
		uint64_t value;
		uint64_t enabled_ns;
		uint64_t running_ns;
	} reading = { 0 };
	int fds[MOST_COUNTERS];
	size_t opened = 0;
	bool runs = false;

	for (; opened < size; opened++) {
		attr.disabled = opened == 0;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		fds[opened] = hp_perf_event_open(&attr, 0, -1, opened ? fds[0] : -1);
		if (fds[opened] < 0)
			break;
	}
	if (opened == size && ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) == 0) {
		spin();
		runs = read(fds[0], &reading, sizeof(reading)) == sizeof(reading) &&
		       reading.running_ns > 0;
	}
	while (opened > 0)
		close(fds[--opened]);
	return runs;
}

static void add_counters(struct hp_examination *examination)
{
	/* Not cycles or instructions: these may have counters of their own. */
	struct perf_event_attr attr =
		hardware(examination->machine, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	size_t counters = 0;
	int64_t watchdog = 0;

	if (!examination->machine->has_cycles)
		return;
	if (hp_try_open(attr, 0, -1) != 0)
		attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	while (counters < MOST_COUNTERS && group_runs(attr, counters + 1))
		counters++;
	hp_surroundings_number(examination->machine, "/proc/sys/kernel/nmi_watchdog", &watchdog);
	hp_examination_add(examination, counters ? HP_FINDING_OK : HP_FINDING_LIMITED, "counters",
			   counters ? NULL : "end other profilers and virtual machines",
			   counters ? NULL : "sampling one event at a time",
			   "%zu events of one kind count at once", counters);
	if (watchdog)
		hp_examination_add(examination, HP_FINDING_LIMITED, "NMI watchdog",
				   "sudo sysctl kernel.nmi_watchdog=0",
				   "everything, with one counter fewer", "on: it uses one counter");
	else
		hp_examination_add(examination, HP_FINDING_OK, "NMI watchdog", NULL, NULL, "off");
}

static void add_precision(struct hp_examination *examination, const struct hp_names *pmus)
{
	const struct hp_machine *machine = examination->machine;
	char list[256] = "";
	size_t used = 0;

	if (machine->has_cycles && machine->precise_cycles)
		hp_examination_add(examination, HP_FINDING_OK, "precise levels", NULL, NULL,
				   "cycles up to level %u (:%s)", machine->precise_cycles,
				   &"ppp"[3 - (machine->precise_cycles & 3)]);
	else if (machine->has_cycles)
		hp_examination_add(
			examination, HP_FINDING_ABSENT, "precise levels", NULL, "samples with skid",
			machine->ignores_precise
				? "none: the kernel accepts every level (:ppp) but provides none"
				: "none for cycles");
	for (size_t i = 0; i < pmus->count && used < sizeof(list) - 72; i++)
		if (!strncmp(pmus->at[i], "ibs_", 4) || !strncmp(pmus->at[i], "arm_spe", 7))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.60s",
						 used ? ", " : "", pmus->at[i]);
	if (used)
		hp_examination_add(examination, HP_FINDING_OK, "IBS / SPE", NULL, NULL, "%s", list);
	else
		hp_examination_add(examination, HP_FINDING_ABSENT, "IBS / SPE", NULL,
				   "other precise levels, or samples with skid",
				   "this machine has neither");
}

static void add_branch_stacks(struct hp_examination *examination, const struct hp_names *pmus)
{
	struct perf_event_attr attr = hardware(examination->machine, PERF_COUNT_HW_CPU_CYCLES);
	_cleanup_free_ char *depth = NULL;
	int failure;

	attr.sample_period = 1000003;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	failure = hp_try_open(attr, 0, -1);
	for (size_t i = 0; i < pmus->count && !depth; i++)
		hp_error_destroy(
			hp_sysfs_read(examination->machine, pmus->at[i], "caps/branches", &depth));
	if (!failure)
		hp_examination_add(examination, HP_FINDING_OK, "branch stacks", NULL, NULL,
				   "LBR or BRBE, %s branches deep",
				   depth ? depth : "an unknown number of");
	else
		hp_examination_add(
			examination,
			failure == EACCES || failure == EPERM ? HP_FINDING_BLOCKED
							      : HP_FINDING_ABSENT,
			"branch stacks", examination->machine->has_cycles ? NULL : pmu_advice,
			"estimates from samples alone", "no LBR or BRBE: %s", strerror(failure));
}

/* Names those that are never hit; NULL: all are. */
static const char *silent_breakpoints(void)
{
	bool code = hp_breakpoints_try(HW_BREAKPOINT_X) == HP_BREAKPOINTS_SILENT;
	bool data = hp_breakpoints_try(HW_BREAKPOINT_W) == HP_BREAKPOINTS_SILENT;

	if (code && data)
		return "open, but never fire on this machine";
	if (code)
		return "those on code open, but never fire on this machine";
	return data ? "those on data open, but never fire on this machine" : NULL;
}

/* Counts how many breakpoints open at once on an address that nothing executes. */
static void add_breakpoints(struct hp_examination *examination)
{
	static const char watched[8] __attribute__((aligned(8))) = { 0 };
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)watched,
		.bp_len = HW_BREAKPOINT_LEN_4,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1,
	};
	int fds[MOST_BREAKPOINTS];
	const char *silent = silent_breakpoints();
	int failure = 0;
	size_t count = 0;

	for (; count < MOST_BREAKPOINTS; count++) {
		fds[count] = hp_perf_event_open(&attr, 0, -1, -1);
		if (fds[count] < 0) {
			failure = errno;
			break;
		}
	}
	for (size_t i = 0; i < count; i++)
		close(fds[i]);
	if (count && silent)
		hp_examination_add(examination, HP_FINDING_ABSENT, "breakpoints",
				   "bare metal, or a hypervisor that passes debug exceptions on",
				   "everything but record --probes and events mem:ADDRESS", "%s",
				   silent);
	else if (count)
		hp_examination_add(examination, HP_FINDING_OK, "breakpoints", NULL, NULL,
				   "%zu addresses at a time", count);
	else
		hp_examination_add(examination,
				   failure == EACCES || failure == EPERM || failure == ENOSPC
					   ? HP_FINDING_BLOCKED
					   : HP_FINDING_ABSENT,
				   "breakpoints",
				   failure == ENOSPC   ? "detach the debugger"
				   : failure == EACCES ? "sudo sysctl kernel.perf_event_paranoid=2"
						       : NULL,
				   "sampled profiles; no exact counts", "none: %s",
				   strerror(failure));
}

void hp_examine_hardware(struct hp_examination *examination)
{
	_cleanup_(hp_names_scope) struct hp_names pmus = { 0 };
	struct hp_error *error = hp_sysfs_pmus(examination->machine, &pmus);

	/* an unreadable sysfs has no PMUs, so only memory can be short here */
	examination->no_memory |= error != NULL;
	hp_error_destroy(error);
	add_pmus(examination, &pmus);
	add_counters(examination);
	add_precision(examination, &pmus);
	add_branch_stacks(examination, &pmus);
	add_breakpoints(examination);
}
