/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether counts of windows that were cut short may be used as absolute numbers.
 *
 * A window begins at a random moment and is to be L long. A call that no copy can make ends it
 * early; so does another instruction that no copy can run, such as a trap, and what follows holds
 * for both. Code that runs a time d after such a call is counted only by windows that began in the
 * min(L, d) before it: code behind a call is counted too seldom, and long stretches between calls
 * too often. For stretches of a fixed amount of work (as threads do between waits for each other)
 * that take the time G, the sum of counts over the sum of times is wrong by E(G)^2 / E(G^2). Giving
 * each window the same weight corrects that, but then code just before a call weighs too much (by
 * -log(1 - u), at the part u of a stretch). A window does not show how long before it the last call
 * was, so no weights correct both.
 *
 * No count is wrong by more than the share of the intended time that windows did not cover because
 * calls ended them. So that share is tracked, with less weight for older windows. While it is
 * small, a truncated window counts like others; when it is larger, the window's counts are relative
 * (hp_window.is_truncated).
 *
 * If threads wait for others, calls come regularly and the error is systematic, so the counts of
 * truncated windows are always relative. In addition, windows become shorter if many are truncated,
 * until most of them are complete. The time counted per truncation estimates G, or G / 2 while all
 * windows are truncated. A window of length p times that estimate, p G / (1 + p / 2) in the long
 * run, misses half of that part of the intended time.
 */
#ifndef SHADOW_BUDGET_TRUNCATION_H
#define SHADOW_BUDGET_TRUNCATION_H

#include <hpcprof/model/window.h>

#include <stdbool.h>
#include <stdint.h>

struct truncation {
	/* Sums over the windows so far. Older windows have less weight. */
	double wanted_ns;  /* intended time */
	double missed_ns;  /* the part of it after calls that ended windows */
	double counted_ns; /* the part of it that was counted */
	double cuts;	   /* windows that were cut */
};

/* Whether the program led the copy to an instruction that no copy runs. One that has lost the path, or
 * crashed on it, or was misled (window_plan.h), may have been anywhere. */
bool truncation_is_by_insn(enum hp_window_end end);
/* Adds a window with its intended and its counted time. `is_cut`: it ended so. */
void truncation_note(struct truncation *truncation, uint64_t wanted_ns, uint64_t counted_ns,
		     bool is_cut);
/* Whether a window that is cut now counts for ratios only. */
bool truncation_is_common(const struct truncation *truncation);
/* The length that windows should not exceed; UINT64_MAX: no window has been cut. */
uint64_t truncation_longest_ns(const struct truncation *truncation);

#endif
