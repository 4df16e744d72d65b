/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof import: makes an epoch of the database from a perf.data file. */
#include "arguments.h"
#include "command.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/collect/import.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_LABEL = 256, OPTION_PER_PROCESS, OPTION_NO_CODE };

struct arguments {
	struct hp_import_options options;
	const char *db;
	const char *file; /* NULL: perf.data; "-": standard input */
	bool quiet;
};

static const struct argp_option option_table[] = {
	HP_DB_OPTION(HP_KEY_DB, 0),
	{ "label", OPTION_LABEL, "TEXT", 0, "Name for the epoch", 1 },
	{ "per-process", OPTION_PER_PROCESS, NULL, 0, "Keep the samples of each process separately",
	  1 },
	{ "no-code", OPTION_NO_CODE, NULL, 0, "Do not store the code of procedures with samples",
	  1 },
	{ "quiet", 'q', NULL, 0, "Print warnings and errors only", 1 },
	{ 0 },
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_LABEL:
		arguments->options.label = argument;
		return 0;
	case OPTION_PER_PROCESS:
		arguments->options.per_process = true;
		return 0;
	case OPTION_NO_CODE:
		arguments->options.no_code = true;
		return 0;
	case 'q':
		arguments->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->file)
			argp_error(state, "only one file is possible, and '%s' is a second one",
				   argument);
		arguments->file = argument;
		return 0;
	default:
		return hp_argument_place(key, argument, &arguments->db, NULL, NULL);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "[FILE]",
	.doc = "Make an epoch of a perf.data file (default: ./perf.data; -: standard input, of "
	       "perf "
	       "record -o -), with its samples and call paths.\vExit status: 0; 2 usage, or "
	       "recorded in a way that cannot be imported; 3 no samples; 5 damaged.",
};

static void tell(const struct hp_import_result *result)
{
	fprintf(stderr,
		"hpcprof: %" PRIu64 " samples (%" PRIu64 " lost, %" PRIu64
		" unattributed) in %zu images, epoch %s\n",
		result->samples, result->lost, result->unattributed, result->images, result->stamp);
	if (result->path_samples)
		fprintf(stderr, "hpcprof: call paths: %.1f %% of samples reach the root%s\n",
			100 * (double)result->path_whole / (double)result->path_samples,
			result->are_chains ? "; they are the kernel's, by frame pointers" : "");
}

static struct hp_error *import(struct arguments *arguments)
{
	const char *path = arguments->file ? arguments->file : "perf.data";
	bool is_input = strcmp(path, "-") == 0;
	_cleanup_(hp_db_close_scope) struct hp_db *db = NULL;
	_cleanup_close_ int fd = is_input ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	struct hp_import_result result = { 0 };
	struct hp_error *error;

	if (fd < 0 && !is_input)
		return hp_error_create_errno(errno, "opening %s", path);
	arguments->options.fd = is_input ? STDIN_FILENO : fd;
	error = hp_db_open(arguments->db, true, &db);
	if (error)
		return error;
	hp_db_on_warning(db, hp_cli_tell, NULL);
	arguments->options.db = db;
	error = hp_error_wrap(hp_import_perf_data(&arguments->options, &result), "%s",
			      is_input ? "standard input" : path);
	if (error)
		return error;
	if (result.is_truncated)
		hp_cli_warn("perf record did not end properly: the rest of its file is missing",
			    NULL);
	if (!arguments->quiet)
		tell(&result);
	if (result.damaged)
		fprintf(stderr, "hpcprof: warning: %" PRIu64 " records are damaged\n",
			result.damaged);
	free(result.stamp);
	return NULL;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	struct hp_error *error = failed ? hp_error_create_errno(failed, "reading options")
					: import(&arguments);

	return error ? hp_cli_fail(error) : HP_EXIT_OK;
}

const struct hp_command hp_command_import = {
	.name = "import",
	.summary = "Make an epoch of a perf.data file",
	.argp = &argp,
	.run = run,
};
