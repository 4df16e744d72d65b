/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared state of the search for culprits: DCPI section 6.3, "guilty until proven innocent".
 *
 * Each cause is a function that looks at one stalled instruction. It either clears itself, or names
 * suspects with two figures: the most cycles that one execution can lose to it, and the expected
 * number, for ranking. Both are core cycles per execution of the stalled instruction.
 *
 * An out-of-order core waits for its oldest unfinished instruction. That is the stalled instruction
 * itself, or one before it that retired in the same cycle, as several do: only those on which
 * nothing after them depends come into question.
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_H
#define HPCPROF_ANALYZE_CULPRIT_H

#include "passes.h"

enum {
	LONGEST_PATH = 512, /* instructions looked back: the largest reorder buffer */
	MOST_SUSPECTS = 24,
	GENERAL_REGISTERS = HP_REGISTER_VECTOR,
	LINE_BYTES = 64,
	PAGE_BYTES = 4096,
};

/* What an instruction does that may take long. */
enum duty { DUTY_PLAIN, DUTY_DIVIDE, DUTY_MULTIPLY, DUTY_FP, DUTY_SYNC };

struct insn_facts {
	bool is_known;
	uint8_t duty; /* enum duty */
	uint16_t latency;
};

/* Of a loop: who changes registers in it, inner loops included. */
struct loop_facts {
	uint8_t writes[GENERAL_REGISTERS];    /* up to 255 */
	uint8_t moves[GENERAL_REGISTERS];     /* those of them that add a constant to it */
	uint64_t farthest[GENERAL_REGISTERS]; /* of these, in bytes, without its sign */
	bool has_calls;
	double entries; /* how often it is entered, relative as frequencies are */
};

enum place_kind {
	PLACE_STACK,
	PLACE_FIXED,   /* one address of the program */
	PLACE_SAME,    /* one address as long as the loop runs */
	PLACE_STRIDE,  /* moves by so many bytes an iteration */
	PLACE_BOUNDED, /* within so many bytes as long as the loop runs */
	PLACE_CHASED,  /* its address was loaded */
	PLACE_ANY,
};

struct place {
	uint8_t kind;	/* enum place_kind */
	uint64_t bytes; /* of STRIDE, without its sign, and of BOUNDED */
	double fresh;	/* share of executions that can be the first in a while to look there */
};

struct suspect {
	uint8_t kind;	  /* enum hp_cause_kind */
	uint32_t culprit; /* instruction, or HP_SCHEDULE_NONE */
	double bound;
	double expected; /* never more than `bound` */
	double weight;	 /* against the others, for what is beyond what is expected */
	double ceiling;	 /* cycles of all executions: more is not expected; INFINITY */
};

/* What ran before an instruction, the latest first, along the way that is taken most. The first is
 * the instruction itself. */
struct path {
	uint32_t insns[LONGEST_PATH];
	uint32_t count;
	bool meets_call; /* what the callee did is not known: nothing is told beyond */
};

/* Of one traversal of an edge, or execution of a block. */
struct redirect {
	double most;	 /* so many can come of a mispredicted branch */
	double expected; /* and are expected to */
	uint32_t branch; /* most of them; HP_SCHEDULE_NONE */
	bool is_known;
};

/* How much of the code has to be another for an arrival. */
enum arrival_unit {
	ARRIVAL_LINE,
	ARRIVAL_PAGE,
	ARRIVAL_BYTE,
	ARRIVAL_UNITS,
};

/* Shares of executions that come from another unit of the code. */
struct arrivals {
	double all;
	double jumps; /* other than by running on */
	bool is_known;
};

struct branch_facts {
	bool is_known;
	bool is_on_data; /* decides by what was loaded from varying places */
};

struct search {
	struct analyzer *analyzer;
	struct hp_analysis *analysis;
	const struct hp_cfg *cfg;
	const struct hp_core *core;
	struct insn_facts *facts;      /* of each instruction */
	struct loop_facts *loops;      /* of each loop, once one was asked for */
	uint32_t *before;	       /* of each block, what most often leads to it … */
	uint32_t *after;	       /* … and follows it; HP_CFG_NONE when that is no block */
	struct branch_facts *branches; /* of the end of each block */
	struct redirect *redirects;    /* into each block, once it was asked for */
	struct arrivals *arrivals;     /* into each block, ARRIVAL_UNITS of each, once asked for */
	double *usual;		       /* culprit_marks.c: of each loop, and of what is in none */
	double *branch_marks;	       /* of the end of each block; -1 before it was asked for */
	uint64_t code_bytes;	       /* whole cache lines of hot blocks */
	uint64_t code_pages;
	uint32_t hot_blocks;
	bool has_frame; /* the frame pointer points into the stack */
	/* The instruction looked at. */
	struct path path;
	double doubt; /* 0 to 1: how much what is found counts for ranking */
	struct suspect found[MOST_SUSPECTS];
	uint32_t found_count;
	bool out_of_memory;
};

static inline const struct hp_analysed_insn *search_insn(const struct search *search, uint32_t at)
{
	return &search->analysis->insns[at];
}

static inline double search_relative(const struct search *search, uint32_t block)
{
	return block < search->cfg->block_count ? search->analysis->blocks[block].frequency.relative
						: search->analysis->entry.relative;
}

/* --- culprit_path.c --- */

/* Allocates and fills `before` and `after`. */
struct hp_error *path_prepare(struct search *search);
void path_find(const struct search *search, uint32_t at, uint32_t longest, struct path *path);
/* Where in the path `number` was written last, before the instruction at `position`; 0 when it was
 * not. */
uint32_t path_writer(const struct search *search, const struct path *path, uint32_t position,
		     unsigned number);
/* The instruction at `position` may have been waited for where the first of the path seems to
 * stall: nothing after it depends on it, and they may all have retired at once. */
bool path_retires_along(const struct search *search, const struct path *path, uint32_t position);
/* What runs next most often; HP_SCHEDULE_NONE when that is not known. */
uint32_t path_next(const struct search *search, uint32_t at);
/* How much less likely it is than the first itself. */
double path_doubt(uint32_t position);

/* --- culprit_place.c --- */

struct place place_of(struct search *search, const struct path *path, uint32_t position,
		      const struct hp_memory *memory);
/* The share of executions that touch another one of these units than the one before. */
double place_crossings(const struct place *place, uint64_t unit_bytes);

/* --- culprit_marks.c --- */

/* Requires cycles and frequencies. */
struct hp_error *marks_prepare(struct search *search);
/* Cycles of all executions that the instruction has above its share of what is around it. */
double mark_at(const struct search *search, uint32_t at);
/* The same of what the branch at the block's end leads to. */
double mark_of_branch(const struct search *search, uint32_t block);

/* --- what each cause says of the first instruction of search->path --- */

void suspect_dcache(struct search *search);
void suspect_dtlb(struct search *search);
void suspect_store_buffer(struct search *search);
void suspect_store_forward(struct search *search);
void suspect_units(struct search *search); /* divider, multiplier, FP latency, dependency */
void suspect_sync(struct search *search);
void suspect_mispredict(struct search *search);
void suspect_icache(struct search *search);
void suspect_itlb(struct search *search);
void suspect_fetch(struct search *search);

const struct insn_facts *facts_of(struct search *search, uint32_t at);
/* The cause that the static stall of this instruction goes by. */
enum hp_cause_kind static_cause(struct search *search, uint32_t at);

/* --- culprit.c --- */

void add_suspect(struct search *search, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected);
/* One that is expected to take no more than `ceiling` cycles of all executions together. */
void add_marked(struct search *search, enum hp_cause_kind kind, uint32_t culprit, double bound,
		double expected, double ceiling);
/* One that is seldom met, but likely to be it where others do not suffice. */
void add_reserve(struct search *search, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected, double weight);

#endif
