/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "secrets.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the line begins an area, "1000-2000 rw-p ...". The fields of an area begin with a capital
 * letter. */
static bool is_area(const char *line, uint64_t *start, uint64_t *end)
{
	unsigned long long from, to;
	int length = 0;

	if (sscanf(line, "%llx-%llx %n", &from, &to, &length) != 2 || !length || from >= to)
		return false;
	*start = from;
	*end = to;
	return true;
}

/* The flags, of two letters each, for: wipe on fork; no core dump; no copy on fork; locked in
 * memory. */
static bool is_secret(const char *flags)
{
	return strstr(flags, " wf") || strstr(flags, " dd") ||
	       (strstr(flags, " dc") && strstr(flags, " lo"));
}

bool secrets_take_line(struct secrets *secrets, const char *line, uint64_t *start, uint64_t *end)
{
	static const char flags[] = "VmFlags:";
	struct secret secret;

	if (strncmp(line, flags, sizeof(flags) - 1) != 0) {
		is_area(line, start, end);
		return true;
	}
	secret = (struct secret){ *start, *end };
	if (*start >= *end || !is_secret(line + sizeof(flags) - 1) ||
	    (secrets->count && secrets->at[secrets->count - 1].end > *start))
		return true;
	return hp_vector_push(secrets, secret);
}

struct hp_error *secrets_read(struct secrets *secrets, pid_t pid)
{
	_cleanup_free_ char *line = NULL;
	uint64_t start = 0;
	uint64_t end = 0;
	size_t size = 0;
	bool room = true;
	char path[64];
	FILE *file;

	secrets->count = 0;
	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return hp_error_create_errno(errno, "opening %s", path);
	while (room && getline(&line, &size, file) > 0)
		room = secrets_take_line(secrets, line, &start, &end);
	fclose(file);
	return room ? NULL : hp_error_create_no_memory();
}

void secrets_clear(struct secrets *secrets)
{
	hp_vector_free(secrets);
}

bool secrets_meet(const struct secrets *secrets, uint64_t start, uint64_t end)
{
	size_t first = hp_bisect(i, secrets->count, secrets->at[i].end <= start);

	return first < secrets->count && secrets->at[first].start < end;
}
