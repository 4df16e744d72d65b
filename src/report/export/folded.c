/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, for flamegraph.pl, inferno and speedscope: a line per path, "command;caller;callee
 * COUNT". Of several events only the first is written: the format cannot tell them apart.
 */
#include "../common/text.h"
#include "export.h"

#include <hpcprof/base/hash.h>

#include <inttypes.h>
#include <string.h>

/* ';' separates procedures. */
static void add_name(struct hp_buffer *line, const char *name)
{
	size_t start = line->size;

	text_escape(line, name);
	for (size_t i = start; i < line->size; i++)
		if (line->text[i] == ';')
			line->text[i] = ':';
}

static void add_path(const struct hp_call_paths *paths, const struct export_path *path,
		     struct hp_buffer *line)
{
	for (size_t i = path->steps.count; i-- > 0;) {
		const struct hp_path_place *place = export_place(paths, path->steps.at[i]);

		for (size_t j = place->count; j-- > 0;) {
			hp_buffer_printf(line, "%s", line->size ? ";" : "");
			add_name(line, place->at[j].procedure->name);
		}
	}
}

static void tell_of_events(const struct report *report)
{
	if (report->profiles->events.count > 1)
		hp_profiles_warn(
			report->profiles, "--event selects another one",
			"only the first event, %s, is exported: the format has room for one",
			report->profiles->events.at[0].info->name);
}

/* A line of output. Paths that differ only in places within their procedures are one line. */
struct folded {
	UT_hash_handle hh;
	uint64_t value;
	char text[];
};

static struct hp_error *add_line(struct hp_arena *arena, struct folded **lines, const char *text,
				 uint64_t value)
{
	struct folded *line;
	size_t length = strlen(text);

	HASH_FIND(hh, *lines, text, length, line);
	if (!line) {
		line = hp_arena_alloc(arena, sizeof(*line) + length + 1);
		if (!line)
			return hp_error_create_no_memory();
		memcpy(line->text, text, length + 1);
		HASH_ADD_KEYPTR(hh, *lines, line->text, length, line);
		if (!line->hh.tbl)
			return hp_error_create_no_memory();
	}
	line->value += value;
	return NULL;
}

static struct hp_error *fold(const struct report *report, struct hp_arena *arena,
			     struct folded **lines)
{
	const struct hp_call_paths *paths = report->paths;
	const struct hp_loaded_event *event = &report->profiles->events.at[0];
	struct export_path path = { 0 };
	struct hp_buffer line = { 0 };
	struct hp_error *error = NULL;

	for (size_t i = 0; i < paths->steps.count && !error; i++) {
		const struct hp_path_step *step = &paths->steps.at[i];
		const struct hp_path_root *root = &paths->roots.at[step->root];

		if (!step->own.samples || root->event != 0)
			continue;
		error = export_path_of(paths, step, &path);
		hp_buffer_clear(&line);
		add_name(&line, root->command);
		add_path(paths, &path, &line);
		if (!error && line.failed)
			error = hp_error_create_no_memory();
		if (!error)
			error = add_line(arena, lines,
					 line.size ? hp_buffer_text(&line) : "[no path]",
					 export_value(event, &step->own));
	}
	hp_vector_free(&path.steps);
	hp_buffer_free(&line);
	return error;
}

struct hp_error *export_folded(struct report *report, FILE *out)
{
	_cleanup_(hp_arena_destroy_scope) struct hp_arena *arena = hp_arena_create();
	struct folded *lines = NULL;
	struct hp_error *error = arena ? NULL : hp_error_create_no_memory();

	tell_of_events(report);
	if (!error)
		error = fold(report, arena, &lines);
	for (const struct folded *line = lines; line && !error; line = line->hh.next)
		fprintf(out, "%s %" PRIu64 "\n", line->text, line->value);
	HASH_CLEAR(hh, lines);
	return error;
}
