/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of a loop: as counts_clock.h for a procedure, but for the loops within one.
 *
 * A procedure may run one loop after another, each for seconds. There are few windows, so some
 * loops get more of them than their share of the time. The samples of each loop show by how much:
 * its counts are multiplied by exp(x), x of moved.h with the variance of the program's procedures.
 * Its deviation is added, and x itself.
 *
 * The loops are the outermost ones; but where one loop is nearly all of the procedure, those within
 * it.
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

/* `variance`: of moved.h. Sets loops, factors and deviations of all blocks of the graph. False: no
 * memory. */
bool loop_clocks(const struct hp_cfg *cfg, double variance, struct block_clock *blocks);

#endif
