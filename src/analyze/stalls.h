/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stall of each instruction, at each of the possible frequencies. */
#ifndef HPCPROF_ANALYZE_STALLS_H
#define HPCPROF_ANALYZE_STALLS_H

#include "culprit/suspects.h"
#include "culprit/timed.h"
#include "passes.h"

struct facts;

enum { MOST_SCENES = 4, STATIC_CAUSES = 4 };

/* One static cause at an instruction, out of the best case, as shares of the instruction's
 * cycles. */
struct static_share {
	uint8_t kind;	  /* enum hp_cause_kind */
	uint32_t culprit; /* instruction, or HP_SCHEDULE_NONE */
	double low;
	double high;
	double likely;
	double now; /* in the current scene */
};

/* What is known of one instruction's stall: its suspects and static causes. */
struct case_file {
	struct suspect *suspects;
	uint32_t count;
	uint32_t static_count;
	double bound; /* sum of the suspects' bounds */
	struct static_share *statics;
};

/* Cycles of each cause and family in a block, a loop or the procedure. */
struct cause_sums {
	struct hp_range kinds[HP_CAUSE_COUNT];
	struct hp_range families[HP_FAMILY_COUNT];
};

/* The timing of each block, and of each loop with its inner loops. */
struct timed_code {
	struct timed *blocks;
	struct timed *loops;
};

/* A scene is one possible set of frequencies for all blocks together. */
struct stalls {
	const struct facts *facts;
	struct hp_analysis *analysis; /* its `stalled`, causes and sheet are filled in */
	struct hp_arena *arena;
	struct hp_arena *scratch;
	struct case_file *files; /* one per instruction */
	unsigned scenes;
	unsigned likely;	   /* index of the likeliest scene */
	double *runs[MOST_SCENES]; /* by scene: executions of each block */
	/* of each block, the share of its best case that does not overlap with other blocks */
	double *overlapped;
	/* by scene: of each block, the share of its excess that is stall */
	double *kept[MOST_SCENES];
	uint8_t *extents; /* of each instruction that was timed: enum extent */
	/* cycles of all executions in the likeliest scene, and those without the instructions that fit
	 * alone */
	struct timed_code whole, rest;
	struct hp_range kinds[HP_CAUSE_COUNT]; /* shares by kind, of the instruction split last */
	struct hp_range families[HP_FAMILY_COUNT]; /* the same, by family of causes */
	struct cause_sums *sums;		   /* of each block */
	size_t cause_room;
};

/* Cycles of one execution that the suspect is expected to take, if the block ran `runs` times. */
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
/* Requires the suspects of all instructions. */
struct hp_error *stalls_choose_scenes(struct stalls *stalls);
struct hp_error *stalls_find_statics(struct stalls *stalls);
/* How much of the static waits of a block with time is certain, as a share. A block that took less time
 * than its best case overlapped with others, so any wait of its schedule may have been hidden. */
double stalls_certain(const struct stalls *stalls, uint32_t block, unsigned scene);
/* Dynamic stall cycles of all executions together. */
double stall_of(const struct stalls *stalls, uint32_t at, unsigned scene);
bool stalls_make_room(struct stalls *stalls, uint32_t more);

/* --- extent.c: how much code the timing of the path is taken from, for one instruction --- */

/* Samples may have moved, and the timing may attribute a wait to another instruction. When the
 * timing of the block or innermost loop as a whole fits better, its shares are used for each
 * instruction: the shares of what is left of it without the instructions that fit alone, if that fits, as
 * what one has cannot be another's, too. */
enum extent { ONE_INSN, ONE_BLOCK, ONE_LOOP };

/* Called before the other functions of this group. */
bool extent_bound_scale(const struct stalls *stalls, struct hp_range *scale);
/* The best case is of one block alone. On the path its waits overlap with those of other blocks: the share
 * of the best case that is left then, without any event. 1: the block was not timed. */
double extent_overlapped(const struct stalls *stalls, uint32_t block);
/* Called before the following functions. The extents are chosen in the likeliest scene. */
struct hp_error *extent_prepare(struct stalls *stalls);
bool extent_is_timed(const struct stalls *stalls, uint32_t at);
/* Parts of one execution in the likeliest scene, … Requires that the instruction was timed. */
void extent_parts(const struct stalls *stalls, uint32_t at, struct timed_parts *parts);
/* … and the same shares of the time in another one. */
void extent_in_scene(const struct stalls *stalls, uint32_t block, unsigned scene,
		     struct timed_parts *parts);

/* Parts of all executions in the likeliest scene, in cycles. False: too little was timed. `*untimed`:
 * measured cycles of blocks that were not. */
bool extent_block_parts(const struct stalls *stalls, uint32_t block, struct timed_parts *parts);
bool extent_loop_parts(const struct stalls *stalls, uint32_t loop, struct timed_parts *parts,
		       double *untimed);

/* --- statics.c: waits of the best case, where the path was timed --- */

/* Limits them to what the timing says. What they lose, units of the block get, if the timing says that. */
void statics_time(struct stalls *stalls, uint32_t at, const struct timed_parts parts[MOST_SCENES]);
/* Subtracts them from the timed parts of one execution, whose cycles these are: only the rest is explained by
 * what is dynamic. */
void statics_take(const struct case_file *file, double cycles,
		  struct timed_part parts[HP_CAUSE_COUNT]);

/* --- sums.c: causes of many instructions together --- */

struct hp_error *sums_begin(struct stalls *stalls);
/* Adds the instruction split last. */
void sums_add(const struct stalls *stalls, uint32_t at);
/* Adds those of the whole procedure to `all`. */
struct hp_error *sums_end(struct stalls *stalls, struct cause_sums *all);

/* --- likely.c: `likely` has an element per suspect of the stall --- */

/* Scales what the suspects are expected to take so that it adds up to the stall. `stretch` multiplies the
 * bounds. */
void likely_split(const struct case_file *file, double runs, double stall, double stretch,
		  double *likely);
/* Each kind gets its timed part, divided among its suspects in the proportion they had. The rest of the stall
 * is divided as before. */
void likely_timed(const struct case_file *file, const struct timed_part parts[HP_CAUSE_COUNT],
		  double stall, double *likely);
/* Gives each kind what it took for sure. The others lose that, in proportion to what they have beyond what is
 * sure of them. A further element, the last, is unexplained. */
void likely_at_least(const struct case_file *file, const struct hp_range kinds[HP_CAUSE_COUNT],
		     double *likely);

/* --- joint.c: causes whose sum is known better than each of them --- */

/* What is known of one execution's stall in one scene, in cycles. */
struct scene_ranges {
	double stall;
	/* What each kind explains at most, by the events counted. UNEXPLAINED: the cycles beyond the
	 * sum of all others. */
	double bounds[HP_CAUSE_COUNT];
	struct hp_range kinds[HP_CAUSE_COUNT];
};

/* What the causes of a family take together. `timed` is the family's part by the timing, NULL if
 * the path was not timed. */
struct hp_range joint_range(enum hp_cause_family family, const struct scene_ranges *scene,
			    const struct timed_part *timed);
/* Chooses the family to tell of the instruction split last. `causes` are its causes, likeliest
 * first; `rest` as for joint_eliminate. `*joint` is NULL if no family has a narrower range than its
 * likeliest cause. */
struct hp_error *joint_choose(const struct stalls *stalls, double rest,
			      const struct hp_cause *causes, uint32_t count,
			      const struct hp_joint_cause **joint);
/* Makes one cause of all of one kind, with the culprit of the first, and narrows it to the share that the
 * timing gives to the kind. Returns how many causes are left. */
uint32_t joint_kinds(const struct hp_range timed[HP_CAUSE_COUNT], struct hp_cause *causes,
		     uint32_t count);
/* Each cause took at least what is left of the instruction's time when all others and the rest have taken
 * the most that they can. `rest`: the share of the slots that instructions take, issue width included, and of
 * what is not among the causes, at most; 1 or more: it is not known. */
void joint_eliminate(double rest, struct hp_cause *causes, uint32_t count);
/* Narrows the range to the timed part, unless they do not overlap. */
void narrow_by_timing(const struct timed_part *part, double stall, struct hp_range *range);

/* --- sheet.c --- */

void sheet_begin(const struct stalls *stalls, double sample_cycles);
/* `sums` are those of the procedure. */
void sheet_end(struct hp_analysis *analysis, const struct cause_sums *sums,
	       const double *most_cycles);
/* Adds an instruction whose stall was split: the shares of its suspects, then the unexplained
 * share. */
void sheet_add(const struct stalls *stalls, uint32_t at, const double *likely);
/* Adds an instruction with too little time to split. */
void sheet_add_rest(const struct stalls *stalls, uint32_t at);

#endif
