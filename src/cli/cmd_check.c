/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hpcprof check: compares epochs, or records two commands and compares them. The exit status is the
 * verdict. */
#include "arguments.h"
#include "check_page.h"
#include "check_runs.h"
#include "command.h"

#include <hpcprof/base/broken_pipe.h>
#include <hpcprof/base/number.h>
#include <hpcprof/compare/compare.h>
#include <hpcprof/report/comparison.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	KEY_BASELINE_DB = 256,
	KEY_RELATIVE,
	KEY_CANDIDATE_WORK,
	KEY_MIN_CHANGE,
	KEY_MIN_SHARE,
	KEY_RUNS,
	KEY_SIDE_BY_SIDE,
	KEY_IN_TURNS,
	KEY_WARM_UP,
	KEY_LABEL,
	KEY_SHOW_OUTPUT,
	KEY_IGNORE_STATUS,
	KEY_FORMAT,
	KEY_HTML,
	KEY_SOURCE_ROOT,
	KEY_TOP,
};

static const struct argp_option option_table[] = {
	{ NULL, 0, NULL, 0, "Comparing:", 1 },
	HP_DB_OPTION(HP_KEY_DB, 1),
	{ "baseline-db", KEY_BASELINE_DB, "DIR", 0,
	  "The database that contains BASE, if it is another one", 1 },
	{ "relative", KEY_RELATIVE, NULL, 0,
	  "Compare shares of the program instead of costs of a run", 1 },
	{ "candidate-work", KEY_CANDIDATE_WORK, "WORK", 0,
	  "The same as --work for the candidate, if its amount of work differs or it reports it in "
	  "another way",
	  1 },
	{ "min-change", KEY_MIN_CHANGE, "PERCENT", 0,
	  "Ignore changes below this share of what changed (default: 3)", 1 },
	{ "min-share", KEY_MIN_SHARE, "PERCENT", 0,
	  "Ignore changes below this share of the program (default: 0.5)", 1 },
	HP_FILE_OPTIONS(1),
	{ NULL, 0, NULL, 0, "Recording both sides:", 5 },
	{ "runs", KEY_RUNS, "N", 0,
	  "Record each command N times: -- COMMAND... --versus COMMAND...; at 4000 Hz unless -F, "
	  "-c or --overhead is given",
	  5 },
	{ "side-by-side", KEY_SIDE_BY_SIDE, NULL, 0,
	  "Run both commands at the same time on one CPU without a trial (default: do so if each "
	  "keeps one CPU busy all the time and neither fails in the trial)",
	  5 },
	{ "in-turns", KEY_IN_TURNS, NULL, 0,
	  "Run the commands one after the other, in the order A B B A", 5 },
	{ "warm-up", KEY_WARM_UP, "N", 0,
	  "Run each command N times before the runs that are recorded (default: 1)", 5 },
	{ "label", KEY_LABEL, "NAME", 0,
	  "Label the epochs NAME-base and NAME-candidate (default: check and the time)", 5 },
	{ "show-output", KEY_SHOW_OUTPUT, NULL, 0,
	  "Show the output of the commands on standard error (default: discard it)", 5 },
	{ "ignore-status", KEY_IGNORE_STATUS, NULL, 0,
	  "Also compare commands whose exit status is not 0", 5 },
	{ NULL, 0, NULL, 0, "Output:", 6 },
	{ "format", KEY_FORMAT, "text|json|junit|sarif|github|markdown", 0,
	  "Output format (default: text)", 6 },
	{ "html", KEY_HTML, "FILE", 0, "Also write the result to FILE, as one self-contained page",
	  6 },
	{ "source-root", KEY_SOURCE_ROOT, "DIR", 0,
	  "Print paths below DIR relative to it (default: the current directory)", 6 },
	{ "top", KEY_TOP, "N", 0,
	  "Show at most N findings (default: 10); in JSON also at most N images, procedures of "
	  "each and lines of each (default: all)",
	  6 },
	{ "quiet", 'q', NULL, 0, "Show no progress", 6 },
	{ 0 },
};

static const struct argp_child children[] = { { &recording_argp, 0, NULL, 0 }, { 0 } };

struct arguments {
	struct check_runs runs;
	struct hp_compare_options compare;
	struct hp_comparison_options output;
	enum hp_comparison_format format;
	const char *db;
	const char *baseline_db;
	const char *html;
	/* The words before and after "--". */
	char **base;
	size_t base_count;
	char **candidate;
	size_t candidate_count;
};

static uint64_t parse_number(struct argp_state *state, const char *option, const char *text,
			     uint64_t least, uint64_t most)
{
	uint64_t value = 0;

	if (!hp_parse_u64(text, &value) || value < least || value > most)
		argp_error(state, "%s takes a number from %llu to %llu, not '%s'", option,
			   (unsigned long long)least, (unsigned long long)most, text);
	return value;
}

static error_t take_recording(struct check_runs *runs, int key, char *argument,
			      struct argp_state *state)
{
	const uint64_t most_runs = 10000;

	switch (key) {
	case KEY_RUNS:
		runs->runs = parse_number(state, "--runs", argument, 1, most_runs);
		return 0;
	case KEY_SIDE_BY_SIDE:
		runs->way = CHECK_SIDE_BY_SIDE;
		return 0;
	case KEY_IN_TURNS:
		runs->way = CHECK_IN_TURNS;
		return 0;
	case KEY_WARM_UP:
		runs->warm_up = parse_number(state, "--warm-up", argument, 0, most_runs);
		return 0;
	case KEY_LABEL:
		runs->label = argument;
		return 0;
	case KEY_SHOW_OUTPUT:
		runs->shows_output = true;
		return 0;
	case KEY_IGNORE_STATUS:
		runs->ignores_status = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_recording(int key, char *argument, struct argp_state *state)
{
	struct check_runs *runs = &((struct arguments *)state->input)->runs;
	error_t failed = take_recording(runs, key, argument, state);

	if (!failed && key != KEY_RUNS && !runs->recording.given)
		runs->recording.given = hp_argument_name(option_table, key);
	return failed;
}

/* argp sees only the words before "--"; the words after it were cut off before. */
static void parse_sides(struct argp_state *state, struct arguments *arguments)
{
	arguments->base = state->argv + state->next;
	arguments->base_count = (size_t)(state->argc - state->next);
	state->next = state->argc;
	if (arguments->runs.runs && arguments->base_count)
		argp_error(state,
			   "--runs records commands: '%s' stands before --, and commands follow "
			   "after it",
			   arguments->base[0]);
	if (!arguments->candidate_count)
		argp_error(state, "nothing to compare: BASE... -- CANDIDATE..., or --runs=N -- "
				  "COMMAND... --versus COMMAND...");
	if (!arguments->runs.runs && !arguments->base_count)
		argp_error(state,
			   "there is no BASE before --; to record two commands, give --runs=N");
	for (size_t i = 0; i < arguments->candidate_count && !arguments->runs.runs; i++)
		if (arguments->candidate[i][0] == '-')
			argp_error(state,
				   "'%s' is in the place of an epoch: give options before --",
				   arguments->candidate[i]);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->runs.recording;
		return 0;
	case KEY_BASELINE_DB:
		arguments->baseline_db = argument;
		return 0;
	case KEY_RELATIVE:
		arguments->compare.is_relative = true;
		return 0;
	case KEY_CANDIDATE_WORK:
		recording_parse_work(state, argument, &arguments->runs.candidate_work);
		return 0;
	case KEY_MIN_CHANGE:
		/* A cost may grow by more than 100 %. */
		arguments->compare.least_change =
			hp_argument_percent(state, "--min-change", argument, INFINITY) / 100;
		return 0;
	case KEY_MIN_SHARE:
		arguments->compare.least_of_program =
			hp_argument_percent(state, "--min-share", argument, 100) / 100;
		return 0;
	case KEY_FORMAT:
		if (!hp_comparison_format_parse(argument, &arguments->format))
			argp_error(state,
				   "--format is text, json, junit, sarif, github or "
				   "markdown, not '%s'",
				   argument);
		return 0;
	case KEY_HTML:
		if (strcmp(argument, "-") == 0)
			argp_error(state, "--html writes a file besides the result, which goes to "
					  "standard output: give the file's name");
		arguments->html = argument;
		return 0;
	case KEY_SOURCE_ROOT:
		arguments->output.source_root = argument;
		return 0;
	case KEY_TOP:
		arguments->output.most_findings =
			(size_t)parse_number(state, "--top", argument, 1, UINT32_MAX);
		return 0;
	case 'q':
		arguments->runs.recording.is_quiet = true;
		return 0;
	case ARGP_KEY_ARGS:
	case ARGP_KEY_NO_ARGS:
		parse_sides(state, arguments);
		return 0;
	default:
		if (parse_recording(key, argument, state) == 0)
			return 0;
		return hp_argument_place(key, argument, &arguments->db, &arguments->compare.symfs,
					 &arguments->compare.no_debuginfo);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.children = children,
	.args_doc = "BASE... -- CANDIDATE...\n--runs=N -- COMMAND... --versus COMMAND...",
	.doc = "Compare the costs of two sides, down to procedures and lines, and decide whether "
	       "the candidate is slower. With --runs, hpcprof first records both commands: side by "
	       "side if they can run at the same time, else in turns.\vBASE and CANDIDATE are "
	       "epochs: stamps, labels (all epochs with that label), @latest, ranges A..B. Each "
	       "epoch is one measurement; use five or more for each side. Recording options need "
	       "--runs; -e also selects the event to compare in existing epochs.\n\nExit status: 0 "
	       "no regression; 1 a regression; 2 usage; 3 too little data for an answer, different "
	       "CPUs, or a command that failed; 4 not permitted; 5 damaged or empty epochs; 125 "
	       "system failure.",
};

/* --- the steps ------------------------------------------------------------------------------ */

/* Refuses work that is read from a run when nothing is run. */
static struct hp_error *check_amount(const char *option, const struct work *work)
{
	if (work->kind != WORK_IN_OUTPUT && work->kind != WORK_IN_FILE)
		return NULL;
	return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
					       "%s='%s' can only be read while a command runs; "
					       "existing epochs need a number",
					       option, work->given),
			       "epochs that were recorded with hpcprof record --work=... contain "
			       "their work and need no option here");
}

/* Runs at the same time need separate files. */
static struct hp_error *check_work_apart(const struct check_runs *runs)
{
	const struct work *base = &runs->recording.work;

	if (!check_runs_share_work(runs))
		return NULL;
	return hp_error_advise(hp_error_create(HP_ERROR_USAGE,
					       "with --side-by-side both commands write their work "
					       "into %s at the same time",
					       base->given),
			       "give the candidate another file with --candidate-work=FILE");
}

static struct hp_error *check_given_runs(const struct arguments *arguments)
{
	if (arguments->baseline_db)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"--runs records both sides into one database: "
					"--baseline-db is for existing epochs"),
			"leave --baseline-db out; --db sets the database");
	if (arguments->runs.candidate_work.kind != WORK_NOT_ASKED &&
	    arguments->runs.recording.work.kind == WORK_NOT_ASKED)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"--candidate-work gives the work of the candidate, but the "
					"work of the base is missing"),
			"give the work of the base with --work");
	return arguments->runs.way == CHECK_SIDE_BY_SIDE ? check_work_apart(&arguments->runs)
							 : NULL;
}

static struct hp_error *check_given_epochs(const struct arguments *arguments)
{
	const struct recording *recording = &arguments->runs.recording;
	bool has_work = recording->work.kind != WORK_NOT_ASKED ||
			arguments->runs.candidate_work.kind != WORK_NOT_ASKED;
	struct hp_error *error;

	if (recording->given)
		return hp_error_advise(
			hp_error_create(
				HP_ERROR_USAGE,
				"--%s is an option for recording, but existing epochs are compared",
				recording->given),
			"leave it out, or record both sides with --runs=N -- COMMAND... --versus "
			"COMMAND...");
	if (recording->events_asked.count > 1)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"epochs are compared by one event, but -e names %zu",
					recording->events_asked.count),
			"compare once per event: -e %s", recording->events_asked.at[0]);
	if (arguments->compare.is_relative && has_work)
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE,
					"--relative compares shares of the program, and these do "
					"not depend on the amount of work"),
			"leave out either --relative or the work");
	error = check_amount("--work", &recording->work);
	return error ? error : check_amount("--candidate-work", &arguments->runs.candidate_work);
}

static struct hp_error *resolve(const struct arguments *arguments, struct hp_db *db, bool is_base,
				struct hp_compare_epochs *side, char ***stamps)
{
	char **words = is_base ? arguments->base : arguments->candidate;
	size_t count = is_base ? arguments->base_count : arguments->candidate_count;
	const struct work *work = &arguments->runs.recording.work;

	if (!is_base && arguments->runs.candidate_work.kind != WORK_NOT_ASKED)
		work = &arguments->runs.candidate_work;
	side->db = db;
	side->work = work->kind == WORK_SAME ? work->units : 0;
	return hp_error_wrap(hp_db_resolve_apart(db, words, count, stamps, &side->count), "%s",
			     is_base ? "base" : "candidate");
}

struct job {
	struct hp_db *dbs[HP_SIDES]; /* may be the same database twice */
	struct hp_compare_epochs sides[HP_SIDES];
	char **stamps[HP_SIDES];
};

static void job_clear(struct job *job)
{
	for (size_t side = 0; side < HP_SIDES; side++)
		hp_db_free_stamps(job->stamps[side],
				  job->stamps[side] ? job->sides[side].count : 0);
	if (job->dbs[HP_BASE] != job->dbs[HP_CANDIDATE])
		hp_db_close(job->dbs[HP_BASE]);
	hp_db_close(job->dbs[HP_CANDIDATE]);
}

static struct hp_error *open_baseline(const char *path, struct hp_db **db)
{
	struct hp_error *error = hp_error_wrap(hp_db_open(path, false, db), "--baseline-db");

	if (error && error->class == HP_ERROR_NOT_FOUND)
		return hp_error_advise(
			error,
			"a job on the main branch must record and keep it: hpcprof record --db DIR "
			"--label=NAME -- COMMAND; man hpcprof-check shows complete jobs");
	return error;
}

static struct hp_error *find_epochs(struct arguments *arguments, struct job *job, int *interrupted)
{
	struct check_runs *runs = &arguments->runs;
	struct hp_error *error = hp_db_open(arguments->db, runs->runs > 0, &job->dbs[HP_CANDIDATE]);

	if (!error && arguments->baseline_db)
		error = open_baseline(arguments->baseline_db, &job->dbs[HP_BASE]);
	else
		job->dbs[HP_BASE] = job->dbs[HP_CANDIDATE];
	for (size_t side = 0; !error && side < HP_SIDES; side++)
		hp_db_on_warning(job->dbs[side], hp_cli_tell, NULL);
	for (size_t side = 0; !error && !runs->runs && side < HP_SIDES; side++) {
		error = resolve(arguments, job->dbs[side], side == HP_BASE, &job->sides[side],
				&job->stamps[side]);
		job->sides[side].stamps = job->stamps[side];
	}
	if (!error && !runs->runs && job->dbs[HP_BASE] == job->dbs[HP_CANDIDATE])
		error = hp_cli_check_apart(job->sides);
	if (error || !runs->runs)
		return error;
	error = check_runs_record(runs, job->dbs[HP_BASE], interrupted);
	for (size_t side = 0; side < HP_SIDES; side++)
		job->sides[side] = (struct hp_compare_epochs){
			.db = job->dbs[side],
			.stamps = runs->sides[side].stamps,
			.count = runs->sides[side].count,
		};
	return error;
}

static int status_of(enum hp_verdict verdict)
{
	switch (verdict) {
	case HP_VERDICT_REGRESSION:
		return HP_EXIT_REGRESSION;
	case HP_VERDICT_INSUFFICIENT:
		return HP_EXIT_INSUFFICIENT;
	case HP_VERDICT_PASS:
	case HP_VERDICT_IMPROVEMENT:
		break;
	}
	return HP_EXIT_OK;
}

/* Write errors are noticed when standard output is closed. */
static struct hp_error *print(struct arguments *arguments, const struct hp_comparison *comparison,
			      const struct output_file *page)
{
	char root[PATH_MAX];
	const char *given = arguments->output.source_root;
	struct hp_error *error;

	/* Debugging information has real paths. If the root does not exist, it matches nothing. */
	if (realpath(given ? given : ".", root) && strcmp(root, "/") != 0)
		arguments->output.source_root = root;
	arguments->output.columns = hp_cli_line_columns(stdout);
	error = hp_comparison_write(comparison, arguments->format, &arguments->output, stdout);
	if (!error && arguments->html)
		error = check_page_write(page, comparison, &arguments->output);
	arguments->output.source_root = given;
	return error;
}

/* Several events may have been requested, or a substitute may have been sampled. */
static const char *compared_event(const struct check_runs *runs)
{
	const struct recording *recording = &runs->recording;

	if (runs->runs)
		return recording->events.count ? recording->events.events[0].name : NULL;
	return recording->events_asked.count ? recording->events_asked.at[0] : NULL;
}

static struct hp_error *check(struct arguments *arguments, int *status)
{
	_cleanup_(job_clear) struct job job = { 0 };
	_cleanup_(hp_comparison_destroy_scope) struct hp_comparison *comparison = NULL;
	_cleanup_(output_file_close) struct output_file page = { 0 };
	struct hp_error *error = arguments->runs.runs ? check_given_runs(arguments)
						      : check_given_epochs(arguments);

	if (!error && arguments->runs.runs)
		error = check_runs_divide(&arguments->runs, arguments->candidate,
					  arguments->candidate_count);
	if (!error && arguments->html)
		error = output_file_open("--html", arguments->html, &page);
	if (!error)
		error = find_epochs(arguments, &job, status);
	arguments->compare.event = compared_event(&arguments->runs);
	if (!error)
		error = hp_compare(job.sides, &arguments->compare, &comparison);
	if (!error)
		error = hp_comparison_add_reasons(comparison, job.sides, &arguments->compare);
	if (!error)
		error = print(arguments, comparison, &page);
	if (!error)
		*status = status_of(comparison->verdict);
	return error;
}

/* argp would interpret "--" itself, so the words after it are cut off and kept. */
static int cut_candidate(int argc, char **argv, struct arguments *arguments)
{
	int at = 1;

	while (at < argc && strcmp(argv[at], "--") != 0)
		at++;
	if (at == argc)
		return argc;
	arguments->candidate = argv + at + 1;
	arguments->candidate_count = (size_t)(argc - at - 1);
	return at;
}

static int run(int argc, char **argv)
{
	struct arguments arguments = {
		.runs = { .recording.session.policy = HP_MUX_RR_RANDOM, .warm_up = 1 },
		.format = HP_COMPARISON_TEXT,
	};
	struct hp_error *error;
	int interrupted = 0;
	int status;

	hp_broken_pipe_ignore();
	argc = cut_candidate(argc, argv, &arguments);
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	error = check(&arguments, &interrupted);
	status = interrupted;
	check_runs_clear(&arguments.runs);
	if (!error)
		return status;
	status = hp_cli_fail(error);
	return interrupted ? interrupted : status;
}

const struct hp_command hp_command_check = {
	.name = "check",
	.summary = "Decide whether something became slower, between epochs or commands",
	.argp = &argp,
	.run = run,
};
