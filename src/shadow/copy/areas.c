/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "areas.h"

#include "../tuning.h"
#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/proc_maps.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* True for devices that are ordinary memory. */
static bool is_memory_device(const char *path)
{
	return starts_with(path, "/dev/shm/") || starts_with(path, "/dev/zero") ||
	       starts_with(path, "/dev/hugepages/");
}

static enum area_kind kind_of(const struct area *area)
{
	const char *path = area->path;

	if (!*path)
		return area->inode ? AREA_UNNAMED : AREA_MEMORY;
	if (*path == '[') {
		if (strcmp(path, "[heap]") == 0)
			return AREA_HEAP;
		if (strcmp(path, "[stack]") == 0)
			return AREA_STACK;
		if (strcmp(path, "[vdso]") == 0)
			return AREA_VDSO;
		if (starts_with(path, "[vvar"))
			return AREA_VVAR;
		if (strcmp(path, "[vsyscall]") == 0 || strcmp(path, "[uprobes]") == 0)
			return AREA_VSYSCALL;
		/* "[anon:name]", and names that later kernels may add */
		return AREA_MEMORY;
	}
	if (starts_with(path, "/memfd:") || starts_with(path, "/SYSV") ||
	    starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage"))
		return AREA_UNNAMED;
	if (starts_with(path, "/[aio]") || starts_with(path, "anon_inode:") ||
	    starts_with(path, "socket:") || starts_with(path, "pipe:"))
		return AREA_DEVICE;
	if (starts_with(path, "/dev/") && !is_memory_device(path))
		return AREA_DEVICE;
	if (starts_with(path, "/proc/") || starts_with(path, "/sys/") ||
	    starts_with(path, "/secretmem"))
		return AREA_DEVICE;
	return *path == '/' ? AREA_FILE : AREA_DEVICE;
}

static bool parse_line(char *line, struct area *area)
{
	struct hp_proc_mapping mapping;

	if (!hp_proc_maps_parse_line(line, &mapping))
		return false;
	*area = (struct area){
		.start = mapping.start,
		.end = mapping.end,
		.file_offset = mapping.file_offset,
		.device = (uint64_t)mapping.major << 32 | mapping.minor,
		.inode = mapping.inode,
		.path = mapping.path,
		.protection = mapping.protection,
		.is_shared = mapping.is_shared,
	};
	area->kind = (uint8_t)kind_of(area);
	return true;
}

bool areas_parse(struct areas *areas, char *text)
{
	uint64_t last = 0;
	char *line;

	areas->count = 0;
	while ((line = strsep(&text, "\n"))) {
		struct area area;

		if (!*line)
			continue;
		if (!parse_line(line, &area) || area.start < last || areas->count >= AREA_LIMIT ||
		    !hp_vector_push(areas, area))
			return false;
		last = area.end;
	}
	return true;
}

/* Reads the whole file. The kernel returns at most one page of lines per read. */
static struct hp_error *read_text(struct areas *areas, int fd)
{
	size_t used = 0;
	ssize_t got;

	do {
		if (!hp_grow((void **)&areas->text, &areas->text_capacity, used + 65536, 1))
			return hp_error_create_no_memory();
		got = read(fd, areas->text + used, areas->text_capacity - used - 1);
		if (got > 0)
			used += (size_t)got;
	} while (got > 0 && used < ((size_t)AREA_LIMIT << 8));
	if (got < 0)
		return hp_error_create_errno(errno, "reading its memory map");
	areas->text[used] = 0;
	return NULL;
}

struct hp_error *areas_read(struct areas *areas, pid_t pid)
{
	_cleanup_close_ int fd = -1;
	struct hp_error *error;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return hp_error_create_errno(errno, "opening %s", path);
	error = read_text(areas, fd);
	if (error)
		return error;
	if (!areas_parse(areas, areas->text))
		return hp_error_create(HP_ERROR_SYSTEM, "%s cannot be understood", path);
	return NULL;
}

void areas_clear(struct areas *areas)
{
	free(areas->at);
	free(areas->text);
	*areas = (struct areas){ 0 };
}

const struct area *areas_find(const struct areas *areas, uint64_t address)
{
	size_t first = hp_bisect(i, areas->count, areas->at[i].end <= address);

	if (first < areas->count && areas->at[first].start <= address)
		return &areas->at[first];
	return NULL;
}

/* --- changes ---------------------------------------------------------------------------------- */

static bool is_made(const struct area *area)
{
	return !area->is_shared && (area->kind == AREA_MEMORY || area->kind == AREA_HEAP);
}

bool areas_are_made(const struct areas *areas, uint64_t start, uint64_t end, int protection)
{
	size_t first = hp_bisect(i, areas->count, areas->at[i].end <= start);

	for (size_t i = first; i < areas->count && areas->at[i].start < end; i++) {
		if ((areas->at[i].protection & protection) == protection && !is_made(&areas->at[i]))
			return false;
	}
	return true;
}

bool areas_are_lent(const struct areas *areas, uint64_t start, uint64_t end)
{
	size_t first = hp_bisect(i, areas->count, areas->at[i].end <= start);
	bool is_lent = false;

	for (size_t i = first; !is_lent && i < areas->count && areas->at[i].start < end; i++)
		is_lent = areas->at[i].is_lent;
	return is_lent;
}

/* Splits the area around `address`, if there is one, so that an area begins there. */
static bool cut(struct areas *areas, uint64_t address)
{
	size_t number = hp_bisect(i, areas->count, areas->at[i].end <= address);
	struct area upper;

	if (number == areas->count || areas->at[number].start >= address)
		return true;
	if (areas->count >= AREA_LIMIT || !hp_vector_reserve(areas, areas->count + 1))
		return false;
	upper = areas->at[number];
	upper.file_offset += address - upper.start;
	upper.start = address;
	areas->at[number].end = address;
	memmove(&areas->at[number + 2], &areas->at[number + 1],
		(areas->count - number - 1) * sizeof(upper));
	areas->at[number + 1] = upper;
	areas->count++;
	return true;
}

bool areas_set(struct areas *areas, uint64_t start, uint64_t end, int protection)
{
	const struct area area = {
		.start = start, .end = end, .path = "", .protection = (uint8_t)protection
	};
	size_t first, behind;

	if (end <= start || !cut(areas, start) || !cut(areas, end) || areas->count >= AREA_LIMIT ||
	    !hp_vector_reserve(areas, areas->count + 1))
		return false;
	first = hp_bisect(i, areas->count, areas->at[i].end <= start);
	behind = hp_bisect(i, areas->count, areas->at[i].end <= end);
	memmove(&areas->at[first + 1], &areas->at[behind], (areas->count - behind) * sizeof(area));
	areas->count = areas->count - (behind - first) + 1;
	areas->at[first] = area;
	return true;
}
