/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "truncation.h"

/* A program has phases: what is long past counts for less, by so much a window. */
static const double kept = 0.9;
static const double most_missed = 0.25;

void truncation_note(struct truncation *truncation, uint64_t wanted_ns, uint64_t counted_ns,
		     bool is_cut)
{
	truncation->wanted_ns = kept * truncation->wanted_ns + (double)wanted_ns;
	truncation->missed_ns *= kept;
	if (is_cut && counted_ns < wanted_ns)
		truncation->missed_ns += (double)(wanted_ns - counted_ns);
}

bool truncation_is_common(const struct truncation *truncation)
{
	return truncation->missed_ns > most_missed * truncation->wanted_ns;
}
