/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cuts.h"

/* A program has phases: what is long past counts for less, by so much a window. */
static const double kept = 0.9;
static const double most_missed = 0.25;

void cuts_note(struct cuts *cuts, uint64_t wanted_ns, uint64_t counted_ns, bool is_cut)
{
	cuts->wanted_ns = kept * cuts->wanted_ns + (double)wanted_ns;
	cuts->missed_ns *= kept;
	if (is_cut && counted_ns < wanted_ns)
		cuts->missed_ns += (double)(wanted_ns - counted_ns);
}

bool cuts_are_many(const struct cuts *cuts)
{
	return cuts->missed_ns > most_missed * cuts->wanted_ns;
}
