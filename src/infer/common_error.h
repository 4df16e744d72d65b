/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The error that all counts of an image have in common, in addition to the variance between
 * windows.
 */
#ifndef INFER_COMMON_ERROR_H
#define INFER_COMMON_ERROR_H

#include <hpcprof/infer/inference.h>

/* The share of the image's time that lies in commands without windows. */
double counts_uncovered(const struct hp_inference *inference, const struct hp_loaded_image *image);
/* A standard deviation, as a logarithm; `uncovered` as above. */
double counts_common_deviation(const struct hp_inference *inference, double uncovered);

#endif
