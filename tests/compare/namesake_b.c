/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other one. */
#include "namesakes_shared.h"

__attribute__((noinline, noclone)) static uint64_t helper(uint64_t count)
{
	uint64_t hash = count;

	for (uint64_t i = 0; i < count; i++) {
		hash = hash * 6364136223846793005u + namesakes_sink;
		if (hash & 8)
			namesakes_sink ^= hash >> 33;
	}
	return hash;
}

uint64_t namesake_b(uint64_t count)
{
	return helper(count) - 1;
}
