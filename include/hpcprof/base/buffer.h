/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text that grows. When memory is short the buffer turns `failed` on and ignores what follows, so
 * that callers check once, at the end.
 */
#ifndef HPCPROF_BASE_BUFFER_H
#define HPCPROF_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct hp_buffer {
	char *text; /* owned; terminated once anything was added */
	size_t size;
	size_t capacity;
	bool failed;
};

void hp_buffer_free(struct hp_buffer *buffer);
void hp_buffer_clear(struct hp_buffer *buffer);
void hp_buffer_add(struct hp_buffer *buffer, const char *text, size_t size);
void hp_buffer_printf(struct hp_buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *hp_buffer_text(const struct hp_buffer *buffer); /* never NULL */

#endif
