/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rare_events.h"

#include "tuning.h"

#include <math.h>
#include <string.h>

bool rare_events_of_code(unsigned kind)
{
	static const uint8_t kinds[] = {
		HP_EVENT_L1I_MISS,
		HP_EVENT_L2I_MISS,
		HP_EVENT_ITLB_MISS,
		HP_EVENT_TLB2I_MISS,
	};

	return memchr(kinds, (int)kind, sizeof(kinds)) != NULL;
}

static unsigned stratum_of(const struct hp_grouped *runs)
{
	double log4 = log2(fmax(1, hp_grouped_sum(runs))) / 2;

	return (unsigned)fmin(log4, RUN_STRATA - 1);
}

static unsigned windows_with(const struct hp_grouped *counts)
{
	unsigned windows = 0;

	for (size_t i = 0; i < HP_EVIDENCE_WINDOWS; i++)
		windows += counts->counts[i] > 0;
	return windows;
}

void rare_events_expose(struct rare_events *rare, unsigned kind, const struct hp_grouped *runs)
{
	if (windows_with(runs) > 1)
		rare->exposed[kind][stratum_of(runs)]++;
}

void rare_events_meet(struct rare_events *rare, unsigned kind, const struct hp_grouped *counts,
		      const struct hp_grouped *runs)
{
	if (windows_with(runs) < 2 || !windows_with(counts))
		return;
	rare->met[kind][stratum_of(runs)]++;
	rare->once[kind][stratum_of(runs)] += windows_with(counts) == 1;
}

double rare_events_most(const struct rare_events *rare, unsigned kind,
			const struct hp_grouped *runs)
{
	unsigned stratum = stratum_of(runs);
	double never = fmax(0, rare->exposed[kind][stratum] - rare->met[kind][stratum]);
	/* One more had it once than was seen: that is prudent where there are few. */
	double share = (rare->once[kind][stratum] + 1) / (never + 1);

	if (windows_with(runs) < 2 || !rare_events_of_code(kind))
		return INFINITY;
	/* Markov's inequality: no more than this part have more than the mean divided by it. */
	return share / rare_tail;
}
