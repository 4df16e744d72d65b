/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread on each CPU that is counted as a whole, which switches that CPU's groups itself: 4 us,
 * where an interrupt to the CPU for each switch takes ten times that and more (measured on Linux
 * 6.18 in a virtual machine).
 */
#ifndef COUNT_AGENTS_H
#define COUNT_AGENTS_H

#include "rotation.h"

struct agents;

/* For the rotations that turn; their places are CPUs. They are borrowed. */
struct hp_error *agents_create(struct rotation *rotations, size_t rotation_count,
			       struct agents **agents);
void agents_destroy(struct agents *agents);

/* Turns all of them at once, each to the group that its scheduler says. What that took of each CPU,
 * on average. */
uint64_t agents_turn(struct agents *agents);

#endif
