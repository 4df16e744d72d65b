/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report_options.h"

#include "arguments.h"
#include "command.h"

#include <hpcprof/base/number.h>

#include <errno.h>
#include <string.h>

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
	OPTION_STACK,
	OPTION_WHAT_IF,
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
	{ "stack", OPTION_STACK, "counters|windows", OPTION_ARG_OPTIONAL,
	  "What the cycles of the program and its procedures were spent on, by the core's counters "
	  "(after record --stalls; with --by of lines, processes, CPUs), or, with loops, by a "
	  "model "
	  "of the core that followed the program's path (after record --shadow)",
	  1 },
	{ "what-if", OPTION_WHAT_IF, "CHANGE,...", 0,
	  "How much time the program and its procedures would take if something were otherwise: "
	  "PART:perfect (branch, l1d, l2, dtlb, ...), memory:0.5x (half the latency) or larger "
	  "sizes "
	  "(l2:2M, dtlb:4096), each with its range; needs record --shadow",
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
	  "One row per procedure, with the samples in it and in all it calls; needs record -g", 1 },
	{ "callers", OPTION_CALLERS, "PROC", OPTION_ARG_OPTIONAL,
	  "Who calls each procedure; with PROC, all call paths to it as a tree; needs record -g",
	  1 },
	{ "callees", OPTION_CALLEES, "PROC", OPTION_ARG_OPTIONAL,
	  "Whom each procedure calls; with PROC, all it calls as a tree; needs record -g", 1 },
	{ "tree", OPTION_TREE, "top-down|bottom-up", OPTION_ARG_OPTIONAL,
	  "The call tree from the root (top-down, the default), or from the procedures with "
	  "samples to their callers; needs record -g",
	  1 },
	{ "flamegraph", OPTION_FLAME_GRAPH, "FILE", 0,
	  "Draw the call tree into FILE, as SVG; needs record -g", 1 },
	{ "summary", OPTION_SUMMARY, NULL, 0,
	  "How the epoch was recorded, and how good the data is", 1 },
	{ "format", OPTION_FORMAT, "text|json|csv", 0,
	  "Output format (default: text); svg is for --cfg and --stack", 1 },
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
	struct report_arguments *arguments = state->input;

	arguments->status = hp_cli_fail(error);
	return EINVAL;
}

static int choose_view(struct argp_state *state, enum hp_report_view view)
{
	struct report_arguments *arguments = state->input;

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
	struct report_arguments *arguments = state->input;

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
	struct report_arguments *arguments = state->input;

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
	static const char *const names[] = { [REPORT_COLOR_AUTO] = "auto",
					     [REPORT_COLOR_ALWAYS] = "always",
					     [REPORT_COLOR_NEVER] = "never" };
	struct report_arguments *arguments = state->input;

	for (size_t i = 0; i < HP_ARRAY_COUNT(names); i++) {
		if (strcmp(name ? name : names[REPORT_COLOR_ALWAYS], names[i]) == 0) {
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
	struct report_arguments *arguments = state->input;

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
	struct report_arguments *arguments = state->input;
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
	struct report_arguments *arguments = state->input;

	if (!hp_parse_double(text, &arguments->report.percent_limit))
		return refuse(state,
			      hp_error_create(HP_ERROR_USAGE,
					      "--percent-limit takes a number, not '%s'", text));
	return 0;
}

static int choose_stacks(struct argp_state *state, const char *of)
{
	struct report_arguments *arguments = state->input;

	if (of && strcmp(of, "counters") != 0 && strcmp(of, "windows") != 0)
		return refuse(state,
			      hp_error_create(HP_ERROR_USAGE,
					      "--stack takes counters or windows, not '%s'", of));
	arguments->report.stacks = !of			    ? HP_STACKS_THERE_ARE
				   : strcmp(of, "counters") ? HP_STACKS_OF_WINDOWS
							    : HP_STACKS_OF_COUNTERS;
	return choose_view(state, HP_VIEW_STACK);
}

static int choose_tree(struct argp_state *state, const char *order)
{
	struct report_arguments *arguments = state->input;

	if (order && strcmp(order, "top-down") != 0 && strcmp(order, "bottom-up") != 0)
		return refuse(state, hp_error_create(HP_ERROR_USAGE,
						     "--tree takes top-down or bottom-up, not '%s'",
						     order));
	arguments->report.bottom_up = order && strcmp(order, "bottom-up") == 0;
	return choose_view(state, HP_VIEW_TREE);
}

static error_t parse_paths(int key, char *argument, struct argp_state *state)
{
	struct report_arguments *arguments = state->input;

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
	struct report_arguments *arguments = state->input;

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
	case OPTION_STACK:
		return choose_stacks(state, argument);
	case OPTION_WHAT_IF:
		arguments->report.what_if = argument;
		return choose_view(state, HP_VIEW_WHAT_IF);
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

/* Returns whether --sort has perf's meaning: a list, or a key that reports cannot be sorted by. */
static bool is_breakdown(const char *keys)
{
	static const char *const of_perf[] = { "comm", "pid",	 "tid", "cpu",
					       "dso",  "symbol", "sym", "srcline" };

	for (size_t i = 0; i < HP_ARRAY_COUNT(of_perf); i++)
		if (strcmp(keys, of_perf[i]) == 0)
			return true;
	return strchr(keys, ',');
}

/* Takes the options that select what is shown, and names. */
static bool parse_filter(int key, char *argument, struct hp_report_options *report)
{
	switch (key) {
	case 'e':
		report->of.event = argument;
		return true;
	case OPTION_IMAGE:
		report->of.image = argument;
		return true;
	case OPTION_PROCEDURE:
		report->of.procedure = argument;
		return true;
	case OPTION_COMM:
		report->of.comm = argument;
		return true;
	case OPTION_PID:
		report->of.pid = argument;
		return true;
	case 's':
		if (is_breakdown(argument))
			report->of.by = argument;
		else
			report->sort = argument;
		return true;
	case OPTION_BY:
		report->of.by = argument;
		return true;
	case OPTION_FULL_NAMES:
		report->of.full_names = true;
		return true;
	case OPTION_INLINES:
		report->of.inlines = true;
		return true;
	default:
		return false;
	}
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct report_arguments *arguments = state->input;
	struct hp_report_options *report = &arguments->report;

	if (parse_filter(key, argument, report))
		return 0;
	switch (key) {
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
		/* Views of call paths and stacks break down by these themselves. */
		return report->of.by && !shows_call_paths(report) && report->view != HP_VIEW_STACK
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

const struct argp report_argp = {
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
