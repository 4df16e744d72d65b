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
	size_t count;	       /* 0: there is nothing to choose */
	size_t first;	       /* the size that is copied at first, and if paths are beyond all */
	size_t now;	       /* the size that is copied */
	/* Samples by the first size that holds them, behind all sizes those that none does. */
	uint32_t copied[HP_SAMPLER_STACKS + 1]; /* since `now` is */
	uint32_t deep[HP_SAMPLER_STACKS + 1];
};

/* A sample whose path takes so many bytes of the stack; of which `copied` were there. */
void depths_note(struct depths *depths, uint64_t bytes);
/* One whose path goes beyond what was copied of it. */
void depths_note_beyond(struct depths *depths, uint64_t copied);
/* The same of a deep sample; UINT64_MAX: it goes beyond. */
void depths_note_deep(struct depths *depths, uint64_t bytes);

/* The size to copy from now on. */
size_t depths_choose(struct depths *depths);

#endif
