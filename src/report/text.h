/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that somebody else chose (names in binaries, command lines, paths) made fit to print.
 * A buffer grows; when memory is short it turns `failed` on and ignores what follows.
 */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer {
	char *text; /* terminated once anything was added */
	size_t size;
	size_t capacity;
	bool failed;
};
void buffer_free(struct buffer *buffer);
void buffer_clear(struct buffer *buffer);
void buffer_add(struct buffer *buffer, const char *text, size_t size);
void buffer_printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
const char *buffer_text(const struct buffer *buffer); /* never NULL */

/* For people: control characters, C1 and bidirectional controls, and bytes that are no UTF-8
 * become visible escapes. What comes out is valid UTF-8 and stays on its line. */
void text_escape(struct buffer *buffer, const char *text);
/* For machines: bytes that are no UTF-8 become U+FFFD; all else stays. */
void text_make_valid(struct buffer *buffer, const char *text);
/* A CSV field (RFC 4180): quoted where needed. Line ends stay inside the quotes, other control
 * characters, which the grammar does not have, are escaped. */
void text_csv(struct buffer *buffer, const char *text);

/* Columns of a terminal that valid UTF-8 takes: two for wide characters, none for accents that join
 * the character before. */
size_t text_columns(const char *text);
/* Bytes of as many characters as fit into `columns`. */
size_t text_prefix(const char *text, size_t columns);
void text_pad(struct buffer *buffer, size_t columns);
/* Adds valid UTF-8, with an ellipsis at its end where it is longer than `columns` (0: never). */
void text_cut(struct buffer *buffer, const char *text, size_t columns);

#endif
