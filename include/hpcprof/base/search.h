/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binary search in any indexed sequence, and orders for qsort(3) and bsearch(3).
 *
 *	size_t first = hp_bisect(i, rows->count, rows->at[i].address < address);
 *
 * gives the first row, in order of addresses, that is not before `address`, and rows->count if all
 * are before it. With <= it gives the first row after `address`; the row before that one is the
 * last that is not after `address`.
 */
#ifndef HPCPROF_BASE_SEARCH_H
#define HPCPROF_BASE_SEARCH_H

#include <stddef.h>

/* The first index below `count` for which the condition on `index` (a name for it) is false, or
 * `count` if it is true for all. The condition must be true for all indices up to some index and
 * false for all indices after it. */
#define hp_bisect(index, count, condition)                                                         \
	({                                                                                         \
		size_t hp_bisect_low = 0;                                                          \
		size_t hp_bisect_high = (count);                                                   \
                                                                                                   \
		while (hp_bisect_low < hp_bisect_high) {                                           \
			size_t index = hp_bisect_low + (hp_bisect_high - hp_bisect_low) / 2;       \
                                                                                                   \
			if (condition)                                                             \
				hp_bisect_low = index + 1;                                         \
			else                                                                       \
				hp_bisect_high = index;                                            \
		}                                                                                  \
		hp_bisect_low;                                                                     \
	})

/* Compares: -1, 0 or 1; 0 also if one of them is NaN. */
#define hp_order(left, right) (((left) > (right)) - ((left) < (right)))

/* Defines a static function for qsort(3) that sorts by a field of `type`, ascending. */
#define HP_ORDER_BY(name, type, field)                                                             \
	static int name(const void *hp_left, const void *hp_right)                                 \
	{                                                                                          \
		const type *left = hp_left, *right = hp_right;                                     \
                                                                                                   \
		return hp_order(left->field, right->field);                                        \
	}                                                                                          \
	static int name(const void *, const void *)

/* The same by two fields. */
#define HP_ORDER_BY_TWO(name, type, first, second)                                                 \
	static int name(const void *hp_left, const void *hp_right)                                 \
	{                                                                                          \
		const type *left = hp_left, *right = hp_right;                                     \
		int order = hp_order(left->first, right->first);                                   \
                                                                                                   \
		return order ? order : hp_order(left->second, right->second);                      \
	}                                                                                          \
	static int name(const void *, const void *)

/* The same for numbers. */
#define HP_ORDER_VALUES(name, type)                                                                \
	static int name(const void *hp_left, const void *hp_right)                                 \
	{                                                                                          \
		const type *left = hp_left, *right = hp_right;                                     \
                                                                                                   \
		return hp_order(*left, *right);                                                    \
	}                                                                                          \
	static int name(const void *, const void *)

#endif
