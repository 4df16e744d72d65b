/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write_stack.h"

#include "../common/json.h"
#include "../common/quantity.h"
#include "../common/text.h"
#include "../tuning.h"
#include "stack.h"
#include "stall_cells.h"
#include "survey.h"
#include "write_culprits.h"
#include "write_stalls.h"

#include <math.h>

/* The program's, and the procedures' it is the sum of. */
struct program {
	struct survey survey;
	struct hp_row **rows;
	struct hp_prediction prediction;
	struct stack stack;
	bool is_absolute;
};

static void program_clear(struct program *program)
{
	survey_clear(&program->survey);
	free(program->rows);
}

static struct stack stack_of_row(const struct hp_row *row)
{
	return stack_of_analysis(stall_of_row(row)->analysis);
}

/* Procedures that limits hide are part of the program. */
static struct hp_error *program_make(struct report *report, struct program *program)
{
	struct hp_error *error = survey_stalls(report, SURVEY_TIMED, &program->survey);
	struct stack whole;

	if (!error && !program->survey.simulated)
		error = nothing_simulated(report);
	if (!error)
		error = stall_rows(&program->survey, &program->rows);
	if (error)
		return error;
	program->prediction = program->survey.prediction;
	program->is_absolute = program->survey.scaled <=
			       unknown_executions * program->prediction.measured;
	program->stack = program->survey.stack;
	stack_sum_end(&program->stack);
	whole = stack_of(&program->prediction, program->is_absolute);
	program->stack.predicted = whole.predicted;
	program->stack.cpi = whole.cpi;
	return NULL;
}

/* --- text ------------------------------------------------------------------------------------- */

static const char *const words[STACK_COMPONENTS] = {
	[STACK_WIDTH] = "issue width",
	[STACK_DEPENDENCY] = "operands",
	[STACK_PORT] = "ports",
	[STACK_DIVIDER] = "divider",
	[STACK_MULTIPLIER] = "multiplier",
	[STACK_FP] = "floating point",
	[STACK_SYNC] = "synchronization",
	[STACK_MISPREDICT] = "mispredicted",
	[STACK_ICACHE] = "code cache",
	[STACK_ITLB] = "code TLB",
	[STACK_FETCH] = "fetch, decode",
	[STACK_L2] = "L2",
	[STACK_FAR] = "L3 or memory",
	[STACK_DTLB] = "data TLB",
	[STACK_STORE_BUFFER] = "store buffer",
	[STACK_STORE_FORWARD] = "forwarding fails",
	[STACK_UNEXPLAINED] = "not predicted",
};

static int by_likely(const void *left, const void *right, void *context)
{
	const struct stack *stack = context;
	double a = stack->parts[*(const unsigned *)left].likely;
	double b = stack->parts[*(const unsigned *)right].likely;

	return (a < b) - (a > b);
}

static void write_part(const struct stack *stack, unsigned component, FILE *out)
{
	enum { WIDEST = 40 };
	const struct stack_part *part = &stack->parts[component];
	int blocks = (int)lround(WIDEST * fmin(1, fmax(0, part->likely)));

	fprintf(out, "  %-16s %4.0f %%  %4.0f to %3.0f  ", words[component], 100 * part->likely,
		100 * part->low, 100 * part->high);
	for (int i = 0; i < blocks; i++)
		fputs("█", out);
	putc('\n', out);
}

/* The largest first; those that matter. */
static void write_parts(const struct stack *stack, unsigned most, FILE *out)
{
	unsigned order[STACK_COMPONENTS];

	for (unsigned i = 0; i < STACK_COMPONENTS; i++)
		order[i] = i;
	qsort_r(order, STACK_COMPONENTS, sizeof(*order), by_likely, (void *)(uintptr_t)stack);
	for (unsigned i = 0; i < STACK_COMPONENTS; i++) {
		double likely = stack->parts[order[i]].likely;

		if (i < most && fabs(likely) >= least_stack_share)
			write_part(stack, order[i], out);
	}
	if (stack->parts[STACK_UNEXPLAINED].likely <= -least_stack_share)
		fprintf(out, "  # %.0f %% more were predicted than measured\n",
			-100 * stack->parts[STACK_UNEXPLAINED].likely);
}

static void write_cpi(const struct stack *stack, FILE *out)
{
	if (isfinite(stack->cpi))
		fprintf(out, ", %.2f cycles per instruction", stack->cpi);
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

struct hp_error *write_stack_text(struct report *report, FILE *out)
{
	_cleanup_(program_clear) struct program program = { 0 };
	struct hp_error *error = program_make(report, &program);

	if (error)
		return error;
	fprintf(out, "\nprogram: %.1f %% of the cycles are in code that was simulated",
		100 * survey_share(&program.survey, program.stack.cycles));
	write_cpi(&program.stack, out);
	write_parts(&program.stack, STACK_COMPONENTS, out);
	for (size_t i = 0; i < program.survey.stalls.count; i++) {
		struct stack stack = stack_of_row(program.rows[i]);
		_cleanup_(hp_buffer_free) struct hp_buffer name = { 0 };

		text_escape(&name, program.rows[i]->shown ? program.rows[i]->shown
							  : program.rows[i]->name);
		fprintf(out, "\n%.2f %%  %s", 100 * program.rows[i]->local, hp_buffer_text(&name));
		write_cpi(&stack, out);
		write_parts(&stack, STACK_LINES, out);
	}
	if (program.survey.hidden)
		fprintf(out, "\n# not shown: %zu procedures (%.2f %%); --limit N shows more\n",
			program.survey.hidden,
			100 * survey_share(&program.survey, program.survey.hidden_cycles));
	write_latencies(report, out);
	fputs("# shares of the measured cycles, by a model of the core that followed the program's "
	      "path; to: ranges, which overlap\n"
	      "# --stalls, --memory and --branches show the instructions\n",
	      out);
	return NULL;
}

/* --- JSON and CSV ----------------------------------------------------------------------------- */

static json_t *components_object(const struct stack *stack)
{
	json_t *components = json_object();

	for (unsigned i = 0; i < STACK_COMPONENTS; i++)
		json_object_set_new(components, stack_name((enum stack_component)i),
				    json_pack("{s:f, s:f, s:f}", "likely", stack->parts[i].likely,
					      "low", stack->parts[i].low, "high",
					      stack->parts[i].high));
	return components;
}

static json_t *stack_object(const struct stack *stack, double share,
			    const struct hp_prediction *prediction)
{
	return json_pack(
		"{s:f, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "share", share, "cycles", stack->cycles,
		"predicted_cycles", json_number(stack->predicted), "guessed_cycles",
		json_number(isfinite(stack->cpi) ? prediction->predicted[HP_LANE_AS_IS] : NAN),
		"cpi", json_number(stack->cpi), "instructions",
		json_number(isfinite(stack->cpi) ? prediction->instructions : NAN),
		"best_case_cycles", json_number(isfinite(stack->cpi) ? prediction->best_case : NAN),
		"components", components_object(stack));
}

static json_t *procedure_object(const struct hp_row *row)
{
	const struct stall *one = stall_of_row(row);
	struct stack stack = stack_of_row(row);
	json_t *object = stack_object(&stack, row->local, &one->analysis->prediction);

	json_object_set_new(object, "procedure", json_text(row->name));
	json_object_set_new(object, "image", json_text(row->image->id.path));
	json_object_set_new(object, "build_id", json_text(row->image->build_id));
	return object;
}

struct hp_error *write_stack_json(struct report *report, FILE *out)
{
	_cleanup_(program_clear) struct program program = { 0 };
	struct hp_error *error = program_make(report, &program);

	if (!error)
		error = json_write(json_header(report, "hpcprof-stack/1"), true, out);
	if (error)
		return error;
	fputs(",\n\"program\": ", out);
	error = json_write(stack_object(&program.stack,
					survey_share(&program.survey, program.stack.cycles),
					&program.prediction),
			   false, out);
	fputs(",\n\"procedures\": [", out);
	for (size_t i = 0; i < program.survey.stalls.count && !error; i++) {
		fputs(i ? ",\n" : "\n", out);
		error = json_write(procedure_object(program.rows[i]), false, out);
	}
	fputs("]}\n", out);
	return error;
}

static void write_record(const char *image, const char *name, const struct stack *stack, FILE *out)
{
	for (unsigned i = 0; i < STACK_COMPONENTS; i++) {
		_cleanup_(hp_buffer_free) struct hp_buffer record = { 0 };

		text_csv(&record, image);
		hp_buffer_printf(&record, ",");
		text_csv(&record, name);
		fprintf(out, "%s,%s,%.17g,%.17g,%.17g\r\n", hp_buffer_text(&record),
			stack_name((enum stack_component)i), stack->parts[i].likely,
			stack->parts[i].low, stack->parts[i].high);
	}
}

struct hp_error *write_stack_csv(struct report *report, FILE *out)
{
	_cleanup_(program_clear) struct program program = { 0 };
	struct hp_error *error = program_make(report, &program);

	if (error)
		return error;
	fputs("image,procedure,component,likely,low,high\r\n", out);
	write_record("", "", &program.stack, out);
	for (size_t i = 0; i < program.survey.stalls.count; i++) {
		struct stack stack = stack_of_row(program.rows[i]);

		write_record(program.rows[i]->image->id.path, program.rows[i]->name, &stack, out);
	}
	return NULL;
}
