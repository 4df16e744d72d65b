/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the timing of the simulated path says about one instruction: the cycles per execution due to
 * each kind of cause, which is the difference to a core without that cause (model/lanes.h).
 *
 * The timing has an error, executions are known within an interval, and the measured cycles are those of
 * a sample. The sum of all parts must be the measured cycles, which tells how these errors are likely to
 * be divided: a path that ran more often than was counted changes all parts alike, so shares are known
 * better than executions are. What is beyond these errors may belong to any cause. A second estimate
 * is the measured time minus the time of the path without the cause; it is more accurate if the cause
 * takes most of the time. Causes overlap: removing one of two simultaneous misses saves almost nothing. A
 * unit's part is its latency beyond one cycle, which any operation takes.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_TIMED_H
#define HPCPROF_ANALYZE_CULPRIT_TIMED_H

#include <hpcprof/analyze/analysis.h>

/* A range of cycles. */
struct timed_part {
	double low;
	double high;
	double likely;
};

/* The timing of an instruction, a block or a loop. */
struct timed {
	double lanes[HP_LANES];	      /* cycles */
	double walked;		      /* cycles by which page walks may take longer, at most */
	double walked_likely;	      /* the same, for as many walks as are likely */
	double cycles;		      /* measured cycles */
	double missing;		      /* measured cycles of blocks that are not in the lanes */
	double samples;		      /* that `cycles` were measured with */
	double spread;		      /* half of the 90 % interval of the executions, a logarithm */
	double chance;		      /* the same of the samples */
	double simulated;	      /* executions that the lanes are of; 0: many */
	double costs[HP_CAUSE_COUNT]; /* cycles of one event of the cause, about */
};

/* Parts of each kind, and of each family of causes. */
struct timed_parts {
	struct timed_part kinds[HP_CAUSE_COUNT];
	struct timed_part families[HP_FAMILY_COUNT]; /* `likely` is 0 */
	bool fits; /* the timing and the measured time agree within what both are off by */
};

/* `measured` is of one execution. */
void timed_parts(const struct timed *measured, struct timed_parts *parts);
void timed_scale(struct timed_parts *parts, double factor);
/* The difference between measured and timed cycles, as a share of those measured. Lines of unknown
 * place are placed where they fit the measured time best. INFINITY: too little was timed. `timed`
 * is of one execution. */
double timed_misfit(const struct timed *timed);

#endif
