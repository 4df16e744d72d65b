/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "suspects.h"

#include <math.h>

/* The figures of `added` are those of the cause; doubt is applied here. */
static void add(struct suspects *found, struct suspect added)
{
	enum hp_cause_kind kind = (enum hp_cause_kind)added.kind;
	uint32_t culprit = added.culprit;
	struct suspect *least = NULL;

	if (!(added.bound > 0))
		return;
	added.expected = fmin(added.bound, fmax(0, added.expected)) * found->doubt;
	added.weight = fmax(added.expected, added.weight * found->doubt);
	for (uint32_t i = 0; i < found->count; i++) {
		struct suspect *one = &found->at[i];

		if (one->kind == kind && one->culprit == culprit) {
			one->bound = fmax(one->bound, added.bound);
			one->expected = fmax(one->expected, added.expected);
			one->weight = fmax(one->weight, added.weight);
			one->ceiling = fmax(one->ceiling, added.ceiling);
			return;
		}
		if (one->kind == kind && (!least || one->weight < least->weight))
			least = one;
	}
	if (found->count < MOST_SUSPECTS) {
		found->at[found->count++] = added;
		return;
	}
	/* When the array is full, it is merged with another of its kind. */
	if (!least)
		return;
	least->bound += added.bound;
	if (added.weight > least->weight)
		least->culprit = culprit;
	least->expected += added.expected;
	least->weight += added.weight;
	least->ceiling += added.ceiling;
}

void add_reserve(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected, double weight)
{
	add(found, (struct suspect){ .kind = (uint8_t)kind,
				     .culprit = culprit,
				     .bound = bound,
				     .expected = expected,
				     .weight = weight,
				     .ceiling = INFINITY });
}

void add_suspect(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected)
{
	add_reserve(found, kind, culprit, bound, expected, expected);
}

void add_marked(struct suspects *found, enum hp_cause_kind kind, uint32_t culprit, double bound,
		double expected, double ceiling)
{
	add(found, (struct suspect){ .kind = (uint8_t)kind,
				     .culprit = culprit,
				     .bound = bound,
				     .expected = expected,
				     .weight = expected,
				     .ceiling = ceiling });
}
