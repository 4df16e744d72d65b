/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that somebody else wrote (paths, command names, labels): telling UTF-8 from other bytes,
 * making it safe to print, and how far one name is from another. Whoever prints such text on a
 * terminal passes it through hp_text_printable first. And text of our own, formatted.
 */
#ifndef HPCPROF_BASE_TEXT_H
#define HPCPROF_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the UTF-8 character that `text` starts with, 1 to 4, and its code point; 0 when the
 * bytes are not UTF-8 (cut short, overlong, a surrogate, past U+10FFFF) or the text is empty. */
size_t hp_text_utf8(const char *text, uint32_t *code_point);

/* True for what must not reach a terminal as it is: controls (C0, DEL, C1), line and paragraph
 * separators, and the marks that turn the direction of writing round. */
bool hp_text_is_control(uint32_t code_point);

/* A copy in which such characters and bytes that are not UTF-8 are spelt "\xNN", byte by byte.
 * malloc'ed; NULL when memory is short. */
char *hp_text_printable(const char *text);

/* Whether a spreadsheet would take this cell of a table for a formula, and do as it says: it begins
 * with = + - @ or a control, and is no number. Whoever writes such a table puts a ' in front. */
bool hp_text_is_formula(const char *cell);

/* Insertions, deletions, substitutions and swaps of neighbours, without regard to ASCII's case,
 * that make one name of the other; `limit + 1` when there are more than `limit`, or a name is
 * longer than 250 bytes. */
size_t hp_text_distance(const char *a, const char *b, size_t limit);

/* The words, each after the first behind `separator`. `words` ends with NULL. malloc'ed; NULL when
 * memory is short. */
char *hp_text_join(char *const *words, const char *separator);

/* As vprintf. malloc'ed; NULL when memory is short. */
char *hp_text_format_list(const char *format, va_list arguments)
	__attribute__((format(printf, 1, 0)));

/* Columns of a terminal that valid UTF-8 takes: two for wide characters, none for accents that join
 * the character before. */
size_t hp_text_columns(const char *text);
/* Bytes of as many characters as fit into `columns`. */
size_t hp_text_prefix(const char *text, size_t columns);
/* Bytes of as many words as fit into `columns`, without the blank behind them; of one word where not
 * even that fits, of all of the text where `columns` is 0. */
size_t hp_text_line(const char *text, size_t columns);

#endif
