/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write_stack.h"

#include "../common/json.h"
#include "../common/text.h"
#include "../tuning.h"
#include "program_stack.h"

#include <inttypes.h>
#include <math.h>

/* --- text ------------------------------------------------------------------------------------- */

static int by_likely(const void *left, const void *right, void *context)
{
	const struct hp_cpi_stack *stack = context;
	double a = stack->parts[*(const unsigned *)left].likely;
	double b = stack->parts[*(const unsigned *)right].likely;

	return (a < b) - (a > b);
}

static void write_part(const struct hp_cpi_stack *stack, unsigned component, FILE *out)
{
	enum { WIDEST = 40 };
	const struct hp_cpi_part *part = &stack->parts[component];
	int blocks = (int)lround(WIDEST * fmin(1, fmax(0, part->likely)));

	fprintf(out, "  %-16s %4.0f %%  %4.0f to %3.0f  ",
		hp_cpi_word((enum hp_cpi_component)component), 100 * part->likely, 100 * part->low,
		100 * part->high);
	for (int i = 0; i < blocks; i++)
		fputs("█", out);
	putc('\n', out);
}

/* Names parts that are likely too small to be shown, but may be large. */
static void write_possible(const struct hp_cpi_stack *stack, FILE *out)
{
	unsigned written = 0;

	for (unsigned i = 0; i < HP_CPI_UNEXPLAINED; i++) {
		const struct hp_cpi_part *part = &stack->parts[i];

		if (fabs(part->likely) < least_stack_share && part->high >= least_possible_share)
			fprintf(out, "%s%s up to %.0f %%", written++ ? ", " : "  # not ruled out: ",
				hp_cpi_word((enum hp_cpi_component)i), 100 * part->high);
	}
	if (written)
		putc('\n', out);
}

/* Writes parts that are large enough, the largest first. */
static void write_parts(const struct hp_cpi_stack *stack, unsigned most, FILE *out)
{
	unsigned order[HP_CPI_COMPONENTS];

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		order[i] = i;
	qsort_r(order, HP_CPI_COMPONENTS, sizeof(*order), by_likely, (void *)(uintptr_t)stack);
	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++) {
		double likely = stack->parts[order[i]].likely;

		if (i < most && fabs(likely) >= least_stack_share)
			write_part(stack, order[i], out);
	}
	write_possible(stack, out);
	if (stack->excess >= least_stack_share)
		fprintf(out, "  # %.0f %% more were predicted than measured, and are taken off\n",
			100 * stack->excess);
}

/* Writes the range of components that one access can have at once, where several are shown. */
static void write_groups(const struct hp_cpi_stack *stack, FILE *out)
{
	for (unsigned j = 0; j < HP_CPI_GROUPS; j++) {
		uint32_t members = hp_cpi_members((enum hp_cpi_group)j);
		unsigned shown = 0, written = 0;

		for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
			shown += members >> i & 1 && stack->parts[i].likely >= least_stack_share;
		for (unsigned i = 0; i < HP_CPI_COMPONENTS && shown > 1; i++)
			if (members >> i & 1 && stack->parts[i].likely >= least_stack_share)
				fprintf(out, "%s%s", written++ ? ", " : "  # ",
					hp_cpi_word((enum hp_cpi_component)i));
		if (shown > 1)
			fprintf(out, " together: %.0f to %.0f %%\n", 100 * stack->groups[j].low,
				100 * stack->groups[j].high);
	}
}

/* Writes the cycles per instruction, and of which part of the code these and the components are: the
 * rest of a procedure or loop was not simulated, and may have others. */
static void write_cpi(const struct stacked *one, FILE *out)
{
	double simulated = one->prediction->measured / one->cycles;

	if (isfinite(one->stack.cpi))
		fprintf(out, ", %.2f cycles per instruction", one->stack.cpi);
	if (one->row && simulated <= 1 - least_stack_share)
		fprintf(out, ", of the %.0f %% of its cycles in code that was simulated",
			100 * simulated);
	putc('\n', out);
}

static void write_latencies(const struct report *report, FILE *out)
{
	const struct hp_core *core = &report->inference->core;

	fprintf(out,
		"# a load takes %u cycles from L2, %u from L3, %u from memory, as measured while "
		"recording\n",
		core->l2_cycles, core->l3_cycles, core->memory_cycles);
}

/* Writes which penalties the model has, and their error on parts of windows. */
static void write_penalties(const struct hp_penalties *penalties, FILE *out)
{
	if (!penalties->is_fitted) {
		fputs("# penalties are those of the core's table", out);
		if (!penalties->is_judged)
			fputs(": fitting them to this program needs two long windows\n", out);
		else
			fprintf(out,
				": its error on parts of windows is %.0f %% (median), and fitted "
				"ones are no better\n",
				100 * penalties->by_table.median);
		return;
	}
	fprintf(out, "# penalties are fitted to %zu parts of %zu windows; times the core's table:",
		penalties->parts, penalties->windows);
	for (unsigned i = 0; i < HP_PENALTY_UNPLACED; i++)
		fprintf(out, "%s %s %.2f", i ? "," : "\n#", hp_penalty_word((enum hp_penalty)i),
			penalties->factors[i]);
	fprintf(out,
		"\n# their error on %s that were left out of the fit is %.0f %% (median; 90th "
		"percentile %.0f %%), that of the table %.0f %%\n",
		penalties->by_parts ? "parts" : "windows", 100 * penalties->left_out.median,
		100 * penalties->left_out.ninth, 100 * penalties->by_table.median);
}

/* Writes how much of the cycles the windows say nothing of, if that is much. */
static void write_apart(const struct stacked *one, FILE *out)
{
	double apart = one->prediction->apart / one->prediction->measured;

	if (apart >= least_stack_share)
		fprintf(out,
			"  # %.0f %% are of moments unlike those in windows, and may be of "
			"anything: "
			"record for longer\n",
			100 * fmin(1, apart));
}

/* Writes the name of what the stack belongs to, for people. */
static void write_heading(const struct stacked *one, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	if (!one->row) {
		fprintf(out, "\nprogram: %.1f %% of the cycles are in code that was simulated",
			100 * one->share);
		return;
	}
	stacked_name(one, &text);
	fprintf(out, "\n%.2f %%  %s", 100 * one->share, hp_buffer_text(&text));
}

struct hp_error *write_stack_text(struct report *report, FILE *out)
{
	_cleanup_(program_stack_clear) struct program_stack program = { 0 };
	struct hp_error *error = program_stack_make(report, &program);

	if (error)
		return error;
	for (size_t i = 0; i < program.all.count; i++) {
		const struct stacked *one = &program.all.at[i];

		if (one->is_minor)
			continue;
		write_heading(one, out);
		write_cpi(one, out);
		write_parts(&one->stack, one->row ? STACK_LINES : HP_CPI_COMPONENTS, out);
		write_groups(&one->stack, out);
		write_apart(one, out);
	}
	if (program.survey.hidden)
		fprintf(out, "\n# not shown: %zu procedure%s (%.2f %%); --limit N shows more\n",
			program.survey.hidden, program.survey.hidden == 1 ? "" : "s",
			100 * survey_share(&program.survey, program.survey.hidden_cycles));
	write_latencies(report, out);
	write_penalties(&program.survey.penalties, out);
	fputs("# shares of the measured cycles, by a model of the core that followed the program's "
	      "path; to: ranges, which overlap\n"
	      "# --stalls, --memory and --branches show the instructions\n",
	      out);
	return NULL;
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

static json_t *components_object(const struct hp_cpi_stack *stack)
{
	json_t *components = json_object();

	for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
		json_object_set_new(components, hp_cpi_name((enum hp_cpi_component)i),
				    json_pack("{s:f, s:f, s:f}", "likely", stack->parts[i].likely,
					      "low", stack->parts[i].low, "high",
					      stack->parts[i].high));
	return components;
}

static json_t *groups_array(const struct hp_cpi_stack *stack)
{
	json_t *groups = json_array();

	for (unsigned j = 0; j < HP_CPI_GROUPS; j++) {
		json_t *members = json_array();

		for (unsigned i = 0; i < HP_CPI_COMPONENTS; i++)
			if (hp_cpi_members((enum hp_cpi_group)j) >> i & 1)
				json_array_append_new(members, json_string(hp_cpi_name(
								       (enum hp_cpi_component)i)));
		json_array_append_new(groups, json_pack("{s:o, s:f, s:f, s:f}", "components",
							members, "likely", stack->groups[j].likely,
							"low", stack->groups[j].low, "high",
							stack->groups[j].high));
	}
	return groups;
}

static json_t *errors_object(const struct hp_penalty_errors *errors)
{
	return json_pack("{s:f, s:f}", "median", errors->median, "p90", errors->ninth);
}

static json_t *penalties_object(const struct hp_penalties *penalties)
{
	json_t *factors = json_object();

	for (unsigned i = 0; i < HP_PENALTIES; i++)
		json_object_set_new(factors, hp_penalty_name((enum hp_penalty)i),
				    json_real(penalties->factors[i]));
	return json_pack(
		"{s:b, s:s?, s:o, s:o, s:o, s:o, s:o}", "fitted", penalties->is_fitted, "left_out",
		!penalties->is_judged ? NULL
		: penalties->by_parts ? "parts"
				      : "windows",
		"factors", factors, "windows", json_count(penalties->windows), "parts",
		json_count(penalties->parts), "table_error", errors_object(&penalties->by_table),
		"left_out_error", errors_object(&penalties->left_out));
}

static json_t *stack_object(const struct stacked *one)
{
	const struct hp_cpi_stack *stack = &one->stack;
	const struct hp_prediction *prediction = one->prediction;
	bool is_absolute = isfinite(stack->cpi);

	return json_pack("{s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f}", "share",
			 one->share, "cycles", stack->cycles, "apart_cycles", prediction->apart,
			 "predicted_cycles", json_number(stack->predicted), "guessed_cycles",
			 json_number(is_absolute ? prediction->predicted[HP_LANE_AS_IS] : NAN),
			 "cpi", json_number(stack->cpi), "instructions",
			 json_number(is_absolute ? prediction->instructions : NAN),
			 "best_case_cycles", json_number(is_absolute ? prediction->best_case : NAN),
			 "components", components_object(stack), "together", groups_array(stack),
			 "excess", stack->excess);
}

static json_t *procedure_object(const struct stacked *one)
{
	json_t *object = stack_object(one);

	json_object_set_new(object, "procedure", json_text(one->row->name));
	json_object_set_new(object, "image", json_text(one->row->image->id.path));
	json_object_set_new(object, "build_id", json_text(one->row->image->build_id));
	return object;
}

static json_t *loop_object(const struct stacked *one)
{
	_cleanup_(hp_buffer_free) struct hp_buffer line = { 0 };
	json_t *object = stack_object(one);

	stacked_line(one, &line);
	json_object_set_new(object, "address", json_address(true, one->address));
	json_object_set_new(object, "depth", json_count(one->loop->depth));
	json_object_set_new(object, "line",
			    one->file ? json_text(hp_buffer_text(&line)) : json_null());
	return object;
}

/* Writes the procedure at index `first` with its loops, and moves `first` to the next procedure. */
static struct hp_error *write_procedure(const struct program_stack *program, size_t *first,
					FILE *out)
{
	const struct stacked *all = program->all.at;
	size_t i = *first;
	struct hp_error *error = json_write(procedure_object(&all[i++]), true, out);

	fputs(", \"loops\": [", out);
	for (; i < program->all.count && all[i].loop && !error; i++) {
		fputs(i > *first + 1 ? ",\n" : "\n", out);
		error = json_write(loop_object(&all[i]), false, out);
	}
	fputs("]}", out);
	*first = i;
	return error;
}

struct hp_error *write_stack_json(struct report *report, FILE *out)
{
	_cleanup_(program_stack_clear) struct program_stack program = { 0 };
	struct hp_error *error = program_stack_make(report, &program);
	const char *separator = "\n";

	if (!error)
		error = json_write(json_header(report, "hpcprof-stack/1"), true, out);
	if (error)
		return error;
	fputs(",\n\"penalties\": ", out);
	error = json_write(penalties_object(&program.survey.penalties), false, out);
	if (error)
		return error;
	fputs(",\n\"program\": ", out);
	error = json_write(stack_object(&program.all.at[0]), false, out);
	fputs(",\n\"procedures\": [", out);
	for (size_t i = 1; i < program.all.count && !error; separator = ",\n") {
		fputs(separator, out);
		error = write_procedure(&program, &i, out);
	}
	fputs("]}\n", out);
	return error;
}

static void write_record(const struct stacked *one, unsigned component, FILE *out)
{
	const struct hp_cpi_part *part = &one->stack.parts[component];
	_cleanup_(hp_buffer_free) struct hp_buffer record = { 0 };

	text_csv(&record, one->row ? one->row->image->id.path : "");
	hp_buffer_printf(&record, ",");
	text_csv(&record, one->row ? one->row->name : "");
	fprintf(out, "%s,%s,%.17g,%.17g,%.17g,", hp_buffer_text(&record),
		hp_cpi_name((enum hp_cpi_component)component), part->likely, part->low, part->high);
	if (one->loop)
		fprintf(out, "0x%" PRIx64, one->address);
	fputs("\r\n", out);
}

struct hp_error *write_stack_csv(struct report *report, FILE *out)
{
	_cleanup_(program_stack_clear) struct program_stack program = { 0 };
	struct hp_error *error = program_stack_make(report, &program);

	if (error)
		return error;
	fputs("image,procedure,component,likely,low,high,loop\r\n", out);
	for (size_t i = 0; i < program.all.count; i++)
		for (unsigned component = 0; component < HP_CPI_COMPONENTS; component++)
			write_record(&program.all.at[i], component, out);
	return NULL;
}
