/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Information about code in an image's data: exception landing pads, and pointers to code.
 * Addresses are link-time addresses. Damaged entries are omitted without an error, because callers
 * only need the edges.
 */
#ifndef HPCPROF_IMAGE_CODE_H
#define HPCPROF_IMAGE_CODE_H

#include <hpcprof/base/arena.h>
#include <hpcprof/image/image.h>

/* An exception from a call in [start, end) continues at `landing`. */
struct hp_landing {
	uint64_t start;
	uint64_t end;
	uint64_t landing;
};

/* The landing pads of the code in [address, address + size), sorted by start, in `arena`. Empty
 * when there are none, or memory is short. */
void hp_image_landings(struct hp_image *image, hp_link_address address, uint64_t size,
		       struct hp_arena *arena, const struct hp_landing **landings, size_t *count);

/* A word in the image's data that will hold the address of code. */
struct hp_code_pointer {
	uint64_t where;
	uint64_t target;
};

/* Pointers with low <= target < high, sorted by target: relocations, and in programs without
 * relocations every aligned word that looks like one. They live as long as the image. */
void hp_image_code_pointers(struct hp_image *image, uint64_t low, uint64_t high,
			    const struct hp_code_pointer **pointers, size_t *count);

/* The symbol of another image whose address the word at `where` will hold (a slot of the global
 * offset table), without a version; NULL when it holds something else. */
const char *hp_image_import(struct hp_image *image, uint64_t where);

/* Whether the address is in an executable part of the image. */
bool hp_image_is_code(const struct hp_image *image, uint64_t address);

/* Whether the address is in a segment that is both writable and executable. */
bool hp_image_is_writable_code(const struct hp_image *image, uint64_t address);

#endif
