/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The constants that decide how far each kind of evidence is believed, by subject. The sizes of the
 * evidence's own groups are in hpcprof/model/evidence.h.
 *
 * Above each constant stand its unit, its reason, and the source of its value, or [chosen], which
 * means that no measurement supports it. scripts/sensitivity reads this file, halves and doubles
 * each constant and prints which accuracy figures move; so each is a plain literal on one line.
 * Where `--quick --by absolute` showed little effect, its result follows [chosen]:
 *	nothing		neither half nor twice of it moved a figure by half a point
 *	a guard		no report of the recordings differs: they have no such case
 */
#ifndef HPCPROF_INFER_TUNING_H
#define HPCPROF_INFER_TUNING_H

/* --- which windows count absolutely (windows.c, counts.c) -------------------------------------- */

/* share of a command's windows that were truncated, and of an image's time in commands without
 * windows, at most; beyond, the others are no fair sample any more, and counts are relative;
 * [chosen], a guard */
static const double most_uncovered = 0.1;
/* share of a command's time in recordings without windows, at most; beyond, those with windows do
 * not speak for it; [chosen], a guard */
static const double most_without = 0.6;

/* --- what all counts may be off by together (common_error.c, windows.c) ----------------------- */

/* share, at least; samples that the time is made of, and ticks that windows end at, are that certain
 * at best; [chosen] */
static const double least_count_deviation = 0.005;
/* ns of each process; windows that begin before it is known are of none of it: half of a window's
 * length of 0.2 s, and some more; [chosen] */
static const double youth_ns = 1.2e8;
/* share of the young time; what runs then runs never to twice as often as later, uniformly:
 * 1 / sqrt(3) */
static const double youth_deviation = 0.57735;
/* share of a bound of bias that counts are off by at most in nine of ten cases; the bound is what
 * all would be off by if everything lost were of one kind; [chosen] */
static const double bias_within = 0.5;
/* share of what windows cost the program that falls into them: samples, and caches that are cold;
 * stops and copies are outside; [chosen] */
static const double disturbed_in_windows = 0.2;
/* share by which a program is slower while a copy runs beside it; scripts/bench/shadow-price finds
 * nothing to a fifth, by program and by host */
static const double slower_beside = 0.1;

/* --- weights of windows (balance.c) ------------------------------------------------------------ */

/* samples in windows of a place, at least; neighbours are taken together; [chosen] */
static const double ticks_of_place = 20;
/* deviation of a weight from 1, where samples say nothing: one over the root of the ridge;
 * [chosen] */
static const double weight_deviation = 1;
/* weight, at least; none is negative. At 0 the blocks of four programs that are within 5 % are 78
 * instead of 80 % (scripts/sensitivity --quick --by absolute); [chosen] */
static const double least_window_weight = 0.1;

/* --- how far windows are off the rest of the time (moved.c, counts.c) ------------------------- */

/* logarithm: what windows are off by in programs that do the same all the time, … [chosen: with 0.03
 * gzip and grep have fewer counts that are marked high, and no more that are right] */
static const double usual_moved = 0.01;
/* … and as how many places of the program that counts */
static const double usual_freedom = 2; /* places; [chosen] */
/* variances of logarithms that are tried, from: a hundredth; [chosen] … */
static const double least_variance = 1e-4;
/* … and to: twenty times as often; [chosen] */
static const double most_variance = 9;
/* share of ticks that a place has at most, for how certain they are; [chosen] */
static const double most_share = 0.99;
/* logarithm; where windows give ratios only, nothing tells how far they are off; [chosen] */
static const double moved_of_relative = 0.5;

enum {
	/* variances between these, a factor of 1.2 apart; [chosen] */
	VARIANCES = 60,
	/* steps of Newton's method, at most; [bound] */
	NEWTON_STEPS = 30,
};

/* --- instructions by time (throughput.c) --------------------------------------------------------- */

/* logarithm: the deviation of procedures of one program, … [chosen: the middle of what
 * --executions finds in programs of scripts/window-coverage], nothing */
static const double usual_throughput = 0.6;
/* … and as how many procedures that counts; [chosen], nothing */
static const double usual_throughput_freedom = 4; /* procedures */
/* logarithm: of one procedure, at different times; [chosen]: with half of it 0.6 % more of the blocks are
 * within 5 % (scripts/sensitivity --quick --by absolute) */
static const double procedure_throughput = 0.2;
/* share of procedures that windows missed, though they saw them run; [chosen: with 0.01 fewer counts
 * of mawk and bzip2 are marked high, and no more that are right; nothing], … */
static const double missed_procedures = 0.002;
/* … and the deviation of the logarithm of their counts; [chosen], nothing */
static const double missed_deviation = 3;
/* ticks to be expected of a procedure, at least; the EM algorithm gets slow with many that tell
 * nothing; [chosen], nothing */
static const double least_paced_ticks = 0.5;

enum {
	/* steps of the EM algorithm, at most; [bound] */
	EM_STEPS = 100,
};

/* --- clocks of procedures and loops (counts_clock.c, loop_clocks.c) ------------------------------- */

/* share of a procedure's samples; a loop with more is the procedure, and its phases are the loops in it;
 * [chosen] */
static const double nearly_all = 0.9;

/* --- counts of blocks and edges (missed.c) ---------------------------------------------------- */

/* samples of a block; fewer may be stray ones; [chosen], a guard */
static const double enough_block_samples = 3;
/* times; a block with its ticks in windows below what it should have over this has fewer than by
 * chance; [chosen] */
static const double fewer_ticks = 3;
/* samples in windows; where as many are to be expected, a third of them is not chance: Poisson, 2 % */
static const double enough_ticks = 6;

/* --- registers and branch records (branches.c, records.c) -------------------------------------- */

/* logarithm of odds; samples come where time is spent, after wrong guesses above all, so what
 * registers tell of a branch is off by this; fitted to the tuning programs of
 * scripts/frequency-accuracy */
static const double registers_bias = 0.3;
/* logarithm of odds; records are of branches as they come, but for what hardware leaves out;
 * [chosen], a guard */
static const double records_bias = 0.1;
/* share, of each block's executions by records with cycles; how late hardware takes a sample depends
 * on what runs: off by 3 to 20 % on a Skylake-SP, scripts/branch-record-accuracy */
static const double least_record_deviation = 0.12;

/* --- breakpoints (probes.c) -------------------------------------------------------------------- */

/* share, at least; breakpoints disturb what they count, and their own time is known by and large;
 * [chosen], a guard */
static const double least_probe_deviation = 0.1;
/* share, of one moment alone, beside chance; what runs in phases runs several times more often than
 * on the whole, or not at all; [chosen], a guard */
static const double one_moment_deviation = 2;

/* --- events in simulated windows (events.c, rare_events.c) ------------------------------------------- */

/* Between windows the events per run of a program's code differ by so much, as a rule, with the data that
 * it meets; from a twentieth, in programs that do the same all the time, to more than the whole, … */
static const double events_deviation = 0.3; /* share [chosen]; scripts/cause-accuracy */
/* … so that this is hardly knowledge. */
static const double events_freedom = 1; /* degrees of freedom [chosen]; the same */
/* So many of the instructions at which an event was never seen have it more often than is said. */
static const double rare_tail = 0.05; /* share; what is above a 90 % interval */

/* --- parts of windows, to which penalties are fitted (window_parts.c) ---------------------------- */

/* events; a window that has met as few of a kind is like the others: chance; [chosen] */
static const double usual_events = 100;
/* cycles; of a shorter part it is mostly chance where a sample, which ends it, falls; [chosen] */
static const double least_part_cycles = 1e7;
/* share of a part's instructions in code whose time a model knows, at least; [chosen] */
static const double least_part_known = 0.5;
/* instructions of a window, or it was not simulated; [chosen] */
static const double least_simulated = 1e6;

#endif
