/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a fixture works on, and, with -DNEW, a procedure that moves whatever comes behind it. */
#ifndef TESTS_COMPARE_NEWCOMER_H
#define TESTS_COMPARE_NEWCOMER_H

#include <stdint.h>

static volatile uint64_t sink;

#ifdef NEW
__attribute__((noinline, noclone, used)) static uint64_t newcomer(uint64_t value)
{
	sink = value;
	value ^= value << 13;
	value ^= sink >> 7;
	return value * 9;
}
#endif

#endif
