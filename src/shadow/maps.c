/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "maps.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/vector.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

void shadow_maps_clear(struct shadow_maps *maps)
{
	free(maps->at);
	free(maps->names);
	*maps = (struct shadow_maps){ 0 };
}

static bool parse_line(char *line, struct shadow_mapping *mapping, char **name)
{
	char permissions[5];
	int name_at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %*x:%*x %" SCNu64 " %n", &mapping->start,
		   &mapping->end, permissions, &mapping->inode, &name_at) != 4 ||
	    !name_at || mapping->start >= mapping->end || strlen(permissions) != 4)
		return false;
	mapping->protection = (permissions[0] == 'r' ? PROT_READ : 0) |
			      (permissions[1] == 'w' ? PROT_WRITE : 0) |
			      (permissions[2] == 'x' ? PROT_EXEC : 0);
	mapping->is_shared = permissions[3] == 's';
	*name = line + name_at;
	return true;
}

struct hp_error *shadow_maps_parse(char *text, struct shadow_maps *maps)
{
	char *line, *rest = text;

	shadow_maps_clear(maps);
	maps->names = strdup(text);
	if (!maps->names)
		return hp_error_create_no_memory();
	while ((line = strsep(&rest, "\n")) != NULL) {
		struct shadow_mapping mapping = { 0 };
		uint64_t before = maps->count ? maps->at[maps->count - 1].end : 0;
		char *name;

		if (!*line)
			continue;
		if (!parse_line(line, &mapping, &name) || mapping.start < before)
			return hp_error_create(HP_ERROR_DAMAGED, "mapping \"%s\" makes no sense",
					       line);
		/* At the same place in the copy, which gets its ends here. */
		mapping.name_at = (uint32_t)(name - text);
		maps->names[mapping.name_at + strlen(name)] = '\0';
		if (!hp_vector_push(maps, mapping))
			return hp_error_create_no_memory();
	}
	return NULL;
}

struct hp_error *shadow_maps_read(pid_t pid, struct shadow_maps *maps)
{
	char path[64];
	_cleanup_free_ char *text = NULL;
	struct hp_error *error;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	error = hp_file_read_text(path, &text);
	if (!error)
		error = shadow_maps_parse(text, maps);
	return hp_error_wrap(error, "%s", path);
}

const struct shadow_mapping *shadow_maps_find(const struct shadow_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->at[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < maps->count && maps->at[low].start <= address)
		return &maps->at[low];
	return NULL;
}

const char *shadow_maps_name(const struct shadow_maps *maps, const struct shadow_mapping *mapping)
{
	return maps->names + mapping->name_at;
}
