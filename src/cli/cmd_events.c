/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof events: what this machine can count or sample, and what each event means. */
#include "arguments.h"
#include "command.h"
#include "events_stalls.h"

#include <hpcprof/pmu/event.h>
#include <hpcprof/pmu/machine.h>

#include <fnmatch.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum format { TEXT, JSON, CSV };
enum { OPTION_FORMAT = 256, OPTION_ALL };

struct options {
	enum format format;
	bool all;
	const char *pattern;
};

static const char formats[] = "text|json|csv"; /* enum format */

static const struct argp_option option_table[] = {
	{ "all", OPTION_ALL, NULL, 0, "Also list events that do not work on this machine", 0 },
	{ "format", OPTION_FORMAT, formats, 0, "Output format (default: text)", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case OPTION_ALL:
		options->all = true;
		return 0;
	case OPTION_FORMAT:
		options->format =
			(enum format)hp_argument_choice(state, "--format", argument, formats);
		return 0;
	case ARGP_KEY_ARG:
		if (options->pattern)
			argp_error(state, "only one pattern is possible, and '%s' is a second one",
				   argument);
		options->pattern = argument;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[PATTERN]",
	.doc = "List the events that this machine can count or sample, with the meaning of each. "
	       "PATTERN is part of a name or kind; with * or ? in it, a glob that matches the "
	       "whole name: hpcprof events cache, hpcprof events 'sched:*'. "
	       "@stalls lists the events of stat --stalls\vUse a name with record "
	       "or stat: hpcprof record -e NAME[:u] -- COMMAND",
};

struct listing {
	const struct options *options;
	json_t *json;
	size_t listed;
	size_t hidden;	    /* events that matched, but that this machine lacks */
	char last_kind[80]; /* kind of the event on the previous line */
	bool failed;
};

static bool matches(const char *pattern, const struct hp_event_entry *entry)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, entry->name, FNM_CASEFOLD) == 0;
	return strcasestr(entry->name, pattern) || strcasestr(entry->kind, pattern);
}

/* Names and descriptions come from drivers and libraries: only printable characters go to the
 * terminal. */
static void print_plain(const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte < 0x20 || byte == 0x7f)
			printf("\\x%02x", byte);
		else
			putchar(byte);
	}
}

static void print_field(const char *text, char end)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
	putchar(end);
}

/* JSON is UTF-8; bytes that are not become '?'. */
static json_t *as_json(const char *text)
{
	json_t *string = json_string(text);
	char *clean;

	if (string)
		return string;
	clean = strdup(text);
	for (char *at = clean; at && *at; at++)
		if (*at & 0x80)
			*at = '?';
	string = clean ? json_string(clean) : NULL;
	free(clean);
	return string;
}

static void list_text(struct listing *listing, const struct hp_event_entry *entry)
{
	if (strcmp(listing->last_kind, entry->kind) != 0) {
		printf("%s%s\n", listing->listed ? "\n" : "", entry->kind);
		snprintf(listing->last_kind, sizeof(listing->last_kind), "%s", entry->kind);
	}
	fputs("  ", stdout);
	print_plain(entry->name);
	if (entry->description[0] || !entry->here) {
		int width = 32 - (int)strlen(entry->name);

		printf("%*s", width > 2 ? width : 2, "");
		print_plain(entry->description);
	}
	puts(entry->here ? "" : " (not on this machine)");
}

static bool list(const struct hp_event_entry *entry, void *context)
{
	struct listing *listing = context;

	if (!matches(listing->options->pattern, entry))
		return true;
	if (!entry->here && !listing->options->all) {
		listing->hidden++;
		return true;
	}
	switch (listing->options->format) {
	case JSON:
		listing->failed |=
			json_array_append_new(
				listing->json,
				json_pack("{s:o, s:o, s:o, s:b}", "name", as_json(entry->name),
					  "kind", as_json(entry->kind), "description",
					  as_json(entry->description), "here", entry->here)) != 0;
		break;
	case CSV:
		print_field(entry->name, ',');
		print_field(entry->kind, ',');
		print_field(entry->description, ',');
		puts(entry->here ? "yes" : "no");
		break;
	case TEXT:
	default:
		list_text(listing, entry);
		break;
	}
	listing->listed++;
	return true;
}

static struct hp_error *finish_json(struct listing *listing)
{
	json_t *root =
		json_pack("{s:s, s:o}", "schema", "hpcprof-events/1", "events", listing->json);

	listing->failed |= !root ||
			   json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) < 0;
	putchar('\n');
	json_decref(root);
	return listing->failed ? hp_error_create(HP_ERROR_SYSTEM, "writing JSON failed") : NULL;
}

/* Only names of tracepoints ("sched:sched_switch") and events with modifiers contain a colon, so
 * the part before it is no name of a PMU. */
static struct hp_error *without_tracepoints(const struct hp_machine *machine, const char *pattern)
{
	if (!pattern || !strchr(pattern, ':'))
		return NULL;
	return hp_error_wrap(hp_event_missing_tracepoints(machine),
			     "no event matches '%s', and tracepoints cannot be listed", pattern);
}

/* Frees the error. */
static void note_tracepoints(struct hp_error *missing)
{
	if (missing)
		fprintf(stderr, "tracepoints are not listed: %s\n", missing->message);
	hp_error_destroy(missing);
}

static int conclude(const struct listing *listing, const struct hp_machine *machine)
{
	const struct options *options = listing->options;
	struct hp_error *error;

	if (listing->listed) {
		if (listing->hidden && options->format == TEXT)
			fprintf(stderr,
				"%zu more that this machine does not have (--all lists them)\n",
				listing->hidden);
		if (options->format == TEXT)
			note_tracepoints(hp_event_missing_tracepoints(machine));
		return HP_EXIT_OK;
	}
	error = without_tracepoints(machine, options->pattern);
	if (error)
		return hp_cli_fail(error);
	if (listing->hidden)
		return hp_cli_fail(hp_error_advise(
			hp_error_create(HP_ERROR_NOT_FOUND,
					"this machine has no event that matches '%s'",
					options->pattern),
			"%zu on other machines: hpcprof events --all '%s'; hpcprof doctor says why "
			"not here",
			listing->hidden, options->pattern));
	return hp_cli_fail(hp_error_advise(
		hp_error_create(HP_ERROR_NOT_FOUND, "no event matches '%s'",
				options->pattern ? options->pattern : "*"),
		"hpcprof events lists all of them; a glob needs quotes: hpcprof events 'L1*'"));
}

static int run(int argc, char **argv)
{
	struct options options = { 0 };
	struct listing listing = { .options = &options };
	_cleanup_(hp_machine_destroy_scope) struct hp_machine *machine = NULL;
	struct hp_error *error;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (options.format == JSON)
		listing.json = json_array();
	if (options.format == CSV)
		puts("name,kind,description,here");
	error = hp_machine_create(&machine);
	if (!error && options.pattern && strcmp(options.pattern, HP_STALLS_SET) == 0)
		error = hp_stalls_enumerate(machine, list, &listing);
	else if (!error)
		error = hp_event_enumerate(machine, list, &listing);
	if (options.format == JSON) {
		struct hp_error *json_error = finish_json(&listing);

		if (error)
			hp_error_destroy(json_error);
		else
			error = json_error;
	}
	return error ? hp_cli_fail(error) : conclude(&listing, machine);
}

const struct hp_command hp_command_events = {
	.name = "events",
	.summary = "List the events that this machine can count or sample",
	.argp = &argp,
	.run = run,
};
