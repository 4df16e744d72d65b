/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Binary search in anything that an index leads to.
 *
 *	size_t first = hp_bisect(i, rows->count, rows->at[i].address < address);
 *
 * is the first of the rows, by address, that is not before `address`; rows->count when all are. With
 * <= it is the first after it, and the last that is not after it is the one before that.
 */
#ifndef HPCPROF_BASE_SEARCH_H
#define HPCPROF_BASE_SEARCH_H

#include <stddef.h>

/* The first index below `count` for which the condition on `index` (a name for it) does not hold;
 * `count` when it holds for all. It must hold for all indices up to one, and for none after. */
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

#endif
