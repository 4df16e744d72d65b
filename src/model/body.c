/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/model/body.h>

#include <hpcprof/base/search.h>

#include "tuning.h"

#include <string.h>

void hp_hashes_add(struct hp_hashes *hashes, uint32_t hash)
{
	size_t at = hp_bisect(i, hashes->count, hashes->at[i] < hash);

	if (at == HP_BODY_MOST_HASHES || (at < hashes->count && hashes->at[at] == hash))
		return;
	if (hashes->count < HP_BODY_MOST_HASHES)
		hashes->count++;
	memmove(hashes->at + at + 1, hashes->at + at,
		(hashes->count - 1 - at) * sizeof(*hashes->at));
	hashes->at[at] = hash;
}

/* The share of common hashes among the smallest hashes of both bodies together. */
static double common_share(const struct hp_hashes *a, const struct hp_hashes *b)
{
	size_t common = 0;
	size_t seen = 0;

	for (size_t i = 0, j = 0; (i < a->count || j < b->count) && seen < HP_BODY_MOST_HASHES;
	     seen++) {
		bool in_a = i < a->count && (j >= b->count || a->at[i] <= b->at[j]);
		bool in_b = j < b->count && (i >= a->count || b->at[j] <= a->at[i]);

		if (in_a && in_b)
			common++;
		i += in_a ? 1 : 0;
		j += in_b ? 1 : 0;
	}
	return seen ? (double)common / (double)seen : 0;
}

double hp_body_similarity(const struct hp_body *a, const struct hp_body *b)
{
	uint32_t least = a->instructions < b->instructions ? a->instructions : b->instructions;
	double exact;
	double shape;

	if (least < FEWEST_INSTRUCTIONS)
		return 0;
	exact = common_share(&a->exact, &b->exact);
	shape = least < 2 * FEWEST_INSTRUCTIONS
			? 0
			: worth_of_shape * common_share(&a->shape, &b->shape);
	return exact > shape ? exact : shape;
}
