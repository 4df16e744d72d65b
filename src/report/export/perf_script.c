/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text that perf script prints of samples with call chains, for programs that read it. Recorded
 * call paths are counts without times. So the samples of an event get consecutive times, each as
 * far from the last as it stands for, and the samples of one path are consecutive.
 */
#include "../common/text.h"
#include "export.h"

#include <inttypes.h>
#include <string.h>

/* Readers of this format end the command at the first word that is a number. */
static void put_command(const struct hp_path_root *root, FILE *out)
{
	struct hp_buffer name = { 0 };

	text_escape(&name, *root->command ? root->command : "unknown");
	fputs(hp_buffer_text(&name), out);
	hp_buffer_free(&name);
}

static void put_frame(const struct hp_called_at *at, const struct hp_path_place *place, FILE *out)
{
	struct hp_buffer text = { 0 };
	const char *image = place->image ? place->image->id.path : "[unknown]";
	bool is_placed = place->has_address && at->procedure->has_address &&
			 place->address >= at->procedure->address;

	hp_buffer_printf(&text, "\t%16" PRIx64 " ",
			 place->has_address ? place->address : place->offset);
	text_escape(&text, at->procedure->name);
	if (is_placed)
		hp_buffer_printf(&text, "+0x%" PRIx64, place->address - at->procedure->address);
	hp_buffer_printf(&text, " (");
	text_escape(&text, at->procedure->inlined ? "inlined" : image);
	fprintf(out, "%s)\n", hp_buffer_text(&text));
	hp_buffer_free(&text);
}

static void put_sample(const struct report *report, const struct hp_path_step *step,
		       const struct export_path *path, uint64_t time_ns, FILE *out)
{
	const struct hp_call_paths *paths = report->paths;
	const struct hp_path_root *root = &paths->roots.at[step->root];
	const struct hp_loaded_event *event = &report->profiles->events.at[root->event];

	put_command(root, out);
	fprintf(out, " %" PRIu32 "/%" PRIu32 " %" PRIu64 ".%06" PRIu64 ": %10.0f %s: \n", root->pid,
		root->tid, time_ns / 1000000000, time_ns % 1000000000 / 1000,
		step->own.weight / (double)step->own.samples, event->info->name);
	for (size_t i = 0; i < path->steps.count; i++) {
		const struct hp_path_place *place = export_place(paths, path->steps.at[i]);

		for (size_t j = 0; j < place->count; j++)
			put_frame(&place->at[j], place, out);
	}
	putc('\n', out);
}

struct hp_error *export_perf_script(struct report *report, FILE *out)
{
	const struct hp_call_paths *paths = report->paths;
	_cleanup_free_ double *times = calloc(report->profiles->events.count + 1, sizeof(*times));
	struct export_path path = { 0 };
	struct hp_error *error = times ? NULL : hp_error_create_no_memory();

	for (size_t i = 0; i < paths->steps.count && !error; i++) {
		const struct hp_path_step *step = &paths->steps.at[i];
		size_t event = paths->roots.at[step->root].event;

		if (!step->own.samples)
			continue;
		error = export_path_of(paths, step, &path);
		for (uint64_t j = 0; j < step->own.samples && !error; j++) {
			put_sample(report, step, &path, (uint64_t)times[event], out);
			times[event] += step->own.weight / (double)step->own.samples;
		}
	}
	hp_vector_free(&path.steps);
	return error;
}
