/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "caches.h"

#include "tuning.h"

#include <hpcprof/base/number.h>

/* The events that a prefetch instruction met, by number, without the guess at the third level. The first data
 * cache notes this number for a line that such an instruction brought and that has not been used since. */
static const unsigned noted[] = {
	0,
	HP_UARCH_L1_MISS,
	HP_UARCH_L1_MISS | HP_UARCH_L2_MISS,
	HP_UARCH_L1_MISS | HP_UARCH_L2_MISS | HP_UARCH_L3_MISS,
	HP_UARCH_L1_MISS | HP_UARCH_L2_MISS | HP_UARCH_L3_UNKNOWN,
	HP_UARCH_L1_MISS | HP_UARCH_L2_UNKNOWN,
	HP_UARCH_L1_MISS | HP_UARCH_L2_UNKNOWN | HP_UARCH_L3_UNKNOWN,
	HP_UARCH_L1_MISS | HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS,
	HP_UARCH_L1_MISS | HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS | HP_UARCH_L3_UNKNOWN,
	HP_UARCH_L1_UNKNOWN,
	HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_UNKNOWN,
	HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_UNKNOWN | HP_UARCH_L3_UNKNOWN,
	HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS,
	HP_UARCH_L1_UNKNOWN | HP_UARCH_L2_UNKNOWN | HP_UARCH_L2_LIKELY_MISS | HP_UARCH_L3_UNKNOWN,
};
_Static_assert(HP_ARRAY_COUNT(noted) <= UARCH_NOTES + 1, "a note is its place");

bool uarch_caches_create(struct uarch_caches *caches, const struct hp_uarch_geometry *geometry)
{
	*caches = (struct uarch_caches){
		.is_inclusive = geometry->l2_is_inclusive,
		.line_shift = (unsigned)__builtin_ctz(geometry->line_bytes),
		.l3_sure = geometry->l3_is_shared ? geometry->l3.ways / SHARED_SURE_PART
						  : geometry->l3.ways,
		.l3_likely = geometry->l3_is_shared ? geometry->l3.ways / SHARED_LIKELY_PART
						    : geometry->l3.ways,
	};
	return uarch_sets_create(&caches->l1i, &geometry->l1i) &&
	       uarch_sets_create(&caches->l1d, &geometry->l1d) &&
	       uarch_sets_create(&caches->l2, &geometry->l2) &&
	       uarch_sets_create(&caches->l3, &geometry->l3);
}

void uarch_caches_destroy(struct uarch_caches *caches)
{
	uarch_sets_destroy(&caches->l1i);
	uarch_sets_destroy(&caches->l1d);
	uarch_sets_destroy(&caches->l2);
	uarch_sets_destroy(&caches->l3);
}

void uarch_caches_resume(struct uarch_caches *caches)
{
	uarch_sets_reset(&caches->l1i);
	uarch_sets_reset(&caches->l1d);
	caches->l2_resumed = caches->l2.clock;
	caches->l3_resumed = caches->l3.clock;
}

void uarch_caches_reset(struct uarch_caches *caches)
{
	uarch_caches_resume(caches);
	uarch_sets_reset(&caches->l2);
	uarch_sets_reset(&caches->l3);
	caches->l2_resumed = caches->l3_resumed = 0;
}

static unsigned third_level(struct uarch_caches *caches, uint64_t line, enum uarch_found l2)
{
	struct uarch_place place;
	enum uarch_found l3;
	bool is_certain;

	if (!caches->l3.all)
		return 0;
	l3 = uarch_sets_use_since(&caches->l3, line, caches->l3_resumed, &place);
	is_certain = uarch_place_is_certain(&place, &caches->l3);
	if (is_certain && l3 == UARCH_HIT && place.rank < caches->l3_sure)
		return 0;
	if (is_certain && l3 == UARCH_MISS && l2 == UARCH_MISS)
		return HP_UARCH_L3_MISS;
	return HP_UARCH_L3_UNKNOWN |
	       (l3 == UARCH_MISS || (l3 == UARCH_HIT && place.rank >= caches->l3_likely)
			? HP_UARCH_L3_LIKELY_MISS
			: 0);
}

/* `likely` becomes HP_UARCH_L2_LIKELY_MISS if that is so. */
static enum uarch_found second_level(struct uarch_caches *caches, uint64_t line, unsigned *likely)
{
	enum uarch_found l2 =
		uarch_sets_use_since(&caches->l2, line, caches->l2_resumed, &caches->l2_place);

	*likely = l2 == UARCH_HIT ? 0 : HP_UARCH_L2_LIKELY_MISS;
	return uarch_place_is_certain(&caches->l2_place, &caches->l2) ? l2 : UARCH_UNKNOWN;
}

unsigned uarch_caches_behind(struct uarch_caches *caches, uint64_t line, enum uarch_found l1,
			     unsigned miss)
{
	unsigned likely = 0;
	enum uarch_found l2 = second_level(caches, line, &likely);

	if (l2 == UARCH_HIT)
		return l1 == UARCH_MISS ? miss : miss << 1;
	if (caches->is_inclusive && caches->l2.evicted != UARCH_EMPTY) {
		uarch_sets_remove(&caches->l1i, caches->l2.evicted >> UARCH_NOTE_BITS);
		uarch_sets_remove(&caches->l1d, caches->l2.evicted >> UARCH_NOTE_BITS);
	}
	if (l2 == UARCH_MISS && l1 == UARCH_UNKNOWN) {
		/* On an inclusive core, what leaves the second level also leaves the first. */
		if (caches->is_inclusive)
			l1 = UARCH_MISS;
		else
			l2 = UARCH_UNKNOWN;
	}
	return (l1 == UARCH_MISS ? miss : miss << 1) |
	       (l2 == UARCH_MISS ? HP_UARCH_L2_MISS : HP_UARCH_L2_UNKNOWN | likely) |
	       third_level(caches, line, l2);
}

unsigned uarch_caches_take_note(struct uarch_caches *caches)
{
	uint64_t note = caches->l1d.used->entry & UARCH_NOTES;

	caches->l1d.used->entry &= ~(uint64_t)UARCH_NOTES;
	caches->l2_place = (struct uarch_place){ 0 };
	return noted[note] | HP_UARCH_PREFETCHED;
}

unsigned uarch_caches_prefetch(struct uarch_caches *caches, uint64_t line)
{
	enum uarch_found l1 = uarch_sets_use(&caches->l1d, line);
	uint64_t note = 0;
	unsigned events;

	if (l1 == UARCH_HIT)
		return 0;
	events = uarch_caches_behind(caches, line, l1, HP_UARCH_L1_MISS);
	while (note + 1 < HP_ARRAY_COUNT(noted) &&
	       noted[note] != (events & ~(unsigned)HP_UARCH_L3_LIKELY_MISS))
		note++;
	caches->l1d.used->entry |= note;
	return events;
}
