/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a replay. */
#include <hpcprof/count/replay.h>

#include "tuning.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct cell {
	uint32_t name;
	uint64_t count;
};

struct reading {
	HP_VECTOR(char *) names;
	HP_VECTOR(struct hp_replay_slice) slices;
	HP_VECTOR(size_t) first; /* by slice: index of its first count in `cells` */
	HP_VECTOR(struct cell) cells;
	char *core;
	size_t line;
};

static const char first_line[] = "hpcprof-counts 1";

void hp_replay_destroy(struct hp_replay *replay)
{
	if (!replay)
		return;
	for (size_t i = 0; i < replay->name_count; i++)
		free(replay->names[i]);
	free(replay->names);
	free(replay->turns);
	free(replay->core);
	free(replay->slices);
	free(replay->counts);
	free(replay);
}

size_t hp_replay_find(const struct hp_replay *replay, const char *name)
{
	for (size_t i = 0; i < replay->name_count; i++)
		if (strcasecmp(replay->names[i], name) == 0)
			return i;
	return HP_REPLAY_NO_NAME;
}

struct hp_error *hp_replay_join(struct hp_replay *replay, size_t into, size_t from)
{
	for (size_t i = 0; i < replay->slice_count; i++) {
		uint64_t *counts = &replay->counts[i * replay->name_count];

		if (counts[from] == HP_REPLAY_NOT_COUNTED)
			continue;
		if (counts[into] != HP_REPLAY_NOT_COUNTED)
			return hp_error_create(HP_ERROR_DAMAGED,
					       "slice %zu counts %s twice: as %s, too", i + 1,
					       replay->names[into], replay->names[from]);
		counts[into] = counts[from];
		counts[from] = HP_REPLAY_NOT_COUNTED;
		replay->turns[into]++;
		replay->turns[from]--;
	}
	return NULL;
}

/* --- lines ------------------------------------------------------------------------------------ */

static struct hp_error *damaged(const struct reading *reading, const char *what)
{
	return hp_error_create(HP_ERROR_DAMAGED, "line %zu: %s", reading->line, what);
}

static struct hp_error *take_name(struct reading *reading, const char *name, uint32_t *number)
{
	char *copy;

	for (*number = 0; *number < reading->names.count; ++*number)
		if (strcasecmp(reading->names.at[*number], name) == 0)
			return NULL;
	if (reading->names.count == HP_MUX_MAX_EVENTS)
		return damaged(reading, "too many different events");
	copy = strdup(name);
	if (copy && hp_vector_push(&reading->names, copy))
		return NULL;
	free(copy);
	return hp_error_create_no_memory();
}

/* Parses digits with commas between them, and moves `*text` past them. */
static bool take_count(char **text, uint64_t *count)
{
	const uint64_t base = 10;
	char *at = *text;

	*count = 0;
	for (; (*at >= '0' && *at <= '9') || (*at == ',' && at > *text); at++) {
		uint64_t digit = (uint64_t)*at - '0';

		if (*at == ',')
			continue;
		if (*count > (INT64_MAX - digit) / base)
			return false;
		*count = *count * base + digit;
	}
	if (at == *text)
		return false;
	*text = at;
	return true;
}

static struct hp_error *take_event(struct reading *reading, char *line)
{
	struct cell cell;
	struct hp_error *error;

	if (!take_count(&line, &cell.count) || (*line != ' ' && *line != '\t'))
		return damaged(reading, "not a count and an event, 'core NAME' or 'slice'");
	line += strspn(line, " \t");
	if (!*line || strpbrk(line, " \t"))
		return damaged(reading, "the name of an event must be one word");
	if (!reading->slices.count)
		return damaged(reading, "a count before the first 'slice'");
	error = take_name(reading, line, &cell.name);
	if (error)
		return error;
	for (size_t i = reading->first.at[reading->first.count - 1]; i < reading->cells.count; i++)
		if (reading->cells.at[i].name == cell.name)
			return damaged(reading, "an event that the slice has already");
	if (reading->cells.count == REPLAY_COUNTS_MOST)
		return damaged(reading, "too many counts");
	return hp_vector_push(&reading->cells, cell) ? NULL : hp_error_create_no_memory();
}

static bool take_seconds(char *text, uint64_t *value_ns)
{
	const double ns_per_s = 1e9, most = 1e9;
	double value;

	if (!text || !hp_parse_double(text, &value) || value < 0 || value > most)
		return false;
	*value_ns = (uint64_t)llround(value * ns_per_s);
	return true;
}

static struct hp_error *take_slice(struct reading *reading, char *line)
{
	struct hp_replay_slice slice = { 0 };
	char *rest = NULL;
	char *begin = strtok_r(line, " \t", &rest);
	char *end = begin ? strtok_r(NULL, " \t", &rest) : NULL;
	const struct hp_replay_slice *last =
		reading->slices.count ? &reading->slices.at[reading->slices.count - 1] : NULL;

	if (begin && (!take_seconds(begin, &slice.begin_ns) || !take_seconds(end, &slice.end_ns) ||
		      strtok_r(NULL, " \t", &rest)))
		return damaged(reading, "a slice is 'slice' or 'slice FROM TO', in seconds");
	if (last && !last->end_ns != !slice.end_ns)
		return damaged(reading, "either all slices have times or none");
	if (begin && (slice.end_ns <= slice.begin_ns || (last && slice.begin_ns < last->end_ns)))
		return damaged(reading, "slices follow each other, and take time");
	if (reading->slices.count == REPLAY_COUNTS_MOST)
		return damaged(reading, "too many slices");
	if (!hp_vector_push(&reading->slices, slice) ||
	    !hp_vector_push(&reading->first, reading->cells.count))
		return hp_error_create_no_memory();
	return NULL;
}

static struct hp_error *take_core(struct reading *reading, const char *name)
{
	if (reading->core || !*name || strpbrk(name, " \t"))
		return damaged(reading, "the core must be one word, given once");
	reading->core = strdup(name);
	return reading->core ? NULL : hp_error_create_no_memory();
}

static struct hp_error *take_line(struct reading *reading, char *line)
{
	char *end;

	line += strspn(line, " \t");
	end = line + strcspn(line, "#\r\n");
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	if (reading->line == 1)
		return strcmp(line, first_line) == 0
			       ? NULL
			       : damaged(reading, "counts begin with 'hpcprof-counts 1'");
	if (!*line)
		return NULL;
	if (strncmp(line, "core ", 5) == 0)
		return take_core(reading, line + 5 + strspn(line + 5, " \t"));
	if (strncmp(line, "slice", 5) == 0 && strchr(" \t", line[5]))
		return take_slice(reading, line + 5);
	return take_event(reading, line);
}

/* --- all of it -------------------------------------------------------------------------------- */

enum line { LINE_TAKEN, LINE_NONE_LEFT, LINE_NO_TEXT };

/* Reads a line without its end. The file may be endless, and need not be text. */
static enum line read_line(FILE *file, char line[REPLAY_LINE_MOST + 1])
{
	size_t length = 0;
	int byte;

	while ((byte = getc_unlocked(file)) != EOF && byte != '\n') {
		if (!byte || length == REPLAY_LINE_MOST)
			return LINE_NO_TEXT;
		line[length++] = (char)byte;
	}
	line[length] = 0;
	return byte == EOF && !length ? LINE_NONE_LEFT : LINE_TAKEN;
}

static struct hp_error *read_lines(struct reading *reading, FILE *file)
{
	char line[REPLAY_LINE_MOST + 1];
	struct hp_error *error = NULL;
	enum line read = LINE_TAKEN;

	while (!error) {
		read = read_line(file, line);
		if (read == LINE_NONE_LEFT && ferror(file))
			return hp_error_create_errno(errno, "reading");
		if (read == LINE_NONE_LEFT && reading->line)
			break;
		reading->line++;
		if (read == LINE_NONE_LEFT)
			*line = 0;
		error = read == LINE_NO_TEXT ? damaged(reading, "no line of text")
					     : take_line(reading, line);
	}
	if (!error && !reading->cells.count)
		error = damaged(reading, "the text ends without a count");
	return error;
}

static struct hp_error *make_replay(struct reading *reading, struct hp_replay **created)
{
	size_t names = reading->names.count;
	size_t slices = reading->slices.count;
	struct hp_replay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return hp_error_create_no_memory();
	replay->turns = calloc(names + 1, sizeof(*replay->turns));
	if (replay->turns && slices * names <= REPLAY_COUNTS_MOST)
		replay->counts = malloc((slices * names + 1) * sizeof(*replay->counts));
	if (!replay->counts) {
		hp_replay_destroy(replay);
		return slices * names > REPLAY_COUNTS_MOST ? damaged(reading, "too many counts")
							   : hp_error_create_no_memory();
	}
	for (size_t i = 0; i < slices * names; i++)
		replay->counts[i] = HP_REPLAY_NOT_COUNTED;
	for (size_t i = 0; i < slices; i++) {
		size_t end = i + 1 < slices ? reading->first.at[i + 1] : reading->cells.count;

		for (size_t j = reading->first.at[i]; j < end; j++) {
			const struct cell *cell = &reading->cells.at[j];

			replay->counts[i * names + cell->name] = cell->count;
			replay->turns[cell->name]++;
		}
	}
	replay->name_count = names;
	replay->slice_count = slices;
	replay->names = hp_steal(reading->names.at);
	replay->slices = hp_steal(reading->slices.at);
	replay->core = hp_steal(reading->core);
	reading->names.count = 0;
	*created = replay;
	return NULL;
}

struct hp_error *hp_replay_create(const char *path, struct hp_replay **created)
{
	struct reading reading = { .line = 0 };
	FILE *file = fopen(path, "re");
	struct hp_error *error;

	if (!file)
		return hp_error_create_errno(errno, "opening %s", path);
	error = read_lines(&reading, file);
	fclose(file);
	if (!error)
		error = make_replay(&reading, created);
	for (size_t i = 0; i < reading.names.count; i++)
		free(reading.names.at[i]);
	hp_vector_free(&reading.names);
	hp_vector_free(&reading.slices);
	hp_vector_free(&reading.first);
	hp_vector_free(&reading.cells);
	free(reading.core);
	return hp_error_wrap(error, "%s", path);
}
