/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reuse.h"

#include "../tuning.h"

#include <math.h>
#include <string.h>

static unsigned part_of(uint32_t ways, const struct hp_uarch_distance *distance)
{
	return ways < distance->ways ? ways * REUSE_PARTS / distance->ways : REUSE_PARTS;
}

void reuse_add(struct reuse *reuse, struct reuse *all, const struct hp_uarch_distance *distance,
	       bool is_unknown)
{
	unsigned known = part_of(distance->known, distance);

	if (distance->later < distance->known) {
		reuse->found[part_of(distance->later, distance)]++;
		all->found[part_of(distance->later, distance)]++;
	} else {
		reuse->passed[known]++;
		all->passed[known]++;
	}
	reuse->unknown[known] += is_unknown;
}

/* From the farthest distance on: `own` and `others` are the uses known to have got to a part. */
uint32_t reuse_take_misses(struct reuse *reuse, struct reuse *all)
{
	double own = reuse->passed[REUSE_PARTS], others = all->passed[REUSE_PARTS];
	double misses = all->left + reuse->unknown[REUSE_PARTS];
	double passes = 1; /* probability to get from a part past the last one */

	for (unsigned part = REUSE_PARTS; part-- > 0;) {
		double usual;

		own += reuse->found[part];
		others += all->found[part];
		usual = others > 0 ? all->found[part] / others : 0;
		passes *= 1 - (reuse->found[part] + usual_uses * usual) / (own + usual_uses);
		misses += reuse->unknown[part] * passes;
		own += reuse->passed[part];
		others += all->passed[part];
	}
	memset(reuse->unknown, 0, sizeof(reuse->unknown));
	all->left = misses - floor(misses);
	return (uint32_t)misses;
}
