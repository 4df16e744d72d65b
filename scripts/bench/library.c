/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library for storms.c to open and close: compiled twice, so that there are two. */
#include "self_timed.h"

uint64_t work(uint64_t value, unsigned long steps);

uint64_t work(uint64_t value, unsigned long steps)
{
#ifdef TWIN
	(void)work_chain;
	return work_twin(value, steps);
#else
	(void)work_twin;
	return work_chain(value, steps);
#endif
}
