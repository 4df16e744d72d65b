/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TLBs: first levels for code and data, and a second level that they may share. Pages are small,
 * except in ranges declared otherwise. Pages of the two sizes have separate entries where the
 * geometry says so.
 */
#ifndef HPCPROF_SRC_UARCH_TLB_H
#define HPCPROF_SRC_UARCH_TLB_H

#include "sets.h"

#include <hpcprof/uarch/path.h>

struct uarch_range {
	uint64_t begin, end;
};

struct uarch_tlb {
	struct uarch_sets first, first_huge; /* the latter may not exist */
	struct uarch_sets *second;	     /* of this kind of page; NULL: none */
	struct uarch_sets *tables;	     /* lines of page tables in the second cache */
};

struct uarch_tlbs {
	struct uarch_tlb code, data;
	struct uarch_sets second, second_code; /* the latter may not exist */
	struct uarch_sets tables;
	unsigned page_shift, huge_shift;
	uint32_t huge_count;
	struct uarch_range huge[HP_UARCH_HUGE_MOST]; /* in order, apart */
};

/* The structure must stay where it is. */
bool uarch_tlbs_create(struct uarch_tlbs *tlbs, const struct hp_uarch_geometry *geometry);
void uarch_tlbs_destroy(struct uarch_tlbs *tlbs);
void uarch_tlbs_reset(struct uarch_tlbs *tlbs);

/* False if there are too many ranges. */
bool uarch_tlbs_set_huge(struct uarch_tlbs *tlbs, uint64_t begin, uint64_t end);

/* The number of the page of an address. Numbers of both kinds meet in one set: those of huge pages have
 * this bit. */
#define UARCH_HUGE (UINT64_C(1) << 57)
uint64_t uarch_tlbs_page_among_huge(const struct uarch_tlbs *tlbs, uint64_t address);

static inline uint64_t uarch_tlbs_page(const struct uarch_tlbs *tlbs, uint64_t address)
{
	return tlbs->huge_count ? uarch_tlbs_page_among_huge(tlbs, address)
				: address >> tlbs->page_shift;
}

/* The events of a page that its first level answered `first` for, other than a hit; `miss` is that
 * level's. */
unsigned uarch_tlb_behind(struct uarch_tlb *tlb, uint64_t page, enum uarch_found first,
			  unsigned miss);

/* Uses the page of an address, and gives the events. */
static inline unsigned uarch_tlbs_use(const struct uarch_tlbs *tlbs, struct uarch_tlb *tlb,
				      uint64_t address, unsigned miss)
{
	uint64_t page = uarch_tlbs_page(tlbs, address);
	bool is_apart = (page & UARCH_HUGE) && tlb->first_huge.all;
	enum uarch_found first = uarch_sets_use(is_apart ? &tlb->first_huge : &tlb->first, page);

	return first == UARCH_HIT ? 0 : uarch_tlb_behind(tlb, page, first, miss);
}

#endif
