/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "svg.h"

#include "text.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>
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
	enum { TARGET_COLUMNS = 100 };
	_cleanup_free_ char *command = NULL;

	if (!meta->command_line)
		return svg_text(out, meta->target ? meta->target : "hpcprof", TARGET_COLUMNS);
	command = hp_text_join(meta->command_line, " ");
	return command && svg_text(out, command, TARGET_COLUMNS);
}
