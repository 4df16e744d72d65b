/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts about a procedure that are collected before any cause is asked about one of its
 * instructions.
 *
 * Each part is found by the function named beside it, in the order of the parts. After that all of
 * it is const: causes read it, and return what they find (causes.h).
 */
#ifndef HPCPROF_ANALYZE_CULPRIT_FACTS_H
#define HPCPROF_ANALYZE_CULPRIT_FACTS_H

#include <hpcprof/analyze/analysis.h>
#include <hpcprof/isa/duty.h>

enum {
	GENERAL_REGISTERS = HP_REGISTER_VECTOR,
	LINE_BYTES = 64,
	PAGE_BYTES = 4096,
};

struct insn_facts {
	uint8_t duty; /* enum hp_duty */
	uint16_t latency;
};

/* The registers that change within a loop, including its inner loops. */
struct loop_facts {
	uint8_t writes[GENERAL_REGISTERS]; /* instructions that write each register, up to 255 */
	uint8_t moves[GENERAL_REGISTERS];  /* those of them that add a constant to it */
	/* the largest constant added, in bytes, without its sign */
	uint64_t farthest[GENERAL_REGISTERS];
	double entries; /* how often the loop is entered, as a relative frequency */
};

/* For one execution of a block: the mispredicted branches that lead to it. */
struct redirect {
	double most;	 /* upper limit of mispredictions */
	double expected; /* expected mispredictions */
	uint32_t branch; /* the branch with the most mispredictions, or HP_SCHEDULE_NONE */
};

/* The granularity at which an arrival counts as coming from other code. */
enum arrival_unit {
	ARRIVAL_LINE,
	ARRIVAL_PAGE,
	ARRIVAL_BYTE,
	ARRIVAL_UNITS,
};

/* Shares of a block's executions that come from another unit of the code. */
struct arrivals {
	double all;
	double jumps; /* other than by falling through */
};

struct facts {
	const struct hp_analysis *analysis; /* with cycles and frequencies */
	const struct hp_cfg *cfg;
	const struct hp_core *core;
	bool is_skidding; /* samples may lie behind the instruction that they belong to */
	/* path_prepare: of each block, the block that most often precedes it and the one that most
	 * often follows; HP_CFG_NONE where that is no block */
	const uint32_t *before;
	const uint32_t *after;
	/* duty_prepare: of each instruction */
	const struct insn_facts *insns;
	/* place_prepare: of each loop */
	const struct loop_facts *loops;
	bool has_frame; /* the frame pointer points into the stack */
	/* marks_prepare: of each loop, and of the code outside of loops */
	const double *usual;
	const double *branch_marks; /* of the branch at the end of each block */
	/* mispredict_prepare: into each block */
	const struct redirect *redirects;
	/* fetch_prepare: of each block, ARRIVAL_UNITS of them */
	const struct arrivals *arrivals;
	uint64_t code_bytes; /* cache lines of hot blocks, in bytes */
	uint64_t code_pages;
	uint32_t hot_blocks;
	double effort; /* of the analysis of causes; goes into analysis->effort */
};

static inline const struct hp_analysed_insn *facts_insn(const struct facts *facts, uint32_t at)
{
	return &facts->analysis->insns[at];
}

static inline uint32_t facts_last_insn(const struct facts *facts, uint32_t block)
{
	const struct hp_analysed_block *one = &facts->analysis->blocks[block];

	return one->first_insn + one->insn_count - 1;
}

static inline double facts_relative(const struct facts *facts, uint32_t block)
{
	return block < facts->cfg->block_count ? facts->analysis->blocks[block].frequency.relative
					       : facts->analysis->entry.relative;
}

#endif
