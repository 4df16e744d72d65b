/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shorter.h"

void shorter_clear(struct shorter *shorter)
{
	for (size_t i = 0; i < HP_SAMPLER_STACKS; i++)
		lasts_clear(&shorter->lasts[i]);
}

/* Returns how many frames are found in so many bytes. The return address of a frame is the word
 * below the stack pointer of its caller. */
static size_t reached_in(const struct last_frame *frames, size_t count, uint64_t bytes)
{
	size_t reached = 0;

	while (reached < count && frames[reached].stack - frames[0].stack <= bytes)
		reached++;
	return reached;
}

enum shorter_end shorter_end_of(const struct lasts *lasts, uint32_t tid,
				const struct last_frame *frames, size_t count, uint64_t bytes)
{
	size_t reached = reached_in(frames, count, bytes);
	const struct last_frame *callers;
	size_t more;

	if (reached == count)
		return SHORTER_HELD;
	more = lasts_find(lasts, tid, &frames[reached - 1], &callers);
	if (!more)
		return SHORTER_CUT;
	if (more != count - reached)
		return SHORTER_WRONG;
	for (size_t i = 0; i < more; i++) {
		if (callers[i].address != frames[reached + i].address)
			return SHORTER_WRONG;
	}
	return SHORTER_JOINED;
}

static void note(struct depths *depths, size_t size, enum shorter_end end)
{
	if (size == depths->now && (end == SHORTER_JOINED || end == SHORTER_WRONG))
		depths->checked++;
	if (end == SHORTER_WRONG)
		depths_note_wrong(depths, size);
}

uint64_t shorter_try(struct shorter *shorter, struct depths *depths, const struct lasts *present,
		     const struct known_path *path)
{
	bool are_new = depths_are_new(depths);
	uint64_t enough = UINT64_MAX;
	bool is_enough = true;

	for (size_t i = path->is_deep ? depths->count : depths->now; i-- > 0;) {
		struct lasts *lasts = i < depths->now ? &shorter->lasts[i] : NULL;
		enum shorter_end end = shorter_end_of(lasts ? lasts : present, path->tid,
						      path->frames, path->count, depths->sizes[i]);
		bool is_found = end == SHORTER_HELD || end == SHORTER_JOINED;

		note(depths, i, end);
		is_enough = is_enough && is_found;
		if (is_enough)
			enough = depths->sizes[i];
		if (lasts && (path->is_deep || is_found || are_new))
			lasts_remember(lasts, path->tid, path->frames, path->count);
	}
	return enough;
}
