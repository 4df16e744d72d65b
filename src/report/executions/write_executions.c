/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --calls and --executions: tables of what windows counted, in each format. */
#include "../tables/table.h"
#include "write_executions.h"
#include "../tables/cells.h"
#include "../tables/columns_analysis.h"
#include "executions.h"
#include "../common/json.h"
#include "../common/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- cells ------------------------------------------------------------------------------------ */

/* Tables write rows. In these views a row is the first member of what was executed, and has its
 * share in `local`. */
static const struct executed *executed_of(const struct hp_row *row)
{
	return (const struct executed *)(const void *)row;
}
_Static_assert(offsetof(struct executed, row) == 0, "what was executed is a row");

static void add_figure(struct hp_buffer *text, const struct hp_counted_figure *figure)
{
	quantity_add_interval(text, figure->value, figure->low, figure->high);
}

static void cell_runs(const struct cell *cell, struct hp_buffer *text)
{
	if (!executed_of(cell->row)->is_by_time)
		add_figure(text, &executed_of(cell->row)->runs);
}

static void cell_instructions(const struct cell *cell, struct hp_buffer *text)
{
	add_figure(text, &executed_of(cell->row)->instructions);
}

static void cell_share(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%.2f", 100 * cell->row->local);
}

static void cell_each(const struct cell *cell, struct hp_buffer *text)
{
	const struct executed *one = executed_of(cell->row);

	if (one->runs.value > 0)
		quantity_add(text, one->instructions.value / one->runs.value);
}

static void add_text(struct hp_buffer *text, const char *added)
{
	hp_buffer_add(text, added, strlen(added));
}

static void cell_where(const struct cell *cell, struct hp_buffer *text)
{
	add_text(text, cell->row->image->short_name);
}

static void cell_callee(const struct cell *cell, struct hp_buffer *text)
{
	const struct executed *one = executed_of(cell->row);

	add_text(text, one->callee);
	if (one->callee_image && one->callee_image != cell->row->image)
		hp_buffer_printf(text, " [%s]", one->callee_image->short_name);
	if (one->is_jump)
		add_text(text, " (jump)");
}

static void cell_position(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%s:%" PRIu32, hp_source_name(cell->row->file), cell->row->line);
}

static void cell_value(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, executed_of(cell->row)->runs.value);
}

static void cell_low(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, executed_of(cell->row)->runs.low);
}

static void cell_high(const struct cell *cell, struct hp_buffer *text)
{
	columns_add_number(text, executed_of(cell->row)->runs.high);
}

static void cell_exact_instructions(const struct cell *cell, struct hp_buffer *text)
{
	if (!cell->row->file)
		columns_add_number(text, executed_of(cell->row)->instructions.value);
}

static void cell_exact_share(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%.6f", 100 * cell->row->local);
}

static void cell_bare_callee(const struct cell *cell, struct hp_buffer *text)
{
	add_text(text, executed_of(cell->row)->callee);
}

static void cell_callee_image(const struct cell *cell, struct hp_buffer *text)
{
	if (executed_of(cell->row)->callee_image)
		add_text(text, executed_of(cell->row)->callee_image->id.path);
}

static void cell_kind(const struct cell *cell, struct hp_buffer *text)
{
	add_text(text, executed_of(cell->row)->is_jump ? "jump" : "call");
}

static void cell_scope(const struct cell *cell, struct hp_buffer *text)
{
	add_text(text, cell->row->file ? "line" : "procedure");
}

static const struct column text_calls[] = {
	{ "calls", true, false, NO_EVENT, cell_runs },
	{ "%", true, false, NO_EVENT, cell_share },
	{ "caller", false, true, NO_EVENT, cell_shown },
	{ "callee", false, true, NO_EVENT, cell_callee },
	{ "image", false, true, NO_EVENT, cell_where },
	{ 0 },
};
static const struct column text_procedures[] = {
	{ "calls", true, false, NO_EVENT, cell_runs },
	{ "instructions", true, false, NO_EVENT, cell_instructions },
	{ "%", true, false, NO_EVENT, cell_share },
	{ "each", true, false, NO_EVENT, cell_each },
	{ "procedure", false, true, NO_EVENT, cell_shown },
	{ "image", false, true, NO_EVENT, cell_where },
	{ 0 },
};
/* used if only relative counts are known */
static const struct column text_relative[] = {
	{ "%", true, false, NO_EVENT, cell_share },
	{ "procedure", false, true, NO_EVENT, cell_shown },
	{ "image", false, true, NO_EVENT, cell_where },
	{ 0 },
};
static const struct column text_relative_calls[] = {
	{ "%", true, false, NO_EVENT, cell_share },
	{ "caller", false, true, NO_EVENT, cell_shown },
	{ "callee", false, true, NO_EVENT, cell_callee },
	{ "image", false, true, NO_EVENT, cell_where },
	{ 0 },
};
static const struct column text_lines[] = {
	{ "executions", true, false, NO_EVENT, cell_runs },
	{ "line", false, true, NO_EVENT, cell_position },
	{ "procedure", false, true, NO_EVENT, cell_shown },
	{ "image", false, true, NO_EVENT, cell_where },
	{ 0 },
};
static const struct column csv_calls[] = {
	{ "calls", true, false, NO_EVENT, cell_value },
	{ "calls_low", true, false, NO_EVENT, cell_low },
	{ "calls_high", true, false, NO_EVENT, cell_high },
	{ "percent", true, false, NO_EVENT, cell_exact_share },
	{ "kind", false, false, NO_EVENT, cell_kind },
	{ "caller", false, false, NO_EVENT, cell_name },
	{ "caller_image", false, false, NO_EVENT, cell_image },
	{ "callee", false, false, NO_EVENT, cell_bare_callee },
	{ "callee_image", false, false, NO_EVENT, cell_callee_image },
	{ 0 },
};
static const struct column csv_executions[] = {
	{ "scope", false, false, NO_EVENT, cell_scope },
	{ "executions", true, false, NO_EVENT, cell_value },
	{ "executions_low", true, false, NO_EVENT, cell_low },
	{ "executions_high", true, false, NO_EVENT, cell_high },
	{ "instructions", true, false, NO_EVENT, cell_exact_instructions },
	{ "procedure", false, false, NO_EVENT, cell_name },
	{ "image", false, false, NO_EVENT, cell_image },
	{ "build_id", false, false, NO_EVENT, cell_build_id },
	{ "file", false, false, NO_EVENT, cell_file },
	{ "line", false, false, NO_EVENT, cell_line },
	{ 0 },
};

/* --- tables ----------------------------------------------------------------------------------- */

static struct hp_error *list_rows(struct executions *executions, struct hp_row ***rows)
{
	*rows = calloc(executions->at.count + 1, sizeof(**rows));
	if (!*rows)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < executions->at.count; i++) {
		struct executed *one = &executions->at.at[i];

		one->row.local = executions->whole > 0 ? one->weight / executions->whole : 0;
		(*rows)[i] = &one->row;
	}
	return NULL;
}

static struct hp_error *take_columns(const struct column *from, struct columns *columns)
{
	for (; from->title; from++)
		if (!hp_vector_push(&columns->at, *from))
			return hp_error_create_no_memory();
	return NULL;
}

static struct hp_error *write_table(struct report *report, struct executions *executions,
				    const struct column *from, const char *title, FILE *out)
{
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = list_rows(executions, &rows);

	if (!error)
		error = take_columns(from, &columns);
	if (error)
		return error;
	fprintf(out, "\n%s", title);
	error = write_text_table(report, &columns, rows, executions->at.count, out);
	if (executions->hidden)
		fprintf(out, "# not shown: %zu more; --limit N shows more\n", executions->hidden);
	return error;
}

static void write_legend(const struct report *report, const struct executions *executions,
			 FILE *out)
{
	if (!executions->is_absolute && report->inference->windows.why_relative)
		fputs("# only relative counts are known, see above: % is the share of what was "
		      "counted\n",
		      out);
	else if (executions->is_partial)
		fputs("# no number: too few windows for an estimate within a factor of five: "
		      "record for longer, or with a larger share (--shadow=PERCENT)\n",
		      out);
	if (executions->has_unseen)
		fputs("# no calls: no window saw it run; its instructions are estimated from its "
		      "time\n",
		      out);
	if (executions->has_jumps)
		fputs("# (jump): reached by a jump instead of a call; it returns to the caller's "
		      "caller\n",
		      out);
}

struct hp_error *write_calls_text(struct report *report, FILE *out)
{
	_cleanup_(executions_clear) struct executions executions = { 0 };
	struct hp_error *error = executions_of_calls(report, &executions);

	if (!error)
		error = write_table(report, &executions,
				    executions.is_absolute ? text_calls : text_relative_calls, "",
				    out);
	if (!error)
		write_legend(report, &executions, out);
	return error;
}

static bool is_nothing(struct hp_error *error)
{
	bool is_insufficient = error && error->class == HP_ERROR_INSUFFICIENT;

	if (is_insufficient)
		hp_error_destroy(error);
	return is_insufficient;
}

struct hp_error *write_executions_text(struct report *report, FILE *out)
{
	_cleanup_(executions_clear) struct executions procedures = { 0 };
	_cleanup_(executions_clear) struct executions lines = { 0 };
	struct hp_error *error = executions_of_procedures(report, &procedures);

	if (!error)
		error = write_table(report, &procedures,
				    procedures.is_absolute ? text_procedures : text_relative,
				    "Procedures\n", out);
	if (error)
		return error;
	write_legend(report, &procedures, out);
	error = executions_of_lines(report, &lines);
	if (is_nothing(error)) {
		fputs("\n# no line numbers: the images have no debugging information\n", out);
		return NULL;
	}
	/* of lines, only the number of executions is shown, so relative counts are no use */
	if (!error && !lines.is_absolute)
		return NULL;
	return error ? error : write_table(report, &lines, text_lines, "Lines\n", out);
}

static struct hp_error *write_csv_of(struct report *report, struct executions *executions,
				     const struct column *from, FILE *out)
{
	_cleanup_(columns_clear) struct columns columns = { 0 };
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = list_rows(executions, &rows);

	if (!error)
		error = take_columns(from, &columns);
	return error ? error : write_csv_table(report, &columns, rows, executions->at.count, out);
}

struct hp_error *write_calls_csv(struct report *report, FILE *out)
{
	_cleanup_(executions_clear) struct executions executions = { 0 };
	struct hp_error *error = executions_of_calls(report, &executions);

	return error ? error : write_csv_of(report, &executions, csv_calls, out);
}

/* Procedures, then lines, in one table; the column `scope` tells which. */
struct hp_error *write_executions_csv(struct report *report, FILE *out)
{
	_cleanup_(executions_clear) struct executions all = { 0 };
	_cleanup_(executions_clear) struct executions lines = { 0 };
	struct hp_error *error = executions_of_procedures(report, &all);

	if (error)
		return error;
	error = executions_of_lines(report, &lines);
	if (is_nothing(error))
		error = NULL;
	for (size_t i = 0; i < lines.at.count && !error; i++)
		if (!hp_vector_push(&all.at, lines.at.at[i]))
			error = hp_error_create_no_memory();
	return error ? error : write_csv_of(report, &all, csv_executions, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static json_t *call_object(const struct executed *one)
{
	return json_pack("{s:{s:o, s:o, s:o}, s:{s:o, s:o, s:o}, s:s, s:f, s:o}", "caller", "name",
			 json_text(one->row.name), "image", json_text(one->row.image->id.path),
			 "address", json_address(true, one->row.address), "callee", "name",
			 json_text(one->callee), "image",
			 json_text(one->callee_image ? one->callee_image->id.path : NULL),
			 "address", json_address(one->has_callee_address, one->callee_address),
			 "kind", one->is_jump ? "jump" : "call", "share", one->row.local, "calls",
			 json_figure(&one->runs));
}

static json_t *procedure_object(const struct executed *one)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s}", "name", json_text(one->row.name),
			 "image", json_text(one->row.image->id.path), "address",
			 json_address(true, one->row.address), "calls", json_figure(&one->runs),
			 "instructions", json_figure(&one->instructions), "source",
			 one->is_by_time ? "time" : "windows");
}

static json_t *line_object(const struct executed *one)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "file", json_text(one->row.file), "line",
			 json_integer(one->row.line), "procedure", json_text(one->row.name),
			 "image", json_text(one->row.image->id.path), "executions",
			 json_figure(&one->runs));
}

static struct hp_error *write_list(struct executions *executions, const char *name,
				   json_t *(*object)(const struct executed *one), FILE *out)
{
	_cleanup_free_ struct hp_row **rows = NULL;
	struct hp_error *error = list_rows(executions, &rows);

	fprintf(out, ",\n\"%s\": [", name);
	for (size_t i = 0; i < executions->at.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(object(&executions->at.at[i]), false, out);
	}
	fputs("]", out);
	return error;
}

struct hp_error *write_calls_json(struct report *report, FILE *out)
{
	_cleanup_(executions_clear) struct executions executions = { 0 };
	struct hp_error *error = executions_of_calls(report, &executions);

	if (error)
		return error;
	error = json_write(json_header(report, "hpcprof-calls/1"), true, out);
	if (!error)
		error = write_list(&executions, "calls", call_object, out);
	fputs("}\n", out);
	return error;
}

struct hp_error *write_executions_json(struct report *report, FILE *out)
{
	_cleanup_(executions_clear) struct executions procedures = { 0 };
	_cleanup_(executions_clear) struct executions lines = { 0 };
	struct hp_error *error = executions_of_procedures(report, &procedures);

	if (error)
		return error;
	error = executions_of_lines(report, &lines);
	if (is_nothing(error))
		error = NULL;
	if (!error)
		error = json_write(json_header(report, "hpcprof-executions/1"), true, out);
	if (!error)
		error = write_list(&procedures, "procedures", procedure_object, out);
	if (!error)
		error = write_list(&lines, "lines", line_object, out);
	fputs("}\n", out);
	return error;
}
