/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions for tests. Infinite degrees of freedom mean the normal distribution. */
#ifndef COMPARE_DISTRIBUTION_H
#define COMPARE_DISTRIBUTION_H

/* The probability that Student's t is at least this far from 0, in either direction. */
double student_beyond(double t, double freedom);
/* The distance from 0 that Student's t exceeds, in either direction, with probability `beyond`, in
 * (0, 1). */
double student_quantile(double beyond, double freedom);

/* Derivatives of the logarithm of the gamma function, for x > 0. */
double digamma(double x);
double trigamma(double x);
/* The x with trigamma(x) = y, for y > 0. */
double trigamma_inverse(double y);

#endif
