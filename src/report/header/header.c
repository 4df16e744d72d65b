/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "header.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void header_clear(struct header *header)
{
	for (size_t i = 0; i < header->lines.count; i++)
		free(header->lines.at[i].text);
	hp_vector_free(&header->lines);
}

void header_put(struct header *header, enum header_rank rank, const char *label, const char *format,
		...)
{
	_cleanup_(hp_buffer_free) struct hp_buffer safe = { 0 };
	struct header_line line = { .rank = (uint8_t)rank, .label = label };
	va_list arguments;
	char *raw;

	va_start(arguments, format);
	raw = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (raw)
		text_escape(&safe, raw);
	free(raw);
	line.text = raw && !safe.failed ? strdup(hp_buffer_text(&safe)) : NULL;
	if (line.text && hp_vector_push(&header->lines, line))
		return;
	free(line.text);
	header->failed = true;
}

/* The number of lines before line `at` in order of rank; of equal rank, the earlier one comes
 * first. */
static size_t count_before(const struct header *header, size_t at)
{
	size_t before = 0;

	for (size_t i = 0; i < header->lines.count; i++)
		before += header->lines.at[i].rank < header->lines.at[at].rank ||
			  (i < at && header->lines.at[i].rank == header->lines.at[at].rank);
	return before;
}

static bool is_left_out(const struct header *header, size_t at, size_t most)
{
	return most &&
	       (header->lines.at[at].rank == HEADER_DETAILS || count_before(header, at) >= most);
}

/* The number of lines left after the first line of each entry. */
static size_t count_spare(const struct header *header, size_t most)
{
	size_t taken = 0;

	for (size_t i = 0; i < header->lines.count; i++)
		taken += !is_left_out(header, i, most);
	return most > taken ? most - taken : 0;
}

/* Advice and warnings continue on the next line while there is room; otherwise they are cut, as
 * commands always are. */
static void write_line(const struct header_line *line, const char *label, size_t room,
		       size_t *spare, FILE *out)
{
	_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };
	const char *rest = line->text;

	while (*spare && room && line->rank != HEADER_ALWAYS && hp_text_columns(rest) > room) {
		size_t length = hp_text_line(rest, room);

		if (!rest[length])
			break;
		fprintf(out, "# %-10s %.*s\n", label, (int)length, rest);
		rest += length + 1;
		label = "";
		--*spare;
	}
	text_cut(&text, rest, room);
	fprintf(out, "# %-10s %s\n", label, hp_buffer_text(&text));
}

size_t header_write(const struct header *header, size_t most, size_t columns, FILE *out)
{
	const size_t indent = sizeof("# 0123456789 ") - 1;
	size_t spare = count_spare(header, most);
	const char *label = "";
	const char *last = NULL; /* label of the line written last */
	size_t left_out = 0;

	for (size_t i = 0; i < header->lines.count; i++) {
		const struct header_line *line = &header->lines.at[i];

		label = *line->label ? line->label : label;
		if (is_left_out(header, i, most)) {
			left_out += line->rank < HEADER_DETAILS;
			continue;
		}
		write_line(line, *line->label || label != last ? label : "",
			   columns > indent ? columns - indent : 0, &spare, out);
		last = label;
	}
	return left_out;
}
