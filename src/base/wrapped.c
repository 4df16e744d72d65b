/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/base/buffer.h>
#include <hpcprof/base/text.h>
#include <hpcprof/base/wrapped.h>

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct wrapped {
	FILE *to;
	size_t columns;
	enum hp_wrapped_lines lines;
	struct hp_buffer line; /* without its end */
};

/* What stands before the words of a line, and the columns that stay free before the rest of them. */
struct layout {
	size_t head; /* bytes, which are columns */
	size_t indent;
};

static struct layout lay_out(const struct wrapped *wrapped, const char *line, size_t blanks)
{
	size_t hash = blanks + 1;

	if (wrapped->lines == HP_WRAP_ALL)
		return (struct layout){ blanks, 2 };
	/* A label ends with two blanks or more, or is empty. */
	for (size_t at = hash; line[at] && at < wrapped->columns / 4; at++) {
		size_t head = at + strspn(line + at, " ");

		if (head >= at + 2)
			return (struct layout){ head, head };
	}
	return (struct layout){ hash + strspn(line + hash, " "), hash + 2 };
}

static void write_line(const struct wrapped *wrapped)
{
	const char *line = hp_buffer_text(&wrapped->line);
	size_t blanks = strspn(line, " ");
	bool is_comment = wrapped->lines == HP_WRAP_COMMENTS;
	struct layout layout = { 0 };
	const char *rest = line;

	if (!is_comment || line[blanks] == '#')
		layout = lay_out(wrapped, line, blanks);
	if (!layout.indent || layout.head >= wrapped->columns ||
	    layout.indent >= wrapped->columns || hp_text_columns(line) <= wrapped->columns) {
		fwrite(line, 1, wrapped->line.size, wrapped->to);
		return;
	}
	rest += fwrite(line, 1, layout.head, wrapped->to);
	for (size_t taken = layout.head;; taken = layout.indent) {
		rest += fwrite(rest, 1, hp_text_line(rest, wrapped->columns - taken), wrapped->to);
		rest += strspn(rest, " ");
		if (!*rest)
			return;
		fprintf(wrapped->to, "\n%*s", (int)(is_comment ? blanks : layout.indent), "");
		if (is_comment)
			fprintf(wrapped->to, "#%*s", (int)(layout.indent - blanks - 1), "");
	}
}

static ssize_t take(void *cookie, const char *bytes, size_t size)
{
	struct wrapped *wrapped = cookie;
	const char *end = bytes + size;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		const char *stop = newline ? newline : end;

		hp_buffer_add(&wrapped->line, bytes, (size_t)(stop - bytes));
		bytes = stop;
		if (!newline)
			break;
		write_line(wrapped);
		putc('\n', wrapped->to);
		hp_buffer_clear(&wrapped->line);
		bytes++;
	}
	return wrapped->line.failed || ferror(wrapped->to) ? 0 : (ssize_t)size;
}

static int finish(void *cookie)
{
	struct wrapped *wrapped = cookie;
	bool is_failed;

	if (wrapped->line.size)
		write_line(wrapped);
	is_failed = wrapped->line.failed || ferror(wrapped->to);
	hp_buffer_free(&wrapped->line);
	free(wrapped);
	return is_failed ? EOF : 0;
}

FILE *hp_wrapped_open(FILE *to, size_t columns, enum hp_wrapped_lines lines)
{
	struct wrapped *wrapped = malloc(sizeof(*wrapped));
	FILE *stream;

	if (!wrapped)
		return NULL;
	*wrapped = (struct wrapped){ .to = to, .columns = columns, .lines = lines };
	stream = fopencookie(wrapped, "w",
			     (cookie_io_functions_t){ .write = take, .close = finish });
	if (!stream)
		free(wrapped);
	return stream;
}
