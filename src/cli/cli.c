/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/base/text.h>

#include <stdio.h>
#include <string.h>

/* File and symbol names come from anywhere: nothing of theirs steers the terminal. */
static void print_safely(FILE *stream, const char *text)
{
	_cleanup_free_ char *printable = hp_text_printable(text);

	fputs(printable ? printable : "out of memory", stream);
}

/* Advice of several lines is indented as one block. */
static void print_advice(const char *advice)
{
	while (*advice) {
		size_t length = strcspn(advice, "\n");
		_cleanup_free_ char *line = strndup(advice, length);

		fputs("  ", stderr);
		if (line)
			print_safely(stderr, line);
		putc('\n', stderr);
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

	/* Keep the order when both streams go to one place. */
	fflush(stdout);
	fputs("hpcprof: ", stderr);
	print_safely(stderr, error->message);
	putc('\n', stderr);
	if (error->advice)
		print_advice(error->advice);
	hp_error_destroy(error);
	return status;
}

void hp_cli_warn(const char *message, const char *advice)
{
	fflush(stdout);
	fputs("hpcprof: warning: ", stderr);
	print_safely(stderr, message);
	putc('\n', stderr);
	if (advice)
		print_advice(advice);
}

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* How many letters must be inserted, dropped, changed or swapped with their neighbour. */
static size_t edit_distance(const char *from, const char *to)
{
	enum { LONGEST = 32 };
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0];
	size_t *previous = rows[1];
	size_t *current = rows[2];
	size_t width = strlen(to);

	if (width > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= width; j++)
		before[j] = previous[j] = j;
	for (size_t i = 1; from[i - 1]; i++) {
		size_t *recycled = before;

		current[0] = i;
		for (size_t j = 1; j <= width; j++) {
			current[j] = smallest(previous[j] + 1, current[j - 1] + 1,
					      previous[j - 1] + (from[i - 1] != to[j - 1]));
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] &&
			    from[i - 2] == to[j - 1] && before[j - 2] + 1 < current[j])
				current[j] = before[j - 2] + 1;
		}
		before = previous;
		previous = current;
		current = recycled;
	}
	return previous[width];
}

const char *hp_cli_closest(const char *word, const char *const *candidates)
{
	const char *closest = NULL;
	size_t allowed = strlen(word) < 5 ? 2 : 3;

	for (; *candidates; candidates++) {
		size_t distance = edit_distance(word, *candidates);

		/* What was typed may also simply be cut short. */
		if (*word && strncmp(word, *candidates, strlen(word)) == 0)
			distance = 0;
		if (distance < allowed) {
			allowed = distance;
			closest = *candidates;
		}
	}
	return closest;
}
