/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a timing of the simulated path says of one instruction: how many cycles of one execution each kind
 * of cause takes, which is what it takes less on a core without it (model/lanes.h).
 *
 * The timing has an error, and its cycles are not those that were measured. The part of each cause is
 * widened by a share of itself, by a little, and by what the measured time differs, which may be any
 * cause's. Parts overlap: two misses at a time cost little more than one, and each of them nothing.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_TIMED_H
#define HPCPROF_ANALYZE_CULPRIT_TIMED_H

#include <hpcprof/analyze/analysis.h>

/* Cycles. */
struct timed_part {
	double low;
	double high;
	double likely;
};

/* `timed`: cycles of one execution on each lane, of an instruction or of a block; `cycles`: as measured. */
void timed_parts(const double timed[HP_LANES], double cycles,
		 struct timed_part parts[HP_CAUSE_COUNT]);
/* Measured cycles that the timing does not have; less than 0: that it has too many of. Lines of unknown
 * place count as what fits the time best. */
double timed_difference(const double timed[HP_LANES], double cycles);

#endif
