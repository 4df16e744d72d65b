/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "svg.h"

#include "text.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/model/epoch.h>

/* Writes valid UTF-8 without control characters, as XML requires. */
static void put_xml(FILE *out, const char *text)
{
	static const char *const names[128] = {
		['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
	};
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < 128 && names[byte])
			fputs(names[byte], out);
		else
			putc(byte, out);
	}
}

bool svg_text(FILE *out, const char *text, size_t columns)
{
	_cleanup_(hp_buffer_free) struct hp_buffer safe = { 0 };
	_cleanup_(hp_buffer_free) struct hp_buffer cut = { 0 };

	text_escape(&safe, text);
	text_cut(&cut, hp_buffer_text(&safe), columns);
	put_xml(out, hp_buffer_text(&cut));
	return !safe.failed && !cut.failed;
}

bool svg_command(FILE *out, const struct hp_epoch_meta *meta)
{
	enum { MOST_WORDS = 8, WORD_COLUMNS = 60, TARGET_COLUMNS = 100 };
	bool done = true;

	if (!meta->command_line)
		return svg_text(out, meta->target ? meta->target : "hpcprof", TARGET_COLUMNS);
	for (size_t i = 0; meta->command_line[i] && i < MOST_WORDS; i++) {
		fputs(i ? " " : "", out);
		done = svg_text(out, meta->command_line[i], WORD_COLUMNS) && done;
	}
	return done;
}
