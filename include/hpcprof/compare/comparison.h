/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What comparing two sides, each of one or more epochs, found: plain data, for whoever prints it.
 *
 * Costs are in units of the event (ns, cycles, ...) for one run of the command, or for one unit of
 * work when the sides say how much of that they did; with `relative` they are shares of the side's
 * whole program. Changes are relative to the base: 0.1 is ten percent more. Intervals hold 95 %,
 * each by itself. What is not known is NAN.
 *
 * Everything lives in the comparison's arena, strings too, and is read-only for others.
 */
#ifndef HPCPROF_COMPARE_COMPARISON_H
#define HPCPROF_COMPARE_COMPARISON_H

#include <hpcprof/base/arena.h>
#include <hpcprof/base/error.h>
#include <hpcprof/model/profile.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hp_verdict {
	HP_VERDICT_PASS,
	HP_VERDICT_IMPROVEMENT, /* something got cheaper and nothing dearer */
	HP_VERDICT_REGRESSION,
	HP_VERDICT_INSUFFICIENT, /* nothing found, and the change asked for could not have been */
};
const char *hp_verdict_name(enum hp_verdict verdict); /* "pass", "improvement", ... */

enum hp_scope {
	HP_SCOPE_PROGRAM,
	HP_SCOPE_IMAGE,
	HP_SCOPE_PROCEDURE,
	HP_SCOPE_LINE,
	HP_SCOPE_BLOCK,
};
const char *hp_scope_name(enum hp_scope scope); /* "program", "image", ... */

enum hp_side { HP_BASE, HP_CANDIDATE, HP_SIDES };
const char *hp_side_name(enum hp_side side); /* "base", "candidate" */

struct hp_measured {
	double value;
	double low;
	double high;
};

/* One side of anything that is compared. */
struct hp_compared_cost {
	struct hp_measured cost;
	uint64_t samples; /* that say so */
};

/* One replicate. */
struct hp_compared_epoch {
	const char *stamp;
	const char *label; /* or NULL */
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint64_t runs;	   /* of the command; 1 where the epoch does not say */
	double work;	   /* units of it, all runs together; 0 when costs are for one run */
	double elapsed_ns; /* mean of a run's; NAN unknown */
	double cpu_ns;	   /* likewise: user and system time */
	double cost;	   /* of one run or unit */
	uint64_t samples;
};

struct hp_compared_side {
	const char *database;
	const char *cpu_model; /* or NULL; the first epoch's */
	const char *command;   /* as typed; or NULL */
	const struct hp_compared_epoch *epochs;
	size_t epoch_count;
	uint64_t runs;
	uint64_t samples;
	double period; /* mean units between two samples */
};

/* What is at one place of the code, on both sides. A side that has none of it has NULL and 0. */
struct hp_compared_code {
	const char *file; /* of the line; or NULL */
	uint32_t line[HP_SIDES];
	uint64_t address[HP_SIDES];
	const char *text[HP_SIDES]; /* the instruction; both NULL where this is a line's row */
	uint64_t samples[HP_SIDES];
	double cost[HP_SIDES];
	bool is_changed; /* the code itself differs, beyond addresses */
};

struct hp_compared;

/* Cost that went from one procedure to another with its code: inlined, split off, outlined. */
struct hp_cost_shift {
	const struct hp_compared *partner;
	double cost;	 /* that `this` has more, and the partner less; negative the other way */
	const char *why; /* "inlined into", "split off from", ... */
};

/* Where code is: link-time addresses; `end` 0 where a side has none of it. */
struct hp_compared_extent {
	uint64_t start;
	uint64_t end; /* the first address after it */
};

/* Something compared: the program, an image, a procedure, a line, a block. */
struct hp_compared {
	enum hp_scope scope;
	const char *name;	 /* of the procedure, demangled; the program's or image's */
	const char *image;	 /* path; NULL for the program */
	const char *file;	 /* path as compiled, or NULL */
	uint32_t line;		 /* where it lost the most, else where it begins; 0 unknown */
	const char *former_name; /* the base's when it has another, or NULL */

	struct hp_compared_cost side[HP_SIDES];
	struct hp_measured change; /* INFINITY where the base has nothing of it */
	struct hp_measured lost;   /* candidate's cost less the base's */
	double p;		   /* of no change, two-sided; NAN where it was not tested */
	double q;		   /* the same, as a false discovery rate */
	double smallest_change;	   /* that would be seen four times out of five */
	/* Of a procedure, its share of the program, which what slows all of a run down does not
	 * touch: the change, and p of none, two-sided. Of all else `high` is 0. */
	struct hp_measured share_change;
	double share_p;

	bool is_finding;
	bool is_shift; /* what it costs more or less, others cost less or more */
	const struct hp_cost_shift *shifts;
	size_t shift_count;

	struct hp_compared *const *parts; /* images of the program, procedures of an image, lines */
	size_t part_count;		  /* ... of a procedure; the dearest first */
	const struct hp_compared_code *code; /* of findings, and of what was asked for: what
						changed there, in order */
	size_t code_count;

	/* Of findings: basic blocks, or several in a row where they do not correspond one by one,
	 * that most of the change is in, the dearest first; none where it is all over the procedure.
	 * They and lines (`parts`) are findings of their own when they changed for certain, given
	 * that the procedure did; they are not among the comparison's. */
	struct hp_compared *const *blocks;
	size_t block_count;
	struct hp_compared_extent extent[HP_SIDES]; /* of a block */
};

/* Why nothing can be said, and what would help. */
struct hp_shortage {
	const char *reason;    /* a sentence without a full stop */
	const char *advice;    /* likewise, or NULL */
	uint64_t more_runs;    /* of each side; 0: that would not do, or is not known */
	uint64_t more_samples; /* likewise */
};

struct hp_comparison {
	struct hp_arena *arena; /* owns all the rest */
	enum hp_verdict verdict;
	const char *event;
	enum hp_unit unit;
	bool is_relative;
	const char *per;	 /* "run" or "unit of work"; costs are for one of */
	double least_change;	 /* of the scope, that findings have */
	double least_of_program; /* cost of the program that findings have at least, as a share */
	double dispersion;	 /* variance of samples to their mean, between runs alike */
	double run_deviation;	 /* of one run's cost from another's, relative */
	size_t learned_epochs;	 /* earlier ones that these two were learned from; 0: from the
				    sides themselves, or (a note says so) assumed */
	bool is_interleaved;	 /* the sides took turns, or ran side by side */
	bool is_same_build; /* no file that has samples is another build on the other side, and some
				file is known to be the same that is no library of the system */
	bool is_side_by_side; /* each run at the same time as one of the other side */
	struct hp_compared_side sides[HP_SIDES];
	struct hp_compared *program;	     /* the root of all that was compared */
	struct hp_compared *const *findings; /* the most cost lost first, what was won last */
	size_t finding_count;
	const struct hp_shortage *shortages;
	size_t shortage_count;
	const char *const *notes; /* what a reader must know: what was taken for granted */
	size_t note_count;
};

void hp_comparison_destroy(struct hp_comparison *comparison);
HP_DEFINE_CLEANUP(struct hp_comparison, hp_comparison_destroy);

#endif
