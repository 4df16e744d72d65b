/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Handles text from other sources (paths, command names, labels): recognises UTF-8, makes text safe
 * to print, and computes the edit distance of names. Code that prints such text on a terminal first
 * passes it through hp_text_printable. Also formats text.
 */
#ifndef HPCPROF_BASE_TEXT_H
#define HPCPROF_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character at the start of `text`, 1 to 4, and its code point; 0 if the
 * bytes are not UTF-8 (cut short, overlong, a surrogate, past U+10FFFF) or the text is empty. */
size_t hp_text_utf8(const char *text, uint32_t *code_point);

/* True for characters that must not reach a terminal: controls (C0, DEL, C1), line and paragraph
 * separators, and marks that change the direction of writing. */
bool hp_text_is_control(uint32_t code_point);

/* A copy in which such characters and bytes that are not UTF-8 are spelt "\xNN", byte by byte.
 * malloc'ed; NULL when memory is short. */
char *hp_text_printable(const char *text);

/* Whether a spreadsheet would evaluate this table cell as a formula: it begins with = + - @ or a
 * control character, and is not a number. Code that writes such a table puts a ' in front of it. */
bool hp_text_is_formula(const char *cell);

/* The edit distance of two names: insertions, deletions, substitutions and swaps of neighbours,
 * ignoring ASCII case; `limit + 1` if it is more than `limit`, or if a name is longer than 250
 * bytes. */
size_t hp_text_distance(const char *a, const char *b, size_t limit);

/* Joins the words with `separator`. `words` ends with NULL. malloc'ed; NULL when memory is
 * short. */
char *hp_text_join(char *const *words, const char *separator);

/* As vprintf. malloc'ed; NULL when memory is short. */
char *hp_text_format_list(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0)));

/* The number of terminal columns of valid UTF-8: two for wide characters, none for combining
 * accents. */
size_t hp_text_columns(const char *text);
/* The number of bytes of the characters that fit into `columns`. */
size_t hp_text_prefix(const char *text, size_t columns);
/* The number of bytes of the words that fit into `columns`, without the blank behind them; of one
 * word if not even that fits, of the whole text if `columns` is 0. "2 %" is one word. */
size_t hp_text_line(const char *text, size_t columns);

#endif
