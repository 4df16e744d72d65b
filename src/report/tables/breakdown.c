/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "breakdown.h"
#include "cells.h"

#include <inttypes.h>
#include <string.h>

static void cell_command(const struct cell *cell, struct hp_buffer *text)
{
	const char *command = cell->report->profiles->groups.at[cell->row->group].command;

	hp_buffer_add(text, command, strlen(command));
}

static void cell_pid(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%" PRIu32, cell->report->profiles->groups.at[cell->row->group].pid);
}

/* Unknown values are shown as a dash. */
static void cell_tid(const struct cell *cell, struct hp_buffer *text)
{
	const struct hp_loaded_group *group = &cell->report->profiles->groups.at[cell->row->group];

	if (group->tid)
		hp_buffer_printf(text, "%" PRIu32, group->tid);
	else if (cell->report->options->format == HP_FORMAT_TEXT)
		hp_buffer_printf(text, "-");
}

static void cell_thread(const struct cell *cell, struct hp_buffer *text)
{
	const char *thread = cell->report->profiles->groups.at[cell->row->group].thread;

	if (thread)
		hp_buffer_add(text, thread, strlen(thread));
	else if (cell->report->options->format == HP_FORMAT_TEXT)
		hp_buffer_printf(text, "-");
}

static void cell_cpu(const struct cell *cell, struct hp_buffer *text)
{
	uint32_t cpu = cell->report->profiles->groups.at[cell->row->group].cpu;

	if (cpu)
		hp_buffer_printf(text, "%" PRIu32, cpu - 1);
	else if (cell->report->options->format == HP_FORMAT_TEXT)
		hp_buffer_printf(text, "-");
}

struct hp_error *breakdown_columns(const struct report *report, bool for_people,
				   struct columns *columns)
{
	static const struct column for_all[HP_BY_COUNT] = {
		[HP_BY_COMM] = { "comm", false, true, NO_EVENT, cell_command },
		[HP_BY_PID] = { "pid", true, false, NO_EVENT, cell_pid },
		[HP_BY_TID] = { "tid", true, false, NO_EVENT, cell_tid },
		[HP_BY_CPU] = { "cpu", true, false, NO_EVENT, cell_cpu },
		[HP_BY_IMAGE] = { "image", false, true, NO_EVENT, cell_image },
		[HP_BY_PROCEDURE] = { "procedure", false, true, NO_EVENT, cell_name },
		[HP_BY_LINE] = { "line", true, false, NO_EVENT, cell_line },
	};
	static const struct column file = { "file", false, true, NO_EVENT, cell_file };
	static const struct column thread = { "thread", false, true, NO_EVENT, cell_thread };
	const struct hp_breakdown *by = &report->profiles->by;

	for (size_t i = 0; i < by->count; i++) {
		struct column column = for_all[by->keys[i]];

		if (for_people && by->keys[i] == HP_BY_IMAGE)
			column.cell = cell_short_image;
		if (for_people && by->keys[i] == HP_BY_PROCEDURE)
			column.cell = cell_shown;
		if (for_people && by->keys[i] == HP_BY_LINE)
			column = (struct column){ "line", false, true, NO_EVENT, cell_place };
		if ((!for_people && by->keys[i] == HP_BY_LINE &&
		     !hp_vector_push(&columns->at, file)) ||
		    !hp_vector_push(&columns->at, column) ||
		    (by->keys[i] == HP_BY_TID && !hp_vector_push(&columns->at, thread)))
			return hp_error_create_no_memory();
	}
	return NULL;
}

json_t *breakdown_object(const struct report *report, const struct hp_row *row)
{
	const struct hp_breakdown *by = &report->profiles->by;
	static const struct hp_loaded_group none;
	const struct hp_loaded_group *group = row->group < report->profiles->groups.count
						      ? &report->profiles->groups.at[row->group]
						      : &none;
	json_t *object = json_object();

	for (size_t i = 0; i < by->count; i++) {
		switch (by->keys[i]) {
		case HP_BY_COMM:
			json_object_set_new(object, "comm", json_text(group->command));
			break;
		case HP_BY_PID:
			json_object_set_new(object, "pid", json_count(group->pid));
			break;
		case HP_BY_TID:
			json_object_set_new(object, "tid",
					    group->tid ? json_count(group->tid) : json_null());
			json_object_set_new(object, "thread", json_text(group->thread));
			break;
		case HP_BY_CPU:
			json_object_set_new(object, "cpu",
					    group->cpu ? json_count(group->cpu - 1) : json_null());
			break;
		case HP_BY_IMAGE:
			json_object_set_new(object, "image", json_text(row->image->id.path));
			json_object_set_new(object, "build_id", json_text(row->image->build_id));
			break;
		case HP_BY_PROCEDURE:
			json_object_set_new(object, "procedure", json_text(row->name));
			break;
		case HP_BY_LINE:
			json_object_set_new(object, "file", json_text(row->file));
			json_object_set_new(object, "line",
					    row->file && row->line ? json_count(row->line)
								   : json_null());
			break;
		default:
			break;
		}
	}
	json_object_set_new(object, "samples", json_samples(report, row->tallies));
	json_object_set_new(object, "share", json_shares(report, row->tallies));
	return object;
}
