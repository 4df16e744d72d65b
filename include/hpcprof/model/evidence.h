/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums over shadow windows: how often each block, edge and call of each image was executed; the
 * directions of branches, from the registers of samples (`outcomes`); and the duration of straight
 * code, from branch records of the hardware (`ranges`).
 *
 * A window is a stretch of a thread's user time in which everything was counted exactly. Windows
 * are uniformly distributed over time. The count in all of the time is therefore estimated as the
 * count in windows divided by their share of the time. The variance of this ratio comes from the
 * differences between windows. To know the variance of any later sum, difference or quotient of
 * counts, counts are not added up to one number: windows are assigned in turn to one of
 * HP_EVIDENCE_WINDOWS numbers. These numbers vary as windows do, and vary less if there are more
 * windows. Each number is also divided by the parts of windows, because a program may do different
 * things early and late in a window. This gives HP_EVIDENCE_GROUPS groups; HP_WINDOW_PARTS
 * neighbouring groups are parts of the same windows. Calibration weights differ between parts;
 * random errors are independent only between windows.
 *
 * Some windows ended because their thread waited for another one: after an amount of work, not of
 * time. Their counts tell how often things happened relative to each other, but not how often in
 * all. They are kept separately (`relative`).
 *
 * Sums add up exactly and in any order: over windows, flushes and epochs. Recordings, and commands
 * within them, are kept separately (strata), because each has its own share of counted time.
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

/* The maximum number of items in all lists of an epoch: 1.2 GB of memory. A large program (a
 * compiler) has about 1,000,000, two thirds of them events. */
enum { HP_EVIDENCE_MOST_ITEMS = 1 << 21 };

enum hp_counted_kind {
	HP_COUNTED_BLOCK = 1, /* straight code executed from `at`: `bytes`, `instructions` */
	/* Edges: from the branch instruction at `at`, to `to`. */
	HP_COUNTED_JUMP = 2,
	HP_COUNTED_TAKEN = 3, /* a conditional jump */
	HP_COUNTED_FALL = 4,  /* the same, not taken */
	HP_COUNTED_INDIRECT_JUMP = 5,
	HP_COUNTED_CALL = 6,
	HP_COUNTED_INDIRECT_CALL = 7,
	HP_COUNTED_RETURN = 8,
	HP_COUNTED_SYSTEM_CALL = 9, /* `to` is the next instruction */
	/* Breakpoints at `at`, which is also `to`: hits, and the time in which they were
	 * counted. */
	HP_COUNTED_PROBE = 10,
	HP_COUNTED_PROBE_TIME = 11,
	/* Samples of time at `at`, which is also `to`, taken within windows. */
	HP_COUNTED_TICK = 12,
	/* Straight code from `at` to the branch at `to`, from branch records with cycles: how often
	 * it was in records, and the cycles that it took in them. RANGE_TIME: cycles of the samples
	 * whose last branch went to `at`, which is also `to`. */
	HP_COUNTED_RANGE = 13,
	HP_COUNTED_RANGE_CYCLES = 14,
	HP_COUNTED_RANGE_TIME = 15,
	/* Events of the instruction at `at`, which is also `to`, in simulated windows: this value
	 * plus enum hp_event_kind. For HP_EVENT_STRIDE `to` is the stride, in bytes. */
	HP_COUNTED_EVENT = 16,
	/* Core cycles that models spent, of the instruction at `at`, which is also `to`, or of a block that
	 * begins there. Groups are lanes (model/lanes.h). */
	HP_COUNTED_CYCLES = 56,
	HP_COUNTED_BLOCK_CYCLES = 57,
	/* The same of a block on a core with other sizes; `to` says which (uarch/resize.h). */
	HP_COUNTED_RESIZED_CYCLES = 58,
};

/* What is counted: one block or edge. Blocks may overlap: execution that starts in the middle of a block
 * is another block. */
#define HP_COUNTED_PLACE                                                                           \
	uint8_t kind; /* enum hp_counted_kind */                                                   \
	bool is_relative;                                                                          \
	uint32_t image; /* in `images` of the whole */                                             \
	hp_image_offset at;                                                                        \
	uint32_t to_image; /* edges; 0 of blocks, as is `to` */                                    \
	hp_image_offset to;                                                                        \
	uint32_t bytes; /* blocks, > 0; 0 of edges, as are the instructions */                     \
	uint32_t instructions

struct hp_counted_place {
	HP_COUNTED_PLACE;
};
/* 0: the same place. */
int hp_counted_compare(const struct hp_counted_place *a, const struct hp_counted_place *b);

/* Its counts in many windows. */
struct hp_counted {
	union {
		struct hp_counted_place place;
		struct {
			HP_COUNTED_PLACE;
		};
	};
	uint64_t counts[HP_EVIDENCE_GROUPS]; /* not all 0 */
};

/* Its counts in one window, by part: a seventh of the memory. */
struct hp_window_item {
	struct hp_counted_place place;
	uint64_t counts[HP_WINDOW_PARTS]; /* not all 0 */
};

struct hp_window_group {
	uint64_t windows; /* that begin in this group */
	uint64_t time_ns; /* covered by the group */
};

/* One command of one recording. */
struct hp_window_stratum {
	uint64_t recording; /* its start, CLOCK_REALTIME ns; identifies the recording */
	char *command;	    /* of the processes; owned, "" when unknown */
	uint64_t time_ns;   /* running time of the command, counted or not */
	struct hp_window_group groups[HP_EVIDENCE_GROUPS];
	struct hp_window_group relative[HP_EVIDENCE_GROUPS];
	struct hp_counted *items; /* sorted, distinct. Owned */
	size_t item_count;
	/* Branches after samples, as far as registers determined their directions, or before
	 * samples, from branch records: is_relative, of the kinds TAKEN, FALL, INDIRECT_JUMP and
	 * INDIRECT_CALL. Their groups are HP_OUTCOMES_OF_*, not those of windows. Sorted, distinct.
	 * Owned. */
	struct hp_counted *outcomes;
	size_t outcome_count;
	uint64_t followed; /* samples that were followed */
	/* Places that breakpoints counted, each in its own moments: PROBE, and PROBE_TIME in ns.
	 * Groups are of moments. Sorted, distinct. Owned. */
	struct hp_counted *probes;
	size_t probe_count;
	/* Where the time of windows was spent, of kind TICK, by their groups; is_relative: of truncated
	 * ones. Compared with the time of all samples, it shows which code windows saw too often or
	 * too rarely. Sorted, distinct. Owned. */
	struct hp_counted *ticks;
	size_t tick_count;
	/*
	 * A branch record is the last few branches before a sample of cycles, with the cycles from
	 * each to the next. The sample itself falls between the last branch's target and the next
	 * branch. So the samples give the total time of straight code by its start, and the records
	 * give the time of one pass through it. Their quotient is the number of executions
	 * (Little's law). Sorted, distinct, is_relative. Groups take records in turn:
	 * HP_RECORD_GROUPS of them. Owned.
	 */
	struct hp_counted *ranges;
	size_t range_count;
	uint64_t record_cycles[HP_RECORD_GROUPS]; /* cycles that the records stand for */
	/* Of simulated windows: BLOCK, the executions of straight code; EVENT, the events of
	 * instructions; and their CYCLES. Groups are of windows (first parts only), except for
	 * cycles. Sorted, distinct. Owned. */
	struct hp_counted *events;
	size_t event_count;
	uint64_t latencies[HP_LATENCIES + 1]; /* sums over those windows; the last: their number */
};

/* The source of outcomes. All groups below that of records are of registers: formerly they gave the
 * distance from the sample to the branch. */
enum {
	HP_OUTCOMES_OF_REGISTERS = 0,
	HP_OUTCOMES_OF_RECORDS = 16,
};

/* Why windows ended, or why there were none, and how often. */
struct hp_window_reason {
	bool is_refusal;
	char *what; /* "time is up"; a sentence without its full stop. Owned, never NULL */
	uint64_t count;
};

/* The measured cost to the target. */
struct hp_window_price {
	uint64_t shadows;    /* that were begun */
	uint64_t lost_ns;    /* of the target's time: stops, and copies of pages afterwards */
	uint64_t target_ns;  /* its time while there were windows; 0 unknown */
	uint64_t replay_ns;  /* that shadows took on other CPUs */
	uint64_t beside_ns;  /* counted time in which the copy of another window ran */
	uint64_t aside_ns;   /* the part of the loss that is not in the time of windows */
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
	uint64_t samples; /* one per HP_WINDOW_SAMPLE_NS of windows, to be matched in the replay */
	uint64_t matched; /* the matched ones */
	uint64_t dropped; /* items without room */
};

void hp_window_evidence_clear(struct hp_window_evidence *evidence);
bool hp_window_evidence_is_empty(const struct hp_window_evidence *evidence);

/* Adds everything. Commutative and associative in the result; past 64 bits it is DAMAGED, and
 * `into` holds part of the sum: clear it. */
struct hp_error *hp_window_evidence_add(struct hp_window_evidence *into,
					const struct hp_window_evidence *from);
struct hp_error *hp_window_evidence_add_reason(struct hp_window_evidence *into, bool is_refusal,
					       const char *what, uint64_t count);

/* The lists of a stratum that single windows add to. */
enum hp_window_list {
	HP_WINDOW_LIST_ITEMS,
	HP_WINDOW_LIST_TICKS,
	HP_WINDOW_LIST_EVENTS,
};

/* Adds `from`, which has one stratum, and to one of that stratum's lists the items of a window whose parts are
 * the groups from `first` on. Requires that hp_window_items_check finds nothing. Errors as of
 * hp_window_evidence_add. */
struct hp_error *hp_window_evidence_add_window(struct hp_window_evidence *into,
					       const struct hp_window_evidence *from,
					       enum hp_window_list list,
					       const struct hp_window_item *items, size_t count,
					       unsigned first);
/* Adds all but the events of simulated windows, which are `dropped`. Errors as of
 * hp_window_evidence_add. */
struct hp_error *hp_window_evidence_add_without_events(struct hp_window_evidence *into,
						       const struct hp_window_evidence *from);
/* Adds what remains true when the counts have no room: the commands' time, the cost of windows, the
 * reasons why they ended. The items are `dropped`. For items that `into` already has, the same as
 * hp_window_evidence_add. */
struct hp_error *hp_window_evidence_add_without_counts(struct hp_window_evidence *into,
						       const struct hp_window_evidence *from);
/* Items in all lists. */
uint64_t hp_window_evidence_items(const struct hp_window_evidence *evidence);
/* NULL if all the above holds, else USAGE. */
struct hp_error *hp_window_evidence_check(const struct hp_window_evidence *evidence);
/* The same of a window's items, whose images are those of `from`. */
struct hp_error *hp_window_items_check(const struct hp_window_evidence *from,
				       const struct hp_window_item *items, size_t count);

/* The kinds of evidence present, one bit per kind. */
enum hp_evidence_content {
	HP_CONTAINS_WINDOWS = 1 << 0,
	HP_CONTAINS_OUTCOMES = 1 << 1, /* from registers or branch records */
	HP_CONTAINS_PROBES = 1 << 2,
	HP_CONTAINS_RANGES = 1 << 3, /* branch records with cycles */
	HP_CONTAINS_EVENTS = 1 << 4, /* simulated */
};
unsigned hp_window_evidence_contents(const struct hp_window_evidence *evidence);

/* All strata together. */
struct hp_window_group hp_window_evidence_counted(const struct hp_window_evidence *evidence);
struct hp_window_group hp_window_evidence_relative(const struct hp_window_evidence *evidence);

/* --- estimates -------------------------------------------------------------------------------- */

/* Counts of one recording, or of a weighted sum of several, by what varies independently: windows
 * (hp_grouped_by_windows) or moments of probes. */
struct hp_grouped {
	double counts[HP_EVIDENCE_GROUPS];
};

struct hp_grouped_ratio {
	double value;
	/* The standard deviation of `value`. It is widened so that its normal 90 % interval equals
	 * Student's 90 % interval for the few groups. INFINITY with fewer than two groups, or if
	 * all others together have less than a fifth of one group. */
	double deviation;
	double freedom; /* degrees of */
};

double hp_grouped_sum(const struct hp_grouped *grouped);
/* Counts by windows, with parts added up. */
struct hp_grouped hp_grouped_by_windows(const uint64_t counts[HP_EVIDENCE_GROUPS], double scale);

/*
 * The ratio of two sums: of a count to the time of the windows (times the whole time, this is the
 * total count), or to another count. NAN if `under` is 0. The variance is that between groups, by
 * the delta method: of over - value * under.
 */
struct hp_grouped_ratio hp_grouped_ratio(const struct hp_grouped *over,
					 const struct hp_grouped *under);

/*
 * Prior knowledge of how the pace (counts per time) varies between windows. For any program it is
 * an order of magnitude: windows differ by about a fifth. For one program it is pooled from all its
 * procedures (Smyth, Linear Models and Empirical Bayes Methods, 2004; but of logarithms, because
 * some programs are much steadier than others).
 */
struct hp_pace {
	double variance; /* of one window's pace, over its square */
	double freedom;	 /* degrees of freedom that this knowledge is worth */
};
struct hp_pace hp_pace_of_any(void);

/* Sums over several procedures in the same windows; zeroed at first. */
struct hp_paces {
	double logs;	     /* of variances, times weights */
	double squared_logs; /* likewise */
	double weights, squared_weights;
	double freedom; /* of each of them, times weights */
};
void hp_paces_add(struct hp_paces *paces, const struct hp_grouped *over,
		  const struct hp_grouped *under, double windows, double weight);
/* The degrees of freedom that the pooled variance is worth for one of them, by how much their own variances
 * differ beyond chance; INFINITY if they do not. */
double hp_paces_freedom(const struct hp_paces *paces);
/* Returns the pooled variance; that of any program if there are too few procedures. */
struct hp_pace hp_pace_of_all(const struct hp_paces *paces);

/*
 * Like hp_grouped_ratio, of counts to the time that they took. With few groups their variance is hardly known;
 * with what is `known` beforehand, even one group gives a deviation. `windows` is their number in all: groups
 * of several windows differ less.
 */
struct hp_grouped_ratio hp_grouped_pace(const struct hp_grouped *over,
					const struct hp_grouped *under, double windows,
					const struct hp_pace *known);

/*
 * The share of `part` in `part` + `rest`, for outcomes that each went one way or the other. The
 * variance is that of as many coin tosses, plus the square of `bias` in log odds, which more
 * outcomes do not reduce. Most branches always go the same way, so a branch that did so is expected
 * to continue. Never 0 or 1; the deviation is that of the value. NAN without outcomes.
 */
struct hp_share {
	double value;
	double deviation;
};
struct hp_share hp_share_of(double part, double rest, double bias);

/* 90 % of a normal distribution are within so many standard deviations. */
#define HP_NORMAL_90 1.6449

/* A number of executions: code with so many expected executions in windows is seen at least once in
 * 19 of 20 cases (Poisson, exp(-3) = 0.05). */
static const double hp_surely_seen = 3;

/* Student's 90 % interval divided by that of the normal distribution; 1 for very many degrees. */
double hp_student_widening(double freedom);

/*
 * Whether an estimate is good enough to show: each end of its 90 % interval is within a factor of
 * HP_MOST_APART. This rule holds for every number of executions. An estimate that fails is
 * INSUFFICIENT, "?" in text and null in JSON. For code that was hardly executed, an upper end up to
 * `hardly` is enough: hp_hardly_ran of the hottest block's executions, or of those of the block that
 * an edge leaves. False for values that are not finite.
 */
enum { HP_MOST_APART = 5 };
static const double hp_hardly_ran = 0.01;
bool hp_interval_suffices(double estimate, double low, double high, double hardly);

#endif
