/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sysfs.h"

#include "text.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define EVENT_SOURCES "/sys/bus/event_source/devices"

void hp_names_clear(struct hp_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->at[i]);
	hp_vector_free(names);
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

struct hp_error *hp_names_read(const char *path, struct hp_names *names, bool *unreadable)
{
	_cleanup_(close_directory) DIR *directory = opendir(path);
	const struct dirent *entry;

	if (unreadable)
		*unreadable = !directory && errno == EACCES;
	if (!directory)
		return NULL;
	while ((entry = readdir(directory))) {
		char *name;

		if (entry->d_name[0] == '.')
			continue;
		name = strdup(entry->d_name);
		if (!name || !hp_vector_push(names, name)) {
			free(name);
			return hp_error_create_no_memory();
		}
	}
	if (names->count)
		qsort(names->at, names->count, sizeof(*names->at), compare_names);
	return NULL;
}

/* Builds a path in sysfs. Names come from the command line: a name that could leave the directory
 * is refused. */
static char *path_of(const struct hp_machine *machine, const char *pmu, const char *directory,
		     const char *file)
{
	char *path;

	if (pmu[0] == '.' || strchr(pmu, '/') || file[0] == '.' || strchr(file, '/'))
		return NULL;
	return asprintf(&path, "%s" EVENT_SOURCES "/%s%s%s%s%s", machine->root, pmu,
			directory[0] ? "/" : "", directory, file[0] ? "/" : "", file) < 0
		       ? NULL
		       : path;
}

static bool exists(const struct hp_machine *machine, const char *pmu, const char *directory,
		   const char *file)
{
	_cleanup_free_ char *path = path_of(machine, pmu, directory, file);
	struct stat status;

	return path && stat(path, &status) == 0;
}

bool hp_sysfs_has_pmu(const struct hp_machine *machine, const char *pmu)
{
	return exists(machine, pmu, "", "type");
}

static bool ends_in(const char *text, const char *suffix)
{
	size_t length = strlen(text);
	size_t suffix_length = strlen(suffix);

	return length > suffix_length && !strcmp(text + length - suffix_length, suffix);
}

/* Files beside the events that say how to show them. */
static bool is_annotation(const char *name)
{
	return ends_in(name, ".scale") || ends_in(name, ".unit") || ends_in(name, ".per-pkg") ||
	       ends_in(name, ".snapshot");
}

bool hp_sysfs_has_event(const struct hp_machine *machine, const char *pmu, const char *event)
{
	return event[0] && !is_annotation(event) && exists(machine, pmu, "events", event);
}

struct hp_error *hp_sysfs_pmus(const struct hp_machine *machine, struct hp_names *pmus)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s" EVENT_SOURCES, machine->root) < 0)
		return hp_error_create_no_memory();
	return hp_names_read(path, pmus, NULL);
}

struct hp_error *hp_sysfs_core_pmus(const struct hp_machine *machine, struct hp_names *pmus)
{
	_cleanup_(hp_names_scope) struct hp_names all = { 0 };
	struct hp_error *error = hp_sysfs_pmus(machine, &all);

	if (error)
		return error;
	/* A PMU that only some CPUs have lists them in `cpus`; uncore PMUs have a `cpumask`. */
	for (size_t i = 0; i < all.count; i++) {
		if (!exists(machine, all.at[i], "", "cpus"))
			continue;
		if (!hp_vector_push(pmus, all.at[i]))
			return hp_error_create_no_memory();
		all.at[i] = NULL;
	}
	if (pmus->count == 1)
		hp_names_clear(pmus);
	return NULL;
}

struct hp_error *hp_sysfs_list(const struct hp_machine *machine, const char *pmu,
			       const char *directory, struct hp_names *names)
{
	_cleanup_free_ char *path = path_of(machine, pmu, directory, "");
	struct hp_error *error;
	size_t kept = 0;

	if (!path)
		return NULL;
	error = hp_names_read(path, names, NULL);
	for (size_t i = 0; !error && i < names->count; i++) {
		if (is_annotation(names->at[i]))
			free(names->at[i]);
		else
			names->at[kept++] = names->at[i];
	}
	if (!error)
		names->count = kept;
	return error;
}

struct hp_error *hp_sysfs_read(const struct hp_machine *machine, const char *pmu, const char *file,
			       char **text)
{
	const char *slash = strchr(file, '/');
	_cleanup_free_ char *directory = strndup(file, slash ? (size_t)(slash - file) : 0);
	_cleanup_free_ char *path = NULL;

	if (!directory)
		return hp_error_create_no_memory();
	path = path_of(machine, pmu, directory, slash ? slash + 1 : file);
	if (!path)
		return hp_error_create(HP_ERROR_NOT_FOUND, "%s: no such file",
				       hp_pmu_show_string(file).text);
	return hp_file_read_text(path, text);
}

struct hp_error *hp_sysfs_type(const struct hp_machine *machine, const char *pmu, uint32_t *type)
{
	_cleanup_free_ char *text = NULL;
	struct hp_error *error = hp_sysfs_read(machine, pmu, "type", &text);
	uint64_t value;

	if (error)
		return error;
	if (!hp_parse_u64(text, &value) || value > UINT32_MAX)
		return hp_error_create(HP_ERROR_DAMAGED, "PMU %s: its type '%s' is not a number",
				       hp_pmu_show_string(pmu).text, hp_pmu_show_string(text).text);
	*type = (uint32_t)value;
	return NULL;
}
