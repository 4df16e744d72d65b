/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lasts.h"

#include <hpcprof/base/hash.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <stdlib.h>
#include <string.h>

struct last_path {
	UT_hash_handle hh;
	uint32_t tid;
	HP_VECTOR(struct last_frame) frames;	   /* innermost first */
	HP_VECTOR(struct hp_unwind_frame) unwound; /* none, or as many */
	const void *space;			   /* in which they were */
	uint64_t known_since;
};

static void drop(struct lasts *lasts, struct last_path *path)
{
	HASH_DEL(lasts->by_thread, path);
	hp_vector_free(&path->frames);
	hp_vector_free(&path->unwound);
	free(path);
}

void lasts_clear(struct lasts *lasts)
{
	while (lasts->by_thread)
		drop(lasts, lasts->by_thread);
}

static struct last_path *find(const struct lasts *lasts, uint32_t tid)
{
	struct last_path *path;

	HASH_FIND(hh, lasts->by_thread, &tid, sizeof(tid), path);
	return path;
}

static struct last_path *find_or_add(struct lasts *lasts, uint32_t tid)
{
	struct last_path *path = find(lasts, tid);

	/* It was used last already. */
	if (path && !path->hh.next)
		return path;
	if (path)
		HASH_DEL(lasts->by_thread, path);
	else if (HASH_COUNT(lasts->by_thread) >= MOST_LAST_PATHS)
		drop(lasts, lasts->by_thread);
	if (!path)
		path = calloc(1, sizeof(*path));
	if (!path)
		return NULL;
	path->tid = tid;
	/* Moves the thread to the end: it was used last. */
	HASH_ADD(hh, lasts->by_thread, tid, sizeof(path->tid), path);
	if (path->hh.tbl)
		return path;
	hp_vector_free(&path->frames);
	free(path);
	return NULL;
}

void lasts_remember(struct lasts *lasts, uint32_t tid, const struct last_frame *frames,
		    size_t count)
{
	struct last_path *path = find_or_add(lasts, tid);

	if (!path)
		return;
	path->frames.count = path->unwound.count = 0;
	if (!hp_vector_reserve(&path->frames, count))
		return;
	memcpy(path->frames.at, frames, count * sizeof(*frames));
	path->frames.count = count;
}

/* Returns how many frames are below a place of the stack. Outer frames are higher, except below a
 * signal handler on another stack, whose callers are not found. */
static size_t count_below(const struct last_frame *frames, size_t count, uint64_t stack)
{
	return hp_bisect(i, count, frames[i].stack < stack);
}

static bool is_procedure(const struct last_frame *a, const struct last_frame *b)
{
	return a->procedure == b->procedure && a->in_tree.image == b->in_tree.image;
}

/* Returns how many frames there are up to one and with it. 0: it is not among them. */
static size_t count_to(const struct last_frame *frames, size_t count, const struct last_frame *one)
{
	size_t at = count_below(frames, count, one->caller_stack);

	if (at && at < count && frames[at].stack == one->caller_stack &&
	    is_procedure(&frames[at - 1], one))
		return at;
	at = count_below(frames, count, one->stack);
	return at < count && frames[at].stack == one->stack && frames[at].address == one->address
		       ? at + 1
		       : 0;
}

size_t lasts_find(const struct lasts *lasts, uint32_t tid, const struct last_frame *outermost,
		  const struct last_frame **callers)
{
	const struct last_path *path = find(lasts, tid);
	size_t count = path ? count_to(path->frames.at, path->frames.count, outermost) : 0;

	if (!count)
		return 0;
	*callers = path->frames.at + count;
	return path->frames.count - count;
}

size_t lasts_path(const struct lasts *lasts, uint32_t tid, const struct last_frame **frames)
{
	const struct last_path *path = find(lasts, tid);

	*frames = path ? path->frames.at : NULL;
	return path ? path->frames.count : 0;
}

void lasts_remember_unwinding(struct lasts *lasts, uint32_t tid,
			      const struct last_unwinding *unwinding)
{
	struct last_path *path = find(lasts, tid);
	size_t count = path ? path->frames.count : 0;

	if (!count || !hp_vector_reserve(&path->unwound, count))
		return;
	memcpy(path->unwound.at, unwinding->frames, count * sizeof(*unwinding->frames));
	path->unwound.count = count;
	hp_unwind_pass(path->unwound.at, count);
	path->space = unwinding->space;
	path->known_since = unwinding->known_since;
}

const struct hp_unwind_frame *lasts_unwinding(const struct lasts *lasts, uint32_t tid,
					      const void *space, uint64_t known_since)
{
	const struct last_path *path = find(lasts, tid);

	return path && path->unwound.count && path->space == space &&
			       path->known_since == known_since
		       ? path->unwound.at
		       : NULL;
}
