/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program of two sources that each have a static function `helper`. It is linked in either order,
 * so that what comes first in one build comes second in the other. */
#ifndef HPCPROF_TESTS_COMPARE_NAMESAKES_SHARED_H
#define HPCPROF_TESTS_COMPARE_NAMESAKES_SHARED_H

#include <stdint.h>

extern volatile uint64_t namesakes_sink;

uint64_t namesake_a(uint64_t count);
uint64_t namesake_b(uint64_t count);

#endif
