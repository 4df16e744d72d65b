/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The constants that decide what this folder believes and shows, by subject. Sizes that a format or
 * an architecture gives are elsewhere.
 *
 * Above each constant stand its unit, its reason, and the source of its value, or [chosen], which
 * means that no measurement supports it. scripts/sensitivity reads this file, halves and doubles
 * each constant and prints which accuracy figures move; so each is a plain literal on one line.
 * [flat]: with `--quick` (four programs, and kernels of one cause each), neither half nor twice the
 * value moved any figure by half a point. [bound]: it limits work where input is hostile.
 */
#ifndef HPCPROF_ANALYZE_TUNING_H
#define HPCPROF_ANALYZE_TUNING_H

/* --- samples and their skid (gather.c, skid.c, analysis.c) ------------------------------------- */

/* samples of a procedure; fewer tell almost nothing of single blocks: one round and a warning;
 * [chosen] [flat] */
static const double few_procedure_samples = 20;
/* standard deviations of a block's samples, as sqrt(samples + 1); rounds end when moving samples
 * back changes none by more; [chosen] [flat] */
static const double settled_change = 0.2;
/* times the mean of the block's other instructions; what an instruction has beyond is a spike; a
 * wait for memory says nothing of how often the block ran; [chosen] */
static const double spike_start = 3;
/* share of a spike; so much of it does not count as time of the block; [chosen] */
static const double spike_discount = 0.8;

enum {
	/* rounds of estimate and moving samples back, at most; the two settle each other; [chosen] */
	MOST_ROUNDS = 3,
};

/* --- which way blocks go, by the shape of the code (direction.c, flow_terms.c, flow_apart.c) --- */

/* logarithm of odds, of an edge that leaves its loop; loops are stayed in (Ball and Larus 1993);
 * fitted to the tuning programs of scripts/frequency-accuracy */
static const double direction_leaves_loop = -1.4;
/* logarithm of odds, of an edge to what ends the program; fitted likewise */
static const double direction_never_returns = -3;
/* logarithm of odds, of an edge to a landing pad of exceptions; fitted likewise */
static const double direction_landing = -6;
/* logarithm of odds, of an edge that leaves the procedure in a way it should not; fitted likewise */
static const double direction_escape = -6;
/* logarithm of odds, of an entry at a block other than the first; fitted likewise */
static const double direction_orphan = -3;
/* deviation of a logarithm of odds; branches are far more certain of themselves than their shape
 * tells; fitted likewise */
static const double direction_deviation = 3;
/* degrees of freedom of Student's distribution; some branches never go the way they should;
 * [chosen] */
static const double direction_freedom = 4;

/* --- edges that the graph lacks (flow_terms.c, flow_begin.c) ----------------------------------- */

/* logarithm of a share of a block's executions; that enter it by a way the graph does not show,
 * where edges are missing: as uncertain as directions; [chosen] */
static const double slack_log = -4;

/* --- time (stretch.c, flow_terms.c) ------------------------------------------------------------ */

/* logarithm of cycles over the best case, of a whole procedure; 1.8 times; [chosen] [flat] */
static const double stretch_log = 0.6;
/* deviation of that logarithm; [chosen] [flat] */
static const double stretch_deviation = 1.0;
/* deviation of the logarithm of one block's cycles over the best case, beside the procedure's;
 * fitted to the tuning programs of scripts/frequency-accuracy */
static const double block_stretch_deviation = 0.8;
/* degrees of freedom of Student's distribution; a block may be far slower than the rest; [chosen] */
static const double time_freedom = 6;

/* --- evidence that counts (flow_terms.c, flow.c) ----------------------------------------------- */

/* share of a count; exact counts are given this deviation, since the solve needs a width; [chosen] [flat] */
static const double exact_deviation = 1e-3;
/* degrees of freedom of Student's distribution; counts may be wrong altogether, and then other
 * counts win; [chosen] [flat] */
static const double count_freedom = 2;
/* degrees of freedom of Student's distribution, of counted outcomes of branches; they are hardly
 * ever outliers: with 4 the solve ended where it disbelieved true ones (scripts/frequency-accuracy);
 * [chosen] among larger ones */
static const double outcome_freedom = 20;
/* counts, or samples; added to what was counted of each way, and shared by all that was not seen;
 * Jeffreys' prior */
static const double unseen_count = 0.5;
/* deviation of a logarithm; of a level that nothing tells, which then matters only against the ridge
 * of the solve, and at most of what counts to each other are off by together; [chosen] [flat] */
static const double unknown_level_deviation = 10;

/* --- the solve (flow_begin.c, flow_solve.c, flow.c, sparse.c) --------------------------------- */

/* iterations of a loop before any sweep; where the solve begins; [chosen] */
static const double first_iterations = 8;
/* times the entry, or the largest count; nothing begins above: loops in each other would go beyond
 * all numbers, and the solve needs many steps back from there. No program that was looked at gets
 * to 1e8; [bound] (tests/analyze/test_hostile) */
static const double most_often = 1e10;
/* curvature, of each unknown; almost nothing, for those that nothing is known of; [chosen] [flat] */
static const double ridge = 1e-4;
/* pivot, of each balance; its multiplier needs one; [chosen] */
static const double slackness = 1e-8;
/* share of a frequency that is left after one step, at least; frequencies stay positive; [chosen] [flat] */
static const double least_left = 0.1;
/* times a frequency, by which one step raises it at most; a step is good only near its beginning;
 * [chosen] [flat] */
static const double most_grown = 8;
/* multiplications of one factor, at most; more leave no steps worth the name; [chosen] */
static const double most_factor_work = 3e7;
/* multiplications of all steps of a procedure; a second or so, which is eight hundred steps of a
 * procedure of 5,000 blocks, which needs some forty; [chosen] */
static const double most_effort = 1e9;
/* share of a frequency; a step that changes none by more is the last; [chosen] */
static const double step_tolerance = 1e-6;
/* logarithm of the likelihood; a step that is to gain less is the last; [chosen] [flat] */
static const double gain_tolerance = 1e-5;
/* the same, of rounds before the last, which only say which way samples came, and of few samples,
 * with which nothing is certain anyway; [chosen] [flat] */
static const double rough_tolerance = 1e-2;
/* multiplications that an exponential and a logarithm take, and a look at a term, which has one;
 * [chosen] near their time */
static const double exp_effort = 15;
/* multiplications that reaching one entry of the factor takes; [chosen] near its time */
static const double entry_effort = 10;
/* steps; a system with room for fewer is not even put in order; [chosen] */
static const double fewest_steps = 100;
/* times most_factor_work; what AMD says of the work is too much for rows that it takes for dense; beyond
 * this it is too much in any case, and need not be counted exactly; [chosen] */
static const double too_dense = 4;

enum {
	/* sweeps of the beginning over the graph, each as directions say; [chosen] */
	FIRST_SWEEPS = 12,
	/* steps, at most; the loops of lua and python3 take some 500, if outliers are doubted; [chosen] */
	MOST_ITERATIONS = 1000,
	/* halvings of one step, at most; 2^-30 of a step is none; [chosen] [flat] */
	MOST_CUTS = 30,
	/* steps in which all counts are believed; then outliers may be doubted; the loop of python3 meets
	 * its counts in 100 to 300; [chosen] */
	PATIENCE = 400,
};

/* deviations of a count's own; beyond is a contradiction; [chosen] */
static const double contradiction_deviations = 5;
/* logarithm of a count; nearer is no contradiction, however certain the count; [chosen] */
static const double least_contradiction = 0.02;
/* logarithm of all instructions of the procedure, estimated over counted, beside what counts are off
 * by together; further away the counts win: estimates have been hundreds of times off; [chosen] */
static const double far_from_counts = 0.2;
/* variance of a logarithm; less is what rounding has left of a factor nearly singular; [chosen] */
static const double least_variance = 1e-10;

/* --- classes estimated one by one, where the solve takes too long (flow_apart.c) --------------- */

/* deviation of a logarithm, at least, of what was not counted: nothing checks one class's time
 * against another's; [chosen] */
static const double apart_deviation = 0.3;

/* --- intervals and confidence (frequency.c) ---------------------------------------------------- */

/* times a deviation; the model leaves things out: with this 90 % intervals hold the truth of 93 in
 * 100 samples of the tuning programs of scripts/frequency-accuracy, as other programs hold more
 * surprises */
static const double time_inflation = 1.6;
/* the same, with counts of windows; they tell themselves how much they vary; scripts/
 * frequency-accuracy --absolute prints how many intervals hold */
static const double counted_inflation = 1.0;
/* deviation of a logarithm, at most, for high confidence: within 10 % in 95 cases of 100, log(1.1) / 1.96;
 * scripts/frequency-accuracy --absolute prints how many of what is marked are */
static const double high_deviation = 0.0486;
/* the same, for medium confidence: within 10 % in two cases of three */
static const double medium_deviation = 0.09;
/* share of the cycles; the blocks that bound the scale most tightly and have so much do not count:
 * tables and relative frequencies have errors; [chosen] [flat] */
static const double tightest_share = 0.05;
/* times the cycles, of the best case at the estimated frequencies; more is a problem that is named;
 * [chosen] */
static const double too_fast = 1.25;
/* standard deviations of the samples, added to the cycles before that is asked; [chosen] */
static const double too_fast_deviations = 3;

/* --- DCPI's own estimator (dcpi.c) ------------------------------------------------------------- */

/* largest over smallest ratio of a cluster; Anderson et al. 1997, 6.1.3: its example */
static const double dcpi_cluster_ratio = 1.5;
/* share of the class's issue points in a cluster, at least; 6.1.3 has a "minimum fraction" without a
 * value; [chosen] */
static const double dcpi_least_share = 0.25;
/* samples of a class; with fewer all are taken together; [chosen] */
static const double dcpi_few_samples = 40;
/* cycles of one execution; more is 6.1.3's "unreasonably large stall", which has no value there;
 * [chosen] */
static const double dcpi_longest_stall = 2000;
/* largest over smallest ratio of a cluster, at most, for high confidence; 6.1.5 names the criterion
 * without a value; [chosen] */
static const double dcpi_good_spread = 1.2;
/* deviation of the logarithm of a frequency that is high in confidence; 6.1.5 has no values;
 * [chosen] */
static const double dcpi_high_deviation = 0.02;
/* the same, of a wider cluster; [chosen] */
static const double dcpi_medium_deviation = 0.05;
/* the same, of a cluster with few points; [chosen] */
static const double dcpi_low_deviation = 0.25;
/* the same, of what was propagated or has few samples; [chosen] */
static const double dcpi_propagated_deviation = 0.5;

enum {
	/* issue points in a cluster, at least, for confidence; 6.1.5 has no value; [chosen] */
	DCPI_GOOD_POINTS = 4,
};

/* --- the best case (best_case.c, bounds.c, schedule.c, simulate.c, simulated.c, connect.c) ------- */

enum {
	/* iterations counted, after as many to begin with; exact where the recurrence's period
	 * divides it, as 1 to 6 do; [chosen] */
	COUNTED_ITERATIONS = 60,
	/* instructions of one simulation, all iterations; milliseconds; [chosen] */
	LARGEST_RUN = 60000,
	/* bytes of schedules that are kept for regions that are alike; [bound] */
	SIMULATED_MOST_BYTES = 8388608,
	/* instructions of a region; [bound] */
	MOST_SCHEDULED = 1048576,
	/* sets of units, and different ones of micro-ops, that the bound by units looks at; [bound] */
	MOST_PORT_SETS = 4096,
	MOST_PORT_KINDS = 128,
};

/* --- splitting stalls among suspects (culprit.c, likely.c, stalls.c) --------------------------- */

/* samples; of an instruction with fewer no cause is asked; [chosen] */
static const double least_samples_asked = 0.5;
/* samples of an instruction; with fewer it is chance which of several neighbours has them; [chosen] */
static const double few_insn_samples = 4;
/* share of an instruction's cycles; causes with less are not kept; [chosen] */
static const double least_cause_share = 0.002;
/* cycles of one execution; weight of a suspect that nothing speaks for, which takes what is left
 * when all others are at their bounds; [chosen] */
static const double least_weight = 1e-6;
/* standard deviations of an instruction's samples; bounds give way to as much: the mean may be less
 * than what was seen; [chosen] */
static const double slack_deviations = 2;
/* times a bound, at most, that it gives way to chance; [chosen] */
static const double most_slack = 1e6;
/* share of what is expected; of other causes of an instruction that certainly takes its time: an
 * atomic one or a fence; [chosen] */
static const double guess_beside_sync = 0.2;
/* weight; of what is found for the instruction after: a few samples have no skid, and were moved
 * back too far; [chosen] */
static const double no_skid_doubt = 0.25;

/* --- what ran before, and where operands point (culprit/path.c, culprit/place.c, best_case.c) - */

/* share of an instruction's samples; so many may be recorded further behind it than the skid, at another one
 * that retires with it: "later" beside "+1" of hpcprof doctor --calibrate-skid (Golden Cove: 18 % of 82 %) */
static const double spread_share = 0.2;
/* weight; of what retired along with the instruction, one place before it; [chosen] */
static const double second_doubt = 0.4;
/* the same, of those further before; [chosen] */
static const double later_doubt = 0.15;

enum {
	/* instructions, before a stalled one, that are looked back at, and of a loop that is
	 * scheduled whole: no reorder buffer of isa/machine/cores.c holds more */
	LONGEST_PATH = 512,
	/* writers of a register, one before the other, that are asked how an address is made;
	 * [chosen] */
	LONGEST_CHAIN = 6,
	/* loops around each other that an address is followed through; a bound: deeper ones are not
	 * written by hand */
	DEEPEST_LOOP = 64,
	/* instructions of a procedure that may set up the frame pointer, after those that save
	 * registers and make a landing pad of branches; [chosen] */
	PROLOGUE_INSNS = 8,
};

/* --- what was simulated (culprit/witness.c, culprit/timed.c, extent.c, stalls.c) -------------- */

/* A part of the cycles that the timing gives to a cause is off by so much of itself, … */
static const double timing_error = 0.15; /* share; scripts/cause-accuracy --ablations */
/* … and by so many cycles per execution, which the samples' place, too, puts on a neighbour. */
static const double timing_noise = 0.2; /* cycles; scripts/cause-accuracy --ablations */
/* More code than one instruction has other waits, too, and has to fit better by this factor. */
static const double clearly_better = 0.75; /* misfits; scripts/culprit-accuracy --windows */
/* The timing of a whole procedure is off by so much. */
static const double whole_error = 0.35; /* share; scripts/cause-accuracy --time */
/* Common factors of executions that are asked how well they fit go so far. */
static const double widest_scale = 2; /* times half of the 90 % interval [chosen] */
enum { SCALES = 81 };		      /* factors that are asked [chosen] */
/* Executions of an instruction below which simulation says too little to clear anything. What it says of
 * few is uncertain, which intervals of events and chance_of_events in culprit/timed.c allow for. */
static const double least_simulated_runs = 20; /* executions [chosen] */
/* A miss that the next level serves takes so many times its latency at most, where many come at once; with
 * 1.5 the truth of chase-l2 is out of its range. */
static const double l2_margin = 2; /* times; scripts/cause-accuracy --ablations */
/* The same of a miss that memory serves: the traffic of other programs makes it wait. */
static const double miss_margin = 2; /* times [chosen] */
/* A page walk takes so many times the table's cycles at most, on average, where its entry is cached: a
 * guest's walks are in two dimensions, most of whose steps are cached by the TLB. */
static const double seen_walk_margin = 4; /* times [chosen] */
/* The same where the walk was timed, which took as long as walks did while recording: its page tables are
 * others than those of the measurement. */
static const double timed_walk_margin = 2; /* times [chosen] */
/* The core's predictor may miss so many times as often as ours. */
static const double predictor_margin = 1.5; /* times [chosen] */

/* --- mispredicted branches (culprit/mispredict.c, culprit/marks.c) ---------------------------- */

/* times the core's mispredict cycles, at most; until the branch is known to have gone the other way
 * nothing counts: the table's figure is from there on; [chosen] */
static const double resolution_margin = 1.5;
/* mispredictions of one call or return; [chosen] */
static const double mispredicts_of_call = 0.01;
/* mispredictions, times the less frequent way of a branch that decides on data; half of what always
 * guessing the other way would miss; [chosen] */
static const double mispredicts_on_data = 0.5;
/* the same, of other branches: exits of loops and the like are foreseen more often; [chosen] */
static const double mispredicts_by_shape = 0.1;
/* weight; of instructions behind a block's first as those that a misprediction shows on; [chosen] */
static const double later_insn_doubt = 0.3;
/* share of a latency that shows after a misprediction, since the core is empty; [chosen] */
static const double drained_share = 0.5;
/* times the mean of the loop; what has more is left out of the mean: a load that misses says nothing
 * of its neighbours; [chosen] */
static const double far_above_mean = 3;
/* times the mean of the loop, that an instruction may have without a mark: what retires together has
 * its samples on one of them; [chosen] */
static const double uneven_retirement = 2;

enum {
	/* instructions of a block that a misprediction shows on; [chosen] */
	MARKED = 2,
	/* instructions after a branch that see the core empty; [chosen] */
	DRAINED = 48,
	/* writers of a register, one before the other, that are asked where a value comes from;
	 * [chosen] */
	LOADED_STEPS = 5,
};

/* --- instruction cache and TLB, fetch (culprit/fetch.c, memory.c, store.c) --------------------- */

enum {
	/* bytes; first-level caches of code and of data; the known cores have as much or more;
	 * [chosen] */
	FIRST_CACHE = 32768,
	/* bytes; second-level caches; the known cores have half to twice as much; [chosen] */
	SECOND_CACHE = 1048576,
	/* pages; first-level TLBs; the known cores have as many or more; [chosen] */
	FIRST_PAGES = 64,
	/* pages; second-level TLBs; the known cores have as many or more; [chosen] */
	SECOND_PAGES = 1024,
	/* bytes of code; what micro-op caches are sure to hold; [chosen] */
	MICRO_OP_CACHE = 24576,
	/* branches that predictors of targets hold for sure; [chosen] */
	KNOWN_BRANCHES = 4096,
};

/* times the hottest block's executions; code of blocks that run less is not counted as code that
 * caches have to hold; [chosen] */
static const double hot_block = 1e-3;
/* share of arrivals; that miss the first level although the code fits; [chosen] */
static const double cold_share = 0.005;
/* weight; of a miss where code runs on: the next line is on its way already; [chosen] */
static const double next_line_doubt = 0.3;
/* page walks of one arrival, at most; [chosen] */
static const double most_code_walks = 4;
/* cycles of a taken jump, at most; what is fetched in a cycle ends there; [chosen] */
static const double most_jump_cycles = 2;
/* cycles of a taken jump; mostly its target is known in time; [chosen] */
static const double jump_cycles = 0.05;
/* share of the jumps that predictors do not hold, found only when decoded; [chosen] */
static const double strange_jumps = 0.3;
/* share of the decoding that shows where the micro-op cache does not hold the code; [chosen] */
static const double decode_share = 0.1;
/* bytes of code that are decoded in one cycle; the least of x86 cores; [chosen] */
static const double decode_bytes = 16;

/* --- data cache and TLB (culprit/memory.c) ---------------------------------------------------- */

/* times the table's cycles to memory, at most; the table is of an idle machine, under load memory is
 * much slower; [chosen] */
static const double memory_margin = 32;
/* times the table's cycles of a page walk, at most, as a guest's are walked in two dimensions, and
 * reads from memory on top, as page tables may be there, too; [chosen] */
static const double walk_margin = 8;
/* times the cycles of the second level, or of a page walk, expected of a load from one address;
 * [chosen] */
static const double miss_at_same = 0.2;
/* times the cycles of the second level, expected of a load that moves by a constant, which
 * prefetchers see, and from a table that the second level holds; [chosen] */
static const double miss_foreseen = 0.5;
/* lines, or pages, of one repeated instruction; what is expected of it; [chosen] */
static const double repeated_places = 4;
/* times; what the TLB is expected to take where data may be anywhere is the cycles of the second
 * level over this: most data have few pages, so it is less than of the cache; [chosen] */
static const double walk_anywhere_divisor = 3;
/* share of a page walk that shows, of a store; [chosen] */
static const double walk_of_store = 0.2;

enum {
	/* instructions back that a load from the same line is looked for; [chosen] */
	NEAR_LOADS = 48,
};

/* --- stores (culprit/store.c, connect.c) ------------------------------------------------------ */

/* times the cycles of the second level, expected of a store that misses; [chosen] */
static const double store_miss = 0.6;
/* weight; of stores beyond those that retire along: it is the next in line that waits; [chosen] */
static const double distant_store_doubt = 0.1;
/* share of the cycles of a blocked load that is expected to show; [chosen] */
static const double blocked_share = 0.6;

enum {
	/* stores back that are looked at; no store buffer is longer; [chosen] */
	STORES_LOOKED_AT = 64,
};

/* --- units and fences (culprit/units.c, culprit/witness.c, culprit/timed.c) --------------------- */

/* times the table's latency of a division, at most; large operands take longer than the small ones
 * that tables are of; [chosen] */
static const double divide_margin = 3;
/* share of a latency that is expected beyond the best case; [chosen] */
static const double latency_shows = 0.05;
/* share of that, of plain instructions; [chosen] */
static const double plain_doubt = 0.2;
/* share of a latency; weight where it reads what was made shortly before and others do not suffice;
 * [chosen] */
static const double chained_latency = 0.5;
/* times the table's cycles to memory, at most, of an atomic instruction or a fence: another core may
 * have the line, a fence waits for stores, some leave the guest; [chosen] */
static const double most_sync_reads = 100;

enum {
	/* instructions back that make a chain; [chosen] */
	NEAR_CHAIN = 12,
};

/* --- stacks of cycles and other cores (cpi_stack.c, range_sum.c, what_if.c) --------------------- */

/* times the lower end; executions whose interval is wider do not say how long they take, shares of the
 * path do; [chosen] */
static const double widest_executions = 2.5;
/* share of a part of a stack; what it is off by where the path was timed; scripts/cause-accuracy
 * --time */
static const double stack_error = 0.15;
/* of the variance of what procedures are off by, in a component or cause, the part that they have in common,
 * as a cost that is wrong is wrong in all; [chosen]. Of their cycles as a whole they have none, since
 * penalties are fitted to the sum: scripts/cause-accuracy --time prints it */
static const double shared_error = 0.25;
enum {
	/* in which what was predicted beyond the measured cycles is taken off; [chosen] */
	EXCESS_ROUNDS = 8,
};

/* share of the measured cycles; where the same model times both cores its errors are alike, but for
 * this; [chosen] */
static const double resize_error = 0.02;
/* times the latency; memory is not asked to be slower than this; [chosen], a guard */
static const double most_latency_factor = 10;

/* --- penalties fitted to parts of windows (penalties.c) ------------------------------------------ */

/* share of a penalty; how far it is from the core's table; scripts/stack-accuracy --windows */
static const double penalty_prior = 0.5;
/* the same of the base, which parts hardly tell from data of unknown place: code without misses takes what
 * the table of a measured core says within about this share; scripts/cause-accuracy --time */
static const double base_prior = 0.2;
/* share of a part's cycles; how far penalties that are right leave it; the same */
static const double part_noise = 0.1;
/* degrees of Student's distribution of these; a few parts are of data that nothing was simulated of;
 * [chosen] */
static const double part_freedom = 3;

/* times the table's, at least; [chosen], a guard */
static const double least_penalty = 0.1;
/* times the table's, at most, of the base: what takes longer is nothing that the models know of, and nothing
 * was fitted above 1.4; [chosen], a guard */
static const double most_base = 1.5;

enum {
	/* of Newton's method; [chosen] */
	PENALTY_ROUNDS = 12,
	/* parts of a single window, at least, for its penalties to be fitted; [chosen] */
	PENALTY_PARTS = 3,
	/* sets that are left out one after the other, at most, which takes time; [chosen] */
	PENALTY_FOLDS = 32,
};

#endif
