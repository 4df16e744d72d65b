/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rotation_set.h"

#include "sysfs.h"

#include <string.h>

void hp_rotation_set_clear(struct hp_rotation_set *rotation_set)
{
	for (uint32_t i = 0; i < rotation_set->group_count; i++)
		free(rotation_set->groups[i].events);
	free(rotation_set->groups);
	free(rotation_set->always);
	free(rotation_set->reference.name);
	free(rotation_set->pmu);
	free(rotation_set->cpus);
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

uint32_t hp_rotation_set_pmu_type(const struct hp_event *event)
{
	uint32_t type = event->type;

	if (is_generic(event))
		type = (uint32_t)(event->config >> PERF_PMU_TYPE_SHIFT);
	return type ? type : PERF_TYPE_RAW;
}

/* Finds the PMU with this number in sysfs; its name is NULL if there is none. */
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

struct hp_error *hp_rotation_set_describe(const struct hp_machine *machine,
					  const struct hp_event *event,
					  struct hp_rotation_set *rotation_set)
{
	_cleanup_(hp_names_scope) struct hp_names cores = { 0 };
	struct hp_error *error = NULL;

	*rotation_set =
		(struct hp_rotation_set){ .software = is_software(event), .reference_event = -1 };
	if (!rotation_set->software)
		error = name_of_type(machine, hp_rotation_set_pmu_type(event), &rotation_set->pmu);
	if (!error && is_probe(rotation_set->pmu)) {
		rotation_set->software = true;
		free(hp_steal(rotation_set->pmu));
	}
	if (!error && !rotation_set->software && rotation_set->pmu) {
		rotation_set->cpus = read_list(machine, rotation_set->pmu, "cpumask");
		rotation_set->whole_cpus = rotation_set->cpus != NULL;
		if (!rotation_set->cpus)
			error = hp_sysfs_core_pmus(machine, &cores);
		/* Where all cores have it, its generic and raw events are the cores', too. */
		if (!error && !rotation_set->whole_cpus)
			rotation_set->cpus = read_list(machine, rotation_set->pmu, "cpus");
		if (rotation_set->cpus && !rotation_set->whole_cpus && !cores.count) {
			free(hp_steal(rotation_set->cpus));
			free(hp_steal(rotation_set->pmu));
		}
	}
	if (!error && !rotation_set->pmu)
		rotation_set->pmu = strdup(rotation_set->software ? "software" : "cpu");
	if (!error && !rotation_set->pmu)
		error = hp_error_create_no_memory();
	if (error)
		hp_rotation_set_clear(rotation_set);
	return error;
}
