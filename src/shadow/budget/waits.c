/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits.h"

#include "../tuning.h"

#include <stdbool.h>

/* The waiting time of a thread that ends is no longer in the sum, so the sum may shrink. The
 * waiting of the other threads meanwhile is then unknown, and counted as 0. */
static double since(uint64_t before, uint64_t now)
{
	return now > before ? (double)(now - before) : 0;
}

static double above_0(double value)
{
	return value > 0 ? value : 0;
}

static void look(struct waits *waits, uint64_t now_ns, uint64_t waited_ns)
{
	waits->at_ns = now_ns;
	waits->waited_ns = waited_ns;
}

void waits_begin(struct waits *waits, uint64_t now_ns, uint64_t waited_ns)
{
	if (waits->at_ns) {
		waits->calm_ns += since(waits->at_ns, now_ns);
		waits->calm_waited_ns += since(waits->waited_ns, waited_ns);
	}
	if (waits->calm_ns > remembered_calm_ns) {
		waits->calm_waited_ns *= remembered_calm_ns / waits->calm_ns;
		waits->calm_ns = remembered_calm_ns;
	}
	look(waits, now_ns, waited_ns);
}

double waits_end(struct waits *waits, uint64_t now_ns, uint64_t waited_ns, uint64_t taken_ns)
{
	bool is_known = waits->calm_ns >= least_calm_ns;
	double share = is_known ? waits->calm_waited_ns / waits->calm_ns : 0;
	double excess = since(waits->waited_ns, waited_ns) - share * since(waits->at_ns, now_ns);
	double before = above_0(waits->excess_ns);
	double most = (double)taken_ns;

	if (!is_known)
		excess = 0;
	if (excess > most)
		excess = most;
	if (excess < -most)
		excess = -most;
	waits->excess_ns += excess;
	look(waits, now_ns, waited_ns);
	return above_0(waits->excess_ns) - before;
}
