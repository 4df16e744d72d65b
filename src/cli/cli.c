/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "command.h"

#include <hpcprof/base/cleanup.h>
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

void hp_cli_hint(const char *message)
{
	fflush(stdout);
	fputs("hpcprof: hint: ", stderr);
	print_safely(stderr, message);
	putc('\n', stderr);
}

const char *hp_cli_closest(const char *word, const char *const *candidates)
{
	const char *closest = NULL;
	size_t allowed = strlen(word) < 5 ? 2 : 3;

	for (; *candidates; candidates++) {
		size_t distance = hp_text_distance(word, *candidates, allowed);

		/* What was typed may also simply be cut short. */
		if (*word && strncmp(word, *candidates, strlen(word)) == 0)
			distance = 0;
		/* Or go on: --frequency for --freq. */
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
