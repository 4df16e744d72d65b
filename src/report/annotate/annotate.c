/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "annotate.h"
#include "../common/state.h"
#include "../tuning.h"

#include <hpcprof/base/search.h>
#include <hpcprof/infer/inference.h>

#include <string.h>
#include <unistd.h>

static int compare_addresses(const void *left, const void *right, void *context)
{
	const struct hp_row *rows = context;

	return hp_order(rows[*(const size_t *)left].address, rows[*(const size_t *)right].address);
}

/* The parts of a procedure follow each other; within a part, rows are in order of address. */
static struct hp_error *index_addresses(struct annotation *annotation)
{
	struct hp_row *rows = annotation->listing->rows.at;
	size_t count = annotation->listing->rows.count;

	annotation->by_address =
		hp_arena_array(annotation->arena, count + 1, sizeof(*annotation->by_address));
	if (!annotation->by_address)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		if (rows[i].has_address && rows[i].length)
			annotation->by_address[annotation->addressed++] = i;
	qsort_r(annotation->by_address, annotation->addressed, sizeof(*annotation->by_address),
		compare_addresses, rows);
	return NULL;
}

static struct hp_error *find_insns(struct annotation *annotation)
{
	const struct listing *listing = annotation->listing;

	annotation->insns = hp_arena_array(annotation->arena, listing->rows.count + 1,
					   sizeof(const struct hp_analysed_insn *));
	if (!annotation->insns)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < listing->rows.count && annotation->analysis; i++)
		if (listing->rows.at[i].has_block && listing->rows.at[i].has_address)
			annotation->insns[i] =
				hp_analysis_insn(annotation->analysis, listing->rows.at[i].address);
	for (uint32_t i = 0; annotation->analysis && i < annotation->analysis->cfg->block_count;
	     i++)
		annotation->cycles += annotation->analysis->blocks[i].cycles;
	return NULL;
}

/* --- lines ---------------------------------------------------------------------------------- */

/* Whether the row begins a block, whether the rows before it are shown or folded. */
static bool begins_block(const struct annotation *annotation, size_t row)
{
	const struct hp_row *at = &annotation->listing->rows.at[row];

	return at->has_block && (row == 0 || !at[-1].has_block || at[-1].block != at->block);
}

static struct hp_error *add_fold(struct annotation *annotation, size_t first, size_t end)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	const struct hp_row *rows = annotation->listing->rows.at;
	size_t blocks = 0;
	uint64_t samples = 0;
	double share = 0;
	struct hp_error *error;

	for (size_t i = first; i < end; i++) {
		blocks += rows[i].has_block && (i == first || !rows[i - 1].has_block ||
						rows[i].block != rows[i - 1].block);
		share += annotation_share(annotation, i);
		for (size_t j = 0; j < annotation->report->profiles->events.count; j++)
			samples += rows[i].tallies[j].samples;
	}
	hp_buffer_printf(&text, "\xe2\x80\xa6 %zu instruction%s", end - first,
			 end - first == 1 ? "" : "s");
	if (blocks > 1)
		hp_buffer_printf(&text, " in %zu blocks", blocks);
	if (samples || share > 0)
		hp_buffer_printf(&text, ", %.1f %% of the time", 100 * share);
	else
		hp_buffer_printf(&text, " without samples");
	hp_buffer_printf(&text, " \xe2\x80\xa6");
	error = annotation_add(annotation, ANNOTATED_FOLD, first, &text);
	if (!error)
		annotation->lines.at[annotation->lines.count - 1].rows = end - first;
	return error;
}

static struct hp_error *add_instruction(struct annotation *annotation, size_t row, size_t before)
{
	bool is_first = begins_block(annotation, row);
	const struct hp_row *at = &annotation->listing->rows.at[row];
	struct hp_error *error = NULL;

	if (is_first && annotation->analysis)
		error = annotate_block(annotation, at->block);
	if (!error)
		error = annotate_source(annotation, row, before);
	if (!error)
		error = annotate_stalls(annotation, row);
	if (!error)
		error = annotation_add(annotation, ANNOTATED_INSTRUCTION, row, NULL);
	if (!error)
		annotation->lines.at[annotation->lines.count - 1].shows_frequency =
			is_first || at->tallies[annotation->report->profiles->sort_event].samples ||
			annotation_share(annotation, row) >= noticeable_insn;
	return error;
}

static struct hp_error *add_lines(struct annotation *annotation)
{
	size_t count = annotation->listing->rows.count;
	size_t before = SIZE_MAX;
	struct hp_error *error = NULL;

	for (size_t i = 0; i < count && !error;) {
		size_t end = i;

		while (end < count && !annotation->shown[end])
			end++;
		if (end > i) {
			error = add_fold(annotation, i, end);
			before = SIZE_MAX;
			i = end;
			continue;
		}
		error = add_instruction(annotation, i, before);
		before = i++;
	}
	return error;
}

/* --- arrows --------------------------------------------------------------------------------- */

/* The index of the line that shows each row; a fold's line shows all rows of the fold. */
static struct hp_error *lines_of_rows(struct annotation *annotation, size_t **lines)
{
	*lines = calloc(annotation->listing->rows.count + 1, sizeof(**lines));
	if (!*lines)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < annotation->lines.count; i++) {
		const struct annotated_line *line = &annotation->lines.at[i];

		if (line->kind == ANNOTATED_INSTRUCTION)
			(*lines)[line->row] = i;
		for (size_t j = 0; line->kind == ANNOTATED_FOLD && j < line->rows; j++)
			(*lines)[line->row + j] = i;
	}
	return NULL;
}

/* The first and last row of each block. */
struct span {
	size_t first;
	size_t last;
	bool is_there;
};

static struct hp_error *spans_of_blocks(const struct annotation *annotation, struct span **spans)
{
	const struct listing *listing = annotation->listing;

	*spans = calloc((size_t)listing->cfg->block_count + 1, sizeof(**spans));
	if (!*spans)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < listing->rows.count; i++) {
		struct span *span;

		if (!listing->rows.at[i].has_block)
			continue;
		span = &(*spans)[listing->rows.at[i].block];
		if (!span->is_there)
			span->first = i;
		span->last = i;
		span->is_there = true;
	}
	return NULL;
}

/* Jumps through tables are left out: they have too many targets. */
static struct hp_error *add_arrows(struct annotation *annotation)
{
	const struct hp_cfg *cfg = annotation->listing->cfg;
	_cleanup_free_ size_t *lines = NULL;
	_cleanup_free_ struct span *spans = NULL;
	struct hp_error *error;

	if (!cfg)
		return NULL;
	error = lines_of_rows(annotation, &lines);
	if (!error)
		error = spans_of_blocks(annotation, &spans);
	for (uint32_t i = 0; i < cfg->edge_count && !error; i++) {
		const struct hp_edge *edge = &cfg->edges[i];
		struct arrow arrow;

		if (edge->kind != HP_EDGE_JUMP || edge->from >= cfg->block_count ||
		    edge->to >= cfg->block_count || !spans[edge->from].is_there ||
		    !spans[edge->to].is_there)
			continue;
		arrow.from = lines[spans[edge->from].last];
		arrow.to = lines[spans[edge->to].first];
		/* The arrow lies within one fold, or points into the fold that it comes from. */
		if (annotation->lines.at[arrow.from].kind == ANNOTATED_FOLD &&
		    annotation->lines.at[arrow.to].kind == ANNOTATED_FOLD)
			continue;
		if (!hp_vector_push(&annotation->arrows, arrow))
			error = hp_error_create_no_memory();
	}
	return error;
}

/* --- all together ---------------------------------------------------------------------------- */

/* Source files changed after the last epoch began may differ from what was executed. */
static uint64_t recorded_ns(const struct report *report)
{
	uint64_t latest = 0;

	for (size_t i = 0; i < report->profiles->epochs.count; i++)
		if (report->profiles->epochs.at[i].meta->start_ns > latest)
			latest = report->profiles->epochs.at[i].meta->start_ns;
	return latest;
}

/* The user who recorded all epochs, if that is one user, and not the reader. */
static uid_t user_of(const struct report *report)
{
	uid_t user = geteuid();

	for (size_t i = 0; i < report->profiles->epochs.count; i++) {
		uid_t owner = report->profiles->epochs.at[i].owner;

		if (owner != user)
			user = user == geteuid() ? owner : (uid_t)-1;
	}
	return user;
}

struct hp_error *annotation_make(struct report *report, const struct hp_row *row,
				 const struct listing *listing, const struct hp_analysis *analysis,
				 struct annotation *annotation)
{
	struct hp_error *error;

	*annotation = (struct annotation){
		.report = report,
		.row = row,
		.listing = listing,
		.analysis = analysis,
		.arena = listing->arena,
		.shows_all = report->options->all,
		.sources = { .symfs = report->options->of.symfs,
			     .recorded_ns = recorded_ns(report),
			     .user = user_of(report) },
	};
	error = index_addresses(annotation);
	if (!error)
		error = find_insns(annotation);
	if (!error && analysis)
		error = hot_path_find(analysis, listing->arena, &annotation->path);
	if (!error && analysis && row->code && row->code->part)
		error = hp_recorded_cycles(report->inference, row->code->part, analysis->cfg,
					   listing->arena, &annotation->recorded);
	if (!error)
		error = annotate_choose(annotation);
	if (!error)
		error = annotate_frames(annotation);
	if (!error)
		error = add_lines(annotation);
	if (!error)
		error = add_arrows(annotation);
	return error;
}

void annotation_clear(struct annotation *annotation)
{
	sources_clear(&annotation->sources);
	hp_vector_free(&annotation->lines);
	hp_vector_free(&annotation->arrows);
}
