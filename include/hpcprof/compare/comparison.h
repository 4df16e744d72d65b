/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result of comparing two sides, each of one or more epochs: plain data for printing.
 *
 * Costs are in units of the event (ns, cycles, ...) per run of the command, or per unit of work if
 * the sides contain their work. With `relative` they are shares of the side's whole program.
 * Changes are relative to the base: 0.1 is ten percent more. Each interval has a confidence of 95
 * %. Unknown values are NAN.
 *
 * Everything, including strings, is in the comparison's arena and is read-only for others.
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
	HP_VERDICT_IMPROVEMENT, /* something became cheaper and nothing more expensive */
	HP_VERDICT_REGRESSION,
	/* nothing found, but the change asked for could not have been found */
	HP_VERDICT_INSUFFICIENT,
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

/* One side of a compared item. */
struct hp_compared_cost {
	struct hp_measured cost;
	uint64_t samples; /* that this is based on */
};

/* One replicate. */
struct hp_compared_epoch {
	const char *stamp;
	const char *label; /* or NULL */
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint64_t runs;	   /* of the command; 1 if the epoch has none */
	double work;	   /* units of work of all runs; 0 when costs are per run */
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

/* The code at one place on both sides. A side without it has NULL and 0. */
struct hp_compared_code {
	const char *file; /* of the line; or NULL */
	uint32_t line[HP_SIDES];
	uint64_t address[HP_SIDES];
	const char *text[HP_SIDES]; /* the instruction; both NULL for the row of a line */
	uint64_t samples[HP_SIDES];
	double cost[HP_SIDES];
	bool is_changed; /* the code itself differs, beyond addresses */
};

struct hp_compared;

/* Cost that moved with its code from one procedure to another: inlined, split off, outlined. */
struct hp_cost_shift {
	const struct hp_compared *partner;
	/* that this procedure has more and the partner less; negative: the other way */
	double cost;
	const char *why; /* "inlined into", "split off from", ... */
};

/* The extent of code in link-time addresses; `end` is 0 on a side without it. */
struct hp_compared_extent {
	uint64_t start;
	uint64_t end; /* the first address after it */
};

/* The result of comparing call paths for a procedure's change. */
enum hp_blame {
	HP_BLAME_UNKNOWN,      /* nothing: a side has no call paths */
	HP_BLAME_CALLERS,      /* the cost below some callers changed more than the rest */
	HP_BLAME_ALIKE,	       /* the cost below all callers changed alike */
	HP_BLAME_ONE,	       /* it has one caller, the first one */
	HP_BLAME_INSUFFICIENT, /* there are too few samples to tell */
};
const char *hp_blame_name(enum hp_blame blame); /* "callers", "alike", ...; NULL unknown */

/* The part of a procedure's cost that is below one of its callers. */
struct hp_compared_caller {
	const char *name;
	const char *image;		   /* the last part of its path; "" where it is in none */
	struct hp_measured of_change;	   /* share of the procedure's change; NAN unknown */
	struct hp_measured cost[HP_SIDES]; /* share of the procedure's cost; NAN without any */
	double p;			   /* of the same share on both sides; NAN if not tested */
	bool is_blamed;
};

struct hp_compared_callers {
	enum hp_blame blame;
	const char *through; /* the one caller, if these are callers of that; or NULL */
	const struct hp_compared_caller *at; /* the greatest part of the change first */
	size_t count;
	uint64_t samples[HP_SIDES]; /* with known callers */
};

/* How often a procedure calls another, by exact counts of windows, in each run. */
struct hp_compared_calls {
	const char *name; /* of the caller */
	const char *image;
	struct hp_measured calls[HP_SIDES];
	struct hp_measured ratio; /* candidate's to base's */
};

/* A cause whose share of a procedure's cycles differs significantly between the sides. */
struct hp_compared_cause {
	const char *name;		    /* as in hpcprof-stack/1 */
	struct hp_measured share[HP_SIDES]; /* of the procedure's cycles; ranges, not intervals */
};

/* A compared item: the program, an image, a procedure, a line, a block. */
struct hp_compared {
	enum hp_scope scope;
	const char *name;  /* of the procedure, demangled; the program's or image's */
	const char *image; /* path; NULL for the program */
	const char *file;  /* path as compiled, or NULL */
	uint32_t line;	   /* the line with the largest loss, else the first line; 0 unknown */
	const char *former_name; /* the name in the base if it differs, or NULL */

	struct hp_compared_cost side[HP_SIDES];
	struct hp_measured change; /* INFINITY if the base has no cost */
	struct hp_measured lost;   /* candidate's cost less the base's */
	double p;		/* for the hypothesis of no change, two-sided; NAN if not tested */
	double q;		/* the same, as a false discovery rate */
	double smallest_change; /* that is detected in four of five cases */
	/* For procedures: their share of the program, which does not change when the whole run
	 * slows down: the change, and two-sided p for no change. For other items `high` is 0. */
	struct hp_measured share_change;
	double share_p;

	bool is_finding;
	bool is_shift; /* others cost less or more by the same amount */
	const struct hp_cost_shift *shifts;
	size_t shift_count;

	struct hp_compared *const *parts; /* images of the program, procedures of an image, lines */
	size_t part_count;		  /* ... of a procedure; the most expensive first */
	/* for findings, and on request: what changed there, in order */
	const struct hp_compared_code *code;
	size_t code_count;

	/* For findings: the basic blocks that contain most of the change, most expensive first;
	 * several consecutive blocks as one if they do not correspond one to one; none if the
	 * change is spread over the procedure. Blocks and lines (`parts`) are findings themselves
	 * if they changed significantly, given that the procedure did. They are not in the list of
	 * the comparison's findings. */
	struct hp_compared *const *blocks;
	size_t block_count;
	struct hp_compared_extent extent[HP_SIDES]; /* of a block */

	/* Of the program, where it is a finding: the procedure that has most of its change for
	 * certain, but is no finding by itself; else NULL. */
	struct hp_compared *carrier;
	/* For procedures that are findings, and the carrier: who calls them. */
	struct hp_compared_callers callers;
	/* The calls, those that changed most first; none without counts on both sides
	 * (hp_comparison_add_reasons). */
	const struct hp_compared_calls *calls;
	size_t call_count;
	/* For the same procedures, where both sides' cycles are known by cause: those
	 * causes that grew, or shrank, with the cost; what changed the most first. */
	bool has_causes;
	const struct hp_compared_cause *causes;
	size_t cause_count;
};

/* Why there is no answer, and what would help. */
struct hp_shortage {
	const char *reason;    /* a sentence without a full stop */
	const char *advice;    /* likewise, or NULL */
	uint64_t more_runs;    /* per side; 0: this would not help, or is unknown */
	uint64_t more_samples; /* likewise */
};

struct hp_comparison {
	struct hp_arena *arena; /* owns all the rest */
	enum hp_verdict verdict;
	const char *event;
	enum hp_unit unit;
	bool is_relative;
	const char *per;	 /* "run" or "unit of work": what costs refer to */
	double least_change;	 /* of findings, relative to their scope */
	double least_of_program; /* of findings, as a share of the program's cost */
	/* ratio of variance to mean of the samples, between runs of the same build */
	double dispersion;
	/* The ratio of the candidate's to the base's costs that is due to the machine, by the
	 * reference loop; 1: none, or unknown. The candidate's costs are divided by it, except
	 * those of its epochs. */
	double machine;
	double run_deviation; /* standard deviation between the costs of runs, relative */
	/* number of earlier epochs that the previous two were learned from; 0: from the sides, or
	 * (with a note) assumed */
	size_t learned_epochs;
	bool is_interleaved; /* the sides took turns, or ran side by side */
	/* no file with samples differs between the sides, and at least one that is not a system
	 * library is known to be the same */
	bool is_same_build;
	bool is_side_by_side; /* each run took place at the same time as a run of the other side */
	struct hp_compared_side sides[HP_SIDES];
	struct hp_compared *program;	     /* the root of all compared items */
	struct hp_compared *const *findings; /* largest loss first, largest gain last */
	size_t finding_count;
	const struct hp_shortage *shortages;
	size_t shortage_count;
	const char *const *notes; /* assumptions that a reader must know */
	size_t note_count;
};

void hp_comparison_destroy(struct hp_comparison *comparison);
HP_DEFINE_CLEANUP(struct hp_comparison, hp_comparison_destroy);

#endif
