/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "program_stack.h"

#include "../common/text.h"
#include "../tuning.h"
#include "stall_cells.h"
#include "write_culprits.h"
#include "write_stalls.h"

#include <hpcprof/base/search.h>

#include <errno.h>
#include <inttypes.h>

void program_stack_clear(struct program_stack *program)
{
	survey_clear(&program->survey);
	free(program->rows);
	hp_vector_free(&program->all);
}

static struct hp_error *push(struct program_stack *program, const struct stacked *one)
{
	return hp_vector_push(&program->all, *one) ? NULL : hp_error_create_no_memory();
}

static struct hp_error *add_whole(struct program_stack *program)
{
	struct survey *survey = &program->survey;
	bool is_absolute = survey->scaled <= unknown_executions * survey->prediction.measured;
	struct hp_cpi_stack whole = hp_cpi_of(&survey->prediction, is_absolute);
	struct stacked one = { .prediction = &survey->prediction,
			       .stack = hp_cpi_of_sum(&survey->stack) };

	one.stack.predicted = whole.predicted;
	one.stack.cpi = whole.cpi;
	one.share = survey_share(survey, one.stack.cycles);
	return push(program, &one);
}

/* --- loops ------------------------------------------------------------------------------------ */

/* A loop that takes nearly all of its procedure, or of the loop around it, is not worth showing. */
static bool is_minor(const struct hp_analysis *analysis, uint32_t loop, double share)
{
	uint32_t parent = analysis->cfg->loops[loop].parent;
	const struct hp_prediction *around =
		parent == HP_CFG_NONE ? &analysis->prediction : &analysis->loop_predictions[parent];

	return share < least_loop_share ||
	       analysis->loop_predictions[loop].measured > most_of_around * around->measured;
}

static struct hp_error *add_loop(struct report *report, struct program_stack *program,
				 const struct hp_row *row, uint32_t loop)
{
	const struct hp_analysis *analysis = stall_of_row(row)->analysis;
	const struct hp_prediction *prediction = &analysis->loop_predictions[loop];
	struct stacked one = { .row = row,
			       .loop = &analysis->cfg->loops[loop],
			       .prediction = prediction,
			       .share = survey_share(&program->survey, prediction->measured),
			       .cycles = prediction->measured };

	if (one.loop->header >= analysis->cfg->block_count || !(prediction->measured > 0) ||
	    100 * one.share < report->options->percent_limit)
		return NULL;
	one.address = analysis->cfg->blocks[one.loop->header].address.value;
	one.stack = hp_penalties_stack(&program->survey.penalties, analysis, prediction);
	hp_cpi_settle(&one.stack);
	one.is_minor = is_minor(analysis, loop, one.share);
	return push(program, &one);
}

static int by_address(const void *left, const void *right)
{
	const struct stacked *a = *(struct stacked *const *)left;
	const struct stacked *b = *(struct stacked *const *)right;

	return hp_order(a->address, b->address);
}

/* Finds the lines of loops from index `first` on, which belong to one procedure. */
static struct hp_error *find_lines(struct report *report, struct program_stack *program,
				   size_t first, const struct hp_row_code *code)
{
	size_t count = program->all.count - first;
	_cleanup_free_ struct stacked **loops = calloc(count + 1, sizeof(*loops));
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(count + 1, sizeof(*frames));
	struct hp_error *error;

	if (!loops || !addresses || !frames)
		return hp_error_create_no_memory();
	if (!count || !code->part || !code->part->file)
		return NULL;
	for (size_t i = 0; i < count; i++)
		loops[i] = &program->all.at[first + i];
	qsort(loops, count, sizeof(struct stacked *), by_address);
	for (size_t i = 0; i < count; i++)
		addresses[i].value = loops[i]->address;
	error = hp_image_frames(code->part->file, addresses, count, false, frames);
	for (size_t i = 0; i < count && !error; i++) {
		if (!frames[i].count)
			continue;
		loops[i]->file = frames[i].frames[0].file;
		loops[i]->line = frames[i].frames[0].line;
	}
	if (!error || error->errno_value == ENOMEM)
		return error;
	hp_profiles_warn(report->profiles, error->advice, "%s", error->message);
	hp_error_destroy(error);
	return NULL;
}

static struct hp_error *add_procedure(struct report *report, struct program_stack *program,
				      const struct hp_row *row)
{
	const struct stall *timed = stall_of_row(row);
	struct stacked one = { .row = row,
			       .share = row->local,
			       .cycles = timed->cycles,
			       .prediction = &timed->analysis->prediction,
			       .stack = hp_penalties_stack(&program->survey.penalties,
							   timed->analysis,
							   &timed->analysis->prediction) };
	size_t first = program->all.count + 1;
	struct hp_error *error;

	hp_cpi_settle(&one.stack);
	error = push(program, &one);
	for (uint32_t i = 0; i < timed->analysis->cfg->loop_count && !error; i++)
		error = add_loop(report, program, row, i);
	return error ? error : find_lines(report, program, first, timed->code);
}

struct hp_error *program_stack_make(struct report *report, struct program_stack *program)
{
	struct hp_error *error = survey_stalls(report, SURVEY_TIMED, &program->survey);

	if (!error && !program->survey.simulated)
		error = nothing_simulated(report);
	if (!error)
		error = stall_rows(&program->survey, &program->rows);
	if (!error)
		error = add_whole(program);
	for (size_t i = 0; i < program->survey.stalls.count && !error; i++)
		error = add_procedure(report, program, program->rows[i]);
	return error;
}

/* --- names ------------------------------------------------------------------------------------ */

void stacked_line(const struct stacked *one, struct hp_buffer *text)
{
	if (one->file)
		hp_buffer_printf(text, "%s:%" PRIu32, hp_source_name(one->file), one->line);
}

void stacked_name(const struct stacked *one, struct hp_buffer *text)
{
	_cleanup_(hp_buffer_free) struct hp_buffer line = { 0 };

	if (!one->row) {
		hp_buffer_printf(text, "program");
		return;
	}
	if (!one->loop) {
		text_escape(text, one->row->shown ? one->row->shown : one->row->name);
		return;
	}
	for (uint32_t depth = 0; depth < one->loop->depth; depth++)
		hp_buffer_printf(text, "  ");
	stacked_line(one, &line);
	hp_buffer_printf(text, "loop at 0x%" PRIx64, one->address);
	if (one->file)
		hp_buffer_printf(text, ", ");
	text_escape(text, hp_buffer_text(&line));
}
