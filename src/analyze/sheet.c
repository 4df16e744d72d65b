/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requires	the stalls of all instructions, split
 * provides	analysis->sheet: the summary of DCPI's figure 4
 *
 * At the likely frequencies, the cycles of a block are its executions times its best case
 * (execution and static stalls) plus its dynamic stalls (causes, and unexplained). A block with
 * fewer cycles than its best case has a gain instead, which comes off what misses of data took, up
 * to all of that. So over the procedure: execution + likely causes + unexplained - gain = cycles.
 */
#include "stalls.h"
#include "culprit/duty.h"

static void add_range(struct hp_range *range, double low, double high)
{
	range->low += low;
	range->high += high;
}

static double gain_of(const struct hp_analysed_block *block, double runs)
{
	return fmax(0, runs * block->best_case_cycles - block->cycles);
}

/* Adds up the best cases of all blocks, with their range over all scenes. */
static void add_best_cases(const struct stalls *stalls)
{
	struct hp_stall_sheet *sheet = &stalls->analysis->sheet;

	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &stalls->analysis->blocks[i];
		double likely = stalls->runs[stalls->likely][i];
		double low = likely;
		double high = likely;
		double best = likely * block->best_case_cycles;
		double certain = likely; /* executions whose static stalls are */
		double fixed = 0;	 /* cycles of static stalls in one execution */

		if (!(block->cycles > 0))
			continue;
		for (unsigned scene = 0; scene < stalls->scenes; scene++) {
			double runs = stalls->runs[scene][i];

			low = runs < low ? runs : low;
			high = runs > high ? runs : high;
			certain = fmin(certain, runs * stalls_certain(stalls, i, scene));
		}
		sheet->execution += best;
		for (uint32_t k = 0; k < block->insn_count; k++) {
			uint32_t at = block->first_insn + k;
			double stall = facts_insn(stalls->facts, at)->stall_cycles;
			enum hp_cause_kind kind;

			if (!(stall > 0))
				continue;
			kind = duty_static_cause(stalls->facts, at);
			fixed += stall;
			sheet->execution -= likely * stall;
			sheet->likely[kind] += likely * stall;
			add_range(&sheet->causes[kind], certain * stall, high * stall);
		}
		fixed = fmin(fixed, block->best_case_cycles);
		add_range(&sheet->execution_range, low * (block->best_case_cycles - fixed),
			  high * (block->best_case_cycles - fixed));
		sheet->unexplained_gain += gain_of(block, likely);
		add_range(&sheet->gain_range, gain_of(block, low), gain_of(block, high));
	}
	if (sheet->execution < 0)
		sheet->execution = 0; /* due to rounding */
	/* Tables may list more static stalls than best case. */
	sheet->execution_range.low = fmin(sheet->execution_range.low, sheet->execution);
	sheet->execution_range.high = fmax(sheet->execution_range.high, sheet->execution);
}

void sheet_count(struct hp_analysis *analysis)
{
	struct hp_stall_sheet *sheet = &analysis->sheet;

	for (uint32_t i = 0; i < analysis->cfg->block_count; i++) {
		const struct hp_analysed_block *block = &analysis->blocks[i];

		sheet->samples += block->samples;
		if (block->frequency.relative_confidence >= HP_CONFIDENCE_MEDIUM)
			sheet->medium_samples += block->samples;
		if (analysis->is_absolute && block->frequency.confidence >= HP_CONFIDENCE_MEDIUM)
			sheet->executions_medium_samples += block->samples;
	}
}

void sheet_begin(const struct stalls *stalls, double sample_cycles)
{
	struct hp_analysis *analysis = stalls->analysis;
	struct hp_stall_sheet *sheet = &analysis->sheet;

	for (uint32_t i = 0; i < stalls->facts->cfg->block_count; i++)
		sheet->cycles += analysis->blocks[i].cycles;
	sheet->sampling_error = sample_cycles * sqrt(sheet->samples);
	if (analysis->is_absolute)
		sheet->counted_cycles = sheet->cycles;
	if (stalls->scenes)
		add_best_cases(stalls);
	else
		sheet->execution_range.high = sheet->cycles;
}

void sheet_add(const struct stalls *stalls, uint32_t at, const double *likely)
{
	struct hp_stall_sheet *sheet = &stalls->analysis->sheet;
	const struct case_file *file = &stalls->files[at];
	double cycles = facts_insn(stalls->facts, at)->cycles;

	for (uint32_t i = 0; i < file->count; i++)
		sheet->likely[file->suspects[i].kind] += cycles * likely[i];
	sheet->likely[HP_CAUSE_UNEXPLAINED] += cycles * likely[file->count];
}

void sheet_add_rest(const struct stalls *stalls, uint32_t at)
{
	struct hp_stall_sheet *sheet = &stalls->analysis->sheet;
	double cycles = facts_insn(stalls->facts, at)->cycles;
	double low = stalls->scenes ? cycles : 0;
	double high = stalls->scenes ? 0 : cycles;

	for (unsigned scene = 0; scene < stalls->scenes; scene++) {
		double stall = stall_of(stalls, at, scene);

		low = fmin(low, stall);
		high = fmax(high, stall);
	}
	sheet->likely[HP_CAUSE_UNEXPLAINED] += stalls->scenes ? stall_of(stalls, at, stalls->likely)
							      : cycles;
	add_range(&sheet->causes[HP_CAUSE_UNEXPLAINED], low, high);
}

/* What is likely is added up by instruction, so the timing of a loop may not agree with it. */
static void hold_likely(struct hp_range *range, double likely)
{
	range->low = fmin(range->low, likely);
	range->high = fmax(range->high, likely);
}

static void add_sums(struct hp_stall_sheet *sheet, const struct cause_sums *sums)
{
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		add_range(&sheet->causes[k], sums->kinds[k].low, sums->kinds[k].high);
		hold_likely(&sheet->causes[k], sheet->likely[k]);
	}
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		struct hp_range *range = &sheet->families[family];
		double likely = 0, low = 0, high = 0;

		for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
			if (!(hp_summed_kinds(family) >> k & 1))
				continue;
			likely += sheet->likely[k];
			low = fmax(low, sheet->causes[k].low);
			high += sheet->causes[k].high;
		}
		add_range(range, fmax(low, sums->families[family].low),
			  fmin(high, sums->families[family].high));
		hold_likely(range, likely);
		range->high = fmin(range->high, sheet->cycles);
		range->low = fmin(range->low, range->high);
	}
}

static double likely_of(const struct hp_stall_sheet *sheet, enum hp_cause_family family)
{
	double likely = 0;

	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++)
		if (hp_summed_kinds(family) >> k & 1)
			likely += sheet->likely[k];
	return likely;
}

/* While a load waits for its data, the core executes what follows until its reorder buffer is full, and only from
 * then on does the miss cost anything (Eyerman et al. 2007, "Back-end misses"). Later blocks lack what was executed
 * in that time, so their gain comes off the misses. It does not come off other causes: a front end that is late has
 * nothing to execute behind it, a full store buffer lets nothing in, and units and forwarding take a few cycles. */
static void take_off_gain(struct hp_stall_sheet *sheet)
{
	uint32_t kinds = hp_summed_kinds(HP_FAMILY_DATA);
	double waits = likely_of(sheet, HP_FAMILY_DATA);
	double hidden = fmin(sheet->unexplained_gain, waits);
	double kept;

	if (!(hidden > 0))
		return;
	kept = 1 - hidden / waits;
	for (unsigned k = 0; k < HP_CAUSE_DYNAMIC_COUNT; k++) {
		if (!(kinds >> k & 1))
			continue;
		sheet->likely[k] *= kept;
		sheet->causes[k].low *= kept;
	}
	sheet->families[HP_FAMILY_DATA].low *= kept;
	sheet->unexplained_gain -= hidden;
	sheet->gain_range.low = fmax(0, sheet->gain_range.low - hidden);
}

/* Tables and frequencies may claim more cycles for one kind of stall than there are in all. The
 * claim is cut off at that, and the excess counts as a gain. */
void sheet_end(struct hp_analysis *analysis, const struct cause_sums *sums,
	       const double *most_cycles)
{
	struct hp_stall_sheet *sheet = &analysis->sheet;

	double sum = sheet->execution;
	bool is_cut = false;

	add_sums(sheet, sums);
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		is_cut = is_cut || sheet->likely[k] > sheet->cycles;
		sheet->likely[k] = fmin(sheet->likely[k], sheet->cycles);
		sheet->causes[k].low = fmin(sheet->causes[k].low, sheet->cycles);
		sheet->causes[k].high = fmin(sheet->causes[k].high, sheet->cycles);
		sum += sheet->likely[k];
		if (most_cycles && k < HP_CAUSE_DYNAMIC_COUNT)
			sheet->causes[k].high =
				fmin(sheet->causes[k].high, fmax(most_cycles[k], sheet->likely[k]));
		sheet->causes[k].low = fmin(sheet->causes[k].low, sheet->causes[k].high);
	}
	if (is_cut) {
		sheet->unexplained_gain = fmax(0, sum - sheet->cycles);
		sheet->gain_range.low = fmin(sheet->gain_range.low, sheet->unexplained_gain);
		sheet->gain_range.high = fmax(sheet->gain_range.high, sheet->unexplained_gain);
	}
	take_off_gain(sheet);
}

/* Adds what is known of events to what causes can have taken where none are. */
void sheet_count_events(struct hp_analysis *analysis)
{
	const struct hp_prediction *seen = &analysis->prediction;
	struct hp_stall_sheet *sheet = &analysis->sheet;

	for (unsigned k = 0; k < HP_CAUSE_DYNAMIC_COUNT; k++) {
		bool is_data = k == HP_CAUSE_DCACHE;

		/* Without executions there is no total of events. */
		if (!analysis->is_absolute) {
			sheet->most[k] = sheet->causes[k].high;
			continue;
		}
		sheet->most[k] += seen->most[k] + (is_data ? seen->most_far : 0);
		sheet->unseen[k] = seen->unseen[k] + (is_data ? seen->unseen_far : 0);
	}
}

void hp_stall_sheet_add(struct hp_stall_sheet *into, const struct hp_stall_sheet *from,
			double unknown)
{
	into->samples += from->samples;
	into->medium_samples += from->medium_samples;
	into->executions_medium_samples += from->executions_medium_samples;
	into->cycles += from->cycles;
	into->counted_cycles += from->counted_cycles;
	into->execution += from->execution;
	add_range(&into->execution_range, from->execution_range.low, from->execution_range.high);
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++) {
		add_range(&into->causes[k], from->causes[k].low, from->causes[k].high);
		hp_range_sum_add(&into->cause_sums[k], &from->causes[k], from->likely[k], unknown);
		into->likely[k] += from->likely[k];
	}
	for (unsigned i = 0; i < HP_FAMILY_COUNT; i++) {
		add_range(&into->families[i], from->families[i].low, from->families[i].high);
		hp_range_sum_add(&into->family_sums[i], &from->families[i], likely_of(from, i),
				 unknown);
	}
	for (unsigned k = 0; k < HP_CAUSE_DYNAMIC_COUNT; k++) {
		into->most[k] += from->most[k];
		into->unseen[k] = fmax(into->unseen[k], from->unseen[k]);
	}
	into->unexplained_gain += from->unexplained_gain;
	add_range(&into->gain_range, from->gain_range.low, from->gain_range.high);
	/* Errors of different procedures are independent of each other. */
	into->sampling_error = hypot(into->sampling_error, from->sampling_error);
}

static void narrow(struct hp_range *range, const struct hp_range_sum *sum, double likely)
{
	struct hp_range all = hp_range_sum_get(sum);

	range->low = fmin(likely, fmax(range->low, all.low));
	range->high = fmax(likely, fmin(range->high, all.high));
}

static void limit(struct hp_range *range, double likely, double most)
{
	range->high = fmin(range->high, fmax(most, likely));
	range->low = fmin(range->low, range->high);
}

void hp_stall_sheet_limit(struct hp_stall_sheet *sheet)
{
	for (unsigned k = 0; k < HP_CAUSE_COUNT; k++)
		narrow(&sheet->causes[k], &sheet->cause_sums[k], sheet->likely[k]);
	for (unsigned k = 0; k < HP_CAUSE_DYNAMIC_COUNT; k++)
		limit(&sheet->causes[k], sheet->likely[k], sheet->most[k] + sheet->unseen[k]);
	for (enum hp_cause_family family = 0; family < HP_FAMILY_COUNT; family++) {
		double likely = likely_of(sheet, family), most = 0;

		for (unsigned k = 0; k < HP_CAUSE_DYNAMIC_COUNT; k++)
			if (hp_summed_kinds(family) >> k & 1)
				most += sheet->causes[k].high;
		narrow(&sheet->families[family], &sheet->family_sums[family], likely);
		limit(&sheet->families[family], likely, most);
	}
}

const char *hp_cause_name(enum hp_cause_kind kind)
{
	static const char *const names[HP_CAUSE_COUNT] = {
		[HP_CAUSE_ICACHE] = "icache",
		[HP_CAUSE_ITLB] = "itlb",
		[HP_CAUSE_MISPREDICT] = "branch-mispredict",
		[HP_CAUSE_DCACHE] = "dcache",
		[HP_CAUSE_DTLB] = "dtlb",
		[HP_CAUSE_STORE_BUFFER] = "store-buffer",
		[HP_CAUSE_STORE_FORWARD] = "store-forward",
		[HP_CAUSE_DIVIDER] = "divider",
		[HP_CAUSE_MULTIPLIER] = "multiplier",
		[HP_CAUSE_FP_LATENCY] = "fp-latency",
		[HP_CAUSE_SYNC] = "sync",
		[HP_CAUSE_FETCH] = "fetch",
		[HP_CAUSE_ISSUE_WIDTH] = "issue-width",
		[HP_CAUSE_DEPENDENCY] = "dependency",
		[HP_CAUSE_PORT] = "port",
		[HP_CAUSE_UNEXPLAINED] = "unexplained",
	};

	return (unsigned)kind < HP_CAUSE_COUNT ? names[kind] : "?";
}
