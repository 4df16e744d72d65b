/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of the stack to copy with each sample: the smallest of several sizes that covers nearly
 * as many paths as the largest one does.
 *
 * Samples show whether a smaller size would have sufficed. Occasional samples with a much larger
 * piece of stack (deep samples) show whether a larger size would. Older samples count less, because
 * programs change.
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
};

/* Notes a sample whose path takes `bytes` of stack. */
void depths_note(struct depths *depths, uint64_t bytes);
/* Notes a sample whose path exceeds the `copied` bytes of stack. */
void depths_note_beyond(struct depths *depths, uint64_t copied);
/* Notes a deep sample; UINT64_MAX: its path exceeds the copied stack. */
void depths_note_deep(struct depths *depths, uint64_t bytes);

/* Returns the index of the size to copy from now on. */
size_t depths_choose(struct depths *depths);

#endif
