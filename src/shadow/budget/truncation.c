/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "truncation.h"

#include "../match/state_sampler.h"
#include "../tuning.h"

#include <math.h>

bool truncation_is_by_insn(enum hp_window_end end)
{
	static const bool by_insn[HP_WINDOW_ENDS] = {
		[HP_WINDOW_CLOCK] = true,	  [HP_WINDOW_RANDOM] = true,
		[HP_WINDOW_PROCESSOR] = true,	  [HP_WINDOW_TRANSACTION] = true,
		[HP_WINDOW_WAIT] = true,	  [HP_WINDOW_INTERRUPT] = true,
		[HP_WINDOW_FAR] = true,		  [HP_WINDOW_UNDECODABLE] = true,
		[HP_WINDOW_WRITABLE_CODE] = true,
	};

	return end < HP_WINDOW_ENDS && by_insn[end];
}

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
