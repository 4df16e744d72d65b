/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An address space: which image is mapped at which address.
 *
 * After fork, both processes share one space (a reference, no copy) until one of them maps
 * something. A space that samples may refer to is not changed where it has mappings: a mapping over
 * an existing one creates a new space, and samples taken before keep the old one. So a sample can
 * be looked up long after it was taken, as long as its space is referenced.
 */
#ifndef COLLECT_MAPS_SPACE_H
#define COLLECT_MAPS_SPACE_H

#include "../images/images.h"

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;     /* image offset of `start` */
	struct image *image; /* a reference; NULL: anonymous memory */
};

struct space {
	struct mapping *mappings; /* sorted, without overlaps */
	size_t count;
	size_t capacity;
	uint32_t references;
	uint32_t processes; /* references that are held by running processes */
};

struct space *space_create(void); /* One reference; NULL: out of memory. */
struct space *space_hold(struct space *space);
void space_release(struct space *space);

/* The mapping that contains the address, or NULL. */
const struct mapping *space_find(const struct space *space, uint64_t address);

/*
 * Adds `mapping` to the space of one process; its image reference is taken over in any case.
 * `*space` is replaced by a new space if the old one is shared with another process, or if
 * something in it is overwritten. False: out of memory; nothing has changed.
 */
bool space_map(struct space **space, const struct mapping *mapping);

#endif
