/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "breakdown.h"

#include "cells.h"
#include <hpcprof/base/hash.h>

#include <hpcprof/base/number.h>

#include <inttypes.h>
#include <string.h>

/* --- what is asked for -------------------------------------------------------------------------- */

static const struct {
	const char *word;
	const char *of_perf;
	enum breakdown_key key;
} words[] = {
	{ "comm", NULL, BY_COMM },
	{ "pid", NULL, BY_PID },
	{ "tid", NULL, BY_TID },
	{ "cpu", NULL, BY_CPU },
	{ "image", "dso", BY_IMAGE },
	{ "procedure", "symbol", BY_PROCEDURE },
	{ "procedure", "sym", BY_PROCEDURE },
	{ "line", "srcline", BY_LINE },
};

static bool is_word(const char *text, size_t length, const char *word)
{
	return word && strlen(word) == length && strncmp(text, word, length) == 0;
}

static struct hp_error *add_key(struct report *report, const char *word, size_t length)
{
	static const char advice[] =
		"it takes comm, pid, tid, cpu, image (dso), procedure (symbol) and "
		"line (srcline), with commas";
	struct breakdown *by = &report->by;

	for (size_t i = 0; i < HP_ARRAY_COUNT(words); i++) {
		if (!is_word(word, length, words[i].word) &&
		    !is_word(word, length, words[i].of_perf))
			continue;
		if (!by->has[words[i].key])
			by->keys[by->count++] = words[i].key;
		by->has[words[i].key] = true;
		return NULL;
	}
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "there is no --by '%.*s'", (int)length, word), "%s",
		advice);
}

struct hp_error *breakdown_parse(struct report *report)
{
	const char *word = report->options->by;
	struct hp_error *error = NULL;

	while (word && !error) {
		size_t length = strcspn(word, ",");

		error = add_key(report, word, length);
		word = word[length] ? word + length + 1 : NULL;
	}
	return error;
}

bool breakdown_needs_shares(const struct report *report)
{
	return report->by.has[BY_TID] || report->by.has[BY_CPU];
}

static struct hp_error *not_kept_apart(const char *asked, const char *stamp, const char *what,
				       const char *option)
{
	return hp_error_advise(hp_error_create(HP_ERROR_INSUFFICIENT,
					       "%s: epoch %s does not keep %s apart", asked, stamp,
					       what),
			       "record it again with: hpcprof record %s -- COMMAND", option);
}

struct hp_error *breakdown_check(const struct report *report, const char *stamp,
				 const struct hp_epoch_meta *meta)
{
	const struct breakdown *by = &report->by;

	if (report->options->pid && !meta->per_process)
		return not_kept_apart("--pid", stamp, "processes", "--per-process");
	if (by->has[BY_PID] && !meta->per_process)
		return not_kept_apart("--by pid", stamp, "processes", "--per-process");
	if (by->has[BY_TID] && !meta->per_thread)
		return not_kept_apart("--by tid", stamp, "threads", "--per-thread");
	if (by->has[BY_CPU] && !meta->per_cpu)
		return not_kept_apart("--by cpu", stamp, "CPUs", "--per-cpu");
	return NULL;
}

/* --- processes, threads, CPUs ------------------------------------------------------------------- */

struct group_key {
	const char *command; /* interned */
	uint32_t pid;
	uint32_t tid;
	uint64_t cpu;
};

struct group_entry {
	UT_hash_handle hh;
	struct group_key key;
	uint32_t number;
};

/* A thread may have had several names, or none at first. */
static struct hp_error *name_group(struct report *report, struct report_group *group,
				   const struct hp_stratum *stratum)
{
	uint64_t samples = hp_stratum_samples(stratum);

	if (!stratum->thread || !report->by.has[BY_TID] ||
	    (group->thread && samples <= group->samples))
		return NULL;
	group->samples = samples;
	group->thread = report_intern(report, stratum->thread);
	return group->thread ? NULL : hp_error_create_no_memory();
}

static struct hp_error *add_group(struct report *report, const struct group_key *key,
				  struct group_entry **added)
{
	const struct report_group group = {
		.command = key->command, .pid = key->pid, .tid = key->tid, .cpu = (uint32_t)key->cpu
	};
	struct group_entry *entry = hp_arena_alloc(report->arena, sizeof(*entry));

	if (!entry || report->groups.count >= UINT32_MAX || !hp_vector_push(&report->groups, group))
		return hp_error_create_no_memory();
	entry->number = (uint32_t)report->groups.count - 1;
	memcpy(&entry->key, key, sizeof(*key));
	HASH_ADD(hh, report->group_index, key, sizeof(entry->key), entry);
	*added = entry;
	return entry->hh.tbl ? NULL : hp_error_create_no_memory();
}

struct hp_error *breakdown_group(struct report *report, const struct hp_stratum *stratum,
				 uint32_t *group)
{
	const struct breakdown *by = &report->by;
	struct group_entry *entry;
	struct group_key key;
	struct hp_error *error = NULL;

	*group = 0;
	if (!by->has[BY_COMM] && !by->has[BY_PID] && !breakdown_needs_shares(report))
		return NULL;
	memset(&key, 0, sizeof(key));
	key.command = report_intern(report, by->has[BY_COMM] ? stratum->command : "");
	key.pid = by->has[BY_PID] ? stratum->pid : 0;
	key.tid = by->has[BY_TID] ? stratum->tid : 0;
	key.cpu = by->has[BY_CPU] ? stratum->cpu : 0;
	if (!key.command)
		return hp_error_create_no_memory();
	HASH_FIND(hh, report->group_index, &key, sizeof(key), entry);
	if (!entry)
		error = add_group(report, &key, &entry);
	if (error)
		return error;
	*group = entry->number;
	return name_group(report, &report->groups.at[*group], stratum);
}

void breakdown_forget(struct report *report)
{
	HASH_CLEAR(hh, report->group_index);
}

/* --- columns ------------------------------------------------------------------------------------ */

static void cell_command(const struct cell *cell, struct hp_buffer *text)
{
	const char *command = cell->report->groups.at[cell->row->group].command;

	hp_buffer_add(text, command, strlen(command));
}

static void cell_pid(const struct cell *cell, struct hp_buffer *text)
{
	hp_buffer_printf(text, "%" PRIu32, cell->report->groups.at[cell->row->group].pid);
}

/* People get a dash for what is not known. */
static void cell_tid(const struct cell *cell, struct hp_buffer *text)
{
	const struct report_group *group = &cell->report->groups.at[cell->row->group];

	if (group->tid)
		hp_buffer_printf(text, "%" PRIu32, group->tid);
	else if (cell->report->options->format == HP_FORMAT_TEXT)
		hp_buffer_printf(text, "-");
}

static void cell_thread(const struct cell *cell, struct hp_buffer *text)
{
	const char *thread = cell->report->groups.at[cell->row->group].thread;

	if (thread)
		hp_buffer_add(text, thread, strlen(thread));
	else if (cell->report->options->format == HP_FORMAT_TEXT)
		hp_buffer_printf(text, "-");
}

static void cell_cpu(const struct cell *cell, struct hp_buffer *text)
{
	uint32_t cpu = cell->report->groups.at[cell->row->group].cpu;

	if (cpu)
		hp_buffer_printf(text, "%" PRIu32, cpu - 1);
	else if (cell->report->options->format == HP_FORMAT_TEXT)
		hp_buffer_printf(text, "-");
}

struct hp_error *breakdown_columns(const struct report *report, bool for_people,
				   struct columns *columns)
{
	static const struct column for_all[BY_COUNT] = {
		[BY_COMM] = { "comm", false, true, NO_EVENT, cell_command },
		[BY_PID] = { "pid", true, false, NO_EVENT, cell_pid },
		[BY_TID] = { "tid", true, false, NO_EVENT, cell_tid },
		[BY_CPU] = { "cpu", true, false, NO_EVENT, cell_cpu },
		[BY_IMAGE] = { "image", false, true, NO_EVENT, cell_image },
		[BY_PROCEDURE] = { "procedure", false, true, NO_EVENT, cell_name },
		[BY_LINE] = { "line", true, false, NO_EVENT, cell_line },
	};
	static const struct column file = { "file", false, true, NO_EVENT, cell_file };
	static const struct column thread = { "thread", false, true, NO_EVENT, cell_thread };
	const struct breakdown *by = &report->by;

	for (size_t i = 0; i < by->count; i++) {
		struct column column = for_all[by->keys[i]];

		if (for_people && by->keys[i] == BY_IMAGE)
			column.cell = cell_short_image;
		if (for_people && by->keys[i] == BY_PROCEDURE)
			column.cell = cell_shown;
		if (for_people && by->keys[i] == BY_LINE)
			column = (struct column){ "line", false, true, NO_EVENT, cell_place };
		if ((!for_people && by->keys[i] == BY_LINE &&
		     !hp_vector_push(&columns->at, file)) ||
		    !hp_vector_push(&columns->at, column) ||
		    (by->keys[i] == BY_TID && !hp_vector_push(&columns->at, thread)))
			return hp_error_create_no_memory();
	}
	return NULL;
}

json_t *breakdown_object(const struct report *report, const struct row *row)
{
	const struct breakdown *by = &report->by;
	static const struct report_group none;
	const struct report_group *group =
		row->group < report->groups.count ? &report->groups.at[row->group] : &none;
	json_t *object = json_object();

	for (size_t i = 0; i < by->count; i++) {
		switch (by->keys[i]) {
		case BY_COMM:
			json_object_set_new(object, "comm", json_text(group->command));
			break;
		case BY_PID:
			json_object_set_new(object, "pid", json_count(group->pid));
			break;
		case BY_TID:
			json_object_set_new(object, "tid",
					    group->tid ? json_count(group->tid) : json_null());
			json_object_set_new(object, "thread", json_text(group->thread));
			break;
		case BY_CPU:
			json_object_set_new(object, "cpu",
					    group->cpu ? json_count(group->cpu - 1) : json_null());
			break;
		case BY_IMAGE:
			json_object_set_new(object, "image", json_text(row->image->id.path));
			json_object_set_new(object, "build_id", json_text(row->image->build_id));
			break;
		case BY_PROCEDURE:
			json_object_set_new(object, "procedure", json_text(row->name));
			break;
		case BY_LINE:
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
