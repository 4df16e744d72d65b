/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	frequencies and the scale; cycles and best cases of blocks and instructions
 * provides	causes, of each instruction with at least one sample's time, and the sheet
 *
 * DCPI section 6.3. A block's stall depends on how often it was executed, which is known only within
 * an interval, a wide one without evidence that counts. So stalls are split in several scenes, each
 * with frequencies that the intervals allow (stalls.c). The range of a cause is the union over the
 * scenes; one scene is the likely one.
 *
 * In one scene, the range of a suspect goes from what the bounds of all others leave unexplained to
 * its own bound. Its likely share is its expected cycles, scaled so that all shares add up to the
 * stall, within the bounds. Cycles beyond the sum of all bounds are unexplained.
 */
#include "stalls.h"
#include "tuning.h"

#include <stdlib.h>
#include <string.h>

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Its figures are as the cause sees them. */
static void add(struct search *search, struct suspect added)
{
	enum hp_cause_kind kind = (enum hp_cause_kind)added.kind;
	uint32_t culprit = added.culprit;
	struct suspect *least = NULL;

	if (!(added.bound > 0))
		return;
	added.expected = smaller(added.bound, larger(0, added.expected)) * search->doubt;
	added.weight = larger(added.expected, added.weight * search->doubt);
	for (uint32_t i = 0; i < search->found_count; i++) {
		struct suspect *one = &search->found[i];

		if (one->kind == kind && one->culprit == culprit) {
			one->bound = larger(one->bound, added.bound);
			one->expected = larger(one->expected, added.expected);
			one->weight = larger(one->weight, added.weight);
			one->ceiling = larger(one->ceiling, added.ceiling);
			return;
		}
		if (one->kind == kind && (!least || one->weight < least->weight))
			least = one;
	}
	if (search->found_count < MOST_SUSPECTS) {
		search->found[search->found_count++] = added;
		return;
	}
	/* More than there is room for: together with another of its kind. */
	if (!least)
		return;
	least->bound += added.bound;
	if (added.weight > least->weight)
		least->culprit = culprit;
	least->expected += added.expected;
	least->weight += added.weight;
	least->ceiling += added.ceiling;
}

void add_reserve(struct search *search, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected, double weight)
{
	add(search, (struct suspect){ .kind = (uint8_t)kind,
				      .culprit = culprit,
				      .bound = bound,
				      .expected = expected,
				      .weight = weight,
				      .ceiling = INFINITY });
}

void add_suspect(struct search *search, enum hp_cause_kind kind, uint32_t culprit, double bound,
		 double expected)
{
	add_reserve(search, kind, culprit, bound, expected, expected);
}

void add_marked(struct search *search, enum hp_cause_kind kind, uint32_t culprit, double bound,
		double expected, double ceiling)
{
	add(search, (struct suspect){ .kind = (uint8_t)kind,
				      .culprit = culprit,
				      .bound = bound,
				      .expected = expected,
				      .weight = expected,
				      .ceiling = ceiling });
}

static struct hp_error *prepare(struct search *search)
{
	struct hp_analysis *analysis = search->analysis;
	const struct hp_cfg *cfg = search->cfg;
	struct hp_arena *arena = search->analyzer->arena;
	uint64_t line = UINT64_MAX;
	uint64_t page = UINT64_MAX;

	search->facts = hp_arena_array(arena, analysis->insn_count + 1, sizeof(*search->facts));
	search->branches = hp_arena_array(arena, cfg->block_count + 1, sizeof(*search->branches));
	search->redirects = hp_arena_array(arena, cfg->block_count + 1, sizeof(*search->redirects));
	search->arrivals = hp_arena_array(arena, (size_t)cfg->block_count * ARRIVAL_UNITS + 1,
					  sizeof(*search->arrivals));
	if (!search->facts || !search->branches || !search->redirects || !search->arrivals)
		return hp_error_create_no_memory();
	/* Blocks are in order of their addresses. */
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		uint64_t first = cfg->blocks[i].address.value;
		uint64_t last = first + cfg->blocks[i].bytes - (cfg->blocks[i].bytes > 0);

		if (!(search_relative(search, i) > hot_block))
			continue;
		search->hot_blocks++;
		search->code_bytes +=
			(last / LINE_BYTES - first / LINE_BYTES + (first / LINE_BYTES != line)) *
			LINE_BYTES;
		search->code_pages +=
			last / PAGE_BYTES - first / PAGE_BYTES + (first / PAGE_BYTES != page);
		line = last / LINE_BYTES;
		page = last / PAGE_BYTES;
	}
	for (uint32_t i = 0; i < analysis->insn_count && i < 8; i++) {
		const struct hp_insn *insn = analysis->insns[i].insn;

		search->has_frame |= insn->operation == HP_OPERATION_MOVE &&
				     insn->operand_count >= 2 &&
				     insn->operands[0].type == HP_OPERAND_REGISTER &&
				     insn->operands[1].type == HP_OPERAND_REGISTER &&
				     insn->operands[0].number == cfg->isa->frame_pointer &&
				     insn->operands[1].number == cfg->isa->stack_pointer;
	}
	return NULL;
}

static void ask_all(struct search *search, uint32_t at, double doubt)
{
	search->doubt = doubt;
	path_find(search, at, search->core->reorder_slots, &search->path);
	suspect_dcache(search);
	suspect_dtlb(search);
	suspect_store_buffer(search);
	suspect_store_forward(search);
	suspect_units(search);
	suspect_sync(search);
	suspect_mispredict(search);
	suspect_icache(search);
	suspect_itlb(search);
	suspect_fetch(search);
}

/* That an atomic instruction or a fence takes its time is certain; that it also misses a cache is a
 * guess, for which there is less need. */
static void prefer_certain(struct search *search)
{
	for (uint32_t i = 0; i < search->found_count; i++) {
		struct suspect *one = &search->found[i];

		if (one->culprit == HP_SCHEDULE_NONE || one->kind == HP_CAUSE_SYNC ||
		    facts_of(search, one->culprit)->duty != DUTY_SYNC)
			continue;
		one->expected *= guess_beside_sync;
		one->weight *= guess_beside_sync;
	}
}

static struct hp_error *question(struct search *search, struct stalls *stalls, uint32_t at)
{
	struct case_file *file = &stalls->files[at];
	uint32_t next = path_next(search, at);

	search->found_count = 0;
	if (next != HP_SCHEDULE_NONE && search->analyzer->options->skid_instructions > 0)
		ask_all(search, next, no_skid_doubt);
	ask_all(search, at, 1);
	prefer_certain(search);
	if (search->out_of_memory)
		return hp_error_create_no_memory();
	file->count = search->found_count;
	file->suspects =
		hp_arena_array(search->analyzer->arena, file->count + 1, sizeof(*file->suspects));
	if (!file->suspects)
		return hp_error_create_no_memory();
	memcpy(file->suspects, search->found, file->count * sizeof(*file->suspects));
	for (uint32_t i = 0; i < file->count; i++)
		file->bound += file->suspects[i].bound;
	return NULL;
}

/* --- splitting a stall -------------------------------------------------------------------------
 */

/* What is expected, made to add up to the stall. `stretch` is of the bounds. */
static void split_likely(const struct case_file *file, double runs, double stall, double stretch,
			 double *likely)
{
	double given = expected_of(file, runs);

	for (uint32_t i = 0; i < file->count; i++)
		likely[i] = suspect_expected(&file->suspects[i], runs);
	if (given >= stall) {
		for (uint32_t i = 0; i < file->count && given > 0; i++)
			likely[i] *= stall / given;
		return;
	}
	/* Those that reach their bounds leave the rest to the others. */
	for (unsigned round = 0; round < MOST_SUSPECTS && stall - given > 1e-9 * stall; round++) {
		double weights = 0;
		double missing = stall - given;

		for (uint32_t i = 0; i < file->count; i++)
			if (likely[i] < file->suspects[i].bound * stretch)
				weights += suspect_weight(&file->suspects[i], runs) + least_weight;
		if (weights <= 0)
			return;
		for (uint32_t i = 0; i < file->count; i++) {
			double bound = file->suspects[i].bound * stretch;
			double weight = suspect_weight(&file->suspects[i], runs) + least_weight;
			double more = missing * weight / weights;

			if (likely[i] >= bound)
				continue;
			more = smaller(more, bound - likely[i]);
			likely[i] += more;
			given += more;
		}
	}
}

/* How far the bounds give way to chance: of the few samples at one of many instructions, the mean
 * may be much less than what was seen, and more elsewhere. At least 1. */
static double slack_of(const struct hp_analysed_insn *insn)
{
	double samples = insn->moved;
	double least = samples - 1 - slack_deviations * sqrt(samples);

	return least > samples / most_slack ? samples / least : most_slack;
}

struct split {
	double low[MOST_SUSPECTS + 1]; /* shares of the instruction's cycles; last: unexplained */
	double high[MOST_SUSPECTS + 1];
	double likely[MOST_SUSPECTS + 1];
};

static void split_stall(struct search *search, struct stalls *stalls, uint32_t at,
			struct split *split)
{
	const struct hp_analysed_insn *insn = search_insn(search, at);
	const struct case_file *file = &stalls->files[at];
	double kind_low[HP_CAUSE_COUNT];
	double kind_high[HP_CAUSE_COUNT];

	memset(split, 0, sizeof(*split));
	for (uint32_t i = 0; i <= file->count; i++)
		split->low[i] = 1;
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++)
		stalls->kinds[k] = (struct hp_range){ .low = 1, .high = 0 };
	for (unsigned scene = 0; scene < stalls->scenes; scene++) {
		double runs = stalls->runs[scene][insn->block];
		double stall = stall_of(search, stalls, at, scene);
		double each = runs > 0 ? stall / runs : 0; /* of one execution */
		double share = runs / insn->cycles;
		double likely[MOST_SUSPECTS] = { 0 };
		double bounds[HP_CAUSE_COUNT] = { 0 };
		double slack = slack_of(insn);
		double most = file->bound > 0 ? each / file->bound : 1;
		/* Only as far as they have to. */
		double stretch = larger(1, smaller(slack, most));
		double all = file->bound * slack;
		double left = larger(0, each - file->bound * stretch);

		if (scene == stalls->likely)
			split_likely(file, runs, each, stretch, likely);
		for (uint32_t i = 0; i < file->count; i++) {
			double bound = file->suspects[i].bound * slack;

			bounds[file->suspects[i].kind] += bound;
			split->low[i] =
				smaller(split->low[i],
					share * larger(0, smaller(bound, each - (all - bound))));
			split->high[i] = larger(split->high[i], share * smaller(each, bound));
			split->likely[i] += share * likely[i];
		}
		bounds[HP_CAUSE_UNEXPLAINED] = left;
		split->low[file->count] = smaller(split->low[file->count], share * left);
		split->high[file->count] = larger(split->high[file->count], share * left);
		if (scene == stalls->likely)
			split->likely[file->count] = share * left;
		for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
			double others = all - bounds[k];

			kind_low[k] = k == HP_CAUSE_UNEXPLAINED
					      ? left
					      : larger(0, smaller(bounds[k], each - others));
			kind_high[k] = smaller(each, bounds[k]);
			stalls->kinds[k].low = smaller(stalls->kinds[k].low, share * kind_low[k]);
			stalls->kinds[k].high = larger(stalls->kinds[k].high, share * kind_high[k]);
		}
	}
}

/* --- what is written down ----------------------------------------------------------------------
 */

enum { MOST_CAUSES = MOST_SUSPECTS + 1 + STATIC_CAUSES };

static int by_likelihood(const void *a, const void *b)
{
	const struct hp_cause *left = a;
	const struct hp_cause *right = b;

	if (left->likely != right->likely)
		return left->likely < right->likely ? 1 : -1;
	if (left->high != right->high)
		return left->high < right->high ? 1 : -1;
	return (left->kind > right->kind) - (left->kind < right->kind);
}

/* Rounding must not leave 0 to 1. */
static struct hp_cause cause_from(const struct search *search, uint8_t kind, uint32_t culprit,
				  const double shares[3])
{
	struct hp_cause cause = { .kind = kind };

	cause.low = smaller(1, larger(0, shares[0]));
	cause.high = smaller(1, larger(cause.low, shares[1]));
	cause.likely = smaller(cause.high, larger(cause.low, shares[2]));
	if (culprit != HP_SCHEDULE_NONE) {
		cause.has_culprit = true;
		cause.culprit = (hp_link_address){ search_insn(search, culprit)->insn->address };
	}
	return cause;
}

static struct hp_error *write_down(struct search *search, struct stalls *stalls, uint32_t at,
				   const struct split *split)
{
	struct hp_analysis *analysis = search->analysis;
	struct hp_analysed_insn *insn = &analysis->insns[at];
	const struct case_file *file = &stalls->files[at];
	struct hp_cause causes[MOST_CAUSES];
	uint32_t count = 0;

	for (uint32_t i = 0; i <= file->count; i++) {
		bool is_rest = i == file->count;
		const double shares[3] = { split->low[i], split->high[i], split->likely[i] };

		if (split->high[i] < least_cause_share)
			continue;
		causes[count++] =
			cause_from(search, is_rest ? HP_CAUSE_UNEXPLAINED : file->suspects[i].kind,
				   is_rest ? HP_SCHEDULE_NONE : file->suspects[i].culprit, shares);
	}
	for (uint32_t i = 0; i < file->static_count; i++) {
		const struct static_share *one = &file->statics[i];
		const double shares[3] = { one->low, one->high, one->likely };

		if (one->high >= least_cause_share)
			causes[count++] = cause_from(search, one->kind, one->culprit, shares);
	}
	qsort(causes, count, sizeof(*causes), by_likelihood);
	insn->first_cause = (uint32_t)analysis->cause_count;
	insn->cause_count = count;
	if (count == 0)
		return NULL;
	if (!stalls_make_room(search, stalls, count))
		return hp_error_create_no_memory();
	memcpy(&analysis->causes[analysis->cause_count], causes, count * sizeof(*causes));
	analysis->cause_count += count;
	return NULL;
}

static bool is_worth(const struct search *search, uint32_t at)
{
	return search_insn(search, at)->moved >= least_samples_asked &&
	       search_insn(search, at)->cycles > 0;
}

struct hp_error *find_culprits(struct analyzer *analyzer)
{
	struct search *search = hp_arena_alloc(analyzer->arena, sizeof(*search));
	struct stalls *stalls = hp_arena_alloc(analyzer->arena, sizeof(*stalls));
	struct hp_analysis *analysis = analyzer->analysis;
	struct hp_error *error;

	if (!search || !stalls)
		return hp_error_create_no_memory();
	search->analyzer = analyzer;
	search->analysis = analysis;
	search->cfg = analyzer->cfg;
	search->core = analysis->core;
	error = prepare(search);
	if (!error)
		error = path_prepare(search);
	if (!error)
		error = marks_prepare(search);
	if (!error)
		error = stalls_create(search, stalls);
	for (uint32_t at = 0; at < analysis->insn_count && !error; at++)
		if (is_worth(search, at))
			error = question(search, stalls, at);
	if (!error)
		error = stalls_choose_scenes(search, stalls);
	if (!error)
		error = stalls_find_statics(search, stalls);
	sheet_begin(search, stalls);
	for (uint32_t at = 0; at < analysis->insn_count && !error; at++) {
		struct split split;

		if (!is_worth(search, at)) {
			sheet_add_rest(search, stalls, at);
			continue;
		}
		split_stall(search, stalls, at, &split);
		sheet_add(search, stalls, at, split.likely);
		error = write_down(search, stalls, at, &split);
	}
	sheet_end(search);
	return error;
}
