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
	const char *what;    /* it holds, for messages */
	size_t items, count; /* of the list: where they are in a stratum */
	size_t numbers;	     /* in front of it */
	size_t number_count;
	bool is_of_windows; /* or of probes: never very many */
};
extern const struct evidence_list evidence_lists[EVIDENCE_LISTS];

/* A file of evidence that is read. */
struct evidence_decoding {
	const struct hp_section *section;
	struct hp_reader reader;
	const struct hp_container *file;
	struct hp_window_evidence *evidence;
	uint64_t items;	       /* in all lists so far */
	struct hp_error *lost; /* sections that were damaged, and what was in them; NULL none */
};

struct hp_error *evidence_damaged(const struct evidence_decoding *in, const char *what);
struct hp_error *evidence_open_section(struct evidence_decoding *in, const char *tag);
/* All but the lists; any damage to it is an error. */
struct hp_error *evidence_decode_head(struct evidence_decoding *in);
/* The item behind `before` (NULL: the first one of a list), into what is all 0. */
struct hp_error *evidence_decode_item(struct evidence_decoding *in, const struct hp_counted *before,
				      struct hp_counted *item);
/* The numbers in front of a list. */
struct hp_error *evidence_decode_numbers(struct evidence_decoding *in,
					 const struct evidence_list *list, uint64_t *numbers);

void evidence_encode_item(const struct hp_counted *item, const struct hp_counted *before,
			  struct hp_writer *writer);

/* The lists as they are in the file; those with nothing in any of their strata are left out. */
struct evidence_sections {
	struct hp_writer at[EVIDENCE_LISTS];
	bool has_any[EVIDENCE_LISTS];
	uint64_t items;
};
/* The file of what is in `evidence` beside lists, and of these, whose memory it frees. */
struct hp_error *evidence_finish(const struct hp_window_evidence *evidence,
				 struct evidence_sections *sections, struct hp_writer *file);
void evidence_sections_clear(struct evidence_sections *sections);

/* Of the stratum, at one of the offsets above. */
static inline void *evidence_field(const struct hp_window_stratum *stratum, size_t offset)
{
	return (char *)(uintptr_t)stratum + offset;
}

#endif
