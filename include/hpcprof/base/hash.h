/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash tables: uthash with XXH3 (inline). If memory is short, an element is not added, and its
 * `hh.tbl` is NULL.
 */
#ifndef HPCPROF_BASE_HASH_H
#define HPCPROF_BASE_HASH_H

#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define HASH_NONFATAL_OOM		   1
#define HASH_FUNCTION(key, length, result) ((result) = (unsigned)XXH3_64bits((key), (length)))
#include <uthash.h>

/* Frees all elements, which own nothing else, and the table. */
#define HP_HASH_FREE(head)                                                                         \
	do {                                                                                       \
		__typeof__(head) hp_element, hp_next;                                              \
                                                                                                   \
		HASH_ITER(hh, head, hp_element, hp_next)                                           \
		{                                                                                  \
			HASH_DEL(head, hp_element);                                                \
			free(hp_element);                                                          \
		}                                                                                  \
	} while (0)

#endif
