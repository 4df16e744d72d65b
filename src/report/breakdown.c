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
	static const char advice[] = "it takes comm, pid, image (dso), procedure (symbol) and line "
				     "(srcline), with commas";
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
	if (is_word(word, length, "tid") || is_word(word, length, "cpu"))
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"--by %.*s: recordings do not keep %s apart", (int)length,
					word, *word == 't' ? "threads" : "CPUs"),
			"they keep processes apart (hpcprof record --per-process): --by pid%s",
			*word == 't' ? "" : "; hpcprof record -C CPU samples one CPU");
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

/* --- processes ---------------------------------------------------------------------------------- */

struct group_key {
	const char *command; /* interned */
	uint64_t pid;
};

struct group_entry {
	UT_hash_handle hh;
	struct group_key key;
	uint32_t number;
};

struct hp_error *breakdown_group(struct report *report, const struct hp_stratum *stratum,
				 uint32_t *group)
{
	const struct breakdown *by = &report->by;
	struct group_entry *entry;
	struct report_group made = { 0 };
	struct group_key key;

	*group = 0;
	if (!by->has[BY_COMM] && !by->has[BY_PID])
		return NULL;
	memset(&key, 0, sizeof(key));
	key.command = report_intern(report, by->has[BY_COMM] ? stratum->command : "");
	key.pid = by->has[BY_PID] ? stratum->pid : 0;
	if (!key.command)
		return hp_error_create_no_memory();
	HASH_FIND(hh, report->group_index, &key, sizeof(key), entry);
	if (!entry) {
		made = (struct report_group){ key.command, stratum->pid };
		entry = hp_arena_alloc(report->arena, sizeof(*entry));
		if (!entry || report->groups.count >= UINT32_MAX ||
		    !hp_vector_push(&report->groups, made))
			return hp_error_create_no_memory();
		entry->number = (uint32_t)report->groups.count - 1;
		memcpy(&entry->key, &key, sizeof(key));
		HASH_ADD(hh, report->group_index, key, sizeof(entry->key), entry);
		if (!entry->hh.tbl)
			return hp_error_create_no_memory();
	}
	*group = entry->number;
	return NULL;
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

struct hp_error *breakdown_columns(const struct report *report, bool for_people,
				   struct columns *columns)
{
	static const struct column for_all[BY_COUNT] = {
		[BY_COMM] = { "comm", false, true, NO_EVENT, cell_command },
		[BY_PID] = { "pid", true, false, NO_EVENT, cell_pid },
		[BY_IMAGE] = { "image", false, true, NO_EVENT, cell_image },
		[BY_PROCEDURE] = { "procedure", false, true, NO_EVENT, cell_name },
		[BY_LINE] = { "line", true, false, NO_EVENT, cell_line },
	};
	static const struct column file = { "file", false, true, NO_EVENT, cell_file };
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
		    !hp_vector_push(&columns->at, column))
			return hp_error_create_no_memory();
	}
	return NULL;
}

json_t *breakdown_object(const struct report *report, const struct row *row)
{
	const struct breakdown *by = &report->by;
	json_t *object = json_object();

	for (size_t i = 0; i < by->count; i++) {
		switch (by->keys[i]) {
		case BY_COMM:
			json_object_set_new(object, "comm",
					    json_text(report->groups.at[row->group].command));
			break;
		case BY_PID:
			json_object_set_new(object, "pid",
					    json_count(report->groups.at[row->group].pid));
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
