/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lists beside what windows counted: each in a section of its own, which is not there when it would
 * be empty. Of each stratum in turn it has some numbers and one list.
 */
#ifndef HPCPROF_DB_EVIDENCE_LISTS_H
#define HPCPROF_DB_EVIDENCE_LISTS_H

#include "codec.h"

#include <stddef.h>
#include <stdint.h>

/* The first byte of an item. */
enum { FLAG_RELATIVE = 0x80, FLAG_OTHER_IMAGE = 0x40, KIND_MASK = 0x0f };

enum { EVIDENCE_LISTS = 4 };

struct evidence_list {
	char tag[5];
	const char *what;    /* it holds, for messages */
	size_t items, count; /* of the list: where they are in a stratum */
	size_t numbers;	     /* in front of it */
	size_t number_count;
};
extern const struct evidence_list evidence_lists[EVIDENCE_LISTS];

/* Of the stratum, at one of the offsets above. */
static inline void *evidence_field(const struct hp_window_stratum *stratum, size_t offset)
{
	return (char *)(uintptr_t)stratum + offset;
}

#endif
