/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growable text. If memory is short, the buffer sets `failed` and ignores everything appended
 * later, so that callers check once, at the end.
 */
#ifndef HPCPROF_BASE_BUFFER_H
#define HPCPROF_BASE_BUFFER_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct hp_buffer {
	char *text; /* owned; terminated once anything was added */
	size_t size;
	size_t capacity;
	bool failed;
};

void hp_buffer_free(struct hp_buffer *buffer);
void hp_buffer_clear(struct hp_buffer *buffer);
/* Adds where there is no room yet. */
void hp_buffer_extend(struct hp_buffer *buffer, const char *text, size_t size);

/* Inline, because long documents are made of millions of short pieces. */
static inline void hp_buffer_add(struct hp_buffer *buffer, const char *text, size_t size)
{
	if (buffer->failed || size >= buffer->capacity - buffer->size) {
		hp_buffer_extend(buffer, text, size);
		return;
	}
	memcpy(buffer->text + buffer->size, text, size);
	buffer->size += size;
	buffer->text[buffer->size] = 0;
}

void hp_buffer_printf(struct hp_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *hp_buffer_text(const struct hp_buffer *buffer); /* never NULL */
/* Fails when memory was short while the text grew. Errors of `out` are its caller's to find. */
struct hp_error *hp_buffer_write(const struct hp_buffer *buffer, FILE *out);

#endif
