/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes untrusted texts printable: names in binaries, command lines, paths. */
#ifndef REPORT_COMMON_TEXT_H
#define REPORT_COMMON_TEXT_H

#include <hpcprof/base/buffer.h>
#include <hpcprof/base/text.h>

/* For people: control characters, C1 and bidirectional controls, and bytes that are no UTF-8
 * become visible escapes. What comes out is valid UTF-8 and stays on its line. */
void text_escape(struct hp_buffer *buffer, const char *text);
/* For machines: bytes that are no UTF-8 become U+FFFD; all else stays. */
void text_make_valid(struct hp_buffer *buffer, const char *text);
/* A CSV field (RFC 4180): quoted where needed. Line ends stay inside the quotes, other control
 * characters, which the grammar does not have, are escaped. */
void text_csv(struct hp_buffer *buffer, const char *text);

void text_pad(struct hp_buffer *buffer, size_t columns);
/* Adds valid UTF-8, with an ellipsis at its end where it is longer than `columns` (0: never). */
void text_cut(struct hp_buffer *buffer, const char *text, size_t columns);

#endif
