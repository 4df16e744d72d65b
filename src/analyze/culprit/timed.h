/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the timing of the simulated path says about one instruction: the cycles per execution due to
 * each kind of cause, which is the difference to a core without that cause (model/lanes.h).
 *
 * The timing has an error, and its cycles differ from the measured ones. So the cycles of each cause
 * are widened by a share of themselves, by a small constant, and by the difference between predicted
 * and measured time, which any cause may explain. Causes overlap: removing one of two simultaneous
 * misses saves almost nothing.
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
