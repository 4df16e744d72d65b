/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The latest complete path of each thread, to which a path is joined whose copied stack ends early;
 * and how it was unwound, which saves the next path most of its look-ups.
 *
 * A frame is identified by its procedure and its end on the stack, which is where it was called; or,
 * where the end is not known, by its address and its beginning. Where both agree, the call has not
 * returned since, and so all outer calls are the same; or another call looks the same. So joined
 * paths are marked, and depths.h says how it is found out where that is not rare. Memory is bounded:
 * the threads that were not seen for longest are forgotten.
 */
#ifndef COLLECT_PATHS_LASTS_H
#define COLLECT_PATHS_LASTS_H

#include "../tuning.h"

#include <hpcprof/model/paths.h>
#include <hpcprof/unwind/unwind.h>

/* A frame and its entry in the tree. */
struct last_frame {
	uint64_t address;
	uint64_t stack;
	uint64_t caller_stack; /* 0: not known */
	uint64_t procedure;    /* where it begins, in the image of `in_tree` */
	struct hp_path_frame in_tree;
};

struct last_path;

/* Zeroed: empty. */
struct lasts {
	struct last_path *by_thread; /* hash, the oldest first */
};

/* How a path was unwound, for the next one of the thread. */
struct last_unwinding {
	const struct hp_unwind_frame *frames; /* as many as the path has */
	const void *space;		      /* the address space; only compared */
	uint64_t known_since;		      /* `forgotten` of known.h */
};

void lasts_clear(struct lasts *lasts);

/* Keeps a complete path; it may itself have been joined from an earlier one. */
void lasts_remember(struct lasts *lasts, uint32_t tid, const struct last_frame *frames,
		    size_t count);
/* Finds the frames that call `outermost`, up to the root. Returns their number, 0 if the frame is
 * not in the thread's last path. Valid until the next lasts_remember. */
size_t lasts_find(const struct lasts *lasts, uint32_t tid, const struct last_frame *outermost,
		  const struct last_frame **callers);

/* Finds the thread's last path, innermost first. Returns the number of frames, 0 if unknown. Valid
 * until the next lasts_remember. */
size_t lasts_path(const struct lasts *lasts, uint32_t tid, const struct last_frame **frames);

/* Keeps how the thread's last path, which was just remembered, was unwound. */
void lasts_remember_unwinding(struct lasts *lasts, uint32_t tid,
			      const struct last_unwinding *unwinding);
/* Returns how the thread's last path was unwound, if that was in this space with these places, else
 * NULL. As many frames as lasts_path has, valid as long. */
const struct hp_unwind_frame *lasts_unwinding(const struct lasts *lasts, uint32_t tid,
					      const void *space, uint64_t known_since);

#endif
