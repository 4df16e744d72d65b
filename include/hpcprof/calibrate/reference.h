/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the same work costs on this machine at this moment: a loop that every recording of a command
 * times before the command and after it, so that runs of different hours can be compared.
 *
 * Of twice seven loops, timed before and after 7 programs beside 0, 1, 2 and 4 busy neighbours and
 * beside 1 and 2 that copy memory, two told most of how much CPU time the programs took: independent
 * additions, which a thread on the same core slows down, and reads of more memory than the CPU has
 * to itself, which others' use of the shared cache and of memory slows down. The clock alone (see
 * clock.h) was the same beside all of them.
 */
#ifndef HPCPROF_CALIBRATE_REFERENCE_H
#define HPCPROF_CALIBRATE_REFERENCE_H

#include <stdint.h>

/* CPU time of the two loops, their geometric mean, in ns; it takes some 2 ms. 0 where there is no
 * memory for it. */
uint64_t hp_reference_measure(void);

#endif
