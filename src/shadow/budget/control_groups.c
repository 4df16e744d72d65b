/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control_groups.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { GROUP_BYTES = PATH_MAX };

/* --- the name of a group ---------------------------------------------------------------------- */

/* Whether the list of controllers up to `end` ("cpu,cpuacct") contains `name`. */
static bool names(const char *list, const char *end, const char *name)
{
	size_t length = strlen(name);

	while (list < end) {
		size_t item = strcspn(list, ",:");

		if (item == length && strncmp(list, name, length) == 0)
			return true;
		list += item + 1;
	}
	return false;
}

bool control_group_find(const char *text, const char *controller, char *group, size_t size)
{
	/* "4:memory:/jobs/7", or "0::/jobs/7" */
	for (const char *line = text; line && *line;) {
		const char *list = strchr(line, ':');
		const char *path = list ? strchr(list + 1, ':') : NULL;
		const char *end = line + strcspn(line, "\n");
		size_t length;

		if (path && path < end &&
		    (*controller ? names(list + 1, path, controller) : path == list + 1)) {
			length = (size_t)(end - path) - 1;
			if (length >= size)
				return false;
			memcpy(group, path + 1, length);
			group[length] = 0;
			return true;
		}
		line = *end ? end + 1 : end;
	}
	return false;
}

/* --- the limits of a group -------------------------------------------------------------------- */

static bool read_number(const char *directory, const char *file, int64_t *value)
{
	_cleanup_free_ char *text = hp_file_text("%s/%s", directory, file);

	/* False for "max". */
	return text && hp_parse_i64(text, value);
}

static uint64_t left_of(const char *directory, const char *limit_file, const char *used_file)
{
	int64_t limit, used;

	if (!read_number(directory, limit_file, &limit) ||
	    !read_number(directory, used_file, &used))
		return UINT64_MAX;
	return used < limit ? (uint64_t)(limit - used) : 0;
}

static uint64_t memory_1(const char *directory)
{
	return left_of(directory, "memory.limit_in_bytes", "memory.usage_in_bytes");
}

static uint64_t memory_2(const char *directory)
{
	return left_of(directory, "memory.max", "memory.current");
}

static uint64_t whole_cpus(uint64_t quota, uint64_t period)
{
	if (!period)
		return UINT64_MAX;
	return quota < period ? 1 : quota / period;
}

uint64_t control_group_quota(const char *text)
{
	uint64_t quota, period;

	if (!hp_scan_u64(&text, &quota) || *text++ != ' ' || !hp_scan_u64(&text, &period))
		return UINT64_MAX;
	return whole_cpus(quota, period);
}

static uint64_t cpus_1(const char *directory)
{
	int64_t quota, period;

	/* -1: no quota. */
	if (!read_number(directory, "cpu.cfs_quota_us", &quota) || quota < 0 ||
	    !read_number(directory, "cpu.cfs_period_us", &period) || period < 0)
		return UINT64_MAX;
	return whole_cpus((uint64_t)quota, (uint64_t)period);
}

static uint64_t cpus_2(const char *directory)
{
	_cleanup_free_ char *text = hp_file_text("%s/cpu.max", directory);

	return text ? control_group_quota(text) : UINT64_MAX;
}

/* --- the lowest limit of all groups that contain this process --------------------------------- */

struct hierarchy {
	const char *controller; /* "": version 2 */
	const char *mount;
	uint64_t (*limit)(const char *directory);
};

/* The lowest limit of a group and its ancestors. In a container, /proc/self/cgroup may have the
 * names outside of it, which do not exist inside; the container's own group is the mounted root. */
static uint64_t least_of(const struct hierarchy *hierarchy, const char *text)
{
	char directory[PATH_MAX + GROUP_BYTES];
	char group[GROUP_BYTES];
	uint64_t least = hierarchy->limit(hierarchy->mount);
	uint64_t limit;

	if (!control_group_find(text, hierarchy->controller, group, sizeof(group)))
		return least;
	while (*group) {
		snprintf(directory, sizeof(directory), "%s%s", hierarchy->mount, group);
		limit = hierarchy->limit(directory);
		if (limit < least)
			least = limit;
		*(strrchr(group, '/') ? strrchr(group, '/') : group) = 0;
	}
	return least;
}

static uint64_t least(const struct hierarchy *hierarchies, size_t count)
{
	_cleanup_free_ char *text = hp_file_text("/proc/self/cgroup");
	uint64_t result = UINT64_MAX;

	for (size_t i = 0; text && i < count; i++) {
		uint64_t limit = least_of(&hierarchies[i], text);

		if (limit < result)
			result = limit;
	}
	return result;
}

uint64_t control_groups_memory(void)
{
	static const struct hierarchy hierarchies[] = {
		{ "", "/sys/fs/cgroup", memory_2 },
		{ "memory", "/sys/fs/cgroup/memory", memory_1 },
	};

	return least(hierarchies, HP_ARRAY_COUNT(hierarchies));
}

uint64_t control_groups_cpus(void)
{
	static const struct hierarchy hierarchies[] = {
		{ "", "/sys/fs/cgroup", cpus_2 },
		{ "cpu", "/sys/fs/cgroup/cpu", cpus_1 },
	};

	return least(hierarchies, HP_ARRAY_COUNT(hierarchies));
}
