/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of blocks with the time of their last use (exact LRU), from which caches, TLBs and the cache
 * of decoded instructions are built.
 *
 * A table of hints tells in which way a block was last. Nearly every use finds its block there, without
 * looking for its set, so its cost does not depend on the number of ways.
 */
#ifndef HPCPROF_SRC_UARCH_SETS_H
#define HPCPROF_SRC_UARCH_SETS_H

#include <hpcprof/uarch/geometry.h>

enum uarch_found {
	UARCH_HIT,
	UARCH_MISS,
	/* first use of a block in a set that has not been filled since it was cold */
	UARCH_UNKNOWN,
};

enum {
	UARCH_NOTE_BITS = 4, /* bits of an entry below the block's number, for notes of its owner */
	UARCH_NOTES = (1 << UARCH_NOTE_BITS) - 1,
};
/* Entries without a block: numbers of blocks have at most 59 bits. */
#define UARCH_EMPTY (UINT64_MAX & ~(uint64_t)UARCH_NOTES) /* not filled since cold */
/* removed; the set's contents stay known */
#define UARCH_GONE (UARCH_EMPTY - UARCH_NOTES - 1)

struct uarch_way {
	uint64_t entry;	  /* block << UARCH_NOTE_BITS | notes */
	uint64_t used_at; /* clock of its last use; 0: no block */
};

struct uarch_sets {
	struct uarch_way *all; /* all sets, one after the other; NULL: there are none */
	/* by the low bits of a block's number: a guess at its way's index in `all` */
	uint32_t *hints;
	uint64_t clock;
	uint32_t sets;
	uint32_t ways;
	uint32_t mask; /* sets - 1 */
	bool is_power; /* the number of sets is a power of two, so that the mask selects the set */
	uint32_t hint_mask;
	struct uarch_way *used; /* way of the last use */
	uint64_t evicted;	/* the entry that was replaced; UARCH_EMPTY: none */
};

/* False: out of memory. */
bool uarch_sets_create(struct uarch_sets *sets, const struct hp_uarch_sets *geometry);
void uarch_sets_destroy(struct uarch_sets *sets);
void uarch_sets_reset(struct uarch_sets *sets);

static inline struct uarch_way *uarch_sets_of(const struct uarch_sets *sets, uint64_t block)
{
	uint64_t set = sets->is_power ? block & sets->mask : block % sets->sets;

	return sets->all + set * sets->ways;
}

static inline bool uarch_sets_is(uint64_t entry, uint64_t block)
{
	return (entry ^ block << UARCH_NOTE_BITS) <= UARCH_NOTES;
}

/* The way that has the block, by the hint; NULL: the hint is wrong. */
static inline struct uarch_way *uarch_sets_hinted(const struct uarch_sets *sets, uint64_t block)
{
	struct uarch_way *way = sets->all + sets->hints[block & sets->hint_mask];

	return __builtin_expect(uarch_sets_is(way->entry, block), 1) ? way : NULL;
}

/* uarch_sets_use for a block that is not in the way of the hint. */
enum uarch_found uarch_sets_search(struct uarch_sets *sets, uint64_t block);

/* Uses a block, and adds it if it is missing. Sets `used`, and `evicted` if it was missing. */
static inline enum uarch_found uarch_sets_use(struct uarch_sets *sets, uint64_t block)
{
	struct uarch_way *way = uarch_sets_hinted(sets, block);

	if (!way)
		return uarch_sets_search(sets, block);
	way->used_at = ++sets->clock;
	sets->used = way;
	return UARCH_HIT;
}

/* Where a block was in its set when it was used. */
struct uarch_place {
	uint32_t rank;	/* number of ways used later than the block; all of them if it is missing */
	uint32_t known; /* number of ways used since a certain time */
};

/* The same. `place`: what was known since `since`. */
enum uarch_found uarch_sets_use_since(struct uarch_sets *sets, uint64_t block, uint64_t since,
				      struct uarch_place *place);

/* Whether the result of that use does not depend on what the set contained before. */
static inline bool uarch_place_is_certain(const struct uarch_place *place,
					  const struct uarch_sets *sets)
{
	return place->rank < place->known || place->known == sets->ways;
}

/* The rest of uarch_sets_has. */
bool uarch_sets_has_anywhere(const struct uarch_sets *sets, uint64_t block);

static inline bool uarch_sets_has(const struct uarch_sets *sets, uint64_t block)
{
	return uarch_sets_hinted(sets, block) || uarch_sets_has_anywhere(sets, block);
}

/* Removes a block, if it is there. The set's contents stay known. */
bool uarch_sets_remove(struct uarch_sets *sets, uint64_t block);

#endif
