/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "option_table.h"

#include "command.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* One line, no tabs: they separate the fields. */
static void print_field(FILE *stream, const char *text)
{
	for (; text && *text; text++)
		putc(*text == '\t' || *text == '\n' || *text == '\v' ? ' ' : *text, stream);
}

/* What may stand for an argument is its name, unless that is too long for a line of --help: then the text
 * says "NAME: a | b | c". */
static void print_argument(FILE *stream, const struct argp_option *option)
{
	const char *at = option->arg && option->doc ? strstr(option->doc, option->arg) : NULL;

	if (!at || strncmp(at + strlen(option->arg), ": ", 2) != 0) {
		print_field(stream, option->arg);
		return;
	}
	at += strlen(option->arg) + 2;
	for (;;) {
		size_t length = strcspn(at, " ,;");

		fwrite(at, 1, length, stream);
		if (strncmp(at + length, " | ", 3) != 0)
			return;
		putc('|', stream);
		at += length + 3;
	}
}

static bool has_letter(const struct argp_option *option)
{
	return option->key > 0 && option->key <= 0x7f && isprint(option->key);
}

/* `described` is the option itself, or the one that it is an alias of. */
static void print_option(FILE *stream, const char *command, const struct argp_option *option,
			 const struct argp_option *described)
{
	const char *takes = !described->arg			       ? "none"
			    : (described->flags & OPTION_ARG_OPTIONAL) ? "optional"
								       : "required";

	fprintf(stream, "option\t%s\t", command);
	if (has_letter(option))
		fprintf(stream, "-%c", option->key);
	fprintf(stream, "\t%s%s\t", option->name ? "--" : "", option->name ? option->name : "");
	print_argument(stream, described);
	fprintf(stream, "\t%s\t", takes);
	print_field(stream, described->doc);
	putc('\n', stream);
}

static void print_options(FILE *stream, const char *command, const struct argp *argp)
{
	const struct argp_option *option = argp->options;
	const struct argp_option *described = option;

	for (; option && (option->name || option->key || option->doc || option->group); option++) {
		/* Headings have neither name nor key; DOC entries are explanations. */
		if ((!option->name && !option->key) || (option->flags & OPTION_DOC))
			continue;
		if (!(option->flags & OPTION_ALIAS))
			described = option;
		if (!(option->flags & OPTION_HIDDEN))
			print_option(stream, command, option, described);
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		print_options(stream, command, child->argp);
}

void hp_option_table_print(FILE *stream)
{
	/* What argp adds by itself. */
	static const struct argp_option common[] = {
		{ "help", '?', NULL, 0, "Give this help list", 0 },
		{ "usage", 0, NULL, 0, "Give a short usage message", 0 },
		{ "version", 'V', NULL, 0, "Print program version", 0 },
		{ 0 },
	};
	static const struct argp common_argp = { .options = common };

	for (const struct hp_command *const *each = hp_commands; *each; each++) {
		const struct hp_command *command = *each;

		fprintf(stream, "command\t%s\t", command->name);
		print_field(stream, command->argp->args_doc);
		fprintf(stream, "\t%s\n", command->summary);
		print_options(stream, command->name, command->argp);
		print_options(stream, command->name, &common_argp);
	}
}
