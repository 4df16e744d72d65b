/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>
#include <hpcprof/base/wrapped.h>
#include <hpcprof/compare/compare.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Returns the width of the terminal. COLUMNS, which the user sets, takes precedence over the width
 * that the terminal reports. */
size_t hp_cli_columns(FILE *stream)
{
	enum { USUAL = 80, LEAST = 20, MOST = 10000 };
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns;

	if (!isatty(fileno(stream)))
		return 0;
	if (text && hp_parse_u64(text, &columns) && columns >= LEAST && columns < MOST)
		return (size_t)columns;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST)
		return size.ws_col;
	return USUAL;
}

size_t hp_cli_line_columns(FILE *stream)
{
	enum { MOST = 80 };
	size_t columns = hp_cli_columns(stream);

	return columns < MOST ? columns : MOST;
}

FILE *hp_cli_messages(void)
{
	static FILE *messages; /* until the process ends */
	size_t columns = hp_cli_line_columns(stderr);

	if (messages || !columns)
		return messages ? messages : stderr;
	messages = hp_wrapped_open(stderr, columns, HP_WRAP_ALL);
	if (!messages)
		return stderr;
	setvbuf(messages, NULL, _IONBF, 0);
	return messages;
}

static const char indent[] = "  ";

/* Prints the text on a terminal in several lines, all but the first indented; the first line leaves
 * room for `before`. File and symbol names may contain anything: control characters in them are not
 * sent to the terminal. */
static void print_wrapped(const char *before, const char *text)
{
	size_t columns = hp_cli_line_columns(stderr);
	_cleanup_free_ char *printable = hp_text_printable(text);
	const char *rest = printable ? printable : "out of memory";

	do {
		size_t taken = strlen(before);
		size_t length = hp_text_line(rest, columns > taken ? columns - taken : columns);

		fprintf(stderr, "%s%.*s\n", before, (int)length, rest);
		rest += length;
		rest += *rest == ' ';
		before = indent;
	} while (*rest);
}

/* Advice of several lines is indented as one block. */
static void print_advice(const char *advice)
{
	while (*advice) {
		size_t length = strcspn(advice, "\n");
		_cleanup_free_ char *line = strndup(advice, length);

		if (line)
			print_wrapped(indent, line);
		advice += length + (advice[length] == '\n');
	}
}

static int exit_status_of(enum hp_error_class class)
{
	switch (class) {
	case HP_ERROR_USAGE:
	case HP_ERROR_NOT_FOUND:
		return HP_EXIT_USAGE;
	case HP_ERROR_INSUFFICIENT:
		return HP_EXIT_INSUFFICIENT;
	case HP_ERROR_NOT_PERMITTED:
		return HP_EXIT_NOT_PERMITTED;
	case HP_ERROR_DAMAGED:
		return HP_EXIT_DAMAGED;
	case HP_ERROR_SYSTEM:
		break;
	}
	return HP_EXIT_SYSTEM;
}

int hp_cli_fail(struct hp_error *error)
{
	int status = exit_status_of(error->class);

	/* Keeps the order when both streams go to the same place. */
	fflush(stdout);
	print_wrapped("hpcprof: ", error->message);
	if (error->advice)
		print_advice(error->advice);
	else if (error->errno_value == ENOSPC || error->errno_value == EDQUOT)
		print_advice("free some space there, or write elsewhere: --db DIR for a database");
	hp_error_destroy(error);
	return status;
}

void hp_cli_warn(const char *message, const char *advice)
{
	fflush(stdout);
	print_wrapped("hpcprof: warning: ", message);
	if (advice)
		print_advice(advice);
}

void hp_cli_tell(const char *message, const char *advice, void *context)
{
	(void)context;
	hp_cli_warn(message, advice);
}

void hp_cli_hint(const char *message)
{
	fflush(stdout);
	print_wrapped("hpcprof: hint: ", message);
}

const char *hp_cli_closest(const char *word, const char *const *candidates)
{
	const char *closest = NULL;
	size_t allowed = strlen(word) < 5 ? 2 : 3;

	for (; *candidates; candidates++) {
		size_t distance = hp_text_distance(word, *candidates, allowed);

		/* The word may be cut short … */
		if (*word && strncmp(word, *candidates, strlen(word)) == 0)
			distance = 0;
		/* … or be too long: --frequency for --freq. */
		if (strlen(*candidates) > 3 && distance > 1 &&
		    strncmp(word, *candidates, strlen(*candidates)) == 0)
			distance = 1;
		if (distance < allowed) {
			allowed = distance;
			closest = *candidates;
		}
	}
	return closest;
}

static bool has_stamp(const struct hp_compare_epochs *side, const char *stamp)
{
	for (size_t i = 0; i < side->count; i++)
		if (strcmp(side->stamps[i], stamp) == 0)
			return true;
	return false;
}

struct hp_error *hp_cli_check_apart(const struct hp_compare_epochs *sides)
{
	const struct hp_compare_epochs *base = &sides[HP_BASE];
	const struct hp_compare_epochs *candidate = &sides[HP_CANDIDATE];
	const char *one = NULL;
	size_t shared = 0;

	for (size_t i = 0; i < candidate->count; i++)
		if (has_stamp(base, candidate->stamps[i])) {
			one = candidate->stamps[i];
			shared++;
		}
	if (!shared)
		return NULL;
	if (shared == candidate->count && shared == base->count)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "base and candidate are the same epoch%s",
					shared == 1 ? "" : "s"),
			"record the two versions with different labels; hpcprof epochs list shows "
			"what there is");
	return hp_error_advise(
		hp_error_create(HP_ERROR_USAGE, "%s%s on both sides, and would be compared with %s",
				one, shared == 1 ? " is" : " and others are",
				shared == 1 ? "itself" : "themselves"),
		"name other epochs, or narrower ranges; hpcprof epochs list shows what there is");
}
