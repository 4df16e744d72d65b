/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caches: first levels for code and data, and the levels that they share. A line that is used
 * in a first level is also put into all other levels.
 */
#ifndef HPCPROF_SRC_UARCH_CACHES_H
#define HPCPROF_SRC_UARCH_CACHES_H

#include "sets.h"

#include <hpcprof/uarch/path.h>

struct uarch_caches {
	struct uarch_sets l1i, l1d, l2, l3;
	bool is_inclusive;
	unsigned line_shift;
	uint64_t l2_resumed, l3_resumed; /* the levels' clocks at that time */
	struct uarch_place l2_place;	 /* of the second level's last use */
	/* Ways of the third level that the program certainly has, and those that it probably
	 * has. */
	uint32_t l3_sure, l3_likely;
};

bool uarch_caches_create(struct uarch_caches *caches, const struct hp_uarch_geometry *geometry);
void uarch_caches_destroy(struct uarch_caches *caches);
void uarch_caches_reset(struct uarch_caches *caches);
/* Clears the first levels. The contents of the others stay as a guess. */
void uarch_caches_resume(struct uarch_caches *caches);

/* The events of a line for which its first level found `l1` (not a hit). `miss`: the miss event of
 * that level. */
unsigned uarch_caches_behind(struct uarch_caches *caches, uint64_t line, enum uarch_found l1,
			     unsigned miss);

/* Uses the line with this number, and returns the events. */
static inline unsigned uarch_caches_fetch(struct uarch_caches *caches, uint64_t line)
{
	enum uarch_found l1 = uarch_sets_use(&caches->l1i, line);

	return l1 == UARCH_HIT ? 0 : uarch_caches_behind(caches, line, l1, HP_UARCH_L1I_MISS);
}

/* The first use of a line that a prefetch instruction has fetched. */
unsigned uarch_caches_take_note(struct uarch_caches *caches);

static inline unsigned uarch_caches_data(struct uarch_caches *caches, uint64_t line)
{
	enum uarch_found l1 = uarch_sets_use(&caches->l1d, line);

	if (l1 != UARCH_HIT)
		return uarch_caches_behind(caches, line, l1, HP_UARCH_L1_MISS);
	return caches->l1d.used->entry & UARCH_NOTES ? uarch_caches_take_note(caches) : 0;
}

/* A prefetch instruction: the next use of the line by data also has these events and
 * HP_UARCH_PREFETCHED. */
unsigned uarch_caches_prefetch(struct uarch_caches *caches, uint64_t line);

#endif
