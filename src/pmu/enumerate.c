/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "names.h"
#include "pfm.h"
#include "sets.h"
#include "tracefs.h"
#include "try.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct enumeration {
	const struct hp_machine *machine;
	bool (*each)(const struct hp_event_entry *entry, void *context);
	void *context;
	bool stopped;
};

static void give(struct enumeration *enumeration, const char *name, const char *kind,
		 const char *description, bool here)
{
	struct hp_event_entry entry = {
		.name = name,
		.kind = kind,
		.description = description,
		.here = here,
	};

	if (!enumeration->stopped)
		enumeration->stopped = !enumeration->each(&entry, enumeration->context);
}

/* Asks the kernel whether the PMU has this generic event, which takes microseconds. If nothing may
 * be opened, the answer is unknown, and no event is denied. */
static bool is_here(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	switch (hp_try_open(attr, 0, -1)) {
	case ENOENT:
	case EINVAL:
	case EOPNOTSUPP:
	case ENODEV:
		return false;
	default:
		return true;
	}
}

static void give_sets(struct enumeration *enumeration)
{
	for (size_t i = 0; i < hp_event_set_count; i++) {
		char name[40];
		char description[400];

		snprintf(name, sizeof(name), "@%s", hp_event_sets[i].name);
		snprintf(description, sizeof(description), "%s: %s", hp_event_sets[i].description,
			 hp_event_sets[i].events);
		give(enumeration, name, "set", description, true);
	}
}

static void give_tables(struct enumeration *enumeration)
{
	struct hp_event_cache_cell cell;

	for (size_t i = 0; i < hp_event_name_count; i++) {
		const struct hp_event_name *name = &hp_event_names[i];
		bool hardware = name->type == PERF_TYPE_HARDWARE;

		give(enumeration, name->name, hardware ? "hardware" : "software", name->description,
		     !hardware || is_here(name->type, name->config));
	}
	for (size_t i = 0; hp_event_cache_cell(i, &cell); i++)
		give(enumeration, cell.name, "cache", cell.description,
		     is_here(PERF_TYPE_HW_CACHE, cell.config));
}

static struct hp_error *give_pmu(struct enumeration *enumeration, const char *pmu)
{
	_cleanup_(hp_names_scope) struct hp_names events = { 0 };
	struct hp_error *error = hp_sysfs_list(enumeration->machine, pmu, "events", &events);
	_cleanup_free_ char *kind = NULL;

	if (error)
		return error;
	if (asprintf(&kind, "pmu %s", pmu) < 0)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < events.count; i++) {
		_cleanup_free_ char *file = NULL;
		_cleanup_free_ char *encoding = NULL;
		_cleanup_free_ char *name = NULL;

		if (asprintf(&file, "events/%s", events.at[i]) < 0 ||
		    asprintf(&name, "%s/%s/", pmu, events.at[i]) < 0)
			return hp_error_create_no_memory();
		hp_error_destroy(hp_sysfs_read(enumeration->machine, pmu, file, &encoding));
		give(enumeration, name, kind, encoding ? encoding : "", true);
	}
	return NULL;
}

static struct hp_error *give_group(struct enumeration *enumeration, const char *events,
				   const char *group)
{
	_cleanup_(hp_names_scope) struct hp_names names = { 0 };
	_cleanup_free_ char *directory = NULL;
	struct hp_error *error;

	if (asprintf(&directory, "%s/%s", events, group) < 0)
		return hp_error_create_no_memory();
	error = hp_names_read(directory, &names, NULL);
	for (size_t i = 0; !error && i < names.count; i++) {
		_cleanup_free_ char *name = NULL;
		_cleanup_free_ char *id = NULL;

		if (asprintf(&name, "%s:%s", group, names.at[i]) < 0 ||
		    asprintf(&id, "%s/%s/id", directory, names.at[i]) < 0)
			return hp_error_create_no_memory();
		if (access(id, F_OK) == 0)
			give(enumeration, name, "tracepoint", "", true);
	}
	return error;
}

static struct hp_error *give_tracepoints(struct enumeration *enumeration)
{
	_cleanup_(hp_names_scope) struct hp_names groups = { 0 };
	_cleanup_free_ char *events = NULL;
	struct hp_error *error;

	if (hp_tracefs_events(enumeration->machine, &events) != HP_TRACEFS_READABLE)
		return NULL;
	error = hp_names_read(events, &groups, NULL);
	for (size_t i = 0; !error && i < groups.count; i++)
		error = give_group(enumeration, events, groups.at[i]);
	return error;
}

static bool give_pfm(const char *pmu, bool core, const char *event, const char *description,
		     void *context)
{
	struct enumeration *enumeration = context;
	_cleanup_free_ char *kind = NULL;
	_cleanup_free_ char *name = NULL;

	if (asprintf(&kind, "pmu %s", pmu) < 0 || asprintf(&name, "%s::%s", pmu, event) < 0)
		return false;
	/* libpfm4 goes by the CPU's model, but a virtual machine may lack counters. */
	give(enumeration, name, kind, description, !core || enumeration->machine->has_cycles);
	return !enumeration->stopped;
}

struct hp_error *hp_event_enumerate(const struct hp_machine *machine,
				    bool (*each)(const struct hp_event_entry *entry, void *context),
				    void *context)
{
	struct enumeration enumeration = { .machine = machine, .each = each, .context = context };
	_cleanup_(hp_names_scope) struct hp_names pmus = { 0 };
	struct hp_error *error;

	give_sets(&enumeration);
	give_tables(&enumeration);
	error = hp_sysfs_pmus(machine, &pmus);
	for (size_t i = 0; !error && i < pmus.count && !enumeration.stopped; i++)
		error = give_pmu(&enumeration, pmus.at[i]);
	if (!error && !enumeration.stopped)
		error = give_tracepoints(&enumeration);
	if (error || enumeration.stopped)
		return error;
	if (!hp_pfm_enumerate(give_pfm, &enumeration))
		return hp_error_advise(
			hp_error_create(HP_ERROR_SYSTEM, PFM_LIBRARY
					" cannot be loaded: events of this CPU are unknown"),
			"install libpfm4");
	give(&enumeration, "rNNN", "raw", "the PMU's own event code, in hexadecimal",
	     machine->has_cycles);
	give(&enumeration, "mem:ADDRESS[/LENGTH][:rwx]", "breakpoint",
	     "accesses to, or execution of, one address", true);
	return NULL;
}
