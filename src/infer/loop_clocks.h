/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of a loop: what counts_clock.h does for a procedure, within one.
 *
 * A procedure may have phases of its own, one loop after another, each for seconds. Windows are few and
 * meet some of them too often. The samples of each loop show by how much: its counts are scaled to its
 * share of the procedure's samples, as far as these prove that windows missed or favoured it; w and
 * `noise` as there. Then its share is as uncertain as its samples in windows are few: w noise is added
 * to the variance, beside moved_share of what was moved.
 *
 * Loops are the outermost ones; but within one that is nearly all of the procedure, those next to it.
 */
#ifndef INFER_LOOP_CLOCKS_H
#define INFER_LOOP_CLOCKS_H

#include <hpcprof/cfg/cfg.h>

/* Of one block: in, and out. */
struct block_clock {
	double samples;	  /* of all the time; 0 where it is to be left out */
	double ticks;	  /* in windows, as they were */
	double scaled;	  /* times what they stand for */
	uint32_t loop;	  /* that it is in, of those that are told apart; HP_CFG_NONE: none */
	double factor;	  /* on its counts */
	double deviation; /* of the factor's logarithm; of all the loop together */
};

/* Sets loops, factors and deviations of all blocks of the graph. False: no memory. */
bool loop_clocks(const struct hp_cfg *cfg, struct block_clock *blocks);

#endif
