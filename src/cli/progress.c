/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "progress.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/text.h>

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* A terminal with fewer rows keeps all of them. */
enum { LEAST_ROWS = 4 };

/* The sequences below: \0337 and \0338 keep and restore the cursor with its colours; \033[A;Br lets
 * only rows A to B scroll, \033[r all of them, and both move the cursor. */
static bool shown;
static int reserved_rows;	     /* of the terminal; 0: its last row is not reserved */
static struct sigaction before_quit; /* the former action while a row is reserved */

static bool can_show(void)
{
	const char *terminal = getenv("TERM");

	return terminal && strcmp(terminal, "dumb") != 0 && isatty(STDERR_FILENO);
}

static struct winsize size_of_terminal(void)
{
	const int usual = 80;
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
		size = (struct winsize){ 0 };
	if (size.ws_col <= 1)
		size.ws_col = usual;
	return size;
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
	/* Leaves the last column free: a full line would wrap. */
	fprintf(stderr, "\r\033[K%.*s", size_of_terminal().ws_col - 1, text);
	shown = true;
}

/* --- beside what others write ---------------------------------------------------------------- */

/* Returns whether hpcprof is in the foreground and others write line by line: programs that draw,
 * and line editors, switch canonical mode off. */
static bool others_write_lines(void)
{
	struct termios settings;

	return tcgetattr(STDERR_FILENO, &settings) == 0 && settings.c_lflag & ICANON &&
	       tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* Ctrl-\ ends hpcprof at once; the terminal is restored first. */
static void on_quit(int number)
{
	static const char all_rows[] = "\0337\033[r\0338\033[J";

	signal(number, SIG_DFL);
	if (write(STDERR_FILENO, all_rows, sizeof(all_rows) - 1) < 0)
		_exit(128 + number);
	raise(number);
}

/* Moves the text on the last row up, and keeps the cursor's column. */
static void reserve(int rows)
{
	static const struct sigaction action = { .sa_handler = on_quit };

	if (!reserved_rows)
		sigaction(SIGQUIT, &action, &before_quit);
	fputs("\033D\033[A", stderr);
	reserved_rows = rows;
}

static void release(const char *and_erase)
{
	fprintf(stderr, "\0337\033[r%s\0338", and_erase);
	reserved_rows = 0;
	sigaction(SIGQUIT, &before_quit, NULL);
}

static void show_on_last_row(const char *text)
{
	struct winsize size = size_of_terminal();

	if (size.ws_row < LEAST_ROWS)
		return;
	if (reserved_rows != size.ws_row)
		reserve(size.ws_row);
	/* Written in one piece, so that nothing comes between; completely each time, because
	 * somebody may have cleared the screen. */
	fprintf(stderr, "\0337\033[1;%dr\033[%d;1H\033[m\033[K%.*s\0338", size.ws_row - 1,
		size.ws_row, size.ws_col - 1, text);
}

void progress_show_below(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list arguments;

	if (!can_show())
		return;
	if (!others_write_lines()) {
		/* The text on the last row is now the other program's. */
		if (reserved_rows)
			release("");
		return;
	}
	va_start(arguments, format);
	text = hp_text_format_list(format, arguments);
	va_end(arguments);
	if (text)
		show_on_last_row(text);
}

void progress_hide(void)
{
	char erase[32];

	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
	if (reserved_rows) {
		snprintf(erase, sizeof(erase), "\033[%d;1H\033[K", reserved_rows);
		release(erase);
	}
}
