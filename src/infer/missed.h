/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks of a procedure ran when there was no window.
 *
 * A block was missed when windows have less than a third of the samples of it that are to be expected;
 * or when its few executions in windows would each have taken longer than a block can. A block that
 * copies much memory may take so long: then windows have its samples, too.
 *
 * Along the edges from it, what windows saw no more often ran on the same occasions, and was missed, too:
 * few windows came by python3's opcodes a few times and missed where they took their time; what was
 * counted next to these says no more of them, and flow would tie them to it. But that holds only
 * where windows missed all of these blocks together. Around the loop of an interpreter nearly all of
 * its code is reached so from one hot opcode, of which windows happened to have too few samples.
 */
#ifndef INFER_MISSED_H
#define INFER_MISSED_H

#include <hpcprof/cfg/cfg.h>

/* Of one block: what is known, and what is found. */
struct seen_block {
	double runs;	 /* in all of the time, as windows counted them */
	double samples;	 /* of all the time */
	double cycles;	 /* that these stand for */
	double expected; /* samples in windows, by those of all the time */
	double ticks;	 /* samples in windows, as they were */
	bool is_missed;	 /* out */
};

/* False: no memory. */
bool find_missed(const struct hp_cfg *cfg, struct seen_block *blocks);

#endif
