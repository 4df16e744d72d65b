/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The caches: first levels for code and data, and what they share behind them. A line that is used in
 * a first level is put into all levels.
 */
#ifndef HPCPROF_SRC_UARCH_CACHES_H
#define HPCPROF_SRC_UARCH_CACHES_H

#include "sets.h"

struct uarch_caches {
	struct uarch_sets l1i, l1d, l2, l3;
	bool is_inclusive;
	unsigned line_shift;
};

bool uarch_caches_create(struct uarch_caches *caches, const struct hp_uarch_geometry *geometry);
void uarch_caches_destroy(struct uarch_caches *caches);
void uarch_caches_reset(struct uarch_caches *caches);

/* Uses a line, and gives the events; addresses are lines' numbers. */
unsigned uarch_caches_fetch(struct uarch_caches *caches, uint64_t line);
unsigned uarch_caches_data(struct uarch_caches *caches, uint64_t line);

/* A prefetch instruction: the next use of the line by data has these events too, and
 * HP_UARCH_PREFETCHED. */
unsigned uarch_caches_prefetch(struct uarch_caches *caches, uint64_t line);

#endif
