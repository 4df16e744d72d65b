/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../common/sheet.h"
#include "../common/state.h"
#include "survey.h"
#include "../tuning.h"

#include <hpcprof/infer/inference.h>
#include <hpcprof/infer/window_parts.h>

#include <errno.h>
#include <math.h>
#include <string.h>

/* --- what is analysed ------------------------------------------------------------------------- */

/* Rows and stalls do not refer to each other. */
static struct hp_error *add_stalls(struct survey *survey, const struct hp_row *row,
				   const struct hp_row_code *code)
{
	const struct hp_analysis *analysis = code->analysis;

	for (size_t i = 0; i < analysis->insn_count; i++) {
		const struct hp_analysed_insn *insn = &analysis->insns[i];
		struct stall stall = { .code = code, .analysis = analysis, .insn = insn };
		double share = 0;

		for (uint32_t j = 0; j < insn->cause_count; j++)
			share += analysis->causes[insn->first_cause + j].likely;
		if (!(share > 0) || !(insn->cycles > 0))
			continue;
		stall.cycles = fmin(share, 1) * insn->cycles;
		stall.possible = insn->stalled;
		stall.row = (struct hp_row){ .image = row->image,
					     .name = row->name,
					     .has_address = row->has_address,
					     .address = insn->insn->address };
		if (!hp_vector_push(&survey->stalls, stall))
			return hp_error_create_no_memory();
	}
	return NULL;
}

static bool is_of(enum survey_list list, enum hp_cause_kind kind)
{
	if (kind == HP_CAUSE_MISPREDICT)
		return list == SURVEY_BRANCHES;
	return list == SURVEY_MEMORY &&
	       (kind == HP_CAUSE_DCACHE || kind == HP_CAUSE_DTLB || kind == HP_CAUSE_STORE_BUFFER ||
		kind == HP_CAUSE_STORE_FORWARD);
}

/* Assigns what the causes of one instruction take to their culprits. */
static void lay(const struct hp_analysis *analysis, const struct hp_analysed_insn *stalled,
		enum survey_list list, struct stall *culprits)
{
	for (uint32_t j = 0; j < stalled->cause_count; j++) {
		const struct hp_cause *cause = &analysis->causes[stalled->first_cause + j];
		const struct hp_analysed_insn *insn;
		struct stall *culprit;

		if (!cause->has_culprit || !is_of(list, (enum hp_cause_kind)cause->kind))
			continue;
		insn = hp_analysis_insn(analysis, cause->culprit.value);
		if (!insn)
			continue;
		culprit = &culprits[insn - analysis->insns];
		culprit->cycles += cause->likely * stalled->cycles;
		culprit->possible.low += cause->low * stalled->cycles;
		culprit->possible.high += cause->high * stalled->cycles;
	}
}

static struct hp_error *add_culprits(struct survey *survey, enum survey_list list,
				     const struct hp_row *row, const struct hp_row_code *code)
{
	const struct hp_analysis *analysis = code->analysis;
	_cleanup_free_ struct stall *culprits = calloc(analysis->insn_count + 1, sizeof(*culprits));

	if (!culprits)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < analysis->insn_count; i++)
		lay(analysis, &analysis->insns[i], list, culprits);
	for (size_t i = 0; i < analysis->insn_count; i++) {
		const struct hp_analysed_insn *insn = &analysis->insns[i];
		struct stall *culprit = &culprits[i];

		survey->simulated += insn->happened != NULL;
		if (!insn->happened || !(culprit->possible.high > 0))
			continue;
		culprit->code = code;
		culprit->analysis = analysis;
		culprit->insn = insn;
		culprit->row = (struct hp_row){ .image = row->image,
						.name = row->name,
						.has_address = row->has_address,
						.address = insn->insn->address };
		if (!hp_vector_push(&survey->stalls, *culprit))
			return hp_error_create_no_memory();
	}
	return NULL;
}

static struct hp_error *add_procedure(struct survey *survey, const struct hp_row *row,
				      const struct hp_row_code *code)
{
	const struct hp_prediction *prediction = &code->analysis->prediction;
	struct hp_prediction fitted = hp_penalties_apply(&survey->penalties, prediction);
	struct hp_cpi_stack stack;
	struct stall one = { .code = code,
			     .analysis = code->analysis,
			     .cycles = code->analysis->sheet.cycles,
			     .row = { .image = row->image,
				      .name = row->name,
				      .has_address = row->has_address,
				      .address = row->address } };

	one.possible = (struct hp_range){ one.cycles, one.cycles };
	if (!(prediction->measured > 0))
		return NULL;
	survey->simulated++;
	hp_cpi_add(&survey->prediction, code->analysis, &fitted);
	stack = hp_penalties_stack(&survey->penalties, code->analysis, prediction);
	hp_cpi_add_stack(&survey->stack, &stack);
	survey->scaled += hp_cpi_is_absolute(code->analysis) ? 0 : prediction->measured;
	return hp_vector_push(&survey->stalls, one) ? NULL : hp_error_create_no_memory();
}

/* Code to be analysed. */
struct candidate {
	const struct hp_row *row; /* NULL: only its sum is wanted */
	struct hp_row_code *code;
	uint64_t samples;
};
typedef HP_VECTOR(struct candidate) candidates;

static struct hp_error *add_rows(struct report *report, struct survey *survey, candidates *found,
				 size_t event)
{
	for (size_t i = 0; i < report->profiles->rows.count; i++) {
		const struct hp_row *row = report->profiles->rows.at[i];

		if (hp_profiles_is_kernel(row->image)) {
			survey->kernel += row->tallies[event].samples;
			continue;
		}
		survey->samples += row->tallies[event].samples;
		for (struct hp_row_code *code = row->code; code; code = code->next) {
			struct candidate one = { row, code, row->tallies[event].samples };

			if (!hp_vector_push(found, one))
				return hp_error_create_no_memory();
		}
	}
	return NULL;
}

/* Addresses are in order, so most belong to the same procedure as the one before; split-off parts
 * are separate from their owner. `first`: the first candidate of this part. */
static struct candidate *candidate_of(struct report *report, candidates *found, size_t first,
				      struct hp_loaded_part *part,
				      const struct hp_procedure *procedure)
{
	struct candidate one = { 0 };

	for (size_t i = found->count; i-- > first;)
		if (found->at[i].code->procedure == procedure)
			return &found->at[i];
	one.code = hp_arena_alloc(report->profiles->arena, sizeof(*one.code));
	if (!one.code || !hp_vector_push(found, one))
		return NULL;
	one.code->part = part;
	one.code->procedure = procedure;
	return &found->at[found->count - 1];
}

static struct hp_error *add_part(struct report *report, candidates *found,
				 struct hp_loaded_part *part, size_t event)
{
	const struct hp_procedure *at = NULL;
	struct candidate *candidate = NULL;
	size_t first = found->count;

	for (size_t i = 0; i < part->located_count; i++) {
		uint64_t address = part->located[i].address;

		if (!at || address - at->address.value >= at->size) {
			at = hp_image_procedure_at(part->file, (hp_link_address){ address });
			candidate = candidate_of(report, found, first, part, at->owner);
		}
		if (!candidate)
			return hp_error_create_no_memory();
		candidate->samples +=
			part->tallies[part->located[i].index * report->profiles->events.count +
				      event]
				.samples;
	}
	return NULL;
}

static uint64_t samples_of_part(const struct report *report, const struct hp_loaded_part *part,
				size_t event)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < part->count; i++)
		samples += part->tallies[i * report->profiles->events.count + event].samples;
	return samples;
}

/* Cycles in code that was not simulated, or in moments that no window saw. */
static double unknown_of(const struct hp_analysis *analysis)
{
	const struct hp_prediction *timed = &analysis->prediction;

	return fmax(0, analysis->sheet.cycles - timed->measured) + timed->apart;
}

static struct hp_error *survey_code(struct report *report, enum survey_list list,
				    struct survey *survey, const struct candidate *candidate)
{
	const struct hp_analysis *analysis;
	struct hp_error *error;

	if (candidate->samples < SURVEY_FEWEST_SAMPLES) {
		survey->few += candidate->samples;
		return NULL;
	}
	error = hp_inference_analyse(report->inference, candidate->code, &analysis);
	if (error || !analysis)
		return error;
	hp_stall_sheet_add(&survey->sheet, &analysis->sheet, unknown_of(analysis));
	survey->procedures++;
	survey->counted += analysis->is_absolute;
	survey->is_absolute = survey->is_absolute && analysis->is_absolute;
	for (unsigned bit = 0; bit < SURVEY_PROBLEMS; bit++) {
		if (!(analysis->problems >> bit & 1))
			continue;
		survey->troubles[bit].procedures++;
		survey->troubles[bit].samples += candidate->samples;
	}
	survey->problems |= analysis->problems;
	if (!candidate->row)
		return NULL;
	if (list == SURVEY_TIMED)
		return add_procedure(survey, candidate->row, candidate->code);
	return list == SURVEY_STALLS ? add_stalls(survey, candidate->row, candidate->code)
				     : add_culprits(survey, list, candidate->row, candidate->code);
}

/* --- which are shown -------------------------------------------------------------------------- */

static int compare_stalls(const void *left, const void *right)
{
	const struct stall *a = left;
	const struct stall *b = right;
	int order = (a->cycles < b->cycles) - (a->cycles > b->cycles);

	if (!order && a->row.image != b->row.image)
		order = hp_image_id_compare(&a->row.image->id, &b->row.image->id);
	if (!order)
		order = strcmp(a->row.name, b->row.name);
	return order ? order
		     : (a->row.address > b->row.address) - (a->row.address < b->row.address);
}

static bool is_for_people(enum hp_report_format format)
{
	return format == HP_FORMAT_TEXT || format == HP_FORMAT_SVG;
}

size_t survey_shown(const struct report *report, const struct survey *survey)
{
	const struct hp_report_options *options = report->options;
	size_t limit = options->limit ? options->limit
		       : is_for_people(options->format) && !(options->percent_limit > 0)
			       ? DEFAULT_ROWS
			       : SIZE_MAX;
	size_t kept = 0;

	for (; kept < survey->stalls.count && kept < limit; kept++)
		if (100 * survey_share(survey, survey->stalls.at[kept].cycles) <
		    options->percent_limit)
			break;
	return kept;
}

static void apply_limits(const struct report *report, struct survey *survey)
{
	size_t kept = survey_shown(report, survey);

	for (size_t i = kept; i < survey->stalls.count; i++)
		survey->hidden_cycles += survey->stalls.at[i].cycles;
	survey->hidden = survey->stalls.count - kept;
	survey->stalls.count = kept;
}

/* --- where they are in the source ------------------------------------------------------------- */

static int compare_places(const void *left, const void *right)
{
	const struct stall *a = *(const struct stall *const *)left;
	const struct stall *b = *(const struct stall *const *)right;

	if (a->code->part != b->code->part)
		return (uintptr_t)a->code->part < (uintptr_t)b->code->part ? -1 : 1;
	return (a->row.address > b->row.address) - (a->row.address < b->row.address);
}

static struct hp_error *find_lines_of(struct report *report, struct stall **stalls, size_t count)
{
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(count + 1, sizeof(*frames));
	struct hp_image *file = stalls[0]->code->part ? stalls[0]->code->part->file : NULL;
	struct hp_error *error;

	if (!addresses || !frames)
		return hp_error_create_no_memory();
	if (!file)
		return NULL;
	for (size_t i = 0; i < count; i++)
		addresses[i].value = stalls[i]->row.address;
	error = hp_image_frames(file, addresses, count, false, frames);
	for (size_t i = 0; i < count && !error; i++) {
		if (!frames[i].count)
			continue;
		stalls[i]->row.file = frames[i].frames[0].file;
		stalls[i]->row.line = frames[i].frames[0].line;
	}
	if (!error || error->errno_value == ENOMEM)
		return error;
	hp_profiles_warn(report->profiles, error->advice, "%s", error->message);
	hp_error_destroy(error);
	return NULL;
}

/* Only for stalls that are shown, image by image. */
static struct hp_error *find_lines(struct report *report, struct survey *survey)
{
	size_t count = survey->stalls.count;
	_cleanup_free_ struct stall **stalls = calloc(count + 1, sizeof(*stalls));
	struct hp_error *error = NULL;

	if (!stalls)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		stalls[i] = &survey->stalls.at[i];
	qsort(stalls, count, sizeof(*stalls), compare_places);
	for (size_t first = 0, end; first < count && !error; first = end) {
		end = first + 1;
		while (end < count && stalls[end]->code->part == stalls[first]->code->part)
			end++;
		error = find_lines_of(report, stalls + first, end - first);
	}
	return error;
}

/* --- how sure they are ------------------------------------------------------------------------ */

static void find_shares(const struct report *report, struct survey *survey)
{
	double samples =
		(double)report->profiles->events.at[hp_profiles_time_event(report->profiles)]
			.all.samples;

	for (size_t i = 0; i < survey->stalls.count; i++) {
		struct stall *stall = &survey->stalls.at[i];
		double likely = survey_share(survey, stall->cycles);
		struct hp_range possible = {
			.low = fmin(likely, survey_share(survey, stall->possible.low)),
			.high = fmax(likely, survey_share(survey, stall->possible.high)),
		};

		stall->share = sheet_widen(possible, samples);
	}
}

/* --- all together ----------------------------------------------------------------------------- */

struct hp_error *survey_make(struct report *report, enum survey_list list, struct survey *survey)
{
	size_t event = hp_profiles_time_event(report->profiles);
	double per_unit = hp_profiles_cycles_per_unit(report->profiles);
	candidates found = { 0 };
	struct hp_error *error = NULL;

	*survey = (struct survey){ .is_absolute = true };
	if (event == report->profiles->events.count)
		return NULL;
	survey->cycles = report->profiles->events.at[event].all.weight * per_unit;
	if (list == SURVEY_TIMED)
		error = hp_inference_penalties(report->inference, &survey->penalties);
	if (list != SURVEY_NO_LIST && !error)
		error = add_rows(report, survey, &found, event);
	for (size_t i = 0; i < report->profiles->parts.count && list == SURVEY_NO_LIST && !error;
	     i++) {
		struct hp_loaded_part *part = report->profiles->parts.at[i];
		uint64_t samples = samples_of_part(report, part, event);

		if (hp_profiles_is_kernel(part->image)) {
			survey->kernel += samples;
			continue;
		}
		survey->samples += samples;
		error = add_part(report, &found, part, event);
	}
	for (size_t i = 0; i < found.count && !error; i++)
		error = survey_code(report, list, survey, &found.at[i]);
	hp_vector_free(&found);
	if (error)
		return error;
	hp_stall_sheet_limit(&survey->sheet);
	survey->refused =
		fmax(0, (double)survey->samples - (double)survey->few - survey->sheet.samples);
	if (survey->stalls.count)
		qsort(survey->stalls.at, survey->stalls.count, sizeof(*survey->stalls.at),
		      compare_stalls);
	apply_limits(report, survey);
	find_shares(report, survey);
	return find_lines(report, survey);
}

void survey_clear(struct survey *survey)
{
	hp_vector_free(&survey->stalls);
}

double survey_share(const struct survey *survey, double cycles)
{
	return survey->cycles > 0 ? cycles / survey->cycles : 0;
}

static const struct hp_analysed_block *block_of(const struct stall *stall)
{
	return &stall->analysis->blocks[stall->insn->block];
}

double stall_average(const struct stall *stall)
{
	return stall->cycles / block_of(stall)->frequency.executions;
}

/* The average in the same proportion to its lower limit as the sum. */
double stall_average_low(const struct stall *stall)
{
	return stall->cycles / block_of(stall)->cycles * block_of(stall)->cycles_per_execution_low;
}
