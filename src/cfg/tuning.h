/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chosen constants of control-flow graphs: bounds of the time and memory that code may require,
 * since anybody may have written it.
 *
 * Each stands on a line of its own, as NAME = VALUE, with its unit behind it and its reason above it.
 * [chosen]: nobody has measured it alone; scripts/cfg-accuracy judges all together. [bound]: it
 * limits memory or work where input is hostile or rare: no ordinary program reaches it.
 */
#ifndef HPCPROF_SRC_CFG_TUNING_H
#define HPCPROF_SRC_CFG_TUNING_H

/* --- procedures ------------------------------------------------------------------------------- */

enum {
	/* Something larger is not a procedure. */
	LARGEST_PROCEDURE_BYTES = 16777216, /* bytes: 16 MiB [bound] */
	/* Blocks, and runs of code, of one procedure: a hundred times the largest seen. */
	MOST_BLOCKS = 1048576, /* blocks [bound] */
	/* Edges of one procedure. */
	MOST_EDGES = 4194304, /* edges [bound] */
	/* Nameless pieces of code that a procedure jumps to and that become parts of it. */
	MOST_ADOPTED = 64, /* pieces [bound] */
	/* Parts of a procedure beyond which it adopts nothing. */
	MOST_PARTS = 256, /* parts [bound] */
	/* Compilers split off small pieces; a larger one is a procedure without a name. */
	LARGEST_ADOPTED_BYTES = 262144, /* bytes [bound] */
	/* A cold part that has lost its name; compilers make small ones. */
	LARGEST_COLD_BYTES = 262144, /* bytes [bound] */
	/* Cold parts of cold parts. */
	LONGEST_COLD_CHAIN = 4, /* parts [bound] */
	/* Edges that irreducible loops move outward, per edge of the graph; compilers make none. */
	MOVED_PER_EDGE = 16, /* edges [bound] */
};

/* --- whether a procedure returns -------------------------------------------------------------- */

enum {
	/* Calls within calls; deeper ones count as returning. */
	DEEPEST_CALL = 200, /* calls [bound] */
	/* Parts that are followed together, and the addresses that they span at most: one bit each. */
	MOST_PARTS_TOGETHER = 16,	  /* parts [bound] */
	WIDEST_PROCEDURE_BYTES = 1048576, /* bytes [bound] */
};

/* --- where indirect jumps go ------------------------------------------------------------------ */

enum {
	/* Code that decides most switches. */
	SHORT_WAY_BYTES = 512, /* bytes [chosen] */
	/* Code that is evaluated for one jump, … */
	LONG_WAY_BYTES = 262144, /* bytes [chosen] */
	LONGEST_CHAIN = 1024,	 /* runs of code [bound] */
	/* … and for all jumps of a procedure: times its size and somewhat more, but no more than the last. */
	TRACED_PER_BYTE = 64,	      /* bytes per byte of the procedure [bound] */
	FREE_TRACED_BYTES = 1048576,  /* bytes [bound] */
	MOST_TRACED_BYTES = 25165824, /* bytes: 24 MiB [bound] */
	/* Entries of a table whose length a comparison tells, … */
	MOST_ENTRIES = 65536, /* entries [bound] */
	/* … and of one that goes on for as long as its entries make sense. */
	MOST_GUESSED = 4096, /* entries [bound] */
	/* Targets of all jumps of a procedure: 200 MiB of graph. */
	MOST_TARGETS = 1048576, /* targets [bound] */
	/* Labels times tables that are compared, in a procedure with computed gotos. */
	MOST_COMPARED = 10485760, /* comparisons [bound] */
	/* A constant that is nearer to 0 is a number, which another way through the code may change; only
	 * addresses are kept. */
	SMALL_CONSTANT = 1024, /* [chosen] */
};

/* --- excerpts --------------------------------------------------------------------------------- */

enum {
	/* Code around a sample that is in no procedure: the instruction there. */
	GAP_BYTES = 16, /* bytes [chosen] */
	/* Names of one file: those of a file that has more are not kept. */
	MOST_NAME_BYTES = 8388608, /* bytes: 8 MiB [bound] */
	/* Addresses whose lines are looked up between two looks at the clock. */
	LINES_AT_ONCE = 16384, /* addresses [bound] */
};

#endif
