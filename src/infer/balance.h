/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows that speak for all of the time.
 *
 * Windows are few, and programs have phases: some phases have more windows than is their due, others
 * fewer. Samples of time tell: those within windows beside those of the whole recording, place by
 * place. So each group, a part of windows, gets a weight, such that the weighted samples of windows
 * lie where all samples do, as closely as the noise of both allows and with weights near to 1:
 * calibration (Deville and Saerndal, Calibration Estimators in Survey Sampling, JASA 1992), with a
 * ridge. Weights are the same for all that was counted: what flows into a block still flows out of
 * it.
 *
 * With weights that depend on each other, windows do not vary as estimates do. So what is kept of
 * each count is not its part in each window but Tukey's pseudo-values: for each window (all its
 * parts) a share of the estimate, and by how much the estimate without it, with weights of its own,
 * is less. They add up to the estimate, are linear in the counts, and vary as it does: the
 * jackknife. They may be negative.
 */
#ifndef INFER_BALANCE_H
#define INFER_BALANCE_H

#include <hpcprof/infer/inference.h>

/* Weighs the windows and their time. requires: everything loaded. Without samples in windows all
 * weights are 1. */
struct hp_error *balance_windows(struct hp_inference *inference);

#endif
