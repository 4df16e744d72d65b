/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core's prefetchers: one follows the stride of each load, one follows streams of lines. They run
 * further ahead the longer they were right, and then on into the next page. A third one, which not all
 * cores have, fetches what the pointers lead to that a load with a stride will load. They put nothing
 * into the caches. The lines that they would have fetched are noted, with the time, until they are used.
 */
#ifndef HPCPROF_SRC_UARCH_PREFETCH_H
#define HPCPROF_SRC_UARCH_PREFETCH_H

#include "history.h"
#include "sets.h"

#include <hpcprof/uarch/geometry.h>

struct uarch_stride {
	uint64_t ip;
	uint64_t last;	  /* last address */
	int64_t stride;	  /* in bytes */
	uint64_t brought; /* the line prefetched last */
	unsigned confidence;
	unsigned ahead; /* strides from the last address to the line prefetched last */
};

/* What the prefetcher of pointers knows of such a load. */
struct uarch_leader {
	unsigned equal;			/* strides in a row until now, up to POINTERS_SURE */
	unsigned next;			/* the oldest one of `times` */
	uint64_t times[POINTERS_AHEAD]; /* of the last of these loads */
	uint64_t led;			/* the time of the load before them */
};

struct uarch_stream {
	uint64_t page;
	uint64_t last; /* the line seen last */
	int64_t step;  /* +1 or -1 */
	unsigned confidence;
	int64_t ahead; /* lines from the last one to that prefetched last */
};

struct uarch_brought {
	uint64_t line;
	uint64_t when; /* time of the prefetch, in instructions */
};

struct uarch_prefetch {
	const struct uarch_sets *cache; /* the first level; lines that it has are not prefetched */
	unsigned line_shift, page_shift;
	struct uarch_stride strides[STRIDES];
	bool follows_pointers;
	struct uarch_leader leaders[STRIDES]; /* of the same loads */
	struct uarch_stream streams[STREAMS];
	struct uarch_brought brought[BROUGHT];
	unsigned pointers; /* those that were to be followed */
};

void uarch_prefetch_create(struct uarch_prefetch *prefetch,
			   const struct hp_uarch_geometry *geometry,
			   const struct uarch_sets *cache);
void uarch_prefetch_reset(struct uarch_prefetch *prefetch);

/* The rest of uarch_prefetch_follow_load. */
void uarch_prefetch_follow_step(struct uarch_prefetch *prefetch, uint64_t ip, uint64_t address,
				uint64_t now);

static inline uint32_t uarch_prefetch_place(uint64_t ip)
{
	return uarch_hash(ip) & (STRIDES - 1);
}

/* Follows a load, before its line is used: from its first miss on. `has_line`: the first level has it. Many load
 * the same again. */
static inline void uarch_prefetch_follow_load(struct uarch_prefetch *prefetch, uint64_t ip,
					      uint64_t address, bool has_line, uint64_t now)
{
	const struct uarch_stride *load = &prefetch->strides[uarch_prefetch_place(ip)];

	if (load->ip == ip ? load->last != address || load->stride != 0 : !has_line)
		uarch_prefetch_follow_step(prefetch, ip, address, now);
}

/* The load at `ip` has loaded a pointer to that line. Whether a prefetcher has followed it before: then
 * it has fetched the line, where that was missing. */
bool uarch_prefetch_lead(struct uarch_prefetch *prefetch, uint64_t ip, uint64_t line);
/* Follows a miss in the first level. */
void uarch_prefetch_follow_miss(struct uarch_prefetch *prefetch, uint64_t line, uint64_t now);

/* Notes that a line is prefetched. */
void uarch_prefetch_bring(struct uarch_prefetch *prefetch, uint64_t line, uint64_t now);

/* Whether a line was prefetched and not used since; it counts as used now. `*when`: time of the
 * prefetch. */
bool uarch_prefetch_take(struct uarch_prefetch *prefetch, uint64_t line, uint64_t *when);

#endif
