/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers from an excerpt, when the file that it was taken from is not available. */
#ifndef HPCPROF_IMAGE_EXCERPTED_H
#define HPCPROF_IMAGE_EXCERPTED_H

#include <hpcprof/base/arena.h>
#include <hpcprof/image/code.h>
#include <hpcprof/image/image.h>

bool excerpted_link_address(const struct hp_excerpt *excerpt, uint64_t offset, uint64_t *address);
size_t excerpted_text(const struct hp_excerpt *excerpt, uint64_t address, size_t size,
		      const uint8_t **bytes);
bool excerpted_is_code(const struct hp_excerpt *excerpt, uint64_t address);
bool excerpted_is_writable_code(const struct hp_excerpt *excerpt, uint64_t address);
void excerpted_landings(const struct hp_excerpt *excerpt, uint64_t address, uint64_t size,
			struct hp_arena *arena, const struct hp_landing **landings, size_t *count);
/* Finds the pointers to code in a range; they are in `arena`. */
void excerpted_pointers(const struct hp_excerpt *excerpt, uint64_t low, uint64_t high,
			struct hp_arena *arena, const struct hp_code_pointer **pointers,
			size_t *count);
const char *excerpted_import(const struct hp_excerpt *excerpt, uint64_t where);
/* Frames are in `arena`; false when memory is short. */
bool excerpted_frames(const struct hp_excerpt *excerpt, const hp_link_address *addresses,
		      size_t count, bool inlines, struct hp_arena *arena, struct hp_frames *frames);

#endif
