/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jit.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/foreign_file.h>
#include <hpcprof/base/number.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

enum { EXTENT_BITS = 24 };

/* The process id as the process itself sees it in a container: the last number of NSpid. */
static uint32_t pid_inside(uint32_t pid)
{
	_cleanup_free_ char *text = hp_file_text("/proc/%u/status", pid);
	const char *line;
	uint32_t inside = pid;
	uint64_t value;

	line = text ? strstr(text, "\nNSpid:") : NULL;
	if (!line)
		return pid;
	line += strlen("\nNSpid:");
	while (hp_scan_u64(&line, &value) && value <= UINT32_MAX)
		inside = (uint32_t)value;
	return inside;
}

/* A map decides what reports say, so it is accepted only from the process's owner and from root. */
static bool is_trusted(const struct stat *map, uint32_t pid)
{
	struct stat process;
	char path[64];

	if (map->st_uid == 0 || map->st_uid == geteuid())
		return true;
	snprintf(path, sizeof(path), "/proc/%u", pid);
	return stat(path, &process) == 0 && map->st_uid == process.st_uid;
}

/* The process may have ended; its map usually stays. */
static int open_map(uint32_t pid, struct stat *status)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid_inside(pid));
	fd = hp_foreign_open_of((pid_t)pid, path, O_NOFOLLOW, status);
	if (fd >= 0 || hp_foreign_is_elsewhere((pid_t)pid))
		return fd;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	return hp_foreign_open(path, O_NOFOLLOW, status);
}

static void load(struct jit *jit, uint32_t pid)
{
	struct stat status;
	_cleanup_close_ int fd = open_map(pid, &status);
	struct hp_error *error = NULL;
	uint8_t *text = NULL;
	size_t size;

	jit_forget(jit);
	jit->pid = pid;
	if (fd < 0 || !is_trusted(&status, pid))
		return;
	error = hp_file_read_fd(fd, JIT_MAP_MIB << 20, &text, &size);
	if (!error)
		perf_map_parse((char *)text, &jit->map);
	if (error || jit->map.is_cut)
		jit->beyond_pid = pid;
	hp_error_destroy(error);
}

void jit_forget(struct jit *jit)
{
	perf_map_clear(&jit->map);
	jit->pid = 0;
}

static struct image *command_image(struct jit *jit, enum hp_image_kind kind, const char *what,
				   const char *command)
{
	char path[64];

	snprintf(path, sizeof(path), "[%s %s]", what, command);
	return images_named(jit->images, kind, path, NULL);
}

struct image *jit_anonymous(struct jit *jit, const char *command)
{
	return command_image(jit, HP_IMAGE_ANON, "anon", command);
}

bool jit_resolve(struct jit *jit, uint32_t pid, const char *command, uint64_t address,
		 struct image **image, uint64_t *offset)
{
	const struct perf_map_symbol *symbol;
	uint64_t base;

	if (jit->pid != pid)
		load(jit, pid);
	symbol = perf_map_find(&jit->map, address);
	if (!symbol)
		return false;
	/* The top bit stays 0, so that offsets cannot be mistaken for kernel addresses. */
	base = XXH3_64bits(symbol->name, strlen(symbol->name)) >> 1 >> EXTENT_BITS << EXTENT_BITS;
	*image = command_image(jit, HP_IMAGE_JIT, "jit", command);
	*offset = base + (address - symbol->start);
	if (*image && kept_add(jit->kept, *image, base, symbol->size, symbol->name))
		return true;
	/* If two names have the same hash, the second one is left out. */
	image_release(*image);
	return false;
}
