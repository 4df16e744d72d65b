/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "namesakes_shared.h"

volatile uint64_t namesakes_sink;

int main(int count, char **words)
{
	(void)words;
	return (int)(namesake_a((uint64_t)count) + namesake_b((uint64_t)count));
}
