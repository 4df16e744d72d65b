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

/* One goes before another of its rank that was put after it. */
static size_t count_before(const struct header *header, size_t at)
{
	size_t before = 0;

	for (size_t i = 0; i < header->lines.count; i++)
		before += header->lines.at[i].rank < header->lines.at[at].rank ||
			  (i < at && header->lines.at[i].rank == header->lines.at[at].rank);
	return before;
}

size_t header_write(const struct header *header, size_t most, size_t columns, FILE *out)
{
	const size_t indent = sizeof("# 0123456789 ") - 1;
	const char *label = "";
	const char *last = NULL; /* that was written */
	size_t left_out = 0;

	for (size_t i = 0; i < header->lines.count; i++) {
		const struct header_line *line = &header->lines.at[i];
		_cleanup_(hp_buffer_free) struct hp_buffer text = { 0 };

		label = *line->label ? line->label : label;
		if (most && (line->rank == HEADER_DETAILS || count_before(header, i) >= most)) {
			left_out += line->rank < HEADER_DETAILS;
			continue;
		}
		text_cut(&text, line->text, columns > indent ? columns - indent : 0);
		fprintf(out, "# %-10s %s\n", *line->label || label != last ? label : "",
			hp_buffer_text(&text));
		last = label;
	}
	return left_out;
}
