/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chooses the address of the cache in a copy. It has to be
 *	- near the code that is translated, so that operands relative to the instruction pointer reach
 *	  what they name;
 *	- where it does not change the addresses that mmap and brk return to the copy: an address that
 *	  differs from the original's is a state that does not match.
 *
 * Places that are tried, in this order:
 *	- between the libraries and the stack: mmap goes down from below the libraries;
 *	- below the program, if nothing is mapped there (so with address-space randomisation);
 *	- a gibibyte above the program's heap, where brk does not grow to, or below the lowest mapping.
 *
 * The exact address is random, so that a hostile program cannot know it.
 */
#ifndef SHADOW_TRANSLATE_PLACE_H
#define SHADOW_TRANSLATE_PLACE_H

#include "../copy/areas.h"

enum { SHADOW_PLACES = 2 };

/* Finds up to SHADOW_PLACES ranges of `bytes`, for the largest groups of code that one range can
 * reach, the largest first. Returns their number; 0: there is no room. `chance`: any number, which
 * moves them by up to a quarter of a gibibyte if there is room; 0: not at all. */
size_t shadow_place(const struct areas *areas, uint64_t bytes, uint64_t chance,
		    uint64_t places[SHADOW_PLACES]);

/* Whether every address of [start, end) can be reached from every address of [place, place +
 * bytes). */
bool shadow_place_reaches(uint64_t place, uint64_t bytes, uint64_t start, uint64_t end);

#endif
