/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TLBs: first levels for code and data, and a second level that they may share. A huge page takes
 * an entry like any other: so it is in first levels without sets and in shared second levels, while
 * other first levels have some entries for huge pages alone.
 */
#ifndef HPCPROF_SRC_UARCH_TLB_H
#define HPCPROF_SRC_UARCH_TLB_H

#include "sets.h"

#include <hpcprof/uarch/path.h>

struct uarch_tlb {
	struct uarch_sets first;
	struct uarch_sets *second; /* NULL: none */
	struct uarch_sets *tables; /* the second cache, for lines of page tables */
	struct uarch_place place;  /* of the last use of `second` */
};

struct uarch_tlbs {
	struct uarch_tlb code, data;
	struct uarch_sets second, second_code; /* `second_code` may not exist */
	struct uarch_sets tables;
	unsigned page_shift;
	const struct hp_uarch_huge *huge; /* borrowed */
	size_t huge_count;
	/* the stretch of the last page: a huge one, or what lies between two */
	struct hp_uarch_huge last;
	bool is_last_huge;
};

/* The structure must not be moved. */
bool uarch_tlbs_create(struct uarch_tlbs *tlbs, const struct hp_uarch_geometry *geometry);
void uarch_tlbs_destroy(struct uarch_tlbs *tlbs);
void uarch_tlbs_reset(struct uarch_tlbs *tlbs);

void uarch_tlbs_set_huge(struct uarch_tlbs *tlbs, const struct hp_uarch_huge *huge, size_t count);

/* The number of the page, where there are huge ones. */
uint64_t uarch_tlbs_any_page(struct uarch_tlbs *tlbs, uint64_t address);

static inline uint64_t uarch_tlbs_page(struct uarch_tlbs *tlbs, uint64_t address)
{
	return tlbs->huge_count ? uarch_tlbs_any_page(tlbs, address) : address >> tlbs->page_shift;
}

/* The events of a page for which its first level found `first` (not a hit). `miss`: the miss event
 * of that level. */
unsigned uarch_tlb_behind(struct uarch_tlb *tlb, uint64_t page, enum uarch_found first,
			  unsigned miss);

/* Uses the page of an address, and returns the events. */
static inline unsigned uarch_tlbs_use(struct uarch_tlbs *tlbs, struct uarch_tlb *tlb,
				      uint64_t address, unsigned miss)
{
	uint64_t page = uarch_tlbs_page(tlbs, address);
	enum uarch_found first = uarch_sets_use(&tlb->first, page);

	return first == UARCH_HIT ? 0 : uarch_tlb_behind(tlb, page, first, miss);
}

#endif
