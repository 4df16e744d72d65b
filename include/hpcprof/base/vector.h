/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growable array of any type, as three plain fields:
 *
 *	struct { uint64_t *at; size_t count, capacity; } offsets = { 0 };
 *	if (!hp_vector_push(&offsets, value)) return hp_error_create_no_memory();
 *	free(offsets.at);
 *
 * Growth is geometric. Elements move when the vector grows: keep indices, not pointers.
 */
#ifndef HPCPROF_BASE_VECTOR_H
#define HPCPROF_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#define HP_VECTOR(type)                                                                            \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

/* Makes room for `wanted` elements in all; false when memory is short (nothing has changed). */
#define hp_vector_reserve(vector, wanted)                                                          \
	hp_grow((void **)&(vector)->at, &(vector)->capacity, (wanted), sizeof(*(vector)->at))

#define hp_vector_push(vector, ...)                                                                \
	(hp_vector_reserve((vector), (vector)->count + 1) &&                                       \
	 ((vector)->at[(vector)->count++] = (__VA_ARGS__), true))

#define hp_vector_free(vector)                                                                     \
	do {                                                                                       \
		free((vector)->at);                                                                \
		(vector)->at = NULL;                                                               \
		(vector)->count = (vector)->capacity = 0;                                          \
	} while (0)

/* Grows where there is not enough room. */
bool hp_grow_to(void **data, size_t *capacity, size_t wanted, size_t element_bytes)
	__attribute__((warn_unused_result));

/* Inline, because nearly always there is room. */
__attribute__((warn_unused_result)) static inline bool hp_grow(void **data, size_t *capacity,
							       size_t wanted, size_t element_bytes)
{
	return wanted <= *capacity || hp_grow_to(data, capacity, wanted, element_bytes);
}

#endif
