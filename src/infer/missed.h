/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks of a procedure ran outside of all windows.
 *
 * A block was missed if windows have less than a third of the samples of it that they should have,
 * or if it has samples and no window executed it.
 *
 * From a missed block, misses propagate along edges to blocks that windows executed no more often,
 * because these ran on the same occasions. An example is python3: a few windows executed some
 * opcodes a few times, but not when these took long. The counts next to such an opcode say nothing
 * about that time, but flow conservation would tie the two together.
 *
 * Propagation is limited to blocks that windows missed together. In an interpreter, nearly all code
 * of the loop is reachable from one hot opcode, and windows may by chance have too few samples of
 * that one alone.
 */
#ifndef INFER_MISSED_H
#define INFER_MISSED_H

#include <hpcprof/cfg/cfg.h>

/* One block: input fields, then results. */
struct seen_block {
	double runs;	 /* executions in the whole time, estimated from windows */
	double samples;	 /* in the whole time */
	double expected; /* samples in windows that are to be expected by `samples` */
	double ticks;	 /* samples in windows */
	bool is_missed;	 /* out: it ran outside of all windows */
};

/* False: out of memory. */
bool find_missed(const struct hp_cfg *cfg, struct seen_block *blocks);

#endif
