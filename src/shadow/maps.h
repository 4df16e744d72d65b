/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is mapped where in a process, by /proc/PID/maps. */
#ifndef HPCPROF_SHADOW_MAPS_H
#define HPCPROF_SHADOW_MAPS_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct shadow_mapping {
	uint64_t start, end; /* not empty */
	int protection;	     /* PROT_* */
	bool is_shared;
	uint64_t inode;	  /* 0: anonymous */
	uint32_t name_at; /* into `names`: the path or [what], "" if none */
};

struct shadow_maps {
	struct shadow_mapping *at; /* by address, apart from each other. Owned */
	size_t count, capacity;
	char *names; /* Owned */
};

/* Replaces what `maps` held (zeroed at first). */
struct hp_error *shadow_maps_read(pid_t pid, struct shadow_maps *maps);
void shadow_maps_clear(struct shadow_maps *maps);

/* From the text of the file, which is changed. Lines that make no sense are DAMAGED. */
struct hp_error *shadow_maps_parse(char *text, struct shadow_maps *maps);

/* The mapping that has this address, or NULL. */
const struct shadow_mapping *shadow_maps_find(const struct shadow_maps *maps, uint64_t address);
const char *shadow_maps_name(const struct shadow_maps *maps, const struct shadow_mapping *mapping);

#endif
