/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One of two sources with a static function of the same name. */
#include "namesakes_shared.h"

__attribute__((noinline, noclone)) static uint64_t helper(uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		namesakes_sink = sum;
		sum += namesakes_sink % (i | 3);
	}
	return sum;
}

uint64_t namesake_a(uint64_t count)
{
	return helper(count) + 1;
}
