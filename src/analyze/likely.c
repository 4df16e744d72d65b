/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each suspect of a stall is likely to have taken of it. */
#include "stalls.h"
#include "tuning.h"

#include <math.h>

void likely_split(const struct case_file *file, double runs, double stall, double stretch,
		  double *likely)
{
	double given = expected_of(file, runs);

	for (uint32_t i = 0; i < file->count; i++)
		likely[i] = suspect_expected(&file->suspects[i], runs);
	if (given >= stall) {
		for (uint32_t i = 0; i < file->count && given > 0; i++)
			likely[i] *= stall / given;
		return;
	}
	/* When a suspect reaches its bound, the others share the rest. */
	for (unsigned round = 0; round < MOST_SUSPECTS && stall - given > 1e-9 * stall; round++) {
		double weights = 0;
		double missing = stall - given;

		for (uint32_t i = 0; i < file->count; i++)
			if (likely[i] < file->suspects[i].bound * stretch)
				weights += suspect_weight(&file->suspects[i], runs) + least_weight;
		if (weights <= 0)
			return;
		for (uint32_t i = 0; i < file->count; i++) {
			double bound = file->suspects[i].bound * stretch;
			double weight = suspect_weight(&file->suspects[i], runs) + least_weight;
			double more = missing * weight / weights;

			if (likely[i] >= bound)
				continue;
			more = fmin(more, bound - likely[i]);
			likely[i] += more;
			given += more;
		}
	}
}

void likely_timed(const struct case_file *file, const struct timed_part parts[HP_CAUSE_COUNT],
		  double stall, double *likely)
{
	double sums[HP_CAUSE_COUNT] = { 0 };
	double before = 0, timed = 0;

	for (uint32_t i = 0; i < file->count; i++)
		sums[file->suspects[i].kind] += likely[i];
	for (unsigned kind = 0; kind < HP_CAUSE_COUNT; kind++) {
		before += sums[kind];
		timed += sums[kind] > 0 ? parts[kind].likely : 0;
	}
	for (uint32_t i = 0; i < file->count && before > 0; i++) {
		double sum = sums[file->suspects[i].kind];
		double part = sum > 0 ? parts[file->suspects[i].kind].likely * likely[i] / sum : 0;
		double rest = fmax(0, fmin(before, stall) - timed) * likely[i] / before;

		likely[i] = (timed > stall ? part * stall / timed : part) + rest;
	}
}

void likely_at_least(const struct case_file *file, const struct hp_range kinds[HP_CAUSE_COUNT],
		     double *likely)
{
	double had[HP_CAUSE_COUNT] = { 0 }, gets[HP_CAUSE_COUNT];
	uint32_t suspects[HP_CAUSE_COUNT] = { 0 };
	double more = 0, beyond = 0, kept;

	for (uint32_t i = 0; i < file->count; i++) {
		had[file->suspects[i].kind] += likely[i];
		suspects[file->suspects[i].kind]++;
	}
	had[HP_CAUSE_UNEXPLAINED] = likely[file->count];
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		gets[k] = fmax(kinds[k].low, had[k]);
		more += gets[k] - had[k];
		beyond += gets[k] - kinds[k].low;
	}
	kept = beyond > 0 ? fmax(0, 1 - more / beyond) : 1;
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++)
		gets[k] = kinds[k].low + kept * (gets[k] - kinds[k].low);
	for (uint32_t i = 0; i < file->count; i++) {
		unsigned k = file->suspects[i].kind;

		likely[i] = had[k] > 0 ? likely[i] * gets[k] / had[k] : gets[k] / suspects[k];
	}
	likely[file->count] = gets[HP_CAUSE_UNEXPLAINED];
}
