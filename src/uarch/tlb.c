/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tlb.h"

#include "tuning.h"

/* log2 of the page table entries per cache line. */
enum { ENTRIES_SHIFT = 3 };

bool uarch_tlbs_create(struct uarch_tlbs *tlbs, const struct hp_uarch_geometry *geometry)
{
	const struct hp_uarch_sets tables = { (geometry->l2.sets + TABLES_PART - 1) / TABLES_PART,
					      geometry->l2.ways };

	*tlbs = (struct uarch_tlbs){
		.page_shift = (unsigned)__builtin_ctz(geometry->page_bytes),
	};
	if (!uarch_sets_create(&tlbs->code.first, &geometry->itlb) ||
	    !uarch_sets_create(&tlbs->data.first, &geometry->dtlb) ||
	    !uarch_sets_create(&tlbs->second, &geometry->tlb2) ||
	    !uarch_sets_create(&tlbs->second_code, &geometry->tlb2_code) ||
	    !uarch_sets_create(&tlbs->tables, &tables))
		return false;
	tlbs->data.second = &tlbs->second;
	tlbs->data.tables = tlbs->code.tables = &tlbs->tables;
	tlbs->code.second = tlbs->second_code.all ? &tlbs->second_code : &tlbs->second;
	return true;
}

void uarch_tlbs_destroy(struct uarch_tlbs *tlbs)
{
	uarch_sets_destroy(&tlbs->code.first);
	uarch_sets_destroy(&tlbs->data.first);
	uarch_sets_destroy(&tlbs->second);
	uarch_sets_destroy(&tlbs->second_code);
	uarch_sets_destroy(&tlbs->tables);
}

void uarch_tlbs_reset(struct uarch_tlbs *tlbs)
{
	uarch_sets_reset(&tlbs->code.first);
	uarch_sets_reset(&tlbs->data.first);
	uarch_sets_reset(&tlbs->second);
	uarch_sets_reset(&tlbs->second_code);
	uarch_sets_reset(&tlbs->tables);
}

/* Only the last step of a page walk: earlier steps use far fewer entries. */
static unsigned walk(const struct uarch_tlb *tlb, uint64_t page, bool is_certain)
{
	enum uarch_found found =
		tlb->tables->all ? uarch_sets_use(tlb->tables, page >> ENTRIES_SHIFT) : UARCH_HIT;

	if (found == UARCH_HIT)
		return 0;
	return found == UARCH_MISS && is_certain ? HP_UARCH_WALK_MISS : HP_UARCH_WALK_UNKNOWN;
}

unsigned uarch_tlb_behind(struct uarch_tlb *tlb, uint64_t page, enum uarch_found first,
			  unsigned miss)
{
	enum uarch_found second = uarch_sets_use(tlb->second, page);
	bool is_certain = second == UARCH_MISS && first == UARCH_MISS;

	if (first == UARCH_UNKNOWN)
		miss <<= 1;
	if (second == UARCH_HIT)
		return miss;
	return miss | (is_certain ? HP_UARCH_TLB2_MISS : HP_UARCH_TLB2_UNKNOWN) |
	       walk(tlb, page, is_certain);
}
