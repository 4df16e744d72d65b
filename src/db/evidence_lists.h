/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists of evidence other than the counts of windows, each in a section of its own. A section
 * that would be empty is left out. It contains, for each stratum in turn, some numbers and one
 * list.
 */
#ifndef HPCPROF_DB_EVIDENCE_LISTS_H
#define HPCPROF_DB_EVIDENCE_LISTS_H

#include "codec.h"

#include <stddef.h>
#include <stdint.h>

/* The first byte of an item. */
enum { FLAG_RELATIVE = 0x80, FLAG_OTHER_IMAGE = 0x40, KIND_MASK = 0x3f };

enum { EVIDENCE_LISTS = 5 };

struct evidence_list {
	char tag[5];
	const char *what;    /* its contents, for messages */
	size_t items, count; /* offsets of the list and of its length in a stratum */
	size_t numbers;	     /* offset of the numbers before the list */
	size_t number_count;
	bool is_of_windows; /* of windows or of probes: never very many */
};
extern const struct evidence_list evidence_lists[EVIDENCE_LISTS];

/* State of decoding a file of evidence. */
struct evidence_decoding {
	const struct hp_section *section;
	struct hp_reader reader;
	const struct hp_container *file;
	struct hp_window_evidence *evidence;
	uint64_t items;	       /* sum over all lists so far */
	struct hp_error *lost; /* error for damaged sections, with their contents; NULL: none */
};

struct hp_error *evidence_damaged(const struct evidence_decoding *in, const char *what);
struct hp_error *evidence_open_section(struct evidence_decoding *in, const char *tag);
/* Decodes everything except the lists; any damage is an error. */
struct hp_error *evidence_decode_head(struct evidence_decoding *in);
/* Decodes the item after `before` (NULL: the first of a list), into a cleared item. */
struct hp_error *evidence_decode_item(struct evidence_decoding *in, const struct hp_counted *before,
				      struct hp_counted *item);
/* Decodes the numbers before a list. */
struct hp_error *evidence_decode_numbers(struct evidence_decoding *in,
					 const struct evidence_list *list, uint64_t *numbers);

void evidence_encode_item(const struct hp_counted *item, const struct hp_counted *before,
			  struct hp_writer *writer);

/* The lists as encoded; lists that are empty in all strata are left out. */
struct evidence_sections {
	struct hp_writer at[EVIDENCE_LISTS];
	bool has_any[EVIDENCE_LISTS];
	uint64_t items;
};
/* Makes the file out of `evidence` without its lists, and of these sections, whose memory it
 * frees. */
struct hp_error *evidence_finish(const struct hp_window_evidence *evidence,
				 struct evidence_sections *sections, struct hp_writer *file);
void evidence_sections_clear(struct evidence_sections *sections);

/* A field of the stratum, at one of the offsets above. */
static inline void *evidence_field(const struct hp_window_stratum *stratum, size_t offset)
{
	return (char *)(uintptr_t)stratum + offset;
}

#endif
