/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof report: opens the database, and writes the report to where it was asked for. */
#include "command.h"
#include "output_file.h"
#include "pager.h"
#include "report_options.h"

#include <hpcprof/db/db.h>
#include <hpcprof/report/report.h>

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void warn(const char *message, const char *advice, void *context)
{
	hp_pager_warn(context, message, advice);
}

static void hint(const char *message, void *context)
{
	hp_pager_hint(context, message);
}

static void fit_to_terminal(struct report_arguments *arguments)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	bool is_terminal = isatty(STDOUT_FILENO);

	if (is_terminal)
		arguments->report.terminal_columns = hp_cli_columns(stdout);
	arguments->report.colour = arguments->color == REPORT_COLOR_ALWAYS ||
				   (arguments->color == REPORT_COLOR_AUTO && is_terminal &&
				    (!no_colour || !*no_colour) && terminal &&
				    strcmp(terminal, "dumb") != 0);
}

/* A graph is written as DOT; Graphviz makes SVG of it. */
static struct hp_error *settle_format(struct report_arguments *arguments)
{
	if (arguments->flame_graph && arguments->report.format != HP_FORMAT_TEXT)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "--flamegraph is always written as SVG"),
			"--tree has the same paths in other formats");
	if (arguments->flame_graph)
		return NULL;
	if (arguments->as_svg && arguments->report.view == HP_VIEW_STACK) {
		arguments->as_svg = false; /* drawn without Graphviz */
		arguments->report.format = HP_FORMAT_SVG;
		return NULL;
	}
	if (arguments->as_svg && !arguments->as_graph)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "--format=svg is for --cfg and --stack"),
			"--flamegraph FILE draws call paths");
	/* For programs, annotation lists the instructions with all that is known of them. */
	if (arguments->report.view == HP_VIEW_ANNOTATE &&
	    arguments->report.format != HP_FORMAT_TEXT)
		arguments->report.view = HP_VIEW_INSTRUCTIONS;
	if (!arguments->as_graph)
		return NULL;
	if (arguments->report.format != HP_FORMAT_TEXT)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "--cfg is written as DOT, or as svg"),
			"--instructions=PROC --format=json gives the blocks to programs");
	arguments->report.format = HP_FORMAT_DOT;
	return NULL;
}

static struct hp_error *report_to(const struct report_arguments *arguments, struct hp_pager *pager)
{
	const struct hp_notices notices = { .warn = warn, .hint = hint, .context = pager };
	_cleanup_(hp_db_close_scope) struct hp_db *db = NULL;
	struct hp_error *error = hp_db_open(arguments->db, false, &db);

	if (error)
		return error;
	hp_db_on_warning(db, warn, pager);
	return hp_report(db, arguments->epochs.at, arguments->epochs.count, &arguments->report,
			 &notices, pager->out);
}

static struct hp_error *show(const struct report_arguments *arguments)
{
	struct hp_pager pager = { .out = stdout };
	struct hp_error *error;

	if (arguments->report.format == HP_FORMAT_TEXT && !arguments->no_pager)
		hp_pager_start(&pager);
	error = report_to(arguments, &pager);
	hp_pager_end(&pager);
	return error;
}

/* Completes the graph before Graphviz starts, so that an error leaves no partial drawing. */
static struct hp_error *draw_svg(const struct report_arguments *arguments)
{
	char program[] = "dot";
	char format[] = "-Tsvg";
	char *const command[] = { program, format, NULL };
	FILE *graph = tmpfile();
	struct hp_pager pager = { .out = graph };
	posix_spawn_file_actions_t actions;
	struct hp_error *error;
	int status = 0;
	pid_t child;
	int failed;

	if (!graph)
		return hp_error_create_errno(errno, "a temporary file");
	error = report_to(arguments, &pager);
	if (error || fflush(graph) != 0 || fseek(graph, 0, SEEK_SET) != 0 ||
	    posix_spawn_file_actions_init(&actions) != 0) {
		fclose(graph);
		return error ? error : hp_error_create_errno(errno, "a temporary file");
	}
	failed = posix_spawn_file_actions_adddup2(&actions, fileno(graph), STDIN_FILENO);
	if (!failed)
		failed = posix_spawnp(&child, command[0], &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	fclose(graph);
	/* EACCES also means that a directory of PATH may not be searched. */
	if (failed == ENOENT || failed == EACCES)
		return hp_error_advise(hp_error_create(HP_ERROR_NOT_FOUND,
						       "SVG is drawn by dot, and PATH has no dot "
						       "that this user may run"),
				       "install Graphviz (its package is graphviz), or use "
				       "--format=dot and draw the graph elsewhere");
	if (failed)
		return hp_error_create_errno(failed, "running dot");
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		return hp_error_create(HP_ERROR_SYSTEM, "dot could not draw the graph");
	return NULL;
}

/* Writes the file only after the drawing is complete. */
static struct hp_error *draw_flame_graph(const struct report_arguments *arguments)
{
	struct output_file file;
	struct hp_pager pager = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	struct hp_error *error = output_file_open("--flamegraph", arguments->flame_graph, &file);

	if (!error) {
		pager.out = open_memstream(&text, &size);
		error = pager.out ? report_to(arguments, &pager) : hp_error_create_no_memory();
		if (pager.out && fclose(pager.out) != 0 && !error)
			error = hp_error_create_no_memory();
	}
	if (!error)
		error = output_file_write(&file, text, size);
	output_file_close(&file);
	return error;
}

static struct hp_error *report(struct report_arguments *arguments)
{
	struct hp_error *error = settle_format(arguments);

	if (error)
		return error;
	if (arguments->flame_graph && strcmp(arguments->flame_graph, "-") == 0)
		return report_to(arguments, &(struct hp_pager){ .out = stdout });
	if (arguments->flame_graph)
		return draw_flame_graph(arguments);
	return arguments->as_svg ? draw_svg(arguments) : show(arguments);
}

static int run(int argc, char **argv)
{
	struct report_arguments arguments = { 0 };
	struct hp_error *error = NULL;
	error_t failed = argp_parse(&report_argp, argc, argv, 0, NULL, &arguments);

	if (!failed && !arguments.status) {
		fit_to_terminal(&arguments);
		error = report(&arguments);
		if (error)
			arguments.status = hp_cli_fail(error);
	} else if (!arguments.status) {
		arguments.status = hp_cli_fail(hp_error_create_errno(failed, "reading options"));
	}
	hp_vector_free(&arguments.epochs);
	return arguments.status;
}

const struct hp_command hp_command_report = {
	.name = "report",
	.summary = "Show where the time went, and why: by procedure, line or instruction",
	.argp = &report_argp,
	.run = run,
};
