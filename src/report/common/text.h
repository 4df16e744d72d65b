/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes untrusted texts printable: names in binaries, command lines, paths. */
#ifndef REPORT_COMMON_TEXT_H
#define REPORT_COMMON_TEXT_H

#include <hpcprof/base/buffer.h>
#include <hpcprof/base/text.h>

/* For people: control characters, bidirectional controls and bytes that are not UTF-8 become
 * visible escapes. The result is valid UTF-8 without line ends. */
void text_escape(struct hp_buffer *buffer, const char *text);
/* For machines: bytes that are not UTF-8 become U+FFFD; everything else stays. */
void text_make_valid(struct hp_buffer *buffer, const char *text);
/* A CSV field (RFC 4180), quoted if necessary. Line ends stay within the quotes. Other control
 * characters, which the grammar does not allow, are escaped. */
void text_csv(struct hp_buffer *buffer, const char *text);

void text_pad(struct hp_buffer *buffer, size_t columns);
/* Adds valid UTF-8, cut with an ellipsis if it is longer than `columns` (0: never). */
void text_cut(struct hp_buffer *buffer, const char *text, size_t columns);

#endif
