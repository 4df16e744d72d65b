/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "distribution.h"

#include <float.h>
#include <math.h>

/* The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), evaluated
 * by Lentz's method (1976). */
static double beta_fraction(double x, double a, double b)
{
	enum { MOST_TERMS = 10000 };
	double c = 1;
	double d = 1 / (1 - (a + b) * x / (a + 1));
	double value = d;

	for (int m = 1; m < MOST_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / (1 + even * d);
		c = 1 + even / c;
		value *= c * d;
		d = 1 / (1 + odd * d);
		c = 1 + odd / c;
		step = c * d;
		value *= step;
		if (fabs(step - 1) < 4 * DBL_EPSILON)
			break;
	}
	return value;
}

/* The regularised incomplete beta function I_x(a, b). `rest` is exactly 1 - x. */
static double beta_below(double x, double rest, double a, double b)
{
	double front;

	if (!(x > 0))
		return 0;
	if (!(rest > 0))
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(rest, b, a) / b;
}

double student_beyond(double t, double freedom)
{
	double square = t * t;

	if (isnan(t) || !(freedom > 0))
		return NAN;
	/* Beyond a million degrees of freedom the difference to the normal distribution
	 * vanishes. */
	if (freedom > 1e6 || isinf(square))
		return erfc(fabs(t) / M_SQRT2);
	return beta_below(freedom / (freedom + square), square / (freedom + square), freedom / 2,
			  0.5);
}

/* Minus the derivative of student_beyond: twice the density. */
static double student_slope(double t, double freedom)
{
	if (freedom > 1e6)
		return sqrt(M_2_PI) * exp(-t * t / 2);
	return 2 *
	       exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2) -
		   (freedom + 1) / 2 * log1p(t * t / freedom)) /
	       sqrt(freedom * M_PI);
}

/* Newton's method. What lies beyond t falls ever more slowly with t, so a step from below the
 * quantile ends below it. */
double student_quantile(double beyond, double freedom)
{
	enum { MOST_STEPS = 2000 };
	double t = 0;

	if (!(beyond > 0 && beyond < 1) || !(freedom > 0))
		return NAN;
	for (int i = 0; i < MOST_STEPS; i++) {
		double step = (student_beyond(t, freedom) - beyond) / student_slope(t, freedom);

		/* it does not grow, or is NaN: only rounding errors are left */
		if (!(step > t * 1e-14))
			break;
		t += step;
	}
	return t;
}

/* Both by their asymptotic series (Abramowitz and Stegun 6.3.18, 6.4.12), from this argument on. */
enum { SERIES_FROM = 8 };

double digamma(double x)
{
	double value = 0;
	double square;

	for (; x < SERIES_FROM; x++)
		value -= 1 / x;
	square = 1 / (x * x);
	return value + log(x) - 1 / (2 * x) -
	       square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
}

double trigamma(double x)
{
	double value = 0;
	double square;

	for (; x < SERIES_FROM; x++)
		value += 1 / (x * x);
	square = 1 / (x * x);
	return value + 1 / x + square / 2 +
	       square / x * (1.0 / 6 - square * (1.0 / 30 - square * (1.0 / 42 - square / 30)));
}

double trigamma_inverse(double y)
{
	double low = 1e-8;
	double high = 1e8;

	/* The function decreases everywhere. */
	for (int i = 0; i < 200 && high > low * (1 + 1e-12); i++) {
		double middle = sqrt(low * high);

		if (trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}
