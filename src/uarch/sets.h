/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of blocks in the order of their last use: exact LRU, of which caches, TLBs and the cache of
 * decoded instructions are made. A set is an array, the block used last first. Most uses find their
 * block there, and change nothing.
 */
#ifndef HPCPROF_SRC_UARCH_SETS_H
#define HPCPROF_SRC_UARCH_SETS_H

#include <hpcprof/uarch/geometry.h>

enum uarch_found {
	UARCH_HIT,
	UARCH_MISS,
	UARCH_UNKNOWN, /* the first use, in a set that has not been filled since it was cold */
};

enum {
	UARCH_NOTE_BITS = 4, /* of an entry, below the block's number: what its owner notes */
	UARCH_NOTES = (1 << UARCH_NOTE_BITS) - 1,
};
/* Entries that are no block: numbers of blocks have at most 59 bits. */
#define UARCH_EMPTY (UINT64_MAX & ~(uint64_t)UARCH_NOTES) /* not filled since cold */
#define UARCH_GONE  (UARCH_EMPTY - UARCH_NOTES - 1)	  /* taken out; the set is known */

struct uarch_sets {
	uint64_t *entries; /* block << UARCH_NOTE_BITS | notes, set by set; NULL: there is none */
	uint32_t sets;
	uint32_t ways;
	uint32_t mask; /* sets - 1 where that is a power of two, else 0 */
};

/* False when memory is short. */
bool uarch_sets_create(struct uarch_sets *sets, const struct hp_uarch_sets *geometry);
void uarch_sets_destroy(struct uarch_sets *sets);
void uarch_sets_reset(struct uarch_sets *sets);

static inline uint64_t *uarch_sets_of(const struct uarch_sets *sets, uint64_t block)
{
	uint64_t set = sets->mask ? block & sets->mask : block % sets->sets;

	return sets->entries + set * sets->ways;
}

static inline bool uarch_sets_is(uint64_t entry, uint64_t block)
{
	return (entry ^ block << UARCH_NOTE_BITS) <= UARCH_NOTES;
}

/* The rest of uarch_sets_use, for a block that is not the first of its set. */
enum uarch_found uarch_sets_search(const struct uarch_sets *sets, uint64_t *set, uint64_t block,
				   uint64_t *evicted);

/* Uses a block, and puts it in if it is not there. `*evicted` is then the entry that had to leave;
 * UARCH_EMPTY if none. Its own entry is the first of its set. */
static inline enum uarch_found uarch_sets_use(const struct uarch_sets *sets, uint64_t block,
					      uint64_t *evicted)
{
	uint64_t *set = uarch_sets_of(sets, block);

	if (uarch_sets_is(set[0], block))
		return UARCH_HIT;
	return uarch_sets_search(sets, set, block, evicted);
}

bool uarch_sets_has(const struct uarch_sets *sets, uint64_t block);

/* Takes a block out, if it is there: the set stays known. */
bool uarch_sets_remove(const struct uarch_sets *sets, uint64_t block);

#endif
