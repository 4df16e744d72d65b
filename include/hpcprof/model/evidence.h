/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shadow windows counted, as sums over windows: of each block, edge and call of each image;
 * which way branches went, as the registers of samples told it (`outcomes`), and how long straight
 * code took, as branch records of hardware tell (`ranges`).
 *
 * A window is a stretch of a thread's user time in which everything that ran was counted exactly.
 * Windows lie uniformly in time, so what runs in all of it is estimated by what ran in them, over
 * the share of time that they are: a ratio, whose variance is in how much windows differ. To know
 * that of any sum, difference or quotient of counts later, counts are not added up into one number
 * but by windows in turn: HP_EVIDENCE_WINDOWS of them, which vary as windows do, and the more the
 * windows, the less. And of each of these by the parts of windows, as a program may do one thing
 * after another within a window: so there are GROUPS, HP_WINDOW_PARTS neighbours of which are parts
 * of the same windows. Weights of groups (calibration) tell one part from the next; what varies by
 * chance is windows.
 *
 * Windows that ended because their thread had to wait for another end after so much work, not so
 * much time: their counts say how counts are to each other, but not how often anything ran. They
 * are kept apart, `relative`.
 *
 * Sums add up exactly and in any order: over windows, flushes, epochs. Recordings, and in them
 * commands, stay apart (strata): each has its own share of time that was counted.
 *
 * Plain data; times are nanoseconds of user CPU time.
 */
#ifndef HPCPROF_MODEL_EVIDENCE_H
#define HPCPROF_MODEL_EVIDENCE_H

#include <hpcprof/base/error.h>
#include <hpcprof/model/address.h>
#include <hpcprof/model/image_id.h>
#include <hpcprof/model/window.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HP_EVIDENCE_WINDOWS = 16,
	HP_EVIDENCE_GROUPS = HP_EVIDENCE_WINDOWS * HP_WINDOW_PARTS,
	HP_RECORD_GROUPS = 16,
};

/* So many items there are at most in all lists of an epoch: 0.6 GB of memory. A large program (a
 * compiler) has some 300,000. */
enum { HP_EVIDENCE_MOST_ITEMS = 1 << 20 };

enum hp_counted_kind {
	HP_COUNTED_BLOCK = 1, /* straight code that ran from `at`: `bytes`, `instructions` */
	/* Edges: from the branch instruction at `at`, to `to`. */
	HP_COUNTED_JUMP = 2,
	HP_COUNTED_TAKEN = 3, /* a conditional jump */
	HP_COUNTED_FALL = 4,  /* the same, not taken */
	HP_COUNTED_INDIRECT_JUMP = 5,
	HP_COUNTED_CALL = 6,
	HP_COUNTED_INDIRECT_CALL = 7,
	HP_COUNTED_RETURN = 8,
	HP_COUNTED_SYSTEM_CALL = 9, /* `to` is what follows it */
	/* Of breakpoints at `at`, which is `to` as well: hits, and the time in which they were
	 * counted. */
	HP_COUNTED_PROBE = 10,
	HP_COUNTED_PROBE_TIME = 11,
	/* Samples of time at `at`, which is `to` as well, that were taken within windows. */
	HP_COUNTED_TICK = 12,
	/* Straight code from `at` to the branch at `to`, out of branch records with cycles: how
	 * often it was in them, and the cycles that it took then. And what the samples stand for
	 * whose last branch went to `at`, which is `to` as well: cycles. */
	HP_COUNTED_RANGE = 13,
	HP_COUNTED_RANGE_CYCLES = 14,
	HP_COUNTED_RANGE_TIME = 15,
};

/* One block or edge. Blocks may overlap: what runs from the middle of one is another. */
struct hp_counted {
	uint8_t kind; /* enum hp_counted_kind */
	bool is_relative;
	uint32_t image; /* in `images` of the whole */
	hp_image_offset at;
	uint32_t to_image; /* edges; 0 of blocks, as is `to` */
	hp_image_offset to;
	uint32_t bytes; /* blocks, > 0; 0 of edges, as are the instructions */
	uint32_t instructions;
	uint64_t counts[HP_EVIDENCE_GROUPS]; /* not all 0 */
};
/* By everything but the counts; 0 for the same item. */
int hp_counted_compare(const struct hp_counted *a, const struct hp_counted *b);

struct hp_window_group {
	uint64_t windows; /* that begin in it: none of those are whose later parts it has */
	uint64_t time_ns; /* that it covers */
};

/* One command of one recording. */
struct hp_window_stratum {
	uint64_t recording; /* when it began: CLOCK_REALTIME ns, which tells recordings apart */
	char *command;	    /* of the processes; owned, "" when unknown */
	uint64_t time_ns;   /* that the command ran, counted or not */
	struct hp_window_group groups[HP_EVIDENCE_GROUPS];
	struct hp_window_group relative[HP_EVIDENCE_GROUPS];
	struct hp_counted *items; /* sorted, distinct. Owned */
	size_t item_count;
	/* Branches that came after samples, as far as registers told which way they go, or
	 * before, as branch records did: is_relative, of the kinds TAKEN, FALL, INDIRECT_JUMP and
	 * INDIRECT_CALL. Their groups are not windows' but HP_OUTCOMES_OF_*. Sorted, distinct.
	 * Owned. */
	struct hp_counted *outcomes;
	size_t outcome_count;
	uint64_t followed; /* samples that were */
	/* Places that breakpoints counted, each in moments of its own: PROBE and PROBE_TIME, whose
	 * counts are ns. Groups are of moments. Sorted, distinct. Owned. */
	struct hp_counted *probes;
	size_t probe_count;
	/* Where the time of the windows that are not relative went, of kind TICK, by their groups:
	 * beside where all time went it says which code windows came by too often or too seldom.
	 * Sorted, distinct. Owned. */
	struct hp_counted *ticks;
	size_t tick_count;
	/*
	 * A branch record is the last few branches before a sample of cycles, with the cycles from
	 * each to the next. A sample came on the way from where the last one went to the next: so
	 * all time is known by where straight code began, and how long it takes from there, by how
	 * long it took when it was recorded whole. The one over the other is how often it ran
	 * (Little's law). Sorted, distinct, is_relative. Groups are of records in turn:
	 * HP_RECORD_GROUPS of them. Owned.
	 */
	struct hp_counted *ranges;
	size_t range_count;
	uint64_t record_cycles[HP_RECORD_GROUPS]; /* that they stand for */
};

/* What told of outcomes. All groups below that of records are of registers: once they said how far
 * from the branch the sample was. */
enum {
	HP_OUTCOMES_OF_REGISTERS = 0,
	HP_OUTCOMES_OF_RECORDS = 16,
};

/* How often something befell shadows: why windows ended, or why there were none. */
struct hp_window_reason {
	bool is_refusal;
	char *what; /* "time is up"; a sentence without its full stop. Owned, never NULL */
	uint64_t count;
};

/* What it cost the target, as it was measured while it ran. */
struct hp_window_price {
	uint64_t shadows;    /* that were begun */
	uint64_t lost_ns;    /* of the target's time: stops, and copies of pages afterwards */
	uint64_t target_ns;  /* its time while there were windows; 0 unknown */
	uint64_t replay_ns;  /* that shadows took on other CPUs */
	uint64_t beside_ns;  /* of what windows counted: while the shadow of another one ran */
	uint32_t budget_ppm; /* the largest asked for */
};

struct hp_window_evidence {
	struct hp_image_id *images; /* sorted, distinct; their `deleted` means nothing. Owned */
	size_t image_count;
	struct hp_window_stratum *strata; /* by recording and command, distinct. Owned */
	size_t stratum_count;
	struct hp_window_reason *reasons; /* by is_refusal and text, distinct. Owned */
	size_t reason_count;
	struct hp_window_price price;
	uint64_t samples; /* one each HP_WINDOW_SAMPLE_NS of windows, to be found in the replay */
	uint64_t matched; /* of these, that were found */
	uint64_t dropped; /* items for which there was no room */
};

void hp_window_evidence_clear(struct hp_window_evidence *evidence);
bool hp_window_evidence_is_empty(const struct hp_window_evidence *evidence);

/* Adds everything. Commutative and associative in the result; past 64 bits it is DAMAGED, and
 * `into` holds part of the sum: clear it. */
struct hp_error *hp_window_evidence_add(struct hp_window_evidence *into,
					const struct hp_window_evidence *from);
struct hp_error *hp_window_evidence_add_reason(struct hp_window_evidence *into, bool is_refusal,
					       const char *what, uint64_t count);
/* Instead of everything: what stays true when its counts find no room. The commands' time, what
 * windows cost, why they ended; the items are `dropped`. Of what it holds already it is as
 * hp_window_evidence_add. */
struct hp_error *hp_window_evidence_add_without_counts(struct hp_window_evidence *into,
						       const struct hp_window_evidence *from);
/* Items in all lists. */
uint64_t hp_window_evidence_items(const struct hp_window_evidence *evidence);
/* NULL when the rules above are kept, else USAGE. */
struct hp_error *hp_window_evidence_check(const struct hp_window_evidence *evidence);

/* What there is anything of, a bit each. */
enum hp_evidence_content {
	HP_CONTAINS_WINDOWS = 1 << 0,
	HP_CONTAINS_OUTCOMES = 1 << 1, /* out of registers, or of branch records */
	HP_CONTAINS_PROBES = 1 << 2,
	HP_CONTAINS_RANGES = 1 << 3, /* branch records with cycles */
};
unsigned hp_window_evidence_contents(const struct hp_window_evidence *evidence);

/* All strata together. */
struct hp_window_group hp_window_evidence_counted(const struct hp_window_evidence *evidence);
struct hp_window_group hp_window_evidence_relative(const struct hp_window_evidence *evidence);

/* --- estimates -------------------------------------------------------------------------------- */

/* Counts of something, of one recording or a weighted sum of several, by what varies by itself:
 * windows (hp_grouped_by_windows), or moments of probes. */
struct hp_grouped {
	double counts[HP_EVIDENCE_GROUPS];
};

struct hp_grouped_ratio {
	double value;
	/* Standard deviation of `value`, as wide as the few groups make the 90 % interval that a
	 * normal distribution with it has: Student's. INFINITY with fewer than two groups, or as
	 * good as one: all others together less than a fifth of it. */
	double deviation;
	double freedom; /* degrees of */
};

double hp_grouped_sum(const struct hp_grouped *grouped);
/* Of what windows counted: by windows, parts added up. */
struct hp_grouped hp_grouped_by_windows(const uint64_t counts[HP_EVIDENCE_GROUPS], double scale);

/*
 * The ratio of two sums: of a count to the time of the windows (whose product with all time is the
 * count in all of it), or to another count. NAN when `under` is nothing. The variance is that
 * between groups, by the delta method: of over - value * under.
 */
struct hp_grouped_ratio hp_grouped_ratio(const struct hp_grouped *over,
					 const struct hp_grouped *under);

/*
 * The same, of counts to the time that they took. Of few groups their variance is hardly known, but
 * how much windows of programs differ by is, in its order of magnitude: a fifth each, which is worth
 * as much as two more of them (Smyth, Linear Models and Empirical Bayes Methods, 2004; but with a
 * log-normal prior, as some programs are far steadier). So one has a deviation too. `windows` is how
 * many there are in all: groups of several differ less.
 */
struct hp_grouped_ratio hp_grouped_pace(const struct hp_grouped *over,
					const struct hp_grouped *under, double windows);

/*
 * The share of `part` in `part` and `rest` together, of outcomes: things that each went one way or
 * the other. Its variance is that of as many throws of a coin, and that of the square of `bias` on
 * top, in logarithms of odds, which no number of them takes away. Most branches only ever go one
 * way, so that one which did so far is foreseen to go on. Never 0 or 1; the deviation is that of
 * the value. NAN when there is nothing.
 */
struct hp_share {
	double value;
	double deviation;
};
struct hp_share hp_share_of(double part, double rest, double bias);

/* Of a normal distribution 90 % are within so many standard deviations. */
#define HP_NORMAL_90 1.6449

/* How much wider than the normal distribution's Student's 90 % interval is; 1 for very many. */
double hp_student_widening(double freedom);

/*
 * Whether an estimate says how often something ran, or how often for each time of something else:
 * neither end of its 90 % interval is more than HP_MOST_APART times off. The one rule for what is
 * shown: what does not pass is INSUFFICIENT, "?" in text and null in JSON, whatever it is of. An
 * upper end is enough for what hardly ran: up to `hardly`. False for what is not finite.
 */
enum { HP_MOST_APART = 5 };
bool hp_interval_suffices(double estimate, double low, double high, double hardly);

#endif
