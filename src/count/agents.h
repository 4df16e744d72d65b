/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that switch counter groups of whole CPUs, one per CPU. On its own CPU a thread needs 4 us
 * per switch; from another CPU an interrupt is needed, and a switch takes ten times as long or more
 * (measured on Linux 6.18 in a virtual machine).
 */
#ifndef COUNT_AGENTS_H
#define COUNT_AGENTS_H

#include "rotation.h"

struct agents;

/* For rotations that take turns; their places are CPUs. They are borrowed. */
struct hp_error *agents_create(struct rotation *rotations, size_t rotation_count,
			       struct agents **agents);
void agents_destroy(struct agents *agents);

/* Switches all of them at once, each to the group that its scheduler chooses. Returns the mean time
 * that this took on each CPU. */
uint64_t agents_turn(struct agents *agents);

#endif
