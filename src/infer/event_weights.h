/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the simulated stretches of windows stand for.
 *
 * Windows begin at moments of time, and are of equal time, and so are their parts; but in each part the same
 * number of instructions is simulated. Where a program is slow, because it misses, these are more of what a part
 * executes than where it is fast. If all counted alike, events would be too many. So they weigh as the
 * instructions that their parts executed, multiplied by what a count of these parts stands for.
 */
#ifndef INFER_EVENT_WEIGHTS_H
#define INFER_EVENT_WEIGHTS_H

#include <hpcprof/infer/inference.h>

/* By stratum and group: what its events and the executions beside them are multiplied by. Over all windows
 * simulated instructions keep their sum. The caller frees it; NULL: no memory. */
double (*event_weights_make(const struct hp_windows *windows))[HP_EVIDENCE_GROUPS];

#endif
