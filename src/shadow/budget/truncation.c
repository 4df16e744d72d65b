/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "truncation.h"

#include "../tuning.h"
void truncation_note(struct truncation *truncation, uint64_t wanted_ns, uint64_t counted_ns,
		     bool is_cut)
{
	truncation->wanted_ns = truncation_kept * truncation->wanted_ns + (double)wanted_ns;
	truncation->missed_ns *= truncation_kept;
	if (is_cut && counted_ns < wanted_ns)
		truncation->missed_ns += (double)(wanted_ns - counted_ns);
}

bool truncation_is_common(const struct truncation *truncation)
{
	return truncation->missed_ns > truncation_most_missed * truncation->wanted_ns;
}
