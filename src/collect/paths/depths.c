/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "depths.h"

#include "../tuning.h"

#include <math.h>
#include <string.h>

static uint32_t sum(const uint32_t *counts, size_t begin, size_t end)
{
	uint32_t total = 0;

	for (size_t i = begin; i < end; i++)
		total += counts[i];
	return total;
}

static size_t covering(const struct depths *depths, uint64_t bytes)
{
	size_t i = 0;

	while (i < depths->count && depths->sizes[i] < bytes)
		i++;
	return i;
}

void depths_note(struct depths *depths, uint64_t bytes)
{
	if (!depths->count)
		return;
	depths->copied[covering(depths, bytes)]++;
	for (size_t i = 0; i < depths->count; i++)
		depths->right[i] += depths->right[i] < DEPTHS_ENOUGH;
}

void depths_note_wrong(struct depths *depths, size_t size)
{
	depths->right[size] = 0;
	if (size != depths->now)
		return;
	depths->is_wrong = true;
	depths->wrong++;
}

void depths_note_beyond(struct depths *depths, uint64_t copied)
{
	/* The sample has an earlier, smaller size; or the rest of the stack is not in memory. */
	if (depths->count && copied >= depths->sizes[depths->now])
		depths_note(depths, UINT64_MAX);
}

void depths_note_deep(struct depths *depths, uint64_t bytes)
{
	if (!depths->count)
		return;
	depths->deep[covering(depths, bytes)]++;
	if (sum(depths->deep, 0, depths->count + 1) < DEPTHS_DEEP_SAMPLES)
		return;
	for (size_t i = 0; i <= depths->count; i++)
		depths->deep[i] /= 2;
}

bool depths_are_new(const struct depths *depths)
{
	return sum(depths->copied, 0, depths->count + 1) < DEPTHS_NEW;
}

/* Estimates the share of samples that each size covers. Samples beyond the present size are divided
 * over the larger sizes like deep samples; without deep samples, all count as covered. */
static void find_held(const struct depths *depths, double *held)
{
	size_t now = depths->now;
	double total = fmax(sum(depths->copied, 0, depths->count + 1), 1);
	double beyond = sum(depths->deep, now + 1, depths->count + 1);

	for (size_t i = 0; i <= now; i++)
		held[i] = sum(depths->copied, 0, i + 1) / total;
	for (size_t i = now + 1; i < depths->count; i++)
		held[i] = held[now] +
			  (1 - held[now]) *
				  (beyond > 0 ? sum(depths->deep, now + 1, i + 1) / beyond : 1);
}

static bool is_enough(const struct depths *depths)
{
	return sum(depths->copied, 0, depths->count + 1) >= DEPTHS_ENOUGH;
}

/* Whether the size may have to change. Few samples suffice to see that it is too small. */
static bool is_in_question(const struct depths *depths)
{
	size_t beyond = depths->now + 1;

	return depths->is_wrong || is_enough(depths) ||
	       (beyond < depths->count &&
		sum(depths->copied, beyond, depths->count + 1) > (1 - depths_held) * DEPTHS_ENOUGH);
}

/* Whether a size joins no path wrongly. A smaller one than the present has to show it. */
static bool is_right(const struct depths *depths, size_t size)
{
	if (size < depths->now)
		return depths->right[size] >= DEPTHS_ENOUGH;
	return size > depths->now || !depths->is_wrong;
}

static bool holds_enough(const struct depths *depths, const double *held, size_t size)
{
	return held[size] >=
	       held[depths->count - 1] * (size < depths->now ? depths_held_smaller : depths_held);
}

/* Returns the size to use. A smaller one has to be suggested 2^failures times in a row, because the
 * paths of many samples are cut until it is seen to be too small again. */
static size_t hesitate(struct depths *depths, size_t size)
{
	if (size < depths->now && ++depths->suggested < 1u << depths->failures)
		return depths->now;
	depths->suggested = 0;
	if (size == depths->now)
		return size;
	if (size > depths->now && depths->has_shrunk && depths->failures < DEPTHS_FAILURES)
		depths->failures++;
	depths->has_shrunk = size < depths->now;
	return size;
}

size_t depths_choose(struct depths *depths, uint64_t now_ns)
{
	double held[HP_SAMPLER_STACKS];
	bool is_long;
	size_t i = 0;

	if (!depths->begun_ns)
		depths->begun_ns = now_ns;
	if (!depths->count || !is_in_question(depths))
		return depths->now;
	is_long = is_enough(depths) && now_ns - depths->begun_ns >= DEPTHS_LEAST_NS;
	find_held(depths, held);
	/* If paths exceed all sizes, use the first one: a longer piece makes it likelier that the
	 * rest of the path is that of the last complete path. */
	if (held[depths->count - 1] < depths_held)
		i = depths->first;
	while (i < depths->count - 1 && !(is_right(depths, i) && holds_enough(depths, held, i)))
		i++;
	depths->is_wrong = false;
	if (i <= depths->now && !is_long)
		return depths->now;
	depths->now = hesitate(depths, i);
	depths->begun_ns = now_ns;
	memset(depths->copied, 0, sizeof(depths->copied));
	return depths->now;
}
