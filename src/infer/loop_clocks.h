/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of a loop: the same as counts_clock.h for a procedure, but for the loops in it.
 *
 * A procedure may run one loop after another, each for seconds. There are few windows, so some
 * loops get more of them than their share of the time. The samples of each loop show how many more:
 * its counts are multiplied by exp(x), with x of moved.h and the variance that the program's
 * procedures have. The deviation of x and x itself are added to the deviation of the counts.
 *
 * The outermost loops are used, unless one loop has nearly all samples of the procedure: then the
 * loops directly inside it are used.
 */
#ifndef INFER_LOOP_CLOCKS_H
#define INFER_LOOP_CLOCKS_H

#include <hpcprof/cfg/cfg.h>

/* One block: the input, then the output. */
struct block_clock {
	double samples;	  /* in the whole time; 0 to leave the block out */
	double ticks;	  /* number of its samples in windows */
	double scaled;	  /* ticks multiplied by what they stand for */
	uint32_t loop;	  /* out: the loop with a clock that contains it; HP_CFG_NONE: none */
	double factor;	  /* out: to multiply its counts by */
	double deviation; /* out: of the factor's logarithm, common to the loop */
};

/* `variance`: of moved.h. Sets loops, factors and deviations of all blocks of the graph. False: no
 * memory. */
bool loop_clocks(const struct hp_cfg *cfg, double variance, struct block_clock *blocks);

#endif
