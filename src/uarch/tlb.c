/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tlb.h"

#include "tuning.h"

enum {
	ENTRIES_SHIFT = 3, /* log2 of the page table entries per cache line */
	HUGE_SHIFT = 21,   /* log2 of the bytes of a huge page */
};

/* Tells the numbers of huge pages from those of others. Numbers have at most 59 bits (sets.h). */
static const uint64_t huge_number = UINT64_C(1) << 58;

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

void uarch_tlbs_set_huge(struct uarch_tlbs *tlbs, const struct hp_uarch_huge *huge, size_t count)
{
	tlbs->huge = huge;
	tlbs->huge_count = tlbs->page_shift < HUGE_SHIFT ? count : 0;
	tlbs->last = (struct hp_uarch_huge){ 0 };
}

static void find_stretch(struct uarch_tlbs *tlbs, uint64_t address)
{
	const struct hp_uarch_huge *huge = tlbs->huge;
	size_t low = 0, high = tlbs->huge_count;

	/* the first one that ends behind the address */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (huge[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	tlbs->is_last_huge = low < tlbs->huge_count && huge[low].start <= address;
	tlbs->last.start = tlbs->is_last_huge ? huge[low].start : low ? huge[low - 1].end : 0;
	tlbs->last.end = low == tlbs->huge_count ? UINT64_MAX
			 : tlbs->is_last_huge	 ? huge[low].end
						 : huge[low].start;
}

uint64_t uarch_tlbs_any_page(struct uarch_tlbs *tlbs, uint64_t address)
{
	if (address < tlbs->last.start || address >= tlbs->last.end)
		find_stretch(tlbs, address);
	return tlbs->is_last_huge ? address >> HUGE_SHIFT | huge_number
				  : address >> tlbs->page_shift;
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
	enum uarch_found second = uarch_sets_use_since(tlb->second, page, 0, &tlb->place);
	bool is_certain = second == UARCH_MISS && first == UARCH_MISS;

	if (first == UARCH_UNKNOWN)
		miss <<= 1;
	if (second == UARCH_HIT)
		return miss;
	return miss | (is_certain ? HP_UARCH_TLB2_MISS : HP_UARCH_TLB2_UNKNOWN) |
	       walk(tlb, page, is_certain);
}
