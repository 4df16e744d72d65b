/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The constants that decide what views show and what they leave out, by subject. Widths and digits,
 * which only lay out what is shown, are beside their use.
 *
 * Before each: its unit; the reason; and where the value comes from. [shown]: chosen for readers,
 * by what reports of real programs looked like; no accuracy figure depends on it, so
 * scripts/sensitivity does not try it. [bound]: it limits memory or work. Each is a plain literal on
 * one line.
 */
#ifndef REPORT_TUNING_H
#define REPORT_TUNING_H

/* --- tables (common/, tables/, paths/, annotate/, executions/, stalls/) ----------------------- */

/* share of an event's samples; rows with more are red; as in perf report; [shown] */
static const double hot_share = 0.05;
/* share of an event's samples; rows with more are green; as in perf report; [shown] */
static const double warm_share = 0.005;
/* times the value; an interval whose ends are nearer, and as far on both sides, is one number
 * behind it; [shown] */
static const double short_interval = 0.5;

/* share of the time; less than this that samples took themselves is not worth a word; [shown] */
static const double least_told_sampling = 0.01;

enum {
	/* rows of a table that people read, unless they say otherwise; [shown] */
	DEFAULT_ROWS = 40,
	/* samples of a procedure that is analysed for stalls, at least: nothing about a single
	 * instruction of others would be known, and most procedures of a profile are such;
	 * [shown] */
	SURVEY_FEWEST_SAMPLES = 10,
};

/* --- long reports (common/parallel.c) ----------------------------------------------------------- */

enum {
	/* processes, at most, each with what it changes of the report's memory; [bound] */
	PARALLEL_MOST_WORKERS = 8,
	/* procedures, at least; fewer are made before copies are; [bound] */
	PARALLEL_FEWEST = 64,
	/* procedures one behind the other by one process: neighbours share what is found out of an
	 * image; [bound] */
	PARALLEL_TOGETHER = 16,
	/* bytes that a process keeps for its next procedure; the largest take more; [bound] */
	PARALLEL_KEPT_BYTES = 16777216,
	/* bytes that a worker makes before it hands them over: most items are smaller, and each time
	 * wakes who reads; [bound] */
	PARALLEL_HANDED_BYTES = 131072,
	/* bytes that a pipe holds, and that are read at once: what Linux allows to anybody; */
	PARALLEL_PIPE_BYTES = 1048576,
	/* bytes that are kept of a worker that is ahead; a tenth of what builds give; [bound] */
	PARALLEL_AHEAD_BYTES = 33554432,
};

/* --- stalls (common/, stalls/write_stalls.c, annotate/annotate_stalls.c, write_dot.c) --------- */

/* share of the time; a range that is wider says nothing, and is shown as unknown; [shown] */
static const double widest_range = 0.9;
/* share of the cycles; with more in procedures that were counted the sheet is measured; [shown] */
static const double mostly_counted = 0.5;
/* cycles of one execution; at least less than this is no news; [shown] */
static const double least_average = 0.05;
/* share of an instruction's cycles; causes with less are not named; [shown] */
static const double noticeable_cause = 0.05;
/* share of the procedure's time; causes of instructions with less are not told: they would hide the
 * others; [shown] */
static const double worth_telling = 0.01;
/* share of an instruction's cycles; a wider range comes with what is likely; [shown] */
static const double wide_range = 0.1;
/* share of an instruction's cycles; a cause with less in a wide range is called unlikely;
 * [shown] */
static const double unlikely_cause = 0.005;
/* share of what several causes take together for sure; they are told together where the likeliest takes
 * less than that for sure alone; [shown] */
static const double sure_alone = 0.5;
/* cycles; a stall of the best case that is longer is told: one cycle, but for rounding; [shown] */
static const double whole_cycle = 0.995;

enum {
	/* causes told of one instruction; [shown] */
	MOST_CAUSES_TOLD = 3,
	/* causes told of one block in a drawing; [shown] */
	MOST_CAUSES_DRAWN = 2,
	/* instructions of one block in a drawing; [shown] */
	MOST_LINES_DRAWN = 24,
};

/* --- annotated code (annotate/) ---------------------------------------------------------------- */

/* percent of the procedure's time or samples; colder instructions are folded: some hundred are left
 * of the largest procedures, of most a screen or two; [shown] */
static const double fold_percent = 0.5;
/* share of the procedure's time; an instruction with less, and without samples, shows no frequency of
 * its own; [shown] */
static const double noticeable_insn = 0.0005;
/* cycles of one execution; less is left blank; [shown] */
static const double noticeable_cycles = 0.005;
/* share of executions; events that happen in fewer are not shown beside an instruction; [shown] */
static const double noticeable_seen = 0.01;

enum {
	/* instructions; of shorter procedures nothing is folded; [shown] */
	SMALL_ENOUGH = 40,
	/* rows shown on either side of a hot one; [shown] */
	CONTEXT_ROWS = 2,
	/* rows; fewer are not folded; [shown] */
	WORTH_FOLDING = 4,
	/* the hottest addresses that are named above the code; [shown] */
	HOTTEST_NAMED = 4,
};

/* --- call paths (paths/) ----------------------------------------------------------------------- */

/* percent of the samples of a tree; calls with less are folded, unless --percent-limit says
 * otherwise: some ten lines are left of most programs; [shown] */
static const double tree_fold_percent = 1;
/* levels; flame graphs of more hang from their root, as a screen of 1080 pixels has room for no more;
 * [shown] */
static const unsigned most_standing = 50;
/* pixels; narrower procedures are not drawn in flame graphs; [shown] */
static const double thinnest_flame = 0.25;
/* share of the samples; paths of fewer are told; [shown] */
static const double noticeable_paths = 0.99;

enum {
	/* levels of branches in a tree, each two columns wide: half of 100 columns is left for names;
	 * [shown] */
	MOST_BRANCHES = 20,
	/* columns of a tree that is written to a file or a pipe; [shown] */
	TREE_COLUMNS = 100,
	/* procedures on the way to the root that are not shown again if they follow each other as above; fewer
	 * are as short as the line that says so; [shown] */
	LEAST_REPEATED = 3,
	/* callers or callees of one procedure in the table of all; [shown] */
	MOST_EDGES = 6,
	/* procedures of the table of callers or callees, unless readers say otherwise; [shown] */
	DEFAULT_CALLED = 15,
};

/* --- exports (export/counted_code.c, export/bolt.c) --------------------------------------------- */

/* count of the rarest thing in a profile for optimisers, at least: rounded to whole numbers it is
 * still within 5 % of what it was; [shown] */
static const double least_export_count = 10;
/* count, at most: clang keeps that of a call in 32 bits, and cuts off what is above, so that the hottest calls
 * look cold; a place's is multiplied by the copies that the compiler made of it, up to 32; LLVM
 * (SampleProfile.cpp) */
static const double most_export_count = 1e8;
/* share of the counts; less that BOLT cannot use is not told; [shown] */
static const double noticeable_divided = 0.01;

/* --- the header (header/) ---------------------------------------------------------------------- */

/* share of the time; an event that was counted for less of it is told; [shown] */
static const double full_coverage = 0.99;
/* percent of the samples; fewer lost change no row that anybody looks at; [shown] */
static const double noticeable_loss = 5;
/* share of the CPU time; that of the system that samples of user mode leave out is told only among
 * details if it is less; [shown] */
static const double little_system_time = 0.01;
/* deviation of a logarithm; where windows are so far off the rest of the time, a line says that they
 * missed some of it; [shown] */
static const double told_moved = 0.15;

enum {
	/* lines of the header before a table; [shown] */
	MOST_HEADER_LINES = 4,
	/* columns of the recorded command, which may name thousands of files; [shown] */
	COMMAND_COLUMNS = 160,
	/* reasons why windows ended, or why there were none; [shown] */
	MOST_REASONS = 3,
	/* percent of the samples; code without names that has less is not told; [shown] */
	NAMELESS_PERCENT = 5,
	/* percent of the samples in the kernel; with fewer nothing is said of where they fall;
	 * [shown] */
	KERNEL_PERCENT = 10,
	/* percent of the kernel's samples; where interrupts are enabled again so many are told;
	 * [shown] */
	ENABLING_PERCENT = 25,
};

/* --- comparisons (comparison/) ----------------------------------------------------------------- */

/* share of the cost; a machine that was slower by less is not told; [shown] */
static const double noticeable_machine = 0.005;
/* share of the procedure's cycles; a cause that grew by less is not named: on a busy machine the ranges of a
 * share of 0.5 % and of one of 0.9 % did not overlap, and nothing had grown; [shown] */
static const double least_grown = 0.03;
/* factor; an end of an interval that is so far from no change tells nothing; [shown] */
static const double telling_factor = 10;

enum {
	/* findings in a sentence, a summary or a notice; [shown] */
	COMPARISON_MOST_FINDINGS = 10,
	/* callers of a finding whose counts are shown; [shown] */
	MOST_COMPARED_CALLERS = 2,
	/* causes of a finding that are shown; [shown] */
	MOST_COMPARED_CAUSES = 2,
	/* estimates shown where nothing was found; [shown] */
	MOST_ESTIMATES = 6,
	/* images and procedures drawn in a page: others are too thin to be seen, and would make it
	 * many MB; [shown] */
	MOST_PARTS_DRAWN = 500,
};

/* --- what to try (stalls/advice.c, stalls/write_stalls.c) ------------------------------------- */

/* Advice is given against a cause that takes at least this for sure. */
static const double certain_cause = 0.3; /* share of the instruction's time [shown] */
/* Stalls of a list that advice is looked for, … */
enum { ADVISED_STALLS = 10 }; /* the worst [shown] */
/* … and sentences that are printed. */
enum { MOST_ADVICE = 4 }; /* sentences [shown] */
/* A level of the caches that this share of the misses' cycles waits for is told by name. */
static const double clear_level = 0.8; /* share of cycles [shown] */

/* --- stacks of cycles (stalls/) --------------------------------------------------------------- */

/* A program's executions are known if those of all but this share of its cycles are. */
static const double unknown_executions = 0.1; /* share of the cycles [shown] */
/* A part of a stack that is worth a line, … */
static const double least_stack_share = 0.01; /* share of the cycles [shown] */
/* … or only of being named, if it may have so much, … */
static const double least_possible_share = 0.1; /* share of the cycles [shown] */
/* … and so many of them for each procedure. */
enum { STACK_LINES = 4 }; /* lines [shown] */
/* A loop that people are shown has this share of the program's cycles, … */
static const double least_loop_share = 0.05; /* share of the cycles [shown] */
/* … and less than this share of those of what it is in. */
static const double most_of_around = 0.95; /* share of the cycles [shown] */
/* A picture shows the range of parts that have this share, … */
static const double least_drawn_range = 0.04; /* share of the cycles [shown] */
/* … and no bar longer than this. */
static const double most_drawn = 1.5; /* times the measured cycles [shown] */
/* Names of changes and procedures stand in so many. */
enum { WHAT_IF_COLUMNS = 40 }; /* columns [shown] */

/* --- what was simulated (stalls/write_culprits.c) --------------------------------------------- */

/* An access whose steps are alike in this share of its executions is strided, … */
static const double strided_share = 0.8; /* share of executions [shown] */
/* … and in less than this, scattered. */
static const double scattered_share = 0.2; /* share of executions [shown] */
/* An address that is made of what was loaded in this share of executions is called so. */
static const double chased_share = 0.5; /* share of executions [shown] */
/* A prefetcher that asks for this share of what misses is worth a word. */
static const double prefetched_share = 0.5; /* share of misses [shown] */
/* So is what happens in this share of executions. */
static const double noticeable_event = 0.02; /* share of executions [shown] */
/* By chance a load has the low twelve bits of one of 112 stores of eight bytes in this share of executions;
 * where it is laid out so, in nearly all. */
static const double alias_share = 0.25; /* share of executions [shown] */
/* What happens more seldom is nothing. */
static const double least_event = 0.001; /* share of executions [shown] */

#endif
