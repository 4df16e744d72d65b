/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The constants that decide which changes are found, believed and named, by subject.
 *
 * Before each: its unit; the reason; where the value comes from, or one of these:
 *	[chosen]	no measurement stands behind it; scripts/sensitivity halves and doubles it
 *			and compares kept runs of scripts/check-accuracy's programs anew
 *	[bound]		it limits memory or work where input is hostile or rare: no ordinary
 *			comparison reaches it
 *	[shown]		chosen for readers; no figure depends on it
 * Each is a plain literal on one line.
 *
 * scripts/sensitivity --quick has halved and doubled all [chosen] ones (bzip2 and lua, four runs of 1 s
 * per side). These moved something:
 *	least_change	half: too little data in turns 90 -> 96 %; twice: 78 %
 *	least_of_program, most_of_change, least_image, together
 *			half: 2 % in a procedure found side by side 62 -> 38 %; twice: 5 % of all
 *			found side by side 50 -> 62 %
 *	ENOUGH_RUNS, PACE_PAIRS, together
 *			half: no comparison differs; twice: too little data side by side 30 -> 50 %
 *	enough_mean_samples, least_dispersion, FEWEST_PROCEDURES, together
 *			half: 2 % in a procedure found side by side 62 -> 25 %; twice: 50 %, and
 *			procedures' intervals in turns are half as wide again
 *	only_caller, least_with_callers, together
 *			half: callers named, of changes that they are the cause of, 100 -> 50 %; twice: none
 * These did not, in groups:
 *	COMPARE_DISPERSION, COMPARE_RUN_DEVIATION
 *	assumed_run_freedom, assumed_dispersion_freedom
 *	least_of_change, FEWEST_SAMPLES
 *	out_of_line_deviations, FEWEST_TO_DOUBT: no comparison differs, as no kept run is out of line
 *	occasion_gap_ns, ENOUGH_TO_DOUBT: no comparison differs
 *	MOVED_LEAST_SIMILARITY, least_named, same_rate
 */
#ifndef COMPARE_TUNING_H
#define COMPARE_TUNING_H

#include <stdint.h>

/* --- what is promised (statistics.h, verdict.c, parts.c) --------------------------------------- */

/* probability; of a finding where nothing has changed: half of it is the program's, half is that of
 * changes inside; a promise of hpcprof-check(1) that scripts/check-accuracy judges */
#define COMPARE_FALSE_ALARMS 0.05
/* probability; that a change as large as the least one asked for is found; the usual one */
#define COMPARE_POWER 0.8
/* probability; that an interval misses: intervals are of 95 %, which writers say */
static const double interval_misses = 0.05;
/* probability; that a procedure seems to have changed otherwise than the program did; the usual one */
static const double otherwise_p = 0.05;

/* --- changes that matter (compare.c, moved.c, verdict.c, parts.c, sides.c) --------------------- */

/* share of a procedure's cost; smaller changes do not matter, unless the user says otherwise;
 * [chosen] */
static const double least_change = 0.03;
/* share of the program's cost; the same, and cheaper namesakes are not told apart; [chosen] */
static const double least_of_program = 0.005;
/* share of a change; a procedure that has so much of its program's is named with it, and a few
 * blocks that have so much of their procedure's; [chosen] */
static const double most_of_change = 0.5;
/* share of a change; a caller that has less of it is not named, and copies of a callee in which
 * less of it is found again do not explain it: copies are cheaper; [chosen] */
static const double least_of_change = 0.25;
/* share of a side's cost; an image that has more is on the other side, too, or the builds differ;
 * [chosen] */
static const double least_image = 0.01;

enum {
	/* samples, both sides together; fewer say nothing of a procedure; [chosen] */
	FEWEST_SAMPLES = 10,
};

/* --- how much runs and samples differ (runs.c, history.c, counts.c, pace.c) ------------------- */

/* variance of samples over their mean; where nothing was learned; [chosen] */
#define COMPARE_DISPERSION 1.3
/* deviation of a logarithm; of one run's cost from the next, where nothing was learned; [chosen] */
#define COMPARE_RUN_DEVIATION 0.02
/* degrees of freedom; what is assumed of runs is worth so much beside what runs show; [chosen] */
static const double assumed_run_freedom = 2;
/* degrees of freedom; what is assumed of dispersion is worth so much beside what was learned;
 * [chosen] */
static const double assumed_dispersion_freedom = 10;
/* samples of a procedure in a replicate; fewer say little of dispersion but how few they are;
 * [chosen] */
static const double enough_mean_samples = 5;
/* share of the expected dispersion, at least; no dispersion at all is that of small counts that
 * happen to be equal; [chosen] */
static const double least_dispersion = 1e-3;
/* median deviations; a replicate further off was not alike: it ran beside something else. 3.4
 * standard deviations, if normal; [chosen] */
static const double out_of_line_deviations = 5;
/* variance among pairs over that within them; with this limit the test, chosen by the data, has 1.4
 * to 2.9 % of alarms where 2.5 % are due, as tests/compare/test_statistics.c checks */
static const double pairs_sharing = 1.5;

enum {
	/* procedures, at least, that a dispersion is fitted to; [chosen] */
	FEWEST_PROCEDURES = 5,
	/* runs of a side that tell by themselves how much runs differ, and whether they drift: with
	 * fewer what a trend takes is worth more than what it gives; [chosen] */
	ENOUGH_RUNS = 3,
	/* runs of both sides; ranks of so many are counted exactly, in microseconds; beyond, of 10
	 * and 11 runs a normal probability below 0.2 is off by 0.004, of 3 and 18 by 0.01 */
	EXACT_RUNS = 20,
	/* pairs; the least p of the signed ranks of n is 2^(1 - n), so fewer find nothing */
	SIGNED_RUNS = 8,
	/* runs of a side; fewer are not taken as pairs; [chosen] */
	PACE_PAIRS = 4,
	/* replicates; of fewer none is out of line: it may be the other one; [chosen] */
	FEWEST_TO_DOUBT = 4,
	/* epochs, the newest, that dispersion is learned from: enough to know by, few enough to be
	 * read in no time; [bound] */
	MOST_HISTORY_EPOCHS = 16,
};

/* --- how much occasions differ (drift.c) ------------------------------------------------------- */

/* deviation of a logarithm; of one occasion of 5 runs from another, where nothing was learned,
 * without the reference. Of 1001 pairs of occasions, of 11 programs, 97.5 % lay within 57 % of each
 * other, and half within 7 %; this makes it 56 %; scripts/check-accuracy
 * --only=occasions,occasions/installed */
static const double assumed_drift = 0.075;
/* the same, of what is left with the reference: 39 %, this makes it 38 %; the same script */
static const double assumed_drift_left = 0.055;
/* degrees of freedom; of both, as t with few has such tails; the same script */
static const double assumed_drift_freedom = 3;
/* deviation of a logarithm; of a procedure's share: what misses caches becomes slower than the rest.
 * Of 288 pairs of procedures 97.5 % lay within 46 %, and 99 % within 63 %; with this it is 44 and
 * 70 %; the same script */
static const double assumed_share_drift = 0.05;
/* logarithm over logarithm; programs' costs move by so much where the reference's moves by 1; the
 * same script, beside 7 kinds of neighbours */
#define DRIFT_SLOPE 0.6
/* its deviation among programs: from 0.1 (gzip, which needs little memory) to 1.1 (xz); the same
 * script */
#define DRIFT_SLOPE_DEVIATION 0.3
/* degrees of freedom, at most; of procedures' shares: what misses caches, or whose code others' lies
 * on, may cost several times as much; the same script */
#define DRIFT_SHARES_FREEDOM 2
/* ns; runs that begin so soon after the last one's end are in a row; [chosen] */
static const uint64_t occasion_gap_ns = 60000000000;

enum {
	/* occasions beyond the first; fewer do not say whether costs follow the reference; [chosen] */
	ENOUGH_TO_DOUBT = 3,
	/* epochs, the newest, that drift is learned from: a dozen occasions of five runs; [bound] */
	MOST_DRIFT_EPOCHS = 64,
};

/* --- which code is the same on both sides (moved.c, namesakes.c, gather.c, lineage.c) ---------- */

/* share of blocks in common; code that has more is the same procedure; [chosen] */
#define MOVED_LEAST_SIMILARITY 0.4
/* share of an image's cost that has names, at least, to compare it by them: a stripped program has
 * names of what it calls in libraries, too; [chosen] */
static const double least_named = 0.5;
/* share of a frequency or period; nearer are the same; they are set, and may be rounded; [chosen] */
static const double same_rate = 0.01;

enum {
	/* code of one name in an image; of more nothing is told apart; [bound] */
	MOST_NAMESAKES = 64,
};

/* --- whose calls changed (callers.c, call_paths.c) ----------------------------------------------- */

/* share of a procedure's cost, on both sides; a caller that has more is the only one, and its callers
 * are asked; [chosen] */
static const double only_caller = 0.95;
/* share of a procedure's samples; with fewer below callers that are known nothing is said;
 * [chosen] */
static const double least_with_callers = 0.7;

enum {
	/* frames between a sample and its farthest caller that is looked at; [bound] */
	MOST_CALLERS_DEEP = 64,
	/* callers of a procedure that are shown; [shown] */
	MOST_CALLERS = 3,
};

/* --- what is shown of a change (details.c, listing.c) ------------------------------------------ */

enum {
	/* blocks that a change in blocks is in, at most; [shown] */
	MOST_BLOCKS = 3,
	/* lines that are shown; [shown] */
	MOST_LINES = 6,
	/* the costliest instructions of a line that are shown; [shown] */
	MOST_INSTRUCTIONS = 8,
	/* differences of two listings; beyond, procedures have little in common; [bound] */
	MOST_DIFFERENCES = 1000,
};

#endif
