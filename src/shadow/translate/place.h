/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the cache goes in a shadow: near the code it is translated from, so that
 * instruction-relative operands reach what they name, and where the shadow will neither want to put
 * something itself nor be handed other addresses by mmap and brk than the original was. An address
 * that differs is a state that does not match.
 *
 *	- Between the libraries and the stack: mmap goes down from below it.
 *	- Below the program (with address-space randomisation there is nothing), never right behind
 *	  it, where brk grows.
 *	- A gibibyte above the program's heap, or below the lowest mapping, where there is no other.
 *
 * Where exactly nobody can foresee: the code that is replayed there is not our friend.
 */
#ifndef SHADOW_TRANSLATE_PLACE_H
#define SHADOW_TRANSLATE_PLACE_H

#include "../copy/areas.h"

enum { SHADOW_PLACES = 2 };

/* Finds up to SHADOW_PLACES stretches of `bytes`, for the largest groups of code that one stretch
 * can reach, the largest first; returns how many. 0: there is no room anywhere. `chance`: any
 * number, which moves them by up to a quarter of a gibibyte as far as there is room; 0: by nothing. */
size_t shadow_place(const struct areas *areas, uint64_t bytes, uint64_t chance,
		    uint64_t places[SHADOW_PLACES]);

/* Every address of [start, end) can be reached from every address of [place, place + bytes). */
bool shadow_place_reaches(uint64_t place, uint64_t bytes, uint64_t start, uint64_t end);

#endif
