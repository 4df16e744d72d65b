/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof export: writes epochs in the formats of other programs. */
#include "arguments.h"
#include "command.h"
#include "output_file.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/db/db.h>
#include <hpcprof/report/export.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPTION_FORMAT = 256,
	OPTION_IMAGE,
	OPTION_COMM,
	OPTION_PID,
};

struct arguments {
	struct hp_export_options options;
	const char *db;
	const char *output; /* NULL: standard output */
	HP_VECTOR(char *) epochs;
};

static const struct argp_option option_table[] = {
	HP_DB_OPTION(HP_KEY_DB, 0),
	{ "format", OPTION_FORMAT, "FORMAT", 0,
	  "Write FORMAT: folded | speedscope | firefox | pprof | callgrind | perf-script | bolt | "
	  "llvm-sample | llvm-profgen | autofdo; the last four contain how often code ran, the "
	  "others call paths or samples",
	  1 },
	{ "output", 'o', "FILE", 0, "Write to FILE (default: standard output)", 1 },
	{ "event", 'e', "EVENT", 0, "Only events that match", 2 },
	{ "image", OPTION_IMAGE, "IMAGE", 0,
	  "The program or library whose counts bolt, llvm-sample, llvm-profgen and autofdo get "
	  "(default: the one that executed the most instructions)",
	  2 },
	{ "comm", OPTION_COMM, "GLOB", 0, "Only processes whose command name matches", 2 },
	{ "pid", OPTION_PID, "GLOB", 0,
	  "Only processes whose number matches; needs record --per-process", 2 },
	HP_FILE_OPTIONS(3),
	{ 0 },
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct hp_profiles_options *of = &arguments->options.of;

	switch (key) {
	case OPTION_FORMAT:
		/* Exits with a usage error if the format is unknown. */
		hp_argument_choice(state, "--format", argument, hp_export_formats);
		arguments->options.format = argument;
		return 0;
	case 'o':
		arguments->output = strcmp(argument, "-") == 0 ? NULL : argument;
		return 0;
	case 'e':
		of->event = argument;
		return 0;
	case OPTION_IMAGE:
		of->image = argument;
		return 0;
	case OPTION_COMM:
		of->comm = argument;
		return 0;
	case OPTION_PID:
		of->pid = argument;
		return 0;
	case ARGP_KEY_ARG:
		return hp_vector_push(&arguments->epochs, argument) ? 0 : ENOMEM;
	case ARGP_KEY_END:
		if (!arguments->options.format)
			argp_error(state, "--format is missing: the formats are %s",
				   hp_export_formats);
		return 0;
	default:
		return hp_argument_place(key, argument, &arguments->db, &of->symfs,
					 &of->no_debuginfo);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[EPOCH...]",
	.doc = "Write epochs for other programs: call paths where they were recorded (record -g), "
	       "samples otherwise.\vEPOCH is a stamp, a label, @latest (the default), @-1 (the one "
	       "before), or a range A..B. Several epochs are added up.\n\nExit status: 0; 2 usage; "
	       "3 "
	       "nothing to export; 5 damaged database.",
};

/* Writes the file only after the export is complete. */
static struct hp_error *export_to_file(const struct arguments *arguments, struct hp_db *db,
				       const struct hp_notices *notices)
{
	struct output_file file;
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *out;
	struct hp_error *error = output_file_open("--output", arguments->output, &file);

	if (!error) {
		out = open_memstream(&text, &size);
		error = out ? hp_export(db, arguments->epochs.at, arguments->epochs.count,
					&arguments->options, notices, out)
			    : hp_error_create_no_memory();
		if (out && fclose(out) != 0 && !error)
			error = hp_error_create_no_memory();
	}
	if (!error)
		error = output_file_write(&file, text, size);
	output_file_close(&file);
	return error;
}

static struct hp_error *export(const struct arguments *arguments)
{
	const struct hp_notices notices = { .warn = hp_cli_tell };
	_cleanup_(hp_db_close_scope) struct hp_db *db = NULL;
	struct hp_error *error;

	if (!arguments->output && strcmp(arguments->options.format, "pprof") == 0 &&
	    isatty(STDOUT_FILENO))
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "pprof's format is not for a terminal"),
			"write it to a file: -o FILE");
	error = hp_db_open(arguments->db, false, &db);
	if (error)
		return error;
	hp_db_on_warning(db, hp_cli_tell, NULL);
	if (arguments->output)
		return export_to_file(arguments, db, &notices);
	return hp_export(db, arguments->epochs.at, arguments->epochs.count, &arguments->options,
			 &notices, stdout);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	struct hp_error *error = failed ? hp_error_create_errno(failed, "reading options")
					: export(&arguments);

	hp_vector_free(&arguments.epochs);
	return error ? hp_cli_fail(error) : HP_EXIT_OK;
}

const struct hp_command hp_command_export = {
	.name = "export",
	.summary = "Write profiles for other programs: pprof, speedscope, callgrind",
	.argp = &argp,
	.run = run,
};
