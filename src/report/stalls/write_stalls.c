/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The worst stalls of the whole profile, one a line, and the stack of all cycles below. */
#include "../tables/table.h"
#include "write_stalls.h"
#include "../tables/cells.h"
#include "../tables/columns_analysis.h"
#include "../common/counting.h"
#include "../common/json.h"
#include "../common/quantity.h"
#include "../common/sheet.h"
#include "../common/state.h"
#include "advice.h"
#include "stall_cells.h"
#include "survey.h"
#include "../tuning.h"

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- cells ------------------------------------------------------------------------------------ */

static const struct hp_cause *cause_of(const struct stall *stall, uint32_t number)
{
	return &stall->analysis->causes[stall->insn->first_cause + number];
}

static void cell_confidence(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(
		text, "%s",
		hp_confidence_name((enum hp_confidence)stall_frequency(cell->row)->confidence));
}

static bool has_average(const struct stall *stall)
{
	return isfinite(stall_average(stall)) || stall_average_low(stall) >= least_average;
}

static void cell_average(const struct cell *cell, struct hp_buffer *text)
{
	const struct stall *stall = stall_of_row(cell->row);

	if (has_average(stall))
		quantity_add_at_least(text, stall_average(stall), stall_average_low(stall));
}

/* A data cache is named by the level that is waited for, if that is clear. */
static const char *cause_words(const struct stall *stall, const struct hp_cause *cause)
{
	const char *level = cause->kind == HP_CAUSE_DCACHE ? advice_level(stall->insn) : NULL;

	return level ? level : hp_cause_name((enum hp_cause_kind)cause->kind);
}

static bool is_narrow(const struct report *report)
{
	size_t room = report->options->terminal_columns;

	return room && room < 100;
}

static void add_share(double low, double high, struct hp_buffer *text)
{
	if (!sheet_is_unknown(low, high))
		hp_buffer_printf(text, " %.0f-%.0f%%", 100 * low, 100 * high);
}

/* "L3 or memory+dtlb 90-97%" */
static void add_joint(const struct stall *stall, const struct hp_joint_cause *joint,
		      struct hp_buffer *text)
{
	const char *between = "";

	for (uint32_t i = 0; i < stall->insn->cause_count; i++) {
		const struct hp_cause *cause = cause_of(stall, i);

		if (!quantity_is_joint(joint, cause))
			continue;
		hp_buffer_printf(text, "%s%s", between, cause_words(stall, cause));
		between = "+";
	}
	add_share(joint->low, joint->high, text);
}

static void cell_causes(const struct cell *cell, struct hp_buffer *text)
{
	const struct stall *stall = stall_of_row(cell->row);
	const struct hp_joint_cause *joint = quantity_joint(stall->analysis, stall->insn);
	const unsigned most = is_narrow(cell->report) ? 1 : 2;
	unsigned told = 0;
	uint32_t kinds = 0; /* one bit per kind already named: one of several culprits is enough */

	for (uint32_t i = 0; i < stall->insn->cause_count && told < most; i++) {
		const struct hp_cause *cause = cause_of(stall, i);

		if (kinds >> cause->kind & 1)
			continue;
		if (told && cause->likely < noticeable_cause)
			break;
		hp_buffer_printf(text, "%s", told++ ? ", " : "");
		if (quantity_is_joint(joint, cause)) {
			add_joint(stall, joint, text);
			kinds |= joint->kinds;
			continue;
		}
		hp_buffer_printf(text, "%s", cause_words(stall, cause));
		add_share(cause->low, cause->high, text);
		kinds |= 1u << cause->kind;
	}
}

static void cell_all_causes(const struct cell *cell, struct hp_buffer *text)
{
	const struct stall *stall = stall_of_row(cell->row);

	columns_add_causes(text, stall->analysis, stall->insn);
}

static void cell_relative(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, stall_frequency(cell->row)->relative);
}

static void cell_exact_average(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, stall_average(stall_of_row(cell->row)));
}

static const struct column text_columns_of_stalls[] = {
	{ "%", true, false, NO_EVENT, stall_cell_percent },
	{ "between", true, false, NO_EVENT, stall_cell_range },
	{ "cum%", true, false, NO_EVENT, cell_cumulative },
	{ "cycles", true, false, NO_EVENT, stall_cell_cycles },
	{ "executions", true, false, NO_EVENT, stall_cell_executions },
	{ "conf", false, false, NO_EVENT, cell_confidence },
	{ "average", true, false, NO_EVENT, cell_average },
	{ "causes", false, true, NO_EVENT, cell_causes },
	{ "address", true, false, NO_EVENT, cell_address },
	{ "procedure", false, true, NO_EVENT, cell_shown },
	{ "line", false, true, NO_EVENT, stall_cell_position },
};

static const struct column csv_columns_of_stalls[] = {
	{ "percent", true, false, NO_EVENT, stall_cell_exact_percent },
	{ "cycles", true, false, NO_EVENT, stall_cell_exact_cycles },
	{ "executions", true, false, NO_EVENT, stall_cell_estimate },
	{ "relative", true, false, NO_EVENT, cell_relative },
	{ "confidence", false, false, NO_EVENT, cell_confidence },
	{ "average", true, false, NO_EVENT, cell_exact_average },
	{ "causes", false, false, NO_EVENT, cell_all_causes },
	{ "address", true, false, NO_EVENT, cell_address },
	{ "procedure", false, false, NO_EVENT, cell_name },
	{ "image", false, false, NO_EVENT, cell_image },
	{ "build_id", false, false, NO_EVENT, cell_build_id },
	{ "file", false, false, NO_EVENT, cell_file },
	{ "line", false, false, NO_EVENT, cell_line },
	{ "percent_low", true, false, NO_EVENT, stall_cell_percent_low },
	{ "percent_high", true, false, NO_EVENT, stall_cell_percent_high },
};

struct hp_error *stall_columns(const struct column *from, size_t count, struct columns *columns)
{
	for (size_t i = 0; i < count; i++)
		if (!hp_vector_push(&columns->at, from[i]))
			return hp_error_create_no_memory();
	return NULL;
}

/* Rows of the stalls, with their shares set. */
struct hp_error *stall_rows(struct survey *survey, struct hp_row ***rows)
{
	double sum = 0;

	*rows = calloc(survey->stalls.count + 1, sizeof(struct hp_row *));
	if (!*rows)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < survey->stalls.count; i++) {
		struct stall *stall = &survey->stalls.at[i];

		sum += stall->cycles;
		stall->row.local = survey_share(survey, stall->cycles);
		stall->row.cumulative = survey_share(survey, sum);
		(*rows)[i] = &stall->row;
	}
	return NULL;
}

/* --- text ------------------------------------------------------------------------------------- */

static void write_uncounted(const struct survey *survey, const char *executions, FILE *out)
{
	const struct hp_stall_sheet *sheet = &survey->sheet;

	if (survey->counted)
		fprintf(out, "%s of %zu of %zu procedures (%.1f %% of the cycles) were not counted",
			executions, survey->procedures - survey->counted, survey->procedures,
			100 * (1 - sheet->counted_cycles / sheet->cycles));
	else
		fprintf(out, "%s were not counted", executions);
}

static void write_reservations(const struct survey *survey, FILE *out)
{
	if (survey->is_absolute)
		return;
	fputs("  ", out);
	write_uncounted(survey, "Executions", out);
	fputs(sheet_is_measured(&survey->sheet)
		      ? ".\n  The ranges allow for that.\n"
		      : ".\n  Only the ranges of execution and stalls are known.\n",
	      out);
}

void write_text_stack(const struct report *report, const struct survey *survey, FILE *out)
{
	if (survey->problems & HP_PROBLEM_NO_CLOCK)
		fprintf(out, "\n# caution: %s\n", quantity_problem(HP_PROBLEM_NO_CLOCK));
	if (!(survey->sheet.cycles > 0))
		return;
	fprintf(out, "\nWhere the cycles went (%zu procedure%s analysed)\n", survey->procedures,
		survey->procedures == 1 ? "" : "s");
	write_reservations(survey, out);
	sheet_write(&survey->sheet,
		    (double)report->profiles->events.at[hp_profiles_time_event(report->profiles)]
			    .all.samples,
		    out);
}

/* Writes what makes estimates of some procedures worse. */
static void write_troubles(const struct survey *survey, FILE *out)
{
	const unsigned told = HP_PROBLEM_NOT_CONVERGED | HP_PROBLEM_NOT_SOLVED |
			      HP_PROBLEM_CONTRADICTION | HP_PROBLEM_TOO_FAST;

	for (unsigned bit = 0; bit < SURVEY_PROBLEMS; bit++) {
		const struct trouble *one = &survey->troubles[bit];

		if (!one->procedures || !(told >> bit & 1))
			continue;
		fprintf(out, "# caution: of %zu procedure%s with %.2f %% of the samples: %s\n",
			one->procedures, one->procedures == 1 ? "" : "s",
			survey->samples ? 100 * (double)one->samples / (double)survey->samples : 0,
			quantity_problem((enum hp_analysis_problem)(1u << bit)));
	}
}

static void write_quality(const struct survey *survey, FILE *out)
{
	double samples = survey->samples ? (double)survey->samples : 1;

	putc('\n', out);
	if (survey->kernel)
		fprintf(out,
			"# %.1f %% of the samples are in the kernel, whose code is not analysed; "
			"of the others:\n",
			100 * (double)survey->kernel / ((double)survey->kernel + samples));
	fprintf(out,
		"# %.1f %% of the samples are in blocks whose relative frequency has at least "
		"medium confidence\n",
		100 * survey->sheet.medium_samples / samples);
	if (survey->sheet.counted_cycles > 0)
		fprintf(out,
			"# %.1f %% are in blocks whose executions have at least medium "
			"confidence\n",
			100 * survey->sheet.executions_medium_samples / samples);
	fprintf(out,
		"# %.1f %% are in procedures with fewer than %d samples, %.1f %% in code that "
		"could not be analysed\n",
		100 * (double)survey->few / samples, SURVEY_FEWEST_SAMPLES,
		100 * survey->refused / samples);
	if (survey->problems & HP_PROBLEM_GENERIC_CORE)
		fprintf(out, "# caution: %s\n", quantity_problem(HP_PROBLEM_GENERIC_CORE));
	write_troubles(survey, out);
}

static struct hp_error *no_time(const struct report *report)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT, "no event that measures time was recorded"),
		report->options->of.event
			? "--event selects none that measures time"
			: "record cycles, or the default event of hpcprof record");
}

static bool any_is_counted(const struct survey *survey)
{
	for (size_t i = 0; i < survey->stalls.count; i++)
		if (isfinite(stall_frequency(&survey->stalls.at[i].row)->executions))
			return true;
	return false;
}

static bool any_has_average(const struct survey *survey)
{
	for (size_t i = 0; i < survey->stalls.count; i++)
		if (has_average(&survey->stalls.at[i]))
			return true;
	return false;
}

/* On a narrow terminal, columns that follow from the shares make room for causes. */
static bool is_left_out(const struct column *column, const struct report *report)
{
	return is_narrow(report) &&
	       (column->cell == cell_cumulative || column->cell == stall_cell_cycles);
}

static struct hp_error *fill_for_text(const struct report *report, struct columns *columns)
{
	for (size_t i = 0; i < HP_ARRAY_COUNT(text_columns_of_stalls); i++) {
		const struct column *column = &text_columns_of_stalls[i];

		if (is_left_out(column, report))
			continue;
		if (!hp_vector_push(&columns->at, *column))
			return hp_error_create_no_memory();
	}
	return NULL;
}

static struct hp_error *no_clock(void)
{
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT,
				"the clock was not measured while recording, so cycles and stalls "
				"are not known"),
		"record again: hpcprof record measures it\nhpcprof report --annotate=PROC shows "
		"what is known without the clock: samples and frequencies of blocks");
}

struct hp_error *survey_stalls(struct report *report, enum survey_list list, struct survey *survey)
{
	struct hp_error *error;

	if (hp_profiles_time_event(report->profiles) == report->profiles->events.count)
		return no_time(report);
	if (!(hp_profiles_cycles_per_unit(report->profiles) > 0))
		return no_clock();
	error = survey_make(report, list, survey);
	if (error || survey->procedures)
		return error;
	if (survey->kernel > survey->samples)
		return hp_error_advise(
			hp_error_create(
				HP_ERROR_INSUFFICIENT,
				"%" PRIu64 " of %" PRIu64 " samples are in the kernel, whose "
				"code is not analysed, and no procedure has %d of the others",
				survey->kernel, survey->kernel + survey->samples,
				SURVEY_FEWEST_SAMPLES),
			"record for longer or at a higher rate; hpcprof report lists the kernel's "
			"procedures");
	return hp_error_advise(
		hp_error_create(HP_ERROR_INSUFFICIENT,
				"no procedure with %d samples or more could be analysed",
				SURVEY_FEWEST_SAMPLES),
		"hpcprof report --summary lists the images that could not be read; record for "
		"longer or at a higher rate if there are few samples");
}

/* Writes advice for the worst stalls, each sentence once. */
static void write_advice(const struct survey *survey, FILE *out)
{
	const char *told[MOST_ADVICE];
	size_t count = 0;

	for (size_t i = 0; i < survey->stalls.count && i < ADVISED_STALLS && count < MOST_ADVICE;
	     i++) {
		const struct hp_analysed_insn *culprit;
		const char *advice = advice_for(&survey->stalls.at[i], &culprit);
		bool is_new = advice != NULL;

		for (size_t j = 0; j < count && is_new; j++)
			is_new = strcmp(told[j], advice) != 0;
		if (!is_new)
			continue;
		told[count++] = advice;
		fprintf(out, "# 0x%" PRIx64 ": %s\n", culprit->insn->address, advice);
	}
}

static bool any_share_is_unknown(const struct survey *survey)
{
	for (size_t i = 0; i < survey->stalls.count; i++)
		if (sheet_is_unknown(survey->stalls.at[i].share.low,
				     survey->stalls.at[i].share.high))
			return true;
	return false;
}

static void write_legend(const struct report *report, const struct survey *survey, FILE *out)
{
	fprintf(out,
		"# between: 90 %% interval of the stall's share of the profile%s\n"
		"%s# causes: what may have caused it, likeliest first, and of how much of the "
		"instruction's time, if that is known; +: together\n",
		any_share_is_unknown(survey) ? "; unknown: it can be almost anything" : "",
		any_has_average(survey) ? "# average: cycles of stall per execution\n" : "");
	if (survey->is_absolute)
		return;
	fputs("# ", out);
	write_uncounted(survey, "executions", out);
	fprintf(out, "%s, so averages are lower limits (\xe2\x89\xa5); %s\n",
		any_is_counted(survey) ? " (no number)" : "", counting_advice(report));
}

struct hp_error *write_stalls_text(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = survey_stalls(report, SURVEY_STALLS, &survey);

	if (!error)
		error = stall_rows(&survey, &rows);
	if (!error)
		error = fill_for_text(report, &columns);
	if (error)
		return error;
	putc('\n', out);
	error = write_text_table(report, &columns, rows, survey.stalls.count, out);
	if (survey.hidden)
		fprintf(out, "# not shown: %zu stall%s (%.2f %%); --limit N shows more\n",
			survey.hidden, survey.hidden == 1 ? "" : "s",
			100 * survey_share(&survey, survey.hidden_cycles));
	if (error)
		return error;
	write_legend(report, &survey, out);
	write_quality(&survey, out);
	write_advice(&survey, out);
	write_text_stack(report, &survey, out);
	return NULL;
}

/* --- CSV and JSON ----------------------------------------------------------------------------- */

struct hp_error *write_stalls_csv(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = survey_stalls(report, SURVEY_STALLS, &survey);

	if (!error)
		error = stall_rows(&survey, &rows);
	if (!error)
		error = stall_columns(csv_columns_of_stalls, HP_ARRAY_COUNT(csv_columns_of_stalls),
				      &columns);
	return error ? error : write_csv_table(report, &columns, rows, survey.stalls.count, out);
}

static json_t *stall_object(const struct hp_row *row)
{
	const struct stall *stall = stall_of_row(row);
	_cleanup_(hp_buffer_free) struct hp_buffer line = { 0 };
	const struct hp_analysed_insn *culprit;
	const char *advice = advice_for(stall, &culprit);
	json_t *together = json_together(stall->insn);
	json_t *object;

	if (row->file)
		hp_buffer_printf(&line, "%s:%" PRIu32, hp_source_name(row->file), row->line);
	object = json_pack(
		"{s:f, s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "share",
		row->local, "share_low", stall->share.low, "share_high", stall->share.high,
		"cycles", stall->cycles, "executions", json_executions(stall_frequency(row)),
		"average", json_number(stall_average(stall)), "stalls",
		json_stalls(stall->analysis, stall->insn), "address",
		json_address(true, row->address), "procedure", json_text(row->name), "image",
		json_text(row->image->id.path), "build_id", json_text(row->image->build_id), "line",
		row->file ? json_text(hp_buffer_text(&line)) : json_null(), "advice",
		advice ? json_text(advice) : json_null());
	if (object && together)
		json_object_set_new(object, "together", together);
	return object;
}

json_t *json_survey(const struct survey *survey)
{
	json_t *stack = json_stack(&survey->sheet, survey->is_absolute);

	if (json_is_object(stack))
		json_object_set_new(stack, "kernel_samples", json_count(survey->kernel));
	return stack;
}

struct hp_error *write_stalls_json(struct report *report, FILE *out)
{
	_cleanup_(survey_clear) struct survey survey = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = survey_stalls(report, SURVEY_STALLS, &survey);

	if (!error)
		error = stall_rows(&survey, &rows);
	if (!error)
		error = json_write(json_header(report, "hpcprof-stalls/1"), true, out);
	if (error)
		return error;
	fputs(",\n\"stack\": ", out);
	error = json_write(json_survey(&survey), false, out);
	fputs(",\n\"stalls\": [", out);
	for (size_t i = 0; i < survey.stalls.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(stall_object(rows[i]), false, out);
	}
	fputs("]}\n", out);
	return error;
}
