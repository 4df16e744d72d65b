/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "excerpt_lines.h"

/* --- writing ------------------------------------------------------------------------------ */

/* 0: none. */
static uint64_t optional(uint32_t number)
{
	return number == HP_EXCERPT_NONE ? 0 : (uint64_t)number + 1;
}

static void write_step(struct hp_writer *section, uint64_t number, uint64_t *before)
{
	hp_write_varint(section, hp_to_zigzag(number - *before));
	*before = number;
}

static void write_places(const struct hp_excerpt *excerpt, struct hp_writer *section)
{
	const struct hp_excerpt_place *places = excerpt->places.at;
	size_t count = excerpt->places.count;
	uint64_t function = 0;
	uint64_t file = 0;
	uint64_t line = 0;

	hp_write_varint(section, count);
	for (size_t i = 0; i < count; i++)
		write_step(section, optional(places[i].function), &function);
	for (size_t i = 0; i < count; i++)
		write_step(section, optional(places[i].file), &file);
	for (size_t i = 0; i < count; i++)
		write_step(section, places[i].line, &line);
	/* As a distance backwards, which is short, since inlined functions follow their callers. */
	for (size_t i = 0; i < count; i++)
		hp_write_varint(section,
				places[i].outer == HP_EXCERPT_NONE ? 0 : i - places[i].outer);
}

void excerpt_write_lines(const struct hp_excerpt *excerpt, struct hp_writer *section)
{
	const struct hp_excerpt_line *lines = excerpt->lines.at;
	size_t count = excerpt->lines.count;
	uint64_t end = 0;
	uint64_t place = 0;

	hp_write_varint(section, excerpt->words.count);
	for (size_t i = 0; i < excerpt->words.count; i++)
		hp_write_string(section, excerpt->words.at[i]);
	write_places(excerpt, section);
	hp_write_varint(section, count);
	for (size_t i = 0; i < count; i++) {
		hp_write_varint(section, lines[i].address - end);
		end = lines[i].address + lines[i].bytes;
	}
	for (size_t i = 0; i < count; i++)
		hp_write_varint(section, lines[i].bytes - 1);
	for (size_t i = 0; i < count; i++)
		write_step(section, lines[i].place, &place);
}

/* --- reading ------------------------------------------------------------------------------ */

static void read_words(struct reading *reading, struct hp_excerpt *excerpt)
{
	size_t count = reading_count(reading, 1, HP_EXCERPT_MOST_WORDS, "words");

	reading_reserve(reading, &excerpt->words, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		char *word = reading_text(reading);

		if (word)
			excerpt->words.at[excerpt->words.count++] = word;
	}
}

/* Inverse of `optional`: the index of a word. */
static uint32_t word_of(struct reading *reading, uint64_t number)
{
	if (number >= UINT32_MAX)
		reading_refuse(reading, "a number past 32 bits");
	return number ? (uint32_t)(number - 1) : HP_EXCERPT_NONE;
}

static uint64_t read_step(struct reading *reading, uint64_t *before)
{
	*before += hp_from_zigzag(reading_number(reading));
	return *before;
}

/* Reads all numbers of one kind, then those of the next. */
static void read_places(struct reading *reading, struct hp_excerpt *excerpt)
{
	size_t count = reading_count(reading, 4, HP_EXCERPT_MOST_PLACES, "places");
	struct hp_excerpt_place *places;
	uint64_t function = 0;
	uint64_t file = 0;
	uint64_t line = 0;

	reading_reserve(reading, &excerpt->places, count);
	places = excerpt->places.at;
	for (size_t i = 0; i < count && !reading->error; i++)
		places[i].function = word_of(reading, read_step(reading, &function));
	for (size_t i = 0; i < count && !reading->error; i++)
		places[i].file = word_of(reading, read_step(reading, &file));
	for (size_t i = 0; i < count && !reading->error; i++) {
		if (read_step(reading, &line) > UINT32_MAX)
			reading_refuse(reading, "a line past 32 bits");
		places[i].line = (uint32_t)line;
	}
	for (size_t i = 0; i < count && !reading->error; i++) {
		uint64_t back = reading_number(reading);

		if (back > i)
			reading_refuse(reading, "inlined into a missing place");
		places[i].outer = back ? (uint32_t)(i - back) : HP_EXCERPT_NONE;
	}
	if (!reading->error)
		excerpt->places.count = count;
}

void excerpt_read_lines(struct reading *reading, struct hp_excerpt *excerpt)
{
	struct hp_excerpt_line *lines;
	uint64_t place = 0;
	uint64_t end = 0;
	size_t count;

	read_words(reading, excerpt);
	read_places(reading, excerpt);
	count = reading_count(reading, 3, HP_EXCERPT_MOST_LINES, "lines");
	reading_reserve(reading, &excerpt->lines, count);
	lines = excerpt->lines.at;
	/* These are gaps until the sizes are known. */
	for (size_t i = 0; i < count && !reading->error; i++)
		lines[i].address = reading_number(reading);
	for (size_t i = 0; i < count && !reading->error; i++) {
		lines[i].address = reading_sum(reading, end, lines[i].address);
		lines[i].bytes = reading_size(reading, lines[i].address);
		end = lines[i].address + lines[i].bytes;
	}
	for (size_t i = 0; i < count && !reading->error; i++) {
		if (read_step(reading, &place) >= excerpt->places.count)
			reading_refuse(reading, "a line without a place");
		lines[i].place = (uint32_t)place;
	}
	if (!reading->error)
		excerpt->lines.count = count;
}

/* --- of older epochs ---------------------------------------------------------------------- */

static void read_old_places(struct reading *reading, struct hp_excerpt *excerpt)
{
	size_t count = reading_count(reading, 4, HP_EXCERPT_MOST_PLACES, "places");

	reading_reserve(reading, &excerpt->places, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_place place = { .function = word_of(reading,
								      reading_number(reading)) };
		uint64_t line;
		uint64_t back;

		place.file = word_of(reading, reading_number(reading));
		line = reading_number(reading);
		back = reading_number(reading);
		if (line > UINT32_MAX || back > i)
			reading_refuse(reading,
				       "a line past 32 bits, or inlined into a missing place");
		place.line = (uint32_t)line;
		place.outer = back ? (uint32_t)(i - back) : HP_EXCERPT_NONE;
		excerpt->places.at[excerpt->places.count++] = place;
	}
}

void excerpt_read_old_lines(struct reading *reading, struct hp_excerpt *excerpt)
{
	uint64_t end = 0;
	size_t count;

	read_words(reading, excerpt);
	read_old_places(reading, excerpt);
	count = reading_count(reading, 3, HP_EXCERPT_MOST_LINES, "lines");
	reading_reserve(reading, &excerpt->lines, count);
	for (size_t i = 0; i < count && !reading->error; i++) {
		struct hp_excerpt_line line = { 0 };
		uint64_t place;

		line.address = reading_sum(reading, end, reading_number(reading));
		line.bytes = reading_size(reading, line.address);
		place = reading_number(reading);
		if (place >= excerpt->places.count)
			reading_refuse(reading, "a line without a place");
		line.place = (uint32_t)place;
		end = line.address + line.bytes;
		excerpt->lines.at[excerpt->lines.count++] = line;
	}
}
