/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool shown;

static bool can_show(void)
{
	const char *terminal = getenv("TERM");

	return terminal && strcmp(terminal, "dumb") != 0 && isatty(STDERR_FILENO);
}

static int columns(void)
{
	const int usual = 80;
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col
									       : usual;
}

void progress_show(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	if (!can_show())
		return;
	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (!text)
		return;
	/* The last column stays free: a full line would begin the next one. */
	fprintf(stderr, "\r\033[K%.*s", columns() - 1, text);
	shown = true;
}

void progress_hide(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
