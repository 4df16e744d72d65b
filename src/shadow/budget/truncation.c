/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "truncation.h"

#include "../match/state_sampler.h"
#include "../tuning.h"

#include <math.h>

void truncation_note(struct truncation *truncation, uint64_t wanted_ns, uint64_t counted_ns,
		     bool is_cut)
{
	truncation->wanted_ns = truncation_kept * truncation->wanted_ns + (double)wanted_ns;
	truncation->missed_ns *= truncation_kept;
	truncation->cuts *= truncation_kept;
	truncation->counted_ns = truncation_kept * truncation->counted_ns + (double)counted_ns;
	if (!is_cut || counted_ns >= wanted_ns)
		return;
	truncation->missed_ns += (double)(wanted_ns - counted_ns);
	truncation->cuts++;
}

bool truncation_is_common(const struct truncation *truncation)
{
	return truncation->missed_ns > truncation_most_missed * truncation->wanted_ns;
}

uint64_t truncation_longest_ns(const struct truncation *truncation)
{
	if (truncation->cuts <= 0)
		return UINT64_MAX;
	return (uint64_t)fmax(truncation_part * truncation->counted_ns / truncation->cuts,
			      MATCH_PERIOD_NS);
}
