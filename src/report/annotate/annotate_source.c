/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notes above an instruction on its place in the source: the inlined functions that it belongs to,
 * and its line. Each is noted only where it changes.
 */
#include "annotate.h"
#include "../common/text.h"

#include <hpcprof/model/procedure_name.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* --- frames ---------------------------------------------------------------------------------- */

/* Reads the frames of rows [first, end), which are in order of address. Without them the code is
 * shown without source. */
static struct hp_error *read_frames(struct annotation *annotation, struct hp_image *file,
				    const size_t *rows, size_t count)
{
	_cleanup_free_ hp_link_address *addresses = calloc(count + 1, sizeof(*addresses));
	_cleanup_free_ struct hp_frames *frames = calloc(count + 1, sizeof(*frames));
	struct hp_error *error;

	if (!addresses || !frames)
		return hp_error_create_no_memory();
	for (size_t i = 0; i < count; i++)
		addresses[i].value = annotation->listing->rows.at[rows[i]].address;
	error = hp_image_frames(file, addresses, count, true, frames);
	for (size_t i = 0; i < count && !error; i++)
		annotation->frames[rows[i]] = frames[i];
	if (!error || error->errno_value == ENOMEM)
		return error;
	hp_profiles_warn(annotation->report->profiles, error->advice, "%s", error->message);
	hp_error_destroy(error);
	return NULL;
}

struct hp_error *annotate_frames(struct annotation *annotation)
{
	const struct hp_row_code *code = annotation->row->code;
	_cleanup_free_ size_t *rows = calloc(annotation->addressed + 1, sizeof(*rows));
	size_t count = 0;

	annotation->frames = hp_arena_array(annotation->arena, annotation->listing->rows.count + 1,
					    sizeof(*annotation->frames));
	if (!annotation->frames || !rows)
		return hp_error_create_no_memory();
	/* Code from several epochs is not in one file. */
	if (!code || code->next || !code->part || !code->part->file)
		return NULL;
	for (size_t i = 0; i < annotation->addressed; i++)
		if (annotation->shown[annotation->by_address[i]])
			rows[count++] = annotation->by_address[i];
	return read_frames(annotation, code->part->file, rows, count);
}

/* --- inlined functions ------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static size_t depth_of(const struct hp_frames *frames)
{
	return frames->count ? frames->count - 1 : 0;
}

/* The function inlined at this depth, from 1, and the place it is called from. */
static const struct hp_frame *inlined_at(const struct hp_frames *frames, size_t depth)
{
	return &frames->frames[frames->count - 1 - depth];
}

static bool same_inlined(const struct hp_frames *a, const struct hp_frames *b, size_t depth)
{
	const struct hp_frame *a_caller = inlined_at(a, depth) + 1;
	const struct hp_frame *b_caller = inlined_at(b, depth) + 1;

	return same_text(inlined_at(a, depth)->function, inlined_at(b, depth)->function) &&
	       a_caller->line == b_caller->line && same_text(a_caller->file, b_caller->file);
}

static void add_place(struct hp_buffer *text, const struct hp_frame *frame)
{
	if (frame->file && frame->line)
		hp_buffer_printf(text, "%s:%" PRIu32, hp_source_name(frame->file), frame->line);
	else if (frame->file)
		hp_buffer_printf(text, "%s (no line)", hp_source_name(frame->file));
	else
		hp_buffer_printf(text, "(no line)");
}

/* The name of a template's instance may fill a screen, so it is cut for the sake of what
 * follows. */
static void add_function(struct hp_buffer *text, const char *function)
{
	enum { WIDEST = 48 };
	_cleanup_free_ char *bare = NULL;
	const char *start;
	size_t length;

	hp_name_bare(function, &start, &length);
	bare = strndup(start, length);
	if (bare)
		text_cut(text, bare, WIDEST);
	else
		text->failed = true;
}

static struct hp_error *add_inlined(struct annotation *annotation, size_t row, size_t depth)
{
	const struct hp_frame *frame = inlined_at(&annotation->frames[row], depth);
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	text_pad(&text, 2 * (depth - 1));
	hp_buffer_printf(&text, "[inlined ");
	add_function(&text, frame->function ? frame->function : "(no name)");
	hp_buffer_printf(&text, " ");
	add_place(&text, frame + 1);
	hp_buffer_printf(&text, "]");
	return annotation_add(annotation, ANNOTATED_INLINED, row, &text);
}

static struct hp_error *add_end_of_inlined(struct annotation *annotation, size_t row)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

	hp_buffer_printf(&text, "[the procedure itself]");
	return annotation_add(annotation, ANNOTATED_INLINED, row, &text);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Without leading and trailing blanks, and with tabs as single blanks, because it is shown next to
 * code. */
static void add_source_text(struct hp_buffer *text, const char *line, size_t length)
{
	enum { MOST_BYTES = 400 };

	while (length && (*line == ' ' || *line == '\t')) {
		line++;
		length--;
	}
	while (length && (line[length - 1] == ' ' || line[length - 1] == '\r'))
		length--;
	if (length > MOST_BYTES)
		length = MOST_BYTES;
	for (size_t i = 0; i < length && line[i]; i++)
		hp_buffer_add(text, line[i] == '\t' ? " " : &line[i], 1);
}

static struct hp_error *add_source(struct annotation *annotation, size_t row)
{
	const struct hp_frames *frames = &annotation->frames[row];
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	const char *line;
	size_t length;
	struct hp_error *error = source_line(&annotation->sources, frames->frames[0].file,
					     frames->frames[0].line, &line, &length);

	if (error)
		return error;
	text_pad(&text, 2 * depth_of(frames));
	add_place(&text, &frames->frames[0]);
	if (line) {
		hp_buffer_printf(&text, "  ");
		add_source_text(&text, line, length);
	}
	return annotation_add(annotation, ANNOTATED_SOURCE, row, &text);
}

struct hp_error *annotate_source(struct annotation *annotation, size_t row, size_t before)
{
	static const struct hp_frames none;
	const struct hp_frames *now = &annotation->frames[row];
	const struct hp_frames *was = before == SIZE_MAX ? &none : &annotation->frames[before];
	bool changed = false;
	struct hp_error *error = NULL;

	/* Padding between blocks belongs to no source line. */
	if (!now->count ||
	    (annotation->listing->cfg && !annotation->listing->rows.at[row].has_block))
		return NULL;
	if (depth_of(was) && !depth_of(now)) {
		changed = true;
		error = add_end_of_inlined(annotation, row);
	}
	for (size_t depth = 1; depth <= depth_of(now) && !error; depth++) {
		changed = changed || depth > depth_of(was) || !same_inlined(was, now, depth);
		if (changed)
			error = add_inlined(annotation, row, depth);
	}
	changed = changed || !was->count || depth_of(was) != depth_of(now) ||
		  was->frames[0].line != now->frames[0].line ||
		  !same_text(was->frames[0].file, now->frames[0].file);
	if (error || !changed || !now->frames[0].file)
		return error;
	return add_source(annotation, row);
}
