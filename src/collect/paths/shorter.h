/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether shorter copies of the stack would do: what would have been found of a path that is known if
 * less of the stack had been copied, and the rest been joined from the thread's last path.
 *
 * For each shorter size the last paths are kept that it would have found, because a path that it
 * would not have found is none to join later ones to.
 */
#ifndef COLLECT_PATHS_SHORTER_H
#define COLLECT_PATHS_SHORTER_H

#include "depths.h"
#include "lasts.h"

enum shorter_end {
	SHORTER_HELD,	/* the copy holds the path */
	SHORTER_JOINED, /* the path, of which the rest would have been joined */
	SHORTER_CUT,	/* a part of it */
	SHORTER_WRONG,	/* another one: it would have been joined to callers that are not its own */
};

/* Zeroed: empty. */
struct shorter {
	struct lasts lasts[HP_SAMPLER_STACKS]; /* by size */
};

void shorter_clear(struct shorter *shorter);

/* Returns what so many bytes would have given of a whole path, innermost frame first. */
enum shorter_end shorter_end_of(const struct lasts *lasts, uint32_t tid,
				const struct last_frame *frames, size_t count, uint64_t bytes);

/* A whole path. */
struct known_path {
	uint32_t tid;
	const struct last_frame *frames;
	size_t count;
	bool is_deep; /* of a deep sample */
};

/* Tries the sizes below the present one, for a deep sample all, and notes which of them join the path
 * wrongly. `present`: the last paths that the present size found. Returns how many bytes suffice;
 * UINT64_MAX: none of these does. */
uint64_t shorter_try(struct shorter *shorter, struct depths *depths, const struct lasts *present,
		     const struct known_path *path);

#endif
