/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights for windows, so that together they represent all of the recording.
 *
 * Windows are few, and programs have phases: by chance some phases get more windows than their
 * share of the time, others fewer. Samples of time show by how much: at each place, the samples
 * within windows are compared with those of the whole recording. Each group (a part of a window)
 * gets a weight, such that the weighted samples within windows are distributed over the code as all
 * samples are, as closely as the noise of both allows, with weights near 1. This is calibration
 * with a ridge (Deville and Saerndal, Calibration Estimators in Survey Sampling, JASA 1992). A
 * group's weight applies to everything that it counted, so weighted counts still balance: what
 * enters a block leaves it.
 *
 * The weights depend on all windows, so the variance between weighted windows is not the variance
 * of the estimate. The jackknife gives the latter: the estimate is computed again without each
 * window (all its parts), with new weights. What is kept of each count is one pseudo-value (Tukey)
 * per window. Pseudo-values add up to the estimate, are linear in the counts, and have its
 * variance. They may be negative.
 *
 * Few windows can be weighted such that their ticks fit the samples, but the same weights may be
 * wrong for code that had no part in choosing them. Cross-validation measures this (Stone, Journal
 * of the Royal Statistical Society B 36, 1974): procedures are divided into folds, and for each
 * fold weights are computed without its ticks (`apart`).
 */
#ifndef INFER_BALANCE_H
#define INFER_BALANCE_H

#include <hpcprof/infer/inference.h>

/* Weighs the windows and their time. requires: files open. Without samples in windows all weights
 * are 1. */
struct hp_error *balance_windows(struct hp_inference *inference);
/* The fold of a procedure. `image`: its index in the windows' images; `procedure`: its link-time
 * address. */
unsigned balance_fold(uint32_t image, uint64_t procedure);

#endif
