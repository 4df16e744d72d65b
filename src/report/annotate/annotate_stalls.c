/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes above an instruction on its time, in words: the best and the actual case of the block that
 * it begins, and the stalls that it waits for.
 */
#include "annotate.h"
#include "../common/quantity.h"
#include "../common/sheet.h"
#include "../common/text.h"
#include "../tuning.h"

#include <hpcprof/infer/inference.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define AT_LEAST "\xe2\x89\xa5"

enum { NOTES_COLUMN = 38 };

/* --- blocks ----------------------------------------------------------------------------------- */

/* A lower limit of nothing tells nothing. */
static void add_ratio(struct hp_buffer *text, double ratio)
{
	hp_buffer_printf(text, ratio > 0 && ratio < 0.005 ? "%.1g" : "%.2f", ratio);
}

static void add_cpi(struct hp_buffer *text, const char *name, const char *bound, double cycles,
		    uint32_t instructions)
{
	hp_buffer_printf(text, "*** %s %s", name, bound);
	quantity_add_cycles(text, cycles);
	hp_buffer_printf(text, "/%" PRIu32 " = %s", instructions, bound);
	add_ratio(text, instructions ? cycles / instructions : 0);
	hp_buffer_printf(text, " CPI");
}

/* Without counts, trips and shares of branches are guesses. */
static bool is_counted(const struct hp_analysis *analysis)
{
	return analysis->sources != 0;
}

/* Adds the mean number of iterations per entry of the loop. */
static void add_trips(struct hp_buffer *text, const struct hp_analysis *analysis, uint32_t loop)
{
	double trips = hp_loop_trips(analysis, loop);

	if (!is_counted(analysis) || !isfinite(trips))
		return;
	hp_buffer_printf(text, ", ");
	quantity_add(text, trips);
	hp_buffer_printf(text, " iterations per entry");
}

/* Adds how often the jump at the end is taken. */
static void add_taken(struct hp_buffer *text, const struct hp_analysis *analysis, uint32_t number)
{
	const struct hp_cfg *cfg = analysis->cfg;
	const struct hp_block *block = &cfg->blocks[number];

	if (!is_counted(analysis) || block->end != HP_END_CONDITIONAL)
		return;
	for (uint32_t i = 0; i < block->out_count; i++) {
		double share = hp_edge_probability(analysis, block->first_out + i);

		if (cfg->edges[block->first_out + i].kind == HP_EDGE_JUMP && isfinite(share))
			hp_buffer_printf(text, ", jumps %.3g %% of the time", 100 * share);
	}
}

static void add_notes(struct hp_buffer *text, const struct annotation *annotation, uint32_t number)
{
	const struct hp_analysis *analysis = annotation->analysis;
	const struct hp_block *block = &analysis->cfg->blocks[number];
	size_t taken = hp_text_columns(hp_buffer_text(text));

	text_pad(text, taken < NOTES_COLUMN ? NOTES_COLUMN - taken : 2);
	hp_buffer_printf(text, "block %" PRIu32, number);
	if (block->loop != HP_CFG_NONE)
		hp_buffer_printf(text, ", %s of a loop, depth %" PRIu32,
				 analysis->cfg->loops[block->loop].header == number ? "head"
										    : "part",
				 analysis->cfg->loops[block->loop].depth);
	if (block->loop != HP_CFG_NONE && analysis->cfg->loops[block->loop].header == number)
		add_trips(text, analysis, block->loop);
	add_taken(text, analysis, number);
	if (annotation->path.blocks && annotation->path.blocks[number])
		hp_buffer_printf(text, ", on the hottest path");
	if (block->is_orphan)
		hp_buffer_printf(text, ", no known predecessor");
}

/* Adds what branch records timed, independently of estimates. */
static void add_recorded(struct hp_buffer *text, const struct annotation *annotation,
			 uint32_t number)
{
	double cycles = annotation->recorded ? annotation->recorded[number] : NAN;

	if (isfinite(cycles))
		hp_buffer_printf(text, ", %.1f cycles by branch records", cycles);
}

static void add_time(struct hp_buffer *text, const struct annotation *annotation, uint32_t number)
{
	const struct hp_analysis *analysis = annotation->analysis;
	size_t taken = hp_text_columns(hp_buffer_text(text));
	double cycles = analysis->blocks[number].cycles;

	if (!(annotation->cycles > 0) || !(cycles > 0))
		return;
	text_pad(text, taken < NOTES_COLUMN ? NOTES_COLUMN - taken : 2);
	hp_buffer_printf(text, "%.1f %% of the time", 100 * cycles / annotation->cycles);
}

/* A limit below the best case tells nothing. */
static bool has_lower_limit(const struct hp_analysed_block *block)
{
	return isfinite(block->cycles_per_execution_low) &&
	       block->cycles_per_execution_low >= block->best_case_cycles;
}

static void add_actual(struct hp_buffer *text, const struct hp_analysed_block *block)
{
	double cycles = block->cycles_per_execution;

	if (!(block->cycles > 0)) {
		hp_buffer_printf(text, "*** Actual: no samples");
	} else if (isfinite(cycles)) {
		add_cpi(text, "Actual", "", cycles, block->insn_count);
		if (isfinite(block->cycles_per_execution_low) &&
		    isfinite(block->cycles_per_execution_high) && block->insn_count)
			hp_buffer_printf(text, " (%.2f to %.2f)",
					 block->cycles_per_execution_low / block->insn_count,
					 block->cycles_per_execution_high / block->insn_count);
	} else if (has_lower_limit(block)) {
		add_cpi(text, "Actual", AT_LEAST, block->cycles_per_execution_low,
			block->insn_count);
	} else {
		hp_buffer_printf(text, "*** Actual: not known");
	}
}

struct hp_error *annotate_block(struct annotation *annotation, uint32_t number)
{
	const struct hp_analysed_block *block = &annotation->analysis->blocks[number];
	size_t row = annotation_find(annotation,
				     annotation->analysis->cfg->blocks[number].address.value);
	_cleanup_(hp_buffer_free) struct hp_buffer best = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer actual = { 0 };
	struct hp_error *error = NULL;

	if (row == SIZE_MAX)
		return NULL;
	if (annotation->lines.count)
		error = annotation_add(annotation, ANNOTATED_BLANK, row, NULL);
	add_cpi(&best, "Best-case", "", block->best_case_cycles, block->insn_count);
	add_notes(&best, annotation, number);
	add_actual(&actual, block);
	add_recorded(&actual, annotation, number);
	add_time(&actual, annotation, number);
	if (!error)
		error = annotation_add(annotation, ANNOTATED_BLOCK, row, &best);
	if (!error)
		error = annotation_add(annotation, ANNOTATED_BLOCK, row, &actual);
	return error;
}

/* --- stalls ----------------------------------------------------------------------------------- */

/* Adds ", from 0x1130 mov rax, [rdi]". */
static void add_culprit(struct hp_buffer *text, const struct annotation *annotation,
			const char *before, uint64_t address)
{
	size_t row = annotation_find(annotation, address);

	hp_buffer_printf(text, "%s0x%" PRIx64, before, address);
	if (row != SIZE_MAX)
		hp_buffer_printf(text, " %s", annotation->listing->rows.at[row].text);
}

static void add_percent_range(struct hp_buffer *text, double low, double high)
{
	long from = lround(100 * low);
	long to = lround(100 * high);

	if (sheet_is_unknown(low, high))
		hp_buffer_printf(text, "share unknown");
	else if (from == to)
		hp_buffer_printf(text, "%ld %%", to);
	else if (from <= 0)
		hp_buffer_printf(text, "up to %ld %%", to);
	else
		hp_buffer_printf(text, "%ld to %ld %%", from, to);
}

/* Stall cycles per execution of the instruction; NAN if unknown. */
static double cycles_each_time(const struct hp_analysis *analysis,
			       const struct hp_analysed_insn *insn)
{
	return analysis->is_absolute
		       ? insn->cycles / analysis->blocks[insn->block].frequency.executions
		       : NAN;
}

/* The cause is possible, but nothing indicates it. */
static bool is_unlikely(const struct hp_cause *cause)
{
	return cause->high - cause->low > wide_range && cause->likely < unlikely_cause;
}

/* "data cache miss or data TLB miss" */
static void add_joint_words(struct hp_buffer *text, const struct annotation *annotation, size_t row,
			    const struct hp_joint_cause *joint)
{
	const struct hp_analysed_insn *insn = annotation->insns[row];
	const char *between = "";

	for (uint32_t i = 0; i < insn->cause_count; i++) {
		const struct hp_cause *cause = &annotation->analysis->causes[insn->first_cause + i];

		if (!quantity_is_joint(joint, cause))
			continue;
		hp_buffer_printf(text, "%s%s", between,
				 quantity_cause((enum hp_cause_kind)cause->kind));
		between = " or ";
	}
}

/* Which of them it was is less certain than that it was one of them. */
static struct hp_error *add_joint(struct annotation *annotation, size_t row,
				  const struct hp_joint_cause *joint)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	double cycles = cycles_each_time(annotation->analysis, annotation->insns[row]);

	add_joint_words(&text, annotation, row, joint);
	hp_buffer_printf(&text, ": ");
	add_percent_range(&text, joint->low, joint->high);
	hp_buffer_printf(&text, " together");
	if (isfinite(cycles)) {
		hp_buffer_printf(&text, ", about ");
		quantity_add_cycles(&text, joint->likely * cycles);
		hp_buffer_printf(&text, " cycles per execution");
	}
	if (joint->has_culprit)
		add_culprit(&text, annotation, "; by ", joint->culprit.value);
	return annotation_add(annotation, ANNOTATED_STALL, row, &text);
}

static struct hp_error *add_cause(struct annotation *annotation, size_t row,
				  const struct hp_cause *cause)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	double cycles = cycles_each_time(annotation->analysis, annotation->insns[row]);
	bool is_unknown = sheet_is_unknown(cause->low, cause->high);

	hp_buffer_printf(&text, "%s: ", quantity_cause((enum hp_cause_kind)cause->kind));
	add_percent_range(&text, cause->low, cause->high);
	if (is_unlikely(cause))
		hp_buffer_printf(&text, is_unknown ? ", unlikely" : " but unlikely");
	else if (!is_unknown && cause->high - cause->low > wide_range)
		hp_buffer_printf(&text, ", likely %.0f %%", 100 * cause->likely);
	if (isfinite(cycles) && !is_unknown && !is_unlikely(cause)) {
		hp_buffer_printf(&text, ", about ");
		quantity_add_cycles(&text, cause->likely * cycles);
		hp_buffer_printf(&text, " cycles per execution");
	}
	if (cause->has_culprit)
		add_culprit(&text, annotation, "; by ", cause->culprit.value);
	return annotation_add(annotation, ANNOTATED_STALL, row, &text);
}

static void add_units(struct hp_buffer *text, const struct hp_core *core, uint32_t units)
{
	const char *separator = " ";

	for (unsigned unit = 0; unit < HP_CORE_UNITS; unit++) {
		if (!(units >> unit & 1))
			continue;
		hp_buffer_printf(text, "%s%s", separator, hp_core_unit(core, unit));
		separator = ", ";
	}
}

static struct hp_error *add_static(struct annotation *annotation, size_t row)
{
	const struct hp_analysis *analysis = annotation->analysis;
	const struct hp_analysed_insn *insn = annotation->insns[row];
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_printf(&text, "best case: ");
	quantity_add_cycles(&text, insn->stall_cycles);
	if (insn->static_stall == HP_STALL_DEPENDENCY) {
		hp_buffer_printf(&text, " cycles' wait for a result");
		if (insn->producer < analysis->insn_count)
			add_culprit(&text, annotation, " of ",
				    analysis->insns[insn->producer].insn->address);
	} else if (insn->static_stall == HP_STALL_PORT) {
		hp_buffer_printf(&text, " cycles' wait for a port:");
		add_units(&text, analysis->core, insn->units);
	} else {
		hp_buffer_printf(&text, " cycles beyond the issue width");
	}
	return annotation_add(annotation, ANNOTATED_STALL, row, &text);
}

/* Stalls of cold instructions would hide the others. */
static bool is_worth_telling(const struct annotation *annotation, size_t row)
{
	return annotation->shows_all || annotation_share(annotation, row) >= worth_telling;
}

/* The most certain causes come first. */
static int compare_causes(const void *left, const void *right)
{
	const struct hp_cause *a = left;
	const struct hp_cause *b = right;

	if (a->low != b->low)
		return (a->low < b->low) - (a->low > b->low);
	return (a->likely < b->likely) - (a->likely > b->likely);
}

static struct hp_error *add_causes(struct annotation *annotation, size_t row)
{
	const struct hp_analysed_insn *insn = annotation->insns[row];
	const struct hp_joint_cause *joint = quantity_joint(annotation->analysis, insn);
	_cleanup_free_ struct hp_cause *causes = calloc(insn->cause_count + 1, sizeof(*causes));
	struct hp_error *error = NULL;
	uint32_t told = 0;

	if (!causes)
		return hp_error_create_no_memory();
	if (joint && !sheet_is_unknown(joint->low, joint->high)) {
		told++;
		error = add_joint(annotation, row, joint);
	}
	for (uint32_t i = 0; i < insn->cause_count; i++)
		causes[i] = annotation->analysis->causes[insn->first_cause + i];
	qsort(causes, insn->cause_count, sizeof(*causes), compare_causes);
	for (uint32_t i = 0; i < insn->cause_count && !error; i++) {
		if (!annotation->shows_all && (causes[i].high < noticeable_cause ||
					       is_unlikely(&causes[i]) || told == MOST_CAUSES_TOLD))
			continue;
		told++;
		error = add_cause(annotation, row, &causes[i]);
	}
	return error;
}

struct hp_error *annotate_stalls(struct annotation *annotation, size_t row)
{
	const struct hp_analysed_insn *insn = annotation->insns[row];
	struct hp_error *error;

	if (!insn || !is_worth_telling(annotation, row))
		return NULL;
	error = add_causes(annotation, row);
	if (!error && insn->static_stall != HP_STALL_NONE && insn->stall_cycles >= whole_cycle)
		error = add_static(annotation, row);
	return error;
}
