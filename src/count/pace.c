/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pace.h"

#include "tuning.h"

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void pace_begin(struct pace *pace, uint64_t now_ns, uint64_t ran_ns, uint64_t length_ns)
{
	*pace = (struct pace){
		.begin_ns = now_ns,
		.ran_ns = ran_ns,
		.length_ns = length_ns,
		.due_ns = now_ns + length_ns,
	};
}

bool pace_is_over(struct pace *pace, uint64_t now_ns, uint64_t ran_ns)
{
	uint64_t had_ns = grown(ran_ns, pace->ran_ns);
	uint64_t waited_ns = grown(now_ns, pace->begin_ns);
	uint64_t left_ns = grown(pace->length_ns, had_ns);
	uint64_t rarely_ns = waited_ns / PACE_RARELY_PART;
	uint64_t end_ns = pace->begin_ns + pace->length_ns + pace_patience_ns;

	if (left_ns <= pace->length_ns / PACE_REST_PART || now_ns >= end_ns)
		return true;
	pace->due_ns = now_ns + (left_ns > rarely_ns ? left_ns : rarely_ns);
	if (pace->due_ns > end_ns)
		pace->due_ns = end_ns;
	return false;
}
