/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distributions for tests. Infinite degrees of freedom mean the normal distribution. */
#ifndef COMPARE_DISTRIBUTION_H
#define COMPARE_DISTRIBUTION_H

/* How probable it is that Student's t lies at least so far from 0 on either side. */
double student_beyond(double t, double freedom);
/* The distance that it exceeds, on either side, with probability `beyond`, in (0, 1). */
double student_quantile(double beyond, double freedom);

/* Derivatives of the logarithm of the gamma function, for x > 0. */
double digamma(double x);
double trigamma(double x);
/* The x with trigamma(x) = y, for y > 0. */
double trigamma_inverse(double y);

#endif
