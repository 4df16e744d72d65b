/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stall of each instruction, at each of the possible frequencies. */
#ifndef HPCPROF_ANALYZE_STALLS_H
#define HPCPROF_ANALYZE_STALLS_H

#include "culprit/suspects.h"
#include "culprit/timed.h"
#include "passes.h"

struct facts;

enum { MOST_SCENES = 4, STATIC_CAUSES = 4 };

/* What the best case has of one static cause at an instruction: shares of its cycles. */
struct static_share {
	uint8_t kind;	  /* enum hp_cause_kind */
	uint32_t culprit; /* instruction, or HP_SCHEDULE_NONE */
	double low;
	double high;
	double likely;
	double now; /* in the scene being looked at */
};

/* All that is known against the suspects of one instruction. */
struct case_file {
	struct suspect *suspects;
	uint32_t count;
	uint32_t static_count;
	double bound; /* sum over the suspects */
	struct static_share *statics;
};

/* A scene is one of the frequencies that are possible, of all blocks together. */
struct stalls {
	const struct facts *facts;
	struct hp_analysis
		*analysis; /* the instructions' `stalled`, causes and sheet are filled in */
	struct hp_arena *arena;
	struct hp_arena *scratch;
	struct case_file *files; /* of each instruction */
	unsigned scenes;
	unsigned likely;		  /* the scene */
	double *runs[MOST_SCENES];	  /* executions of each block */
	double *kept[MOST_SCENES];	  /* of each block: share of its excess that is stall */
	struct timed *loops[MOST_SCENES]; /* of each loop: cycles of all executions */
	struct hp_range kinds[HP_CAUSE_COUNT]; /* of the instruction split last: shares */
	size_t cause_room;
};

/* Cycles of one execution, when there are so many. */
static inline double suspect_expected(const struct suspect *suspect, double runs)
{
	double most = runs > 0 ? suspect->ceiling / runs : suspect->expected;

	return suspect->expected < most ? suspect->expected : most;
}

static inline double suspect_weight(const struct suspect *suspect, double runs)
{
	double most = runs > 0 ? suspect->ceiling / runs : suspect->weight;

	return suspect->weight < most ? suspect->weight : most;
}

static inline double expected_of(const struct case_file *file, double runs)
{
	double sum = 0;

	for (uint32_t i = 0; i < file->count; i++)
		sum += suspect_expected(&file->suspects[i], runs);
	return sum;
}

struct hp_error *stalls_create(struct analyzer *analyzer, const struct facts *facts,
			       struct stalls *stalls);
/* Requires suspects. */
struct hp_error *stalls_choose_scenes(struct stalls *stalls);
struct hp_error *stalls_find_statics(struct stalls *stalls);
/* Cycles, all executions together. */
double stall_of(const struct stalls *stalls, uint32_t at, unsigned scene);
bool stalls_make_room(struct stalls *stalls, uint32_t more);

/* --- extent.c: how much code the timing of the path is taken from, for one instruction --- */

/* Samples move, and the timing lets another instruction wait: where the block, or the innermost
 * loop, as a whole fits better, its shares hold for each instruction. */
enum extent { ONE_INSN, ONE_BLOCK, ONE_LOOP };

/* Before all others. */
bool extent_bound_scale(const struct stalls *stalls, struct hp_range *scale);
/* Of each scene, before those below. */
struct hp_error *extent_prepare(struct stalls *stalls, unsigned scene);
bool extent_is_timed(const struct stalls *stalls, uint32_t at);
/* Requires that it is timed; in the likely scene. */
enum extent extent_choose(const struct stalls *stalls, uint32_t at);
/* Of one execution. */
void extent_parts(const struct stalls *stalls, uint32_t at, enum extent extent, unsigned scene,
		  struct timed_part parts[HP_CAUSE_COUNT]);

/* --- sheet.c --- */

void sheet_begin(const struct stalls *stalls, double sample_cycles);
void sheet_end(struct hp_analysis *analysis, const double *most_cycles);
/* An instruction whose stall is split: shares of its suspects, unexplained last. */
void sheet_add(const struct stalls *stalls, uint32_t at, const double *likely);
/* One with too little time to ask why. */
void sheet_add_rest(const struct stalls *stalls, uint32_t at);

#endif
