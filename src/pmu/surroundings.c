/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "surroundings.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <stdio.h>
#include <string.h>

/* Returns the text of ROOT/PATH without its newline (malloc'ed), or NULL if it cannot be read. */
static char *hp_surroundings_text(const struct hp_machine *machine, const char *path)
{
	return hp_file_text("%s%s", machine->root, path);
}

bool hp_surroundings_number(const struct hp_machine *machine, const char *path, int64_t *value)
{
	_cleanup_free_ char *text = hp_surroundings_text(machine, path);

	return text && hp_parse_i64(text, value);
}

static bool hp_surroundings_exists(const struct hp_machine *machine, const char *path)
{
	_cleanup_free_ char *full = NULL;

	return asprintf(&full, "%s%s", machine->root, path) >= 0 && access(full, F_OK) == 0;
}

static bool has_seccomp_filter(const struct hp_machine *machine)
{
	_cleanup_free_ char *status = hp_surroundings_text(machine, "/proc/self/status");
	const char *line = status ? strstr(status, "\nSeccomp:") : NULL;

	return line && strtol(line + strlen("\nSeccomp:"), NULL, 10) == 2;
}

/* In the first namespace every id maps to itself. */
static bool in_user_namespace(const struct hp_machine *machine)
{
	_cleanup_free_ char *map = hp_surroundings_text(machine, "/proc/self/uid_map");
	char *at = map;
	unsigned long inside;
	unsigned long outside;
	unsigned long count;

	if (!map)
		return false;
	inside = strtoul(at, &at, 10);
	outside = strtoul(at, &at, 10);
	count = strtoul(at, &at, 10);
	return inside != 0 || outside != 0 || count != 4294967295;
}

static const char *container(const struct hp_machine *machine)
{
	static const struct {
		const char *in_cgroup;
		const char *name;
	} marks[] = {
		{ "/docker", "docker" },
		{ "libpod", "podman" },
		{ "kubepods", "kubernetes" },
		{ "containerd", "containerd" },
		{ "/lxc", "lxc" },
	};
	_cleanup_free_ char *cgroup = NULL;

	if (hp_surroundings_exists(machine, "/run/.containerenv"))
		return "podman";
	if (hp_surroundings_exists(machine, "/.dockerenv"))
		return "docker";
	cgroup = hp_surroundings_text(machine, "/proc/self/cgroup");
	for (size_t i = 0; cgroup && i < HP_ARRAY_COUNT(marks); i++)
		if (strstr(cgroup, marks[i].in_cgroup))
			return marks[i].name;
	return NULL;
}

struct hp_surroundings hp_surroundings_look(const struct hp_machine *machine)
{
	/* "none [integrity] confidentiality": the brackets hold what is in force. */
	_cleanup_free_ char *lockdown =
		hp_surroundings_text(machine, "/sys/kernel/security/lockdown");

	return (struct hp_surroundings){
		.seccomp = has_seccomp_filter(machine),
		.user_namespace = in_user_namespace(machine),
		.container = container(machine),
		.lockdown_integrity = lockdown && !strstr(lockdown, "[none]"),
		.lockdown_confidential = lockdown && strstr(lockdown, "[confidentiality]"),
	};
}
