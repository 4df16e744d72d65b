/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tracefs.h"

#include "text.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define MOUNT_ADVICE "sudo mount -t tracefs nodev /sys/kernel/tracing"

void hp_tracepoints_clear(struct hp_tracepoints *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->at[i].name);
	hp_vector_free(found);
}

enum hp_tracefs_state hp_tracefs_events(const struct hp_machine *machine, char **path)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	enum hp_tracefs_state state = HP_TRACEFS_ABSENT;

	*path = NULL;
	for (size_t i = 0; i < HP_ARRAY_COUNT(places); i++) {
		char *events;

		if (asprintf(&events, "%s%s/events", machine->root, places[i]) < 0)
			continue;
		if (access(events, R_OK | X_OK) == 0) {
			*path = events;
			return HP_TRACEFS_READABLE;
		}
		/* An empty directory that may be searched has nothing mounted on it. */
		events[strlen(events) - strlen("/events")] = 0;
		if (access(events, X_OK) != 0 && access(events, F_OK) == 0)
			state = HP_TRACEFS_CLOSED;
		free(events);
	}
	return state;
}

static struct hp_error *push(struct hp_tracepoints *found, const char *events, const char *group,
			     const char *event)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_free_ char *name = NULL;
	struct hp_error *error;
	int64_t id;

	if (asprintf(&path, "%s/%s/%s/id", events, group, event) < 0 ||
	    asprintf(&name, "%s:%s", group, event) < 0)
		return hp_error_create_no_memory();
	error = hp_file_read_number(path, &id);
	if (error && (error->errno_value == ENOTDIR || error->errno_value == ENAMETOOLONG))
		error->class = HP_ERROR_NOT_FOUND;
	if (error)
		return error;
	if (id < 0)
		return hp_error_create(HP_ERROR_DAMAGED, "%s: %lld is not an id", path,
				       (long long)id);
	if (!hp_vector_push(found, (struct hp_tracepoint){ .name = name, .id = (uint64_t)id }))
		return hp_error_create_no_memory();
	name = NULL;
	return NULL;
}

static struct hp_error *unavailable(enum hp_tracefs_state state)
{
	if (state == HP_TRACEFS_ABSENT)
		return hp_error_advise(
			hp_error_create(HP_ERROR_NOT_PERMITTED, "tracefs is not mounted"),
			"run: " MOUNT_ADVICE " (software and hardware events work without it)");
	return hp_error_advise(
		hp_error_create(HP_ERROR_NOT_PERMITTED, "this user may not read tracefs"),
		"run hpcprof as root, or: sudo chmod -R a+rX /sys/kernel/tracing (software and "
		"hardware events work without it)");
}

struct hp_error *hp_event_missing_tracepoints(const struct hp_machine *machine)
{
	_cleanup_free_ char *events = NULL;
	enum hp_tracefs_state state = hp_tracefs_events(machine, &events);

	return state == HP_TRACEFS_READABLE ? NULL : unavailable(state);
}

static bool is_one_name(const char *text)
{
	return text[0] && text[0] != '.' && !strchr(text, '/');
}

static struct hp_error *find_in(const char *events, const char *group, const char *pattern,
				struct hp_tracepoints *found)
{
	_cleanup_(hp_names_scope) struct hp_names names = { 0 };
	_cleanup_free_ char *directory = NULL;
	struct hp_error *error;

	if (!strpbrk(pattern, "*?["))
		return push(found, events, group, pattern);
	if (asprintf(&directory, "%s/%s", events, group) < 0)
		return hp_error_create_no_memory();
	error = hp_names_read(directory, &names, NULL);
	for (size_t i = 0; !error && i < names.count; i++) {
		_cleanup_free_ char *id = NULL;

		/* Beside the events there are files: enable, filter. */
		if (asprintf(&id, "%s/%s/id", directory, names.at[i]) < 0)
			return hp_error_create_no_memory();
		if (fnmatch(pattern, names.at[i], 0) == 0 && access(id, F_OK) == 0)
			error = push(found, events, group, names.at[i]);
	}
	return error;
}

struct hp_error *hp_tracefs_find(const struct hp_machine *machine, const char *name,
				 struct hp_tracepoints *found)
{
	const char *colon = strchr(name, ':');
	_cleanup_free_ char *group = strndup(name, colon ? (size_t)(colon - name) : 0);
	_cleanup_free_ char *events = NULL;
	enum hp_tracefs_state state;
	struct hp_error *error;

	if (!group)
		return hp_error_create_no_memory();
	if (!colon || !is_one_name(group) || !is_one_name(colon + 1))
		return hp_error_create(HP_ERROR_NOT_FOUND, "no tracepoint '%s'",
				       hp_pmu_show_string(name).text);
	state = hp_tracefs_events(machine, &events);
	if (state != HP_TRACEFS_READABLE)
		return hp_error_wrap(unavailable(state), "tracepoint '%s' cannot be looked up",
				     hp_pmu_show_string(name).text);
	error = find_in(events, group, colon + 1, found);
	if (!error && !found->count)
		error = hp_error_create(HP_ERROR_NOT_FOUND, "no tracepoint matches '%s'",
					hp_pmu_show_string(name).text);
	return error;
}
