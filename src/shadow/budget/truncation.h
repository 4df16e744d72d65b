/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether windows that a system call cut short tell how often code runs.
 *
 * A window begins at a moment that is as likely as any other, and is to be L long. Where a call that
 * no copy can make comes first, it ends there. A moment that lies d after the last such call is
 * therefore counted by windows that began in the min(L, d) before it: what follows a call is counted
 * too seldom, and of stretches between calls the long ones too often. With stretches of a fixed
 * amount of work, as threads do between waits for each other, that take the time G, the sum of
 * counts over the sum of times is off by E(G)^2 / E(G^2); to give each window the same weight
 * mends that, but makes what comes right before a call weigh most (-log(1 - u), at the part u of a
 * stretch). Nothing that is seen in a window says how long before it the last call was, so there are
 * no weights that mend both. But as long as calls are rare, of the time that windows were to cover
 * the share that they missed is also the most that any count is off by. So it is kept: while it is
 * small, a cut window counts like others; else its counts say only what they are to each other.
 *
 * Where threads wait for others the calls are regular, and so is the error: there a cut window never
 * counts like others.
 */
#ifndef SHADOW_BUDGET_TRUNCATION_H
#define SHADOW_BUDGET_TRUNCATION_H

#include <stdbool.h>
#include <stdint.h>

struct truncation {
	double wanted_ns; /* of the windows so far, the latest most */
	double missed_ns; /* of it, behind calls that ended windows */
};

/* A window that was to be so long, and counted so much of it. */
void truncation_note(struct truncation *truncation, uint64_t wanted_ns, uint64_t counted_ns,
		     bool is_cut);
/* Whether one that is cut now is to count for ratios only. */
bool truncation_is_common(const struct truncation *truncation);

#endif
