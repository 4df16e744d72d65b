/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "option_table.h"

#include <ctype.h>
#include <string.h>

static bool walk(const struct argp *argp, hp_option_visit *visit, void *context)
{
	const struct argp_option *option = argp->options;
	const struct argp_option *described = option;

	for (; option && (option->name || option->key || option->doc || option->group); option++) {
		/* Headings have neither name nor key; DOC entries are explanations. */
		if ((!option->name && !option->key) || (option->flags & OPTION_DOC))
			continue;
		if (!(option->flags & OPTION_ALIAS))
			described = option;
		if (visit(option, described, context))
			return true;
	}
	for (const struct argp_child *child = argp->children; child && child->argp; child++)
		if (walk(child->argp, visit, context))
			return true;
	return false;
}

bool hp_options_walk(const struct hp_command *command, hp_option_visit *visit, void *context)
{
	/* The options that argp adds. */
	static const struct argp_option common[] = {
		{ "help", '?', NULL, 0, "Give this help list", 0 },
		{ "usage", 0, NULL, 0, "Give a short usage message", 0 },
		{ "version", 'V', NULL, 0, "Print program version", 0 },
		{ 0 },
	};
	static const struct argp common_argp = { .options = common };

	return walk(command->argp, visit, context) || walk(&common_argp, visit, context);
}

/* --- as text ---------------------------------------------------------------------------------- */

/* Prints one line without tabs, because tabs separate the fields. */
static void print_field(FILE *stream, const char *text)
{
	for (; text && *text; text++)
		putc(*text == '\t' || *text == '\n' || *text == '\v' ? ' ' : *text, stream);
}

/* The possible words are the argument's name, unless that is too long for a line of --help: then
 * the description says "NAME: a | b | c". */
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

struct printing {
	FILE *stream;
	const char *command;
};

static bool print_option(const struct argp_option *option, const struct argp_option *described,
			 void *context)
{
	const struct printing *printing = context;
	FILE *stream = printing->stream;
	const char *takes = !described->arg			       ? "none"
			    : (described->flags & OPTION_ARG_OPTIONAL) ? "optional"
								       : "required";

	if (option->flags & OPTION_HIDDEN)
		return false;
	fprintf(stream, "option\t%s\t", printing->command);
	if (has_letter(option))
		fprintf(stream, "-%c", option->key);
	fprintf(stream, "\t%s%s\t", option->name ? "--" : "", option->name ? option->name : "");
	print_argument(stream, described);
	fprintf(stream, "\t%s\t", takes);
	print_field(stream, described->doc);
	putc('\n', stream);
	return false;
}

void hp_option_table_print(FILE *stream)
{
	for (const struct hp_command *const *each = hp_commands; *each; each++) {
		const struct hp_command *command = *each;
		struct printing printing = { stream, command->name };

		fprintf(stream, "command\t%s\t", command->name);
		print_field(stream, command->argp->args_doc);
		fprintf(stream, "\t%s\n", command->summary);
		hp_options_walk(command, print_option, &printing);
	}
}
