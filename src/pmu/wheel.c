/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "wheel.h"

#include "sysfs.h"

#include <string.h>

void hp_wheel_clear(struct hp_counter_wheel *wheel)
{
	for (uint32_t i = 0; i < wheel->group_count; i++)
		free(wheel->groups[i].events);
	free(wheel->groups);
	free(wheel->always);
	free(wheel->ruler.name);
	free(wheel->pmu);
	free(wheel->cpus);
}

static bool is_software(const struct hp_event *event)
{
	return event->type == PERF_TYPE_SOFTWARE || event->type == PERF_TYPE_TRACEPOINT ||
	       event->type == PERF_TYPE_BREAKPOINT;
}

static bool is_generic(const struct hp_event *event)
{
	return event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_HW_CACHE;
}

uint32_t hp_wheel_pmu_type(const struct hp_event *event)
{
	uint32_t type = event->type;

	if (is_generic(event))
		type = (uint32_t)(event->config >> PERF_PMU_TYPE_SHIFT);
	return type ? type : PERF_TYPE_RAW;
}

/* The PMU of that number in sysfs; NULL when there is none. */
static struct hp_error *name_of_type(const struct hp_machine *machine, uint32_t type, char **name)
{
	_cleanup_(hp_names_scope) struct hp_names pmus = { 0 };
	struct hp_error *error = hp_sysfs_pmus(machine, &pmus);

	*name = NULL;
	for (size_t i = 0; !error && !*name && i < pmus.count; i++) {
		uint32_t found;
		struct hp_error *unreadable = hp_sysfs_type(machine, pmus.at[i], &found);

		if (!unreadable && found == type)
			*name = hp_steal(pmus.at[i]);
		hp_error_destroy(unreadable);
	}
	return error;
}

/* kprobes and uprobes are counted in software, whatever number they have. */
static bool is_probe(const char *pmu)
{
	return pmu && (!strcmp(pmu, "kprobe") || !strcmp(pmu, "uprobe"));
}

static char *read_list(const struct hp_machine *machine, const char *pmu, const char *file)
{
	char *text = NULL;

	hp_error_destroy(hp_sysfs_read(machine, pmu, file, &text));
	if (text && !text[0]) {
		free(text);
		text = NULL;
	}
	return text;
}

struct hp_error *hp_wheel_describe(const struct hp_machine *machine, const struct hp_event *event,
				   struct hp_counter_wheel *wheel)
{
	_cleanup_(hp_names_scope) struct hp_names cores = { 0 };
	struct hp_error *error = NULL;

	*wheel = (struct hp_counter_wheel){ .software = is_software(event), .ruler_event = -1 };
	if (!wheel->software)
		error = name_of_type(machine, hp_wheel_pmu_type(event), &wheel->pmu);
	if (!error && is_probe(wheel->pmu)) {
		wheel->software = true;
		free(hp_steal(wheel->pmu));
	}
	if (!error && !wheel->software && wheel->pmu) {
		wheel->cpus = read_list(machine, wheel->pmu, "cpumask");
		wheel->whole_cpus = wheel->cpus != NULL;
		if (!wheel->cpus)
			error = hp_sysfs_core_pmus(machine, &cores);
		/* Where all cores have it, its generic and raw events are the cores', too. */
		if (!error && !wheel->whole_cpus)
			wheel->cpus = read_list(machine, wheel->pmu, "cpus");
		if (wheel->cpus && !wheel->whole_cpus && !cores.count) {
			free(hp_steal(wheel->cpus));
			free(hp_steal(wheel->pmu));
		}
	}
	if (!error && !wheel->pmu)
		wheel->pmu = strdup(wheel->software ? "software" : "cpu");
	if (!error && !wheel->pmu)
		error = hp_error_create_no_memory();
	if (error)
		hp_wheel_clear(wheel);
	return error;
}
