/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof report: options, the database, the report. */
#include "arguments.h"
#include "command.h"
#include "output_file.h"
#include "pager.h"

#include <hpcprof/base/number.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/db/db.h>
#include <hpcprof/report/report.h>

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	OPTION_PROCEDURES = 256,
	OPTION_IMAGES,
	OPTION_LINES,
	OPTION_INSTRUCTIONS,
	OPTION_ANNOTATE,
	OPTION_ALL,
	OPTION_BY,
	OPTION_FULL_NAMES,
	OPTION_STALLS,
	OPTION_MEMORY,
	OPTION_BRANCHES,
	OPTION_CFG,
	OPTION_CALLS,
	OPTION_EXECUTIONS,
	OPTION_CHILDREN,
	OPTION_CALLERS,
	OPTION_CALLEES,
	OPTION_TREE,
	OPTION_FLAME_GRAPH,
	OPTION_SUMMARY,
	OPTION_FORMAT,
	OPTION_IMAGE,
	OPTION_PROCEDURE,
	OPTION_COMM,
	OPTION_PID,
	OPTION_PERCENT_LIMIT,
	OPTION_LIMIT,
	OPTION_INLINES,
	OPTION_ESTIMATOR,
	OPTION_EVIDENCE,
	OPTION_COLOR,
	OPTION_NO_PAGER,
};

struct arguments {
	struct hp_report_options report;
	const char *db;
	HP_VECTOR(char *) epochs;
	bool view_chosen;
	bool as_graph;
	bool as_svg;
	const char *flame_graph; /* the file */
	bool no_pager;
	enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } color;
	int status; /* of a usage error that was told already */
};

static const struct argp_option options[] = {
	{ NULL, 0, NULL, 0, "What to show:", 1 },
	{ "procedures", OPTION_PROCEDURES, NULL, 0, "One row per procedure (the default)", 1 },
	{ "images", OPTION_IMAGES, NULL, 0, "One row per image: a program, a library or the kernel",
	  1 },
	{ "lines", OPTION_LINES, NULL, 0, "One row per source line", 1 },
	{ "instructions", OPTION_INSTRUCTIONS, "PROC", OPTION_ARG_OPTIONAL,
	  "One row per instruction that has samples, hottest procedure first; with PROC, all "
	  "instructions of that procedure",
	  1 },
	{ "annotate", OPTION_ANNOTATE, "PROC", 0,
	  "All instructions of PROC beside the source, with the best-case and actual cost of each "
	  "block, frequencies, stalls and their possible causes",
	  1 },
	{ "stalls", OPTION_STALLS, NULL, 0,
	  "The worst stalls of the whole profile, one row each, with their possible causes; below "
	  "them, how all cycles were spent",
	  1 },
	{ "memory", OPTION_MEMORY, NULL, 0,
	  "Loads and stores by the cycles that are lost to them, with how often each misses which "
	  "cache or TLB; needs record --shadow",
	  1 },
	{ "branches", OPTION_BRANCHES, NULL, 0,
	  "Branches by the cycles that are lost to them, with how often each is taken and "
	  "mispredicted; needs record --shadow",
	  1 },
	{ "cfg", OPTION_CFG, "PROC", 0,
	  "The control-flow graph of PROC with samples, frequencies and stalls, as input for "
	  "Graphviz",
	  1 },
	{ "calls", OPTION_CALLS, NULL, 0,
	  "Which procedure calls which, and how often; needs record --shadow", 1 },
	{ "executions", OPTION_EXECUTIONS, NULL, 0,
	  "Calls of each procedure, instructions executed in it, and executions of each line; "
	  "needs record --shadow",
	  1 },
	{ "children", OPTION_CHILDREN, NULL, 0,
	  "One row per procedure, with the samples in it and in all it calls (this and the four "
	  "below need record -g)",
	  1 },
	{ "callers", OPTION_CALLERS, "PROC", OPTION_ARG_OPTIONAL,
	  "Who calls each procedure; with PROC, all call paths to it as a tree", 1 },
	{ "callees", OPTION_CALLEES, "PROC", OPTION_ARG_OPTIONAL,
	  "Whom each procedure calls; with PROC, all it calls as a tree", 1 },
	{ "tree", OPTION_TREE, "top-down|bottom-up", OPTION_ARG_OPTIONAL,
	  "The call tree from the root (top-down, the default), or from the procedures with "
	  "samples to their callers",
	  1 },
	{ "flamegraph", OPTION_FLAME_GRAPH, "FILE", 0, "Draw the call tree into FILE, as SVG", 1 },
	{ "summary", OPTION_SUMMARY, NULL, 0,
	  "How the epoch was recorded, and how good the data is", 1 },
	{ "format", OPTION_FORMAT, "text|json|csv", 0,
	  "Output format (default: text); svg is for --cfg", 1 },
	{ NULL, 0, NULL, 0, "Which samples (patterns are globs):", 2 },
	HP_DB_OPTION(HP_KEY_DB, 2),
	{ "event", 'e', "EVENT", 0, "Only events that match", 2 },
	{ "image", OPTION_IMAGE, "IMAGE", 0, "Only images whose path or name matches", 2 },
	{ "procedure", OPTION_PROCEDURE, "GLOB", 0, "Only procedures that match", 2 },
	{ "comm", OPTION_COMM, "GLOB", 0, "Only processes whose command name matches", 2 },
	{ "pid", OPTION_PID, "GLOB", 0,
	  "Only processes whose number matches; needs record --per-process", 2 },
	{ NULL, 0, NULL, 0, "How to show them:", 3 },
	{ "by", OPTION_BY, "KEYS", 0,
	  "One row per combination of these keys: comm, pid, tid, cpu (these need record "
	  "--per-process, --per-thread, --per-cpu), image, procedure, line; with a view of call "
	  "paths, the same for each combination of the first four",
	  1 },
	{ "sort", 's', "KEY", 0,
	  "Sort by samples (the default), name, image, address (procedures, instructions), line "
	  "(lines), or the samples of an event, given by its name; a list of keys, as in perf, is "
	  "the same as --by",
	  3 },
	{ "percent-limit", OPTION_PERCENT_LIMIT, "PERCENT", 0,
	  "Omit rows with a smaller share of the samples", 3 },
	{ "limit", OPTION_LIMIT, "N", 0, "Show only the first N rows", 3 },
	{ "full-names", OPTION_FULL_NAMES, NULL, 0,
	  "Print full C++ and Rust names (default: without arguments; JSON and CSV always have "
	  "full names)",
	  3 },
	{ "inlines", OPTION_INLINES, NULL, 0,
	  "Give inlined functions rows of their own (default: they count for the procedure that "
	  "contains them)",
	  3 },
	{ "show-nr-samples", 'n', NULL, 0, "Accepted as in perf; samples are always shown", 3 },
	{ "disassembler-style", 'M', "intel|att", 0, "Syntax of instructions (default: intel)", 3 },
	HP_FILE_OPTIONS(3),
	{ "all", OPTION_ALL, NULL, 0, "With --annotate: also show cold code instead of folding it",
	  3 },
	{ "color", OPTION_COLOR, "auto|always|never", OPTION_ARG_OPTIONAL,
	  "Use colour: on a terminal unless NO_COLOR is set (auto, the default), always, or never",
	  3 },
	{ "estimator", OPTION_ESTIMATOR, "flow|dcpi|control", 0,
	  "Estimate frequencies from all data (flow, the default), as DCPI did for in-order cores "
	  "(dcpi), or without time, for comparison (control)",
	  3 },
	{ "evidence", OPTION_EVIDENCE, "counts:FILE", 0,
	  "Exact counts of executions, one \"IMAGE ADDRESS COUNT\" per line", 3 },
	{ "no-pager", OPTION_NO_PAGER, NULL, 0,
	  "Write directly to the terminal instead of through $HPCPROF_PAGER, $PAGER or less", 3 },
	{ 0 },
};

static int refuse(struct argp_state *state, struct hp_error *error)
{
	struct arguments *arguments = state->input;

	arguments->status = hp_cli_fail(error);
	return EINVAL;
}

static int choose_view(struct argp_state *state, enum hp_report_view view)
{
	struct arguments *arguments = state->input;

	if (arguments->view_chosen && arguments->report.view != view)
		return refuse(state, hp_error_create(HP_ERROR_USAGE,
						     "only one view can be shown at a time"));
	arguments->view_chosen = true;
	arguments->report.view = view;
	return 0;
}

static bool shows_call_paths(const struct hp_report_options *report)
{
	return report->view == HP_VIEW_CHILDREN || report->view == HP_VIEW_CALLERS ||
	       report->view == HP_VIEW_CALLEES || report->view == HP_VIEW_TREE ||
	       report->view == HP_VIEW_FLAME_GRAPH;
}

static int choose_format(struct argp_state *state, const char *name)
{
	static const char *const names[] = {
		[HP_FORMAT_TEXT] = "text", [HP_FORMAT_JSON] = "json", [HP_FORMAT_CSV] = "csv"
	};
	struct arguments *arguments = state->input;

	arguments->as_svg = strcmp(name, "svg") == 0;
	arguments->report.format = HP_FORMAT_TEXT;
	if (arguments->as_svg)
		return 0;
	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		arguments->report.format = (enum hp_report_format)i;
		if (strcmp(name, names[i]) == 0)
			return 0;
	}
	return refuse(state,
		      hp_error_advise(hp_error_create(HP_ERROR_USAGE,
						      "--format: there is no format '%s'", name),
				      "the formats are text, json and csv"));
}

static int choose_syntax(struct argp_state *state, const char *name)
{
	struct arguments *arguments = state->input;

	if (strcmp(name, "intel") == 0)
		arguments->report.syntax = HP_SYNTAX_INTEL;
	else if (strcmp(name, "att") == 0)
		arguments->report.syntax = HP_SYNTAX_ATT;
	else
		return refuse(state, hp_error_create(HP_ERROR_USAGE,
						     "-M takes intel or att, not '%s'", name));
	return 0;
}

static int choose_color(struct argp_state *state, const char *name)
{
	static const char *const names[] = {
		[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"
	};
	struct arguments *arguments = state->input;

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		if (strcmp(name ? name : names[COLOR_ALWAYS], names[i]) == 0) {
			arguments->color = i;
			return 0;
		}
	}
	return refuse(state,
		      hp_error_create(HP_ERROR_USAGE,
				      "--color takes auto, always or never, not '%s'", name));
}

static int choose_estimator(struct argp_state *state, const char *name)
{
	static const char *const names[] = { [HP_ESTIMATOR_FLOW] = "flow",
					     [HP_ESTIMATOR_DCPI] = "dcpi",
					     [HP_ESTIMATOR_CONTROL] = "control" };
	struct arguments *arguments = state->input;

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		arguments->report.how.estimator = (enum hp_estimator)i;
		if (strcmp(name, names[i]) == 0)
			return 0;
	}
	return refuse(
		state,
		hp_error_advise(hp_error_create(HP_ERROR_USAGE,
						"--estimator: there is no estimator '%s'", name),
				"the estimators are flow, dcpi and control"));
}

static int set_limit(struct argp_state *state, const char *text)
{
	struct arguments *arguments = state->input;
	uint64_t limit;

	if (!hp_parse_u64(text, &limit) || limit == 0 || limit > SIZE_MAX)
		return refuse(state,
			      hp_error_create(HP_ERROR_USAGE,
					      "--limit takes a number from 1, not '%s'", text));
	arguments->report.limit = (size_t)limit;
	return 0;
}

static int set_percent_limit(struct argp_state *state, const char *text)
{
	struct arguments *arguments = state->input;

	if (!hp_parse_double(text, &arguments->report.percent_limit))
		return refuse(state,
			      hp_error_create(HP_ERROR_USAGE,
					      "--percent-limit takes a number, not '%s'", text));
	return 0;
}

static int choose_tree(struct argp_state *state, const char *order)
{
	struct arguments *arguments = state->input;

	if (order && strcmp(order, "top-down") != 0 && strcmp(order, "bottom-up") != 0)
		return refuse(state, hp_error_create(HP_ERROR_USAGE,
						     "--tree takes top-down or bottom-up, not '%s'",
						     order));
	arguments->report.bottom_up = order && strcmp(order, "bottom-up") == 0;
	return choose_view(state, HP_VIEW_TREE);
}

static error_t parse_paths(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_CHILDREN:
		return choose_view(state, HP_VIEW_CHILDREN);
	case OPTION_CALLERS:
		arguments->report.path_procedure = argument;
		return choose_view(state, HP_VIEW_CALLERS);
	case OPTION_CALLEES:
		arguments->report.path_procedure = argument;
		return choose_view(state, HP_VIEW_CALLEES);
	case OPTION_TREE:
		return choose_tree(state, argument);
	case OPTION_FLAME_GRAPH:
		arguments->flame_graph = argument;
		return choose_view(state, HP_VIEW_FLAME_GRAPH);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_view(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case OPTION_PROCEDURES:
		return choose_view(state, HP_VIEW_PROCEDURES);
	case OPTION_IMAGES:
		return choose_view(state, HP_VIEW_IMAGES);
	case OPTION_LINES:
		return choose_view(state, HP_VIEW_LINES);
	case OPTION_INSTRUCTIONS:
		arguments->report.of.listed = argument;
		return choose_view(state, HP_VIEW_INSTRUCTIONS);
	case OPTION_ANNOTATE:
		arguments->report.of.listed = argument;
		return choose_view(state, HP_VIEW_ANNOTATE);
	case OPTION_STALLS:
		return choose_view(state, HP_VIEW_STALLS);
	case OPTION_MEMORY:
		return choose_view(state, HP_VIEW_MEMORY);
	case OPTION_BRANCHES:
		return choose_view(state, HP_VIEW_BRANCHES);
	case OPTION_CFG:
		arguments->as_graph = true;
		arguments->report.of.listed = argument;
		return choose_view(state, HP_VIEW_INSTRUCTIONS);
	case OPTION_CALLS:
		return choose_view(state, HP_VIEW_CALLS);
	case OPTION_EXECUTIONS:
		return choose_view(state, HP_VIEW_EXECUTIONS);
	case OPTION_SUMMARY:
		return choose_view(state, HP_VIEW_SUMMARY);
	case OPTION_FORMAT:
		return choose_format(state, argument);
	case OPTION_PERCENT_LIMIT:
		return set_percent_limit(state, argument);
	case OPTION_LIMIT:
		return set_limit(state, argument);
	case 'M':
		return choose_syntax(state, argument);
	default:
		return parse_paths(key, argument, state);
	}
}

/* As perf means --sort: a list, or what nothing can be in the order of. */
static bool is_breakdown(const char *keys)
{
	static const char *const of_perf[] = { "comm", "pid",	 "tid", "cpu",
					       "dso",  "symbol", "sym", "srcline" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(of_perf); i++)
		if (strcmp(keys, of_perf[i]) == 0)
			return true;
	return strchr(keys, ',');
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	struct hp_report_options *report = &arguments->report;

	switch (key) {
	case 'e':
		report->of.event = argument;
		return 0;
	case OPTION_IMAGE:
		report->of.image = argument;
		return 0;
	case OPTION_PROCEDURE:
		report->of.procedure = argument;
		return 0;
	case OPTION_COMM:
		report->of.comm = argument;
		return 0;
	case OPTION_PID:
		report->of.pid = argument;
		return 0;
	case 's':
		if (is_breakdown(argument)) {
			report->of.by = argument;
			return 0;
		}
		report->sort = argument;
		return 0;
	case OPTION_BY:
		report->of.by = argument;
		return 0;
	case OPTION_FULL_NAMES:
		report->of.full_names = true;
		return 0;
	case OPTION_INLINES:
		report->of.inlines = true;
		return 0;
	case 'n':
		return 0;
	case OPTION_ESTIMATOR:
		return choose_estimator(state, argument);
	case OPTION_EVIDENCE:
		report->how.exact_counts = argument;
		return 0;
	case OPTION_COLOR:
		return choose_color(state, argument);
	case OPTION_ALL:
		report->all = true;
		return 0;
	case OPTION_NO_PAGER:
		arguments->no_pager = true;
		return 0;
	case ARGP_KEY_END:
		/* Call paths are told apart in their own views. */
		return report->of.by && !shows_call_paths(report)
			       ? choose_view(state, HP_VIEW_BREAKDOWN)
			       : 0;
	case ARGP_KEY_ARG:
		return hp_vector_push(&arguments->epochs, argument) ? 0 : ENOMEM;
	default:
		if (hp_argument_place(key, argument, &arguments->db, &report->of.symfs,
				      &report->of.no_debuginfo) == 0)
			return 0;
		return parse_view(key, argument, state);
	}
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[EPOCH...]",
	.doc = "Show where the time went in epochs that hpcprof record made.\vEPOCH is a stamp, a "
	       "label, @latest (the default), @-1 (the one before), or a range A..B. Several "
	       "epochs are added up.\n\nPROC is the name of a procedure, as shown or as in the "
	       "symbol table (for C++ also without arguments), a part of the name, a glob, "
	       "0xADDRESS (anywhere in the procedure), or any of these after IMAGE:. If several "
	       "match, the hottest is shown; --instructions shows all procedures that a glob "
	       "matches.\n\nPercentages are shares of all samples of the event, weighted by the "
	       "sampling period. Exit status: 0; 2 usage; 3 nothing to report; 5 damaged database.",
};

static void warn(const char *message, const char *advice, void *context)
{
	hp_pager_warn(context, message, advice);
}

static void hint(const char *message, void *context)
{
	hp_pager_hint(context, message);
}

static void fit_to_terminal(struct arguments *arguments)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	bool is_terminal = isatty(STDOUT_FILENO);

	if (is_terminal)
		arguments->report.terminal_columns = hp_cli_columns(stdout);
	arguments->report.colour = arguments->color == COLOR_ALWAYS ||
				   (arguments->color == COLOR_AUTO && is_terminal &&
				    (!no_colour || !*no_colour) && terminal &&
				    strcmp(terminal, "dumb") != 0);
}

/* A graph is DOT, which Graphviz makes SVG of. */
static struct hp_error *settle_format(struct arguments *arguments)
{
	if (arguments->flame_graph && arguments->report.format != HP_FORMAT_TEXT)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "--flamegraph is always written as SVG"),
			"--tree has the same paths in other formats");
	if (arguments->flame_graph)
		return NULL;
	if (arguments->as_svg && !arguments->as_graph)
		return hp_error_advise(hp_error_create(HP_ERROR_USAGE, "--format=svg is for --cfg"),
				       "--flamegraph FILE draws call paths");
	/* For programs it is the instructions with everything that is known of them. */
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

static struct hp_error *report_to(const struct arguments *arguments, struct hp_pager *pager)
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

static struct hp_error *show(const struct arguments *arguments)
{
	struct hp_pager pager = { .out = stdout };
	struct hp_error *error;

	if (arguments->report.format == HP_FORMAT_TEXT && !arguments->no_pager)
		hp_pager_start(&pager);
	error = report_to(arguments, &pager);
	hp_pager_end(&pager);
	return error;
}

/* The graph is complete before Graphviz starts: an error leaves nothing half drawn. */
static struct hp_error *draw_svg(const struct arguments *arguments)
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
	/* Where a directory of PATH may not be searched, "permission denied" is of that one. */
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

/* Nothing is written before all is drawn. */
static struct hp_error *draw_flame_graph(const struct arguments *arguments)
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

static struct hp_error *report(struct arguments *arguments)
{
	struct hp_error *error = settle_format(arguments);

	if (error)
		return error;
	if (arguments->flame_graph)
		return draw_flame_graph(arguments);
	return arguments->as_svg ? draw_svg(arguments) : show(arguments);
}

static int run(int argc, char **argv)
{
	struct arguments arguments = { 0 };
	struct hp_error *error = NULL;
	error_t failed = argp_parse(&argp, argc, argv, 0, NULL, &arguments);

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
	.argp = &argp,
	.run = run,
};
