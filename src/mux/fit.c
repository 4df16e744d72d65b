/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fit.h"
#include "tuning.h"

#include <math.h>

/* Weighted moments of two columns (x, y) and of the values to be explained (z). By the weights, the
 * relative error of each lag counts by its number of pairs. */
struct moments {
	double xx, xy, yy, xz, yz, zz;
};

struct sizes {
	double x, y, left; /* at least 0 */
};

static struct moments moments_of(const struct fit_pairs *pairs, const double squares[FIT_LAGS],
				 int shape)
{
	struct moments m = { 0 };

	for (int i = 0; i < FIT_LAGS; i++) {
		double n = pairs->count[i], weight, x, y, z;

		if (n <= 0 || squares[i] <= 0)
			continue;
		weight = n * n * n / (squares[i] * squares[i]);
		x = pairs->expected[i][SHAPE_WHITE] / n;
		y = pairs->expected[i][shape] / n;
		z = squares[i] / n;
		m.xx += weight * x * x;
		m.xy += weight * x * y;
		m.yy += weight * y * y;
		m.xz += weight * x * z;
		m.yz += weight * y * z;
		m.zz += weight * z * z;
	}
	return m;
}

static double left_of(const struct moments *m, double x, double y)
{
	return m->zz - 2 * (x * m->xz + y * m->yz) + x * x * m->xx + 2 * x * y * m->xy +
	       y * y * m->yy;
}

static struct sizes least(const struct moments *m)
{
	double determinant = m->xx * m->yy - m->xy * m->xy;
	struct sizes best = { 0, 0, m->zz }, one;

	if (determinant > 1e-9 * m->xx * m->yy) {
		best.x = (m->xz * m->yy - m->yz * m->xy) / determinant;
		best.y = (m->yz * m->xx - m->xz * m->xy) / determinant;
		if (best.x >= 0 && best.y >= 0) {
			best.left = left_of(m, best.x, best.y);
			return best;
		}
	}
	best = (struct sizes){ m->xx > 0 ? m->xz / m->xx : 0, 0, 0 };
	best.left = left_of(m, best.x, 0);
	one = (struct sizes){ 0, m->yy > 0 ? m->yz / m->yy : 0, 0 };
	one.left = left_of(m, 0, one.y);
	return one.left < best.left ? one : best;
}

struct fit hp_mux_fit(const struct fit_pairs *pairs, const double squares[FIT_LAGS])
{
	struct fit fit = { { 0 } };
	struct sizes best = { 0, 0, INFINITY };
	int shape = SHAPE_WALK;
	double white, other;

	/* From the longest memory to the shortest: if nothing distinguishes them, it is the
	 * walk. */
	for (int i = SHAPE_WALK; i >= SHAPE_MEMORY; i--) {
		struct moments m = moments_of(pairs, squares, i);
		struct sizes sizes = least(&m);

		if (sizes.left < best.left * (1 - 1e-9)) {
			best = sizes;
			shape = i;
		}
	}
	white = best.x * pairs->expected[0][SHAPE_WHITE];
	other = best.y * pairs->expected[0][shape];
	fit.part[SHAPE_WHITE] = 1;
	if (white + other > 0) {
		fit.part[shape] = (1 - memory_doubted) * other / (white + other);
		fit.part[SHAPE_WHITE] -= fit.part[shape];
	}
	return fit;
}

struct fit hp_mux_fit_without_memory(void)
{
	return (struct fit){ .part = { [SHAPE_WHITE] = 1 } };
}
