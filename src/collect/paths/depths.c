/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "depths.h"

#include "../tuning.h"

#include <string.h>

static uint32_t sum(const uint32_t *counts, size_t begin, size_t end)
{
	uint32_t total = 0;

	for (size_t i = begin; i < end; i++)
		total += counts[i];
	return total;
}

static void add(const struct depths *depths, uint32_t *counts, uint64_t bytes, uint32_t most)
{
	size_t i = 0;

	while (i < depths->count && depths->sizes[i] < bytes)
		i++;
	counts[i]++;
	if (sum(counts, 0, depths->count + 1) < most)
		return;
	for (i = 0; i <= depths->count; i++)
		counts[i] /= 2;
}

void depths_note(struct depths *depths, uint64_t bytes)
{
	if (depths->count)
		add(depths, depths->copied, bytes, DEPTHS_SAMPLES);
}

void depths_note_beyond(struct depths *depths, uint64_t copied)
{
	/* The sample has an earlier, smaller size; or the rest of the stack is not in memory. */
	if (depths->count && copied >= depths->sizes[depths->now])
		depths_note(depths, UINT64_MAX);
}

void depths_note_deep(struct depths *depths, uint64_t bytes)
{
	if (depths->count)
		add(depths, depths->deep, bytes, DEPTHS_DEEP_SAMPLES);
}

/* Estimates the share of samples that each size covers. Samples beyond the present size are divided
 * over the larger sizes like deep samples; without deep samples, all count as covered. */
static void find_held(const struct depths *depths, double *held)
{
	size_t now = depths->now;
	double total = sum(depths->copied, 0, depths->count + 1);
	double beyond = sum(depths->deep, now + 1, depths->count + 1);

	for (size_t i = 0; i <= now; i++)
		held[i] = sum(depths->copied, 0, i + 1) / total;
	for (size_t i = now + 1; i < depths->count; i++)
		held[i] = held[now] +
			  (1 - held[now]) *
				  (beyond > 0 ? sum(depths->deep, now + 1, i + 1) / beyond : 1);
}

/* Whether enough samples were seen. Few suffice to see that the size is too small; to see that it
 * is too large takes more. */
static bool is_known(const struct depths *depths)
{
	return depths->count && (sum(depths->copied, 0, depths->count + 1) >= DEPTHS_ENOUGH ||
				 sum(depths->copied, depths->now + 1, depths->count + 1) >
					 (1 - depths_held) * DEPTHS_ENOUGH);
}

size_t depths_choose(struct depths *depths)
{
	double held[HP_SAMPLER_STACKS];
	size_t i = 0;

	if (!is_known(depths))
		return depths->now;
	find_held(depths, held);
	/* If paths exceed all sizes, use the first one: a longer piece makes it likelier that the
	 * rest of the path is that of the last complete path. */
	if (held[depths->count - 1] < depths_held)
		i = depths->first;
	while (i < depths->count - 1 &&
	       held[i] < held[depths->count - 1] *
				 (i < depths->now ? depths_held_smaller : depths_held))
		i++;
	if (i == depths->now)
		return i;
	depths->now = i;
	memset(depths->copied, 0, sizeof(depths->copied));
	return i;
}
