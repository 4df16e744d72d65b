/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spare_cpus.h"

#include "control_groups.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/cpu_list.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/shadow/shadow.h>

#include <stdio.h>
#include <string.h>

/* Field of /proc/PID/stat. */
enum { FIELD_NAME = 2, FIELD_CPU = 39 };

uint64_t cpus_to_use(void)
{
	cpu_set_t cpus;
	uint64_t count = 1;
	uint64_t quota = control_groups_cpus();

	if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0)
		count = (uint64_t)CPU_COUNT(&cpus);
	if (quota < count)
		count = quota;
	return count ? count : 1;
}

int cpu_of_thread(pid_t tid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%d/stat", (int)tid);
	const char *at;
	uint64_t cpu;

	/* The name may contain spaces and parentheses. */
	at = text ? strrchr(text, ')') : NULL;
	for (int field = FIELD_NAME; at && field < FIELD_CPU; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -1;
	at++;
	return hp_scan_u64(&at, &cpu) && cpu < CPU_SETSIZE ? (int)cpu : -1;
}

/* The CPUs of the core that `cpu` belongs to; only `cpu` if the kernel does not tell. */
static void core_of(int cpu, cpu_set_t *core)
{
	_cleanup_free_ char *text =
		hp_file_text("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	_cleanup_free_ int *siblings = NULL;
	size_t count = 0;

	CPU_ZERO(core);
	CPU_SET((size_t)cpu, core);
	if (text)
		hp_error_destroy(hp_cpu_list_parse(text, &siblings, &count));
	for (size_t i = 0; siblings && i < count; i++) {
		if (siblings[i] < CPU_SETSIZE)
			CPU_SET((size_t)siblings[i], core);
	}
}

static void take_away(cpu_set_t *from, const cpu_set_t *what)
{
	cpu_set_t both;

	CPU_AND(&both, from, what);
	CPU_XOR(from, from, &both);
}

enum spare_cpus spare_cpus(pid_t tid, uint64_t running, uint64_t usable, cpu_set_t *cpus)
{
	int cpu = cpu_of_thread(tid);
	cpu_set_t all, core;

	if (sched_getaffinity(0, sizeof(all), &all) < 0)
		CPU_ZERO(&all);
	*cpus = all;
	if (cpu < 0)
		return running < usable ? ROOM_OF_ITS_OWN : ROOM_NONE;
	core_of(cpu, &core);
	take_away(cpus, &core);
	if (CPU_COUNT(cpus))
		return running < usable ? ROOM_OF_ITS_OWN : ROOM_NONE;
	*cpus = all;
	CPU_CLR((size_t)cpu, cpus);
	if (CPU_COUNT(cpus))
		return running < usable ? ROOM_IN_CORE : ROOM_NONE;
	*cpus = all;
	return ROOM_NONE;
}

void set_copy_priority(pid_t copy, enum spare_cpus room)
{
	const struct sched_param no_priority = { 0 };

	sched_setscheduler(copy, is_idle_room(room) ? SCHED_IDLE : SCHED_BATCH, &no_priority);
}

void step_beside(const cpu_set_t *cpus, cpu_set_t *before)
{
	if (sched_getaffinity(0, sizeof(*before), before) < 0)
		CPU_ZERO(before);
	sched_setaffinity(0, sizeof(*cpus), cpus);
}

void step_back(const cpu_set_t *before)
{
	if (CPU_COUNT(before))
		sched_setaffinity(0, sizeof(*before), before);
}

void hp_shadow_step_aside(pid_t tid, cpu_set_t *before)
{
	cpu_set_t cpus;

	spare_cpus(tid, 0, 1, &cpus);
	step_beside(&cpus, before);
}

void hp_shadow_step_back(const cpu_set_t *before)
{
	step_back(before);
}
