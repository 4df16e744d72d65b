/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof stats: prints how much epochs of the same program vary, per procedure. */
#include "arguments.h"
#include "command.h"

#include <hpcprof/base/vector.h>
#include <hpcprof/db/db.h>
#include <hpcprof/report/spread.h>

#include <errno.h>
#include <stdio.h>

enum {
	OPTION_PROCEDURES = 256,
	OPTION_IMAGES,
	OPTION_LINES,
	OPTION_LIMIT,
	OPTION_FORMAT,
};

struct arguments {
	const char *db;
	struct hp_spread_options spread;
	enum hp_spread_format format;
	uint64_t limit;
	HP_VECTOR(char *) epochs;
};

static const char formats[] = "text|json|csv"; /* enum hp_spread_format */

static const struct argp_option option_table[] = {
	HP_DB_OPTION(HP_KEY_DB, 0),
	{ "procedures", OPTION_PROCEDURES, NULL, 0, "One row per procedure (the default)", 1 },
	{ "images", OPTION_IMAGES, NULL, 0, "One row per image", 1 },
	{ "lines", OPTION_LINES, NULL, 0, "One row per source line", 1 },
	{ "event", 'e', "EVENT", 0,
	  "Compare the samples of this event (default: the first that all epochs have)", 2 },
	{ "limit", OPTION_LIMIT, "N", 0, "Show at most N rows", 3 },
	{ "format", OPTION_FORMAT, formats, 0, "Output format (default: text)", 3 },
	HP_FILE_OPTIONS(4),
	{ 0 },
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_PROCEDURES:
		arguments->spread.of = HP_SPREAD_PROCEDURES;
		return 0;
	case OPTION_IMAGES:
		arguments->spread.of = HP_SPREAD_IMAGES;
		return 0;
	case OPTION_LINES:
		arguments->spread.of = HP_SPREAD_LINES;
		return 0;
	case 'e':
		arguments->spread.event = argument;
		return 0;
	case OPTION_LIMIT:
		arguments->limit = hp_argument_number(state, "--limit", argument);
		return 0;
	case OPTION_FORMAT:
		arguments->format = (enum hp_spread_format)hp_argument_choice(state, "--format",
									      argument, formats);
		return 0;
	case ARGP_KEY_ARG:
		return hp_vector_push(&arguments->epochs, argument) ? 0 : ENOMEM;
	case ARGP_KEY_NO_ARGS:
		argp_error(state,
			   "give epochs: a range A..B, a label of several epochs, or stamps");
		return 0;
	default:
		return hp_argument_place(key, argument, &arguments->db, &arguments->spread.symfs,
					 &arguments->spread.no_debuginfo);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "EPOCH...",
	.doc = "Show how much the samples of each procedure vary between epochs of the same "
	       "program. Rows are sorted by their range times their share of all samples.\vEPOCH "
	       "is a stamp, a label (all epochs with it), @latest, @-1 (the one before), or a "
	       "range A..B. Each epoch is one set of samples.\n\nExit status: 0; 2 usage; 5 "
	       "damaged or foreign epochs.",
};

static struct hp_error *show(const struct arguments *arguments)
{
	_cleanup_(hp_db_close_scope) struct hp_db *db = NULL;
	_cleanup_(hp_spread_destroy_scope) struct hp_spread *spread = NULL;
	char **stamps = NULL;
	size_t count = 0;
	struct hp_error *error = hp_db_open(arguments->db, false, &db);

	if (!error)
		hp_db_on_warning(db, hp_cli_tell, NULL);
	if (!error)
		error = hp_db_resolve_apart(db, arguments->epochs.at, arguments->epochs.count,
					    &stamps, &count);
	if (!error)
		error = hp_spread(db, stamps, count, &arguments->spread, &spread);
	if (!error)
		error = hp_spread_write(spread, arguments->format, (size_t)arguments->limit,
					stdout);
	hp_db_free_stamps(stamps, count);
	return error;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	struct hp_error *error = failed ? hp_error_create_errno(failed, "reading options")
					: show(&arguments);

	hp_vector_free(&arguments.epochs);
	return error ? hp_cli_fail(error) : HP_EXIT_OK;
}

const struct hp_command hp_command_stats = {
	.name = "stats",
	.summary = "Show how much epochs of the same program vary, by procedure",
	.argp = &argp,
	.run = run,
};
