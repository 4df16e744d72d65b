/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether counts of windows that a system call cut short may be used as absolute numbers.
 *
 * A window begins at a random moment and is to be L long. A call that no copy can make ends it
 * early. So code that runs a time d after such a call is counted only by windows that began in the
 * min(L, d) before it: code behind a call is counted too seldom, and long stretches between calls
 * too often. For stretches of a fixed amount of work (as threads do between waits for each other)
 * that take the time G, the sum of counts over the sum of times is wrong by E(G)^2 / E(G^2). Giving
 * each window the same weight corrects that, but then code just before a call weighs too much (by
 * -log(1 - u), at the part u of a stretch). A window does not show how long before it the last call
 * was, so no weights correct both.
 *
 * But no count is wrong by more than the share of the wanted time that windows missed behind calls.
 * So that share is kept, older windows counting less. While it is small, a cut window counts like
 * others; when it is larger, its counts are relative (hp_window.is_truncated).
 *
 * Where threads wait for others, calls come regularly, and the error is systematic: there a cut
 * window's counts are always relative. So windows become shorter where many are cut, until most of
 * them are whole: what they have counted per cut is about G, or half of it while all are cut, and a
 * window of p times that, p G / (1 + p / 2) in the long run, misses half of that part of the wanted
 * time.
 */
#ifndef SHADOW_BUDGET_TRUNCATION_H
#define SHADOW_BUDGET_TRUNCATION_H

#include <stdbool.h>
#include <stdint.h>

struct truncation {
	double wanted_ns; /* of the windows so far, the latest most */
	double missed_ns; /* of it, behind calls that ended windows */
	double counted_ns;
	double cuts;
};

/* A window that was to be so long, and counted so much of it. */
void truncation_note(struct truncation *truncation, uint64_t wanted_ns, uint64_t counted_ns,
		     bool is_cut);
/* Whether one that is cut now is to count for ratios only. */
bool truncation_is_common(const struct truncation *truncation);
/* How long windows should be at most; UINT64_MAX: nothing speaks for any length. */
uint64_t truncation_longest_ns(const struct truncation *truncation);

#endif
