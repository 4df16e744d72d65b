/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes each step of a path to the models that it concerns, and combines their answers. */
#include <hpcprof/uarch/path.h>

#include "caches.h"
#include "predictor.h"
#include "prefetch.h"
#include "stores.h"
#include "tlb.h"

#include <stdlib.h>

/* No line, no page. */
#define NONE UINT64_MAX

struct hp_uarch {
	/* The most recently used ones: they come first in their sets, so using them again changes
	 * nothing. */
	uint64_t data_line, data_page;
	uint64_t code_line, code_page, code_window;
	uint64_t clock; /* in instructions */
	unsigned line_shift, page_shift, decoded_shift;
	struct uarch_caches caches;
	struct uarch_tlbs tlbs;
	struct uarch_sets decoded;
	struct uarch_predictor predictor;
	struct uarch_prefetch prefetch;
	struct uarch_stores stores;
	struct hp_uarch_geometry geometry;
};

static void forget_last(struct hp_uarch *uarch)
{
	uarch->data_line = uarch->data_page = NONE;
	uarch->code_line = uarch->code_page = uarch->code_window = NONE;
}

struct hp_uarch *hp_uarch_create(const struct hp_uarch_geometry *geometry)
{
	struct hp_uarch *uarch;

	if (!hp_uarch_geometry_is_valid(geometry))
		return NULL;
	uarch = calloc(1, sizeof(*uarch));
	if (!uarch)
		return NULL;
	uarch->geometry = *geometry;
	if (!uarch_caches_create(&uarch->caches, geometry) ||
	    !uarch_tlbs_create(&uarch->tlbs, geometry) ||
	    !uarch_sets_create(&uarch->decoded, &geometry->decoded) ||
	    !uarch_predictor_create(&uarch->predictor, &geometry->predictor) ||
	    !uarch_stores_create(&uarch->stores, geometry)) {
		hp_uarch_destroy(uarch);
		return NULL;
	}
	uarch->line_shift = (unsigned)__builtin_ctz(geometry->line_bytes);
	uarch->page_shift = (unsigned)__builtin_ctz(geometry->page_bytes);
	uarch->decoded_shift = (unsigned)__builtin_ctz(geometry->decoded_bytes);
	uarch_prefetch_create(&uarch->prefetch, geometry, &uarch->caches.l1d);
	forget_last(uarch);
	return uarch;
}

void hp_uarch_destroy(struct hp_uarch *uarch)
{
	if (!uarch)
		return;
	uarch_caches_destroy(&uarch->caches);
	uarch_tlbs_destroy(&uarch->tlbs);
	uarch_sets_destroy(&uarch->decoded);
	uarch_predictor_destroy(&uarch->predictor);
	uarch_stores_destroy(&uarch->stores);
	free(uarch);
}

void hp_uarch_set_huge(struct hp_uarch *uarch, const struct hp_uarch_huge *huge, size_t count)
{
	uarch_tlbs_set_huge(&uarch->tlbs, huge, count);
}

void hp_uarch_resume(struct hp_uarch *uarch)
{
	uarch_caches_resume(&uarch->caches);
	uarch_tlbs_reset(&uarch->tlbs);
	uarch_sets_reset(&uarch->decoded);
	uarch_prefetch_reset(&uarch->prefetch);
	uarch_stores_reset(&uarch->stores);
	uarch->clock = 0;
	forget_last(uarch);
}

void hp_uarch_reset(struct hp_uarch *uarch)
{
	hp_uarch_resume(uarch);
	uarch_caches_reset(&uarch->caches);
	uarch_predictor_reset(&uarch->predictor);
}

/* Address of the last byte of an access. */
static uint64_t end_of(uint64_t address, uint32_t bytes)
{
	uint64_t more =
		bytes == 0 ? 0 : (bytes > HP_UARCH_BYTES_MOST ? HP_UARCH_BYTES_MOST : bytes) - 1;

	return more > UINT64_MAX - address ? UINT64_MAX : address + more;
}

/* --- data ------------------------------------------------------------------------------------- */

static unsigned translate_data(struct hp_uarch *uarch, uint64_t address)
{
	uint64_t page = address >> uarch->page_shift;

	if (page == uarch->data_page)
		return 0;
	uarch->data_page = page;
	return uarch_tlbs_use(&uarch->tlbs, &uarch->tlbs.data, address, HP_UARCH_DTLB_MISS);
}

/* Whether a line that was missing, or would have been, was prefetched, and in time. */
static unsigned brought(struct hp_uarch *uarch, uint64_t line, unsigned events)
{
	bool is_far = events & (HP_UARCH_L2_MISS | HP_UARCH_L2_UNKNOWN);
	uint64_t when;

	if (!uarch_prefetch_take(&uarch->prefetch, line, &when))
		return events;
	events |= HP_UARCH_PREFETCHED;
	if (uarch->clock - when < (uint64_t)(is_far ? LATE_FAR : LATE_NEAR))
		events |= HP_UARCH_PREFETCHED_LATE;
	return events;
}

static unsigned use_line(struct hp_uarch *uarch, uint64_t line, enum hp_uarch_access_kind kind)
{
	unsigned events;

	if (line == uarch->data_line)
		return 0;
	if (kind == HP_UARCH_PREFETCH) {
		uarch->data_line = NONE; /* its first use is still to come */
		events = uarch_caches_prefetch(&uarch->caches, line);
		if (events)
			uarch_prefetch_bring(&uarch->prefetch, line, uarch->clock);
	} else {
		uarch->data_line = line;
		events = uarch_caches_data(&uarch->caches, line);
		if (events) {
			events = brought(uarch, line, events);
			uarch_prefetch_follow_miss(&uarch->prefetch, line, uarch->clock);
		}
	}
	/* Data may have replaced code. */
	if (events & HP_UARCH_L2_MISS)
		uarch->code_line = NONE;
	return events;
}

/* Updates the store queue and the prefetchers for an access. */
static unsigned queue(struct hp_uarch *uarch, uint64_t ip, uint64_t address, uint64_t end,
		      enum hp_uarch_access_kind kind)
{
	uint64_t line = address >> uarch->line_shift;

	switch (kind) {
	case HP_UARCH_LOAD:
		uarch_prefetch_follow_load(&uarch->prefetch, ip, address,
					   line == uarch->data_line ||
						   uarch_sets_has(&uarch->caches.l1d, line),
					   uarch->clock);
		return uarch_stores_load(&uarch->stores, address, end, uarch->clock);
	case HP_UARCH_STORE:
		uarch_stores_add(&uarch->stores, address, end, uarch->clock);
		return 0;
	case HP_UARCH_PREFETCH:
		break;
	}
	return 0;
}

/* Adds the events of another line or page: for each level, the worse one. */
static unsigned join(unsigned events, unsigned more)
{
	enum {
		CACHE = HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN,
		PREFETCHED = HP_UARCH_PREFETCHED | HP_UARCH_PREFETCHED_LATE,
		MISSES = HP_UARCH_L1_MISS | HP_UARCH_DTLB_MISS | HP_UARCH_L1I_MISS |
			 HP_UARCH_ITLB_MISS | HP_UARCH_DECODED_MISS | HP_UARCH_L2_MISS |
			 HP_UARCH_L3_MISS | HP_UARCH_TLB2_MISS | HP_UARCH_WALK_MISS,
	};
	unsigned sum = events | more;

	if (!more)
		return events;
	/* The access waits for a line that was not prefetched. */
	if (((events & CACHE) && !(events & HP_UARCH_PREFETCHED)) ||
	    ((more & CACHE) && !(more & HP_UARCH_PREFETCHED)))
		sum &= ~(unsigned)PREFETCHED;
	if (sum & HP_UARCH_L2_MISS)
		sum &= ~(unsigned)HP_UARCH_L2_LIKELY_MISS;
	return sum & ~((sum & MISSES) << 1);
}
_Static_assert(HP_UARCH_L1_UNKNOWN == HP_UARCH_L1_MISS << 1 &&
		       HP_UARCH_DTLB_UNKNOWN == HP_UARCH_DTLB_MISS << 1 &&
		       HP_UARCH_L1I_UNKNOWN == HP_UARCH_L1I_MISS << 1 &&
		       HP_UARCH_ITLB_UNKNOWN == HP_UARCH_ITLB_MISS << 1 &&
		       HP_UARCH_DECODED_UNKNOWN == HP_UARCH_DECODED_MISS << 1 &&
		       HP_UARCH_L2_UNKNOWN == HP_UARCH_L2_MISS << 1 &&
		       HP_UARCH_L3_UNKNOWN == HP_UARCH_L3_MISS << 1 &&
		       HP_UARCH_WALK_UNKNOWN == HP_UARCH_WALK_MISS << 1 &&
		       HP_UARCH_TLB2_UNKNOWN == HP_UARCH_TLB2_MISS << 1,
	       "an unknown follows its miss");

/* An access across lines. */
static unsigned access_split(struct hp_uarch *uarch, uint64_t address, uint64_t end,
			     enum hp_uarch_access_kind kind)
{
	uint64_t last = end >> uarch->line_shift;
	bool is_one = end - address < uarch->geometry.line_bytes &&
		      last != address >> uarch->line_shift;
	unsigned events = 0;

	if (is_one) {
		events |= HP_UARCH_LINE_SPLIT;
		if (uarch_tlbs_page(&uarch->tlbs, address) != uarch_tlbs_page(&uarch->tlbs, end))
			events |= HP_UARCH_PAGE_SPLIT;
	}
	for (uint64_t line = address >> uarch->line_shift; line <= last; line++) {
		events = join(events, translate_data(uarch, line << uarch->line_shift));
		events = join(events, use_line(uarch, line, kind));
	}
	return events;
}

unsigned hp_uarch_access(struct hp_uarch *uarch, uint64_t ip, uint64_t address, uint32_t bytes,
			 enum hp_uarch_access_kind kind)
{
	uint64_t line = address >> uarch->line_shift;
	uint64_t end = address + bytes - (bytes > 0);
	/* also if it is too long, or would exceed the address space */
	bool is_split = end >> uarch->line_shift != line;
	unsigned events;

	if (is_split)
		end = end_of(address, bytes);
	events = queue(uarch, ip, address, end, kind);
	if (is_split)
		return events | access_split(uarch, address, end, kind);
	if (line == uarch->data_line)
		return events;
	return events | translate_data(uarch, address) | use_line(uarch, line, kind);
}

void hp_uarch_lead(struct hp_uarch *uarch, uint64_t ip, uint64_t pointer)
{
	if (!uarch->geometry.prefetches_pointers ||
	    !uarch_prefetch_lead(&uarch->prefetch, ip, pointer >> uarch->line_shift))
		return;
	/* The page was walked for the prefetch. */
	(void)translate_data(uarch, pointer);
}

static struct hp_uarch_distance distance(const struct uarch_place *place,
					 const struct uarch_sets *sets)
{
	return (struct hp_uarch_distance){ place->rank, place->known, sets->ways };
}

struct hp_uarch_distance hp_uarch_l2_distance(const struct hp_uarch *uarch)
{
	return distance(&uarch->caches.l2_place, &uarch->caches.l2);
}

struct hp_uarch_distance hp_uarch_tlb2_distance(const struct hp_uarch *uarch)
{
	return distance(&uarch->tlbs.data.place, uarch->tlbs.data.second);
}

uint64_t hp_uarch_last_store(const struct hp_uarch *uarch)
{
	return uarch->stores.newest;
}

uint64_t hp_uarch_met_store(const struct hp_uarch *uarch)
{
	return uarch->stores.met;
}

/* --- code ------------------------------------------------------------------------------------- */

static unsigned translate_code(struct hp_uarch *uarch, uint64_t address)
{
	uint64_t page = address >> uarch->page_shift;

	if (page == uarch->code_page)
		return 0;
	uarch->code_page = page;
	return uarch_tlbs_use(&uarch->tlbs, &uarch->tlbs.code, address, HP_UARCH_ITLB_MISS);
}

static unsigned decode(struct hp_uarch *uarch, uint64_t window)
{
	if (window == uarch->code_window)
		return 0;
	uarch->code_window = window;
	switch (uarch_sets_use(&uarch->decoded, window)) {
	case UARCH_HIT:
		break;
	case UARCH_MISS:
		return HP_UARCH_DECODED_MISS;
	case UARCH_UNKNOWN:
		return HP_UARCH_DECODED_UNKNOWN;
	}
	return 0;
}

static unsigned fetch_line(struct hp_uarch *uarch, uint64_t line)
{
	unsigned events;

	if (line == uarch->code_line)
		return 0;
	uarch->code_line = line;
	events = translate_code(uarch, line << uarch->line_shift) |
		 uarch_caches_fetch(&uarch->caches, line);
	/* Code may have replaced data. */
	if (events & HP_UARCH_L2_MISS)
		uarch->data_line = NONE;
	return events;
}

unsigned hp_uarch_fetch(struct hp_uarch *uarch, uint64_t address, uint32_t bytes)
{
	uint64_t end = address + bytes - (bytes > 0);
	uint64_t at = address >> uarch->line_shift, last;
	unsigned events = fetch_line(uarch, at);

	if (end >> uarch->line_shift != at) {
		end = end_of(address, bytes);
		last = end >> uarch->line_shift;
		while (at < last)
			events = join(events, fetch_line(uarch, ++at));
	}
	if (!uarch->decoded.all)
		return events;
	at = address >> uarch->decoded_shift;
	last = end >> uarch->decoded_shift;
	events |= decode(uarch, at);
	while (at < last)
		events = join(events, decode(uarch, ++at));
	return events;
}

/* --- branches --------------------------------------------------------------------------------- */

unsigned hp_uarch_branch(struct hp_uarch *uarch, uint64_t ip, uint64_t next,
			 enum hp_uarch_branch_kind kind, bool taken, uint64_t target)
{
	return uarch_predictor_follow(&uarch->predictor, ip, next, kind, taken, target);
}

uint64_t hp_uarch_predicted(const struct hp_uarch *uarch)
{
	return uarch->predictor.predicted;
}

void hp_uarch_stray(struct hp_uarch *uarch)
{
	uarch_predictor_stray(&uarch->predictor);
}

uint64_t hp_uarch_guess(struct hp_uarch *uarch, uint64_t ip, uint64_t next,
			enum hp_uarch_branch_kind kind, uint64_t target)
{
	return uarch_predictor_guess(&uarch->predictor, ip, next, kind, target);
}

void hp_uarch_rejoin(struct hp_uarch *uarch)
{
	uarch_predictor_rejoin(&uarch->predictor);
}

void hp_uarch_retire(struct hp_uarch *uarch, unsigned instructions)
{
	uarch->clock += instructions;
}
