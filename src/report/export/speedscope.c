/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope's file format (https://www.speedscope.app/file-format-schema.json): a list of frames,
 * and for each event and command a profile of stacks with weights.
 */
#include "../common/json.h"
#include "export.h"

#include <math.h>
#include <string.h>

/* State of writing one file. */
struct speedscope {
	struct report *report;
	/* of each place: index of its first frame, the outermost; its frames follow each other */
	size_t *frames;
	struct export_path path;
	FILE *out;
};

static json_t *frame_object(const struct hp_called_at *at)
{
	json_t *frame = json_pack("{s:o}", "name", json_text(at->procedure->name));

	if (at->file)
		json_object_set_new(frame, "file", json_text(at->file));
	if (at->line)
		json_object_set_new(frame, "line", json_integer(at->line));
	return frame;
}

static struct hp_error *write_frames(struct speedscope *to)
{
	const struct hp_call_paths *paths = to->report->paths;
	struct hp_error *error = NULL;
	size_t count = 0;

	fputs("\"shared\": {\"frames\": [", to->out);
	for (size_t i = 0; i < paths->places.count && !error; i++) {
		const struct hp_path_place *place = &paths->places.at[i];

		to->frames[i] = count;
		for (size_t j = place->count; j-- > 0 && !error;) {
			fputs(count++ ? ",\n" : "\n", to->out);
			error = json_write(frame_object(&place->at[j]), false, to->out);
		}
	}
	fputs("]}", to->out);
	return error;
}

static bool is_of(const struct speedscope *to, const struct hp_path_step *step, size_t event,
		  const char *command)
{
	const struct hp_path_root *root = &to->report->paths->roots.at[step->root];

	return step->own.samples && root->event == event && root->command == command;
}

static struct hp_error *write_stack(struct speedscope *to, const struct hp_path_step *step)
{
	const struct hp_call_paths *paths = to->report->paths;
	struct hp_error *error = export_path_of(paths, step, &to->path);
	bool is_first = true;

	fputs("[", to->out);
	for (size_t i = to->path.steps.count; i-- > 0 && !error;) {
		uint32_t place = to->path.steps.at[i]->place;

		for (size_t j = 0; j < paths->places.at[place].count; j++) {
			fprintf(to->out, is_first ? "%zu" : ",%zu", to->frames[place] + j);
			is_first = false;
		}
	}
	fputs("]", to->out);
	return error;
}

static const char *unit_of(const struct hp_loaded_event *event)
{
	return event->info->unit == HP_UNIT_NS ? "nanoseconds" : "none";
}

static struct hp_error *write_samples(struct speedscope *to, size_t event, const char *command)
{
	const struct hp_call_paths *paths = to->report->paths;
	struct hp_error *error = NULL;
	bool is_first = true;

	fputs(", \"samples\": [", to->out);
	for (size_t i = 0; i < paths->steps.count && !error; i++) {
		if (!is_of(to, &paths->steps.at[i], event, command))
			continue;
		fputs(is_first ? "\n" : ",\n", to->out);
		is_first = false;
		error = write_stack(to, &paths->steps.at[i]);
	}
	fputs("],\n\"weights\": [", to->out);
	is_first = true;
	for (size_t i = 0; i < paths->steps.count && !error; i++) {
		if (!is_of(to, &paths->steps.at[i], event, command))
			continue;
		fprintf(to->out, is_first ? "%.0f" : ",%.0f", paths->steps.at[i].own.weight);
		is_first = false;
	}
	fputs("]}", to->out);
	return error;
}

/* The total in the whole units that are written. */
static double total_of(const struct speedscope *to, size_t event, const char *command)
{
	const struct hp_call_paths *paths = to->report->paths;
	double total = 0;

	for (size_t i = 0; i < paths->steps.count; i++)
		if (is_of(to, &paths->steps.at[i], event, command))
			total += round(paths->steps.at[i].own.weight);
	return total;
}

static struct hp_error *write_profile(struct speedscope *to, size_t event, const char *command)
{
	const struct hp_loaded_event *of = &to->report->profiles->events.at[event];
	struct hp_buffer name = { 0 };
	struct hp_error *error;

	hp_buffer_printf(&name, "%s%s%s", command, *command ? ": " : "", of->info->name);
	error = json_write(json_pack("{s:s, s:o, s:s, s:i, s:f}", "type", "sampled", "name",
				     json_text(hp_buffer_text(&name)), "unit", unit_of(of),
				     "startValue", 0, "endValue", total_of(to, event, command)),
			   true, to->out);
	hp_buffer_free(&name);
	return error ? error : write_samples(to, event, command);
}

/* Texts are interned, so equal commands have equal pointers. */
static bool is_repeated(const struct hp_call_paths *paths, size_t root)
{
	for (size_t i = 0; i < root; i++)
		if (paths->roots.at[i].event == paths->roots.at[root].event &&
		    paths->roots.at[i].command == paths->roots.at[root].command)
			return true;
	return false;
}

static struct hp_error *write_profiles(struct speedscope *to)
{
	const struct hp_call_paths *paths = to->report->paths;
	struct hp_error *error = NULL;
	bool is_first = true;

	fputs(",\n\"profiles\": [", to->out);
	for (size_t i = 0; i < paths->roots.count && !error; i++) {
		const struct hp_path_root *root = &paths->roots.at[i];

		if (is_repeated(paths, i) || !(total_of(to, root->event, root->command) > 0))
			continue;
		fputs(is_first ? "\n" : ",\n", to->out);
		is_first = false;
		error = write_profile(to, root->event, root->command);
	}
	fputs("]", to->out);
	return error;
}

struct hp_error *export_speedscope(struct report *report, FILE *out)
{
	struct speedscope to = { .report = report, .out = out };
	struct hp_buffer name = { 0 };
	struct hp_error *error;

	to.frames = calloc(report->paths->places.count + 1, sizeof(*to.frames));
	if (!to.frames)
		return hp_error_create_no_memory();
	export_command(report, &name);
	error = json_write(json_pack("{s:s, s:s, s:o}", "$schema",
				     "https://www.speedscope.app/file-format-schema.json",
				     "exporter", "hpcprof", "name",
				     json_text(hp_buffer_text(&name))),
			   true, out);
	fputs(",\n", out);
	if (!error)
		error = write_frames(&to);
	if (!error)
		error = write_profiles(&to);
	fputs("}\n", out);
	hp_buffer_free(&name);
	hp_vector_free(&to.path.steps);
	free(to.frames);
	return error;
}
