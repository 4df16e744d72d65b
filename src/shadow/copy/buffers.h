/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buffers of all makers of windows. A buffer is with its maker from when that looks at the
 * target's memory until its copy has ended, and here otherwise. Memory for a large target takes
 * seconds to make, so the next window takes the buffer that is nearest to what it needs, whoever
 * has begun it.
 */
#ifndef SHADOW_COPY_BUFFERS_H
#define SHADOW_COPY_BUFFERS_H

#include "../tuning.h"
#include "buffer.h"

#include <stddef.h>

struct buffers {
	struct buffer at[MAKERS];
	size_t count;
	const struct buffer *away[MAKERS]; /* those that makers have */
	size_t away_count;
};

/* Takes the best one for `bytes`: of the kind that buffer_enlarge would make of it, the smallest that
 * suffices, or else the largest; if there is none of that kind, the smallest of the other. An empty
 * one if there is none at all. At most MAKERS are taken at the same time. */
void buffers_take(struct buffers *buffers, uint64_t bytes, bool is_kept, struct buffer *taken);
/* Gives a buffer back, which becomes empty. One that was not taken from here may be given, too: without
 * room for it, it is released. */
void buffers_give(struct buffers *buffers, struct buffer *buffer);
/* Divides `memory`, whole pages that are mapped and allocated, among MAKERS buffers. */
void buffers_adopt(struct buffers *buffers, uint8_t *memory, uint64_t bytes);
/* Whether another maker than that of `mine` has one of so many bytes. */
bool buffers_away_suffice(const struct buffers *buffers, const struct buffer *mine, uint64_t bytes);
void buffers_clear(struct buffers *buffers);

#endif
