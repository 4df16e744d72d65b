/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of the stack to copy with each sample: the smallest of several sizes that covers nearly
 * as many paths as the largest one does.
 *
 * A size covers a path if the copy holds it, or if it holds so much of it that the rest is joined
 * rightly from the thread's last path. Samples show whether a smaller size would have sufficed
 * (shorter.h). Occasional samples with a much larger piece of stack (deep samples) show whether a
 * larger size would, and whether the present size joins paths to wrong ones. Older samples count
 * less, because programs change.
 *
 * A size that joins paths to wrong ones is not used: a recursive procedure may call itself with
 * another caller where the last call was. A size has to join none wrongly for many samples before it
 * is chosen, and is given up when a deep sample shows that it does.
 */
#ifndef COLLECT_PATHS_DEPTHS_H
#define COLLECT_PATHS_DEPTHS_H

#include <hpcprof/sample/sampler.h>

struct depths {
	const uint32_t *sizes; /* the smallest first; borrowed */
	size_t count;	       /* 0: no choice */
	size_t first;	       /* the size used at first, and if paths exceed all sizes */
	size_t now;	       /* the size that is copied */
	/* Samples by the smallest size that covers them; the last entry is for those that no size
	 * covers. */
	uint32_t copied[HP_SAMPLER_STACKS + 1]; /* samples since `now` was chosen */
	uint32_t deep[HP_SAMPLER_STACKS + 1];
	/* Per size: samples since the last that it would have joined wrongly, up to
	 * DEPTHS_ENOUGH. */
	uint32_t right[HP_SAMPLER_STACKS];
	bool is_wrong;	    /* the present size joined a path wrongly */
	uint64_t begun_ns;  /* when the first of `copied` was counted; 0: not known */
	uint32_t suggested; /* how often in a row a smaller size was */
	uint32_t failures;  /* how often one that was chosen was too small */
	bool has_shrunk;    /* the present size was chosen instead of a larger one */
	/* Deep samples whose path the size of the time would have joined, and those of them that it
	 * would have joined wrongly. */
	uint64_t checked;
	uint64_t wrong;
};

/* Notes a sample whose path is covered by `bytes` of stack. */
void depths_note(struct depths *depths, uint64_t bytes);
/* Notes a sample whose path exceeds the `copied` bytes of stack. */
void depths_note_beyond(struct depths *depths, uint64_t copied);
/* Notes that the size with this index joins a path wrongly. */
void depths_note_wrong(struct depths *depths, size_t size);
/* Notes a deep sample; UINT64_MAX: its path exceeds the copied stack. */
void depths_note_deep(struct depths *depths, uint64_t bytes);

/* Whether the size was chosen only now: the last paths of threads are still those of the size before. */
bool depths_are_new(const struct depths *depths);

/* Returns the index of the size to copy from now on. */
size_t depths_choose(struct depths *depths, uint64_t now_ns);

#endif
