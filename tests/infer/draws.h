/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers of the distributions that inference assumes. */
#ifndef TESTS_INFER_DRAWS_H
#define TESTS_INFER_DRAWS_H

#include <hpcprof/base/number.h>

#include <math.h>

static inline double uniform(struct hp_random *random)
{
	return ((double)(hp_random_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double normal(struct hp_random *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

static inline double poisson(struct hp_random *random, double mean)
{
	double left = exp(-mean);
	double events = -1;

	for (double product = 1; product > left; events++)
		product *= uniform(random);
	return events;
}

#endif
